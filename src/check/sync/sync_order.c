/*
 * Orders of locks: threads each of which waits for a lock that the next one holds. It is certain
 * that they may deadlock if the waits can be at the same time: no further lock is held in two of
 * them, and nothing lets one begin only when another is over.
 */
#include "src/check/sync/sync_locks.h"
#include "src/dev/place.h"
#include "src/dev/whereabouts.h"

#define CYCLE_MOST 8u
/* For a launch. */
#define CYCLE_STEPS 20000000u
#define CYCLE_REPORTS 32u

struct cycle {
	struct sync_launch *launch;
	const struct sync_locks *k;
	u32 wait[CYCLE_MOST];
	u32 len, most; /* waits, at most */
	u32 steps, reports;
	bool is_cut; /* longer ones might be found */
	/* Words without a cycle; waits by the word that is held: number + 1, 0 behind the last. */
	u8 *is_out;
	u32 *first, *next;
};

/* Was a CTA told something that no lock is, after one moment and before another? */
static bool cta_was_told(const struct sync_locks *k, const struct lock_signals *s, u64 after)
{
	for (u32 i = 0; i < LOCK_SIGNALS; i++)
		if (s->at[i].time > after && !lock_is_key(k, s->at[i].key))
			return true;
	return false;
}

/* May the second one have begun because the first one was over? */
static bool is_behind(const struct sync_locks *k, const struct lock_wait *first,
		      const struct lock_wait *second)
{
	if (!first->end || first->end >= second->start)
		return false;
	return cta_was_told(k, &second->signals, first->end) ||
	       (first->who >> 10 == second->who >> 10 && second->met > first->end);
}

static bool is_gate(const struct lock_wait *w, u32 word)
{
	for (size_t i = 0; i < w->gates.len; i++)
		if (w->gates.at[i] == word)
			return true;
	return false;
}

static bool share_gate(const struct lock_wait *a, const struct lock_wait *b)
{
	for (size_t i = 0; i < a->gates.len; i++)
		if (is_gate(b, a->gates.at[i]) || a->gates.at[i] == b->held)
			return true;
	return is_gate(b, a->held);
}

/*
 * Lanes of a warp: before Volta one runs behind the other, and so do, as compilers have it, those
 * that take turns in a loop.
 */
static bool take_turns(const struct sync_launch *l, const struct lock_wait *a,
		       const struct lock_wait *b)
{
	return a->who >> 5 == b->who >> 5 && (!l->program->arch->has_its || a->pc == b->pc);
}

static bool can_meet(const struct cycle *c, const struct lock_wait *a, const struct lock_wait *b)
{
	return a->who != b->who && !take_turns(c->launch, a, b) && !share_gate(a, b) &&
	       !is_behind(c->k, a, b) && !is_behind(c->k, b, a);
}

static bool is_lock(const struct cycle *c, u32 word)
{
	const struct lock_word *w = &c->k->words.at[word];

	return lock_is_real(w) && !w->is_held;
}

/* ---- what is said ---- */

static void add_lock_side(const struct cycle *c, const struct lock_wait *w, u32 pc,
			  struct finding *f)
{
	struct finding_side *s = finding_add_side(f, "Lock", c->launch->program, pc);

	if (!s)
		return;
	s->has_thread = true;
	finding_unroll((u32)(w->who & 1023), c->k->block, s->thread);
	finding_unroll(w->who >> 10, c->k->grid, s->block);
}

static void say_word(const struct cycle *c, u32 word, struct text *t)
{
	u64 key = c->k->words.at[word].key - 1;

	if (key >> 63)
		text_printf(t, "the lock at byte %llu of the block's shared memory",
			    (unsigned long long)(key & (((u64)1 << 20) - 1)));
	else {
		text_printf(t, "the lock at 0x%llx, ", (unsigned long long)key);
		device_describe_address(c->k->mem, NULL, key, t);
	}
}

static void say_held(const struct cycle *c, const struct lock_wait *w, struct text *t)
{
	struct finding held;

	finding_init(&held, FINDING_LOCK_ORDER);
	add_lock_side(c, w, w->held_pc, &held);
	place_say_callers(c->launch->program, w->pc, t);
	text_puts(t, "    waits for ");
	say_word(c, w->wanted, t);
	text_puts(t, ",\n    and holds ");
	say_word(c, w->held, t);
	text_puts(t, ",\n    taken ");
	finding_say_side(&held.side[0], t);
	text_puts(t, "\n");
	place_say_callers(c->launch->program, w->held_pc, t);
	finding_fini(&held);
}

static void report_cycle(struct cycle *c)
{
	struct finding f;

	finding_init(&f, FINDING_LOCK_ORDER);
	finding_set_kernel(&f, c->launch->program->funcs[0].func->name->text);
	f.mem = c->k->mem;
	for (u32 i = c->len; i-- > 0;)
		add_lock_side(c, &c->k->waits.at[c->wait[i]], c->k->waits.at[c->wait[i]].pc, &f);
	sync_say_head(
		&f,
		"Locks are taken in different orders: a deadlock, if that happens at the same time");
	say_held(c, &c->k->waits.at[c->wait[c->len - 1]], &f.text);
	for (u32 i = c->len - 1; i-- > 0;) {
		struct finding side;

		finding_init(&side, FINDING_LOCK_ORDER);
		add_lock_side(c, &c->k->waits.at[c->wait[i]], c->k->waits.at[c->wait[i]].pc, &side);
		text_puts(&f.text, "    ");
		finding_say_side(&side.side[0], &f.text);
		text_puts(&f.text, "\n");
		finding_fini(&side);
		say_held(c, &c->k->waits.at[c->wait[i]], &f.text);
	}
	c->reports++;
	sync_add(c->launch, &f);
}

