/*
 * A run as a function of LLVM's language: a loop over warps for gangs of which all lanes take part,
 * and one for others.
 */
#include "src/tier/emit.h"
#include "src/uop/rows.h"

#include <stdlib.h>

bool tier_supports(const struct program *p, const struct uop *in)
{
	if (uop_is_lane(in->inner))
		return emit_lane_knows(in->inner) && in->d != NO_ROW;
	return in->inner == OP_nop || emit_access_knows(p, in);
}

static void emit_uop(struct emit *e, const struct uop *in)
{
	if (uop_is_lane(in->inner))
		emit_lane(e, in);
	else if (in->inner != OP_nop)
		emit_access(e, in);
}

static void emit_uops(struct emit *e)
{
	const struct tier_run *r = e->run;

	e->values = e->numbers = 0;
	e->ok = e->ok_early = 0;
	for (e->at = 0; e->at < r->n && !e->failed; e->at++)
		emit_uop(e, &e->p->uop[r->first + e->at]);
	if (!r->stores) {
		emit_rows(e);
		emit_flush(e);
	}
	emit_rows_store(e);
}

/* ---- study ---- */

static bool add_access(struct tier_run *r, const struct uop *in, u32 at)
{
	bool wide = in->inner == OP_load_wide || in->inner == OP_store_wide,
	     affine = wide || in->inner == OP_load_affine || in->inner == OP_store_affine;

	if (r->accesses == TIER_ACCESSES)
		return false;
	r->access[r->accesses++] = (struct tier_access){
		.at = at,
		.cache = in->mem.cache,
		.width = (u8)(in->mem.size * in->mem.count),
		.store = uop_kind(in->inner) == UOP_STORE,
		.affine = affine,
		.wide = wide,
		.shared = in->mem.space == MEM_SHARED,
	};
	r->affines += affine;
	r->stores |= uop_kind(in->inner) == UOP_STORE;
	return true;
}

struct change {
	u32 row;
	bool is;
};

static void see_change(void *user, u32 row, bool write)
{
	struct change *c = user;

	c->is |= write && row == c->row;
}

/* Does the run change the row, from micro-op `from` on? */
static bool is_changed(const struct program *p, const struct tier_run *r, u32 from, u32 to, u32 row)
{
	struct change c = {.row = row};

	for (u32 i = from; i < to; i++)
		uop_each_row(&p->uop[r->first + i], p->ext, see_change, &c);
	return c.is;
}

/* The store is the last access: loads from the same place by the same lane are its own. */
static void find_own(const struct program *p, struct tier_run *r)
{
	const struct tier_access *s = &r->access[r->accesses - 1];
	const struct uop *store = &p->uop[r->first + s->at];

	for (u32 i = 0; i + 1 < r->accesses; i++) {
		struct tier_access *x = &r->access[i];
		const struct uop *load = &p->uop[r->first + x->at];
		bool indexed = uop_info[load->inner].payload == PAYLOAD_INDEXED;

		x->own = x->affine == s->affine && x->wide == s->wide && x->width == s->width &&
			 uop_info[load->inner].payload == uop_info[store->inner].payload &&
			 load->a == store->a && load->c == store->c &&
			 load->mem.offset == store->mem.offset &&
			 (load->flags & UOPF_UNSIGNED) == (store->flags & UOPF_UNSIGNED) &&
			 !is_changed(p, r, x->at, s->at, store->a) &&
			 !is_changed(p, r, x->at, s->at, store->c);
		if (indexed)
			x->own &= load->index.scale == store->index.scale &&
				  load->index.affine == store->index.affine;
	}
}

bool tier_study(const struct program *p, const struct tier_live *l, struct tier_run *r)
{
	struct emit *e = calloc(1, sizeof(*e));
	struct text out = {0};
	u32 n = 0;
	bool ok;

	if (!e)
		return false;
	for (u32 i = 0; i < r->n; i++)
		if (uop_has_access(p->uop[r->first + i].inner) &&
		    !add_access(r, &p->uop[r->first + i], i)) {
			free(e);
			return false;
		}
	if (r->stores)
		find_own(p, r);
	*e = (struct emit){.p = p, .run = r, .live = l, .study = true, .opaque = true, .out = &out};
	emit_uops(e);
	ok = !e->failed && !out.failed;
	for (u32 i = 0; i < r->roots; i++)
		if (r->root[i].linear)
			r->root[n++] = r->root[i];
	r->roots = n;
	text_fini(&out);
	text_fini(&e->early);
	text_fini(&e->head);
	free(e);
	return ok;
}

