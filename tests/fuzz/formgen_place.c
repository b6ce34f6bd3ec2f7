/*
 * Instructions of memory on places of a thread's own, 64 bytes in each state space that are written
 * before and read after it; and what asynchronous copies and mbarriers need around them.
 *
 * Eight inputs or outputs in a row are 64 bytes for each thread, in the order of the threads.
 */
#include "tests/fuzz/formgen_int.h"

#define BLOCK_SLOTS (FORMGEN_PLACE / 8)

bool formgen_is_memory(const struct isa_row *row)
{
	static const char *const out[] = {
		"multimem",
		"createpolicy",
		"prefetch",
		"applypriority",
		"discard",
		"tensormap",
		"st.bulk",
		"cp.async.bulk.tensor",
		"cp.reduce.async.bulk.tensor",
		"cp.async.bulk.prefetch",
		"cp.async.commit",
		"cp.async.wait",
		"cp.async.bulk.commit",
		"cp.async.bulk.wait",
		"mbarrier.inval",
		"mbarrier.pending",
		"st.async",
		"red.async",
	};

	for (u32 i = 0; i < ARRAY_LEN(out); i++)
		if (formgen_starts(row, out[i]))
			return false;
	/* To other CTAs: illegal without a cluster. */
	if (strstr(row->syntax, "shared::cluster.shared::cta"))
		return false;
	return row->chapter == ISA_CH_ld_st || row->chapter == ISA_CH_atom ||
	       row->chapter == ISA_CH_async ||
	       (row->chapter == ISA_CH_barrier && formgen_starts(row, "mbarrier"));
}

static bool is_async(const struct isa_row *row)
{
	return row->chapter == ISA_CH_async && !formgen_starts(row, "cp.async.mbarrier");
}

static bool is_bulk(const struct isa_row *row)
{
	return formgen_starts(row, "cp.async.bulk") || formgen_starts(row, "cp.reduce");
}

/* ---- places ---- */

/* What an instruction moves: its widest value, all elements. */
static u32 bytes_of(const struct isa_form *f)
{
	u32 most = 1;

	if (is_bulk(f->row))
		return FORMGEN_PLACE;
	if (formgen_starts(f->row, "cp.async"))
		return 16;
	for (u32 i = 0; i < f->row->operands; i++) {
		const struct isa_operand *o = &f->row->operand[i];
		u32 n = isa_operand_count(f, o) * isa_type_bits(isa_operand_type(f, o)) / 8;

		if (o->kind == ISA_OP_VALUE && !o->only_with && n > most)
			most = n;
	}
	return most;
}

/* The type of what lies in memory. */
static u32 content_of(const struct isa_form *f)
{
	u32 type = f->types ? f->type[0] : (u32)T_b64;

	return isa_type_bits(type) > 64 || isa_type_bits(type) < 8 ? (u32)T_b64 : type;
}

static bool is_barrier(const struct isa_form *f, const struct isa_operand *o)
{
	return formgen_starts(f->row, "mbarrier") || !strcmp(o->name, "m");
}

static bool is_read_only(const struct isa_form *f, const struct isa_operand *o)
{
	return isa_form_has(f, M_nc) || formgen_starts(f->row, "ldu") ||
	       (is_async(f->row) && !strcmp(o->name, "s"));
}

/* FORMGEN_SPACES: there is none in a kernel. */
static enum formgen_space space_of(struct maker *m, const struct isa_operand *o, bool *generic)
{
	const struct isa_form *f = m->f->form;
	u32 space = isa_operand_space(f, o);
	bool atomic = formgen_starts(f->row, "atom") || formgen_starts(f->row, "red");

