/*
 * What `ptxloom report` writes: text, Markdown, annotations, SARIF, GitLab's code quality, JSON.
 */
#include "src/base/base.h"
#include "src/config.h"
#include "src/tools/report/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *severity(const struct report_finding *f)
{
	return f->is_warning ? "warning" : "error";
}

static const char *plural_of(u64 n)
{
	return n == 1 ? "" : "s";
}

static void say_report_place(const struct report_finding *f, struct text *t)
{
	if (*f->file && f->line)
		text_printf(t, "%s:%u", report_path(f->file), f->line);
	else if (*f->file)
		text_puts(t, report_path(f->file));
}

static void say_report_words(const char *what, char *const *words, size_t len, struct text *t)
{
	text_printf(t, "%s", what);
	for (size_t i = 0; i < len; i++)
		text_printf(t, "%s%s", i ? "," : "", words[i]);
	if (!len)
		text_puts(t, "none");
}

/* What was done: a tool that did nothing must not look like one that found nothing. */
static void say_done(const struct report *r, struct text *t)
{
	text_printf(t,
		    "%llu error%s, %llu warning%s; %llu launch%s in %llu process%s on %zu host%s",
		    (unsigned long long)r->errors, plural_of(r->errors),
		    (unsigned long long)r->warnings, plural_of(r->warnings),
		    (unsigned long long)r->launches, r->launches == 1 ? "" : "es",
		    (unsigned long long)r->processes, r->processes == 1 ? "" : "es", r->hosts.len,
		    plural_of(r->hosts.len));
	say_report_words("; devices: ", r->devices.at, r->devices.len, t);
	say_report_words("; checks: ", r->checks.at, r->checks.len, t);
	if (r->injected.len)
		text_printf(t, "; %zu injected", r->injected.len);
	if (r->compared)
		text_printf(t, "; metrics: %llu compared, %llu not met",
			    (unsigned long long)r->compared, (unsigned long long)r->broken);
	if (!r->launches)
		text_puts(t, "; no kernel has run");
}

/* The line of it, if a file was there that says it. */
static void end_done(const struct report *r, struct text *t)
{
	if (!r->files)
		return;
	say_done(r, t);
	text_puts(t, "\n");
}

void report_text(const struct report *r, struct text *out)
{
	for (size_t i = 0; i < r->findings.len; i++) {
		const struct report_finding *f = &r->findings.at[i];

		say_report_place(f, out);
		text_printf(out, "%s%s: %s: %s", *f->file ? ": " : "", severity(f), f->kind,
			    f->message);
		if (*f->kernel)
			text_printf(out, ", in kernel %s", f->kernel);
		text_printf(out, " (%llu time%s, %llu process%s)\n", (unsigned long long)f->count,
			    plural_of(f->count), (unsigned long long)f->processes,
			    f->processes == 1 ? "" : "es");
	}
	for (size_t i = 0; i < r->injected.len; i++)
		text_printf(out, "%s\n", r->injected.at[i]);
	report_metrics_text(r, out);
	report_cover_text(r, out);
	end_done(r, out);
}

void report_markdown_cell(struct text *t, const char *s)
{
	for (; *s; s++)
		if (*s == '|' || *s == '\\' || *s == '`' || *s == '*' || *s == '_' || *s == '[')
			text_printf(t, "\\%c", *s);
		else if (*s == '<')
			text_puts(t, "&lt;");
		else if (*s == '&')
			text_puts(t, "&amp;");
		else
			text_add(t, *s == '\n' || *s == '\r' ? " " : s, 1);
}

void report_markdown(const struct report *r, struct text *out)
{
	text_puts(out, "### ptxloom\n\n");
	if (r->findings.len)
		text_puts(
			out,
			"| place | | kind | what | kernel | times |\n|---|---|---|---|---|---|\n");
	for (size_t i = 0; i < r->findings.len; i++) {
		const struct report_finding *f = &r->findings.at[i];
		struct text place = {0};
		const char *cell[4];

		say_report_place(f, &place);
		cell[0] = place.at ? place.at : "";
		cell[1] = severity(f);
		cell[2] = f->kind;
		cell[3] = f->message;
		for (size_t c = 0; c < ARRAY_LEN(cell); c++) {
			text_puts(out, "| ");
			report_markdown_cell(out, cell[c]);
			text_puts(out, " ");
		}
		text_puts(out, "| ");
		report_markdown_cell(out, f->kernel);
		text_printf(out, " | %llu |\n", (unsigned long long)f->count);
		text_fini(&place);
	}
	text_puts(out, r->findings.len ? "\n" : "");
	end_done(r, out);
	report_metrics_markdown(r, out);
	report_cover_markdown(r, out);
}

