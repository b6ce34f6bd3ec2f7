/*
 * Findings in JSON, XML, SARIF and as annotations of GitHub's workflows.
 */
#include "src/check/format.h"
#include "src/base/file.h"
#include "src/base/utf8.h"
#include "src/config.h"

#include <stdlib.h>
#include <unistd.h>

static const char *level_of(const struct finding *f)
{
	return f->is_warning ? "warning" : "error";
}

/* The first line of a finding's text; the caller's to free. */
static struct text headline(const struct finding *f)
{
	struct text t = {0};
	const char *all = f->text.at ? f->text.at : "";

	text_add(&t, all, strcspn(all, "\n"));
	if (!t.at)
		text_puts(&t, "");
	return t;
}

static void add_string(struct text *t, const char *name, const char *value)
{
	if (!value || !*value)
		return;
	text_json_string(t, name);
	text_puts(t, ": ");
	text_json_string(t, value);
	text_puts(t, ", ");
}

/* ---- JSON ---- */

static void json_xyz(struct text *t, const char *name, const u32 v[3])
{
	text_printf(t, "\"%s\": [%u, %u, %u], ", name, v[0], v[1], v[2]);
}

/* A line that is not known is no member. */
static void json_line(struct text *t, u32 line)
{
	if (line)
		text_printf(t, "\"line\": %u, ", line);
}

/* The end of an object or a list, after members that each end with a comma. */
static void json_end(struct text *t, const char *bracket)
{
	if (t->len >= 2 && !memcmp(t->at + t->len - 2, ", ", 2))
		t->len -= 2;
	text_puts(t, bracket);
}

static void json_side(const struct finding_side *s, struct text *t)
{
	text_puts(t, "{");
	add_string(t, "access", s->what);
	if (s->has_thread) {
		json_xyz(t, "thread", s->thread);
		json_xyz(t, "block", s->block);
	}
	add_string(t, "function", s->place.function);
	add_string(t, "file", s->place.file);
	add_string(t, "ptx", s->place.insn);
	json_line(t, s->place.line);
	json_end(t, "}");
}

/* A call of the host's, with its place and its stack. */
static void json_host(const struct finding_host *h, struct text *t)
{
	const struct host_frame *at = host_trace_place(h->trace), *frames;
	u32 len;

	text_puts(t, "{");
	add_string(t, "what", h->what);
	add_string(t, "function", at ? at->function : NULL);
	add_string(t, "file", at ? at->file : NULL);
	json_line(t, at ? at->line : 0);
	text_puts(t, "\"stack\": [");
	frames = host_trace_frames(h->trace, &len);
	for (u32 i = 0; i < len; i++) {
		text_puts(t, i ? ", {" : "{");
		add_string(t, "function", frames[i].function);
		add_string(t, "file", frames[i].file);
		add_string(t, "module", frames[i].module);
		json_line(t, frames[i].line);
		text_printf(t, "\"address\": \"0x%llx\"}", (unsigned long long)frames[i].address);
	}
	text_puts(t, "]}");
}

void finding_format_json(const struct finding *f, struct text *t)
{
	struct text first = headline(f);

	text_puts(t, "{");
	add_string(t, "check", finding_check_word(f->kind));
	add_string(t, "kind", finding_word(f->kind));
	add_string(t, "severity", level_of(f));
	add_string(t, "message", first.at);
	add_string(t, "kernel", f->kernel);
	if (f->has_address)
		text_printf(t, "\"address\": \"0x%llx\", ", (unsigned long long)f->address);
	text_printf(t, "\"count\": %llu, \"places\": [", (unsigned long long)f->count);
	for (u32 i = 0; i < f->sides; i++) {
		text_puts(t, i ? ", " : "");
		json_side(&f->side[i], t);
	}
	text_puts(t, "], \"host\": [");
	for (u32 i = 0; i < f->hosts; i++) {
		text_puts(t, i ? ", " : "");
		json_host(&f->host[i], t);
	}
	text_puts(t, "], \"text\": ");
	text_json_string(t, f->text.at ? f->text.at : "");
	text_puts(t, "}");
	text_fini(&first);
}

