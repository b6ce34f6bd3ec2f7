/* See axioms.h. Relations are bit matrices: bit b of r[a] says that a precedes b. */
#include "tests/unit/dev/axioms.h"

#include <stdlib.h>
#include <string.h>

#define INITIAL 0xffu

struct relation {
	uint32_t from[AXIOM_EVENTS];
};

struct execution {
	const struct axiom_program *p;
	struct axiom_op op[AXIOM_EVENTS];
	uint32_t thread[AXIOM_EVENTS], len;
	uint32_t reads[AXIOM_EVENTS], read_len;
	uint32_t writes[AXIOM_LOCATIONS][AXIOM_EVENTS], write_len[AXIOM_LOCATIONS];
	uint32_t fences[AXIOM_EVENTS], fence_len;
	uint8_t source[AXIOM_EVENTS]; /* of a read: the write, or INITIAL */
	struct relation po, co, sc;
	struct axiom_outcomes *out;
	bool failed;
};

static bool has(const struct relation *r, uint32_t a, uint32_t b)
{
	return r->from[a] >> b & 1;
}

static void relate(struct relation *r, uint32_t a, uint32_t b)
{
	r->from[a] |= 1u << b;
}

static void close_over(struct relation *r, uint32_t n)
{
	for (uint32_t k = 0; k < n; k++)
		for (uint32_t a = 0; a < n; a++)
			if (has(r, a, k))
				r->from[a] |= r->from[k];
}

static bool is_cyclic(struct relation *r, uint32_t n)
{
	close_over(r, n);
	for (uint32_t a = 0; a < n; a++)
		if (has(r, a, a))
			return true;
	return false;
}

static bool reads(const struct axiom_op *o)
{
	return o->kind == AXIOM_LOAD || o->kind == AXIOM_EXCHANGE;
}

static bool writes(const struct axiom_op *o)
{
	return o->kind == AXIOM_STORE || o->kind == AXIOM_EXCHANGE;
}

static bool overlap(const struct execution *e, uint32_t a, uint32_t b)
{
	return e->op[a].kind != AXIOM_FENCE && e->op[b].kind != AXIOM_FENCE &&
	       e->op[a].location == e->op[b].location;
}

static bool morally_strong(const struct execution *e, uint32_t a, uint32_t b)
{
	return e->thread[a] == e->thread[b] ||
	       (e->op[a].order != AXIOM_WEAK && e->op[b].order != AXIOM_WEAK);
}

static bool releases(const struct axiom_op *o)
{
	return o->order == AXIOM_RELEASE || o->order == AXIOM_ACQ_REL || o->order == AXIOM_SC;
}

static bool acquires(const struct axiom_op *o)
{
	return o->order == AXIOM_ACQUIRE || o->order == AXIOM_ACQ_REL || o->order == AXIOM_SC;
}

/* ---- relations ---- */

/* Write to read, by morally strong reads, and on over atomics. */
static void observe(const struct execution *e, struct relation *obs)
{
	for (uint32_t i = 0; i < e->read_len; i++) {
		uint32_t r = e->reads[i], w = e->source[r];

		if (w != INITIAL && morally_strong(e, w, r))
			relate(obs, w, r);
	}
	for (uint32_t i = 0; i < e->len; i++) /* each step lengthens chains by one atomic */
		for (uint32_t a = 0; a < e->len; a++)
			for (uint32_t z = 0; z < e->len; z++)
				if (has(obs, a, z) && e->op[z].kind == AXIOM_EXCHANGE)
					obs->from[a] |= obs->from[z];
}

/* First operations of release patterns that end with the write w, last ones of acquire patterns. */
static uint32_t release_starts(const struct execution *e, uint32_t w)
{
	uint32_t set = releases(&e->op[w]) ? 1u << w : 0;

	for (uint32_t f = 0; f < e->len; f++)
		if (e->op[f].kind == AXIOM_FENCE && has(&e->po, f, w))
			set |= 1u << f;
	return e->op[w].order == AXIOM_WEAK ? 0 : set;
}

static uint32_t acquire_ends(const struct execution *e, uint32_t r)
{
	uint32_t set = acquires(&e->op[r]) ? 1u << r : 0;

	for (uint32_t f = 0; f < e->len; f++)
		if (e->op[f].kind == AXIOM_FENCE && has(&e->po, r, f))
			set |= 1u << f;
	return e->op[r].order == AXIOM_WEAK ? 0 : set;
}

