/*
 * Loops that take a lock: around an atomic operation, without anything else that others could
 * notice, and with no way out but by what the operation has answered.
 */
#include "src/check/sync/sync_locks.h"
#include "src/uop/atom.h"
#include "src/uop/rows.h"

/* Micro-ops that are followed for one atomic operation, at most. */
#define SPIN_MOST 4096u

struct spin_search {
	const struct program *p;
	u32 atom;
	VEC(u32) seen; /* micro-ops reached from it */
	u8 *mark;      /* by micro-op: SEEN, LOOP */
	bool failed;
};

enum { SPIN_SEEN = 1, SPIN_LOOP = 2 };

/* Does it change nothing that others see? */
static bool is_idle(const struct uop *in)
{
	switch (uop_kind(in->inner)) {
	case UOP_LANE:
	case UOP_WAIT:
	case UOP_FENCE:
	case UOP_NOTHING:
	case UOP_COUNT:
	case UOP_VALUE:
	case UOP_SREG:
	case UOP_LOAD:
	case UOP_WARP:
		return true;
	case UOP_FLOW:
		return in->inner != OP_exit && in->inner != OP_ret && in->inner != OP_brx_idx;
	default:
		return false;
	}
}

static u32 spin_next(const struct spin_search *s, u32 pc, u32 to[2])
{
	const struct uop *in = &s->p->uop[pc];
	u32 n = 0;

	if (in->inner == OP_bra || in->inner == OP_bra_pred)
		to[n++] = in->branch.target;
	if (in->inner != OP_bra || in->guard != NO_ROW)
		to[n++] = pc + 1;
	return n;
}

static void spin_reach(struct spin_search *s, u32 pc)
{
	if (pc >= s->p->uops || s->mark[pc] || (pc != s->atom && !is_idle(&s->p->uop[pc])))
		return;
	s->mark[pc] = SPIN_SEEN;
	s->failed |= s->seen.len == SPIN_MOST || !VEC_PUSH(&s->seen, pc);
}

/* What the atomic operation reaches. */
static void reach_all(struct spin_search *s)
{
	u32 to[2];

	s->seen.len = 0;
	s->failed = false;
	spin_reach(s, s->atom);
	for (size_t i = 0; i < s->seen.len && !s->failed; i++)
		for (u32 n = spin_next(s, s->seen.at[i], to); n-- > 0;)
			spin_reach(s, to[n]);
}

static void unmark(struct spin_search *s)
{
	for (size_t i = 0; i < s->seen.len; i++)
		s->mark[s->seen.at[i]] = 0;
}

/* What lies on a way from the atomic operation back to it. */
static void spin_find_loop(struct spin_search *s)
{
	u32 to[2], n;

	reach_all(s);
	for (bool more = true; more && !s->failed;) {
		more = false;
		for (size_t i = s->seen.len; i-- > 0;) {
			u32 pc = s->seen.at[i];

			n = s->mark[pc] == SPIN_SEEN ? spin_next(s, pc, to) : 0;
			for (u32 k = 0; k < n; k++)
				if (to[k] == s->atom ||
				    (to[k] < s->p->uops && s->mark[to[k]] == SPIN_LOOP)) {
					s->mark[pc] = SPIN_LOOP;
					more = true;
				}
		}
	}
}

static bool is_in_loop(const struct spin_search *s, u32 pc)
{
	return pc < s->p->uops && s->mark[pc] == SPIN_LOOP;
}

#define SPIN_DEPTH 16u

/* What a row may be made of, besides what is the same in each turn: the answer, or loads. */
struct spin_reads {
	const struct spin_search *s;
	u32 pc, depth;
	bool answers;
	bool ok;
};

static bool is_answer(const struct spin_search *s, u32 row, u32 pc, u32 depth, bool answers);

static void see_read(void *user, u32 row, bool write)
{
	struct spin_reads *r = user;

	if (!write)
		r->ok = r->ok && is_answer(r->s, row, r->pc, r->depth, r->answers);
}

/* Where in the loop a row was written last before micro-op pc; NO_PC: nowhere. */
static u32 written_at(const struct spin_search *s, u32 row, u32 pc)
{
	while (pc-- > 0)
		if (is_in_loop(s, pc) && uop_writes(&s->p->uop[pc], s->p->ext, row))
			return pc;
	return NO_PC;
}

