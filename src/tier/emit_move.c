/*
 * Moving what lanes load and store. Values of 16 bytes and more are moved in pieces of 16, so that
 * no thread sees a part of one (src/base/piece.h): lanes side by side by vectors of the host, which
 * do not divide aligned pieces, others lane by lane.
 */
#include "src/tier/emit_access.h"

#define HALF 16u
#define PIECE 16u

struct type {
	char text[24];
};

static struct type vector_of(u32 n, u32 bytes)
{
	struct type t;

	snprintf(t.text, sizeof(t.text), "<%u x i%u>", n, bytes * 8);
	return t;
}

/* ---- vectors ---- */

/* The n elements of a and b, one after the other, that `index` says. */
static u32 arrange(struct emit *e, struct type type, u32 a, u32 b, const u32 *index, u32 n)
{
	u32 r = emit_name(e);

	emit_text(e, "%%v%u = shufflevector %s %%v%u, %s %%v%u, <%u x i32> <", r, type.text, a,
		  type.text, b, n);
	for (u32 i = 0; i < n; i++)
		emit_text(e, "%si32 %u", i ? ", " : "", index[i]);
	emit_text(e, ">\n");
	return r;
}

/* n elements from `first` on, `step` apart, of a and b of `from` elements each. */
static u32 pick(struct emit *e, u32 from, u32 bytes, u32 a, u32 b, u32 first, u32 step, u32 n)
{
	u32 index[WARP_LANES];

	for (u32 i = 0; i < n; i++)
		index[i] = first + i * step;
	return arrange(e, vector_of(from, bytes), a, b, index, n);
}

static u32 join_halves(struct emit *e, u32 bytes, u32 low, u32 high)
{
	return pick(e, HALF, bytes, low, high, 0, 1, WARP_LANES);
}

static u32 cut_half(struct emit *e, u32 bytes, u32 x, u32 half)
{
	return pick(e, WARP_LANES, bytes, x, x, half * HALF, 1, HALF);
}

/* The lower half of one warp, the upper one of another. */
static u32 lower_and_upper(struct emit *e, u32 bytes, u32 low, u32 high)
{
	u32 index[WARP_LANES];

	for (u32 l = 0; l < WARP_LANES; l++)
		index[l] = l < HALF ? l : WARP_LANES + l;
	return arrange(e, vector_of(WARP_LANES, bytes), low, high, index, WARP_LANES);
}

/* Elements of a and b by turns: the lower halves of both, or the upper ones. */
static u32 interleave(struct emit *e, u32 bytes, u32 a, u32 b, bool upper)
{
	u32 index[HALF];

	for (u32 i = 0; i < HALF; i++)
		index[i] = i / 2 + (i & 1 ? HALF : 0) + (upper ? HALF / 2 : 0);
	return arrange(e, vector_of(HALF, bytes), a, b, index, HALF);
}

/* From the order of memory, all parts of a lane together, to a vector for each part. */
static void sort_parts(struct emit *e, u32 *v, u32 n, u32 bytes)
{
	u32 even[PARTS_MOST / 2], odd[PARTS_MOST / 2];

	if (n == 1)
		return;
	for (u32 i = 0; i < n / 2; i++) {
		even[i] = pick(e, HALF, bytes, v[2 * i], v[2 * i + 1], 0, 2, HALF);
		odd[i] = pick(e, HALF, bytes, v[2 * i], v[2 * i + 1], 1, 2, HALF);
	}
	sort_parts(e, even, n / 2, bytes);
	sort_parts(e, odd, n / 2, bytes);
	for (u32 i = 0; i < n / 2; i++) {
		v[2 * i] = even[i];
		v[2 * i + 1] = odd[i];
	}
}

static void mix_parts(struct emit *e, u32 *v, u32 n, u32 bytes)
{
	u32 even[PARTS_MOST / 2], odd[PARTS_MOST / 2];

	if (n == 1)
		return;
	for (u32 i = 0; i < n / 2; i++) {
		even[i] = v[2 * i];
		odd[i] = v[2 * i + 1];
	}
	mix_parts(e, even, n / 2, bytes);
	mix_parts(e, odd, n / 2, bytes);
	for (u32 i = 0; i < n / 2; i++) {
		v[2 * i] = interleave(e, bytes, even[i], odd[i], false);
		v[2 * i + 1] = interleave(e, bytes, even[i], odd[i], true);
	}
}

/* ---- lanes side by side ---- */

