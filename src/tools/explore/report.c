/*
 * What a failing schedule does, in words, and the line that repeats it.
 */
#include "src/base/demangle.h"
#include "src/tools/explore/explore.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Longer tokens go to a file. */
#define TOKEN_MAX 1024u
#define SHOWN_MAX 8u

static unsigned long long report_u64(u64 x)
{
	return x;
}

static const struct noted_launch *noted_launch_of(const struct notes *n, u64 number)
{
	for (size_t i = 0; i < n->launches.len; i++)
		if (n->launches.at[i].number == number)
			return &n->launches.at[i];
	return NULL;
}

static void say_cta(const struct noted_launch *l, u64 cta, struct text *t)
{
	u64 x = l ? l->grid[0] : 1, y = l ? l->grid[1] : 1;

	if (!x || !y)
		return;
	text_printf(t, "CTA (%llu,%llu,%llu)", report_u64(cta % x), report_u64(cta / x % y),
		    report_u64(cta / x / y));
}

static void say_noted_launch(const struct noted_launch *l, u64 number, struct text *t)
{
	text_printf(t, "  launch %llu, ", report_u64(number));
	if (l)
		demangle(l->name, t);
	text_puts(t, ", ");
}

/* The accesses that met after this choice; NULL: none did. */
static const struct noted_meeting *noted_meeting_of(const struct notes *n,
						    const struct noted_choice *c)
{
	for (size_t i = 0; i < n->meetings.len; i++) {
		const struct noted_meeting *m = &n->meetings.at[i];

		if (m->launch == c->choice.launch && m->cta[1] == c->choice.to.cta &&
		    m->warp[1] == c->choice.to.warp)
			return m;
	}
	return NULL;
}

/* A warp, or lanes of it, ahead of the others. */
static void say_alone(const struct schedule_choice *c, const char *at, struct text *t)
{
	if (c->to.last)
		text_printf(t, ": lanes %u to %u of warp %u run on alone from %s\n", c->to.lane,
			    c->to.last, c->warp, at);
	else if (c->to.lane != SCHEDULE_NO_LANE)
		text_printf(t,
			    ": the lanes of warp %u that lane %u is among run on alone from %s\n",
			    c->warp, c->to.lane, at);
	else
		text_printf(t, ": warp %u runs on alone from %s\n", c->warp, at);
}

static void say_choice(const struct notes *n, const struct noted_choice *c, struct text *t)
{
	const struct noted_launch *l = noted_launch_of(n, c->choice.launch);
	const struct noted_meeting *m = noted_meeting_of(n, c);

	say_noted_launch(l, c->choice.launch, t);
	say_cta(l, m ? m->cta[0] : c->choice.cta, t);
	if (c->choice.passes) {
		text_printf(t, ": warp %u waits before %s\n", c->choice.warp, c->at);
		return;
	}
	if (!m && c->choice.warp == c->choice.to.warp && c->choice.cta == c->choice.to.cta) {
		say_alone(&c->choice, c->at, t);
		return;
	}
	text_printf(t, ": warp %u stops before %s while ", m ? m->warp[0] : c->choice.warp,
		    m ? m->place[0] : c->at);
	if (c->choice.to.cta != (m ? m->cta[0] : c->choice.cta)) {
		say_cta(l, c->choice.to.cta, t);
		text_puts(t, " ");
	}
	text_printf(t, "warp %u runs on %s %s\n", c->choice.to.warp, m ? "to" : "from",
		    m ? m->place[1] : c->to);
}

static void say_enough(u64 now, u64 before, struct text *t)
{
	if (!t->len)
		return;
	t->at[--t->len] = '\0';
	text_printf(t, "; %llu preemption%s of %llu %s enough\n", report_u64(now),
		    now == 1 ? "" : "s", report_u64(before), now == 1 ? "is" : "are");
}

static void say_choices(const struct explore_run *r, const struct schedule *s, u64 choices,
			struct text *t)
{
	const struct notes *n = &r->notes;
	size_t len = n->choices.len < SHOWN_MAX ? n->choices.len : SHOWN_MAX;

