/*
 * Random operands that are places: addresses, symbols, member masks, barriers. Every thread has
 * memory of its own at %in (read only), %priv, %gloc (generic local), %tsh and %gsh (shared), `loc`
 * and, read only and the same for all, `cst` and `pdata`.
 */
#include "tests/fuzz/progen.h"

#include <stdio.h>

/* ---- which rows ---- */

static bool starts(const struct isa_row *row, const char *text)
{
	return !strncmp(row->name[0], text, strlen(text));
}

/* Spellings that only name something, or what the reference engine does not run. */
static bool is_odd(u32 row)
{
	switch (row) {
	case I_activemask: /* which lanes are together is undefined */
	case I_testp_none:
	case I_atom_odd:
	case I_mapa_odd:
	case I_mov_v2_scalar:
	case I_mov_v4_scalar:
	case I_mov_unpack_2_sreg:
	case I_mov_unpack_4_sreg:
	case I_mov_address_b128:
	case I_mov_function:
	case I_mov_kernel:
		return true;
	default:
		return false;
	}
}

static enum progen_class class_of_barrier(const struct isa_row *row)
{
	if (starts(row, "membar") || starts(row, "fence"))
		return PROGEN_MEMORY;
	/* An arrival needs a thread that waits: see progen_exchange. */
	if (starts(row, "barrier.cluster") || strstr(row->name[0], ".arrive") ||
	    starts(row, "mbarrier") || starts(row, "clusterlaunchcontrol"))
		return PROGEN_CLASSES;
	return starts(row, "bar") ? PROGEN_TOGETHER : PROGEN_CLASSES;
}

static enum progen_class class_of_misc(const struct isa_row *row)
{
	return row->row == I_nanosleep || starts(row, "pmevent") || starts(row, "griddepcontrol")
		       ? PROGEN_SCALAR
		       : PROGEN_CLASSES;
}

enum progen_class progen_class_of(const struct isa_row *row)
{
	if (is_odd(row->row))
		return PROGEN_CLASSES;
	switch ((enum isa_chapter)row->chapter) {
	case ISA_CH_int:
	case ISA_CH_float:
	case ISA_CH_half:
	case ISA_CH_cmp:
	case ISA_CH_logic:
	case ISA_CH_video:
	case ISA_CH_cvt:
		return PROGEN_SCALAR;
	case ISA_CH_move:
		return starts(row, "mov") || starts(row, "prmt") ? PROGEN_SCALAR : PROGEN_MEMORY;
	case ISA_CH_ld_st:
		return starts(row, "multimem") || starts(row, "createpolicy") ||
				       row->row == I_prefetch_tensormap
			       ? PROGEN_CLASSES
			       : PROGEN_MEMORY;
	case ISA_CH_atom:
		return PROGEN_MEMORY;
	case ISA_CH_warp:
		return PROGEN_TOGETHER;
	case ISA_CH_barrier:
		return class_of_barrier(row);
	case ISA_CH_misc:
		return class_of_misc(row);
	default:
		return PROGEN_CLASSES;
	}
}

/* ---- addresses ---- */

static const struct place {
	u16 space[3];     /* of the instruction */
	bool generic;     /* instructions without a space reach it */
	const char *base; /* register or symbol */
	const char *load; /* makes a 64-bit base of it that a sum may start from */
	u32 bytes, align;
	bool read_only;
} places[] = {
	{{M_global}, true, "%priv", "mov.u64 %tb, %priv;", 256, 32, false},
	{{M_global}, true, "%priv", "mov.u64 %tb, %priv;", 256, 32, false},
	{{M_global}, true, "%in", "mov.u64 %tb, %in;", PROGEN_IN, 32, true},
	{{M_local}, false, "loc", "mov.u64 %tb, loc;", 256, 16, false},
	{{M_shared, M_shared_cta, M_shared_cluster},
	 false,
	 "%tsh",
	 "mov.u64 %tb, %tsw;",
	 32,
	 16,
	 false},
	{{0}, true, "%gloc", "mov.u64 %tb, %gloc;", 256, 16, false},
	{{0}, true, "%gsh", "mov.u64 %tb, %gsh;", 32, 16, false},
	{{M_const}, false, "cst", "mov.u64 %tb, cst;", PROGEN_DATA, 16, true},
	{{M_param, M_param_entry}, false, "pdata", NULL, PROGEN_DATA, 16, true},
};

