/*
 * What is written down of a steered run. Lines go out one by one, so that those of a run that is
 * killed are there.
 *
 * Conflicts: two warps touch the same word, one of them writes it, and no barrier of their CTA lies
 * between. For each word the last write is remembered and the last read by another warp than that
 * write's; the order of all such pairs is hashed, so that runs can be told apart.
 */
#include "src/sched/steer/steer_notes.h"
#include "src/sched/debug_int.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

#define WORDS_FIRST 4096u
#define WORDS_MAX (1u << 20)
#define PAIRS_MAX 256u
#define EPOCHS 1024u
#define CHOICES_MAX 1000000u
#define WORD_BYTES 4u
#define UNSEEN_MAX 16u
#define AGENTS_MAX 65536u

/* Of a word: who touched it, where and when. */
struct touch {
	u64 cta, seq;
	u32 warp, pc, epoch;
	bool there, atomic;
};

struct word {
	u64 key; /* 0: free */
	struct touch write, read;
};

struct conflict {
	u32 first, second; /* micro-ops */
	u64 cta[2];
	u32 warp[2];
	u64 count;
};

struct steer_notes {
	int fd;
	struct word *words;
	u32 cap, len;
	struct conflict pairs[PAIRS_MAX];
	u32 pair_len;
	u64 order, seq, steps, written;
	u32 epoch[EPOCHS];
	struct map agents; /* warps of a natural run: their steps, by agent_key */
	bool natural;
	u32 *visits; /* by micro-op */
	u32 visit_len;
	/* the last choice: what meets first after it is told */
	bool awaits;
	u64 awaits_seq;
	struct schedule_agent to;
	const struct debug_grid *launch;
	struct notes_unseen unseen[UNSEEN_MAX];
	u32 unseen_len;
};

struct steer_notes *notes_open(const char *path, struct text *why)
{
	struct steer_notes *n = calloc(1, sizeof(*n));

	if (!n) {
		text_puts(why, "no memory left");
		return NULL;
	}
	n->fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
	if (n->fd < 0)
		text_printf(why, "PTXLOOM_SCHEDULE_NOTES: %s: %s", path, strerror(errno));
	else if (!flock(n->fd, LOCK_EX | LOCK_NB))
		return n;
	notes_free(n);
	return NULL;
}

void notes_free(struct steer_notes *n)
{
	if (!n)
		return;
	if (n->fd >= 0)
		close(n->fd);
	free(n->words);
	free(n->visits);
	map_fini(&n->agents);
	free(n);
}

/* ---- lines ---- */

static void put_note(const struct steer_notes *n, struct text *t)
{
	const char *at = t->at;
	size_t left = t->len;

	while (left && !t->failed) {
		ssize_t done = write(n->fd, at, left);

		if (done < 0 && errno != EINTR)
			break;
		at += done > 0 ? done : 0;
		left -= done > 0 ? (size_t)done : 0;
	}
	text_fini(t);
}

static unsigned long long wide(u64 x)
{
	return x;
}

static void say_spot(const struct debug_grid *d, u32 pc, struct text *t)
{
	const struct sched_launch *l = &d->grid->launch;

	if (pc != NO_PC && l->say_place)
		l->say_place(d->grid->launch.env.program, pc, t);
	else
		text_puts(t, "?");
}

void notes_begin(struct steer_notes *n, const struct debug_grid *d)
{
	const struct exec_env *e = &d->grid->launch.env;
	const struct schedule *s = d->steer->schedule;
	struct text t = {0};

	n->launch = d;
	n->steps = n->seq = n->order = 0;
	n->pair_len = n->len = n->unseen_len = 0;
	n->awaits = false;
	n->natural = s->kind == SCHEDULE_LIST && !s->choices.len;
	map_fini(&n->agents);
	if (n->words)
		memset(n->words, 0, sizeof(*n->words) * n->cap);
	memset(n->epoch, 0, sizeof(n->epoch));
	free(n->visits);
	n->visits = calloc(e->program->uops + 1, sizeof(*n->visits));
	n->visit_len = n->visits ? e->program->uops : 0;
	text_printf(&t, "launch\t%llu\t%06x\t%u\t%u\t%u\t%u\t%u\t%u\t%s\n", wide(d->number),
		    d->launch_hash, e->grid[0], e->grid[1], e->grid[2], e->block[0], e->block[1],
		    e->block[2], e->program->funcs[0].func->name->text);
	put_note(n, &t);
}

static void put_pairs(struct steer_notes *n, const struct debug_grid *d)
{
	struct text t = {0};

	for (u32 i = 0; i < n->pair_len; i++) {
		const struct conflict *c = &n->pairs[i];

		text_printf(&t, "pair\t%llu\t%u\t%u\t%llu\t%u\t%llu\t%u\t%u\t%u\t%llu\n",
			    wide(d->number), c->first, c->second, wide(c->cta[0]), c->warp[0],
			    wide(c->cta[1]), c->warp[1],
			    c->first < n->visit_len ? n->visits[c->first] : 0,
			    c->second < n->visit_len ? n->visits[c->second] : 0, wide(c->count));
	}
	put_note(n, &t);
}