	if (s->kind != SCHEDULE_LIST) {
		text_puts(t, "  what it does could not be repeated as a list of preemptions\n");
		return;
	}
	if (!s->choices.len) {
		text_printf(t, "  no preemption is needed%s\n",
			    s->eager ? ": asynchronous copies complete at once" : "");
		return;
	}
	for (size_t i = 0; i < len; i++)
		say_choice(n, &n->choices.at[i], t);
	if (len == s->choices.len)
		say_enough(len, choices, t);
	else
		text_printf(t, "  and %zu more; %zu preemptions of %llu are enough\n",
			    s->choices.len - len, s->choices.len, report_u64(choices));
}

/* What weak memory has kept from a warp. */
static void say_unseen(const struct notes *n, const struct noted_unseen *u, struct text *t)
{
	const struct noted_launch *l = noted_launch_of(n, u->launch);

	say_noted_launch(l, u->launch, t);
	say_cta(l, u->cta[0], t);
	text_printf(t, ": warp %u does not see at %s ", u->warp[0], u->place[0]);
	if (!strcmp(u->place[1], "?")) {
		text_puts(t, "what was stored after it had read the same sector of its cache\n");
		return;
	}
	text_puts(t, "what ");
	say_cta(l, u->cta[1], t);
	text_printf(t, " has stored at %s\n", u->place[1]);
}

/* Tokens that are too long for a line go to a file. False: it cannot be written. */
static bool store_token(u64 i, struct text *token)
{
	char name[64];
	FILE *f;
	bool ok;

	snprintf(name, sizeof(name), "ptxloom-schedule-%llu.txt", report_u64(i));
	f = fopen(name, "w");
	ok = f &&
	     fprintf(f, "# ptxloom explore: schedule %llu\n%s\n", report_u64(i), token->at) > 0;
	if (f && fclose(f))
		ok = false;
	if (!ok) {
		fprintf(stderr, "ptxloom explore: %s: %s\n", name, strerror(errno));
		return false;
	}
	token->len = 0;
	text_printf(token, "@%s", name);
	return true;
}

static void say_replay(const struct explore *x, u64 i, const struct schedule *s, u32 device)
{
	struct text token = {0}, t = {0};

	schedule_write(s, &token);
	if (token.len > TOKEN_MAX)
		store_token(i, &token);
	text_printf(&t, "  replay: PTXLOOM_SCHEDULE=%s ptxloom run ", token.at ? token.at : "");
	if (x->o.devices.at[device]) {
		text_puts(&t, "-d ");
		tool_say_word(x->o.devices.at[device], &t);
		text_puts(&t, " ");
	}
	if (x->o.check)
		text_printf(&t, "--check=%s ", x->o.check);
	if (x->o.inject) {
		text_puts(&t, "--inject ");
		tool_say_word(x->o.inject, &t);
		text_puts(&t, " ");
	}
	for (char **a = x->argv; *a; a++) {
		tool_say_word(*a, &t);
		text_puts(&t, a[1] ? " " : "\n");
	}
	fputs(t.at ? t.at : "", stdout);
	text_fini(&token);
	text_fini(&t);
}

/* Where its warps wait, or poll: lines of the launch's own report. */
static void say_waiting_warps(const struct explore_run *r, struct text *t)
{
	static const char mark[] = "    block (";
	u32 lines = 0;

	if (!r->notes.stuck)
		return;
	for (const char *at = r->trial.err.at; at && *at && lines < SHOWN_MAX;) {
		size_t n = strcspn(at, "\n");

		if (!strncmp(at, mark, sizeof(mark) - 1)) {
			text_printf(t, "%.*s\n", (int)n, at);
			lines++;
		}
		at += n + (at[n] != 0);
	}
}

void report_failure(const struct explore *x, u64 i, const struct schedule *s, u32 device,
		    const struct explore_run *r, u64 choices)
{
	struct text t = {0};

	say_choices(r, s, choices, &t);
	for (size_t k = 0; s->weak && k < r->notes.unseen.len && k < SHOWN_MAX; k++)
		say_unseen(&r->notes, &r->notes.unseen.at[k], &t);
	say_waiting_warps(r, &t);
	fputs(t.at ? t.at : "", stdout);
	text_fini(&t);
	say_replay(x, i, s, device);
}
