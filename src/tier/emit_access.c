/*
 * Loads and stores. What memory they may touch is what the allocation cache of the micro-op holds:
 * anything else, the interpreter sees to.
 */
#include "src/tier/emit.h"

/* How the lanes' addresses lie. */
enum how { HOW_ROW, HOW_SAME, HOW_APART };

struct place {
	enum how how;
	u32 first; /* ROW, SAME: lane 0's address */
	/* APART: an index for each lane, and the address it counts from; or addresses alone */
	u32 vec, base;
	u32 scale; /* of indices; 0: vec has addresses */
	bool sign; /* of indices */
	s64 offset;
};

static char class_of_data(const struct uop *in)
{
	return in->mem.size == 4 ? 'W' : 'X';
}

static u32 data_row(const struct uop *in)
{
	return uop_kind(in->inner) == UOP_STORE ? in->b : in->d;
}

bool emit_access_knows(const struct uop *in)
{
	bool wide_data = in->flags & UOPF_WIDE_DATA;

	if (in->mem.count != 1 || data_row(in) == NO_ROW ||
	    !((in->mem.size == 4 && !wide_data) || (in->mem.size == 8 && wide_data)))
		return false;
	switch (in->inner) {
	case OP_load_global:
	case OP_store_global:
		return in->a != NO_ROW && in->flags & UOPF_WIDE;
	case OP_load_indexed:
	case OP_store_indexed:
		return in->index.scale && !(in->index.scale & (in->index.scale - 1)) &&
		       in->index.scale >= in->mem.size;
	case OP_load_affine:
	case OP_store_affine:
		return in->index.step != 0;
	case OP_load_wide:
	case OP_store_wide:
		return true;
	default:
		return false;
	}
}

static struct tier_access *access_here(struct emit *e)
{
	for (u32 i = 0; i < e->run->accesses; i++)
		if (e->run->access[i].at == e->at)
			return &e->run->access[i];
	e->failed = true;
	return &e->run->access[0];
}

static u32 access_number(struct emit *e)
{
	return (u32)(access_here(e) - e->run->access);
}

/* ---- where ---- */

static void use_line(struct emit *e, const struct emit_line *x)
{
	struct tier_run *r = e->run;

	for (u32 i = 0; e->study && i < r->roots; i++)
		if (x->roots >> i & 1)
			r->root[i].linear = true;
}

static u32 offset_by(struct emit *e, u32 a, s64 n)
{
	u32 sum = emit_name(e);

	emit_text(e, "%%v%u = add i64 %%v%u, %lld\n", sum, a, (long long)n);
	return sum;
}

static struct place follow_line(struct emit *e, const struct uop *in, struct emit_line x,
				struct place otherwise)
{
	bool load = uop_kind(in->inner) == UOP_LOAD;

	if (!x.is)
		return otherwise;
	use_line(e, &x);
	if (x.step == (s64)in->mem.size)
		otherwise.how = HOW_ROW;
	else if (!x.step && load)
		otherwise.how = HOW_SAME;
	otherwise.first = x.first;
	return otherwise;
}

static struct place place_global(struct emit *e, const struct uop *in)
{
	struct emit_value *v = emit_read(e, in->a, 'X');
	struct place p = {.how = HOW_APART, .vec = emit_vec(e, v), .offset = in->mem.offset};
	struct emit_line x = v->line;

	if (x.is)
		x = emit_line_add(e, 'X', x, emit_line_known(e, 'X', (u64)in->mem.offset));
	return follow_line(e, in, x, p);
}

/* The base is the same for all lanes of a warp, if not by its line. */
static u32 base_of(struct emit *e, const struct uop *in)
{
	struct emit_value *v = emit_read(e, in->c, 'X');
	u32 n;

	if (v->line.is && !v->line.step && !e->study)
		return v->line.first;
	n = emit_name(e);
	emit_text(e, "%%v%u = extractelement <32 x i64> %%v%u, i32 0\n", n, emit_vec(e, v));
	return n;
}

