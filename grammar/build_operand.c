/*
 * Operands of instructions: names are resolved while they are read.
 */
#include "grammar/build.h"

u32 build_mark(struct parse *p)
{
	return (u32)p->stack.len;
}

void build_push(struct parse *p, struct ir_operand op, struct diag_span where)
{
	if (op.flags & BUILD_SUM)
		build_error(p, where, "no constant can be added here");
	op.flags &= (u8)~BUILD_SUM;
	if (!VEC_PUSH(&p->stack, op) || !VEC_PUSH(&p->stack_spans, where))
		build_no_memory(p);
}

static struct ir_operand unresolved(struct parse *p, struct str *name)
{
	if (!VEC_PUSH(&p->m->names, name))
		build_no_memory(p);
	return (struct ir_operand){.kind = IR_OP_NAME, .index = (u32)p->m->names.len - 1};
}

static struct ir_operand bound_operand(struct parse *p, const struct binding *b)
{
	struct ir_operand op = {.index = b->index};

	switch ((enum bind_kind)b->kind) {
	case BIND_REG:
	case BIND_MEMBER:
		op.kind = IR_OP_REG;
		op.type = p->f && b->index < p->f->regs.len ? p->f->regs.at[b->index].type : T_b32;
		break;
	case BIND_VAR:
		op.kind = IR_OP_VAR;
		op.type = p->m->vars.at[b->index]->type;
		break;
	case BIND_FUNC:
		op.kind = IR_OP_FUNC;
		break;
	case BIND_TABLE:
		op.kind = IR_OP_TABLE;
		break;
	case BIND_LABEL:
	case BIND_FAMILY:
	case BIND_PRIVATE:
		op.kind = IR_OP_LABEL;
		break;
	}
	return op;
}

/* .x .y .z .w, or .r .g .b .a for vectors; IR_PART_NONE otherwise. */
static u8 component(const char *s, size_t n)
{
	static const char names[] = "xyzwrgba";
	const char *at = n == 1 && *s ? strchr(names, *s) : NULL;

	return at ? (u8)(IR_PART_X + (u32)(at - names) % 4) : IR_PART_NONE;
}

/* .b0, .h10, .b7654 */
static bool selector(const char *s, size_t n, struct ir_operand *op)
{
	if (n < 2 || n > 5 || (*s != 'b' && *s != 'h'))
		return false;
	op->imm = (s64)(n - 1) << 16;
	for (size_t i = 1; i < n; i++) {
		if (s[i] < '0' || s[i] > '7')
			return false;
		op->imm |= (s64)(s[i] - '0') << 4 * (n - 1 - i);
	}
	op->part = *s == 'b' ? IR_PART_BYTES : IR_PART_HALVES;
	return true;
}

static bool is_vector(const struct parse *p, u32 reg)
{
	return p->f && reg < p->f->regs.len && p->f->regs.at[reg].vec > 1;
}

static const struct binding *meaning(struct parse *p, struct str *name)
{
	const struct binding *b = build_lookup(p, name);

	return b && b->kind == BIND_PRIVATE ? build_private_here(p, b) : b;
}

/* %tid.x, V.y, %r1.h0 */
static struct ir_operand dotted(struct parse *p, struct str *name, size_t dot,
				struct diag_span where)
{
	const struct isa_sreg *sr = isa_sreg_find(name->text, dot);
	const char *tail = name->text + dot + 1;
	size_t n = name->len - dot - 1;
	struct str *base = intern_get(&p->m->names_table, name->text, dot);
	const struct binding *b = base ? meaning(p, base) : NULL;
	struct ir_operand op = {0};

	if (b && (b->kind == BIND_REG || b->kind == BIND_MEMBER)) {
		op = bound_operand(p, b);
		if (is_vector(p, op.index)) {
			op.part = component(tail, n);
			if (op.part && op.part - IR_PART_X < p->f->regs.at[op.index].vec)
				return op;
			build_error(p, where, "'%s' has no component .%.*s", base->text, (int)n,
				    tail);
		} else if (!selector(tail, n, &op)) {
			build_error(p, where, "'%s' is not a vector, nor .%.*s a selector",
				    base->text, (int)n, tail);
		}
		return op;
	}
	if (!b && sr) {
		op = (struct ir_operand){.kind = IR_OP_SREG,
					 .type = sr->type,
					 .index = (u32)(sr - isa_sreg(0)),
					 .part = component(tail, n)};
		if (sr->components > 1 && op.part && strchr("xyzw", *tail))
			return op;
		build_error(p, where, "'%.*s' has no component .%.*s", (int)dot, name->text, (int)n,
			    tail);
		return op;
	}
	build_undefined(p, name, where);
	return (struct ir_operand){0};
}

struct ir_operand build_name(struct parse *p, struct str *name, struct diag_span where)
{
	const struct binding *b = meaning(p, name);
	const struct isa_sreg *sr;
	const char *dot;

