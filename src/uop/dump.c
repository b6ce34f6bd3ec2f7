/*
 * Lowered programs as text: one record a line, for tests and `ptxloom exec --dump-program`.
 */
#include "src/exec/exec.h"

/* A constant's value stands behind its row. */
static void put_row(const struct program *p, u32 row, const char *prefix, struct text *out)
{
	if (row == NO_ROW)
		return;
	text_printf(out, " %s@%u", prefix, row);
	for (u32 i = 0; i < p->const_len; i++)
		if (p->consts[i].row == row)
			text_printf(out, "(%#llx)", (unsigned long long)p->consts[i].bits);
}

static void put_insn(const struct program *p, u32 pc, struct text *out)
{
	const struct uop *in = &p->uop[pc];
	const struct program_func *f = &p->funcs[in->func];

	text_printf(out, "%5u  ", pc);
	if (in->guard != NO_ROW)
		text_printf(out, "@%s%u ", in->flags & UOPF_GUARD_NOT ? "!" : "", in->guard);
	text_puts(out, uop_info[in->inner].name);
	put_row(p, in->d, "d", out);
	put_row(p, in->a, "a", out);
	put_row(p, in->b, "b", out);
	put_row(p, in->c, "c", out);
	if (in->imm)
		text_printf(out, " imm %lld", (long long)in->imm);
	if (in->inner == OP_load_affine || in->inner == OP_store_affine ||
	    in->inner == OP_setp_affine || in->inner == OP_load_wide ||
	    in->inner == OP_store_wide || in->inner == OP_setp_affine_wide)
		text_printf(out, " affine %u", in->target);
	else if (in->target != NO_PC)
		text_printf(out, " -> %u%s", in->target,
			    in->flags & UOPF_BACK ? in->flags & UOPF_POLL ? " (polls)" : " (back)"
						  : "");
	if (in->ir < f->func->insns.len) {
		text_puts(out, "  ; ");
		ir_print_insn(f->module, f->func, &f->func->insns.at[in->ir], out);
	}
	text_puts(out, "\n");
}

void exec_dump_program(const struct program *p, struct text *out)
{
	text_printf(
		out,
		"gang of %u warps, %u bytes of registers; %u bytes of parameters, %u of static shared memory\n",
		p->gang, p->block_bytes, p->param_bytes, p->shared_static);
	for (u32 f = 0; f < p->func_len; f++) {
		text_printf(out, "%s, frame of %u bytes:\n", p->funcs[f].func->name->text,
			    p->funcs[f].frame_bytes);
		for (u32 pc = p->funcs[f].first; pc < p->funcs[f].end; pc++)
			put_insn(p, pc, out);
	}
	if (p->launch_first < p->uops)
		text_puts(out, "once for each launch:\n");
	for (u32 pc = p->launch_first; pc < p->uops; pc++)
		put_insn(p, pc, out);
}