	*generic = space == ISA_NONE && !formgen_starts(f->row, "st.async") &&
		   !formgen_starts(f->row, "red.async");
	if (is_barrier(f, o)) {
		*generic &= formgen_starts(f->row, "mbarrier");
		return FORMGEN_BARRIER;
	}
	if (space == ISA_NONE && !*generic)
		return FORMGEN_SHARED;
	if (is_read_only(f, o) && (space == M_global || *generic))
		return FORMGEN_READ_ONLY;
	/* Vectors of atomics are for global memory. */
	if (*generic && atomic && isa_form_word(f, ISA_K_VEC, 0) != ISA_NONE)
		return FORMGEN_GLOBAL;
	if (*generic)
		return (const enum formgen_space[]){FORMGEN_GLOBAL, FORMGEN_SHARED,
						    FORMGEN_LOCAL}[m->variant % (atomic ? 2 : 3)];
	switch (space) {
	case M_global:
		return FORMGEN_GLOBAL;
	case M_shared:
	case M_shared_cta:
	case M_shared_cluster:
		return FORMGEN_SHARED;
	case M_local:
		return FORMGEN_LOCAL;
	case M_const:
		return FORMGEN_CONST;
	case M_param:
	case M_param_entry:
		return FORMGEN_PARAM;
	default:
		return FORMGEN_SPACES;
	}
}

static const char *window_of(enum formgen_space s)
{
	return s == FORMGEN_LOCAL ? "local" : s == FORMGEN_CONST ? "const" : "shared";
}

/* The address of this thread's place, in the 64-bit register %p<n>. */
static void base(struct maker *m, enum formgen_space s, u32 n, u32 in, u32 out)
{
	struct text *t = &m->before;
	u64 line = FORMGEN_THREADS * 8;

	text_printf(t, ".reg .u64 %%p%u;\n", n);
	if (s == FORMGEN_GLOBAL)
		text_printf(t, "mad.wide.u32 %%p%u, %%i, %u, %%out0; add.u64 %%p%u, %%p%u, %llu;\n",
			    n, FORMGEN_PLACE, n, n, (unsigned long long)(out * line));
	else if (s == FORMGEN_READ_ONLY)
		text_printf(t, "mad.wide.u32 %%p%u, %%i, %u, %%in0; add.u64 %%p%u, %%p%u, %llu;\n",
			    n, FORMGEN_PLACE, n, n, (unsigned long long)(in * line));
	else if (s == FORMGEN_SHARED)
		text_printf(t, "mov.u64 %%p%u, sh%u; mad.wide.u32 %%p%u, %%ix, %u, %%p%u;\n", n,
			    m->space[s] & 1, n, FORMGEN_PLACE, n);
	else if (s == FORMGEN_LOCAL)
		text_printf(t, ".local .align 16 .b8 loc%u[%u]; mov.u64 %%p%u, loc%u;\n", n,
			    FORMGEN_PLACE, n, n);
	else if (s == FORMGEN_CONST)
		text_printf(
			t,
			"mov.u64 %%p%u, cst; and.b32 %%t, %%i, 31; mad.wide.u32 %%p%u, %%t, %u, %%p%u;\n",
			n, n, FORMGEN_PLACE, n);
}

/* Fill it before, read it after. */
static void contents(struct maker *m, enum formgen_space s, u32 n, u32 in, u32 out)
{
	const char *space = s == FORMGEN_GLOBAL ? "global" : window_of(s);
	u64 line = FORMGEN_THREADS * 8;

	if (s == FORMGEN_READ_ONLY || s == FORMGEN_CONST || s == FORMGEN_PARAM)
		return;
	text_printf(&m->before, "mad.wide.u32 %%st, %%i, %u, %%in0;\n", FORMGEN_PLACE);
	for (u32 i = 0; i < FORMGEN_PLACE; i += 16)
		text_printf(
			&m->before,
			"ld.global.v2.u64 {%%l, %%h}, [%%st+%llu]; st.%s.v2.u64 [%%p%u+%u], {%%l, %%h};\n",
			(unsigned long long)(in * line + i), space, n, i);
	if (s == FORMGEN_GLOBAL)
		return;
	text_printf(&m->after, "mad.wide.u32 %%st, %%i, %u, %%out0;\n", FORMGEN_PLACE);
	for (u32 i = 0; i < FORMGEN_PLACE; i += 16)
		text_printf(
			&m->after,
			"ld.%s.v2.u64 {%%l, %%h}, [%%p%u+%u]; st.global.v2.u64 [%%st+%llu], {%%l, %%h};\n",
			space, n, i, (unsigned long long)(out * line + i));
}