static void format_json(const struct findings *l, struct text *t)
{
	text_printf(t,
		    "{\"version\": 1, \"process\": %ld, \"errors\": %llu, \"warnings\": %llu, "
		    "\"suppressed\": %llu, \"findings\": [",
		    (long)getpid(), (unsigned long long)l->errors, (unsigned long long)l->warnings,
		    (unsigned long long)l->suppressed);
	for (size_t i = 0; i < l->list.len; i++) {
		text_puts(t, i ? ",\n" : "\n");
		finding_format_json(&l->list.at[i], t);
	}
	text_puts(t, "\n]}\n");
}

/* ---- XML ---- */

static void xml_element(struct text *t, const char *name, const char *value)
{
	if (!value || !*value)
		return;
	text_printf(t, "<%s>", name);
	text_xml(t, value);
	text_printf(t, "</%s>", name);
}

static void xml_xyz(struct text *t, const char *name, const u32 v[3])
{
	text_printf(t, "<%s><x>%u</x><y>%u</y><z>%u</z></%s>", name, v[0], v[1], v[2], name);
}

static void xml_side(const struct finding_side *s, struct text *t)
{
	if (s->has_thread) {
		text_puts(t, "<who>");
		xml_xyz(t, "threadIdx", s->thread);
		xml_xyz(t, "blockIdx", s->block);
		text_puts(t, "</who>");
	}
	text_puts(t, "<where>");
	xml_element(t, "func", s->place.function);
	xml_element(t, "path", s->place.file);
	if (s->place.line)
		text_printf(t, "<line>%u</line>", s->place.line);
	text_puts(t, "</where>");
}

static void xml_host(const struct finding_host *h, struct text *t)
{
	const struct host_frame *frames;
	u32 len;

	frames = host_trace_frames(h->trace, &len);
	text_puts(t, "<hostStack>");
	xml_element(t, "saveLocation", h->what);
	for (u32 i = 0; i < len; i++) {
		text_puts(t, "<frame>");
		xml_element(t, "func", frames[i].function);
		xml_element(t, "path", frames[i].file);
		if (frames[i].file && frames[i].line)
			text_printf(t, "<line>%u</line>", frames[i].line);
		xml_element(t, "module", frames[i].module);
		text_puts(t, "</frame>");
	}
	text_puts(t, "</hostStack>");
}

static void xml_finding(const struct finding *f, struct text *t)
{
	struct text first = headline(f);

	text_puts(t, "<record>");
	xml_element(t, "kind", finding_word(f->kind));
	xml_element(t, "level", f->is_warning ? "Warning" : "Error");
	text_puts(t, "<what>");
	xml_element(t, "text", first.at);
	if (f->has_address)
		text_printf(t, "<address>0x%llx</address>", (unsigned long long)f->address);
	text_printf(t, "<count>%llu</count></what>", (unsigned long long)f->count);
	for (u32 i = 0; i < f->sides; i++)
		xml_side(&f->side[i], t);
	for (u32 i = 0; i < f->hosts; i++)
		xml_host(&f->host[i], t);
	text_puts(t, "</record>\n");
	text_fini(&first);
}

static void format_xml(const struct findings *l, struct text *t)
{
	text_puts(t, "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<ComputeSanitizerOutput>\n");
	for (size_t i = 0; i < l->list.len; i++)
		xml_finding(&l->list.at[i], t);
	text_puts(t, "</ComputeSanitizerOutput>\n");
}

/* ---- SARIF ---- */

static void sarif_rules(struct text *t)
{
	static const struct {
		const char *word, *what;
	} rules[] = {
#define FINDING(name, check, word, what) {word, what},
#include "src/check/finding.def"
#undef FINDING
	};

	for (size_t i = 0; i < ARRAY_LEN(rules); i++) {
		text_puts(t, i ? ",\n{\"id\": " : "\n{\"id\": ");
		text_json_string(t, rules[i].word);
		text_puts(t, ", \"shortDescription\": {\"text\": ");
		text_json_string(t, rules[i].what);
		text_puts(t, "}}");
	}
}

static void sarif_location(const char *what, const char *file, u32 line, struct text *t)
{
	text_puts(t, "{\"physicalLocation\": {\"artifactLocation\": {\"uri\": ");
	text_json_string(t, file);
	text_printf(t, "}, \"region\": {\"startLine\": %u}}", line ? line : 1);
	if (what && *what) {
		text_puts(t, ", \"message\": {\"text\": ");
		text_json_string(t, what);
		text_puts(t, "}");
	}
	text_puts(t, "}");
}

