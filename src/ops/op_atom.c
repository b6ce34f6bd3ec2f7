/*
 * atom and red: read-modify-write, lane after lane in ascending order. Where one worker is alone
 * with the memory, and in shared memory, which belongs to one worker, plain operations do; else,
 * and at the scope of the system, the host's atomic ones. Additions of a whole warp to one address
 * without result are summed first. Rows of scalars: result d, operands b and c; of vectors, in ext:
 * [0..count) results, [count..2 count) operands. PTX ISA "Parallel Synchronization and
 * Communication Instructions: atom", "red".
 */
#include "src/ops/access.h"
#include "src/uop/atom.h"
#include "src/num/numeric_all.h"

static bool is_nan_f64(u64 x)
{
	return (x & ~NUM_SIGN_F64) > NUM_INF_F64;
}

#define APPLY(id, type, expr)                                                                      \
	static u64 apply_##id##_##type(u64 x PL_UNUSED, u64 y PL_UNUSED, u64 z PL_UNUSED)          \
	{                                                                                          \
		return (expr);                                                                     \
	}
#define APPLY_GLOBAL(id, type, expr) APPLY(id##_global, type, expr)
#include "src/uop/table/atom.def"

struct apply_row {
	u8 action, type;
	bool is_global; /* in global memory alone; before the other of the type */
	apply_fn *fn;
};

static const struct apply_row apply_rows[] = {
#define APPLY_GLOBAL(id, type, expr) {ATOM_##id, T_##type, true, apply_##id##_global_##type},
#include "src/uop/table/atom.def"
#define APPLY(id, type, expr) {ATOM_##id, T_##type, false, apply_##id##_##type},
#include "src/uop/table/atom.def"
};

apply_fn *EXEC_NAME(atom_apply)(u32 action, u32 type, bool global)
{
	for (size_t i = 0; i < ARRAY_LEN(apply_rows); i++)
		if (apply_rows[i].action == action && apply_rows[i].type == type &&
		    (global || !apply_rows[i].is_global))
			return apply_rows[i].fn;
	return NULL;
}

