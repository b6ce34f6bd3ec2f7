/*
 * Saved metrics on the command line.
 */
#include "src/tools/kit/saved.h"

#include "src/base/file.h"
#include "src/check/record.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

bool saved_is_any(const struct saved *s)
{
	return s->save || s->against;
}

static bool read_saved(struct metric_base *b, const char *path, const char *test)
{
	struct text why = {0};
	struct file f;
	bool ok;

	if (!file_open(&f, path)) {
		fprintf(stderr, "%s: error: %s\n", path, strerror(errno));
		return false;
	}
	ok = metric_base_read(b, path, (const char *)f.data, f.size, test, &why);
	file_close(&f);
	if (!ok)
		fprintf(stderr, "%s\n", why.at ? why.at : "no memory left");
	text_fini(&why);
	return ok;
}

/* Before the program runs, which may take long. */
static bool saved_can_write(const char *path)
{
	bool is_new = access(path, F_OK);
	FILE *f = fopen(path, "ae");

	if (f && !fclose(f)) {
		if (is_new)
			unlink(path);
		return true;
	}
	fprintf(stderr, "%s: error: %s\n", path, strerror(errno));
	return false;
}

int saved_open(struct saved *s, const struct tool_command *self)
{
	if (s->allow && !s->against)
		return tool_usage(self, "--allow goes with --against");
	if (s->allow && !metric_allow_parse(s->allow, &s->slack))
		return tool_usage(self, "--allow takes a percentage such as 5%%, not '%s'",
				  s->allow);
	if ((s->against && !read_saved(&s->base, s->against, NULL)) ||
	    (s->save && !saved_can_write(s->save)))
		return TOOL_USAGE;
	return TOOL_OK;
}

void saved_print(const char *command, const char *what, const struct text *t)
{
	for (const char *s = t->at; s && *s; s += strcspn(s, "\n") + 1)
		fprintf(stderr, "ptxloom %s: %s%.*s\n", command, what, (int)strcspn(s, "\n"), s);
}

static bool write_saved(const struct saved *s, struct metric_base *now)
{
	struct text t = {0};
	bool ok;

	metric_base_write(now, s->has_places, &t);
	ok = !t.failed && file_put(s->save, t.at, t.len);
	if (!ok)
		fprintf(stderr, "%s: error: %s\n", s->save,
			t.failed ? "no memory left" : strerror(errno));
	text_fini(&t);
	return ok;
}

int saved_judge(struct saved *s, const struct tool_command *self, struct metric_base *now)
{
	struct text differ = {0}, notes = {0};
	bool ok = true, wrote;

	if (s->against) {
		ok = metric_base_compare(&s->base, now, s->against, s->slack, &differ, &notes);
		saved_print(self->name, "metrics: ", &differ);
		saved_print(self->name, "note: ", &notes);
		record_metrics(s->against, s->base.rows.len, differ.at ? differ.at : "");
	}
	text_fini(&differ);
	text_fini(&notes);
	wrote = !s->save || write_saved(s, now);
	return !wrote ? TOOL_USAGE : ok ? TOOL_OK : TOOL_FINDINGS;
}

bool saved_take(struct metric_base *now, const char *path, const char *test)
{
	return read_saved(now, path, test);
}

void saved_fini(struct saved *s)
{
	metric_base_fini(&s->base);
}
