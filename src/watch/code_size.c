/*
 * Estimating the size of machine code.
 *
 * Weights are instructions of machine code for one of PTX, fitted to what ptxas 13.0 makes of 618
 * kernels for sm_90.
 * Deviation: half of those kernels are within 15 % of the estimate, four in five within 40 %, where
 * ptxas unrolls loops or drops code that has no use.
 */
#include "src/watch/code_size.h"

#include "src/isa/shape.h"

/* In hundredths of an instruction. */
#define ONE 100u
/* Code begins and ends with so much; its section is padded to whole 128 bytes. */
#define CODE_AROUND 4u
#define CODE_BEHIND 128u
#define CODE_ALIGN 128u
#define CODE_INSN_BYTES 16u
/* Loops of at most so many instructions of PTX are taken to be repeated by ptxas so many times. */
#define UNROLLED_INSNS 40u
#define UNROLLED_MORE 2u
/* Of code, at a time. */
#define CODE_FETCH_BYTES 256u
#define CODE_SECTOR_BYTES 32u
/* In their bank of constants. */
#define PARAMETERS_AT 0x210u
/* Requests for a line of parameters that miss, while it is on its way to an SM. */
#define PARAMETER_MISSES 13u
/* Loads of parameters into registers that are not uniform, at most. */
#define PARAMETER_LOADS 4u

enum code_class {
	CODE_PLAIN,
	CODE_MOVE,
	CODE_ADDRESS, /* cvta */
	CODE_PARAMETER,
	CODE_WIDE_ADD,
	CODE_WIDE_MUL,
	CODE_TO_WIDE, /* mul.wide: mostly part of an address */
	CODE_WIDE,    /* other integers of 64 bits */
	CODE_CONVERT,
	CODE_BRANCH,
	CODE_DIVIDE_CONSTANT,
	CODE_DIVIDE,
	CODE_DIVIDE_WIDE,
	CODE_DIVIDE_F32,
	CODE_DIVIDE_F64,
	CODE_CALL,
	CODE_CLASSES,
};

static const struct {
	u16 each;
	u16 once; /* a subroutine */
} code_cost[CODE_CLASSES] = {
	[CODE_PLAIN] = {ONE, 0},           [CODE_MOVE] = {50, 0},
	[CODE_ADDRESS] = {30, 0},          [CODE_PARAMETER] = {70, 0},
	[CODE_WIDE_ADD] = {90, 0},         [CODE_WIDE_MUL] = {400, 0},
	[CODE_TO_WIDE] = {60, 0},          [CODE_WIDE] = {200, 0},
	[CODE_CONVERT] = {50, 0},          [CODE_BRANCH] = {120, 0},
	[CODE_DIVIDE_CONSTANT] = {300, 0}, [CODE_DIVIDE] = {2000, 0},
	[CODE_DIVIDE_WIDE] = {1000, 6000}, [CODE_DIVIDE_F32] = {900, 4000},
	[CODE_DIVIDE_F64] = {1400, 5000},  [CODE_CALL] = {200, 0},
};

static bool is_wide_type(const struct isa_form *form)
{
	return form->types &&
	       (form->type[0] == T_u64 || form->type[0] == T_s64 || form->type[0] == T_b64);
}

static bool ends_with_constant(const struct ir_func *f, const struct ir_insn *in)
{
	u8 kind = in->ops ? f->operands.at[in->first_op + in->ops - 1u].kind : (u8)IR_OP_REG;

	return kind == IR_OP_INT || kind == IR_OP_FLOAT;
}

static enum code_class code_class_of_divide(const struct ir_func *f, const struct ir_insn *in)
{
	const struct isa_form *form = in->form;

	if (isa_form_has(form, M_approx) || isa_form_has(form, M_full))
		return CODE_PLAIN;
	if (form->types && form->type[0] == T_f64)
		return CODE_DIVIDE_F64;
	if (form->types && form->type[0] == T_f32)
		return CODE_DIVIDE_F32;
	if (ends_with_constant(f, in))
		return CODE_DIVIDE_CONSTANT;
	return is_wide_type(form) ? CODE_DIVIDE_WIDE : CODE_DIVIDE;
}

static bool is_access(const struct isa_form *form)
{
	return isa_form_has(form, M_global) || isa_form_has(form, M_shared) ||
	       isa_form_has(form, M_local);
}

static enum code_class code_class_of(const struct ir_func *f, const struct ir_insn *in)
{
	const struct isa_form *form = in->form;
	bool is_wide = is_wide_type(form);

	switch (isa_form_opcode(form)) {
	case OPCODE_mov:
		return CODE_MOVE;
	case OPCODE_cvta:
		return CODE_ADDRESS;
	case OPCODE_ld:
		return isa_form_has(form, M_param) ? CODE_PARAMETER : CODE_PLAIN;
	case OPCODE_add:
	case OPCODE_sub:
		return is_wide ? CODE_WIDE_ADD : CODE_PLAIN;
	case OPCODE_mul:
	case OPCODE_mad:
		return isa_form_has(form, M_wide) ? CODE_TO_WIDE
		       : is_wide                  ? CODE_WIDE_MUL
						  : CODE_PLAIN;
	case OPCODE_cvt:
		return CODE_CONVERT;
	case OPCODE_bra:
		return CODE_BRANCH;
	case OPCODE_call:
		return CODE_CALL;
	case OPCODE_div:
	case OPCODE_rem:
	case OPCODE_sqrt:
	case OPCODE_rcp:
	case OPCODE_rsqrt:
		return code_class_of_divide(f, in);
	default:
		return is_wide && !is_access(form) ? CODE_WIDE : CODE_PLAIN;
	}
}

