/*
 * Accesses: memory, and the way from it to registers and back.
 */
#include "src/check/init/init_int.h"
#include "src/exec/lane_access.h"
#include "src/exec/turn.h"
#include "src/uop/atom.h"
#include "src/uop/texture.h"

#include <stdlib.h>

/* ---- where accesses go ---- */

struct visit {
	struct init_check *check;
	struct init_cta *c;
	struct init_launch *launch;
	const struct exec_access *a;
	struct taint *t; /* of the gang */
	u32 first_lane;  /* of the warp, in the gang */
	/* of a lane: the memory, and where in it; NULL: all counts as written */
	struct written *written;
	struct init_range *range;
	u64 at;
};

static struct written *local_of(struct init_cta *c, u32 warp)
{
	struct init_local *x = &c->local[warp];

	if (!x->written.bits)
		written_init(&x->written, (u64)c->cta->env->local_bytes * WARP_LANES);
	x->used = true;
	return &x->written;
}

static bool find_shared(struct visit *v, u64 address)
{
	const struct cta *own = v->a->cta, *to;
	struct init_cta *owner = v->c;

	to = shared_owner((struct cta *)(uintptr_t)own, address >> MEM_SHARED_RANK_SHIFT);
	if (to != own)
		owner = to ? init_cta_at(v->launch, to->number) : NULL;
	v->written = owner ? &owner->shared : NULL;
	v->at = address & MEM_SHARED_OFFSET;
	return owner != NULL;
}

/* The memory of a lane's access; false: it counts as written. */
static bool find_init_place(struct visit *v, u32 lane)
{
	u64 address = v->a->address[lane];
	u32 local_bytes = v->a->cta->env->local_bytes;

	v->range = NULL;
	switch ((enum mem_space)v->a->space) {
	case MEM_SHARED:
		return find_shared(v, address);
	case MEM_LOCAL:
		if (address + v->a->bytes > local_bytes)
			return false;
		v->written = local_of(v->c, v->a->warp);
		v->at = (u64)lane * local_bytes + address;
		return true;
	case MEM_GLOBAL:
		v->range = init_memory_at(v->check->memory, address);
		v->written = v->range ? &v->range->written : NULL;
		v->at = v->range ? address - v->range->base : 0;
		return v->range != NULL;
	default:
		return false;
	}
}

static u32 missing_at(struct visit *v, u64 offset, u32 bytes)
{
	if (v->range)
		return init_memory_missing(v->range, v->range->base + v->at + offset, bytes);
	return written_missing(v->written, v->at + offset, bytes);
}

/* The stretch that the lanes touch, if it is short and in one range. */
static bool find_init_span(struct visit *v, u64 *at, u64 *bytes)
{
	u64 lo = UINT64_MAX, hi = 0;

	if (v->a->space != MEM_GLOBAL && v->a->space != MEM_SHARED)
		return false;
	for (u32 m = v->a->mask; m; m &= m - 1) {
		u64 x = v->a->address[__builtin_ctz(m)];

		lo = x < lo ? x : lo;
		hi = x > hi ? x : hi;
	}
	*bytes = hi - lo + v->a->bytes;
	if (*bytes > INIT_SPAN_MOST || (v->a->space == MEM_SHARED && hi > MEM_SHARED_OFFSET) ||
	    !find_init_place(v, (u32)__builtin_ctz(v->a->mask)))
		return false;
	if (v->range) {
		*at = lo - v->range->base;
		return lo >= v->range->base && *at + *bytes <= v->range->written.bytes;
	}
	*at = lo;
	return true;
}

/* Most blocks write all of their shared memory first: then there is nothing to look up. */
static bool is_shared_written(const struct visit *v)
{
	return v->a->space == MEM_SHARED && !v->c->shared.missing && !v->a->cta->cluster;
}

/* Has all that the lanes touch been written? */
static bool is_span_written(struct visit *v)
{
	u64 at, bytes;

	return is_shared_written(v) ||
	       (find_init_span(v, &at, &bytes) && written_all(v->written, at, bytes));
}

/* ---- loads ---- */

