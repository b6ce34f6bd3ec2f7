/*
 * Instrumented twins of the handlers that touch memory or wait: they report to the observer, then
 * do what the plain handler does. One body serves all operations of a kind. See observer.h.
 */
#include "src/exec/fold.h"
#include "src/ops/address_form.h"
#include "src/ops/observe.h"
#include "src/ops/tables.h"
#include "src/uop/async.h"

/* ---- memory ---- */

/* An atomic whose old value is not wanted; of vectors and of 16 bytes the results are in `ext`. */
static bool is_reduction(const struct gang *g, const struct uop *in)
{
	const u32 *results = g->env->program->ext + in->ext;

	if (in->mem.count == 1 && in->mem.size < 16)
		return in->d == NO_ROW;
	for (u32 i = 0; i < in->mem.count; i++)
		if (in->mem.size == 16 || results[i] != NO_ROW)
			return false;
	return true;
}

static enum exec_access_kind access_kind_of(const struct gang *g, const struct uop *in)
{
	switch (uop_kind(in->inner)) {
	case UOP_STORE:
		return ACCESS_STORE;
	case UOP_ATOMIC:
		return is_reduction(g, in) ? ACCESS_RED : ACCESS_ATOM;
	default:
		return ACCESS_LOAD;
	}
}

/* How a micro-op has the addresses of warp a->warp: a constant wherever it is passed on. */
typedef void get_form(const struct gang *g, const struct uop *in, struct access *a);

/* All warps that take part. */
static ALWAYS_INLINE void report_access(struct gang *g, const struct uop *in,
					enum exec_access_kind kind, u32 space, u32 done,
					get_form *find)
{
	struct access a = {.width = (u32)in->mem.size * in->mem.count};
	struct exec_access e = {.cta = g->cta,
				.in = in,
				.pc = (u32)(in - g->uops),
				.kind = (u8)kind,
				.size = in->mem.size,
				.count = in->mem.count,
				.bytes = a.width,
				.address = a.address,
				.done = done};

	for (a.warp = 0; g->env->observer->access && a.warp < WARPS; a.warp++) {
		u32 mask = mask_of(g, a.warp);

		e.warp = cta_warp(g, a.warp);
		find(g, in, &a);
		if (space == MEM_GENERIC)
			report_generic(g, &e, a.address, mask);
		else
			report_lanes(g, &e, mask, space);
	}
}

/* The lowest and the highest address of the lanes of a warp. */
static void span_warp(const struct gang *g, const struct uop *in, u32 w, u32 mask, u64 *lo, u64 *hi)
{
	u64 low = UINT64_MAX, high = 0;

	if (mask != FULL_MASK) {
		for (u32 m = mask; m; m &= m - 1) {
			u32 l = w * WARP_LANES + (u32)__builtin_ctz(m);
			u64 x = lane_address(g, in, g->lane0 + l);

			low = x < low ? x : low;
			high = x > high ? x : high;
		}
	} else if (in->flags & UOPF_WIDE) {
		const u64 *r = ROW64(in->a) + w * WARP_LANES, offset = (u64)in->mem.offset;

		FOR_LANES(l, WARP_LANES) {
			u64 x = r[l] + offset;

			low = x < low ? x : low;
			high = x > high ? x : high;
		}
	} else {
		const u32 *r = ROW32(in->a) + w * WARP_LANES, offset = (u32)in->mem.offset;
		u32 first = UINT32_MAX, last = 0;

		FOR_LANES(l, WARP_LANES) {
			u32 x = r[l] + offset;

			first = x < first ? x : first;
			last = x > last ? x : last;
		}
		low = first;
		high = last;
	}
	*lo = low < *lo ? low : *lo;
	*hi = high > *hi ? high : *hi;
}