static u32 cost_at(const struct ir_func *f, u32 i)
{
	const struct ir_insn *in = &f->insns.at[i];

	return in->form ? code_cost[code_class_of(f, in)].each : 0;
}

/* ---- loops ---- */

/* The instruction where a branch back leads, or IR_NONE. */
static u32 goes_back_to(const struct ir_func *f, u32 i)
{
	const struct ir_insn *in = &f->insns.at[i];

	if (ir_opcode(in) != OPCODE_bra)
		return IR_NONE;
	for (u32 k = 0; k < in->ops; k++) {
		const struct ir_operand *o = &f->operands.at[in->first_op + k];

		if (o->kind == IR_OP_LABEL && f->labels.at[o->index].insn <= i)
			return f->labels.at[o->index].insn;
	}
	return IR_NONE;
}

/* Instructions in whose loops ptxas repeats nothing. */
static bool prevents_unrolling(const struct ir_insn *in)
{
	static const u16 opcodes[] = {OPCODE_call,    OPCODE_bar_sync, OPCODE_barrier,
				      OPCODE_bar_red, OPCODE_fence,    OPCODE_membar};

	for (u32 i = 0; i < ARRAY_LEN(opcodes); i++)
		if (ir_opcode(in) == opcodes[i])
			return true;
	return false;
}

static bool says_nounroll(const struct ir_func *f, u32 first, u32 last)
{
	u32 from = first ? f->insns.at[first - 1].begin : f->begin;

	for (size_t i = 0; i < f->pragmas.len; i++)
		if (f->pragmas.at[i].begin >= from &&
		    f->pragmas.at[i].begin < f->insns.at[last].begin &&
		    strstr(f->pragmas.at[i].text->text, "nounroll"))
			return true;
	return false;
}

/* What the repetitions of an innermost loop add. */
static u64 unrolled_cost(const struct ir_func *f, u32 first, u32 last)
{
	u64 cost = 0;

	if (last - first + 1 > UNROLLED_INSNS || says_nounroll(f, first, last))
		return 0;
	for (u32 i = first; i <= last; i++) {
		if (prevents_unrolling(&f->insns.at[i]))
			return 0;
		cost += cost_at(f, i);
	}
	return cost * UNROLLED_MORE;
}

/* ---- functions ---- */

static u64 function_bytes(const struct ir_func *f)
{
	bool has[CODE_CLASSES] = {false};
	u32 first, back_at = IR_NONE; /* the last branch back so far */
	u64 cost = CODE_AROUND * ONE;

	for (u32 i = 0; i < f->insns.len; i++) {
		if (f->insns.at[i].form)
			has[code_class_of(f, &f->insns.at[i])] = true;
		cost += cost_at(f, i);
		first = goes_back_to(f, i);
		if (first == IR_NONE)
			continue;
		if (back_at == IR_NONE || back_at < first)
			cost += unrolled_cost(f, first, i);
		back_at = i;
	}
	for (u32 c = 0; c < CODE_CLASSES; c++)
		cost += has[c] ? code_cost[c].once : 0;
	return align_up(cost * CODE_INSN_BYTES / ONE + CODE_BEHIND, CODE_ALIGN);
}

static u32 parameter_loads(const struct ir_func *f)
{
	u32 n = 0;

	for (u32 i = 0; i < f->insns.len && n < PARAMETER_LOADS; i++)
		n += f->insns.at[i].form && code_class_of(f, &f->insns.at[i]) == CODE_PARAMETER;
	/* And that of the stack. */
	return n + 1;
}

struct code_size watch_code_size(const struct program *p)
{
	struct code_size s = {0};

	for (u32 i = 0; i < p->func_len; i++)
		s.bytes += function_bytes(p->funcs[i].func);
	s.constant_loads = parameter_loads(p->funcs[0].func);
	return s;
}

/*
 * By 256 bytes: what crosses between the partitions for launches without data is a multiple of
 * them and the rest, in 739 launches of an H200 and 156 of an H100.
 */
u64 watch_code_sectors(u64 bytes)
{
	return (bytes + CODE_FETCH_BYTES - 1) / CODE_FETCH_BYTES *
	       (CODE_FETCH_BYTES / CODE_SECTOR_BYTES);
}

u64 watch_parameter_sectors(u64 bytes)
{
	return bytes ? watch_code_sectors(PARAMETERS_AT % CODE_FETCH_BYTES + bytes) -
			       watch_code_sectors(1)
		     : 0;
}

/*
 * Of an SM's warps that are resident at first, the first ones all miss a line while it is on its
 * way. By launches of 1 to 32 warps of an SM, on an H200.
 */
void watch_parameter_requests(const struct watch_parameters *p, u64 *hit, u64 *miss)
{
	u64 lines = min_u64(p->loads, 1u + p->lines);

	for (u64 sm = 0; lines && sm < p->sms && sm < p->ctas; sm++) {
		u64 ctas = (p->ctas - sm - 1) / p->sms + 1;
		u64 first = min_u64(ctas, p->resident) * p->warps;
		u64 misses = (lines - 1) * min_u64(first, PARAMETER_MISSES) +
			     min_u64(first * (p->loads - lines + 1), PARAMETER_MISSES);

		*miss += misses;
		*hit += ctas * p->warps * p->loads - misses;
	}
}