static u64 origin_in_memory(const struct visit *v, struct taint_value x)
{
	return (u64)v->launch->serial << 33 | (u64)(x.mask & TAINT_COMPUTED ? 1 : 0) << 32 |
	       x.origin;
}

/*
 * Compilers copy structures by bytes, or by eight bytes, whatever their members are: then what
 * lies around tells padding and members that are not set from an array that was never written.
 */
static bool is_block_written(struct visit *v)
{
	const struct ir_func *f = v->a->cta->env->program->funcs[v->a->in->func].func;
	const struct isa_form *form = f->insns.at[v->a->in->ir].form;
	u64 block = v->a->bytes < 4 ? 4 : v->a->bytes == 8 ? 16 : 0, at;

	if (!block || (form && isa_form_has(form, T_f64)))
		return false;
	/* Ranges begin at multiples of it; what lies behind the end counts as not written. */
	at = v->at & ~(block - 1);
	return written_missing(v->written, at, (u32)block) !=
	       (u32)((u64)(1u << min_u64(block, v->written->bytes - at)) - 1);
}

static bool is_whole_read(struct visit *v)
{
	if (is_block_written(v))
		return false;
	for (u64 i = 0; i < v->a->bytes; i += 16) {
		u32 n = (u32)min_u64(16, v->a->bytes - i);

		if (missing_at(v, i, n) != (1u << n) - 1)
			return false;
	}
	return true;
}

/* The value of bytes that are missing, the first of which is at this offset of the access. */
static struct taint_value value_read(struct visit *v, u64 offset, u32 missing, u32 size)
{
	u64 from = written_origin(v->written, v->at + offset + (u32)__builtin_ctz(missing));
	struct taint_value x = {.mask = missing};
	struct init_read r = {.pc = v->a->pc, .space = v->a->space, .size = (u8)size};

	if (from >> 33 == v->launch->serial) {
		x.origin = (u32)from;
		x.mask |= from >> 32 & 1 ? TAINT_COMPUTED : 0;
		return x;
	}
	r.address = v->at + offset;
	if (v->range)
		r.address += v->range->base;
	else if (v->a->space == MEM_LOCAL)
		r.address %= v->a->cta->env->local_bytes;
	r.whole = is_whole_read(v);
	x.origin = init_read_new(v->launch, &r);
	return x;
}

static u32 value_row(const struct visit *v, u32 row, u32 element)
{
	return v->a->count > 1 ? v->a->cta->env->program->ext[v->a->in->ext + element] : row;
}

/* Narrow loads fill the register: with zeros, or with copies of the sign. */
static u32 extended_mask(const struct visit *v, u32 row, u32 missing, u32 size)
{
	u32 whole = taint_class(v->t, row) == ROW_X ? 0xff : 0xf;

	if (v->a->in->flags & UOPF_SIGN && missing >> (size - 1) & 1)
		missing |= whole & ~((1u << size) - 1);
	return missing & whole;
}

static void load_lane(struct visit *v, u32 lane)
{
	u32 size = v->a->size;

	for (u32 e = 0; e < v->a->count; e++) {
		u32 row = value_row(v, v->a->in->d, e);
		u32 missing = missing_at(v, (u64)e * size, size);
		struct taint_value x;

		if (!missing || row == NO_ROW)
			continue;
		x = value_read(v, (u64)e * size, missing, size);
		x.mask = (x.mask & TAINT_COMPUTED) | extended_mask(v, row, missing, size);
		taint_put(v->t, row, v->first_lane + lane, x);
	}
}

static void each_lane(struct visit *v, void (*visit)(struct visit *v, u32 lane))
{
	for (u32 m = v->a->mask; m; m &= m - 1)
		if (find_init_place(v, (u32)__builtin_ctz(m)))
			visit(v, (u32)__builtin_ctz(m));
}

