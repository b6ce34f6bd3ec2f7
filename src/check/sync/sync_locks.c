/*
 * Which locks threads hold while they wait for others.
 */
#include "src/check/sync/sync_locks.h"
#include "src/exec/lane_access.h"
#include "src/exec/turn.h"
#include "src/uop/atom.h"

/* Waits that are kept of one lock for another. */
#define WAITS_EACH 24u
#define HELD_MOST 32u

struct sync_locks *sync_locks_new(const struct program *p, const struct exec_env *e)
{
	u8 *spin = sync_find_spins(p);
	struct sync_locks *k = spin ? calloc(1, sizeof(*k)) : NULL;

	if (!k) {
		free(spin);
		return NULL;
	}
	k->spin = spin;
	k->time = 1;
	k->mem = e->mem;
	memcpy(k->block, e->block, sizeof(k->block));
	memcpy(k->grid, e->grid, sizeof(k->grid));
	return k;
}

static void free_values(struct map *m)
{
	for (size_t i = 0; i < m->cap; i++)
		if (m->slots[i].key)
			free((void *)(uintptr_t)m->slots[i].value);
	map_fini(m);
}

void sync_locks_free(struct sync_locks *k)
{
	if (!k)
		return;
	for (size_t i = 0; i < k->waits.len; i++)
		VEC_FREE(&k->waits.at[i].gates);
	for (size_t i = 0; i < k->by_who.cap; i++)
		if (k->by_who.slots[i].key) {
			struct lock_thread *t = (void *)(uintptr_t)k->by_who.slots[i].value;

			VEC_FREE(&t->held);
		}
	VEC_FREE(&k->waits);
	VEC_FREE(&k->words);
	map_fini(&k->by_key);
	map_fini(&k->by_pair);
	map_fini(&k->met);
	free_values(&k->by_who);
	free_values(&k->signals);
	free(k->spin);
	free(k);
}

/* What a map has for a key, of `bytes`; zeroed, if it is new. NULL: no memory. */
static void *lock_entry(struct sync_locks *k, struct map *m, u64 key, size_t bytes)
{
	u64 *slot = map_get(m, key + 1);
	void *x;

	if (slot)
		return (void *)(uintptr_t)*slot;
	x = calloc(1, bytes);
	if (!x || !map_set(m, key + 1, map_key(x))) {
		free(x);
		k->gave_up = true;
		return NULL;
	}
	return x;
}

static u64 met_at(const struct sync_locks *k, u64 cta, u32 warp)
{
	u64 *slot = map_get(&k->met, (cta << 5 | warp) + 1);

	return slot ? *slot : 0;
}

void sync_locks_meet(struct sync_locks *k, u64 cta, u32 warp)
{
	if (!map_set(&k->met, (cta << 5 | warp) + 1, ++k->time))
		k->gave_up = true;
}

/* ---- a lane's access ---- */

struct lock_lane {
	struct sync_locks *k;
	const struct exec_access *a;
	struct sync_cta *cta;
	u64 who, key;
	u64 address; /* global, or in the memory of `owner` */
	const struct cta *owner;
	u32 warp;
};

static u32 lock_word_of(const struct lock_lane *x)
{
	u64 *slot = map_get(&x->k->by_key, x->key);

	return slot ? (u32)*slot : 0;
}

/* The number + 1; 0: no memory. */
static u32 make_word(const struct lock_lane *x)
{
	struct lock_word w = {.key = x->key};
	u32 n = lock_word_of(x);

	if (n)
		return n;
	if (!VEC_PUSH(&x->k->words, w) || !map_set(&x->k->by_key, x->key, x->k->words.len)) {
		x->k->gave_up = true;
		return 0;
	}
	return (u32)x->k->words.len;
}

static bool find_lock_word(struct sync_launch *l, struct lock_lane *x, u32 lane)
{
	const struct exec_access *a = x->a;
	u64 address = a->address[lane];
	struct sync_cta *c;

	if (a->space == MEM_GLOBAL) {
		x->address = address;
		x->key = address + 1;
		return true;
	}
	c = sync_owner(l, a->cta, address, &x->owner);
	address &= MEM_SHARED_OFFSET;
	if (!c || address + a->bytes > x->owner->env->shared_bytes)
		return false;
	x->address = address;
	/* No address of global memory has the highest bit. */
	x->key = ((u64)1 << 63 | c->number << 20 | address) + 1;
	return true;
}