/* What synchronizes: release patterns with acquire patterns, fences in their order. */
static void synchronize(const struct execution *e, const struct relation *obs, struct relation *sw)
{
	*sw = e->sc;
	for (uint32_t w = 0; w < e->len; w++)
		for (uint32_t r = 0; r < e->len; r++) {
			uint32_t starts = has(obs, w, r) ? release_starts(e, w) : 0;

			for (uint32_t s = 0; s < e->len; s++)
				if (starts >> s & 1)
					sw->from[s] |= acquire_ends(e, r);
		}
}

/* Chains of what synchronizes, with program order before, between and behind. */
static void base_causality(const struct execution *e, const struct relation *obs,
			   struct relation *bc)
{
	struct relation sw;

	synchronize(e, obs, &sw);
	*bc = sw;
	for (uint32_t a = 0; a < e->len; a++)
		for (uint32_t z = 0; z < e->len; z++)
			if (has(&e->po, a, z))
				bc->from[a] |= sw.from[z];
	for (uint32_t a = 0; a < e->len; a++)
		for (uint32_t z = 0; z < e->len; z++)
			if (has(bc, a, z))
				bc->from[a] |= e->po.from[z];
	close_over(bc, e->len);
}

/* Read to the writes behind the one that it reads from. */
static void from_read(const struct execution *e, struct relation *fr)
{
	for (uint32_t i = 0; i < e->read_len; i++) {
		uint32_t r = e->reads[i], s = e->source[r];

		for (uint32_t w = 0; w < e->len; w++)
			if (w != r && writes(&e->op[w]) && overlap(e, w, r) &&
			    (s == INITIAL || has(&e->co, s, w)))
				relate(fr, r, w);
	}
}

/* ---- axioms ---- */

static bool keeps_coherence(const struct execution *e, const struct relation *cause)
{
	for (uint32_t a = 0; a < e->len; a++)
		for (uint32_t b = 0; b < e->len; b++) {
			bool both = writes(&e->op[a]) && writes(&e->op[b]) && overlap(e, a, b);

			if (has(cause, a, b) && ((both && !has(&e->co, a, b)) || has(&e->sc, b, a)))
				return false;
		}
	return true;
}

/* Nothing comes between what an atomic reads and what it writes. */
static bool keeps_atomicity(const struct execution *e)
{
	for (uint32_t i = 0; i < e->read_len; i++) {
		uint32_t z = e->reads[i], s = e->source[z];

		if (e->op[z].kind != AXIOM_EXCHANGE)
			continue;
		if (s != INITIAL && !has(&e->co, s, z))
			return false;
		for (uint32_t w = 0; w < e->len; w++)
			if (has(&e->co, w, z) && w != s && (s == INITIAL || has(&e->co, s, w)))
				return false;
	}
	return true;
}

static bool is_sc_per_location(const struct execution *e, const struct relation *fr)
{
	struct relation all = {0};

	for (uint32_t a = 0; a < e->len; a++)
		for (uint32_t b = 0; b < e->len; b++) {
			bool com = has(&e->co, a, b) || has(fr, a, b) ||
				   (reads(&e->op[b]) && e->source[b] == a);

			if (overlap(e, a, b) &&
			    (has(&e->po, a, b) || (com && morally_strong(e, a, b))))
				relate(&all, a, b);
		}
	return !is_cyclic(&all, e->len);
}

static bool keeps_causality(const struct execution *e, const struct relation *cause,
			    const struct relation *fr)
{
	for (uint32_t i = 0; i < e->read_len; i++) {
		uint32_t r = e->reads[i], s = e->source[r];

		if (s != INITIAL && has(cause, r, s))
			return false;
		for (uint32_t w = 0; w < e->len; w++)
			if (has(fr, r, w) && has(cause, w, r))
				return false;
	}
	return true;
}

static bool is_allowed(const struct execution *e)
{
	struct relation obs = {0}, bc, cause, fr = {0};

	observe(e, &obs);
	base_causality(e, &obs, &bc);
	for (uint32_t a = 0; a < e->len; a++)
		if (has(&bc, a, a))
			return false;
	cause = bc;
	for (uint32_t a = 0; a < e->len; a++)
		for (uint32_t z = 0; z < e->len; z++)
			if (has(&obs, a, z))
				cause.from[a] |= bc.from[z];
	from_read(e, &fr);
	return keeps_coherence(e, &cause) && keeps_atomicity(e) && is_sc_per_location(e, &fr) &&
	       keeps_causality(e, &cause, &fr);
}

/* ---- executions ---- */

static bool same_outcome(const struct axiom_outcome *a, const struct axiom_outcome *b)
{
	return !memcmp(a, b, sizeof(*a));
}