static struct place place_indexed(struct emit *e, const struct uop *in)
{
	struct emit_value *v = emit_read(e, in->a, 'W');
	bool sign = !(in->flags & UOPF_UNSIGNED);
	struct place p = {.how = HOW_APART,
			  .vec = emit_vec(e, v),
			  .base = offset_by(e, base_of(e, in), in->mem.offset),
			  .scale = in->index.scale,
			  .sign = sign};
	struct emit_line x = v->line;
	u32 sum;

	if (!x.is)
		return p;
	use_line(e, &x);
	if (x.step && x.step * (s64)in->index.scale != (s64)in->mem.size)
		return p;
	x = emit_line_scale(e, 'X', emit_line_extend(e, x, sign), in->index.scale);
	sum = emit_name(e);
	emit_text(e, "%%v%u = add i64 %%v%u, %%v%u\n", sum, x.first, p.base);
	x.first = sum;
	return follow_line(e, in, x, p);
}

/* ---- whether ---- */

/* What is known before the loop over warps: the window, and its end for accesses of `bytes`. */
static void open_window(struct emit *e, u32 bytes)
{
	u32 n = access_number(e);

	if (e->masked) /* the other variant has been emitted first */
		return;
	text_printf(&e->head,
		    "%%lo.%u.p = inttoptr i64 %%cache.%u to %s\n"
		    "%%lo.%u = load i64, %s %%lo.%u.p\n"
		    "%%span.%u.a = add i64 %%cache.%u, 8\n"
		    "%%span.%u.p = inttoptr i64 %%span.%u.a to %s\n"
		    "%%span.%u = load i64, %s %%span.%u.p\n"
		    "%%bias.%u.a = add i64 %%cache.%u, 16\n"
		    "%%bias.%u.p = inttoptr i64 %%bias.%u.a to %s\n"
		    "%%bias.%u = load i64, %s %%bias.%u.p\n",
		    n, n, emit_pointer(e, "i64"), n, emit_pointer(e, "i64"), n, n, n, n, n,
		    emit_pointer(e, "i64"), n, emit_pointer(e, "i64"), n, n, n, n, n,
		    emit_pointer(e, "i64"), n, emit_pointer(e, "i64"), n);
	text_printf(&e->head,
		    "%%most.%u = sub i64 %%span.%u, %u\n"
		    "%%fits.%u = icmp uge i64 %%span.%u, %u\n",
		    n, n, bytes, n, n, bytes);
}

/* bytes: a name, or 0 for those of open_window. */
static void require_inside(struct emit *e, u32 address, u32 bytes, u32 size)
{
	u32 n = access_number(e), from = emit_name(e), is = emit_name(e), low = emit_name(e),
	    even = emit_name(e);

	emit_text(e, "%%v%u = sub i64 %%v%u, %%lo.%u\n", from, address, n);
	if (bytes) {
		u32 most = emit_name(e), fits = emit_name(e);

		emit_text(e, "%%v%u = sub i64 %%span.%u, %%v%u\n", most, n, bytes);
		emit_text(e, "%%v%u = icmp uge i64 %%span.%u, %%v%u\n", fits, n, bytes);
		emit_text(e, "%%v%u = icmp ule i64 %%v%u, %%v%u\n", is, from, most);
		emit_require(e, fits);
	} else {
		u32 fits = emit_name(e);

		emit_text(e, "%%v%u = icmp ule i64 %%v%u, %%most.%u\n", is, from, n);
		emit_text(e, "%%v%u = and i1 %%fits.%u, true\n", fits, n);
		emit_require(e, fits);
	}
	emit_require(e, is);
	emit_text(e, "%%v%u = and i64 %%v%u, %u\n", low, address, size - 1);
	emit_text(e, "%%v%u = icmp eq i64 %%v%u, 0\n", even, low);
	emit_require(e, even);
}

