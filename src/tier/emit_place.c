/*
 * Where the lanes of a load or store reach to, and the conditions under which they may: that all of
 * it is in the window of the micro-op's allocation cache, or in the shared memory of the CTA.
 */
#include "src/tier/emit_access.h"

static void use_line(struct emit *e, const struct emit_line *x)
{
	struct tier_run *r = e->run;

	for (u32 i = 0; e->study && i < r->roots; i++)
		if (x->roots >> i & 1)
			r->root[i].linear = true;
}

u32 emit_offset(struct emit *e, u32 address, s64 n)
{
	u32 sum = emit_name(e);

	emit_text(e, "%%v%u = add i64 %%v%u, %lld\n", sum, address, (long long)n);
	return sum;
}

u32 emit_host(struct emit *e, u32 address)
{
	u32 h = emit_name(e);

	emit_text(e, "%%v%u = add i64 %%v%u, %%bias.%u\n", h, address, emit_access_number(e));
	return h;
}

void emit_hint(struct emit *e, u32 host, u32 bytes)
{
	u32 n = emit_access_number(e), next = emit_name(e);

	if (e->run->access[n].shared)
		return;
	e->run->hints |= 1u << n;
	emit_text(e, "store i64 %%v%u, %s %%now.%u\n", host, emit_pointer(e, "i64"), n);
	emit_text(e, "%%v%u = add i64 %%v%u, %%ahead.%u\n", next, host, n);
	for (u32 at = 0; at < bytes; at += 64) {
		u32 p = emit_point(e, at ? emit_offset(e, next, at) : next, "i8");

		emit_text(e, "call void @llvm.prefetch.p0%s(%s %%v%u, i32 0, i32 3, i32 1)\n",
			  e->opaque ? "" : "i8", emit_pointer(e, "i8"), p);
	}
}

static struct place follow_line(struct emit *e, const struct uop *in, struct emit_line x,
				struct place otherwise)
{
	bool load = uop_kind(in->inner) == UOP_LOAD;

	if (!x.is)
		return otherwise;
	use_line(e, &x);
	otherwise.rows = x.step == (s64)emit_width(in);
	if (otherwise.rows || (!x.step && load))
		otherwise.how = x.high ? HOW_HALVES : otherwise.rows ? HOW_ROW : HOW_SAME;
	otherwise.first = x.first;
	otherwise.high = x.high;
	otherwise.late = x.late;
	return otherwise;
}

static struct place place_wide(struct emit *e, const struct uop *in)
{
	struct emit_value *v = emit_read(e, in->a, 'X');
	struct place p = {.how = HOW_APART, .offset = in->mem.offset};
	struct emit_line x = v->line;

	if (x.is)
		x = emit_line_add(e, 'X', x, emit_line_known(e, 'X', (u64)in->mem.offset));
	p = follow_line(e, in, x, p);
	if (p.how == HOW_APART)
		p.vec = emit_vec(e, v);
	return p;
}

/* Lanes anywhere, addresses of 32 bits, which wrap around with their offset. */
static struct place place_apart_narrow(struct emit *e, const struct uop *in, struct emit_value *v)
{
	u32 vec = emit_vec(e, v);
	struct place p = {.how = HOW_APART, .vec = emit_name(e), .scale = 1, .narrow = true};

	emit_text(e, "%%v%u = add <32 x i32> %%v%u, ", p.vec, vec);
	emit_constant(e, 'W', (u32)in->mem.offset);
	emit_text(e, "\n");
	p.base = emit_line_known(e, 'X', 0).first;
	return p;
}

static struct place place_narrow(struct emit *e, const struct uop *in)
{
	struct emit_value *v = emit_read(e, in->a, 'W');
	struct place p = {.how = HOW_APART};
	struct emit_line x = v->line;

	if (x.is)
		use_line(e, &x);
	if (x.is && (!x.step || x.step == (s64)emit_width(in))) {
		x = emit_line_add(e, 'W', x, emit_line_known(e, 'W', (u32)in->mem.offset));
		p = follow_line(e, in, emit_line_extend(e, x, false), p);
	}
	return p.how == HOW_APART ? place_apart_narrow(e, in, v) : p;
}

static struct place place_in_shared(struct emit *e, const struct uop *in)
{
	struct place p = {.how = HOW_SAME};

	if (in->a != NO_ROW)
		return in->flags & UOPF_WIDE ? place_wide(e, in) : place_narrow(e, in);
	p.first = emit_line_known(e, 'X', (u64)in->mem.offset).first;
	return p;
}