/* Lanes that take part: all of a warp, or those of a half. */
static void put_lanes(struct emit *e, u32 n, u32 half)
{
	if (!e->masked) {
		emit_text(e, "<%u x i1> <", n);
		for (u32 l = 0; l < n; l++)
			emit_text(e, "%si1 1", l ? ", " : "");
		emit_text(e, ">");
	} else if (n == HALF) {
		emit_text(e, "<16 x i1> %%p.half.%u", half);
	} else {
		emit_text(e, "<32 x i1> %%v%u", e->mask);
	}
}

/* The suffix of intrinsics on vectors of n elements at a pointer: "v32i32.p0v32i32". */
static void put_suffix(struct emit *e, u32 n, u32 bytes)
{
	emit_text(e, "v%ui%u.p0", n, bytes * 8);
	if (!e->opaque)
		emit_text(e, "v%ui%u", n, bytes * 8);
}

/* Do loads of rows leave out lanes that take no part? */
static bool masks_loads(struct emit *e)
{
	e->spanned |= e->spans;
	return e->masked && !e->spans;
}

/* n elements; only those of lanes that take part where `masked`. */
static u32 load_vector(struct emit *e, u32 host, u32 n, u32 bytes, u32 align, bool masked, u32 half)
{
	struct type type = vector_of(n, bytes);
	u32 p = emit_point(e, host, type.text), r = emit_name(e);

	if (!masked) {
		emit_text(e, "%%v%u = load %s, %s %%v%u, align %u\n", r, type.text,
			  emit_pointer(e, type.text), p, align);
		return r;
	}
	emit_text(e, "%%v%u = call %s @llvm.masked.load.", r, type.text);
	put_suffix(e, n, bytes);
	emit_text(e, "(%s %%v%u, i32 %u, ", emit_pointer(e, type.text), p, align);
	put_lanes(e, n, half);
	emit_text(e, ", %s zeroinitializer)\n", type.text);
	return r;
}

static void store_vector(struct emit *e, u32 host, u32 value, u32 n, u32 bytes, u32 align,
			 bool masked, u32 half)
{
	struct type type = vector_of(n, bytes);
	u32 p = emit_point(e, host, type.text);

	if (!masked) {
		emit_text(e, "store %s %%v%u, %s %%v%u, align %u\n", type.text, value,
			  emit_pointer(e, type.text), p, align);
		return;
	}
	emit_text(e, "call void @llvm.masked.store.");
	put_suffix(e, n, bytes);
	emit_text(e, "(%s %%v%u, %s %%v%u, i32 %u, ", type.text, value, emit_pointer(e, type.text),
		  p, align);
	put_lanes(e, n, half);
	emit_text(e, ")\n");
}

/* Of half a warp, all of whose lanes take part: values of several parts. */
static void take_half(struct emit *e, u32 host, u32 n, u32 bytes, u32 *part)
{
	for (u32 i = 0; i < n; i++)
		part[i] = load_vector(e, emit_offset(e, host, (s64)(i * HALF * bytes)), HALF, bytes,
				      PIECE, false, 0);
	sort_parts(e, part, n, bytes);
}

static void give_half(struct emit *e, u32 host, u32 n, u32 bytes, const u32 *part)
{
	u32 v[PARTS_MOST];

	memcpy(v, part, n * sizeof(*v));
	mix_parts(e, v, n, bytes);
	for (u32 i = 0; i < n; i++)
		store_vector(e, emit_offset(e, host, (s64)(i * HALF * bytes)), v[i], HALF, bytes,
			     PIECE, false, 0);
}

/* ---- lane by lane ---- */

static u32 splat(struct emit *e, u32 bytes, u32 scalar)
{
	struct type type = vector_of(WARP_LANES, bytes);
	u32 one = emit_name(e), all = emit_name(e);

	emit_text(e, "%%v%u = insertelement %s zeroinitializer, i%u %%v%u, i32 0\n", one, type.text,
		  bytes * 8, scalar);
	emit_text(
		e,
		"%%v%u = shufflevector %s %%v%u, %s zeroinitializer, <32 x i32> zeroinitializer\n",
		all, type.text, one, type.text);
	return all;
}

/* Lanes that take no part get the address of the sink. */
static u32 hide_others(struct emit *e, u32 hosts)
{
	u32 sink, r;

	if (!e->masked)
		return hosts;
	sink = emit_name(e);
	emit_text(e, "%%v%u = add i64 %%sink, 0\n", sink);
	sink = splat(e, 8, sink);
	r = emit_name(e);
	emit_text(e,
		  "%%v%u = select <32 x i1> %%v%u, <32 x i64> %%v%u, <32 x i64> "
		  "%%v%u\n",
		  r, e->mask, hosts, sink);
	return r;
}

