/*
 * Suppressions as compute-sanitizer writes and reads them: its own XML of findings, by hand or
 * saved. Attributes, comments and elements that say nothing about which finding is meant are passed
 * over.
 */
#include "src/check/suppress.h"

#include <regex.h>
#include <stdlib.h>

#define FRAMES 64u

struct record_frame {
	char *func, *module; /* NULL: any */
};

struct suppression_record {
	struct suppression_record *next;
	char *kind, *text, *func, *path, *line; /* NULL: any */
	u32 frame_len;
	struct record_frame frame[FRAMES];
};

/* ---- reading ---- */

struct xml_reader {
	const char *at;
	u32 line;
	const char *wrong; /* NULL: nothing yet; static */
	char name[32];     /* of the last tag */
	bool is_end;       /* it is an end tag */
};

static void skip_to(struct xml_reader *r, const char *end)
{
	const char *to = strstr(r->at, end);

	if (!to)
		r->wrong = "a tag or a comment does not end";
	to = to ? to + strlen(end) : r->at + strlen(r->at);
	for (; r->at < to; r->at++)
		r->line += *r->at == '\n';
}

/* Text up to the next tag, with its entities replaced. */
static char *read_xml_text(struct xml_reader *r)
{
	static const char *const entities[][2] = {
		{"&lt;", "<"}, {"&gt;", ">"}, {"&amp;", "&"}, {"&quot;", "\""}, {"&apos;", "'"}};
	struct text t = {0};

	while (*r->at && *r->at != '<') {
		size_t n = 1;
		const char *is = r->at;

		for (size_t i = 0; i < ARRAY_LEN(entities); i++)
			if (!strncmp(r->at, entities[i][0], strlen(entities[i][0]))) {
				n = strlen(entities[i][0]);
				is = entities[i][1];
			}
		text_add(&t, is, 1);
		r->line += *r->at == '\n';
		r->at += n;
	}
	return t.at;
}

/* The next tag; false at the end of the document. An empty element has none. */
static bool read_tag(struct xml_reader *r)
{
	size_t n;

	while (!r->wrong && *r->at) {
		free(read_xml_text(r));
		if (!*r->at)
			return false;
		if (!strncmp(r->at, "<!--", 4)) {
			skip_to(r, "-->");
			continue;
		}
		if (r->at[1] == '?' || r->at[1] == '!') {
			skip_to(r, ">");
			continue;
		}
		r->is_end = r->at[1] == '/';
		r->at += 1 + r->is_end;
		n = strcspn(r->at, " \t\r\n/>");
		if (n >= sizeof(r->name))
			n = sizeof(r->name) - 1;
		memcpy(r->name, r->at, n);
		r->name[n] = '\0';
		skip_to(r, ">");
		if (r->at[-1] == '>' && r->at[-2] == '/')
			continue;
		return !r->wrong;
	}
	return false;
}

/* Is it one that regular expressions can be made of? The text without blanks at its ends. */
static void take_xml_value(struct xml_reader *r, char **to, bool is_pattern)
{
	char *value = read_xml_text(r), *from;
	regex_t compiled;
	size_t n;

	if (!value || *to) {
		free(value);
		return;
	}
	from = value + strspn(value, " \t\r\n");
	n = strlen(from);
	while (n && strchr(" \t\r\n", from[n - 1]))
		n--;
	*to = n ? strndup(from, n) : NULL;
	free(value);
	if (!is_pattern || !*to)
		return;
	if (regcomp(&compiled, *to, REG_EXTENDED | REG_NOSUB))
		r->wrong = "a value is no regular expression";
	else
		regfree(&compiled);
}

static void free_record(struct suppression_record *x)
{
	for (u32 i = 0; i < x->frame_len; i++) {
		free(x->frame[i].func);
		free(x->frame[i].module);
	}
	free(x->kind);
	free(x->text);
	free(x->func);
	free(x->path);
	free(x->line);
	free(x);
}

/* A value inside a record. */
static void read_record_part(struct xml_reader *r, struct suppression_record *x,
			     struct record_frame *frame, bool in_where)
{
	const struct {
		const char *name;
		char **to;
		bool is_pattern;
	} parts[] = {{"func",
		      frame      ? &frame->func
		      : in_where ? &x->func
				 : NULL,
		      true},
		     {"module", frame ? &frame->module : NULL, true},
		     {"path", in_where ? &x->path : NULL, true},
		     {"line", in_where ? &x->line : NULL, false},
		     {"kind", &x->kind, false},
		     {"text", &x->text, true}};

	for (size_t i = 0; i < ARRAY_LEN(parts); i++)
		if (parts[i].to && !strcmp(r->name, parts[i].name))
			take_xml_value(r, parts[i].to, parts[i].is_pattern);
}