/* Lanes of a row that take part: from the first to the last. */
static void require_row(struct emit *e, u32 first, u32 size)
{
	u32 skip, at, bytes;

	if (!e->masked) {
		require_inside(e, first, 0, size);
		return;
	}
	skip = emit_name(e);
	at = emit_name(e);
	bytes = emit_name(e);
	emit_text(e, "%%v%u = mul i64 %%p.lowX, %u\n", skip, size);
	emit_text(e, "%%v%u = add i64 %%v%u, %%v%u\n", at, first, skip);
	emit_text(e, "%%v%u = mul i64 %%p.reach, %u\n", bytes, size);
	require_inside(e, at, bytes, size);
}

/* Distances from where the window begins; turned: bits that have to be 0 are on top. */
static u32 require_each(struct emit *e, const struct place *p, u32 size)
{
	u32 n = access_number(e), start = emit_name(e), all, from = emit_name(e),
	    low = emit_name(e), even = emit_name(e), most = emit_name(e), turned, limit,
	    is = emit_name(e), fits;
	u32 shift = (u32)__builtin_ctz(size);

	emit_text(e, "%%v%u = sub i64 %%lo.%u, %lld\n", start, n, (long long)p->offset);
	all = emit_splat(e, 'X', start);
	emit_text(e, "%%v%u = sub <32 x i64> %%v%u, %%v%u\n", from, p->vec, all);
	emit_text(e, "%%v%u = and i64 %%lo.%u, %u\n", low, n, size - 1);
	emit_text(e, "%%v%u = icmp eq i64 %%v%u, 0\n", even, low);
	emit_require(e, even);
	fits = emit_name(e);
	emit_text(e, "%%v%u = icmp uge i64 %%span.%u, %u\n", fits, n, size);
	emit_require(e, fits);
	emit_text(e, "%%v%u = sub i64 %%span.%u, %u\n", most, n, size);
	limit = emit_name(e);
	emit_text(e, "%%v%u = lshr i64 %%v%u, %u\n", limit, most, shift);
	limit = emit_splat(e, 'X', limit);
	turned = emit_name(e);
	emit_text(e,
		  "%%v%u = call <32 x i64> @llvm.fshr.v32i64(<32 x i64> %%v%u, <32 x i64> %%v%u, "
		  "<32 x i64> ",
		  turned, from, from);
	emit_constant(e->out, 'X', shift);
	emit_text(e, ")\n%%v%u = icmp ule <32 x i64> %%v%u, %%v%u\n", is, turned, limit);
	emit_require(e, emit_every(e, is));
	return from;
}

/* A number of 64 bits, cut to [least, most] as signed ones. */
static u32 clamp_index(struct emit *e, u32 x, const char *compare, long long bound)
{
	u32 is = emit_name(e), r = emit_name(e);

	emit_text(e, "%%v%u = icmp %s i64 %%v%u, %lld\n", is, compare, x, bound);
	emit_text(e, "%%v%u = select i1 %%v%u, i64 %%v%u, i64 %lld\n", r, is, x, bound);
	return r;
}

/*
 * Indices: those from `least` to `most` lead into the window. What is computed with distances is
 * right for bases less than 2^61 away from it.
 */