/* Is all that this touches in one stretch of which the observer needs to know no more? */
static bool is_span_enough(struct gang *g, const struct uop *in, enum exec_access_kind kind,
			   u32 space, u32 *done)
{
	const struct exec_observer *o = g->env->observer;
	u32 width = (u32)in->mem.size * in->mem.count;
	struct exec_span s = {.g = g,
			      .in = in,
			      .kind = (u8)kind,
			      .space = (u8)space,
			      .lo = UINT64_MAX,
			      .done = done};
	u64 hi = 0, first;

	if (space != MEM_GENERIC) {
		s.lo = s.end = 0;
		if (o->span(o->user, &s))
			return true;
		if (!o->bounds)
			return false;
		s.lo = UINT64_MAX;
	}
	if (in->a == NO_ROW)
		s.lo = hi = (u64)in->mem.offset;
	for (u32 w = 0; in->a != NO_ROW && w < WARPS; w++)
		span_warp(g, in, w, mask_of(g, w), &s.lo, &hi);
	if (space == MEM_GENERIC) {
		s.space = (u8)generic_space(g->env->mem, &s.lo);
		if (generic_space(g->env->mem, &hi) != s.space)
			return false;
	}
	s.end = hi + width;
	s.dense = kind == ACCESS_STORE && g->mode == MODE_GANG && g->full &&
		  s.end - s.lo == (u64)LANES * width &&
		  classify_plain(g, in, 0, LANES, width, &first) == ADDRESS_ROW;
	return s.lo < s.end && o->span(o->user, &s);
}

/* ---- accesses that are told later ---- */

static inline u64 fold_unit(u32 space)
{
	return space == MEM_GLOBAL || space == MEM_GENERIC ? FOLD_GLOBAL : FOLD_WORD;
}

static ALWAYS_INLINE bool is_like(const struct exec_fold *x, const u64 *address, u32 mask, u64 unit)
{
	u64 by = address[0] - x->address[0], differ = 0;

	FOR_LANES(l, WARP_LANES)
		differ |= (address[l] - x->address[l]) ^ by;
	return x->mask == mask && !differ && !(by & (unit - 1));
}

/* The fold that has counted the access. */
static struct exec_fold *fold_warp(struct gang *g, const struct uop *in, struct exec_folds *f,
				   struct access *a, u32 mask)
{
	u64 unit = fold_unit(f->space);

	/* Lanes that take no part are where the first one is that does. */
	if (mask != FULL_MASK) {
		u64 first = a->address[__builtin_ctz(mask)];

		FOR_LANES(l, WARP_LANES)
			a->address[l] = mask >> l & 1 ? a->address[l] : first;
	}
	for (u32 i = 0; i < FOLD_PLACES; i++)
		if (is_like(&f->at[i], a->address, mask, unit)) {
			f->at[i].times++;
			return &f->at[i];
		}
	return exec_fold_begin(g, in, f, a->address, mask, cta_warp(g, a->warp));
}

/* How a micro-op comes by its addresses. */
enum fold_form { FOLD_PLAIN, FOLD_INDEXED, FOLD_AFFINE, FOLD_WIDE };

/*
 * What the form adds to the row: its addresses differ as it does. False: they may wrap around.
 */
static ALWAYS_INLINE bool find_base(const struct gang *g, const struct uop *in, enum fold_form form,
				    u64 *base)
{
	const struct affine *a;
	u32 sign, low;

	switch (form) {
	case FOLD_INDEXED:
		*base = *ROW64(in->c);
		return true;
	case FOLD_AFFINE:
		a = affine_at(g, in->index.affine);
		sign = in->flags & UOPF_UNSIGNED ? 0 : 1;
		low = a->low[sign] + index_offset(g, in);
		*base = *ROW64(in->c) + scaled_index(in, low);
		low ^= affine_top(sign);
		return low + a->span[sign] >= low;
	case FOLD_WIDE:
		*base = wide_offset(g, in);
		return true;
	case FOLD_PLAIN:
		break;
	}
	*base = 0;
	return true;
}

/* Bytes of the row, 0: the launch, or the program, has fixed it. */
static ALWAYS_INLINE u32 row_bytes(const struct gang *g, const struct uop *in, enum fold_form form)
{
	if (form == FOLD_AFFINE || form == FOLD_WIDE ||
	    (form == FOLD_PLAIN && (in->a == NO_ROW || in->flags & UOPF_FIXED)))
		return 0;
	return g->lanes * (form == FOLD_PLAIN && in->flags & UOPF_WIDE ? 8 : 4);
}