/* Values that are passed to the device runtime: padding among them is not used. */
static void pass_lane(struct visit *v, u32 lane)
{
	struct init_where at = {v->a->cta, v->a->pc, v->a->warp * WARP_LANES + lane};

	for (u64 i = 0; i < v->a->bytes; i++) {
		u64 from;

		if (!missing_at(v, i, 1))
			continue;
		from = written_origin(v->written, v->at + i);
		if (from >> 33 != v->launch->serial)
			continue;
		init_use(v->launch, (u32)from, INIT_CALL, &at);
		written_set(v->written, v->at + i, 1);
	}
}

/*
 * A texel of a fetch. Channels that are not there count as read, all of them where the format has
 * no channels of its own. What is fetched by number is only moved; else it may be blended.
 */
static void fetch_lane(struct visit *v, u32 lane)
{
	const struct uop *in = v->a->in;
	const u32 *rows = v->a->cta->env->program->ext + in->ext;
	u32 computed = in->texture.how & TEX_INTEGER ? 0 : TAINT_COMPUTED, size = v->a->size;
	bool packed = in->texture.how & TEX_PACK || in->texture.how & TEX_GATHER;

	for (u32 i = 0; i < 4; i++) {
		u32 channel = v->a->count == 1 || packed ? 0 : i;
		u32 n = packed ? (u32)v->a->bytes : size, missing;
		struct taint_value x;

		if (rows[TEX_ROW_VALUE + i] == NO_ROW || channel >= v->a->count)
			continue;
		missing = missing_at(v, (u64)channel * size, n);
		if (!missing)
			continue;
		x = value_read(v, (u64)channel * size, missing, size);
		x.mask = (x.mask & TAINT_COMPUTED) | computed | 0xf;
		taint_put(v->t, rows[TEX_ROW_VALUE + i], v->first_lane + lane, x);
	}
}

/* suld */
static void surface_lane(struct visit *v, u32 lane)
{
	const struct uop *in = v->a->in;
	const u32 *rows = v->a->cta->env->program->ext + in->ext;
	u32 size = in->mem.size;

	for (u32 i = 0; i < in->mem.count; i++) {
		u32 row = rows[TEX_ROW_VALUE + i], missing = missing_at(v, (u64)i * size, size);
		struct taint_value x;

		if (!missing || row == NO_ROW)
			continue;
		x = value_read(v, (u64)i * size, missing, size);
		taint_put(v->t, row, v->first_lane + lane, x);
	}
}

static void visit_load(struct visit *v)
{
	enum uop_kind kind = uop_kind(v->a->in->inner);
	bool fetches = v->a->in->inner == OP_tex, surface = v->a->in->inner == OP_suld;

	if ((fetches || surface) && !is_span_written(v))
		each_lane(v, fetches ? fetch_lane : surface_lane);
	else if (kind == UOP_LOAD && v->a->size <= 8 && !is_span_written(v))
		each_lane(v, load_lane);
	else if (kind == UOP_CALL)
		each_lane(v, pass_lane);
}

/* ---- stores ---- */

static void set_lane(struct visit *v, u32 lane)
{
	(void)lane;
	written_set(v->written, v->at, v->a->bytes);
}

static bool stores_defined(const struct visit *v)
{
	const struct uop *in = v->a->in;

	if (uop_kind(in->inner) != UOP_STORE)
		return true;
	for (u32 e = 0; e < v->a->count; e++) {
		u32 row = value_row(v, in->b, e);

		if (row != NO_ROW && taint_state(v->t, row))
			return false;
	}
	return true;
}

/*
 * Is it an error to store this in global memory? Not what is defined in part, or a part of what was
 * read or never set: that is how structures with padding are copied.
 */
static bool is_use(const struct visit *v, struct taint_value x)
{
	u32 whole = v->a->size >= 8 ? 0xff : (1u << v->a->size) - 1;

	if (v->a->space != MEM_GLOBAL)
		return false;
	if (x.mask & TAINT_COMPUTED)
		return true;
	if ((x.mask & whole) != whole)
		return false;
	return x.origin == TAINT_NEVER ? v->a->count == 1 : v->launch->reads.at[x.origin - 1].whole;
}

