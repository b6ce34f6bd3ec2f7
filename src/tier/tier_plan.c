/*
 * Which micro-ops become runs, and which rows are live after them.
 */
#include "src/exec/observer.h"
#include "src/tier/tier_int.h"
#include "src/uop/rows.h"

#include <stdlib.h>

/* Shorter ones are not worth a call. */
#define RUN_LEAST 3u
#define RUN_MOST 96u

/* ---- liveness of rows, by units of 64 bytes of the register block ---- */

struct tier_live {
	u32 words, uops; /* of a set; of the kernel */
	u64 *before;     /* sets of rows that are live before each micro-op */
	u8 *source;      /* enum row_source, by row / ROW_UNIT */
};

struct flow_step {
	u64 *set;
	bool kills; /* rows written are dead before */
	bool reads;
};

static void mark_row(void *user, u32 row, bool write)
{
	struct flow_step *s = user;
	u32 bit = row / 64;

	if (write && s->kills)
		s->set[bit / 64] &= ~((u64)1 << bit % 64);
	else if (!write && s->reads)
		s->set[bit / 64] |= (u64)1 << bit % 64;
}

static bool falls_through(const struct uop *in)
{
	return in->inner != OP_bra && in->inner != OP_brx_idx &&
	       !((in->inner == OP_exit || in->inner == OP_ret) && in->guard == NO_ROW);
}

static void add_set(u64 *to, const u64 *from, u32 words)
{
	for (u32 i = 0; i < words; i++)
		to[i] |= from[i];
}

/* What is live after micro-op pc. */
static void live_after(const struct tier_live *l, const struct program *p, u32 pc, u64 *set)
{
	const struct uop *in = &p->uop[pc];
	u32 target = uop_target(in);

	memset(set, 0, l->words * sizeof(u64));
	if (falls_through(in) && pc + 1 < l->uops)
		add_set(set, l->before + (size_t)(pc + 1) * l->words, l->words);
	if (target < l->uops)
		add_set(set, l->before + (size_t)target * l->words, l->words);
	for (u32 i = 0; in->inner == OP_brx_idx && i < in->branch.cases; i++)
		add_set(set, l->before + (size_t)p->ext[in->ext + i] * l->words, l->words);
}

/* Results of guarded micro-ops, and of loads of some lanes, stay live: others keep theirs. */
static void live_before(const struct program *p, u32 pc, u64 *set)
{
	const struct uop *in = &p->uop[pc];
	struct flow_step kill = {set, in->op == in->inner, false}, read = {set, false, true};

	uop_each_row(in, p->ext, mark_row, &kill);
	uop_each_row(in, p->ext, mark_row, &read);
}

/* ---- rows with one value ---- */

/* What has written a row: nothing, the same for all lanes when a launch begins, anything else. */
enum row_source { SOURCE_NONE, SOURCE_UNIFORM, SOURCE_ANY };

struct row_writer {
	u8 *source, is;
};

/* Is all that a micro-op reads the same for all lanes? */
struct row_reader {
	const struct program *p;
	const u8 *source;
	bool uniform;
};

static bool is_constant_row(const struct program *p, u32 row)
{
	for (u32 i = 0; i < p->const_len; i++)
		if (p->consts[i].row == row)
			return true;
	return false;
}

static void see_reader(void *user, u32 row, bool write)
{
	struct row_reader *r = user;

	if (!write)
		r->uniform &=
			r->source[row / ROW_UNIT] == SOURCE_UNIFORM || is_constant_row(r->p, row);
}

static void note_writer(void *user, u32 row, bool write)
{
	const struct row_writer *w = user;

	if (write)
		w->source[row / ROW_UNIT] = w->is;
}

/* Of a launch's beginning: does the micro-op write the same value for all lanes? */
static bool makes_uniform(const struct program *p, const struct uop *in, const u8 *source)
{
	struct row_reader r = {p, source, true};

	if (in->op == OP_load_param || in->op == OP_sreg_uniform)
		return true;
	if (in->op != in->inner || !uop_is_lane(in->inner))
		return false;
	uop_each_row(in, p->ext, see_reader, &r);
	return r.uniform;
}

static void mark_writes(const struct program *p, const struct uop *in, u8 *source, bool uniform)
{
	struct row_writer w = {source, uniform ? SOURCE_UNIFORM : SOURCE_ANY};

	uop_each_row(in, p->ext, note_writer, &w);
}

