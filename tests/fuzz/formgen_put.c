/* Operands of a variant: registers with their loads and stores, constants, selectors. */
#include "tests/fuzz/formgen_int.h"

static const u8 register_types[] = {T_b8,  T_b16, T_u16, T_s16, T_b32, T_u32,   T_s32, T_f32,
				    T_b64, T_u64, T_s64, T_f64, T_f16, T_f16x2, T_b128};

static bool register_fits(u32 have, u32 type, const struct isa_operand *o, bool plain)
{
	enum isa_class want = isa_type_class(type), class = isa_type_class(have);
	u32 bits = isa_type_bits(type), size = isa_type_bits(have),
	    least = o->wider && bits < 16 ? 16
		    : bits < 8            ? 8
					  : bits;

	/* Of wider registers only those of integers say the same everywhere. */
	if (size < least ||
	    (size > least && (!o->wider || plain || size > 64 || want == ISA_FLOAT)) ||
	    (plain && class != ISA_BITS))
		return false;
	if (class == ISA_BITS)
		return true;
	if (o->bits_only || size > least)
		return !o->bits_only && (want == ISA_UINT || want == ISA_SINT) &&
		       class != ISA_FLOAT;
	return want == ISA_UINT || want == ISA_SINT ? class == ISA_UINT || class == ISA_SINT
						    : have == type;
}

static u32 choose_register(struct maker *m, u32 type, const struct isa_operand *o)
{
	u32 fits[ARRAY_LEN(register_types)], n = 0;

	bool exact = m->variant == 0 || formgen_starts(m->f->form->row, "cvt.pack");

	for (u32 i = 0; i < ARRAY_LEN(register_types); i++)
		if (register_fits(register_types[i], type, o, exact))
			fits[n++] = register_types[i];
	return n ? fits[formgen_below(&m->r, n)] : ISA_NONE;
}

u32 formgen_input(struct maker *m, u32 *next, u32 type, enum formgen_use use)
{
	u32 i = (*next)++;

	if (i >= FORMGEN_SLOTS)
		return 0;
	m->k->in[i] = (struct formgen_slot){(u8)type, (u8)use};
	if (i >= m->k->ins)
		m->k->ins = i + 1;
	return i;
}

void formgen_load(struct maker *m, u32 reg, u32 have, u32 slot)
{
	u32 at = slot * FORMGEN_THREADS * 8;

	if (have == T_pred)
		text_printf(
			&m->before,
			"ld.global.u32 %%t, [%%in+%u]; and.b32 %%t, %%t, 1; setp.ne.u32 %%x%u, %%t, 0;\n",
			at, reg);
	else if (have == T_b128)
		text_printf(&m->before,
			    "ld.global.u64 %%l, [%%in+%u]; ld.global.u64 %%h, [%%in+%u]; "
			    "mov.b128 %%x%u, {%%l, %%h};\n",
			    at, at + FORMGEN_THREADS * 8, reg);
	else
		text_printf(&m->before, "ld.global.b%u %%x%u, [%%in+%u];\n", isa_type_bits(have),
			    reg, at);
}

void formgen_store(struct maker *m, u32 reg, u32 have)
{
	u32 at = m->outs * FORMGEN_THREADS * 8;

	m->outs += have == T_b128 ? 2 : 1;
	if (have == T_pred)
		text_printf(&m->after,
			    "selp.u32 %%t, 1, 0, %%x%u; st.global.u32 [%%out+%u], %%t;\n", reg, at);
	else if (have == T_b128)
		text_printf(&m->after,
			    "mov.b128 {%%l, %%h}, %%x%u; st.global.u64 [%%out+%u], %%l; "
			    "st.global.u64 [%%out+%u], %%h;\n",
			    reg, at, at + FORMGEN_THREADS * 8);
	else if (formgen_starts(m->f->form->row,
				"mbarrier")) /* the low half of a state is undefined */
		text_printf(&m->after,
			    "mov.b64 {%%q, %%t}, %%x%u; st.global.u32 [%%out+%u], %%t;\n", reg, at);
	else
		text_printf(&m->after, "st.global.b%u [%%out+%u], %%x%u;\n", isa_type_bits(have),
			    at, reg);
}

u32 formgen_declare(struct maker *m, u32 have)
{
	text_printf(&m->before, ".reg .%s %%x%u;\n", isa_word_text(have), m->regs);
	return m->regs++;
}