static void require_indices(struct emit *e, const struct place *p, u32 size)
{
	u32 n = access_number(e), away = emit_name(e), near = emit_name(e), is = emit_name(e),
	    low = emit_name(e), even = emit_name(e), back = emit_name(e), up = emit_name(e),
	    least = emit_name(e), room = emit_name(e), left = emit_name(e), most = emit_name(e),
	    span, some = emit_name(e), from, all, fits = emit_name(e), good = emit_name(e);
	u32 shift = (u32)__builtin_ctz(p->scale);
	long long bottom = p->sign ? INT32_MIN : 0, top = p->sign ? INT32_MAX : UINT32_MAX;

	emit_text(e, "%%v%u = sub i64 %%v%u, %%lo.%u\n", away, p->base, n);
	emit_text(e, "%%v%u = add i64 %%v%u, 2305843009213693952\n", near, away);
	emit_text(e, "%%v%u = icmp ult i64 %%v%u, 4611686018427387904\n", is, near);
	emit_require(e, is);
	emit_text(e, "%%v%u = and i64 %%v%u, %u\n", low, p->base, size - 1);
	emit_text(e, "%%v%u = icmp eq i64 %%v%u, 0\n", even, low);
	emit_require(e, even);
	emit_text(e, "%%v%u = icmp uge i64 %%span.%u, %u\n", fits, n, size);
	emit_require(e, fits);
	emit_text(e, "%%v%u = sub i64 %u, %%v%u\n", back, p->scale - 1, away);
	emit_text(e, "%%v%u = ashr i64 %%v%u, %u\n", up, back, shift);
	emit_text(e, "%%v%u = sub i64 %%span.%u, %u\n", room, n, size);
	emit_text(e, "%%v%u = sub i64 %%v%u, %%v%u\n", left, room, away);
	emit_text(e, "%%v%u = ashr i64 %%v%u, %u\n", most, left, shift);
	least = clamp_index(e, up, "sgt", bottom);
	most = clamp_index(e, most, "slt", top);
	emit_text(e, "%%v%u = icmp sle i64 %%v%u, %%v%u\n", some, least, most);
	emit_require(e, some);
	span = emit_name(e);
	emit_text(e, "%%v%u = sub i64 %%v%u, %%v%u\n", span, most, least);
	from = emit_name(e);
	emit_text(e, "%%v%u = trunc i64 %%v%u to i32\n", from, least);
	all = emit_splat(e, 'W', from);
	from = emit_name(e);
	emit_text(e, "%%v%u = sub <32 x i32> %%v%u, %%v%u\n", from, p->vec, all);
	all = emit_name(e);
	emit_text(e, "%%v%u = trunc i64 %%v%u to i32\n", all, span);
	all = emit_splat(e, 'W', all);
	emit_text(e, "%%v%u = icmp ule <32 x i32> %%v%u, %%v%u\n", good, from, all);
	emit_require(e, emit_every(e, good));
}

/* ---- moving ---- */

static const char *element_type(const struct uop *in)
{
	return in->mem.size == 4 ? "i32" : "i64";
}

static void put_lanes(struct emit *e)
{
	if (e->masked)
		emit_text(e, "<32 x i1> %%v%u", e->mask);
	else {
		emit_text(e, "<32 x i1> ");
		emit_constant(e->out, 'P', 1);
	}
}

static u32 host_of(struct emit *e, u32 address)
{
	u32 h = emit_name(e);

	emit_text(e, "%%v%u = add i64 %%v%u, %%bias.%u\n", h, address, access_number(e));
	return h;
}

/* The suffix of intrinsics on vectors of n elements at a pointer: "v32i32.p0v32i32". */
static void put_suffix(struct emit *e, const char *type, u32 n)
{
	if (e->opaque)
		emit_text(e, "v%u%s.p0", n, type);
	else
		emit_text(e, "v%u%s.p0v%u%s", n, type, n, type);
}

static u32 emit_load_row(struct emit *e, const struct uop *in, u32 first)
{
	const char *type = emit_type(class_of_data(in)), *pointer = emit_pointer(e, type);
	u32 p = emit_point(e, host_of(e, first), type), r = emit_name(e);

	if (!e->masked) {
		emit_text(e, "%%v%u = load %s, %s %%v%u, align %u\n", r, type, pointer, p,
			  in->mem.size);
		return r;
	}
	emit_text(e, "%%v%u = call %s @llvm.masked.load.", r, type);
	put_suffix(e, element_type(in), 32);
	emit_text(e, "(%s %%v%u, i32 %u, ", pointer, p, in->mem.size);
	put_lanes(e);
	emit_text(e, ", %s zeroinitializer)\n", type);
	return r;
}