/* An element that is stored at a place in memory. */
static void keep_value(struct visit *v, u32 lane, u64 at, struct taint_value x)
{
	u32 size = v->a->size;
	struct init_where where = {v->a->cta, v->a->pc, v->a->warp * WARP_LANES + lane};

	written_set(v->written, at, size);
	if (!(x.mask & TAINT_BYTES))
		return;
	if (is_use(v, x)) {
		init_use(v->launch, x.origin, INIT_STORE, &where);
		return;
	}
	for (u32 m = x.mask & ((1u << size) - 1); m; m &= m - 1)
		written_taint(v->written, at + (u32)__builtin_ctz(m), 1, origin_in_memory(v, x));
}

static void visit_element(struct visit *v, u32 lane, u32 element)
{
	u32 row = value_row(v, v->a->in->b, element);
	struct taint_value x = {0};

	if (row != NO_ROW)
		x = taint_get(v->t, row, v->first_lane + lane);
	keep_value(v, lane, v->at + (u64)element * v->a->size, x);
}

static void store_lane(struct visit *v, u32 lane)
{
	for (u32 e = 0; e < v->a->count; e++)
		visit_element(v, lane, e);
}

/* Does each lane write right behind the one before it? */
static bool is_side_by_side(const struct exec_access *a)
{
	u64 next = a->address[__builtin_ctz(a->mask)];

	for (u32 m = a->mask; m; m &= m - 1) {
		if (a->address[__builtin_ctz(m)] != next)
			return false;
		next += a->bytes;
	}
	return true;
}

static void visit_store(struct visit *v)
{
	struct written none;
	u64 at, bytes;

	if (!stores_defined(v)) {
		/* Memory that is not followed keeps nothing, but what is stored there is used. */
		for (u32 m = v->a->mask; m; m &= m - 1) {
			none = (struct written){0};
			if (!find_init_place(v, (u32)__builtin_ctz(m)))
				v->written = &none;
			store_lane(v, (u32)__builtin_ctz(m));
		}
		return;
	}
	if (is_shared_written(v))
		return;
	if (find_init_span(v, &at, &bytes)) {
		if (written_all(v->written, at, bytes))
			return;
		if (is_side_by_side(v->a)) {
			written_set(v->written, at, bytes);
			return;
		}
	}
	each_lane(v, set_lane);
}

/* ---- atomics ---- */

static void atomic_lane(struct visit *v, u32 lane)
{
	const struct uop *in = v->a->in;
	u32 size = (u32)min_u64(v->a->bytes, 16), missing = missing_at(v, 0, size);
	struct init_where at = {v->a->cta, v->a->pc, v->a->warp * WARP_LANES + lane};
	struct taint_value x;

	written_set(v->written, v->at, v->a->bytes);
	if (!missing || uop_kind(in->inner) != UOP_ATOMIC)
		return;
	written_clear(v->written, v->at, size);
	x = value_read(v, 0, missing, v->a->size);
	written_set(v->written, v->at, v->a->bytes);
	if (in->atomic.action != ATOM_EXCH)
		init_use(v->launch, x.origin, INIT_ATOMIC, &at);
	else if (in->d != NO_ROW && v->a->count == 1 && v->a->size <= 8)
		taint_put(v->t, in->d, v->first_lane + lane, x);
}

/* ---- copies and fragments ---- */

static void on_copy_read(struct visit *v)
{
	struct init_cta *c = v->c;
	bool narrow = v->a->in->inner == OP_cp_async && v->a->in->c != NO_ROW;

	c->copy_pc = narrow ? NO_PC : v->a->pc;
	c->copy_warp = v->a->warp;
	c->copy_mask = v->a->mask;
	c->copy_bytes = v->a->bytes;
	c->copy_space = v->a->space;
	memcpy(c->copy_from, v->a->address, sizeof(c->copy_from));
}

/* What comes from shared memory, where the lane's bytes are now marked as written. */
static void copy_shared_lane(struct visit *v, u32 lane)
{
	struct exec_access read = *v->a;
	struct visit from = *v;

	read.space = MEM_SHARED;
	read.address = v->c->copy_from;
	from.a = &read;
	if (!find_init_place(&from, lane))
		return;
	for (u64 i = 0; i < read.bytes; i += 8) {
		u32 missing = missing_at(&from, i, (u32)min_u64(8, read.bytes - i));

		for (; missing; missing &= missing - 1)
			written_clear(v->written, v->at + i + (u32)__builtin_ctz(missing), 1);
	}
}