/* Sides first .. end - 1 that stand in a file; with `hosts` calls of the host, too. */
static void sarif_locations(const struct finding *f, const char *name, u32 first, u32 end,
			    bool hosts, struct text *t)
{
	const struct host_frame *at;
	bool any = false;

	text_printf(t, ", \"%s\": [", name);
	for (u32 i = first; i < end && i < f->sides; i++) {
		if (!f->side[i].place.file)
			continue;
		text_puts(t, any ? ", " : "");
		sarif_location(f->side[i].what, f->side[i].place.file, f->side[i].place.line, t);
		any = true;
	}
	for (u32 i = 0; hosts && i < f->hosts; i++) {
		at = host_trace_place(f->host[i].trace);
		if (!at || !at->file)
			continue;
		text_puts(t, any ? ", " : "");
		sarif_location(f->host[i].what, at->file, at->line, t);
		any = true;
	}
	text_puts(t, "]");
}

static void sarif_result(const struct finding *f, struct text *t)
{
	text_puts(t, "{\"ruleId\": ");
	text_json_string(t, finding_word(f->kind));
	text_printf(t, ", \"level\": \"%s\", \"message\": {\"text\": ", level_of(f));
	text_json_string(t, f->text.at ? f->text.at : "");
	text_puts(t, "}");
	sarif_locations(f, "locations", 0, 1, false, t);
	sarif_locations(f, "relatedLocations", 1, FINDING_SIDES, true, t);
	text_printf(t, ", \"occurrenceCount\": %llu}", (unsigned long long)f->count);
}

static void format_sarif(const struct findings *l, struct text *t)
{
	text_puts(t, "{\"$schema\": \"https://json.schemastore.org/sarif-2.1.0.json\", "
		     "\"version\": \"2.1.0\", \"runs\": [{\"tool\": {\"driver\": "
		     "{\"name\": \"ptxloom\", \"version\": \"" PACKAGE_VERSION "\", \"rules\": [");
	sarif_rules(t);
	text_puts(t, "\n]}}, \"results\": [");
	for (size_t i = 0; i < l->list.len; i++) {
		text_puts(t, i ? ",\n" : "\n");
		sarif_result(&l->list.at[i], t);
	}
	text_puts(t, "\n]}]}\n");
}

/* ---- GitHub ---- */

/* Data of a workflow command; properties have no colons and commas either. */
static void github_text(struct text *t, const char *s, bool property)
{
	for (; *s; s++)
		if (*s == '%' || *s == '\r' || *s == '\n' || (property && (*s == ':' || *s == ',')))
			text_printf(t, "%%%02X", (unsigned char)*s);
		else
			text_add(t, s, 1);
}

/* Annotations are made where the path is one of the repository, or of this folder. */
static const char *path_in_project(const char *path)
{
	char here[4096];
	const char *top[] = {getenv("GITHUB_WORKSPACE"), getcwd(here, sizeof(here))};

	for (size_t i = 0; i < ARRAY_LEN(top); i++) {
		const char *rest = file_within(path, top[i]);

		if (rest)
			return rest;
	}
	return path;
}

static void github_finding(const struct finding *f, struct text *t)
{
	const struct finding_place *at = f->sides ? &f->side[0].place : NULL;

	text_printf(t, "::%s ", level_of(f));
	if (at && at->file) {
		text_puts(t, "file=");
		github_text(t, path_in_project(at->file), true);
		if (at->line)
			text_printf(t, ",line=%u", at->line);
		text_puts(t, ",");
	}
	text_printf(t, "title=ptxloom %s::", finding_word(f->kind));
	github_text(t, f->text.at ? f->text.at : "", false);
	text_puts(t, "\n");
}

void findings_format(const struct findings *l, enum finding_format format, struct text *out)
{
	switch (format) {
	case FORMAT_TEXT:
		break;
	case FORMAT_JSON:
		format_json(l, out);
		break;
	case FORMAT_XML:
		format_xml(l, out);
		break;
	case FORMAT_SARIF:
		format_sarif(l, out);
		break;
	case FORMAT_GITHUB:
		for (size_t i = 0; i < l->list.len; i++)
			github_finding(&l->list.at[i], out);
		break;
	}
}