/* Are words all the same distance from others, with the same top bit? The distance in *by. */
static ALWAYS_INLINE bool are_words_apart(const u32 *row, const u32 *from, u32 n, u64 *by)
{
	u32 first = row[0] - from[0], differ = 0, top = 0;

	for (u32 at = 0; at < n; at += WARP_LANES)
		FOR_LANES(l, WARP_LANES) {
			differ |= (row[at + l] - from[at + l]) ^ first;
			top |= row[at + l] ^ from[at + l];
		}
	*by = (u64)(s64)(s32)first;
	return !differ && !(top >> 31);
}

static ALWAYS_INLINE bool are_wide_apart(const u64 *row, const u64 *from, u32 n, u64 *by)
{
	u64 first = row[0] - from[0], differ = 0;

	for (u32 at = 0; at < n; at += WARP_LANES)
		FOR_LANES(l, WARP_LANES)
			differ |= (row[at + l] - from[at + l]) ^ first;
	*by = first;
	return !differ;
}

/* Is what the gang is about to access like what the row of folds knows? */
static ALWAYS_INLINE bool is_row_alike(const struct gang *g, const struct uop *in,
				       const struct exec_folds *f, const struct exec_fold_row *r,
				       enum fold_form form)
{
	u32 bytes = row_bytes(g, in, form);
	u64 by = 0, base;

	if (!r || r->version != f->version || !find_base(g, in, form, &base))
		return false;
	if (bytes == g->lanes * 8) {
		if (!are_wide_apart(ROW64(in->a), (const u64 *)(const void *)r->row, g->lanes, &by))
			return false;
	} else if (bytes && !are_words_apart(ROW32(in->a), r->row, g->lanes, &by)) {
		return false;
	}
	by = (form == FOLD_INDEXED ? by * in->index.scale : by) + base - r->base;
	return !(by & (fold_unit(f->space) - 1));
}

/* pattern: of each warp, all of which have just been folded. */
static void keep_row(const struct gang *g, const struct uop *in, struct exec_folds *f,
		     const u64 *pattern, u32 bytes, u64 base)
{
	struct exec_fold_row *r = exec_fold_row_of(g, f, bytes);
	u32 place;

	if (!r)
		return;
	r->version = 0;
	memset(r->times, 0, sizeof(r->times));
	for (u32 w = 0; w < g->warps; w++) {
		for (place = 0; place < FOLD_PLACES && f->at[place].pattern != pattern[w]; place++)
			;
		if (place == FOLD_PLACES)
			return;
		r->place[w] = (u8)place;
		r->times[place]++;
	}
	r->version = f->version;
	r->base = base;
	if (bytes)
		memcpy(r->row, g->regs + in->a, bytes);
}

/* The access of warp w, which belongs to a fold, for observers that want each. */
static ALWAYS_INLINE void report_folded(struct gang *g, struct exec_access *e, struct access *a,
					u32 space, u64 pattern)
{
	u32 mask = mask_of(g, a->warp);

	e->warp = cta_warp(g, a->warp);
	if (space != MEM_GENERIC) {
		e->pattern = pattern;
		report_lanes(g, e, mask, space);
		return;
	}
	e->pattern = 0;
	report_generic(g, e, a->address, mask);
}