static bool takes_constant(const struct isa_operand *o, u32 type)
{
	enum isa_class class = isa_type_class(type);

	return !(o->role & ISA_WRITE) && !o->register_only && !o->select && !o->minus &&
	       (class == ISA_UINT || class == ISA_SINT || class == ISA_BITS || type == T_f32 ||
		type == T_f64) &&
	       isa_type_bits(type) <= 64;
}

/* Of constants alone ptxas works these out itself, and rounds better than a GPU. */
static bool is_approximate(const struct isa_form *f)
{
	return isa_form_has(f, M_approx) || !strncmp(f->row->name[f->name], "div.full", 8);
}

static void put_constant(struct maker *m, const struct isa_operand *o, u32 type)
{
	u32 bits = isa_type_bits(type);
	u64 x = formgen_value(&m->r, type);

	if (o->ranges || o->kind == ISA_OP_IMM) {
		const struct isa_range *r =
			o->ranges ? isa_ranges(o->first_range) + formgen_below(&m->r, o->ranges)
				  : &(struct isa_range){0, 255, 1};
		u64 steps = (u64)(r->hi - r->lo) / (u64)(r->step ? r->step : 1);

		text_printf(
			&m->operands, "%lld",
			(long long)(r->lo + r->step * (s64)(formgen_next(&m->r) % (steps + 1))));
	} else if (type == T_f32) {
		text_printf(&m->operands, "0f%08X", (u32)x);
	} else if (type == T_f64) {
		text_printf(&m->operands, "0d%016llX", (unsigned long long)x);
	} else if (isa_type_class(type) == ISA_SINT) {
		text_printf(&m->operands, "%lld",
			    (long long)((s64)(x << (64 - bits)) >> (64 - bits)));
	} else {
		text_printf(&m->operands, "0x%llx", (unsigned long long)x);
	}
}

static void put_select(struct maker *m, u32 select)
{
	struct formgen_random *r = &m->r;

	if (select == ISA_SEL_SUBWORD && formgen_chance(r, 50))
		text_printf(&m->operands, ".b%u", formgen_below(r, 4));
	else if (select == ISA_SEL_SUBWORD)
		text_printf(&m->operands, ".h%u", formgen_below(r, 2));
	else if (select == ISA_SEL_MASK2)
		text_puts(&m->operands,
			  (const char *const[]){".h0", ".h1", ".h10"}[formgen_below(r, 3)]);
	else if (select == ISA_SEL_LANE2)
		text_printf(&m->operands, ".h%u%u", formgen_below(r, 4), formgen_below(r, 4));
	else if (select == ISA_SEL_LANE4)
		text_printf(&m->operands, ".b%u%u%u%u", formgen_below(r, 8), formgen_below(r, 8),
			    formgen_below(r, 8), formgen_below(r, 8));
	else {
		text_puts(&m->operands, ".b");
		for (u32 mask = 1 + formgen_below(r, 15), i = 4; i-- > 0;)
			if (mask >> i & 1)
				text_printf(&m->operands, "%u", i);
	}
}

/* A warp instruction's inputs are of kinds of their own. */
static enum formgen_use use_of(const struct maker *m, const struct isa_operand *o)
{
	const struct isa_row *row = m->f->form->row;

	if (row->chapter != ISA_CH_warp)
		return FORMGEN_VALUE;
	if (!strcmp(o->name, "m"))
		return FORMGEN_MEMBERS;
	if (row->row == I_shfl_sync)
		return !strcmp(o->name, "c") ? FORMGEN_SHUFFLE : FORMGEN_VALUE;
	return FORMGEN_FEW;
}

/* May the result's register be this source's as well? */
static bool is_reusable(struct maker *m, const struct isa_operand *o, u32 type)
{
	bool fits = m->dest_type == T_pred || type == T_pred
			    ? m->dest_type == type
			    : register_fits(m->dest_type, type, o, false);

	return fits && formgen_chance(&m->r, 50);
}