static void emit_store_row(struct emit *e, const struct uop *in, u32 first, u32 value)
{
	const char *type = emit_type(class_of_data(in)), *pointer = emit_pointer(e, type);
	u32 p = emit_point(e, host_of(e, first), type);

	if (!e->masked) {
		emit_text(e, "store %s %%v%u, %s %%v%u, align %u\n", type, value, pointer, p,
			  in->mem.size);
		return;
	}
	emit_text(e, "call void @llvm.masked.store.");
	put_suffix(e, element_type(in), 32);
	emit_text(e, "(%s %%v%u, %s %%v%u, i32 %u, ", type, value, pointer, p, in->mem.size);
	put_lanes(e);
	emit_text(e, ")\n");
}

/* Pointers of the lanes. from: distances from the window's beginning, of addresses. */
static u32 lane_pointers(struct emit *e, const struct uop *in, const struct place *p, u32 from)
{
	u32 bytes = p->scale ? p->scale : 1, base, r = emit_name(e), wide = from, start;
	const char *vector = e->opaque ? "ptr" : in->mem.size == 4 ? "i32*" : "i64*";

	if (p->scale) {
		wide = emit_name(e);
		emit_text(e, "%%v%u = %s <32 x i32> %%v%u to <32 x i64>\n", wide,
			  p->sign ? "sext" : "zext", p->vec);
		start = p->base;
	} else {
		start = emit_name(e);
		emit_text(e, "%%v%u = add i64 %%lo.%u, 0\n", start, access_number(e));
	}
	start = host_of(e, start);
	base = emit_name(e);
	emit_text(e, "%%v%u = inttoptr i64 %%v%u to %s%s\n", base, start, e->opaque ? "ptr" : "i",
		  e->opaque     ? ""
		  : bytes == 1  ? "8*"
		  : bytes == 2  ? "16*"
		  : bytes == 4  ? "32*"
		  : bytes == 8  ? "64*"
		  : bytes == 16 ? "128*"
				: "8*");
	if (bytes > 16) {
		u32 scaled = emit_name(e);

		emit_text(e, "%%v%u = mul <32 x i64> %%v%u, ", scaled, wide);
		emit_constant(e->out, 'X', bytes);
		emit_text(e, "\n");
		wide = scaled;
		bytes = 1;
	}
	if (e->opaque || bytes == in->mem.size) {
		emit_text(e, "%%v%u = getelementptr i%u, %s%s %%v%u, <32 x i64> %%v%u\n", r,
			  bytes * 8,
			  e->opaque    ? "ptr"
			  : bytes == 4 ? "i32"
				       : "i64",
			  e->opaque ? "" : "*", base, wide);
		return r;
	}
	emit_text(e, "%%v%u = getelementptr i%u, i%u* %%v%u, <32 x i64> %%v%u\n", r, bytes * 8,
		  bytes * 8, base, wide);
	base = emit_name(e);
	emit_text(e, "%%v%u = bitcast <32 x i%u*> %%v%u to <32 x %s>\n", base, bytes * 8, r,
		  vector);
	return base;
}

static void put_lanes_suffix(struct emit *e, const char *type)
{
	emit_text(e, "v32%s.v32p0%s", type, e->opaque ? "" : type);
}

static u32 emit_gather(struct emit *e, const struct uop *in, u32 pointers)
{
	const char *type = emit_type(class_of_data(in));
	u32 r = emit_name(e);

	emit_text(e, "%%v%u = call %s @llvm.masked.gather.", r, type);
	put_lanes_suffix(e, element_type(in));
	emit_text(e, "(<32 x %s> %%v%u, i32 %u, ", emit_pointer(e, element_type(in)), pointers,
		  in->mem.size);
	put_lanes(e);
	emit_text(e, ", %s zeroinitializer)\n", type);
	return r;
}