/* False: they have to be told at once. */
static ALWAYS_INLINE bool fold_access(struct gang *g, const struct uop *in,
				      enum exec_access_kind kind, u32 space, enum fold_form form,
				      get_form *find)
{
	struct exec_folds *f = exec_folds_of(g, in, kind, space);
	bool each = g->env->observer->each >> space & 1, whole = g->mode == MODE_GANG && g->full;
	struct exec_fold_row *r = f && whole ? f->row[g - g->cta->gang] : NULL;
	struct access a = {.width = (u32)in->mem.size * in->mem.count};
	struct exec_access e = {.cta = g->cta,
				.in = in,
				.pc = (u32)(in - g->uops),
				.kind = (u8)kind,
				.size = in->mem.size,
				.count = in->mem.count,
				.bytes = a.width,
				.address = a.address,
				.folded = true};
	u64 pattern[GANG_WARPS], base;

	if (!f)
		return false;
	if (is_row_alike(g, in, f, r, form)) {
		for (u32 i = 0; i < FOLD_PLACES; i++)
			f->at[i].times += r->times[i];
		for (a.warp = 0; each && a.warp < g->warps; a.warp++) {
			find(g, in, &a);
			report_folded(g, &e, &a, space, f->at[r->place[a.warp]].pattern);
		}
		return true;
	}
	for (a.warp = 0; a.warp < WARPS; a.warp++) {
		u32 mask = mask_of(g, a.warp);

		if (!mask)
			continue;
		find(g, in, &a);
		pattern[a.warp] = fold_warp(g, in, f, &a, mask)->pattern;
		if (each)
			report_folded(g, &e, &a, space, pattern[a.warp]);
	}
	if (whole && find_base(g, in, form, &base))
		keep_row(g, in, f, pattern, row_bytes(g, in, form), base);
	return true;
}

HANDLER(watch_memory)
{
	if (!g->env->observer->access)
		return PLAIN(g, in);
	/*
	 * By operation: the micro-op's space may be another, as parameters of functions are local.
	 */
	enum exec_access_kind kind = access_kind_of(g, in);
	u32 space = uop_info[in->inner].space, done = 0;

	if (g->folds && space != MEM_PARAM &&
	    fold_access(g, in, kind, space, FOLD_PLAIN, get_addresses))
		return PLAIN(g, in);
	if (!g->env->observer->span || !is_span_enough(g, in, kind, space, &done))
		report_access(g, in, kind, space, done, get_addresses);
	return PLAIN(g, in);
}

/* Those that fusion makes. */
static ALWAYS_INLINE const struct uop *watch_fused(struct gang *g, const struct uop *in,
						   enum fold_form form, get_form *find)
{
	enum exec_access_kind kind = access_kind_of(g, in);
	u32 space = uop_info[in->inner].space;

	if (g->env->observer->access && !(g->folds && fold_access(g, in, kind, space, form, find)))
		report_access(g, in, kind, space, 0, find);
	return PLAIN(g, in);
}

static HANDLER(watch_indexed)
{
	return watch_fused(g, in, FOLD_INDEXED, get_indexed);
}

static HANDLER(watch_affine)
{
	return watch_fused(g, in, FOLD_AFFINE, get_affine);
}

static HANDLER(watch_wide)
{
	return watch_fused(g, in, FOLD_WIDE, get_wide);
}

/* cp.async: destination in a, shared; source in b, a device address. */
static HANDLER(watch_copy)
{
	struct uop to = *in, from = *in;
	struct access at[2] = {{.width = in->mem.size}, {.width = in->mem.size}};

	to.flags |= UOPF_WIDE;
	from.flags |= UOPF_WIDE;
	to.mem.offset = from.mem.offset = 0;
	to.mem.count = from.mem.count = 1;
	from.a = in->b;
	for (u32 w = 0; g->env->observer->access && w < WARPS; w++) {
		at[0].warp = at[1].warp = w;
		get_addresses(g, &from, &at[0]);
		get_addresses(g, &to, &at[1]);
		strip_window(at[1].address, FULL_MASK, g->env->mem->shared_base, MEM_SHARED_WINDOW);
		for (u32 i = 0; i < 2; i++) {
			struct exec_access e = {.cta = g->cta,
						.in = in,
						.pc = (u32)(in - g->uops),
						.warp = cta_warp(g, w),
						.kind = i ? ACCESS_COPY_WRITE : ACCESS_COPY_READ,
						.size = in->mem.size,
						.count = 1,
						.bytes = in->mem.size,
						.bypass = in->copy.bypass,
						.address = at[i].address,
						.other = at[!i].address};

			report_lanes(g, &e, mask_of(g, w), i ? MEM_SHARED : MEM_GLOBAL);
		}
	}
	return PLAIN(g, in);
}