/* Bytes of a copy take along what they are. */
static void copy_lane(struct visit *v, u32 lane)
{
	struct init_cta *c = v->c;
	struct init_range *from = NULL;
	u64 missing, address = c->copy_from[lane];
	bool follows =
		c->copy_pc == v->a->pc && c->copy_bytes == v->a->bytes && c->copy_mask >> lane & 1;

	if (follows && c->copy_space == MEM_GLOBAL)
		from = init_memory_at(v->check->memory, address);
	written_set(v->written, v->at, v->a->bytes);
	if (follows && c->copy_space == MEM_SHARED)
		copy_shared_lane(v, lane);
	for (u64 i = 0; from && i < v->a->bytes; i += 8) {
		u32 n = (u32)min_u64(8, v->a->bytes - i);
		struct init_read r = {v->a->pc, MEM_GLOBAL, (u8)n, true, address + i};
		struct taint_value x = {0};

		missing = init_memory_missing(from, address + i, n);
		if (!missing)
			continue;
		x.origin = init_read_new(v->launch, &r);
		for (u32 m = (u32)missing; m; m &= m - 1)
			written_taint(v->written, v->at + i + (u32)__builtin_ctz(m), 1,
				      origin_in_memory(v, x));
	}
}

/* ldmatrix: lane 8 m + r names row r of matrix m, whose bytes go to four lanes. */
static void on_matrix(struct visit *v)
{
	const struct uop *in = v->a->in;
	const u32 *rows = v->a->cta->env->program->ext + in->ext;
	bool across = in->inner == OP_matrix_load_transposed;

	if (is_span_written(v) || (in->inner != OP_matrix_load && !across))
		return;
	for (u32 m = v->a->mask; m; m &= m - 1) {
		u32 lane = (u32)__builtin_ctz(m), r = lane % 8, row = rows[lane / 8], missing;
		struct taint_value x;

		if (!find_init_place(v, lane) || row == NO_ROW)
			continue;
		missing = missing_at(v, 0, 16);
		if (!missing)
			continue;
		x = value_read(v, 0, missing, 16);
		for (u32 k = 0; k < 8; k++) {
			u32 to = v->first_lane + (across ? 4 * k + r / 2 : 4 * r + k / 2);
			u32 half = across ? r % 2 : k % 2;
			struct taint_value y = taint_get(v->t, row, to);

			y.mask |= (missing >> 2 * k & 3) << 2 * half;
			y.origin = x.origin;
			taint_put(v->t, row, to, y);
		}
	}
}

/* ---- fragments of wmma ---- */

/* Pieces come in the order of the registers, and of their bytes. */
struct fragment_piece {
	u32 row, byte;
};

static struct fragment_piece next_piece(struct init_cta *c, const struct exec_access *a)
{
	const struct uop *in = a->in;
	u32 width = in->flags & UOPF_WIDE_DATA ? 8 : 4, at;

	if (c->fragment_pc != a->pc || c->fragment_warp != a->warp ||
	    c->fragment_at >= in->mem.count * width)
		c->fragment_at = 0;
	c->fragment_pc = a->pc;
	c->fragment_warp = a->warp;
	at = c->fragment_at;
	c->fragment_at += (u32)a->bytes;
	return (struct fragment_piece){a->cta->env->program->ext[in->ext + at / width], at % width};
}

static u32 piece_mask(const struct visit *v)
{
	return (1u << min_u64(v->a->bytes, 8)) - 1;
}

static void load_piece(struct visit *v, const struct fragment_piece *p)
{
	for (u32 m = v->a->mask; m && p->row != NO_ROW; m &= m - 1) {
		u32 lane = (u32)__builtin_ctz(m), missing;
		struct taint_value x, y;

		if (!find_init_place(v, lane))
			continue;
		missing = missing_at(v, 0, (u32)min_u64(v->a->bytes, 8));
		if (!missing)
			continue;
		x = value_read(v, 0, missing, (u32)min_u64(v->a->bytes, 16));
		y = taint_get(v->t, p->row, v->first_lane + lane);
		x.mask = (x.mask & TAINT_COMPUTED) | y.mask | missing << p->byte;
		taint_put(v->t, p->row, v->first_lane + lane, x);
	}
}