static u64 lock_operand(const struct lock_lane *x, u32 row, u32 lane)
{
	const struct gang *g = exec_gang_of(x->a->cta, x->warp);
	u32 at = (x->warp - g->first_warp) * WARP_LANES + lane;

	if (row == NO_ROW)
		return 0;
	return x->a->size == 8 ? ((const u64 *)(const void *)(g->regs + row))[at]
			       : ((const u32 *)(const void *)(g->regs + row))[at];
}

/* A lock of several that lanes want by one instruction: the first one gets it. */
struct lock_taken {
	u64 key[WARP_LANES], value[WARP_LANES];
	u32 len;
};

static u64 *lock_value(struct lock_taken *t, const struct lock_lane *x)
{
	const void *from;
	u32 i = 0;

	while (i < t->len && t->key[i] != x->key)
		i++;
	if (i < t->len)
		return &t->value[i];
	from = x->a->space == MEM_GLOBAL ? mem_pointer(x->k->mem, x->address)
					 : x->owner->shared + x->address;
	if (!from)
		return NULL;
	t->key[i] = x->key;
	t->value[i] = 0;
	memcpy(&t->value[i], from, x->a->size);
	t->len++;
	return &t->value[i];
}

/* ---- waiting, taking, releasing ---- */

static bool thread_holds(const struct lock_thread *t, u32 word)
{
	for (size_t i = 0; i < t->held.len; i++)
		if (t->held.at[i] == word)
			return true;
	return false;
}

static void add_wait(const struct lock_lane *x, const struct lock_thread *t, u32 held, u32 wanted)
{
	struct sync_locks *k = x->k;
	u64 pair = ((u64)held << 32 | wanted) + 1, *known = map_get(&k->by_pair, pair);
	struct lock_wait w = {.held = held,
			      .wanted = wanted,
			      .who = x->who,
			      .held_pc = k->words.at[held].pc,
			      .pc = x->a->pc,
			      .start = t->start,
			      .met = t->met,
			      .signals = t->signals};

	if (known && *known >= WAITS_EACH)
		return;
	for (size_t i = 0; i < t->held.len; i++)
		if (t->held.at[i] != held && !VEC_PUSH(&w.gates, t->held.at[i]))
			k->gave_up = true;
	if (!VEC_PUSH(&k->waits, w)) {
		VEC_FREE(&w.gates);
		k->gave_up = true;
		return;
	}
	if (!map_set(&k->by_pair, pair, known ? *known + 1 : 1))
		k->gave_up = true;
}

/* The thread runs the operation until it has the lock. */
static void want_lock(const struct lock_lane *x, struct lock_thread *t, u32 word)
{
	if (t->waits)
		return;
	t->waits = true;
	t->first_wait = (u32)x->k->waits.len;
	for (size_t i = 0; i < t->held.len; i++)
		if (t->held.at[i] != word)
			add_wait(x, t, t->held.at[i], word);
}

static void end_waits(const struct lock_lane *x, struct lock_thread *t)
{
	for (size_t i = t->first_wait; t->waits && i < x->k->waits.len; i++)
		if (x->k->waits.at[i].who == x->who && !x->k->waits.at[i].end)
			x->k->waits.at[i].end = x->k->time;
	t->waits = false;
}

static void take_lock(const struct lock_lane *x, struct lock_thread *t, u32 word)
{
	struct lock_word *w = &x->k->words.at[word];
	struct lock_signals *s;

	end_waits(x, t);
	w->is_other |= w->is_held;
	w->is_held = true;
	w->who = x->who;
	w->pc = x->a->pc;
	w->since = x->k->time;
	if (!t->held.len) {
		t->start = x->k->time;
		t->met = met_at(x->k, x->cta->number, x->warp);
		s = lock_entry(x->k, &x->k->signals, x->cta->number, sizeof(*s));
		t->signals = s ? *s : (struct lock_signals){0};
	}
	if (!thread_holds(t, word) && t->held.len < HELD_MOST && !VEC_PUSH(&t->held, word))
		x->k->gave_up = true;
}