/* now: what the rows have while a launch begins. */
static void find_sources(const struct program *p, u8 *source, u8 *now)
{
	for (u32 pc = p->launch_first; pc < p->uops; pc++)
		mark_writes(p, &p->uop[pc], now, makes_uniform(p, &p->uop[pc], now));
	memcpy(source, now, p->block_bytes / ROW_UNIT + 1);
	for (u32 pc = 0; pc < p->launch_first; pc++)
		mark_writes(p, &p->uop[pc], source, false);
}

bool tier_is_uniform(const struct tier_live *l, u32 row)
{
	return l->source[row / ROW_UNIT] == SOURCE_UNIFORM;
}

struct tier_live *tier_live_new(const struct program *p)
{
	struct tier_live *l = calloc(1, sizeof(*l));
	u8 *now = calloc(p->block_bytes / ROW_UNIT + 1, 1);
	u64 *set;
	bool again = true;

	if (!l || !now) {
		free(now);
		free(l);
		return NULL;
	}
	l->uops = p->launch_first;
	l->words = (p->block_bytes / 64 + 64) / 64;
	l->before = calloc((size_t)l->uops * l->words + 1, sizeof(u64));
	l->source = calloc(p->block_bytes / ROW_UNIT + 1, 1);
	set = calloc(l->words, sizeof(u64));
	if (!l->before || !l->source || !set) {
		free(now);
		free(set);
		tier_live_free(l);
		return NULL;
	}
	find_sources(p, l->source, now);
	free(now);
	while (again) {
		again = false;
		for (u32 pc = l->uops; pc-- > 0;) {
			u64 *at = l->before + (size_t)pc * l->words;

			live_after(l, p, pc, set);
			live_before(p, pc, set);
			if (memcmp(at, set, l->words * sizeof(u64))) {
				memcpy(at, set, l->words * sizeof(u64));
				again = true;
			}
		}
	}
	free(set);
	return l;
}

void tier_live_free(struct tier_live *l)
{
	if (l) {
		free(l->before);
		free(l->source);
	}
	free(l);
}

bool tier_live_after(const struct tier_live *l, u32 pc, u32 row)
{
	u32 bit = row / 64;

	return pc + 1 >= l->uops ||
	       l->before[(size_t)(pc + 1) * l->words + bit / 64] >> bit % 64 & 1;
}

/* ---- runs ---- */

/* Its order among other accesses is seen: code has one of its own. */
static bool is_strong(const struct program *p, const struct uop *in)
{
	const struct isa_form *form = uop_has_access(in->inner) ? exec_form(p, in) : NULL;

	return form && (exec_form_rereads(form) || isa_form_has(form, M_release));
}

static bool takes_part(const struct program *p, const struct uop *in)
{
	return in->op == in->inner && tier_supports(p, in) && !is_strong(p, in);
}

/*
 * A run ends with the first store: see "Compiled runs" in docs/engine.md. What warps store in
 * shared memory others usually load, so a run does not do both there.
 */
static u32 run_length(const struct program *p, u32 first)
{
	bool loads_shared = false;
	u32 n = 0;

	while (first + n < p->launch_first && n < RUN_MOST) {
		const struct uop *in = &p->uop[first + n];

		if (!takes_part(p, in) || (in->inner == OP_store_shared && loads_shared))
			break;
		n++;
		loads_shared |= in->inner == OP_load_shared;
		if (uop_kind(in->inner) == UOP_STORE)
			break;
	}
	return n;
}

u32 tier_plan(const struct program *p, const struct tier_live *l, struct tier_run **runs)
{
	u32 len = 0, cap = 0, n;

	*runs = NULL;
	for (u32 pc = 0; pc < p->launch_first; pc += n ? n : 1) {
		struct tier_run r = {.first = pc};

		n = run_length(p, pc);
		for (r.n = n; r.n >= RUN_LEAST && !tier_study(p, l, &r);)
			r = (struct tier_run){.first = pc, .n = r.n / 2};
		if (r.n < RUN_LEAST)
			continue;
		n = r.n;
		if (len == cap) {
			struct tier_run *more = realloc(*runs, (cap * 2 + 4) * sizeof(r));

			if (!more)
				return len;
			*runs = more;
			cap = cap * 2 + 4;
		}
		(*runs)[len++] = r;
	}
	return len;
}