/* Data of a workflow command; properties have no colons and commas either. */
static void command_text(struct text *t, const char *s, bool property)
{
	for (; *s; s++)
		if (*s == '%' || *s == '\r' || *s == '\n' || (property && (*s == ':' || *s == ',')))
			text_printf(t, "%%%02X", (unsigned char)*s);
		else
			text_add(t, s, 1);
}

void report_github(const struct report *r, struct text *out)
{
	for (size_t i = 0; i < r->findings.len; i++) {
		const struct report_finding *f = &r->findings.at[i];

		text_printf(out, "::%s ", severity(f));
		if (*f->file) {
			text_puts(out, "file=");
			command_text(out, report_path(f->file), true);
			text_puts(out, ",");
			if (f->line)
				text_printf(out, "line=%u,", f->line);
		}
		text_puts(out, "title=ptxloom ");
		command_text(out, f->kind, true);
		text_puts(out, "::");
		command_text(out, f->text, false);
		text_puts(out, "\n");
	}
	for (size_t i = 0; i < r->metrics.len; i++)
		for (size_t k = 0; k < r->metrics.at[i].broken.len; k++) {
			text_puts(out, "::error title=ptxloom metrics::");
			command_text(out, r->metrics.at[i].broken.at[k], false);
			text_puts(out, "\n");
		}
}

/* ---- JSON ---- */

static void put_document(cJSON *o, struct text *out)
{
	char *s = cJSON_Print(o);

	if (s)
		text_printf(out, "%s\n", s);
	out->failed |= !s;
	cJSON_free(s);
	cJSON_Delete(o);
}

/* The text of the line, which stays where lines before it are added; empty: it cannot be read. */
static void source_text(const struct report_finding *f, struct text *out)
{
	FILE *file = *f->file ? fopen(report_path(f->file), "re") : NULL;
	size_t size = 0;
	char *line = NULL;
	ssize_t n = 0;

	for (u32 i = 0; file && i < f->line && n >= 0; i++)
		n = getline(&line, &size, file);
	if (file && n > 0)
		text_add(out, line, (size_t)n);
	free(line);
	if (file)
		fclose(file);
}

/* The same in the next run, and when other lines of the file change. */
static void fingerprint(const struct report_finding *f, char out[17])
{
	struct text t = {0};

	text_printf(&t, "%s\n%s\n%s\n", f->kind, f->kernel, report_path(f->file));
	source_text(f, &t);
	snprintf(out, 17, "%016llx", (unsigned long long)hash_bytes(t.at ? t.at : "", t.len));
	text_fini(&t);
}

static cJSON *location_of(const char *file, u32 line)
{
	cJSON *location = cJSON_CreateObject();
	cJSON *physical = cJSON_AddObjectToObject(location, "physicalLocation");
	cJSON *artifact = cJSON_AddObjectToObject(physical, "artifactLocation");
	cJSON *region = cJSON_AddObjectToObject(physical, "region");

	cJSON_AddStringToObject(artifact, "uri", report_path(file));
	cJSON_AddNumberToObject(region, "startLine", line ? line : 1);
	return location;
}

/* The other places of a finding, and calls of the host, that have files. */
static void add_related(const struct report_finding *f, cJSON *result)
{
	static const struct {
		const char *list, *what;
		int first;
	} lists[] = {{"places", "access", 1}, {"host", "what", 0}};
	cJSON *related = cJSON_AddArrayToObject(result, "relatedLocations");

	for (size_t k = 0; k < ARRAY_LEN(lists); k++) {
		const cJSON *list = cJSON_GetObjectItemCaseSensitive(f->json, lists[k].list), *at;

		for (int i = lists[k].first; (at = cJSON_GetArrayItem(list, i)); i++) {
			const cJSON *file = cJSON_GetObjectItemCaseSensitive(at, "file");
			const cJSON *line = cJSON_GetObjectItemCaseSensitive(at, "line");
			const cJSON *what = cJSON_GetObjectItemCaseSensitive(at, lists[k].what);
			cJSON *location;

			if (!cJSON_IsString(file))
				continue;
			location = location_of(file->valuestring,
					       cJSON_IsNumber(line) && line->valueint > 0
						       ? (u32)line->valueint
						       : 0);
			if (cJSON_IsString(what))
				cJSON_AddStringToObject(
					cJSON_AddObjectToObject(location, "message"), "text",
					what->valuestring);
			cJSON_AddItemToArray(related, location);
		}
	}
}

/* Rules that have results, each once. Returns the place of f's. */
static int result_rule(cJSON *rules, const struct report_finding *f)
{
	cJSON *rule;
	int n = 0;

	cJSON_ArrayForEach(rule, rules)
	{
		if (!strcmp(cJSON_GetObjectItem(rule, "id")->valuestring, f->kind))
			return n;
		n++;
	}
	rule = cJSON_CreateObject();
	cJSON_AddStringToObject(rule, "id", f->kind);
	cJSON_AddStringToObject(cJSON_AddObjectToObject(rule, "shortDescription"), "text",
				*f->message ? f->message : f->kind);
	cJSON_AddItemToArray(rules, rule);
	return n;
}