static u32 lane_pointer(struct emit *e, u32 hosts, u32 lane, u32 offset, const char *type)
{
	u32 a = emit_name(e);

	emit_text(e, "%%v%u = extractelement <32 x i64> %%v%u, i32 %u\n", a, hosts, lane);
	return emit_point(e, offset ? emit_offset(e, a, offset) : a, type);
}

static u32 take_one(struct emit *e, u32 pointer, const char *type, u32 align)
{
	u32 r = emit_name(e);

	emit_text(e, "%%v%u = load %s, %s %%v%u, align %u\n", r, type, emit_pointer(e, type),
		  pointer, align);
	return r;
}

/* Vectors of n double words each, one after the other, become half as many. */
static void join_pairs(struct emit *e, u32 *v, u32 many, u32 n)
{
	for (u32 i = 0; i < many / 2; i++)
		v[i] = pick(e, n, 8, v[2 * i], v[2 * i + 1], 0, 1, 2 * n);
}

/* As many pieces as half a warp's values of two parts have. */
static u32 load_pieces(struct emit *e, u32 hosts, u32 first, u32 parts)
{
	const char *type = "<2 x i64>";
	u32 v[HALF / 2], each = parts / 2;

	for (u32 i = 0; i < ARRAY_LEN(v); i++)
		v[i] = take_one(e, lane_pointer(e, hosts, first + i / each, i % each * PIECE, type),
				type, PIECE);
	join_pairs(e, v, 8, 2);
	join_pairs(e, v, 4, 4);
	join_pairs(e, v, 2, 8);
	return v[0];
}

static void load_lanes(struct emit *e, u32 hosts, struct parts *p)
{
	struct type type = vector_of(WARP_LANES, p->bytes);
	u32 half[2][PARTS_MOST], last = 0;
	char one[8];

	hosts = hide_others(e, hosts);
	for (u32 h = 0; h < 2 && p->n > 1; h++) {
		for (u32 i = 0; i < p->n; i++)
			half[h][i] = load_pieces(e, hosts, h * HALF + i * HALF / p->n, p->n);
		sort_parts(e, half[h], p->n, p->bytes);
	}
	for (u32 i = 0; i < p->n && p->n > 1; i++)
		p->at[i] = join_halves(e, p->bytes, half[0][i], half[1][i]);
	snprintf(one, sizeof(one), "i%u", p->bytes * 8);
	for (u32 l = 0; l < WARP_LANES && p->n == 1; l++) {
		u32 x = take_one(e, lane_pointer(e, hosts, l, 0, one), one, p->bytes),
		    r = emit_name(e);

		emit_text(e, "%%v%u = insertelement %s ", r, type.text);
		if (l)
			emit_text(e, "%%v%u", last);
		else
			emit_text(e, "zeroinitializer");
		emit_text(e, ", %s %%v%u, i32 %u\n", one, x, l);
		last = r;
	}
	if (p->n == 1)
		p->at[0] = last;
}

static void store_pieces(struct emit *e, u32 hosts, u32 first, u32 parts, u32 v)
{
	const char *type = "<2 x i64>", *pointer;
	u32 each = parts / 2;

	for (u32 i = 0; i < HALF / 2; i++) {
		u32 x = pick(e, HALF, 8, v, v, 2 * i, 1, 2),
		    p = lane_pointer(e, hosts, first + i / each, i % each * PIECE, type);

		pointer = emit_pointer(e, type);
		emit_text(e, "store %s %%v%u, %s %%v%u, align %u\n", type, x, pointer, p, PIECE);
	}
}

static void store_lanes(struct emit *e, u32 hosts, const struct parts *p)
{
	struct type type = vector_of(WARP_LANES, p->bytes);
	char one[8];

	hosts = hide_others(e, hosts);
	for (u32 h = 0; h < 2 && p->n > 1; h++) {
		u32 v[PARTS_MOST];

		for (u32 i = 0; i < p->n; i++)
			v[i] = cut_half(e, p->bytes, p->at[i], h);
		mix_parts(e, v, p->n, p->bytes);
		for (u32 i = 0; i < p->n; i++)
			store_pieces(e, hosts, h * HALF + i * HALF / p->n, p->n, v[i]);
	}
	snprintf(one, sizeof(one), "i%u", p->bytes * 8);
	for (u32 l = 0; l < WARP_LANES && p->n == 1; l++) {
		u32 x = emit_name(e), at;

		emit_text(e, "%%v%u = extractelement %s %%v%u, i32 %u\n", x, type.text, p->at[0],
			  l);
		at = lane_pointer(e, hosts, l, 0, one);
		emit_text(e, "store %s %%v%u, %s %%v%u, align %u\n", one, x, emit_pointer(e, one),
			  at, p->bytes);
	}
}