/* ---- the function ---- */

static void open_warp(struct emit *e, const char *part)
{
	emit_text(e,
		  "%s.loop:\n"
		  "%%%s.w = phi i32 [ %%first, %%entry ], [ %%%s.more, %%%s.next ]\n"
		  "%%%s.over = icmp uge i32 %%%s.w, %%end\n"
		  "br i1 %%%s.over, label %%%s.exit, label %%%s.body\n"
		  "%s.exit:\nret i32 %%%s.w\n"
		  "%s.leave:\nret i32 %%%s.w\n"
		  "%s.next:\n%%%s.more = add i32 %%%s.w, 1\nbr label %%%s.loop\n"
		  "%s.body:\n",
		  part, part, part, part, part, part, part, part, part, part, part, part, part,
		  part, part, part, part, part);
	emit_text(e,
		  "%%%s.wide = zext i32 %%%s.w to i64\n"
		  "%%%s.w128 = shl i64 %%%s.wide, 7\n%%%s.W = add i64 %%regs, %%%s.w128\n"
		  "%%%s.w256 = shl i64 %%%s.wide, 8\n%%%s.X = add i64 %%regs, %%%s.w256\n"
		  "%%%s.w4 = shl i64 %%%s.wide, 2\n%%%s.P = add i64 %%regs, %%%s.w4\n",
		  part, part, part, part, part, part, part, part, part, part, part, part, part,
		  part);
}

/* Of the lanes in `bits`: the first, how far they reach, and whether there are any. */
static void open_half(struct emit *e, u32 half)
{
	emit_text(e,
		  "%%p.shift.%u = lshr i32 %%p.bits, %u\n"
		  "%%p.bits.%u = and i32 %%p.shift.%u, 65535\n"
		  "%%p.none.%u = icmp eq i32 %%p.bits.%u, 0\n"
		  "%%p.cut.%u = trunc i32 %%p.bits.%u to i16\n"
		  "%%p.half.%u = bitcast i16 %%p.cut.%u to <16 x i1>\n"
		  "%%p.tz.%u = call i32 @llvm.cttz.i32(i32 %%p.bits.%u, i1 false)\n"
		  "%%p.lz.%u = call i32 @llvm.ctlz.i32(i32 %%p.bits.%u, i1 false)\n"
		  "%%p.n.%u = sub i32 32, %%p.lz.%u\n"
		  "%%p.d.%u = sub i32 %%p.n.%u, %%p.tz.%u\n"
		  "%%p.low.%u = zext i32 %%p.tz.%u to i64\n"
		  "%%p.reach.%u = zext i32 %%p.d.%u to i64\n",
		  half, half * 16, half, half, half, half, half, half, half, half, half, half, half,
		  half, half, half, half, half, half, half, half, half, half);
}

static void open_mask(struct emit *e)
{
	e->mask = emit_name(e);
	emit_text(e,
		  "%%p.at = add i64 %%live, %%p.w4\n"
		  "%%p.ptr = inttoptr i64 %%p.at to %s\n"
		  "%%p.bits = load i32, %s %%p.ptr, align 4\n"
		  "%%p.empty = icmp eq i32 %%p.bits, 0\n"
		  "br i1 %%p.empty, label %%p.next, label %%p.work\np.work:\n"
		  "%%p.not = xor i32 %%p.bits, -1\n"
		  "%%v%u = bitcast i32 %%p.bits to <32 x i1>\n"
		  "%%p.lowW = call i32 @llvm.cttz.i32(i32 %%p.bits, i1 true)\n"
		  "%%p.lowX = zext i32 %%p.lowW to i64\n"
		  "%%p.laneW = shl i64 %%p.lowX, 2\n%%p.laneX = shl i64 %%p.lowX, 3\n"
		  "%%p.top = call i32 @llvm.ctlz.i32(i32 %%p.bits, i1 true)\n"
		  "%%p.many = sub i32 32, %%p.top\n%%p.far = sub i32 %%p.many, %%p.lowW\n"
		  "%%p.reach = zext i32 %%p.far to i64\n",
		  emit_pointer(e, "i32"), emit_pointer(e, "i32"), e->mask);
	for (u32 i = 0; i < 2 && e->run->affines; i++)
		open_half(e, i);
}