void report_sarif(const struct report *r, struct text *out)
{
	cJSON *root = cJSON_CreateObject(), *run = cJSON_CreateObject();
	cJSON *driver = cJSON_AddObjectToObject(cJSON_AddObjectToObject(run, "tool"), "driver");
	cJSON *rules, *results;

	cJSON_AddStringToObject(root, "$schema", "https://json.schemastore.org/sarif-2.1.0.json");
	cJSON_AddStringToObject(root, "version", "2.1.0");
	cJSON_AddItemToArray(cJSON_AddArrayToObject(root, "runs"), run);
	cJSON_AddStringToObject(driver, "name", "ptxloom");
	cJSON_AddStringToObject(driver, "version", PACKAGE_VERSION);
	rules = cJSON_AddArrayToObject(driver, "rules");
	results = cJSON_AddArrayToObject(run, "results");
	for (size_t i = 0; i < r->findings.len; i++) {
		const struct report_finding *f = &r->findings.at[i];
		cJSON *result = cJSON_CreateObject(), *places;
		char print[17];

		fingerprint(f, print);
		cJSON_AddStringToObject(result, "ruleId", f->kind);
		cJSON_AddNumberToObject(result, "ruleIndex", result_rule(rules, f));
		cJSON_AddStringToObject(result, "level", severity(f));
		cJSON_AddStringToObject(cJSON_AddObjectToObject(result, "message"), "text",
					f->text);
		places = cJSON_AddArrayToObject(result, "locations");
		if (*f->file)
			cJSON_AddItemToArray(places, location_of(f->file, f->line));
		add_related(f, result);
		cJSON_AddStringToObject(cJSON_AddObjectToObject(result, "partialFingerprints"),
					"ptxloom/v1", print);
		cJSON_AddNumberToObject(result, "occurrenceCount", f->count ? (double)f->count : 1);
		cJSON_AddItemToArray(results, result);
	}
	put_document(root, out);
}

void report_codequality(const struct report *r, struct text *out)
{
	cJSON *root = cJSON_CreateArray();

	for (size_t i = 0; i < r->findings.len; i++) {
		const struct report_finding *f = &r->findings.at[i];
		cJSON *o = cJSON_CreateObject(), *at;
		char print[17];

		fingerprint(f, print);
		cJSON_AddStringToObject(o, "description", f->message);
		cJSON_AddStringToObject(o, "check_name", f->kind);
		cJSON_AddStringToObject(o, "fingerprint", print);
		cJSON_AddStringToObject(o, "severity", f->is_warning ? "minor" : "major");
		at = cJSON_AddObjectToObject(o, "location");
		cJSON_AddStringToObject(at, "path", *f->file ? report_path(f->file) : "unknown");
		cJSON_AddNumberToObject(cJSON_AddObjectToObject(at, "lines"), "begin",
					f->line ? f->line : 1);
		cJSON_AddItemToArray(root, o);
	}
	put_document(root, out);
}

static void add_report_words(cJSON *o, const char *name, char *const *words, size_t len)
{
	cJSON *list = cJSON_AddArrayToObject(o, name);

	for (size_t i = 0; i < len; i++)
		cJSON_AddItemToArray(list, cJSON_CreateString(words[i]));
}

void report_json(const struct report *r, struct text *out)
{
	cJSON *root = cJSON_CreateObject(), *list;

	cJSON_AddNumberToObject(root, "version", 1);
	cJSON_AddNumberToObject(root, "processes", (double)r->processes);
	cJSON_AddNumberToObject(root, "launches", (double)r->launches);
	cJSON_AddNumberToObject(root, "errors", (double)r->errors);
	cJSON_AddNumberToObject(root, "warnings", (double)r->warnings);
	add_report_words(root, "hosts", r->hosts.at, r->hosts.len);
	add_report_words(root, "devices", r->devices.at, r->devices.len);
	add_report_words(root, "checks", r->checks.at, r->checks.len);
	add_report_words(root, "injected", r->injected.at, r->injected.len);
	report_metrics_json(r, root);
	report_cover_json(r, root);
	list = cJSON_AddArrayToObject(root, "findings");
	for (size_t i = 0; i < r->findings.len; i++) {
		cJSON *o = cJSON_Duplicate(r->findings.at[i].json, true);

		cJSON_DeleteItemFromObjectCaseSensitive(o, "count");
		cJSON_AddNumberToObject(o, "count", (double)r->findings.at[i].count);
		cJSON_AddNumberToObject(o, "processes", (double)r->findings.at[i].processes);
		cJSON_AddItemToArray(list, o);
	}
	put_document(root, out);
}