static u64 agent_key(u64 cta, u32 warp)
{
	return cta << 8 | (warp + 1);
}

/* None, if there are more than were kept. */
static void put_agents(struct steer_notes *n, const struct debug_grid *d)
{
	struct text t = {0};

	for (size_t i = 0; i < n->agents.cap && n->agents.len < AGENTS_MAX; i++) {
		const struct map_slot *a = &n->agents.slots[i];

		if (a->key)
			text_printf(&t, "agent\t%llu\t%llu\t%u\t%llu\n", wide(d->number),
				    wide(a->key >> 8), (u32)(a->key & 0xff) - 1, wide(a->value));
	}
	put_note(n, &t);
}

/* Launches in which no thread goes on. */
static const char *stuck_word(const struct fault *f)
{
	if (f->kind != FAULT_DEADLOCK)
		return "-";
	return f->livelock ? "livelock" : "deadlock";
}

void notes_end(struct steer_notes *n, const struct debug_grid *d, const struct fault *fault)
{
	struct text t = {0};

	put_pairs(n, d);
	put_agents(n, d);
	text_printf(&t, "end\t%llu\t%llu\t%016llx\n", wide(d->number), wide(n->steps),
		    wide(n->order));
	if (fault)
		text_printf(&t, "fault\t%llu\t%u\t%s\n", wide(d->number), (u32)fault->kind,
			    stuck_word(fault));
	put_note(n, &t);
	n->launch = NULL;
}

void notes_step(struct steer_notes *n, u32 pc, u64 cta, u32 warp, u32 steps)
{
	n->steps++;
	if (n->natural && n->agents.len < AGENTS_MAX)
		map_set(&n->agents, agent_key(cta, warp), (u64)steps + 1);
	if (pc < n->visit_len)
		n->visits[pc]++;
}

/* Where the agent goes on: its group that runs next. */
static u32 agent_pc(const struct debug_grid *d, const struct schedule_agent *a)
{
	const struct cta *c = debug_cta(d, a->cta);
	u32 pc = NO_PC;

	if (!c || a->warp >= c->warps)
		return NO_PC;
	for (u32 i = 0; i < c->warp[a->warp].groups; i++) {
		const struct group *x = &c->warp[a->warp].group[i];

		if ((a->lane == SCHEDULE_NO_LANE || x->mask >> a->lane & 1) && x->pc < pc)
			pc = x->pc;
	}
	return pc;
}

/* The visible operation that comes next after pc, in the order of the code. */
static u32 next_visible(const struct debug_grid *d, u32 pc)
{
	u32 end = d->grid->launch.env.program->launch_first;

	for (u32 i = pc; i < end; i++)
		if (d->marks[i] & MARK_STEER)
			return i;
	return pc;
}

void notes_choice(struct steer_notes *n, const struct debug_grid *d,
		  const struct schedule_choice *c, u32 pc)
{
	struct text t = {0};
	u32 to;

	if (n->written++ > CHOICES_MAX)
		return;
	text_printf(&t, "choice\t%llu\t%llu\t%u\t%u\t%u\t%u\t%u\t%llu\t%u\t%u\t", wide(d->number),
		    wide(c->cta), c->warp, c->step, c->at_turn, c->passes, c->count,
		    wide(c->to.cta), c->to.warp, (u32)c->to.lane | (u32)c->to.last << 8);
	say_spot(d, next_visible(d, pc), &t);
	text_puts(&t, "\t");
	to = c->passes ? NO_PC : agent_pc(d, &c->to);
	say_spot(d, to == NO_PC ? to : next_visible(d, to), &t);
	text_puts(&t, "\n");
	put_note(n, &t);
	n->awaits = !c->passes;
	n->awaits_seq = n->seq;
	n->to = c->to;
}

/* Each pair of places once. */
void notes_unseen(struct steer_notes *n, const struct debug_grid *d, const struct notes_unseen *x)
{
	struct text t = {0};

	for (u32 i = 0; i < n->unseen_len; i++)
		if (!memcmp(n->unseen[i].pc, x->pc, sizeof(x->pc)))
			return;
	if (n->unseen_len == UNSEEN_MAX)
		return;
	n->unseen[n->unseen_len++] = *x;
	text_printf(&t, "unseen\t%llu\t%llu\t%u\t%llu\t%u\t", wide(d->number), wide(x->cta[0]),
		    x->warp[0], wide(x->cta[1]), x->warp[1]);
	say_spot(d, x->pc[0], &t);
	text_puts(&t, "\t");
	say_spot(d, x->pc[1], &t);
	text_puts(&t, "\n");
	put_note(n, &t);
}

/* ---- conflicts ---- */

static u64 word_key(const struct exec_access *a, u64 address)
{
	u64 cta = a->space == MEM_SHARED ? a->cta->number + 1 : 0;
	u64 key = sched_mix(address / WORD_BYTES, cta);

	return key ? key : 1;
}