static void open_function(struct emit *e, const char *name, struct text *out)
{
	static const char *const members[] = {"regs",  "caches",   "ctaid",  "live",
					      "reach", "sink",     "shared", "gang",
					      "rows",  "handlers", "ahead",  "now"};
	const char *wide = emit_pointer(e, "i64"), *narrow = emit_pointer(e, "i32");

	text_printf(
		out,
		"define i32 @%s(i64 %%call, i32 %%first, i32 %%end, i32 %%whole) #0 {\nentry:\n",
		name);
	for (u32 i = 0; i < ARRAY_LEN(members); i++)
		text_printf(out,
			    "%%%s.a = add i64 %%call, %u\n%%%s.p = inttoptr i64 %%%s.a to %s\n"
			    "%%%s = load i64, %s %%%s.p\n",
			    members[i], i * 8, members[i], members[i], wide, members[i], wide,
			    members[i]);
	for (u32 i = 0; i < 3; i++)
		text_printf(
			out,
			"%%ctaid%u.a = add i64 %%ctaid, %u\n%%ctaid%u.p = inttoptr i64 %%ctaid%u.a to %s\n"
			"%%ctaid%u = load i32, %s %%ctaid%u.p\n",
			i, i * 4, i, i, narrow, i, narrow, i);
	for (u32 i = 0; i < e->run->accesses; i++)
		if (e->run->access[i].shared)
			text_printf(out, "%%cache.%u = add i64 %%shared, 0\n", i);
		else
			text_printf(out, "%%cache.%u = add i64 %%caches, %u\n", i,
				    e->run->access[i].cache * (u32)sizeof(struct mem_cache));
}

_Static_assert(sizeof(struct tier_call) == 12 * sizeof(u64), "members of 8 bytes");
_Static_assert(TIER_ACCESSES <= 32, "tier_run.hints");

static void emit_variant(struct emit *e, u32 variant)
{
	bool masked = variant != VARIANT_FULL;
	const char *part = masked ? "p" : "f";
	struct text *out = &e->part[variant];

	e->masked = masked;
	e->spans = variant == VARIANT_SPANS;
	e->out = out;
	open_warp(e, part);
	if (masked)
		open_mask(e);
	e->out = &e->late;
	emit_uops(e);
	emit_text(e, "br label %%%s.next\n", part);
	emit_flush_early(e);
	e->failed |= e->early.failed || e->late.failed;
	text_add(out, e->early.at, e->early.len);
	text_add(out, e->late.at, e->late.len);
	text_fini(&e->early);
	text_fini(&e->late);
	e->early = e->late = (struct text){0};
}

static void emit_function(struct emit *e, const char *name, struct text *out)
{
	open_function(e, name, out);
	text_add(out, e->head.at, e->head.len);
	text_puts(out,
		  "%full = icmp ne i32 %whole, 0\nbr i1 %full, label %f.loop, label %p.loop\n");
	text_add(out, e->part[VARIANT_FULL].at, e->part[VARIANT_FULL].len);
	text_add(out, e->part[VARIANT_MASKED].at, e->part[VARIANT_MASKED].len);
	text_puts(out, "}\n");
}

/* Its labels and names are those of the masked variant: a function of its own. */
static void emit_function_spans(struct emit *e, const char *name, struct text *out)
{
	char own[48];

	snprintf(own, sizeof(own), "%s" TIER_SPANS, name);
	open_function(e, own, out);
	text_add(out, e->head.at, e->head.len);
	text_puts(out, "br label %p.loop\n");
	text_add(out, e->part[VARIANT_SPANS].at, e->part[VARIANT_SPANS].len);
	text_puts(out, "}\n");
}

bool tier_emit(const struct program *p, const struct tier_live *live, struct tier_run *r,
	       const char *name, bool opaque, struct text *out)
{
	struct emit *e = calloc(1, sizeof(*e));
	struct tier_run *copy = malloc(sizeof(*copy));
	bool ok = e && copy;

	if (ok) {
		*copy = *r;
		copy->hints = 0;
		*e = (struct emit){.p = p, .run = copy, .live = live, .opaque = opaque};
		for (u32 i = 0; i < VARIANTS; i++)
			emit_variant(e, i);
		emit_function(e, name, out);
		r->has_spans = e->spanned;
		r->hints = copy->hints;
		if (e->spanned)
			emit_function_spans(e, name, out);
		ok = !e->failed && !e->head.failed && !out->failed;
		text_fini(&e->head);
		for (u32 i = 0; i < VARIANTS; i++) {
			ok &= !e->part[i].failed;
			text_fini(&e->part[i]);
		}
	}
	free(copy);
	free(e);
	return ok;
}
