/*
 * Loads and stores. What memory they may touch is what the allocation cache of the micro-op holds:
 * anything else, the interpreter sees to.
 */
#include "src/tier/emit_access.h"

/* Indices lead to aligned values only if they are counted in those. */
static bool is_even(const struct uop *in)
{
	u32 scale = in->index.scale;

	return scale && !(scale & (scale - 1)) && scale >= emit_width(in);
}

bool emit_access_knows(const struct program *p, const struct uop *in)
{
	switch (in->inner) {
	case OP_load_global:
	case OP_store_global:
		return in->a != NO_ROW && in->flags & UOPF_WIDE && emit_data_fits(p, in);
	case OP_load_indexed:
	case OP_store_indexed:
		return is_even(in) && emit_data_fits(p, in);
	case OP_load_affine:
	case OP_store_affine:
		return in->index.step != 0 && emit_data_fits(p, in);
	case OP_store_shared:
		return in->a != NO_ROW && emit_data_fits(p, in);
	case OP_load_shared:
	case OP_load_wide:
	case OP_store_wide:
		return emit_data_fits(p, in);
	default:
		return false;
	}
}

struct tier_access *emit_access_here(struct emit *e)
{
	for (u32 i = 0; i < e->run->accesses; i++)
		if (e->run->access[i].at == e->at)
			return &e->run->access[i];
	e->failed = true;
	return &e->run->access[0];
}

u32 emit_access_number(struct emit *e)
{
	return (u32)(emit_access_here(e) - e->run->access);
}

static void settle_store(struct emit *e)
{
	emit_rows(e);
	emit_flush(e);
}

/* Lanes, or halves, that are checked at once. */
static u32 bytes_at_once(const struct place *x, u32 width)
{
	return x->how == HOW_ROW                 ? width * WARP_LANES
	       : x->how == HOW_HALVES && x->rows ? width * WARP_LANES / 2
						 : width;
}

static u32 bytes_of_lanes(const struct parts *p)
{
	return p->n * p->bytes * WARP_LANES;
}

static void load_side_by_side(struct emit *e, u32 host, struct parts *p)
{
	emit_hint(e, host, bytes_of_lanes(p));
	emit_row_load(e, host, p);
}

static void store_side_by_side(struct emit *e, u32 host, const struct parts *p)
{
	emit_hint(e, host, bytes_of_lanes(p));
	emit_row_store(e, host, p);
}

static void hint_halves(struct emit *e, const u32 *host, const struct parts *p)
{
	for (u32 i = 0; i < 2; i++)
		emit_hint(e, host[i], bytes_of_lanes(p) / 2);
}

static void load_both(struct emit *e, const struct place *x, struct parts *p)
{
	u32 host[2] = {emit_host(e, x->first), emit_host(e, x->high)};

	if (x->rows)
		hint_halves(e, host, p);
	(x->rows ? emit_halves_load : emit_same_halves_load)(e, host, p);
}

static void store_both(struct emit *e, const struct place *x, const struct parts *p)
{
	u32 host[2] = {emit_host(e, x->first), emit_host(e, x->high)};

	hint_halves(e, host, p);
	emit_halves_store(e, host, p);
}

static void load_at(struct emit *e, const struct uop *in)
{
	struct place x = emit_place(e, in);
	struct parts p = emit_parts_shape(in);
	u32 width = emit_width(in), from;

	emit_window_open(e, bytes_at_once(&x, width));
	from = emit_place_require(e, &x, width);
	emit_flush(e);
	if (x.how == HOW_ROW)
		load_side_by_side(e, emit_host(e, x.first), &p);
	else if (x.how == HOW_SAME)
		emit_same_load(e, emit_host(e, x.first), &p);
	else if (x.how == HOW_HALVES)
		load_both(e, &x, &p);
	else
		emit_apart_load(e, &x, from, &p);
	emit_parts_split(e, in, &p);
}

static void store_at(struct emit *e, const struct uop *in)
{
	struct parts p = emit_parts_join(e, in);
	struct place x = emit_place(e, in);
	u32 width = emit_width(in), from;

	emit_window_open(e, bytes_at_once(&x, width));
	from = emit_place_require(e, &x, width);
	settle_store(e);
	if (x.how == HOW_ROW)
		store_side_by_side(e, emit_host(e, x.first), &p);
	else if (x.how == HOW_HALVES)
		store_both(e, &x, &p);
	else
		emit_apart_store(e, &x, from, &p);
}

/* ---- affine: halves of warps, each a row ---- */