	if (b && (b->kind == BIND_REG || b->kind == BIND_MEMBER))
		return bound_operand(p, b);
	dot = memchr(name->text, '.', name->len);
	if (dot)
		return dotted(p, name, (size_t)(dot - name->text), where);
	if (b && (b->kind != BIND_LABEL || build_same_scope(p, b)))
		return bound_operand(p, b);
	sr = b ? NULL : isa_sreg_find(name->text, name->len);
	if (sr)
		return (struct ir_operand){
			.kind = IR_OP_SREG, .type = sr->type, .index = (u32)(sr - isa_sreg(0))};
	return unresolved(p, name);
}

struct ir_operand build_name_offset(struct parse *p, struct str *name, struct build_value offset,
				    struct diag_span where)
{
	struct ir_operand op = build_name(p, name, where);

	op.imm = build_integer_of(p, offset, 0, where);
	if (op.kind == IR_OP_REG && !op.part)
		op.flags |= BUILD_SUM;
	else if (op.kind == IR_OP_NAME)
		build_undefined(p, name, where);
	else if (op.kind != IR_OP_VAR)
		build_error(p, where, "'%s' is not a variable", name->text);
	return op;
}

struct ir_operand build_indexed(struct parse *p, struct str *name, struct build_value index,
				struct diag_span where)
{
	struct ir_operand op = build_name(p, name, where);
	const struct ir_var *v;
	u64 size;

	if (op.kind == IR_OP_NAME)
		build_undefined(p, name, where);
	else if (op.kind != IR_OP_VAR)
		build_error(p, where, "'%s' is not a variable", name->text);
	if (op.kind != IR_OP_VAR)
		return op;
	v = p->m->vars.at[op.index];
	size = max_u64(isa_type_bits(v->type) / 8, 1) * v->vec;
	if (!v->is_array)
		build_error(p, where, "'%s' is not an array", name->text);
	op.imm = (s64)((u64)build_integer_of(p, index, 0, where) * size);
	op.flags = IR_INDEXED;
	return op;
}

struct ir_operand build_constant(struct parse *p, struct build_value v, struct diag_span where)
{
	bool is_float = v.type == T_f64 || v.type == T_f32;
	struct ir_operand op = {
		.kind = is_float ? IR_OP_FLOAT : IR_OP_INT, .type = v.type, .imm = (s64)v.bits};

	(void)p;
	(void)where;
	op.flags = (u8)((v.hex ? IR_HEX : 0) | (v.paren ? IR_PAREN : 0));
	return op;
}

struct ir_operand build_sink(struct parse *p)
{
	(void)p;
	return (struct ir_operand){.kind = IR_OP_SINK};
}

struct ir_operand build_base(struct parse *p, struct str *name, const struct build_value *offset,
			     struct diag_span where)
{
	s64 imm = offset ? build_integer_of(p, *offset, 0, where) : 0;
	struct ir_operand op;

	if (!name)
		return (struct ir_operand){.kind = IR_OP_ADDR_INT, .imm = imm};
	op = build_name(p, name, where);
	switch (op.kind) {
	case IR_OP_REG:
		op.kind = IR_OP_ADDR_REG;
		if (op.part)
			build_error(p, where, "an address is a register, not a part of one");
		break;
	case IR_OP_VAR:
		op.kind = IR_OP_ADDR_VAR;
		break;
	case IR_OP_NAME:
		build_undefined(p, name, where);
		break;
	case IR_OP_NONE:
		break;
	default:
		build_error(p, where, "'%s' is not an address", name->text);
		break;
	}
	op.imm = imm;
	return op;
}

/* Move the elements from `mark` on into the function's pool. */
struct ir_operand build_vector_end(struct parse *p, u32 mark, enum ir_operand_kind kind)
{
	u32 n = (u32)p->stack.len - mark;
	struct ir_operand op = {.kind = (u8)kind, .imm = n};

	if (p->f) {
		op.index = (u32)p->f->operands.len;
		if (!VEC_RESERVE(&p->f->operands, n ? n : 1)) {
			build_no_memory(p);
			return op;
		}
		if (n)
			memcpy(p->f->operands.at + op.index, p->stack.at + mark, sizeof(op) * n);
		p->f->operands.len += n;
		for (u32 i = 0; i < n && kind == IR_OP_VEC; i++) {
			struct ir_operand *e = &p->f->operands.at[op.index + i];

			if (e->kind == IR_OP_NAME)
				build_undefined(p, p->m->names.at[e->index],
						p->stack_spans.at[mark + i]);
		}
	}
	p->stack.len = p->stack_spans.len = mark;
	return op;
}

struct ir_operand build_address_end(struct parse *p, struct ir_operand base, struct diag_span where)
{
	if (base.kind == IR_OP_VEC)
		build_error(p, where, "an address is expected in the brackets");
	return base;
}

struct ir_operand build_unified_address(struct parse *p, struct ir_operand address,
					struct diag_span where)
{
	if (address.kind == IR_OP_COMPOUND)
		build_error(p, where, ".unified is for plain addresses");
	address.flags |= IR_UNIFIED;
	return address;
}