static void emit_scatter(struct emit *e, const struct uop *in, u32 pointers, u32 value)
{
	const char *type = emit_type(class_of_data(in));

	emit_text(e, "call void @llvm.masked.scatter.");
	put_lanes_suffix(e, element_type(in));
	emit_text(e, "(%s %%v%u, <32 x %s> %%v%u, i32 %u, ", type, value,
		  emit_pointer(e, element_type(in)), pointers, in->mem.size);
	put_lanes(e);
	emit_text(e, ")\n");
}

static u32 emit_load_same(struct emit *e, const struct uop *in, u32 first)
{
	u32 p = emit_point(e, host_of(e, first), element_type(in)), r = emit_name(e);

	emit_text(e, "%%v%u = load %s, %s %%v%u, align %u\n", r, element_type(in),
		  emit_pointer(e, element_type(in)), p, in->mem.size);
	return emit_splat(e, class_of_data(in), r);
}

static void settle_store(struct emit *e)
{
	emit_rows(e);
	emit_flush(e);
}

static void emit_at(struct emit *e, const struct uop *in, struct place p)
{
	bool load = uop_kind(in->inner) == UOP_LOAD;
	u32 size = in->mem.size, from = 0, value = 0;

	if (!load)
		value = emit_vec(e, emit_read(e, in->b, class_of_data(in)));
	open_window(e, p.how == HOW_ROW ? size * WARP_LANES : size);
	if (p.how == HOW_ROW)
		require_row(e, p.first, size);
	else if (p.how == HOW_SAME)
		require_inside(e, p.first, 0, size);
	else if (p.scale)
		require_indices(e, &p, size);
	else
		from = require_each(e, &p, size);
	if (!load)
		settle_store(e);
	emit_flush(e);
	if (load)
		emit_write(e, in->d, class_of_data(in),
			   p.how == HOW_ROW ? emit_load_row(e, in, p.first)
			   : p.how == HOW_SAME
				   ? emit_load_same(e, in, p.first)
				   : emit_gather(e, in, lane_pointers(e, in, &p, from)));
	else if (p.how == HOW_ROW)
		emit_store_row(e, in, p.first, value);
	else
		emit_scatter(e, in, lane_pointers(e, in, &p, from), value);
}

/* ---- affine: halves of warps, each a row ---- */