/*
 * ldmatrix, stmatrix: the first eight lanes for each matrix name its rows. A warp whose lanes are
 * not together faults, which is not an access.
 */
static HANDLER(watch_matrix)
{
	bool store = uop_kind(in->inner) == UOP_MATRIX_STORE;
	struct access a = {.width = in->mem.size};
	struct exec_access e = {.cta = g->cta,
				.in = in,
				.pc = (u32)(in - g->uops),
				.kind = store ? ACCESS_MATRIX_STORE : ACCESS_MATRIX_LOAD,
				.size = in->mem.size,
				.count = 1,
				.bytes = 16,
				.address = a.address};
	u32 rows = in->mem.count < 4 ? (1u << 8 * in->mem.count) - 1 : FULL_MASK;

	for (a.warp = 0; g->env->observer->access && a.warp < WARPS; a.warp++) {
		e.warp = cta_warp(g, a.warp);
		if (!mask_of(g, a.warp))
			continue;
		get_addresses(g, in, &a);
		if (in->mem.space == MEM_GENERIC)
			report_generic(g, &e, a.address, rows);
		else
			report_lanes(g, &e, rows, MEM_SHARED);
	}
	return PLAIN(g, in);
}

/* ---- synchronisation ---- */

/* A gang whose warps do not agree has not run the micro-op: they run it one by one. */
static HANDLER(watch_sync)
{
	const struct exec_observer *o = g->env->observer;
	struct exec_sync s = {.cta = g->cta, .in = in, .pc = (u32)(in - g->uops), .op = in->inner};
	u32 mask[GANG_WARPS], n = WARPS, first = cta_warp(g, 0);
	const struct uop *next;
	char stuck[sizeof(g->fault->text)];

	stuck[0] = 0;
	s.stuck = stuck;
	for (u32 w = 0; w < n; w++)
		mask[w] = mask_of(g, w);
	next = PLAIN(g, in);
	if (!next && g->stop == STOP_DIVERGED)
		return NULL;
	for (u32 w = 0; o->sync && w < n; w++) {
		s.warp = first + w;
		s.mask = mask[w];
		if (s.mask)
			o->sync(o->user, &s);
	}
	if (PL_UNLIKELY(stuck[0]) && g->stop != STOP_FAULT) {
		memcpy(g->fault->text, stuck, sizeof(stuck));
		return exec_fault(g, in, FAULT_DEADLOCK, mask[0]);
	}
	return next;
}

/* ---- mbarriers: words of shared memory, and something to wait at ---- */

static enum exec_access_kind mbar_access(enum mbar_op action)
{
	switch (action) {
	case MBAR_INIT:
	case MBAR_INIT_LISTED:
		return ACCESS_STORE;
	case MBAR_CHECK_LAYOUT:
	case MBAR_WAIT:
	case MBAR_WAIT_LISTED:
	case MBAR_WAIT_PARITY:
	case MBAR_WAIT_PARITY_LISTED:
	case MBAR_TRY:
	case MBAR_TRY_LISTED:
	case MBAR_TRY_PARITY:
	case MBAR_TRY_PARITY_LISTED:
		return ACCESS_LOAD;
	default:
		return ACCESS_ATOM;
	}
}

static HANDLER(watch_mbar)
{
	enum mbar_op action = (enum mbar_op)in->mbar.action;

	if (tells_all(g) && action != MBAR_INVAL && action != MBAR_INVAL_LISTED)
		EACH_LANE(w, l)
			tell_place(g, in, w, l, mbar_access(action),
				   ROW64(in->a)[w * WARP_LANES + l], sizeof(u64));
	return EXEC_NAME(op_watch_sync)(g, in);
}

/* cp.async.mbarrier.arrive */
static HANDLER(watch_arrive)
{
	if (tells_all(g))
		EACH_LANE(w, l)
			tell_mbarrier(g, in, w, l, ROW64(in->a)[w * WARP_LANES + l]);
	return EXEC_NAME(op_watch_sync)(g, in);
}