/* The base is the same for all lanes of a warp. */
static struct place place_indexed(struct emit *e, const struct uop *in)
{
	struct emit_value *v = emit_read(e, in->a, 'W');
	struct emit_line x = v->line, base = emit_first_of(e, in->c, 'X');
	struct place p = {
		.how = HOW_APART, .scale = in->index.scale, .sign = !(in->flags & UOPF_UNSIGNED)};

	base = emit_line_add(e, 'X', base, emit_line_known(e, 'X', (u64)in->mem.offset));
	p.base = base.first;
	if (x.is)
		use_line(e, &x);
	if (x.is && (!x.step || x.step * (s64)in->index.scale == (s64)emit_width(in))) {
		x = emit_line_scale(e, 'X', emit_line_extend(e, x, p.sign), in->index.scale);
		p = follow_line(e, in, emit_line_add(e, 'X', x, base), p);
	}
	if (p.how == HOW_APART)
		p.vec = emit_vec(e, v);
	return p;
}

struct place emit_place(struct emit *e, const struct uop *in)
{
	switch (in->inner) {
	case OP_load_shared:
	case OP_store_shared:
		return place_in_shared(e, in);
	case OP_load_global:
	case OP_store_global:
		return place_wide(e, in);
	default:
		return place_indexed(e, in);
	}
}

/* ---- whether ---- */

void emit_window_open(struct emit *e, u32 bytes)
{
	u32 n = emit_access_number(e);

	if (e->masked || e->study) /* the other variant has been emitted first */
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
		    "%%ahead.%u.a = add i64 %%ahead, %u\n"
		    "%%ahead.%u.p = inttoptr i64 %%ahead.%u.a to %s\n"
		    "%%ahead.%u = load i64, %s %%ahead.%u.p\n"
		    "%%now.%u.a = add i64 %%now, %u\n"
		    "%%now.%u = inttoptr i64 %%now.%u.a to %s\n",
		    n, n * 8, n, n, emit_pointer(e, "i64"), n, emit_pointer(e, "i64"), n, n, n * 8,
		    n, n, emit_pointer(e, "i64"));
	text_printf(&e->head,
		    "%%most.%u = sub i64 %%span.%u, %u\n"
		    "%%fits.%u = icmp uge i64 %%span.%u, %u\n",
		    n, n, bytes, n, n, bytes);
}

void emit_inside_require(struct emit *e, u32 address, u32 bytes, u32 width)
{
	u32 n = emit_access_number(e), from = emit_name(e), is = emit_name(e), low = emit_name(e),
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
	emit_text(e, "%%v%u = and i64 %%v%u, %u\n", low, address, width - 1);
	emit_text(e, "%%v%u = icmp eq i64 %%v%u, 0\n", even, low);
	emit_require(e, even);
}

/* Lanes of a row that take part: from the first to the last. */
static void require_row(struct emit *e, u32 first, u32 width)
{
	u32 skip, at, bytes;

	if (!e->masked || e->spans) {
		emit_inside_require(e, first, 0, width);
		return;
	}
	skip = emit_name(e);
	at = emit_name(e);
	bytes = emit_name(e);
	emit_text(e, "%%v%u = mul i64 %%p.lowX, %u\n", skip, width);
	emit_text(e, "%%v%u = add i64 %%v%u, %%v%u\n", at, first, skip);
	emit_text(e, "%%v%u = mul i64 %%p.reach, %u\n", bytes, width);
	emit_inside_require(e, at, bytes, width);
}