static bool words_grow(struct steer_notes *n)
{
	u32 cap = n->cap ? n->cap * 2 : WORDS_FIRST;
	struct word *to = cap <= WORDS_MAX ? calloc(cap, sizeof(*to)) : NULL;

	if (!to)
		return false;
	for (u32 i = 0; i < n->cap; i++) {
		u32 k = (u32)n->words[i].key & (cap - 1);

		if (!n->words[i].key)
			continue;
		while (to[k].key)
			k = (k + 1) & (cap - 1);
		to[k] = n->words[i];
	}
	free(n->words);
	n->words = to;
	n->cap = cap;
	return true;
}

/* NULL: there are too many words. */
static struct word *noted_word(struct steer_notes *n, u64 key)
{
	u32 i;

	if (n->len >= n->cap / 2 && !words_grow(n) && n->len + 1 >= n->cap)
		return NULL;
	for (i = (u32)key & (n->cap - 1); n->words[i].key && n->words[i].key != key;)
		i = (i + 1) & (n->cap - 1);
	if (!n->words[i].key) {
		n->words[i] = (struct word){.key = key};
		n->len++;
	}
	return &n->words[i];
}

static void add_pair(struct steer_notes *n, const struct touch *a, const struct touch *b)
{
	u32 i = 0;

	while (i < n->pair_len && (n->pairs[i].first != a->pc || n->pairs[i].second != b->pc))
		i++;
	if (i == n->pair_len) {
		if (i == PAIRS_MAX)
			return;
		n->pairs[n->pair_len++] =
			(struct conflict){a->pc, b->pc, {a->cta, b->cta}, {a->warp, b->warp}, 0};
	}
	n->pairs[i].count++;
}

static bool is_agent(const struct touch *t, u64 cta, u32 warp)
{
	return t->cta == cta && t->warp == warp;
}

/* Another warp meets what the one that ran on alone did before. */
static void tell_meeting(struct steer_notes *n, const struct touch *a, const struct touch *b)
{
	struct text t = {0};

	if (a->seq <= n->awaits_seq || !is_agent(a, n->to.cta, n->to.warp))
		return;
	n->awaits = false;
	text_printf(&t, "meet\t%llu\t%llu\t%u\t%llu\t%u\t", wide(n->launch->number), wide(b->cta),
		    b->warp, wide(a->cta), a->warp);
	say_spot(n->launch, b->pc, &t);
	text_puts(&t, "\t");
	say_spot(n->launch, a->pc, &t);
	text_puts(&t, "\n");
	put_note(n, &t);
}

static void compare_touches(struct steer_notes *n, u64 key, const struct touch *a,
			    const struct touch *b)
{
	u64 x[6] = {
		key, a->pc, a->cta << 8 | a->warp, b->pc, b->cta << 8 | b->warp, n->launch->number};

	if (!a->there || (a->cta == b->cta && (a->warp == b->warp || a->epoch != b->epoch)))
		return;
	/* A sum: that other words were touched in another order does not matter. */
	n->order += hash_bytes(x, sizeof(x));
	add_pair(n, a, b);
	if (n->awaits)
		tell_meeting(n, a, b);
}

static void touch_word(struct steer_notes *n, u64 key, const struct touch *now, bool reads,
		       bool writes)
{
	struct word *w = noted_word(n, key);

	if (!w)
		return;
	compare_touches(n, key, &w->write, now);
	if (writes && w->read.seq > w->write.seq)
		compare_touches(n, key, &w->read, now);
	if (writes)
		w->write = *now;
	if (reads && !writes)
		w->read = *now;
}

void notes_access(struct steer_notes *n, const struct exec_access *a)
{
	bool writes = a->kind == ACCESS_STORE || a->kind == ACCESS_ATOM || a->kind == ACCESS_RED ||
		      a->kind == ACCESS_COPY_WRITE || a->kind == ACCESS_MATRIX_STORE;
	struct touch now = {.cta = a->cta->number,
			    .seq = ++n->seq,
			    .warp = a->warp,
			    .pc = a->pc,
			    .epoch = n->epoch[a->cta->number % EPOCHS],
			    .there = true};

	if ((a->space != MEM_GLOBAL && a->space != MEM_SHARED) || !n->launch)
		return;
	for (u32 m = a->mask; m; m &= m - 1) {
		u64 at = a->address[__builtin_ctz(m)], end = at + a->bytes;

		for (at -= at % WORD_BYTES; at < end && end - at <= 4096; at += WORD_BYTES)
			touch_word(n, word_key(a, at), &now,
				   a->kind != ACCESS_STORE && a->kind != ACCESS_COPY_WRITE, writes);
	}
}

void notes_release(struct steer_notes *n, const struct cta *c)
{
	n->epoch[c->number % EPOCHS]++;
}

void notes_copy(struct steer_notes *n, u64 hash)
{
	struct text t = {0};

	text_printf(&t, "copy\t%016llx\n", wide(hash));
	put_note(n, &t);
}
