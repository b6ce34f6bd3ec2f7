/*
 * Reading and merging the lines of PTXLOOM_REPORT.
 */
#include "src/base/file.h"
#include "src/base/utf8.h"
#include "src/tools/report/report.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *record_member(const cJSON *o, const char *name)
{
	const cJSON *m = cJSON_GetObjectItemCaseSensitive(o, name);

	return cJSON_IsString(m) ? m->valuestring : "";
}

/* Numbers beyond 2^53, negative ones and what is no number count as `otherwise`. */
static u64 record_number(const cJSON *o, const char *name, u64 otherwise)
{
	const cJSON *m = cJSON_GetObjectItemCaseSensitive(o, name);

	return cJSON_IsNumber(m) && m->valuedouble >= 0 && m->valuedouble < 0x1p53
		       ? (u64)m->valuedouble
		       : otherwise;
}

static int compare_words(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Each word of a list with commas, if it is not there. */
#define ADD_WORDS(list, words)                                                                     \
	do {                                                                                       \
		for (const char *w_ = (words); *w_; w_ += strcspn(w_, ","), w_ += *w_ == ',') {    \
			char *copy_ = strndup(w_, strcspn(w_, ","));                               \
			bool known_ = !copy_ || !*copy_;                                           \
			for (size_t i_ = 0; i_ < (list).len && !known_; i_++)                      \
				known_ = !strcmp((list).at[i_], copy_);                            \
			if (known_ || !VEC_PUSH(&(list), copy_))                                   \
				free(copy_);                                                       \
		}                                                                                  \
	} while (0)

static void take_finding(struct report *r, cJSON *line)
{
	cJSON *json = cJSON_DetachItemFromObjectCaseSensitive(line, "finding");
	const cJSON *place =
		cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(json, "places"), 0);
	struct report_finding f = {
		.json = json,
		.check = record_member(json, "check"),
		.kind = record_member(json, "kind"),
		.message = record_member(json, "message"),
		.kernel = record_member(json, "kernel"),
		.file = record_member(place, "file"),
		.text = record_member(json, "text"),
		.line = (u32)min_u64(record_number(place, "line", 0), UINT32_MAX),
		.is_warning = !strcmp(record_member(json, "severity"), "warning"),
		.count = record_number(json, "count", 1),
		.processes = 1,
	};

	if (!VEC_PUSH(&r->findings, f))
		cJSON_Delete(json);
}

static void take_process(struct report *r, const cJSON *line)
{
	r->processes++;
	r->launches += record_number(line, "launches", 0);
	ADD_WORDS(r->devices, record_member(line, "devices"));
	ADD_WORDS(r->checks, record_member(line, "checks"));
	ADD_WORDS(r->hosts, record_member(line, "host"));
}

/* False: it is not a record. */
static bool take_record(struct report *r, const char *text, size_t len)
{
	cJSON *line = utf8_is_valid(text, len) ? cJSON_ParseWithLength(text, len) : NULL;
	const char *type = record_member(line, "type");
	bool ok = true;

	if (!strcmp(type, "finding") &&
	    cJSON_IsObject(cJSON_GetObjectItemCaseSensitive(line, "finding"))) {
		take_finding(r, line);
	} else if (!strcmp(type, "process")) {
		take_process(r, line);
	} else if (!strcmp(type, "metrics")) {
		ok = report_take_metrics(r, line);
	} else if (!strcmp(type, "inject")) {
		char *copy = strdup(record_member(line, "text"));

		if (copy && !VEC_PUSH(&r->injected, copy))
			free(copy);
	} else {
		ok = false;
	}
	cJSON_Delete(line);
	return ok;
}

bool report_read(struct report *r, const char *path, struct text *why)
{
	const char *at, *end;
	struct file file;

	if (!file_open(&file, path)) {
		text_printf(why, "%s: %s", path, strerror(errno));
		return false;
	}
	r->files++;
	at = (const char *)file.data;
	end = at + file.size;
	for (u64 n = 1; at < end; n++) {
		const char *stop = memchr(at, '\n', (size_t)(end - at));

		stop = stop ? stop : end;
		if (stop > at && !take_record(r, at, (size_t)(stop - at))) {
			fprintf(stderr, "ptxloom report: error: %s:%llu: damaged, left out\n", path,
				(unsigned long long)n);
			r->damaged++;
		}
		at = stop + 1;
	}
	file_close(&file);
	return true;
}

static int compare_findings(const void *a, const void *b)
{
	const struct report_finding *x = a, *y = b;
	const char *const pairs[][2] = {{x->file, y->file},
					{x->kind, y->kind},
					{x->kernel, y->kernel},
					{x->message, y->message}};
	int order = strcmp(pairs[0][0], pairs[0][1]);

	if (order || x->line != y->line)
		return order ? order : x->line < y->line ? -1 : 1;
	for (size_t i = 1; i < ARRAY_LEN(pairs) && !order; i++)
		order = strcmp(pairs[i][0], pairs[i][1]);
	return order ? order : x->is_warning - y->is_warning;
}

/* Of the same words of several processes, which may differ in addresses, the least stay. */
static int compare_all(const void *a, const void *b)
{
	int order = compare_findings(a, b);

	return order ? order
		     : strcmp(((const struct report_finding *)a)->text,
			      ((const struct report_finding *)b)->text);
}

void report_merge(struct report *r)
{
	size_t len = 0;

	if (r->findings.len)
		qsort(r->findings.at, r->findings.len, sizeof(*r->findings.at), compare_all);
	for (size_t i = 0; i < r->findings.len; i++) {
		struct report_finding *f = &r->findings.at[i];
		struct report_finding *last = len ? &r->findings.at[len - 1] : NULL;

		if (last && !compare_findings(last, f)) {
			last->count += f->count;
			last->processes++;
			cJSON_Delete(f->json);
		} else {
			*(f->is_warning ? &r->warnings : &r->errors) += 1;
			r->findings.at[len++] = *f;
		}
	}
	r->findings.len = len;
	report_sort_metrics(r);
	if (r->devices.len)
		qsort(r->devices.at, r->devices.len, sizeof(char *), compare_words);
	if (r->checks.len)
		qsort(r->checks.at, r->checks.len, sizeof(char *), compare_words);
	if (r->hosts.len)
		qsort(r->hosts.at, r->hosts.len, sizeof(char *), compare_words);
	if (r->injected.len)
		qsort(r->injected.at, r->injected.len, sizeof(char *), compare_words);
}

#define FREE_WORDS(list)                                                                           \
	do {                                                                                       \
		for (size_t i_ = 0; i_ < (list).len; i_++)                                         \
			free((list).at[i_]);                                                       \
		VEC_FREE(&(list));                                                                 \
	} while (0)

void report_fini(struct report *r)
{
	for (size_t i = 0; i < r->findings.len; i++)
		cJSON_Delete(r->findings.at[i].json);
	VEC_FREE(&r->findings);
	report_free_metrics(r);
	if (r->has_coverage)
		cover_model_free(&r->model);
	cover_input_free(&r->covered);
	FREE_WORDS(r->injected);
	FREE_WORDS(r->devices);
	FREE_WORDS(r->checks);
	FREE_WORDS(r->hosts);
}

const char *report_path(const char *path)
{
	static char here[4096];
	const char *top[] = {getenv("GITHUB_WORKSPACE"), getenv("CI_PROJECT_DIR"),
			     getcwd(here, sizeof(here))};

	for (size_t i = 0; i < ARRAY_LEN(top); i++) {
		const char *rest = file_within(path, top[i]);

		if (rest)
			return rest;
	}
	return path;
}