static bool put_element(struct maker *m, const struct isa_operand *o, u32 type, u32 *next)
{
	bool write = o->role & ISA_WRITE, read = o->role & ISA_READ;
	u32 slot = formgen_input(m, next, type, use_of(m, o)), have, reg;

	if (type == T_b128)
		formgen_input(m, next, T_b64, FORMGEN_VALUE);
	if (write && !read && o->sink && m->variant && formgen_chance(&m->r, 5)) {
		text_puts(&m->operands, "_");
		return true;
	}
	if (takes_constant(o, type) && m->variant && !is_approximate(m->f->form) &&
	    use_of(m, o) != FORMGEN_MEMBERS && formgen_chance(&m->r, 25)) {
		put_constant(m, o, type);
		return true;
	}
	if (!write && o->negate && m->variant && formgen_chance(&m->r, 40))
		text_puts(&m->operands, "!");
	if (!write && o->minus && m->variant && formgen_chance(&m->r, 25))
		text_puts(&m->operands, "-");
	have = type == T_pred ? T_pred : m->vector ? m->vector : choose_register(m, type, o);
	if (have == ISA_NONE)
		return false;
	if (!write && m->variant % 4 == 2 && m->dest_type && !m->vector &&
	    is_reusable(m, o, type)) {
		have = m->dest_type;
		reg = m->dest;
		m->dest_type = ISA_NONE;
	} else {
		reg = formgen_declare(m, have);
	}
	formgen_load(m, reg, have, slot);
	if (write)
		formgen_store(m, reg, have);
	if (write && !read && !m->outs_of_dest++) {
		m->dest = reg;
		m->dest_type = have;
	}
	text_printf(&m->operands, "%%x%u", reg);
	if (o->select && formgen_chance(&m->r, o->select == ISA_SEL_SUBWORD && write ? 100 : 60))
		put_select(m, o->select);
	return true;
}

/* Special registers that say the same in any machine. */
static void put_sreg(struct maker *m)
{
	static const char *const names[] = {
		"%tid.x",
		"%tid.y",
		"%tid.z",
		"%ntid.x",
		"%ntid.y",
		"%ntid.z",
		"%ctaid.x",
		"%ctaid.y",
		"%ctaid.z",
		"%nctaid.x",
		"%nctaid.y",
		"%nctaid.z",
		"%laneid",
		"%lanemask_eq",
		"%lanemask_le",
		"%lanemask_lt",
		"%lanemask_ge",
		"%lanemask_gt",
		"%clusterid.x",
		"%nclusterid.x",
		"%cluster_ctaid.x",
		"%cluster_nctaid.y",
		"%cluster_ctarank",
		"%cluster_nctarank",
		"%is_explicit_cluster",
		"%current_graph_exec",
		"%dynamic_smem_size",
		"%clusterid.y",
		"%nclusterid.z",
	};
	static const char *const vectors[] = {"%tid",           "%ntid",          "%ctaid",
					      "%nctaid",        "%clusterid",     "%nclusterid",
					      "%cluster_ctaid", "%cluster_nctaid"};

	if (isa_form_has(m->f->form, M_v4))
		text_puts(&m->operands, vectors[formgen_below(&m->r, ARRAY_LEN(vectors))]);
	else
		text_puts(&m->operands, names[formgen_below(&m->r, ARRAY_LEN(names))]);
}

static bool put_operand(struct maker *m, const struct isa_operand *o, u32 *next)
{
	const struct isa_form *f = m->f->form;
	u32 n, type;

	if (o->kind == ISA_OP_SINK) {
		text_puts(&m->operands, "_");
		return true;
	}
	if (o->kind == ISA_OP_SREG) {
		put_sreg(m);
		return true;
	}
	if (o->kind == ISA_OP_IMM) {
		if (formgen_special(m, o, T_u32, next))
			return true;
		put_constant(m, o, T_u32);
		return true;
	}
	if (o->kind == ISA_OP_ADDRESS)
		return formgen_address(m, o, next);
	type = isa_operand_type(f, o);
	n = isa_operand_count(f, o);
	if (formgen_special(m, o, type, next))
		return true;
	if (type == ISA_NONE)
		return false;
	if (n == 1 && !o->braces)
		return put_element(m, o, type, next);
	/* Elements are of one type. */
	m->vector = type == T_pred ? T_pred : choose_register(m, type, o);
	text_puts(&m->operands, "{");
	for (u32 i = 0; i < n; i++) {
		text_puts(&m->operands, i ? ", " : "");
		if (!put_element(m, o, type, next))
			return false;
	}
	text_puts(&m->operands, "}");
	m->vector = ISA_NONE;
	return true;
}

bool formgen_operands(struct maker *m, u32 *next)
{
	const struct isa_form *f = m->f->form;

	for (u32 i = 0; i < f->row->operands; i++) {
		const struct isa_operand *o = &f->row->operand[i];

		if (o->only_with ? !isa_form_has(f, o->only_with)
				 : o->optional && (m->variant & 1)) {
			if (o->kind == ISA_OP_VALUE) /* others keep their places */
				formgen_input(m, next, T_b32, FORMGEN_VALUE);
			continue;
		}
		text_puts(&m->operands, !i ? " " : o->bar ? "|" : ", ");
		if (!put_operand(m, o, next))
			return false;
	}
	return true;
}