/* Address of the first lane of a half, from the launch's knowledge of the row. */
static u32 address_of_half(struct emit *e, const struct uop *in, u32 half)
{
	bool wide = access_here(e)->wide;
	u32 n = access_number(e), a = emit_name(e), p, part = emit_name(e), beyond = emit_name(e),
	    r, bytes = emit_name(e);

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
	u32 n = access_number(e);
	const char *pointer = emit_pointer(e, "i64");

	open_window(e, 1);
	if (e->masked)
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
static void require_half(struct emit *e, u32 address, u32 half, u32 size)
{
	u32 skip = emit_name(e), at = emit_name(e), bytes = emit_name(e), before = e->ok, is,
	    good = emit_name(e);

	e->ok = 0;
	emit_text(e, "%%v%u = mul i64 %%p.low.%u, %u\n", skip, half, size);
	emit_text(e, "%%v%u = add i64 %%v%u, %%v%u\n", at, address, skip);
	emit_text(e, "%%v%u = mul i64 %%p.reach.%u, %u\n", bytes, half, size);
	require_inside(e, at, bytes, size);
	is = e->ok;
	e->ok = before;
	emit_text(e, "%%v%u = or i1 %%p.none.%u, %%v%u\n", good, half, is);
	emit_require(e, good);
}

static void put_half_mask(struct emit *e, u32 half)
{
	emit_text(e, "<16 x i1> %%p.half.%u", half);
}

static u32 emit_load_half(struct emit *e, const struct uop *in, u32 address, u32 half)
{
	const char *type = in->mem.size == 4 ? "<16 x i32>" : "<16 x i64>";
	u32 p = emit_point(e, host_of(e, address), type), r = emit_name(e);

	if (!e->masked) {
		emit_text(e, "%%v%u = load %s, %s %%v%u, align %u\n", r, type,
			  emit_pointer(e, type), p, in->mem.size);
		return r;
	}
	emit_text(e, "%%v%u = call %s @llvm.masked.load.", r, type);
	put_suffix(e, element_type(in), 16);
	emit_text(e, "(%s %%v%u, i32 %u, ", emit_pointer(e, type), p, in->mem.size);
	put_half_mask(e, half);
	emit_text(e, ", %s zeroinitializer)\n", type);
	return r;
}

/* "i32 0, i32 1, ...": n numbers from `first` on. */
static void put_numbers(struct emit *e, u32 first, u32 n)
{
	emit_text(e, "<%u x i32> <", n);
	for (u32 i = 0; i < n; i++)
		emit_text(e, "%si32 %u", i ? ", " : "", first + i);
	emit_text(e, ">");
}

static void emit_store_half(struct emit *e, const struct uop *in, u32 address, u32 half, u32 value)
{
	const char *type = in->mem.size == 4 ? "<16 x i32>" : "<16 x i64>",
		   *whole = emit_type(class_of_data(in));
	u32 p = emit_point(e, host_of(e, address), type), part = emit_name(e);

	emit_text(e, "%%v%u = shufflevector %s %%v%u, %s zeroinitializer, ", part, whole, value,
		  whole);
	put_numbers(e, 16 * half, 16);
	emit_text(e, "\n");
	if (!e->masked) {
		emit_text(e, "store %s %%v%u, %s %%v%u, align %u\n", type, part,
			  emit_pointer(e, type), p, in->mem.size);
		return;
	}
	emit_text(e, "call void @llvm.masked.store.");
	put_suffix(e, element_type(in), 16);
	emit_text(e, "(%s %%v%u, %s %%v%u, i32 %u, ", type, part, emit_pointer(e, type), p,
		  in->mem.size);
	put_half_mask(e, half);
	emit_text(e, ")\n");
}

static void emit_affine(struct emit *e, const struct uop *in)
{
	bool load = uop_kind(in->inner) == UOP_LOAD;
	const char *type = in->mem.size == 4 ? "<16 x i32>" : "<16 x i64>";
	u32 value = 0, at[2], half[2], r;

	if (!load)
		value = emit_vec(e, emit_read(e, in->b, class_of_data(in)));
	open_reach(e);
	for (u32 i = 0; i < 2; i++) {
		at[i] = address_of_half(e, in, i);
		if (e->masked)
			require_half(e, at[i], i, in->mem.size);
	}
	if (!load)
		settle_store(e);
	emit_flush(e);
	for (u32 i = 0; i < 2 && !load; i++)
		emit_store_half(e, in, at[i], i, value);
	if (!load)
		return;
	for (u32 i = 0; i < 2; i++)
		half[i] = emit_load_half(e, in, at[i], i);
	r = emit_name(e);
	emit_text(e, "%%v%u = shufflevector %s %%v%u, %s %%v%u, ", r, type, half[0], type, half[1]);
	put_numbers(e, 0, 32);
	emit_text(e, "\n");
	emit_write(e, in->d, class_of_data(in), r);
}

void emit_access(struct emit *e, const struct uop *in)
{
	switch (in->inner) {
	case OP_load_global:
	case OP_store_global:
		emit_at(e, in, place_global(e, in));
		break;
	case OP_load_indexed:
	case OP_store_indexed:
		emit_at(e, in, place_indexed(e, in));
		break;
	default:
		emit_affine(e, in);
	}
}