/* Behind <record>, up to its end. */
static void read_xml_record(struct xml_reader *r, struct suppression_record *x)
{
	struct record_frame *frame = NULL;
	bool has_where = false, in_where = false, has_stack = false, in_stack = false;

	while (read_tag(r) && strcmp(r->name, "record") != 0) {
		if (!strcmp(r->name, "where")) {
			/* The first place counts. */
			in_where = !r->is_end && !has_where;
			has_where = true;
		} else if (!strcmp(r->name, "hostStack")) {
			/* And the first stack, that of the call that it is about. */
			in_stack = !r->is_end && !has_stack;
			has_stack = true;
		} else if (!strcmp(r->name, "frame") && in_stack) {
			if (!r->is_end && x->frame_len == FRAMES)
				r->wrong = "a stack has more than 64 frames";
			else
				frame = r->is_end ? NULL : &x->frame[x->frame_len++];
		} else if (!r->is_end) {
			read_record_part(r, x, frame, in_where);
		}
	}
	if (!r->wrong && strcmp(r->name, "record") != 0)
		r->wrong = "a record does not end";
	else if (!r->wrong && !x->text && !x->func && !x->path && !x->frame_len && !x->kind)
		r->wrong = "a record names nothing";
}

bool suppression_records_read(struct suppressions *s, const char *text, struct text *why)
{
	struct xml_reader r = {.at = text, .line = 1};
	bool is_ours = false;

	while (!r.wrong && read_tag(&r)) {
		is_ours |= !strcmp(r.name, "ComputeSanitizerOutput");
		if (!is_ours)
			r.wrong = "is no document of ComputeSanitizerOutput";
		if (!r.wrong && !r.is_end && !strcmp(r.name, "record")) {
			struct suppression_record *x = calloc(1, sizeof(*x));

			if (!x)
				return false;
			read_xml_record(&r, x);
			x->next = s->records;
			s->records = x;
		}
	}
	if (!r.wrong && !is_ours)
		r.wrong = "is no document of ComputeSanitizerOutput";
	if (r.wrong)
		text_printf(why, "%u: %s", r.line, r.wrong);
	return !r.wrong;
}

void suppression_records_fini(struct suppressions *s)
{
	while (s->records) {
		struct suppression_record *x = s->records;

		s->records = x->next;
		free_record(x);
	}
}

/* ---- matching ---- */

/* Is the value, or a part of it, what the expression says? No expression: anything. */
static bool fits(const char *expression, const char *value)
{
	regex_t compiled;
	bool yes;

	if (!expression)
		return true;
	if (!value)
		return false;
	/* Names have characters that mean something in expressions; saved ones are to fit. */
	if (strstr(value, expression))
		return true;
	if (regcomp(&compiled, expression, REG_EXTENDED | REG_NOSUB))
		return false;
	yes = !regexec(&compiled, value, 0, NULL, 0);
	regfree(&compiled);
	return yes;
}

static bool fits_kind(const char *kind, const struct finding *f)
{
	/* compute-sanitizer's names of its tools and of what they find. */
	static const struct {
		const char *word;
		u32 checks;
	} tools[] = {{"Memcheck", CHECK_MEM | CHECK_LEAK | CHECK_API},
		     {"Racecheck", CHECK_RACE},
		     {"Initcheck", CHECK_INIT},
		     {"Synccheck", CHECK_SYNC},
		     {"Leak", CHECK_LEAK},
		     {"ApiError", CHECK_API}};

	if (!kind || !strcasecmp(kind, finding_word(f->kind)) ||
	    !strcasecmp(kind, finding_check_word(f->kind)))
		return true;
	for (size_t i = 0; i < ARRAY_LEN(tools); i++)
		if (!strcasecmp(kind, tools[i].word))
			return finding_check(f->kind) & tools[i].checks;
	return false;
}

static bool fits_side(const struct suppression_record *x, const struct finding *f)
{
	bool is_kernel = x->func && !x->path && !x->line && fits(x->func, f->kernel);

	if (is_kernel || (!x->func && !x->path && !x->line))
		return true;
	for (u32 i = 0; i < f->sides; i++) {
		const struct finding_place *at = &f->side[i].place;

		if (fits(x->func, at->function) && fits(x->path, at->file) &&
		    (!x->line || strtoul(x->line, NULL, 10) == at->line))
			return true;
	}
	return false;
}

/* Frames that a stack has on a device alone, or that ours end before. */
static bool is_beyond(const struct record_frame *x)
{
	static const char *const starts[] = {"__libc_start_main", "__libc_start_call_main",
					     "_start"};

	if (!x->func)
		return x->module && fits(x->module, "/usr/lib/libcuda.so.1");
	for (size_t i = 0; i < ARRAY_LEN(starts); i++)
		if (!strcmp(x->func, starts[i]))
			return true;
	return false;
}

/* Frames in their order; others may be among them. */
static bool fits_stack(const struct suppression_record *x, const struct finding *f)
{
	const struct host_frame *frames;
	u32 len = 0, next = 0;

	frames = f->hosts ? host_trace_frames(f->host[0].trace, &len) : NULL;
	for (u32 i = 0;; next++) {
		if (next == x->frame_len)
			return true;
		if (is_beyond(&x->frame[next]))
			continue;
		while (i < len && !(fits(x->frame[next].func, frames[i].function) &&
				    fits(x->frame[next].module, frames[i].module)))
			i++;
		if (i++ >= len)
			return false;
	}
}

bool suppression_records_match(const struct suppressions *s, const struct finding *f)
{
	const char *all = f->text.at ? f->text.at : "";
	char *headline = s->records ? strndup(all, strcspn(all, "\n")) : NULL;
	bool yes = false;

	for (const struct suppression_record *x = s->records; x && !yes; x = x->next)
		yes = fits_kind(x->kind, f) && fits(x->text, headline) && fits_side(x, f) &&
		      fits_stack(x, f);
	free(headline);
	return yes;
}