/* Something else is written, by whomever. */
static void release_word(const struct lock_lane *x, u32 word)
{
	struct lock_word *w = &x->k->words.at[word];
	u64 *slot = map_get(&x->k->by_who, w->who + 1);
	struct lock_thread *t = slot ? (struct lock_thread *)(uintptr_t)*slot : NULL;

	if (!w->is_held)
		return;
	w->is_held = false;
	w->is_other |= w->who != x->who;
	w->is_released = true;
	for (size_t i = 0; t && i < t->held.len; i++)
		if (t->held.at[i] == word) {
			t->held.at[i] = t->held.at[--t->held.len];
			break;
		}
}

static void on_spin(const struct lock_lane *x, u32 lane, struct lock_taken *taken)
{
	const struct uop *in = x->a->in;
	bool swaps = in->atomic.action == ATOM_CAS, waits = x->k->spin[x->a->pc] == SPIN_WAITS;
	u64 b = lock_operand(x, in->b, lane), *value = lock_value(taken, x), old, new;
	u32 word = waits ? make_word(x) : lock_word_of(x);
	struct lock_thread *t;

	if (!value || !word--)
		return;
	old = *value;
	new = !swaps ? b : old == b ? lock_operand(x, in->c, lane) : old;
	*value = new;
	if (!waits && x->k->words.at[word].is_held) {
		if (new != old)
			release_word(x, word);
		return;
	}
	t = lock_entry(x->k, &x->k->by_who, x->who, sizeof(*t));
	if (!t)
		return;
	if (waits)
		want_lock(x, t, word);
	if (new == old)
		return;
	take_lock(x, t, word);
	x->k->words.at[word].is_taken |= waits;
}

/* ---- what tells threads that others are done ---- */

/*
 * Where a signal that is not among them goes: real locks make room first. LOCK_SIGNALS: nowhere,
 * as it is one itself.
 */
static u32 signal_to_replace(const struct sync_locks *k, const struct lock_signals *s, u64 key)
{
	u32 oldest = 0, lock = LOCK_SIGNALS;

	for (u32 i = 0; i < LOCK_SIGNALS; i++) {
		if (!s->at[i].key)
			return i;
		if (s->at[i].time < s->at[oldest].time)
			oldest = i;
		if (lock == LOCK_SIGNALS && lock_is_key(k, s->at[i].key))
			lock = i;
	}
	return lock < LOCK_SIGNALS || lock_is_key(k, key) ? lock : oldest;
}

static void note_signal(const struct lock_lane *x)
{
	struct lock_signals *s = lock_entry(x->k, &x->k->signals, x->cta->number, sizeof(*s));
	u32 i = 0;

	if (!s)
		return;
	while (i < LOCK_SIGNALS && s->at[i].key != x->key)
		i++;
	if (i == LOCK_SIGNALS)
		i = signal_to_replace(x->k, s, x->key);
	if (i == LOCK_SIGNALS)
		return;
	s->at[i].key = x->key;
	s->at[i].time = x->k->time;
}

void sync_locks_signal(struct sync_locks *k, struct sync_cta *c)
{
	struct lock_lane x = {.k = k, .cta = c, .key = UINT64_MAX};

	k->time++;
	note_signal(&x);
}

/* Does it read what others may write just now? */
static bool is_signal(const struct program *p, const struct exec_access *a)
{
	const struct isa_form *form;

	if (a->kind == ACCESS_ATOM)
		return true;
	form = a->kind == ACCESS_LOAD ? exec_form(p, a->in) : NULL;
	return form && exec_form_rereads(form);
}

void sync_locks_access(struct sync_launch *l, struct sync_cta *c, const struct exec_access *a)
{
	struct sync_locks *k = l->locks;
	struct lock_lane x = {.k = k, .a = a, .cta = c, .warp = a->warp};
	bool spins = a->kind == ACCESS_ATOM && k->spin[a->pc],
	     writes = a->kind == ACCESS_STORE || a->kind == ACCESS_ATOM || a->kind == ACCESS_RED,
	     signals = is_signal(l->program, a);
	struct lock_taken taken;

	if (!signals && (!writes || !k->words.len))
		return;
	taken.len = 0;
	k->time++;
	for (u32 m = a->mask; m; m &= m - 1) {
		u32 lane = (u32)__builtin_ctz(m), word;

		x.who = lock_who(c->number, a->warp * WARP_LANES + lane);
		if (!find_lock_word(l, &x, lane))
			continue;
		if (signals)
			note_signal(&x);
		if (spins) {
			on_spin(&x, lane, &taken);
			continue;
		}
		word = writes ? lock_word_of(&x) : 0;
		if (word)
			release_word(&x, word - 1);
	}
}