/* alone: no other thread of the host can come between. */
static u64 modify(bool alone, u64 host, u32 size, apply_fn *fn, u64 b, u64 c)
{
	u64 old, new;

	if (alone) {
		old = get(host, size);
		put(host, size, fn(old, b, c));
		return old;
	}
	switch (size) {
	case 2: {
		u16 *p = (u16 *)(uintptr_t)host, seen = __atomic_load_n(p, __ATOMIC_RELAXED);

		while (!__atomic_compare_exchange_n(p, &seen, (u16)fn(seen, b, c), true,
						    __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
			;
		return seen;
	}
	case 4: {
		u32 *p = (u32 *)(uintptr_t)host, seen = __atomic_load_n(p, __ATOMIC_RELAXED);

		while (!__atomic_compare_exchange_n(p, &seen, (u32)fn(seen, b, c), true,
						    __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
			;
		return seen;
	}
	default: {
		u64 *p = (u64 *)(uintptr_t)host;

		old = __atomic_load_n(p, __ATOMIC_RELAXED);
		do
			new = fn(old, b, c);
		while (!__atomic_compare_exchange_n(p, &old, new, true, __ATOMIC_SEQ_CST,
						    __ATOMIC_RELAXED));
		return old;
	}
	}
}

static u64 read_row(const struct gang *g, u32 row, u32 at, u32 size)
{
	return row == NO_ROW ? 0 : size == 8 ? ROW64(row)[at] : ROW32(row)[at];
}

static void write_row(struct gang *g, u32 row, u32 at, u32 size, u64 v)
{
	if (row == NO_ROW)
		return;
	if (size == 8)
		ROW64(row)[at] = v;
	else
		ROW32(row)[at] = (u32)v;
}

/* The whole warp adds to one word, and the old value is not wanted. */
static bool add_together(struct gang *g, const struct uop *in, const struct access *a, bool alone)
{
	u64 sum = 0, first = a->host[__builtin_ctz(a->mask)];

	if (in->atomic.action != ATOM_ADD || in->d != NO_ROW || in->mem.count != 1 ||
	    (in->atomic.type != T_u32 && in->atomic.type != T_s32 && in->atomic.type != T_u64))
		return false;
	for (u32 m = a->mask; m; m &= m - 1) {
		u32 l = (u32)__builtin_ctz(m);

		if (a->host[l] != first)
			return false;
		sum += read_row(g, in->b, a->warp * WARP_LANES + l, in->mem.size);
	}
	modify(alone, first, in->mem.size, apply_ADD_u64, sum, 0);
	return true;
}

/* What 128 bits become. */
static piece changed(const struct uop *in, piece old, piece b, piece c)
{
	if (in->atomic.action != ATOM_CAS)
		return b;
	return old[0] == b[0] && old[1] == b[1] ? c : old;
}

static piece modify_piece(const struct uop *in, void *p, bool alone, piece b, piece c)
{
	piece old = piece_load(p), now;

	if (alone) {
		piece_store(p, changed(in, old, b, c));
		return old;
	}
	for (;;) {
		now = piece_exchange(p, old, changed(in, old, b, c));
		if (now[0] == old[0] && now[1] == old[1])
			return old;
		old = now;
	}
}

static piece read_pair(const struct gang *g, const u32 *row, u32 at)
{
	return (piece){read_row(g, row[0], at, 8), read_row(g, row[1], at, 8)};
}

/*
 * 128 bits: cas and exch. b, c and d are pairs of rows in ext: d lo, d hi, b lo, b hi, c lo, c hi.
 */
static void modify_128(struct gang *g, const struct uop *in, const struct access *a, bool alone)
{
	const u32 *x = g->env->program->ext + in->ext;

	for (u32 m = a->mask; m; m &= m - 1) {
		u32 l = (u32)__builtin_ctz(m), at = a->warp * WARP_LANES + l;
		piece c = in->atomic.action == ATOM_CAS ? read_pair(g, x + 4, at) : (piece){0}, old;

		old = modify_piece(in, (void *)(uintptr_t)a->host[l], alone,
				   read_pair(g, x + 2, at), c);
		write_row(g, x[0], at, 8, old[0]);
		write_row(g, x[1], at, 8, old[1]);
	}
}

/* ---- words of 32 bits, the common case: fn is a constant wherever this is called ---- */

static ALWAYS_INLINE void each_word(struct gang *g, const struct uop *in, const struct access *a,
				    bool alone, apply_fn *fn)
{
	u32 at = a->warp * WARP_LANES, *d = in->d == NO_ROW ? NULL : ROW32(in->d) + at;
	const u32 *b = ROW32(in->b) + at, *c = in->c == NO_ROW ? b : ROW32(in->c) + at;

	if (alone && !d && a->mask == FULL_MASK) {
		for (u32 l = 0; l < WARP_LANES; l++) {
			u32 *p = (u32 *)(uintptr_t)a->host[l];

			*p = (u32)fn(*p, b[l], c[l]);
		}
		return;
	}
	for (u32 m = a->mask; m; m &= m - 1) {
		u32 l = (u32)__builtin_ctz(m), *p = (u32 *)(uintptr_t)a->host[l], old;

		if (alone) {
			old = *p;
			*p = (u32)fn(old, b[l], c[l]);
		} else if (fn == apply_ADD_u32) {
			old = __atomic_fetch_add(p, b[l], __ATOMIC_SEQ_CST);
		} else {
			old = (u32)modify(false, a->host[l], 4, fn, b[l], c[l]);
		}
		if (d)
			d[l] = old;
	}
}

/* True, for callers that return whether it is done. */
static ALWAYS_INLINE bool all_words(struct gang *g, const struct uop *in, const struct access *a,
				    bool alone, apply_fn *fn)
{
	if (alone)
		each_word(g, in, a, true, fn);
	else
		each_word(g, in, a, false, fn);
	return true;
}

static bool typed_words(struct gang *g, const struct uop *in, const struct access *a, bool alone)
{
	bool is_signed = in->atomic.type == T_s32;

	if (in->atomic.type != T_u32 && !is_signed)
		return false;
	switch (in->atomic.action) {
	case ATOM_ADD:
		return all_words(g, in, a, alone, apply_ADD_u32);
	case ATOM_INC:
		return all_words(g, in, a, alone, apply_INC_u32);
	case ATOM_DEC:
		return all_words(g, in, a, alone, apply_DEC_u32);
	case ATOM_MIN:
		return is_signed ? all_words(g, in, a, alone, apply_MIN_s32)
				 : all_words(g, in, a, alone, apply_MIN_u32);
	case ATOM_MAX:
		return is_signed ? all_words(g, in, a, alone, apply_MAX_s32)
				 : all_words(g, in, a, alone, apply_MAX_u32);
	default:
		return false;
	}
}

/* False: for the general way. space: MEM_GENERIC where lanes may differ. */
static bool atomic_words(struct gang *g, const struct uop *in, const struct access *a, bool alone,
			 enum mem_space space)
{
	if (in->mem.count != 1 || in->mem.size != 4)
		return false;
	if (in->atomic.type == T_f32 && in->atomic.action == ATOM_ADD && space == MEM_GLOBAL)
		return all_words(g, in, a, alone, apply_ADD_global_f32);
	if (in->atomic.type == T_f32 && in->atomic.action == ATOM_ADD && space == MEM_SHARED)
		return all_words(g, in, a, alone, apply_ADD_f32);
	if (in->atomic.type != T_b32)
		return typed_words(g, in, a, alone);
	switch (in->atomic.action) {
	case ATOM_AND:
		return all_words(g, in, a, alone, apply_AND_b32);
	case ATOM_OR:
		return all_words(g, in, a, alone, apply_OR_b32);
	case ATOM_XOR:
		return all_words(g, in, a, alone, apply_XOR_b32);
	case ATOM_EXCH:
		return all_words(g, in, a, alone, apply_EXCH_b32);
	case ATOM_CAS:
		return all_words(g, in, a, alone, apply_CAS_b32);
	default:
		return false;
	}
}

static bool is_global(const struct gang *g, u64 address)
{
	return address - g->env->mem->shared_base >= MEM_SHARED_WINDOW + MEM_LOCAL_WINDOW;
}

/* A vector: results may be registers of operands, so they are written when all is done. */
static void each_element(struct gang *g, const struct uop *in, const struct access *a, u32 l,
			 apply_fn *fn)
{
	const u32 *x = g->env->program->ext + in->ext;
	u32 at = a->warp * WARP_LANES + l;
	u64 old[8];

	for (u32 e = 0; e < in->mem.count; e++)
		old[e] = modify(false, a->host[l] + (u64)e * in->mem.size, in->mem.size, fn,
				read_row(g, x[in->mem.count + e], at, in->mem.size), 0);
	for (u32 e = 0; e < in->mem.count; e++)
		write_row(g, x[e], at, in->mem.size, old[e]);
}

/*
 * One warp, its addresses resolved. space: of the form; generic addresses may be in any, and follow
 * global memory's rules unless they are in the window of another.
 */
static void modify_warp(struct gang *g, const struct uop *in, const struct access *a,
			enum mem_space space)
{
	u32 at = a->warp * WARP_LANES;
	bool global = space != MEM_SHARED, generic = space == MEM_GENERIC;
	bool alone = !global || (!g->env->concurrent && !(in->flags & UOPF_SYSTEM));
	apply_fn *fn, *shared_fn;

	if (in->mem.size == 16) {
		modify_128(g, in, a, alone);
		return;
	}
	if (add_together(g, in, a, alone) || atomic_words(g, in, a, alone, space))
		return;
	fn = EXEC_NAME(atom_apply)(in->atomic.action, in->atomic.type, global);
	shared_fn = generic ? EXEC_NAME(atom_apply)(in->atomic.action, in->atomic.type, false) : fn;
	for (u32 m = a->mask; m; m &= m - 1) {
		u32 l = (u32)__builtin_ctz(m);
		apply_fn *f = generic && !is_global(g, a->address[l]) ? shared_fn : fn;

		if (in->mem.count > 1) {
			each_element(g, in, a, l, f);
			continue;
		}
		write_row(g, in->d, at + l, in->mem.size,
			  modify(alone, a->host[l], in->mem.size, f,
				 read_row(g, in->b, at + l, in->mem.size),
				 read_row(g, in->c, at + l, in->mem.size)));
	}
}

/* Local memory has the words of an element apart: it is put together for the operation. */
static void modify_local(struct gang *g, const struct uop *in, struct access *a)
{
	u8 whole[WARP_LANES][16] __attribute__((aligned(16)));
	u64 window = g->env->mem->local_base;
	u32 first = (g->warp + a->warp) * WARP_LANES;

	for (u32 m = a->local & a->mask; m; m &= m - 1) {
		u32 l = (u32)__builtin_ctz(m);

		local_read(g, first + l, a->address[l] - window, whole[l], a->width);
		a->host[l] = (u64)(uintptr_t)whole[l];
	}
	modify_warp(g, in, a, MEM_GENERIC);
	for (u32 m = a->local & a->mask; m; m &= m - 1) {
		u32 l = (u32)__builtin_ctz(m);

		local_write(g, first + l, a->address[l] - window, whole[l], a->width);
	}
}

typedef bool resolve_fn(struct gang *g, const struct uop *in, struct access *a);

/* Lanes of a warp; resolve and space: constants. False: a fault was raised. */
static ALWAYS_INLINE bool modify_lanes(struct gang *g, const struct uop *in, u32 w, u32 mask,
				       resolve_fn *resolve, enum mem_space space)
{
	struct access a;

	access_begin(&a, (u32)in->mem.size * in->mem.count, w, mask);
	get_addresses(g, in, &a);
	if (!resolve(g, in, &a))
		return false;
	if (space == MEM_GENERIC && PL_UNLIKELY(a.local))
		modify_local(g, in, &a);
	else
		modify_warp(g, in, &a, space);
	return true;
}

/* The gang's warps from `first` on. */
static ALWAYS_INLINE const struct uop *modify_warps(struct gang *g, const struct uop *in, u32 first,
						    resolve_fn *resolve, enum mem_space space)
{
	for (u32 w = first, n = WARPS; w < n; w++) {
		u32 mask = mask_of(g, w);

		if (mask && !modify_lanes(g, in, w, mask, resolve, space))
			return NULL;
	}
	return in + 1;
}

/*
 * ---- sums of words in global memory without result, while several workers run ----
 *
 * What lanes add to one line of the host's caches is added up first, for all warps of the gang, and
 * the words of a line are then changed one after the other: each change takes the line from other
 * workers. Where lanes rarely share a line there is nothing to gain.
 */

#define LINE_WORDS 16u
#define LINES_MOST (GANG_WARPS * WARP_LANES)
#define LINE_SLOTS (2 * LINES_MOST)
#define LINES_TRIAL 2u /* warps after which it is known */

struct line_sums {
	u32 len, lanes;
	u16 slot[LINE_SLOTS]; /* number of a line + 1, 0: none; by the line, open addressing */
	u64 line[LINES_MOST]; /* its address, in lines */
	u32 sum[LINES_MOST][LINE_WORDS];
};

static u32 *line_sum_at(struct line_sums *s, u64 host)
{
	u64 line = host / (4 * LINE_WORDS);
	u32 at = (u32)line % LINE_SLOTS;

	while (s->slot[at] && s->line[s->slot[at] - 1] != line)
		at = (at + 1) % LINE_SLOTS;
	if (!s->slot[at]) {
		memset(s->sum[s->len], 0, sizeof(s->sum[s->len]));
		s->line[s->len] = line;
		s->slot[at] = (u16)++s->len;
	}
	return &s->sum[s->slot[at] - 1][host / 4 % LINE_WORDS];
}

static void collect_lines(const struct gang *g, const struct uop *in, const struct access *a,
			  struct line_sums *s)
{
	const u32 *b = ROW32(in->b) + a->warp * WARP_LANES;

	for (u32 m = a->mask; m; m &= m - 1, s->lanes++) {
		u32 l = (u32)__builtin_ctz(m);

		*line_sum_at(s, a->host[l]) += b[l];
	}
}

static void add_line_sums(const struct line_sums *s)
{
	for (u32 i = 0; i < s->len; i++) {
		u32 *words = (u32 *)(uintptr_t)(s->line[i] * 4 * LINE_WORDS);

		for (u32 k = 0; k < LINE_WORDS; k++)
			if (s->sum[i][k])
				__atomic_fetch_add(&words[k], s->sum[i][k], __ATOMIC_SEQ_CST);
	}
}

static bool adds_contended_words(const struct gang *g, const struct uop *in)
{
	return g->env->concurrent && in->atomic.action == ATOM_ADD && in->mem.size == 4 &&
	       in->mem.count == 1 && in->d == NO_ROW &&
	       (in->atomic.type == T_u32 || in->atomic.type == T_s32);
}

/* The first warp that is not added yet; WARPS: all are. NO_ROW: a fault was raised. */
static OUT_OF_LINE u32 add_by_lines(struct gang *g, const struct uop *in)
{
	struct line_sums s;
	u32 w = 0, n = WARPS;
	bool ok = true;

	s.len = s.lanes = 0;
	memset(s.slot, 0, sizeof(s.slot));
	for (; w < n && ok && (w < LINES_TRIAL || 2 * s.len <= s.lanes); w++) {
		u32 mask = mask_of(g, w);
		struct access a;

		if (!mask)
			continue;
		access_begin(&a, (u32)in->mem.size, w, mask);
		get_addresses(g, in, &a);
		ok = resolve_global(g, in, &a);
		if (ok)
			collect_lines(g, in, &a, &s);
	}
	add_line_sums(&s);
	return ok ? w : NO_ROW;
}

HANDLER(atom_global)
{
	u32 first = 0;

	if (adds_contended_words(g, in) && WARPS > LINES_TRIAL) {
		first = add_by_lines(g, in);
		if (first == NO_ROW)
			return NULL;
	}
	return modify_warps(g, in, first, resolve_global, MEM_GLOBAL);
}

/* ---- sums of words in shared memory without result: histograms ---- */

static bool adds_shared_words(const struct uop *in)
{
	return in->atomic.action == ATOM_ADD && in->mem.size == 4 && in->mem.count == 1 &&
	       in->d == NO_ROW && in->a != NO_ROW && !(in->flags & UOPF_WIDE) &&
	       (in->atomic.type == T_u32 || in->atomic.type == T_s32);
}

/*
 * Lanes of a warp whose words are not aligned or not inside; those that have another word than
 * `first`.
 */
struct shared_words {
	u32 bad, differ;
};

static ALWAYS_INLINE struct shared_words find_shared_words(const struct gang *g, const u32 *r,
							   u32 off, u32 first)
{
	u32 last = g->env->shared_bytes - 4, bad[WARP_LANES], differ[WARP_LANES];

	FOR_LANES(l, WARP_LANES) {
		u32 x = r[l] + off;

		bad[l] = x > last || x & 3 ? FULL_MASK : 0;
		differ[l] = r[l] != first ? FULL_MASK : 0;
	}
	return (struct shared_words){lanes_mask(bad), lanes_mask(differ)};
}

static ALWAYS_INLINE u32 *shared_word_at(const struct gang *g, u32 offset)
{
	return (u32 *)(void *)(g->shared + offset);
}

/* False: the lanes have to be inspected one by one. */
static ALWAYS_INLINE bool add_shared_words(struct gang *g, const struct uop *in, u32 w, u32 mask)
{
	const u32 *r = ROW32(in->a) + w * WARP_LANES, *b = ROW32(in->b) + w * WARP_LANES;
	u32 off = (u32)in->mem.offset, first = r[__builtin_ctz(mask)], sum = 0;
	struct shared_words x = find_shared_words(g, r, off, first);

	if (x.bad & mask || g->env->shared_bytes < 4)
		return false;
	if (!(x.differ & mask)) {
		FOR_LANES(l, WARP_LANES)
			sum += mask >> l & 1 ? b[l] : 0;
		*shared_word_at(g, first + off) += sum;
	} else if (mask == FULL_MASK) {
		for (u32 l = 0; l < WARP_LANES; l++)
			*shared_word_at(g, r[l] + off) += b[l];
	} else {
		for (u32 m = mask; m; m &= m - 1) {
			u32 l = (u32)__builtin_ctz(m);

			*shared_word_at(g, r[l] + off) += b[l];
		}
	}
	return true;
}

static OUT_OF_LINE bool modify_shared(struct gang *g, const struct uop *in, u32 w, u32 mask)
{
	return modify_lanes(g, in, w, mask, resolve_shared, MEM_SHARED);
}

HANDLER(atom_shared)
{
	bool adds = adds_shared_words(in);

	for (u32 w = 0, n = WARPS; w < n; w++) {
		u32 mask = mask_of(g, w);

		if (!mask || (adds && add_shared_words(g, in, w, mask)))
			continue;
		if (!modify_shared(g, in, w, mask))
			return NULL;
	}
	return in + 1;
}

HANDLER(atom_generic)
{
	return modify_warps(g, in, 0, resolve_generic, MEM_GENERIC);
}