bool axiom_allows(const struct axiom_outcomes *all, const struct axiom_outcome *o)
{
	for (size_t i = 0; i < all->len; i++)
		if (same_outcome(&all->at[i], o))
			return true;
	return false;
}

static struct axiom_outcome outcome_of(const struct execution *e)
{
	struct axiom_outcome o = {0};

	for (uint32_t t = 0, n = 0; t < e->p->threads; t++)
		for (uint32_t k = 0; k < AXIOM_OPS && e->p->op[t][k].kind; k++, n++)
			if (reads(&e->op[n]) && e->source[n] != INITIAL) {
				uint32_t s = e->source[n], first = s;

				while (first && e->thread[first - 1] == e->thread[s])
					first--;
				o.value[t][k] =
					(uint8_t)(e->thread[s] * AXIOM_OPS + (s - first) + 1);
			}
	return o;
}

static void add_outcome(struct execution *e)
{
	struct axiom_outcome o = outcome_of(e);
	struct axiom_outcomes *out = e->out;

	if (axiom_allows(out, &o))
		return;
	if (out->len == out->cap) {
		size_t cap = out->cap ? 2 * out->cap : 64;
		struct axiom_outcome *at = realloc(out->at, cap * sizeof(*at));

		if (!at) {
			e->failed = true;
			return;
		}
		out->at = at;
		out->cap = cap;
	}
	out->at[out->len++] = o;
}

static void choose_source(struct execution *e, uint32_t i)
{
	uint32_t r, l;

	if (i == e->read_len) {
		if (is_allowed(e))
			add_outcome(e);
		return;
	}
	r = e->reads[i];
	l = e->op[r].location;
	e->source[r] = INITIAL;
	choose_source(e, i + 1);
	for (uint32_t k = 0; k < e->write_len[l]; k++)
		if (e->writes[l][k] != r) {
			e->source[r] = (uint8_t)e->writes[l][k];
			choose_source(e, i + 1);
		}
}

/* Total orders: of the writes to each location, then of the fences. */
static void choose_order(struct execution *e, uint32_t which, uint32_t done)
{
	bool is_sc = which == AXIOM_LOCATIONS;
	uint32_t *at = is_sc ? e->fences : e->writes[which];
	uint32_t n = is_sc ? e->fence_len : e->write_len[which];
	struct relation *r = is_sc ? &e->sc : &e->co;

	if (done == n) {
		struct relation old = *r;

		for (uint32_t a = 0; a < n; a++)
			for (uint32_t b = a + 1; b < n; b++)
				relate(r, at[a], at[b]);
		if (is_sc)
			choose_source(e, 0);
		else
			choose_order(e, which + 1, 0);
		*r = old;
		return;
	}
	for (uint32_t i = done; i < n; i++) {
		uint32_t x = at[i];

		at[i] = at[done];
		at[done] = x;
		choose_order(e, which, done + 1);
		at[done] = at[i];
		at[i] = x;
	}
}

static void list_events(struct execution *e)
{
	for (uint32_t t = 0; t < e->p->threads; t++)
		for (uint32_t k = 0; k < AXIOM_OPS && e->p->op[t][k].kind; k++) {
			const struct axiom_op *o = &e->p->op[t][k];
			uint32_t n = e->len++;

			e->op[n] = *o;
			e->thread[n] = t;
			for (uint32_t a = 0; a < n; a++)
				if (e->thread[a] == t)
					relate(&e->po, a, n);
			if (reads(o))
				e->reads[e->read_len++] = n;
			if (writes(o))
				e->writes[o->location][e->write_len[o->location]++] = n;
			if (o->kind == AXIOM_FENCE && o->order == AXIOM_SC)
				e->fences[e->fence_len++] = n;
		}
}

static double factorial(uint32_t n)
{
	return n < 2 ? 1 : n * factorial(n - 1);
}

double axiom_executions(const struct axiom_program *p)
{
	struct execution e = {.p = p};
	double n = 1;

	list_events(&e);
	for (uint32_t i = 0; i < e.read_len; i++)
		n *= e.write_len[e.op[e.reads[i]].location] + 1;
	for (uint32_t l = 0; l < AXIOM_LOCATIONS; l++)
		n *= factorial(e.write_len[l]);
	return n * factorial(e.fence_len);
}

bool axiom_enumerate(const struct axiom_program *p, struct axiom_outcomes *out)
{
	struct execution e = {.p = p, .out = out};

	list_events(&e);
	choose_order(&e, 0, 0);
	return !e.failed;
}
