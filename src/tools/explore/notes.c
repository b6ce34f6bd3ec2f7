/*
 * Reading what a steered run has written down. Lines that are cut off, as the run was killed, are
 * left out.
 */
#include "src/base/file.h"
#include "src/tools/explore/explore.h"

#include <stdlib.h>
#include <string.h>

#define FIELDS_MAX 16u

struct fields {
	char *at[FIELDS_MAX];
	u32 len;
};

static void split_fields(char *line, struct fields *f)
{
	f->len = 0;
	while (line && f->len < FIELDS_MAX) {
		char *tab = f->len + 1 < FIELDS_MAX ? strchr(line, '\t') : NULL;

		f->at[f->len++] = line;
		if (tab)
			*tab++ = '\0';
		line = tab;
	}
}

static u64 field_number(const struct fields *f, u32 i, int base)
{
	return i < f->len ? strtoull(f->at[i], NULL, base) : 0;
}

static u64 wide_field(const struct fields *f, u32 i)
{
	return field_number(f, i, 10);
}

static u32 field(const struct fields *f, u32 i)
{
	return (u32)field_number(f, i, 10);
}

static char *field_text(const struct fields *f, u32 i)
{
	return strdup(i < f->len ? f->at[i] : "?");
}

static bool read_launch_line(struct notes *n, const struct fields *f)
{
	struct noted_launch l = {.number = wide_field(f, 1),
				 .hash = (u32)field_number(f, 2, 16),
				 .grid = {field(f, 3), field(f, 4), field(f, 5)},
				 .block = {field(f, 6), field(f, 7), field(f, 8)},
				 .name = field_text(f, 9)};

	return l.name && VEC_PUSH(&n->launches, l);
}

static bool read_pair_line(struct notes *n, const struct fields *f)
{
	struct noted_pair p = {.launch = wide_field(f, 1),
			       .place = {field(f, 2), field(f, 3)},
			       .cta = {wide_field(f, 4), wide_field(f, 6)},
			       .warp = {field(f, 5), field(f, 7)},
			       .visits = {field(f, 8), field(f, 9)}};

	return VEC_PUSH(&n->pairs, p);
}

static bool read_choice_line(struct notes *n, const struct fields *f)
{
	struct noted_choice c = {.choice = {.launch = wide_field(f, 1),
					    .cta = wide_field(f, 2),
					    .warp = field(f, 3),
					    .step = field(f, 4),
					    .at_turn = field(f, 5),
					    .passes = field(f, 6),
					    .count = field(f, 7),
					    .to = {wide_field(f, 8), field(f, 9), (u8)field(f, 10),
						   (u8)(field(f, 10) >> 8)}},
				 .at = field_text(f, 11),
				 .to = field_text(f, 12)};

	return c.at && c.to && VEC_PUSH(&n->choices, c);
}

static bool read_meeting_line(struct notes *n, const struct fields *f)
{
	struct noted_meeting m = {.launch = wide_field(f, 1),
				  .cta = {wide_field(f, 2), wide_field(f, 4)},
				  .warp = {field(f, 3), field(f, 5)},
				  .place = {field_text(f, 6), field_text(f, 7)}};

	return m.place[0] && m.place[1] && VEC_PUSH(&n->meetings, m);
}

static bool read_unseen_line(struct notes *n, const struct fields *f)
{
	struct noted_unseen u = {.launch = wide_field(f, 1),
				 .cta = {wide_field(f, 2), wide_field(f, 4)},
				 .warp = {field(f, 3), field(f, 5)},
				 .place = {field_text(f, 6), field_text(f, 7)}};

	return u.place[0] && u.place[1] && VEC_PUSH(&n->unseen, u);
}

static bool read_agent_line(struct notes *n, const struct fields *f)
{
	struct noted_agent a = {.launch = wide_field(f, 1),
				.cta = wide_field(f, 2),
				.warp = field(f, 3),
				.steps = wide_field(f, 4)};

	return VEC_PUSH(&n->agents, a);
}