/* Hosts of two halves whose lanes are `width` apart. */
static u32 hosts_of_halves(struct emit *e, const u32 *host, u32 width)
{
	u32 low = splat(e, 8, host[0]), high = splat(e, 8, host[1]),
	    both = lower_and_upper(e, 8, low, high), r = emit_name(e);

	emit_text(e, "%%v%u = add <32 x i64> %%v%u, <", r, both);
	for (u32 l = 0; l < WARP_LANES; l++)
		emit_text(e, "%si64 %u", l ? ", " : "", l % HALF * width);
	emit_text(e, ">\n");
	return r;
}

/* ---- rows ---- */

void emit_halves_load(struct emit *e, const u32 *host, struct parts *p)
{
	u32 half[2][PARTS_MOST];

	if (p->n > 1 && masks_loads(e)) {
		load_lanes(e, hosts_of_halves(e, host, p->n * p->bytes), p);
		return;
	}
	for (u32 h = 0; h < 2; h++)
		if (p->n > 1)
			take_half(e, host[h], p->n, p->bytes, half[h]);
		else
			half[h][0] = load_vector(e, host[h], HALF, p->bytes, p->bytes,
						 masks_loads(e), h);
	for (u32 i = 0; i < p->n; i++)
		p->at[i] = join_halves(e, p->bytes, half[0][i], half[1][i]);
}

void emit_halves_store(struct emit *e, const u32 *host, const struct parts *p)
{
	if (e->masked && p->n > 1) {
		store_lanes(e, hosts_of_halves(e, host, p->n * p->bytes), p);
		return;
	}
	for (u32 h = 0; h < 2; h++) {
		u32 v[PARTS_MOST];

		for (u32 i = 0; i < p->n; i++)
			v[i] = cut_half(e, p->bytes, p->at[i], h);
		if (p->n > 1)
			give_half(e, host[h], p->n, p->bytes, v);
		else
			store_vector(e, host[h], v[0], HALF, p->bytes, p->bytes, e->masked, h);
	}
}

static void halves_of_row(struct emit *e, u32 host, const struct parts *p, u32 *half)
{
	half[0] = host;
	half[1] = emit_offset(e, host, (s64)(HALF * p->n * p->bytes));
}

void emit_row_load(struct emit *e, u32 host, struct parts *p)
{
	u32 half[2];

	if (p->n == 1) {
		p->at[0] = load_vector(e, host, WARP_LANES, p->bytes, p->bytes, masks_loads(e), 0);
		return;
	}
	halves_of_row(e, host, p, half);
	emit_halves_load(e, half, p);
}

void emit_row_store(struct emit *e, u32 host, const struct parts *p)
{
	u32 half[2];

	if (p->n == 1) {
		store_vector(e, host, p->at[0], WARP_LANES, p->bytes, p->bytes, e->masked, 0);
		return;
	}
	halves_of_row(e, host, p, half);
	emit_halves_store(e, half, p);
}

void emit_same_load(struct emit *e, u32 host, struct parts *p)
{
	char one[8];

	if (p->n == 1) {
		snprintf(one, sizeof(one), "i%u", p->bytes * 8);
		p->at[0] = splat(e, p->bytes, take_one(e, emit_point(e, host, one), one, p->bytes));
		return;
	}
	for (u32 i = 0; i < p->n; i += 2) {
		u32 a = emit_offset(e, host, (s64)(i * p->bytes)),
		    x = take_one(e, emit_point(e, a, "<2 x i64>"), "<2 x i64>", PIECE);

		for (u32 k = 0; k < 2; k++) {
			u32 n = emit_name(e);

			emit_text(e, "%%v%u = extractelement <2 x i64> %%v%u, i32 %u\n", n, x, k);
			p->at[i + k] = splat(e, p->bytes, n);
		}
	}
}

void emit_same_halves_load(struct emit *e, const u32 *host, struct parts *p)
{
	struct parts high = *p;

	emit_same_load(e, host[0], p);
	emit_same_load(e, host[1], &high);
	for (u32 i = 0; i < p->n; i++)
		p->at[i] = lower_and_upper(e, p->bytes, p->at[i], high.at[i]);
}

/* ---- anywhere ---- */