/* ---- arguments that lie in local memory ---- */

static HANDLER(watch_local)
{
	if (tells_all(g))
		EACH_LANE(w, l) {
			u32 at = w * WARP_LANES + l;
			u64 from = in->stack.from + (in->a == NO_ROW ? 0 : ROW32(in->a)[at]);

			tell_bytes(g, in, w, l, ACCESS_LOAD,
				   in->a == NO_ROW ? MEM_PARAM : MEM_LOCAL, from, in->stack.bytes);
			tell_bytes(g, in, w, l, ACCESS_STORE, MEM_LOCAL,
				   ROW32(in->b)[at] + (u64)in->stack.to, in->stack.bytes);
		}
	return PLAIN(g, in);
}

/* ---- the loop ---- */

/* Observers that do not ask for each micro-op. */
static void run_loop_quiet(struct gang *g, const struct uop *in)
{
	do {
		g->clock += EXEC_UOP_CYCLES;
		in = g->table->run[in->op](g, in);
	} while (in);
}

static void run_loop_observed(struct gang *g, const struct uop *in)
{
	const struct exec_observer *o = g->env->observer;
	bool rests = o->rests;
	const u8 *at = o->step_at, *rest_at = o->rest_at;
	u32 pc;

	if (!o->step) {
		run_loop_quiet(g, in);
		return;
	}
	do {
		pc = (u32)(in - g->uops);
		if (rests && g->quiet ? rest_at && rest_at[pc] : !at || at[pc])
			exec_tell_step(g, in);
		g->clock += EXEC_UOP_CYCLES;
		in = g->table->run[in->op](g, in);
	} while (in);
	exec_tell_stop(g, pc);
}

/* ---- tables: the plain ones, but for operations with a twin ---- */

#define TABLE(mode) watched_##mode
#define TABLE_BODY(twin, body) TWIN_##twin(body)
#include "src/ops/mode_tables.inc"

const struct exec_ops EXEC_NAME(exec_ops_watched) = {
	.level = EXEC_LEVEL_TEXT,
	.mode = {&watched_gang, &watched_warp, &watched_masked, &watched_masked},
	.loop = run_loop_observed,
	.settle = EXEC_NAME(warp_settle),
	.watched = &EXEC_NAME(exec_ops_watched),
};

/* ---- tables of programs whose shared variables lie apart ---- */

#define TABLE(mode) apart_##mode
#define TABLE_BODY(twin, body) APART_##twin(body, APART_WATCH)
#include "src/ops/mode_tables.inc"

static const struct exec_table apart_ordered = {{
#define TABLE_LANE(id, shape) RESULT_##shape(ORDERED, id)
#define TABLE_UOP(id, bodies, twin, diverged) APART_##twin(WARP_BODY_##bodies(id), APART_WATCH)
#include "src/uop/table/table.def"
}};

static const struct exec_ops exec_ops_apart_counted = {
	.level = EXEC_LEVEL_TEXT,
	.mode = {&apart_gang, &apart_warp, &apart_masked, &apart_ordered},
	.diverged = &EXEC_NAME(table_diverged_apart),
	.loop = EXEC_NAME(run_loop_counted),
	.settle = EXEC_NAME(warp_settle),
	.watched = &EXEC_NAME(exec_ops_watched),
	.apart = &exec_ops_apart_counted,
	.counted = &exec_ops_apart_counted,
};

const struct exec_ops EXEC_NAME(exec_ops_apart) = {
	.level = EXEC_LEVEL_TEXT,
	.mode = {&apart_gang, &apart_warp, &apart_masked, &apart_ordered},
	.diverged = &EXEC_NAME(table_diverged_apart),
	.loop = EXEC_NAME(run_loop),
	.settle = EXEC_NAME(warp_settle),
	.watched = &EXEC_NAME(exec_ops_watched),
	.apart = &EXEC_NAME(exec_ops_apart),
	.counted = &exec_ops_apart_counted,
};