/* Distances from where the window begins; turned: bits that have to be 0 are on top. */
static u32 require_each(struct emit *e, const struct place *p, u32 width)
{
	u32 n = emit_access_number(e), start = emit_name(e), all, from = emit_name(e),
	    low = emit_name(e), even = emit_name(e), most = emit_name(e), turned, limit,
	    is = emit_name(e), fits;
	u32 shift = (u32)__builtin_ctz(width);

	emit_text(e, "%%v%u = sub i64 %%lo.%u, %lld\n", start, n, (long long)p->offset);
	all = emit_splat(e, 'X', start);
	emit_text(e, "%%v%u = sub <32 x i64> %%v%u, %%v%u\n", from, p->vec, all);
	emit_text(e, "%%v%u = and i64 %%lo.%u, %u\n", low, n, width - 1);
	emit_text(e, "%%v%u = icmp eq i64 %%v%u, 0\n", even, low);
	emit_require(e, even);
	fits = emit_name(e);
	emit_text(e, "%%v%u = icmp uge i64 %%span.%u, %u\n", fits, n, width);
	emit_require(e, fits);
	emit_text(e, "%%v%u = sub i64 %%span.%u, %u\n", most, n, width);
	limit = emit_name(e);
	emit_text(e, "%%v%u = lshr i64 %%v%u, %u\n", limit, most, shift);
	limit = emit_splat(e, 'X', limit);
	turned = emit_name(e);
	emit_text(e,
		  "%%v%u = call <32 x i64> @llvm.fshr.v32i64(<32 x i64> %%v%u, <32 x i64> %%v%u, "
		  "<32 x i64> ",
		  turned, from, from);
	emit_constant(e, 'X', shift);
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
static void require_indices(struct emit *e, const struct place *p, u32 width)
{
	u32 n = emit_access_number(e), away = emit_name(e), near = emit_name(e), is = emit_name(e),
	    low = emit_name(e), even = emit_name(e), back = emit_name(e), up = emit_name(e),
	    least = emit_name(e), room = emit_name(e), left = emit_name(e), most = emit_name(e),
	    span, some = emit_name(e), from, all, fits = emit_name(e), good = emit_name(e);
	u32 shift = (u32)__builtin_ctz(p->scale);
	long long bottom = p->sign ? INT32_MIN : 0, top = p->sign ? INT32_MAX : UINT32_MAX;

	emit_text(e, "%%v%u = sub i64 %%v%u, %%lo.%u\n", away, p->base, n);
	emit_text(e, "%%v%u = add i64 %%v%u, 2305843009213693952\n", near, away);
	emit_text(e, "%%v%u = icmp ult i64 %%v%u, 4611686018427387904\n", is, near);
	emit_require(e, is);
	emit_text(e, "%%v%u = and i64 %%v%u, %u\n", low, p->base, width - 1);
	emit_text(e, "%%v%u = icmp eq i64 %%v%u, 0\n", even, low);
	emit_require(e, even);
	emit_text(e, "%%v%u = icmp uge i64 %%span.%u, %u\n", fits, n, width);
	emit_require(e, fits);
	emit_text(e, "%%v%u = sub i64 %u, %%v%u\n", back, p->scale - 1, away);
	emit_text(e, "%%v%u = ashr i64 %%v%u, %u\n", up, back, shift);
	emit_text(e, "%%v%u = sub i64 %%span.%u, %u\n", room, n, width);
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

/* Addresses of 32 bits, from 0 on; what may not be set is turned to the top. */
static void require_narrow(struct emit *e, const struct place *p, u32 width)
{
	u32 n = emit_access_number(e), fits = emit_name(e), most = emit_name(e), cut = emit_name(e),
	    limit = emit_name(e), turned = emit_name(e), is = emit_name(e),
	    shift = (u32)__builtin_ctz(width);

	emit_text(e, "%%v%u = icmp uge i64 %%span.%u, %u\n", fits, n, width);
	emit_require(e, fits);
	emit_text(e, "%%v%u = sub i64 %%span.%u, %u\n", most, n, width);
	emit_text(e, "%%v%u = lshr i64 %%v%u, %u\n", cut, most, shift);
	emit_text(e, "%%v%u = trunc i64 %%v%u to i32\n", limit, cut);
	limit = emit_splat(e, 'W', limit);
	emit_text(e,
		  "%%v%u = call <32 x i32> @llvm.fshr.v32i32(<32 x i32> %%v%u, <32 x i32> %%v%u, "
		  "<32 x i32> ",
		  turned, p->vec, p->vec);
	emit_constant(e, 'W', shift);
	emit_text(e, ")\n%%v%u = icmp ule <32 x i32> %%v%u, %%v%u\n", is, turned, limit);
	emit_require(e, emit_every(e, is));
}

u32 emit_place_require(struct emit *e, const struct place *p, u32 width)
{
	struct text *out = emit_of_line(e, p->how == HOW_APART || p->late);
	u32 from = 0;

	if (p->how == HOW_ROW)
		require_row(e, p->first, width);
	else if (p->how != HOW_APART)
		emit_inside_require(e, p->first, 0, width);
	else if (p->narrow)
		require_narrow(e, p, width);
	else if (p->scale)
		require_indices(e, p, width);
	else
		from = require_each(e, p, width);
	if (p->how == HOW_HALVES)
		emit_inside_require(e, p->high, 0, width);
	emit_return(e, out);
	return from;
}