static int by_agent(const void *a, const void *b)
{
	const struct noted_agent *x = a, *y = b;

	if (x->launch != y->launch)
		return x->launch < y->launch ? -1 : 1;
	if (x->cta != y->cta)
		return x->cta < y->cta ? -1 : 1;
	return x->warp < y->warp ? -1 : x->warp > y->warp;
}

static const char *const stuck_words[] = {"-", "deadlock", "livelock"};

const char *notes_stuck_word(u8 stuck)
{
	return stuck_words[stuck];
}

static void read_fault_line(struct notes *n, const struct fields *f)
{
	n->faults++;
	for (u8 i = STUCK_DEADLOCK; i < ARRAY_LEN(stuck_words) && !n->stuck; i++)
		if (!strcmp(f->at[3], stuck_words[i])) {
			n->stuck = i;
			n->stuck_launch = wide_field(f, 1);
		}
}

static bool read_note(struct notes *n, char *line)
{
	struct fields f;
	struct noted_launch *last = n->launches.len ? &n->launches.at[n->launches.len - 1] : NULL;

	split_fields(line, &f);
	if (!strcmp(f.at[0], "launch"))
		return read_launch_line(n, &f);
	if (!strcmp(f.at[0], "pair"))
		return read_pair_line(n, &f);
	if (!strcmp(f.at[0], "agent"))
		return read_agent_line(n, &f);
	if (!strcmp(f.at[0], "choice"))
		return read_choice_line(n, &f);
	if (!strcmp(f.at[0], "meet"))
		return read_meeting_line(n, &f);
	if (!strcmp(f.at[0], "unseen"))
		return read_unseen_line(n, &f);
	if (!strcmp(f.at[0], "copy"))
		return VEC_PUSH(&n->copies, field_number(&f, 1, 16));
	if (!strcmp(f.at[0], "fault"))
		read_fault_line(n, &f);
	if (!strcmp(f.at[0], "end") && last) {
		last->steps = wide_field(&f, 2);
		last->order = field_number(&f, 3, 16);
		n->steps += last->steps;
	}
	return true;
}

bool notes_read(struct notes *n, const char *path)
{
	struct file f;
	char *text, *line;
	bool ok;

	*n = (struct notes){0};
	if (!file_open(&f, path))
		return true;
	text = malloc(f.size + 1);
	ok = text != NULL;
	if (ok && f.size)
		memcpy(text, f.data, f.size);
	if (ok)
		text[f.size] = '\0';
	file_close(&f);
	for (line = text; ok && line;) {
		char *end = strchr(line, '\n');

		if (!end)
			break;
		*end = '\0';
		ok = read_note(n, line);
		line = end + 1;
	}
	free(text);
	if (n->agents.len)
		qsort(n->agents.at, n->agents.len, sizeof(*n->agents.at), by_agent);
	return ok;
}

void notes_fini(struct notes *n)
{
	for (size_t i = 0; i < n->launches.len; i++)
		free(n->launches.at[i].name);
	for (size_t i = 0; i < n->choices.len; i++) {
		free(n->choices.at[i].at);
		free(n->choices.at[i].to);
	}
	for (size_t i = 0; i < n->meetings.len; i++) {
		free(n->meetings.at[i].place[0]);
		free(n->meetings.at[i].place[1]);
	}
	for (size_t i = 0; i < n->unseen.len; i++) {
		free(n->unseen.at[i].place[0]);
		free(n->unseen.at[i].place[1]);
	}
	VEC_FREE(&n->unseen);
	VEC_FREE(&n->launches);
	VEC_FREE(&n->pairs);
	VEC_FREE(&n->agents);
	VEC_FREE(&n->choices);
	VEC_FREE(&n->meetings);
	VEC_FREE(&n->copies);
}