/*
 * Is what a row holds at micro-op pc the same in each turn, or what the operation has answered
 * (answers), or what is loaded from where that is the same (else)?
 */
static bool is_answer(const struct spin_search *s, u32 row, u32 pc, u32 depth, bool answers)
{
	u32 at = written_at(s, row, pc);
	struct spin_reads r = {s, at, depth - 1, answers, depth > 0};
	enum uop_kind kind;

	if (at == NO_PC)
		return written_at(s, row, s->p->uops) == NO_PC;
	if (at == s->atom)
		return answers;
	kind = uop_kind(s->p->uop[at].inner);
	if (kind != UOP_LANE && kind != UOP_VALUE && (answers || kind != UOP_LOAD))
		return false;
	uop_each_row(&s->p->uop[at], s->p->ext, see_read, &r);
	return r.ok;
}

static bool has_other_way_out(const struct spin_search *s)
{
	for (size_t i = 0; i < s->seen.len; i++) {
		u32 pc = s->seen.at[i], to[2], n, inside = 0;

		if (!is_in_loop(s, pc))
			continue;
		n = spin_next(s, pc, to);
		for (u32 k = 0; k < n; k++)
			inside += is_in_loop(s, to[k]);
		if (inside < n && !is_answer(s, s->p->uop[pc].guard, pc, SPIN_DEPTH, true))
			return true;
	}
	return false;
}

/* Does it try the same word in each turn? */
static bool stays_there(const struct spin_search *s)
{
	u32 row = s->p->uop[s->atom].a;

	return row == NO_ROW || is_answer(s, row, s->atom, SPIN_DEPTH, false);
}

static bool does_wait(struct spin_search *s)
{
	bool waits;

	spin_find_loop(s);
	waits = !s->failed && is_in_loop(s, s->atom) && !has_other_way_out(s) && stays_there(s);
	unmark(s);
	return waits;
}

static bool is_alike(const struct uop *a, const struct uop *b)
{
	return a->inner == b->inner && a->atomic.action == b->atomic.action && a->a == b->a &&
	       a->b == b->b && a->c == b->c && a->mem.offset == b->mem.offset &&
	       a->mem.size == b->mem.size;
}

/* Compilers try once before the loop: does another one that waits for the same word follow? */
static bool leads_to_wait(struct spin_search *s, const u8 *spin)
{
	const struct uop *uop = s->p->uop;
	bool leads = false;
	u32 to[2];

	reach_all(s);
	for (size_t i = 0; i < s->seen.len && !s->failed; i++)
		for (u32 n = spin_next(s, s->seen.at[i], to); n-- > 0;)
			leads |= to[n] < s->p->uops && spin[to[n]] == SPIN_WAITS &&
				 is_alike(&uop[to[n]], &uop[s->atom]);
	unmark(s);
	return leads;
}

/* One that can take a lock: a word, or two. */
static bool may_take(const struct uop *in)
{
	return uop_kind(in->inner) == UOP_ATOMIC && in->mem.count == 1 &&
	       (in->mem.size == 4 || in->mem.size == 8) && in->d != NO_ROW &&
	       (in->atomic.action == ATOM_CAS || in->atomic.action == ATOM_EXCH);
}

u8 *sync_find_spins(const struct program *p)
{
	struct spin_search s = {.p = p};
	u8 *spin = NULL;
	bool any = false;

	for (u32 pc = 0; pc < p->uops && !any; pc++)
		any = may_take(&p->uop[pc]);
	if (!any)
		return NULL;
	any = false;
	s.mark = calloc(p->uops, 1);
	spin = calloc(p->uops, 1);
	for (s.atom = 0; s.mark && spin && s.atom < p->uops; s.atom++) {
		if (!may_take(&p->uop[s.atom]))
			continue;
		spin[s.atom] = does_wait(&s) ? SPIN_WAITS : SPIN_TRIES;
		any |= spin[s.atom] == SPIN_WAITS;
	}
	for (s.atom = 0; any && s.atom < p->uops; s.atom++)
		if (spin[s.atom] == SPIN_TRIES && leads_to_wait(&s, spin))
			spin[s.atom] = SPIN_WAITS;
	free(s.mark);
	VEC_FREE(&s.seen);
	if (any)
		return spin;
	free(spin);
	return NULL;
}