/* ---- search ---- */

static bool fits_cycle(const struct cycle *c, const struct lock_wait *w)
{
	for (u32 i = 0; i < c->len; i++)
		if (!can_meet(c, &c->k->waits.at[c->wait[i]], w))
			return false;
	return true;
}

/* Does a way over further waits lead back to the lock that the first one holds? */
static bool close_cycle(struct cycle *c)
{
	const struct lock_wait *last = &c->k->waits.at[c->wait[c->len - 1]];

	if (last->wanted == c->k->waits.at[c->wait[0]].held)
		return true;
	c->is_cut |= c->len == c->most;
	for (u32 n = c->len < c->most ? c->first[last->wanted] : 0, i; n; n = c->next[i]) {
		const struct lock_wait *w = &c->k->waits.at[i = n - 1];

		if (++c->steps > CYCLE_STEPS)
			return false;
		if (i <= c->wait[0] || c->is_out[w->wanted] || !fits_cycle(c, w))
			continue;
		c->wait[c->len++] = i;
		if (close_cycle(c))
			return true;
		c->len--;
	}
	return false;
}

/* Threads that wait at the end of a launch have deadlocked: that was reported. */
static bool all_have_ended(const struct cycle *c)
{
	for (size_t i = 0; i < c->k->waits.len; i++)
		if (!c->k->waits.at[i].end)
			return false;
	return true;
}

struct word_order {
	u32 *held, *wanted; /* by word: waits with it, and for it, that may be of a cycle */
	u32 *first, *next;  /* waits by the word that is wanted, as those of the cycle */
	u32 *out;           /* words that are out, whose waits are still to be left out */
	u32 len;
};

static void drop_word(struct cycle *c, struct word_order *o, u32 word)
{
	if (c->is_out[word] || (o->held[word] && o->wanted[word] && is_lock(c, word)))
		return;
	c->is_out[word] = true;
	o->out[o->len++] = word;
}

/*
 * Locks that all threads take in one order are out: those that no thread waits for, or that no
 * thread holds while it waits, others that are out aside. Words that are no locks are out, too.
 */
static void leave_words_out(struct cycle *c, struct word_order *o)
{
	const struct lock_wait *w = c->k->waits.at;

	for (u32 i = 0; i < c->k->words.len; i++)
		drop_word(c, o, i);
	while (o->len) {
		u32 word = o->out[--o->len];

		for (u32 n = c->first[word]; n; n = c->next[n - 1]) {
			o->wanted[w[n - 1].wanted]--;
			drop_word(c, o, w[n - 1].wanted);
		}
		for (u32 n = o->first[word]; n; n = o->next[n - 1]) {
			o->held[w[n - 1].held]--;
			drop_word(c, o, w[n - 1].held);
		}
	}
}

/* False: no memory. */
static bool order_words(struct cycle *c)
{
	size_t words = c->k->words.len, waits = c->k->waits.len;
	u32 *of = calloc(4 * words + waits, sizeof(*of));
	struct word_order o = {.held = of,
			       .wanted = of + words,
			       .first = of + 2 * words,
			       .out = of + 3 * words,
			       .next = of + 4 * words};

	c->is_out = calloc(words, sizeof(*c->is_out));
	c->first = calloc(words + waits, sizeof(*c->first));
	if (!of || !c->is_out || !c->first) {
		free(of);
		free(c->is_out);
		free(c->first);
		return false;
	}
	c->next = c->first + words;
	for (u32 i = (u32)waits; i-- > 0;) {
		const struct lock_wait *w = &c->k->waits.at[i];

		o.held[w->held]++;
		o.wanted[w->wanted]++;
		c->next[i] = c->first[w->held];
		c->first[w->held] = i + 1;
		o.next[i] = o.first[w->wanted];
		o.first[w->wanted] = i + 1;
	}
	leave_words_out(c, &o);
	free(of);
	return true;
}

/* The shortest one that begins with a wait. */
static void find_cycle(struct cycle *c, u32 first)
{
	const struct lock_wait *w = &c->k->waits.at[first];

	if (c->is_out[w->held] || c->is_out[w->wanted])
		return;
	c->wait[0] = first;
	c->is_cut = true;
	for (c->most = 2; c->is_cut && c->most <= CYCLE_MOST; c->most++) {
		c->len = 1;
		c->is_cut = false;
		if (close_cycle(c)) {
			report_cycle(c);
			return;
		}
	}
}

void sync_report_locks(struct sync_launch *l)
{
	struct cycle c = {.launch = l, .k = l->locks};

	if (c.k->gave_up || !c.k->waits.len || !all_have_ended(&c))
		return;
	if (!order_words(&c)) {
		l->gave_up = true;
		return;
	}
	for (u32 i = 0; i < c.k->waits.len && c.reports < CYCLE_REPORTS; i++)
		find_cycle(&c, i);
	if (c.steps > CYCLE_STEPS)
		fputs("ptxloom: note: the order of locks of a launch was not checked to its end: too many waits\n",
		      stderr);
	free(c.is_out);
	free(c.first);
}