static bool is_in(const struct place *q, u32 space)
{
	if (space == ISA_NONE)
		return q->generic;
	for (u32 i = 0; i < ARRAY_LEN(q->space); i++)
		if (q->space[i] == space)
			return true;
	return false;
}

/* What an instruction moves: its widest value, all elements. */
static u32 bytes_of(const struct isa_form *f)
{
	u32 most = 0;

	if (starts(f->row, "st.bulk"))
		return 32;
	for (u32 i = 0; i < f->row->operands; i++) {
		const struct isa_operand *o = &f->row->operand[i];
		u32 n = isa_operand_count(f, o) * isa_type_bits(isa_operand_type(f, o)) / 8;

		if (o->kind == ISA_OP_VALUE && !o->only_with && n > most)
			most = n;
	}
	return most;
}

static bool may_write(const struct isa_form *f)
{
	return starts(f->row, "st") || starts(f->row, "atom") || starts(f->row, "red");
}

/* Generic atomics are for global and shared memory. */
static bool is_refused(const struct isa_form *f, const struct place *q)
{
	return (starts(f->row, "atom") || starts(f->row, "red")) && !strcmp(q->base, "%gloc");
}

/* Read-only caches want memory that nothing writes. */
static bool wants_constant(const struct isa_form *f)
{
	return isa_form_has(f, M_nc) || starts(f->row, "ldu");
}

static const struct place *choose_place(struct progen *p, const struct isa_form *f, u32 space,
					u32 bytes)
{
	const struct place *fits[ARRAY_LEN(places)];
	u32 n = 0;

	for (u32 i = 0; i < ARRAY_LEN(places); i++) {
		const struct place *q = &places[i];

		/* st.bulk is for shared memory alone. */
		if (starts(f->row, "st.bulk") && strcmp(q->base, "%tsh") && strcmp(q->base, "%gsh"))
			continue;
		/* Vectors of atomics are for global memory. */
		if (p->hardware && !strcmp(q->base, "%gsh") && may_write(f) &&
		    !starts(f->row, "st") && isa_form_word(f, ISA_K_VEC, 0) != ISA_NONE)
			continue;
		if (is_refused(f, q) || !is_in(q, space) || bytes > q->align ||
		    (q->read_only && may_write(f)) ||
		    (wants_constant(f) && (!q->read_only || q->space[0] != M_global)))
			continue;
		/*
		 * ld.param of a function reads its own parameters, constants are 32 bits there too.
		 */
		if (q->space[0] == M_param && p->function != PROGEN_KERNEL)
			continue;
		fits[n++] = q;
	}
	return n ? fits[progen_below(p, n)] : NULL;
}

static bool put_address(struct progen *p, const struct isa_form *f, const struct isa_operand *o,
			struct text *before, struct text *out)
{
	u32 bytes = bytes_of(f), step = bytes ? bytes : 16, at;
	const struct place *q;

	bytes = starts(f->row, "st.bulk") ? 8 : bytes;
	q = choose_place(p, f, isa_operand_space(f, o), bytes);
	if (!q)
		return false;
	if (q->load && progen_chance(p, 30) && q->bytes / step >= 2) {
		/* Lanes go to places of their own, apart and in any order. */
		text_printf(before,
			    "%s and.b32 %%ti, %%r%u, %u; mul.wide.u32 %%ta, %%ti, %u; "
			    "add.u64 %%ta, %%ta, %%tb; ",
			    q->load, progen_below(p, 10), q->bytes / step / 2 - 1, step);
		at = progen_below(p, 2) * step;
		text_printf(out, "[%%ta+%u]", at);
		return true;
	}
	at = progen_below(p, q->bytes / step) * step;
	if (at)
		text_printf(out, "[%s+%u]", q->base, at);
	else
		text_printf(out, "[%s]", q->base);
	return true;
}

