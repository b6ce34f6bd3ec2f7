/*
 * Copies of findings, each list in an arena of its own.
 */
#include "src/check/snapshot.h"

#include "src/base/arena.h"

#include <stdlib.h>

struct snapshot {
	struct ptxloom_findings list; /* what the program sees: the first member */
	struct arena arena;
	bool failed; /* no memory left */
};

static const char *copy_string(struct snapshot *s, const char *from)
{
	const char *to = from ? arena_strdup(&s->arena, from, strlen(from)) : NULL;

	s->failed |= from && !to;
	return to;
}

static void *copy_room(struct snapshot *s, u64 count, size_t size)
{
	u64 bytes;
	void *to = size_mul(count, size, &bytes) && bytes <= SIZE_MAX
			   ? arena_alloc(&s->arena, (size_t)bytes)
			   : NULL;

	s->failed |= !to;
	return to;
}

static void copy_sides(struct snapshot *s, const struct finding *f, struct ptxloom_finding *out)
{
	struct ptxloom_place *to = copy_room(s, f->sides, sizeof(*to));

	for (u32 i = 0; to && i < f->sides; i++) {
		const struct finding_side *x = &f->side[i];

		to[i].what = copy_string(s, x->what);
		to[i].function = copy_string(s, x->place.function);
		to[i].file = copy_string(s, x->place.file);
		to[i].line = x->place.line;
		to[i].has_thread = x->has_thread;
		memcpy(to[i].thread, x->thread, sizeof(x->thread));
		memcpy(to[i].block, x->block, sizeof(x->block));
	}
	out->place_count = f->sides;
	out->places = to;
}

static void copy_hosts(struct snapshot *s, const struct finding *f, struct ptxloom_finding *out)
{
	struct ptxloom_place *to = copy_room(s, f->hosts, sizeof(*to));

	for (u32 i = 0; to && i < f->hosts; i++) {
		const struct host_frame *at = host_trace_place(f->host[i].trace);

		to[i].what = copy_string(s, f->host[i].what);
		to[i].function = copy_string(s, at ? at->function : NULL);
		to[i].file = copy_string(s, at ? at->file : NULL);
		to[i].line = at ? at->line : 0;
	}
	out->host_count = f->hosts;
	out->hosts = to;
}

static const struct ptxloom_finding *copy_finding(struct snapshot *s, const struct finding *f)
{
	struct ptxloom_finding *to = copy_room(s, 1, sizeof(*to));
	const char *text = f->text.at ? f->text.at : "";

	if (!to)
		return NULL;
	to->check = finding_check_word(f->kind); /* static */
	to->kind = finding_word(f->kind);
	to->message = arena_strdup(&s->arena, text, strcspn(text, "\n"));
	s->failed |= !to->message;
	to->text = copy_string(s, text);
	to->kernel = copy_string(s, f->kernel);
	to->is_warning = f->is_warning;
	to->has_address = f->has_address;
	to->address = f->address;
	to->count = f->count;
	copy_sides(s, f, to);
	copy_hosts(s, f, to);
	return to;
}

static void copy_findings(struct snapshot *s, struct findings *l)
{
	const struct ptxloom_finding **to;
	struct text checks = {0};

	pthread_mutex_lock(&l->lock);
	to = copy_room(s, l->list.len, sizeof(*to));
	for (size_t i = 0; to && i < l->list.len; i++)
		to[i] = copy_finding(s, &l->list.at[i]);
	s->list.count = l->list.len;
	s->list.finding = to;
	pthread_mutex_unlock(&l->lock);
	checks_say(l->options.checks, &checks);
	s->list.checks = copy_string(s, checks.at ? checks.at : "");
	text_fini(&checks);
}

const struct ptxloom_findings *findings_snapshot(struct findings *l)
{
	struct snapshot *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->list.checks = "";
	if (l)
		copy_findings(s, l);
	if (!s->failed)
		return &s->list;
	findings_snapshot_free(&s->list);
	return NULL;
}

void findings_snapshot_free(const struct ptxloom_findings *list)
{
	struct snapshot *s = (struct snapshot *)list;

	if (!s)
		return;
	arena_fini(&s->arena);
	free(s);
}