static bool put_barrier(struct maker *m, bool generic)
{
	m->space[FORMGEN_BARRIER]++;
	if (generic)
		text_puts(&m->operands, "[%st]");
	else
		text_puts(&m->operands, "[%ba]");
	return true;
}

/* Lanes of later variants go to places of their own choice inside of their 64 bytes. */
static void spread(struct maker *m, u32 n, u32 bytes, u32 *next)
{
	u32 slot = formgen_input(m, next, T_b32, FORMGEN_VALUE);

	text_printf(&m->before, ".reg .u64 %%e%u; mov.u64 %%e%u, %%p%u;\n", n, n, n);
	if (m->variant < 4 || bytes >= FORMGEN_PLACE)
		return;
	text_printf(
		&m->before,
		"ld.global.u32 %%t, [%%in+%u]; and.b32 %%t, %%t, %u; mad.wide.u32 %%e%u, %%t, %u, %%p%u;\n",
		slot * FORMGEN_THREADS * 8, FORMGEN_PLACE / bytes - 1, n, bytes, n);
}

bool formgen_address(struct maker *m, const struct isa_operand *o, u32 *next)
{
	const struct isa_form *f = m->f->form;
	u32 bytes = bytes_of(f), n = m->regs++, in = *next, out = m->outs, at;
	bool generic, narrow;
	enum formgen_space s = space_of(m, o, &generic);

	if (s == FORMGEN_SPACES)
		return false;
	if (s == FORMGEN_BARRIER)
		return put_barrier(m, generic);
	for (u32 i = 0; i < BLOCK_SLOTS; i++)
		formgen_input(m, next, content_of(f), FORMGEN_MEMORY);
	if (s != FORMGEN_READ_ONLY && s != FORMGEN_CONST && s != FORMGEN_PARAM)
		m->outs += BLOCK_SLOTS;
	at = bytes < FORMGEN_PLACE ? formgen_below(&m->r, FORMGEN_PLACE / bytes) * bytes : 0;
	if (s == FORMGEN_PARAM) {
		text_printf(&m->operands, "[pd+%u]", at);
		return true;
	}
	base(m, s, n, in, out);
	contents(m, s, n, in, out);
	m->space[s]++;
	if (m->variant >= 4 || bytes >= FORMGEN_PLACE)
		at = 0;
	spread(m, n, bytes, next);
	if (generic && s != FORMGEN_GLOBAL && s != FORMGEN_READ_ONLY)
		text_printf(&m->before, ".reg .u64 %%g%u; cvta.%s.u64 %%g%u, %%e%u;\n", n,
			    window_of(s), n, n);
	narrow = !generic && s != FORMGEN_GLOBAL && s != FORMGEN_READ_ONLY &&
		 formgen_chance(&m->r, 50);
	if (narrow)
		text_printf(&m->before, ".reg .u32 %%g%u; cvt.u32.u64 %%g%u, %%e%u;\n", n, n, n);
	text_printf(&m->operands, "[%%%c%u+%u]",
		    narrow || (generic && s != FORMGEN_GLOBAL && s != FORMGEN_READ_ONLY) ? 'g'
											 : 'e',
		    n, at);
	return true;
}

/* ---- values ---- */

static bool put_choice(struct maker *m, const u32 *from, u32 n)
{
	text_printf(&m->operands, "%u", from[formgen_below(&m->r, n)]);
	return true;
}

/* Counts of an mbarrier for four arrivals. */
static bool barrier_value(struct maker *m, const struct isa_operand *o, u32 type)
{
	static const u32 counts[] = {1, 2, 3}, bytes[] = {0, 1, 16, 1000},
			 inits[] = {1, 2, 7, 1048575};
	const struct isa_row *row = m->f->form->row;

	if (!strcmp(o->name, "n") && row->row == I_mbarrier_init)
		return put_choice(m, inits, ARRAY_LEN(inits));
	if (!strcmp(o->name, "n"))
		return strstr(m->f->opcode, "_tx") ? put_choice(m, bytes, ARRAY_LEN(bytes))
						   : put_choice(m, counts, ARRAY_LEN(counts));
	if (!strcmp(o->name, "s") && isa_type_bits(type) == 64) {
		text_puts(&m->operands, "%pol");
		return true;
	}
	if (!strcmp(o->name, "s") || !strcmp(o->name, "t"))
		return put_choice(m, (const u32[]){0, 1}, 2);
	return false;
}