/* ---- the others ---- */

static bool put_symbol(struct progen *p, const struct isa_form *f, struct text *out)
{
	u32 space = isa_form_word(f, ISA_K_SPACE, 0);

	if (space == M_const)
		text_puts(out, "cst");
	else if (starts(f->row, "mov"))
		text_puts(out, progen_chance(p, 50) ? "sh" : "cst");
	else if (starts(f->row, "mapa") || starts(f->row, "getctarank") || space == M_shared ||
		 space == M_shared_cta || space == M_shared_cluster)
		text_puts(out, "sh");
	else
		return false;
	if (progen_chance(p, 30))
		text_printf(out, "+%u", progen_below(p, 4) * 8);
	return true;
}

/* Generic addresses in shared memory, of this CTA, which is its own cluster. */
static bool put_cluster(struct progen *p, const struct isa_form *f, const struct isa_operand *o,
			struct text *out)
{
	bool window = isa_form_has(f, M_shared_cluster), wide = isa_type_bits(f->type[0]) == 64;

	(void)p;
	if (o->name[0] == 'b')
		text_puts(out, "0");
	else if (window || !wide)
		text_puts(out, wide ? "%tsw" : "%tsh");
	else
		text_puts(out, "%gsh");
	return window || wide;
}

static void put_barrier(struct progen *p, const struct isa_operand *o, struct text *out)
{
	if (o->name[0] == 'n')
		text_printf(out, "%u", (p->block + 31) / 32 * 32);
	else if (progen_chance(p, 20))
		text_puts(out, "%tbar");
	else
		text_printf(out, "%u", progen_below(p, 16));
}

static bool is_barrier(const struct isa_form *f, const struct isa_operand *o)
{
	return f->row->chapter == ISA_CH_barrier && o->kind == ISA_OP_VALUE &&
	       isa_type_bits(isa_operand_type(f, o)) == 32 && (o->role & ISA_WRITE) == 0;
}

static bool is_member_mask(const struct isa_operand *o, const struct isa_form *f)
{
	return (f->row->chapter == ISA_CH_warp || f->row->row == I_bar_warp_sync) &&
	       !strcmp(o->name, "m");
}

static bool is_cluster(const struct isa_form *f, const struct isa_operand *o)
{
	return (starts(f->row, "mapa") || starts(f->row, "getctarank")) &&
	       o->kind == ISA_OP_VALUE && !(o->role & ISA_WRITE);
}

bool progen_is_place(const struct isa_form *f, const struct isa_operand *o)
{
	return o->kind == ISA_OP_ADDRESS || o->kind == ISA_OP_SYMBOL || is_member_mask(o, f) ||
	       is_barrier(f, o) || is_cluster(f, o) || f->row->row == I_nanosleep ||
	       (starts(f->row, "st.bulk") && o->kind == ISA_OP_VALUE);
}

bool progen_place(struct progen *p, const struct isa_form *f, const struct isa_operand *o,
		  struct text *before, struct text *out)
{
	if (o->kind == ISA_OP_ADDRESS)
		return put_address(p, f, o, before, out);
	if (o->kind == ISA_OP_SYMBOL)
		return put_symbol(p, f, out);
	if (is_member_mask(o, f)) {
		text_puts(out, p->mask);
		return true;
	}
	if (f->row->row == I_nanosleep) {
		text_printf(out, "%u", progen_below(p, 100));
		p->apart = true;
		return true;
	}
	if (starts(f->row, "st.bulk")) {
		text_printf(out, "%u", progen_below(p, 2) * 8);
		return true;
	}
	if (is_cluster(f, o))
		return put_cluster(p, f, o, out);
	/* A count of threads does not fit when some have gone. */
	if (o->name[0] == 'n' && p->leaves)
		return false;
	put_barrier(p, o, out);
	return true;
}