/* Address of the first lane of a half, from the launch's knowledge of the row. */
static u32 address_of_half(struct emit *e, const struct uop *in, u32 half)
{
	bool wide = emit_access_here(e)->wide;
	u32 n = emit_access_number(e), a = emit_name(e), p, part = emit_name(e),
	    beyond = emit_name(e), r, bytes = emit_name(e);

	emit_text(e, "%%v%u = add i64 %%%s.%c, %u\n", a, e->masked ? "p" : "f", wide ? 'X' : 'W',
		  in->a + half * 16 * (wide ? 8 : 4));
	p = emit_point(e, a, wide ? "i64" : "i32");
	emit_text(e, "%%v%u = load %s, %s %%v%u, align 64\n", part, wide ? "i64" : "i32",
		  emit_pointer(e, wide ? "i64" : "i32"), p);
	if (wide) {
		emit_text(e, "%%v%u = sub i64 %%v%u, %%low.%u\n", beyond, part, n);
		bytes = beyond;
	} else {
		u32 far = emit_name(e);

		emit_text(e, "%%v%u = sub i32 %%v%u, %%low32.%u\n", beyond, part, n);
		emit_text(e, "%%v%u = zext i32 %%v%u to i64\n", far, beyond);
		emit_text(e, "%%v%u = mul i64 %%v%u, %u\n", bytes, far, in->index.scale);
	}
	r = emit_name(e);
	emit_text(e, "%%v%u = add i64 %%v%u, %%base.%u\n", r, bytes, n);
	return r;
}

static void open_reach(struct emit *e)
{
	u32 n = emit_access_number(e);
	const char *pointer = emit_pointer(e, "i64");

	emit_window_open(e, 1);
	if (e->masked || e->study)
		return;
	text_printf(&e->head,
		    "%%base.%u.a = add i64 %%reach, %u\n"
		    "%%base.%u.p = inttoptr i64 %%base.%u.a to %s\n"
		    "%%base.%u = load i64, %s %%base.%u.p\n"
		    "%%low.%u.a = add i64 %%reach, %u\n"
		    "%%low.%u.p = inttoptr i64 %%low.%u.a to %s\n"
		    "%%low.%u = load i64, %s %%low.%u.p\n"
		    "%%low32.%u = trunc i64 %%low.%u to i32\n",
		    n, n * 16, n, n, pointer, n, pointer, n, n, n * 16 + 8, n, n, pointer, n,
		    pointer, n, n, n);
}

/* Nothing is asked of a half of which no lane takes part. */
static void require_half(struct emit *e, u32 address, u32 half, u32 width)
{
	u32 skip = emit_name(e), at = emit_name(e), bytes = emit_name(e), before = e->ok_early, is,
	    good = emit_name(e);

	e->ok_early = 0;
	emit_text(e, "%%v%u = mul i64 %%p.low.%u, %u\n", skip, half, width);
	emit_text(e, "%%v%u = add i64 %%v%u, %%v%u\n", at, address, skip);
	emit_text(e, "%%v%u = mul i64 %%p.reach.%u, %u\n", bytes, half, width);
	emit_inside_require(e, at, bytes, width);
	is = e->ok_early;
	e->ok_early = before;
	emit_text(e, "%%v%u = or i1 %%p.none.%u, %%v%u\n", good, half, is);
	emit_require(e, good);
}

/* The host's addresses of both halves, which may be touched. */
static void reach_halves(struct emit *e, const struct uop *in, u32 *host)
{
	struct text *out = emit_of_line(e, false);

	open_reach(e);
	for (u32 i = 0; i < 2; i++) {
		u32 at = address_of_half(e, in, i);

		if (e->masked && !e->spans)
			require_half(e, at, i, emit_width(in));
		host[i] = emit_host(e, at);
	}
	emit_return(e, out);
}

static void emit_affine(struct emit *e, const struct uop *in)
{
	struct parts p = emit_parts_shape(in);
	u32 host[2];

	if (uop_kind(in->inner) == UOP_LOAD) {
		reach_halves(e, in, host);
		emit_flush(e);
		hint_halves(e, host, &p);
		emit_halves_load(e, host, &p);
		emit_parts_split(e, in, &p);
		return;
	}
	p = emit_parts_join(e, in);
	reach_halves(e, in, host);
	settle_store(e);
	hint_halves(e, host, &p);
	emit_halves_store(e, host, &p);
}

void emit_access(struct emit *e, const struct uop *in)
{
	if (emit_access_here(e)->affine)
		emit_affine(e, in);
	else if (uop_kind(in->inner) == UOP_LOAD)
		load_at(e, in);
	else
		store_at(e, in);
}