/* The host's addresses. */
static u32 hosts_of_place(struct emit *e, const struct place *x, u32 from)
{
	u32 wide = from, start, all, r;

	if (x->scale) {
		u32 scaled = emit_name(e);

		wide = emit_name(e);
		emit_text(e, "%%v%u = %s <32 x i32> %%v%u to <32 x i64>\n", wide,
			  x->sign ? "sext" : "zext", x->vec);
		emit_text(e, "%%v%u = mul <32 x i64> %%v%u, ", scaled, wide);
		emit_constant(e, 'X', x->scale);
		emit_text(e, "\n");
		wide = scaled;
		start = x->base;
	} else {
		start = emit_name(e);
		emit_text(e, "%%v%u = add i64 %%lo.%u, 0\n", start, emit_access_number(e));
	}
	all = splat(e, 8, emit_host(e, start));
	r = emit_name(e);
	emit_text(e, "%%v%u = add <32 x i64> %%v%u, %%v%u\n", r, wide, all);
	return r;
}

static bool gathers(const struct parts *p)
{
	return p->n == 1 && p->bytes >= 4;
}

/* "<32 x i32*>": pointers of the lanes to `bytes`. */
static struct type pointers_to(const struct emit *e, u32 bytes)
{
	struct type t;

	if (e->opaque)
		snprintf(t.text, sizeof(t.text), "<32 x ptr>");
	else
		snprintf(t.text, sizeof(t.text), "<32 x i%u*>", bytes * 8);
	return t;
}

/* Base and indices, as the host's gathers have them, where the scale is one of theirs. */
static u32 lane_pointers(struct emit *e, u32 bytes, const struct place *x, u32 from)
{
	u32 base, many, r, wide, start = x->base, by = x->scale;
	char type[8];

	if (x->scale && x->scale != bytes && x->scale > 8) {
		r = emit_name(e);
		many = hosts_of_place(e, x, from);
		emit_text(e, "%%v%u = inttoptr <32 x i64> %%v%u to %s\n", r, many,
			  pointers_to(e, bytes).text);
		return r;
	}
	wide = from;
	if (x->scale) {
		wide = emit_name(e);
		emit_text(e, "%%v%u = %s <32 x i32> %%v%u to <32 x i64>\n", wide,
			  x->sign ? "sext" : "zext", x->vec);
	} else {
		by = 1;
		start = emit_name(e);
		emit_text(e, "%%v%u = add i64 %%lo.%u, 0\n", start, emit_access_number(e));
	}
	snprintf(type, sizeof(type), "i%u", by * 8);
	base = emit_point(e, emit_host(e, start), type);
	many = emit_name(e);
	emit_text(e, "%%v%u = getelementptr %s, %s %%v%u, <32 x i64> %%v%u\n", many, type,
		  emit_pointer(e, type), base, wide);
	if (e->opaque || by == bytes)
		return many;
	r = emit_name(e);
	emit_text(e, "%%v%u = bitcast %s %%v%u to %s\n", r, pointers_to(e, by).text, many,
		  pointers_to(e, bytes).text);
	return r;
}

static void put_gather_suffix(struct emit *e, u32 bytes)
{
	emit_text(e, "v32i%u.v32p0", bytes * 8);
	if (!e->opaque)
		emit_text(e, "i%u", bytes * 8);
}

void emit_apart_load(struct emit *e, const struct place *x, u32 from, struct parts *p)
{
	struct type type = vector_of(WARP_LANES, p->bytes);
	u32 pointers;

	if (!gathers(p)) {
		load_lanes(e, hosts_of_place(e, x, from), p);
		return;
	}
	pointers = lane_pointers(e, p->bytes, x, from);
	p->at[0] = emit_name(e);
	emit_text(e, "%%v%u = call %s @llvm.masked.gather.", p->at[0], type.text);
	put_gather_suffix(e, p->bytes);
	emit_text(e, "(%s %%v%u, i32 %u, ", pointers_to(e, p->bytes).text, pointers, p->bytes);
	put_lanes(e, WARP_LANES, 0);
	emit_text(e, ", %s zeroinitializer)\n", type.text);
}

void emit_apart_store(struct emit *e, const struct place *x, u32 from, const struct parts *p)
{
	struct type type = vector_of(WARP_LANES, p->bytes);
	u32 pointers;

	if (!gathers(p)) {
		store_lanes(e, hosts_of_place(e, x, from), p);
		return;
	}
	pointers = lane_pointers(e, p->bytes, x, from);
	emit_text(e, "call void @llvm.masked.scatter.");
	put_gather_suffix(e, p->bytes);
	emit_text(e, "(%s %%v%u, %s %%v%u, i32 %u, ", type.text, p->at[0],
		  pointers_to(e, p->bytes).text, pointers, p->bytes);
	put_lanes(e, WARP_LANES, 0);
	emit_text(e, ")\n");
}
