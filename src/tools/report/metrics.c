/*
 * What was claimed of metrics, in `ptxloom report`.
 */
#include "src/base/utf8.h"
#include "src/tools/report/report.h"

#include <stdlib.h>
#include <string.h>

static struct report_metrics *metrics_of(struct report *r, const char *claim)
{
	struct report_metrics x = {0};

	for (size_t i = 0; i < r->metrics.len; i++)
		if (!strcmp(r->metrics.at[i].claim, claim))
			return &r->metrics.at[i];
	x.claim = strdup(claim);
	if (x.claim && VEC_PUSH(&r->metrics, x))
		return &r->metrics.at[r->metrics.len - 1];
	free(x.claim);
	return NULL;
}

static void add_broken(struct report_metrics *m, const char *line)
{
	char *copy;

	for (size_t i = 0; i < m->broken.len; i++)
		if (!strcmp(m->broken.at[i], line))
			return;
	copy = strdup(line);
	if (copy && !VEC_PUSH(&m->broken, copy))
		free(copy);
}

bool report_take_metrics(struct report *r, const cJSON *line)
{
	const cJSON *claim = cJSON_GetObjectItemCaseSensitive(line, "claim");
	const cJSON *compared = cJSON_GetObjectItemCaseSensitive(line, "compared");
	const cJSON *broken = cJSON_GetObjectItemCaseSensitive(line, "broken"), *one;
	struct report_metrics *m;

	if (!cJSON_IsString(claim) || !cJSON_IsNumber(compared) || !cJSON_IsArray(broken) ||
	    !(compared->valuedouble >= 0 && compared->valuedouble < 0x1p53))
		return false;
	m = metrics_of(r, claim->valuestring);
	if (!m)
		return true;
	m->compared += (u64)compared->valuedouble;
	cJSON_ArrayForEach(one, broken) if (cJSON_IsString(one)) add_broken(m, one->valuestring);
	return true;
}

static int compare_claims(const void *a, const void *b)
{
	return strcmp(((const struct report_metrics *)a)->claim,
		      ((const struct report_metrics *)b)->claim);
}

static int by_broken_line(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

void report_sort_metrics(struct report *r)
{
	if (r->metrics.len)
		qsort(r->metrics.at, r->metrics.len, sizeof(*r->metrics.at), compare_claims);
	for (size_t i = 0; i < r->metrics.len; i++) {
		struct report_metrics *m = &r->metrics.at[i];

		if (m->broken.len)
			qsort(m->broken.at, m->broken.len, sizeof(char *), by_broken_line);
		r->broken += m->broken.len;
		r->compared += m->compared;
	}
}

void report_metrics_text(const struct report *r, struct text *out)
{
	for (size_t i = 0; i < r->metrics.len; i++)
		for (size_t k = 0; k < r->metrics.at[i].broken.len; k++)
			text_printf(out, "metrics: %s\n", r->metrics.at[i].broken.at[k]);
}

void report_metrics_markdown(const struct report *r, struct text *out)
{
	if (!r->metrics.len)
		return;
	text_puts(out, "\n| metrics | compared | not met |\n|---|---|---|\n");
	for (size_t i = 0; i < r->metrics.len; i++) {
		const struct report_metrics *m = &r->metrics.at[i];

		text_puts(out, "| ");
		report_markdown_cell(out, m->claim);
		text_printf(out, " | %llu | ", (unsigned long long)m->compared);
		for (size_t k = 0; k < m->broken.len; k++) {
			text_puts(out, k ? "<br>" : "");
			report_markdown_cell(out, m->broken.at[k]);
		}
		text_puts(out, " |\n");
	}
}

void report_metrics_json(const struct report *r, cJSON *root)
{
	cJSON *list = cJSON_AddArrayToObject(root, "metrics");

	for (size_t i = 0; i < r->metrics.len; i++) {
		const struct report_metrics *m = &r->metrics.at[i];
		cJSON *o = cJSON_CreateObject(), *broken;

		cJSON_AddStringToObject(o, "claim", m->claim);
		cJSON_AddNumberToObject(o, "compared", (double)m->compared);
		broken = cJSON_AddArrayToObject(o, "broken");
		for (size_t k = 0; k < m->broken.len; k++)
			cJSON_AddItemToArray(broken, cJSON_CreateString(m->broken.at[k]));
		cJSON_AddItemToArray(list, o);
	}
}

void report_free_metrics(struct report *r)
{
	for (size_t i = 0; i < r->metrics.len; i++) {
		struct report_metrics *m = &r->metrics.at[i];

		for (size_t k = 0; k < m->broken.len; k++)
			free(m->broken.at[k]);
		VEC_FREE(&m->broken);
		free(m->claim);
	}
	VEC_FREE(&r->metrics);
}
