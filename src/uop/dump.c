/*
 * Lowered programs as text: one micro-op a line, for tests and `ptxloom exec --dump-program`.
 */
#include "src/exec/program.h"

/* A constant's value stands after its row. */
static void put_row(const struct program *p, u32 row, const char *prefix, struct text *out)
{
	if (row == NO_ROW)
		return;
	text_printf(out, " %s@%u", prefix, row);
	for (u32 i = 0; i < p->const_len; i++)
		if (p->consts[i].row == row)
			text_printf(out, "(%#llx)", (unsigned long long)p->consts[i].bits);
}

static void put_access(const struct uop *in, u32 payload, struct text *out)
{
	const struct uop_access *m = &in->mem;

	if (m->offset)
		text_printf(out, " offset %lld", (long long)m->offset);
	if (m->size)
		text_printf(out, " %ux%u bytes", m->count ? m->count : 1, m->size);
	if (payload == PAYLOAD_INDEXED && in->index.scale)
		text_printf(out, " scale %u step %u", in->index.scale, in->index.step);
	if (in->inner == OP_load_affine || in->inner == OP_store_affine ||
	    in->inner == OP_load_wide || in->inner == OP_store_wide)
		text_printf(out, " affine %u", in->index.affine);
	if (payload == PAYLOAD_ATOMIC)
		text_printf(out, " action %u %s", in->atomic.action,
			    isa_word_text(in->atomic.type));
	else if (payload == PAYLOAD_COPY && in->copy.reduces)
		text_printf(out, " reduces %u %s", in->copy.action, isa_word_text(in->copy.type));
	else if (payload == PAYLOAD_MBAR)
		text_printf(out, " action %u", in->mbar.action);
	else if (payload == PAYLOAD_TENSOR)
		text_printf(out, " rank %u kind %u", in->tensor.rank, in->tensor.kind);
	else if (payload == PAYLOAD_FIELD)
		text_printf(out, " field %u[%u]", in->field.field, in->field.index);
	else if (payload == PAYLOAD_TEXTURE)
		text_printf(out, " how %#x", in->texture.how);
	else if (payload == PAYLOAD_VARIABLES)
		text_printf(out, " of %u variables", in->variables.number);
	else if (payload == PAYLOAD_FRAGMENT && in->fragment.bits)
		text_printf(out, " packed %u bits", in->fragment.bits);
	else if (payload == PAYLOAD_WMMA)
		text_printf(out, " type %u rows %u words %u", in->wmma.type, in->wmma.eights * 8u,
			    in->wmma.words);
}

static void put_product(const struct uop_product *x, struct text *out)
{
	text_printf(out, " types %u %u %u %u, %ux%u, rows of %u words, registers %u %u %u%s%s",
		    x->form.a, x->form.b, x->form.c, x->form.d, x->form.rows * 8u,
		    (x->columns ? x->columns : x->form.columns) * 8u, x->form.words, x->d, x->a,
		    x->b, x->same_a ? ", A again" : "", x->same_b ? ", B again" : "");
}

static void put_branch(const struct uop *in, struct text *out)
{
	if (in->branch.target != NO_PC)
		text_printf(out, " -> %u", in->branch.target);
	if (in->branch.cases)
		text_printf(out, " %u cases", in->branch.cases);
	if (in->flags & UOPF_BACK)
		text_puts(out, in->flags & UOPF_POLL ? " (polls)" : " (back)");
	if (in->branch.join != NO_PC)
		text_printf(out, " meets at %u", in->branch.join);
}

static void put_sreg(const struct uop_sreg *x, struct text *out)
{
	static const char *const parts[] = {"", ".y", ".z", ".w"};

	text_printf(out, " %s%s%s", isa_sreg(x->number)->name, parts[x->component & 3],
		    x->waits ? " (waits)" : "");
}

/* What the micro-op says beside its rows. */
static void put_payload(const struct program *p, const struct uop *in, struct text *out)
{
	u32 payload = uop_info[in->inner].payload;

	switch ((enum uop_payload)payload) {
	case PAYLOAD_NONE:
		break;
	case PAYLOAD_LANE:
		put_row(p, in->lane.e, "e", out);
		if (in->lane.imm)
			text_printf(out, " imm %lld", (long long)in->lane.imm);
		if (in->lane.shift)
			text_printf(out, " shift %u", in->lane.shift);
		break;
	case PAYLOAD_BRANCH:
		put_branch(in, out);
		break;
	case PAYLOAD_CALL:
		text_printf(out, in->a == NO_ROW ? " of %u%s" : " by signature %#x%s",
			    in->a == NO_ROW ? in->call.callee : in->call.signature,
			    in->call.saves ? ", saves rows" : "");
		break;
	case PAYLOAD_STACK:
		text_printf(out, " %llu bytes, from %u to %u, align %u",
			    (unsigned long long)in->stack.bytes, in->stack.from, in->stack.to,
			    in->stack.align);
		break;
	case PAYLOAD_BOUNDS:
		text_printf(out, " offset %lld, %u bytes from %u to %u%s",
			    (long long)in->bounds.offset, in->bounds.bytes, in->bounds.from,
			    in->bounds.to, in->bounds.generic ? ", generic" : "");
		break;
	case PAYLOAD_BARRIER:
		text_printf(out, " number %u threads %u", in->barrier.number, in->barrier.threads);
		break;
	case PAYLOAD_ADDRESS:
		text_printf(out, " offset %lld what %u%s%s", (long long)in->address.offset,
			    in->address.what, in->address.local ? " local" : "",
			    in->address.to_generic ? " to generic" : "");
		break;
	case PAYLOAD_SREG:
		put_sreg(&in->sreg, out);
		break;
	case PAYLOAD_AFFINE:
		text_printf(out, " affine %u compare %u", in->affine.number, in->affine.compare);
		break;
	case PAYLOAD_WARP:
		text_printf(out, " action %u members %#x%s", in->warp.action, in->warp.members,
			    in->warp.alone ? " alone" : "");
		break;
	case PAYLOAD_GROUP:
		text_printf(out, " action %u pending %u", in->group.action, in->group.pending);
		break;
	case PAYLOAD_COUNT:
		text_printf(out, " into %u", in->count.at);
		break;
	case PAYLOAD_HINT:
		text_printf(out, " kind %u", in->hint.kind);
		break;
	case PAYLOAD_POLICY:
		text_printf(out, " priorities %u %u%s", in->policy.primary, in->policy.secondary,
			    in->policy.is_range ? " range" : "");
		break;
	case PAYLOAD_PRODUCT:
		put_product(&in->product, out);
		break;
	default:
		put_access(in, payload, out);
		break;
	}
}

static void put_uop(const struct program *p, u32 pc, struct text *out)
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
	put_payload(p, in, out);
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
			put_uop(p, pc, out);
	}
	if (p->launch_first < p->uops)
		text_puts(out, "once for each launch:\n");
	for (u32 pc = p->launch_first; pc < p->uops; pc++)
		put_uop(p, pc, out);
}