bool formgen_special(struct maker *m, const struct isa_operand *o, u32 type, u32 *next)
{
	static const u32 whole[] = {16, 32, 48, 64}, small[] = {0, 1, 3, 4};
	const struct isa_row *row = m->f->form->row;

	(void)next;
	if (o->only_with == M_L2_cache_hint || (is_async(row) && !strcmp(o->name, "p"))) {
		text_puts(&m->operands, "%pol");
		return true;
	}
	if (is_bulk(row) && !strcmp(o->name, "n")) {
		m->bytes = whole[formgen_below(&m->r, 4)];
		text_printf(&m->operands, "%u", m->bytes);
		return true;
	}
	if (is_bulk(row) && !strcmp(o->name, "c")) { /* to this CTA alone */
		text_puts(&m->operands, "1");
		return true;
	}
	if (formgen_starts(row, "cp.async") && !strcmp(o->name, "z"))
		return put_choice(m, small, ARRAY_LEN(small));
	if (formgen_starts(row, "mbarrier"))
		return barrier_value(m, o, type);
	return false;
}

/* ---- around ---- */

/* Makes the mbarrier of this thread, in %ba and, as a generic address, in %st. */
void formgen_prepare(struct maker *m, struct text *out)
{
	const struct isa_row *row = m->f->form->row;
	bool tx =
		is_bulk(row) || formgen_starts(row, "st.async") || formgen_starts(row, "red.async");

	if (is_bulk(row))
		text_puts(out, "fence.proxy.async;\n");
	if (!m->space[FORMGEN_BARRIER])
		goto state;
	text_puts(out, "mov.u32 %ba, bars; mad.lo.u32 %ba, %ix, 8, %ba; cvt.u64.u32 %st, %ba; "
		       "cvta.shared.u64 %st, %st;\n");
	text_printf(out, "mbarrier.init.shared.b64 [%%ba], %u;\n", tx ? 1 : 4);
	if (tx)
		text_printf(
			out,
			"fence.proxy.async; mbarrier.arrive.expect_tx.shared.b64 %%pol, [%%ba], %u;\n"
			"createpolicy.fractional.L2::evict_first.b64 %%pol;\n",
			m->bytes ? m->bytes : bytes_of(m->f->form));
state:
	if (strstr(m->f->opcode, "_wait") || strstr(m->f->opcode, "pending_count"))
		text_printf(out,
			    "mov.u32 %%ba, bars; mad.lo.u32 %%ba, %%ix, 8, %%ba; %s"
			    "mbarrier.arrive.shared.b64 %%pol, [%%ba];\n",
			    m->space[FORMGEN_BARRIER] ? "" : "mbarrier.init.shared.b64 [%ba], 3; ");
}

/* Waits until it is done, and tells what became of the mbarrier. */
void formgen_finish(struct maker *m, struct text *out)
{
	const struct isa_row *row = m->f->form->row;
	bool tx =
		is_bulk(row) || formgen_starts(row, "st.async") || formgen_starts(row, "red.async");

	if (is_bulk(row) && !m->space[FORMGEN_BARRIER])
		text_puts(out, "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;\n");
	else if (formgen_starts(row, "cp.async"))
		text_puts(out, "cp.async.wait_all;\n");
	if (!m->space[FORMGEN_BARRIER])
		return;
	if (tx)
		text_printf(
			out,
			"W%u: mbarrier.try_wait.parity.shared.b64 %%g, [%%ba], 0; @!%%g bra W%u;\n",
			m->variant, m->variant);
	text_printf(out,
		    "mbarrier.test_wait.parity.shared.b64 %%g, [%%ba], 0; selp.u32 %%t, 1, 0, %%g; "
		    "st.global.u32 [%%out+%u], %%t;\nmbarrier.inval.shared.b64 [%%ba];\n",
		    m->outs++ * FORMGEN_THREADS * 8);
}