static void store_piece(const struct visit *of, const struct fragment_piece *p)
{
	struct exec_access whole = *of->a;
	struct visit copy = *of, *v = &copy;

	whole.size = (u8)min_u64(of->a->bytes, 8);
	v->a = &whole;
	for (u32 m = whole.mask; m; m &= m - 1) {
		u32 lane = (u32)__builtin_ctz(m);
		struct written none = {0};
		struct taint_value x = taint_get(v->t, p->row, v->first_lane + lane);

		if (!find_init_place(v, lane))
			v->written = &none;
		x.mask = (x.mask & TAINT_COMPUTED) |
			 ((x.mask & TAINT_BYTES) >> p->byte & piece_mask(v));
		keep_value(v, lane, v->at, x);
	}
}

static void on_fragment(struct visit *v, const struct fragment_piece *p)
{
	if (v->a->kind == ACCESS_LOAD || v->a->kind == ACCESS_MATRIX_LOAD) {
		if (!is_span_written(v))
			load_piece(v, p);
	} else if (p->row != NO_ROW && taint_state(v->t, p->row)) {
		store_piece(v, p);
	} else {
		visit_store(v);
	}
}

/* ---- the observer ---- */

static bool is_in_fragment(const struct uop *in)
{
	return in->inner == OP_wmma_load || in->inner == OP_wmma_store;
}

static void visit_access(struct visit *v)
{
	if (is_in_fragment(v->a->in)) {
		struct fragment_piece p = next_piece(v->c, v->a);

		on_fragment(v, &p);
		return;
	}
	switch ((enum exec_access_kind)v->a->kind) {
	case ACCESS_LOAD:
		visit_load(v);
		break;
	case ACCESS_STORE:
		visit_store(v);
		break;
	case ACCESS_ATOM:
	case ACCESS_RED:
		if (!is_span_written(v))
			each_lane(v, atomic_lane);
		break;
	case ACCESS_COPY_READ:
		on_copy_read(v);
		break;
	case ACCESS_COPY_WRITE:
		each_lane(v, copy_lane);
		/* Of a tensor, pieces outside of it are written, and not read. */
		if (v->a->in->inner == OP_tensor)
			v->c->copy_pc = NO_PC;
		break;
	case ACCESS_MATRIX_LOAD:
		on_matrix(v);
		break;
	case ACCESS_MATRIX_STORE:
		each_lane(v, set_lane);
		break;
	case ACCESS_COPY_DONE: /* what it has written counts as written already */
		break;
	}
}

void init_observe_access(void *user, const struct exec_access *a)
{
	struct init_check *check = user;
	struct visit v = {.check = check, .a = a};
	const struct gang *g;
	bool is_shared;

	if (a->space == MEM_PARAM || a->space == MEM_CONST)
		return;
	v.c = init_cta_of(check, a->cta);
	if (!v.c || (a->kind == ACCESS_LOAD && is_shared_written(&v)))
		return;
	v.launch = v.c->launch;
	g = exec_gang_of(a->cta, a->warp);
	v.t = &v.c->gangs[g - a->cta->gang];
	v.first_lane = (a->warp - g->first_warp) * WARP_LANES;
	/* Other memory belongs to the CTA, and copies into it are from global memory. */
	is_shared = a->space == MEM_GLOBAL || a->kind == ACCESS_COPY_WRITE;
	if (is_shared)
		pthread_mutex_lock(&check->memory->lock);
	visit_access(&v);
	if (v.t->dirty)
		exec_gang_of(a->cta, a->warp)->quiet = false;
	if (is_shared)
		pthread_mutex_unlock(&check->memory->lock);
	if (PL_UNLIKELY(v.launch->announced != v.launch->reports.len))
		init_announce(v.launch, check->mem, check->found);
}
