/*
 * Instructions: operands are resolved while they are read, then the table decides what the opcode
 * is.
 */
#include "grammar/build.h"

#define NO_FORM ((const struct isa_form *)(uintptr_t)1)

/* ---- operands ---- */

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
			build_error(p, where, "'%s' is no vector and .%.*s no selector", base->text,
				    (int)n, tail);
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

/* ---- instructions ---- */

void build_guard(struct parse *p, struct str *name, bool negated, struct diag_span where)
{
	struct ir_operand op = build_name(p, name, where);

	if (op.kind == IR_OP_NAME)
		build_undefined(p, name, where);
	else if (op.kind != IR_OP_REG || op.type != T_pred || op.part) {
		diag_words(p->d, "error   : Predicate expression expected");
		build_error(p, where, "the guard '%s' is not a predicate", name->text);
	}
	p->guard = op.kind == IR_OP_REG ? op.index : IR_NONE;
	p->guard_not = negated;
}

void build_opcode(struct parse *p, struct str *opcode, struct diag_span where)
{
	p->opcode = opcode;
	p->opcode_span = where;
	p->ops.len = p->spans.len = p->addends.len = 0;
}

void build_operand(struct parse *p, struct ir_operand op, struct diag_span where, u32 flags)
{
	if ((flags & IR_BAR) && op.kind == IR_OP_SINK && p->ops.len &&
	    p->ops.at[p->ops.len - 1].kind == IR_OP_SINK)
		build_error(p, where, "'_|_' leaves no result");
	if (op.flags & BUILD_SUM) {
		struct build_addend a = {(u32)p->ops.len, op.imm};

		op.flags &= (u8)~BUILD_SUM;
		op.imm = 0;
		if (!VEC_PUSH(&p->addends, a))
			build_no_memory(p);
	}
	op.flags |= (u8)flags;
	if (!VEC_PUSH(&p->ops, op) || !VEC_PUSH(&p->spans, where))
		build_no_memory(p);
}

static const struct isa_form *forms_of(struct parse *p, struct str *opcode)
{
	const struct isa_form *f = opcode->user[1];

	if (!f) {
		f = isa_match(&p->m->arena, opcode->text, opcode->len);
		opcode->user[1] = (void *)(uintptr_t)(f ? f : NO_FORM);
	}
	return f == NO_FORM ? NULL : f;
}

static void insn_error(struct parse *p, struct diag_span where, const char *hint, const char *text)
{
	p->insn_failed = true;
	diag_at(p->d, DIAG_ERROR, &p->m->source, where, hint, "%s", text);
}

/* Keep an instruction that nothing knows: it fails when executed, with its text. */
static void poison(struct parse *p, struct diag_span where, const char *reason)
{
	struct ir_poison x = {.insn = (u32)p->f->insns.len};

	x.text = arena_strdup(&p->m->arena, p->m->source.text + where.begin,
			      where.end - where.begin);
	x.reason = arena_strdup(&p->m->arena, reason, strlen(reason));
	if (!x.text || !x.reason || !VEC_PUSH(&p->f->poisons, x))
		build_no_memory(p);
}

static void unknown(struct parse *p, struct diag_span where)
{
	struct diag_span part = p->opcode_span;
	struct isa_complaint c = {.end = (u32)p->opcode->len};

	if (build_explains(p))
		isa_explain(p->opcode->text, p->opcode->len, &c);
	else
		text_printf(&c.text, "unknown instruction '%s'", p->opcode->text);
	part.end = part.begin + c.end;
	part.begin += c.begin;
	if (p->options.lint) {
		diag_words(p->d, "error   : %s", c.words.at ? c.words.at : "");
		insn_error(p, part, c.row ? c.row->hint : NULL,
			   c.text.at ? c.text.at : "out of memory");
	} else {
		poison(p, where, c.text.at ? c.text.at : "out of memory");
	}
	isa_complaint_fini(&c);
}

/* What ptxas says of operand i, which does not fit. */
static void mismatch_words(struct parse *p, const struct isa_form *f, u32 i)
{
	const char *name = f->row->name[f->name];
	u32 n = (u32)p->ops.len;
	const struct ir_operand *op = i < n ? &p->ops.at[i] : NULL;
	const struct isa_operand *spec = op ? ir_operand_spec(f, p->ops.at, n, i) : NULL;
	bool address = spec && spec->kind == ISA_OP_ADDRESS;

	if (spec && spec->kind == ISA_OP_LABEL)
		diag_words(p->d, "error   : Label expected for argument %u of instruction '%s'", i,
			   name);
	else if (spec && (spec->role & ISA_WRITE) &&
		 (op->kind == IR_OP_INT || op->kind == IR_OP_FLOAT))
		diag_words(p->d, "error   : Result register required for instruction '%s'", name);
	else if (spec && (spec->role & ISA_WRITE) && op->kind == IR_OP_SREG)
		diag_words(p->d,
			   "error   : Read-only special register cannot be destination argument");
	else if (address && op->kind == IR_OP_ADDR_VAR)
		diag_words(
			p->d,
			"error   : State space mismatch between instruction and address in instruction '%s'",
			name);
	else if (address && op->kind == IR_OP_ADDR_REG && isa_type_class(op->type) == ISA_FLOAT)
		diag_words(p->d,
			   "error   : Illegal to use symbol '%.*s' of type .%s as address operand. "
			   "Use integer or bit only.",
			   (int)(p->spans.at[i].end - p->spans.at[i].begin - 2),
			   p->m->source.text + p->spans.at[i].begin + 1, isa_word_text(op->type));
	else if (spec && spec->kind == ISA_OP_VALUE && op->kind == IR_OP_VEC &&
		 isa_operand_count(f, spec) > 1 && isa_operand_count(f, spec) != op->imm)
		diag_words(p->d, "error   : Argument vector size mismatch for instruction '%s'",
			   name);
	else
		diag_words(p->d, "error   : Arguments mismatch for instruction '%s'", name);
}

/* The first form that the operands fit, or NULL after an error about the one that fits best. */
static const struct isa_form *choose(struct parse *p, const struct isa_form *f)
{
	struct ir_mismatch best, why; /* `best` is set by the first form that does not fit */
	const struct isa_form *closest = f;
	u32 n = (u32)p->ops.len;

	for (const struct isa_form *x = f; x; x = x->next) {
		if (ir_check_insn(p->m, p->f, x, p->ops.at, n, &why))
			return x;
		if (x == f || why.score > best.score) {
			best = why;
			closest = x;
		}
	}
	if (best.operand < n && p->ops.at[best.operand].kind == IR_OP_NAME) {
		build_undefined(p, p->m->names.at[p->ops.at[best.operand].index],
				p->spans.at[best.operand]);
		return NULL;
	}
	mismatch_words(p, closest, best.operand);
	insn_error(p, best.operand < n ? p->spans.at[best.operand] : p->opcode_span,
		   closest->row->hint, best.text);
	return NULL;
}

/* What asks for the most: a special register, or the instruction. */
static const char *most_demanding(const struct parse *p, const struct isa_form *f)
{
	for (u32 i = 0; i < p->ops.len; i++) {
		const struct isa_sreg *sr =
			p->ops.at[i].kind == IR_OP_SREG ? isa_sreg(p->ops.at[i].index) : NULL;

		if (sr && (sr->ptx > f->ptx || sr->sm > f->sm))
			return sr->name;
	}
	return p->opcode->text;
}

/* A form of old versions: what has to be written instead. */
static void legacy(struct parse *p, const struct isa_form *f)
{
	const struct isa_row *row = f->row;
	struct text t = {0};
	struct isa_complaint c;

	isa_explain(p->opcode->text, p->opcode->len, &c);
	text_printf(&t, "%s; this form ended with PTX %u.%u", c.text.at ? c.text.at : "",
		    row->gone_ptx / 10u, row->gone_ptx % 10u);
	if (row->gone_sm > 10) {
		text_printf(&t, " for sm_%u and higher", row->gone_sm);
		diag_words(
			p->d,
			"error   : Instruction '%s' without '.sync' is not supported on .target sm_%u and "
			"higher from PTX ISA version %u.%u",
			row->name[f->name], row->gone_sm, row->gone_ptx / 10u, row->gone_ptx % 10u);
	} else {
		diag_words(p->d, "error   : %s", c.words.at ? c.words.at : "");
	}
	insn_error(p, p->opcode_span, c.row ? c.row->hint : NULL, t.at);
	text_fini(&t);
	isa_complaint_fini(&c);
}

/*
 * Version and target; in a module to be run, newer instructions than its header allows are
 * accepted.
 */
static void check_minima(struct parse *p, const struct isa_form *f)
{
	const char *name = f->row->name[f->name];
	struct text t = {0};
	u32 version = p->m->version, minima[2];

	if (!p->options.lint || !p->seen_target || !p->seen_version)
		return;
	ir_insn_minima(p->f, f, p->ops.at, (u32)p->ops.len, minima);
	if (version < minima[0]) {
		diag_words(p->d, "error   : Feature '%s' requires PTX ISA .version %u.%u or later",
			   name, minima[0] / 10u, minima[0] % 10u);
		text_printf(&t, "%s needs PTX %u.%u or higher, the module says %u.%u",
			    most_demanding(p, f), minima[0] / 10u, minima[0] % 10u, version / 10,
			    version % 10);
		insn_error(p, p->opcode_span, NULL, t.at);
	} else if (p->m->target.sm < minima[1]) {
		diag_words(p->d, "error   : Feature '%s' requires .target sm_%u or higher", name,
			   minima[1]);
		text_printf(&t, "%s needs target sm_%u or higher", most_demanding(p, f), minima[1]);
		insn_error(p, p->opcode_span, NULL, t.at);
	} else if (!isa_form_on_target(f, p->m->target)) {
		diag_words(p->d, "error   : Instruction '%s' not supported on .target '%s'", name,
			   p->m->target_text);
		text_printf(&t, "%s needs target ", p->opcode->text);
		isa_form_target_text(f, &t);
		insn_error(p, p->opcode_span, NULL, t.at);
	} else if (isa_form_late(f, p->m->target, version)) {
		text_printf(&t, "%s needs target sm_%u or higher before PTX %u.%u", p->opcode->text,
			    f->row->late_sm, f->row->late_ptx / 10u, f->row->late_ptx % 10u);
		insn_error(p, p->opcode_span, NULL, t.at);
	} else if (isa_form_gone(f, p->m->target, version)) {
		legacy(p, f);
	}
	text_fini(&t);
}

static bool is_among(const u32 *list, u32 n, u32 var)
{
	for (u32 i = 0; i < n; i++)
		if (list[i] == var)
			return true;
	return false;
}

/*
 * Parameters of the function itself are read, its results written; those for a call (declared in
 * the body) are both, but under no guard.
 */
static void check_param_access(struct parse *p, const struct isa_form *form)
{
	bool store = !strcmp(form->row->name[form->name], "st");

	for (u32 i = 0; i < p->ops.len && i < 2; i++) {
		const struct ir_operand *op = &p->ops.at[i];
		const struct ir_var *v =
			op->kind == IR_OP_ADDR_VAR ? p->m->vars.at[op->index] : NULL;

		if (!v || v->space != M_param)
			continue;
		if (is_among(p->f->params, p->f->params_len, op->index)) {
			if (!store)
				continue;
			diag_words(p->d,
				   "error   : Illegal to write to function input parameter '%s'",
				   v->name->text);
			build_error(p, p->spans.at[i],
				    "'%s' is a parameter, which cannot be written", v->name->text);
		} else if (is_among(p->f->rets, p->f->rets_len, op->index)) {
			if (!store)
				build_error(p, p->spans.at[i],
					    "'%s' is a result, which cannot be read",
					    v->name->text);
		} else if (p->guard != IR_NONE) {
			build_error(p, p->spans.at[i],
				    "an access to '%s', a parameter of a call, takes no guard",
				    v->name->text);
		}
	}
}

/* Labels that come later are patched when their scope ends. */
static void note_jumps(struct parse *p, u32 first)
{
	for (u32 i = 0; i < p->ops.len; i++) {
		const struct ir_operand *op = &p->ops.at[i];

		if (op->kind == IR_OP_NAME)
			build_jump(p, (struct build_jump){.name = p->m->names.at[op->index],
							  .operand = first + i,
							  .where = p->spans.at[i]});
	}
}

static void append_insn(struct parse *p, const struct isa_form *form)
{
	struct ir_insn in = {
		.form = form,
		.first_op = (u32)p->f->operands.len,
		.ops = (u16)p->ops.len,
		.guard = p->guard,
		.guard_not = p->guard_not,
		.loc = p->loc,
		.begin = p->opcode_span.begin,
	};

	if (p->ops.len > UINT16_MAX) {
		build_error(p, p->opcode_span, "too many operands");
		return;
	}
	if (!VEC_RESERVE(&p->f->operands, p->ops.len) || !VEC_PUSH(&p->f->insns, in))
		return build_no_memory(p);
	if (p->ops.len)
		memcpy(p->f->operands.at + in.first_op, p->ops.at, sizeof(*p->ops.at) * p->ops.len);
	p->f->operands.len += p->ops.len;
	if (form)
		note_jumps(p, in.first_op);
}

/*
 * var[i] and r where an address is wanted are [var + i * size] and [r]; {a} where one value is
 * wanted is a.
 */
static void settle_operands(struct parse *p, const struct isa_form *form)
{
	for (u32 i = 0; i < p->ops.len; i++) {
		struct ir_operand *op = &p->ops.at[i];
		const struct isa_operand *spec;
		bool indexed = op->kind == IR_OP_VAR && (op->flags & IR_INDEXED);

		if (!indexed && op->kind != IR_OP_VEC && !(form->row->lax && op->kind == IR_OP_REG))
			continue;
		spec = ir_operand_spec(form, p->ops.at, (u32)p->ops.len, i);
		if (indexed && spec && spec->kind == ISA_OP_ADDRESS)
			op->kind = IR_OP_ADDR_VAR;
		if (indexed)
			op->flags &= (u8)~IR_INDEXED;
		else if (ir_check_needless_braces(form, spec, op))
			*op = p->f->operands.at[op->index];
		else if (op->kind == IR_OP_REG && spec && spec->kind == ISA_OP_ADDRESS)
			op->kind = IR_OP_ADDR_REG;
	}
}

/*
 * Constants are added to what is read. Sums become instructions of their own, where the instruction
 * can be run.
 */
static void settle_sums(struct parse *p, const struct isa_form *form)
{
	for (size_t k = 0; k < p->addends.len; k++) {
		u32 i = p->addends.at[k].operand;
		const struct isa_operand *spec =
			ir_operand_spec(form, p->ops.at, (u32)p->ops.len, i);

		if (!spec || spec->kind != ISA_OP_VALUE || (spec->role & ISA_WRITE))
			build_error(p, p->spans.at[i], "no constant can be added here");
		else if (!build_can_add(p, &p->ops.at[i]))
			p->unrunnable = "a constant is added to what is not an integer";
	}
	for (size_t k = 0; k < p->addends.len && !p->insn_failed && !p->unrunnable; k++)
		p->ops.at[p->addends.at[k].operand] =
			build_sum(p, p->ops.at[p->addends.at[k].operand], p->addends.at[k].addend);
}

void build_add(struct parse *p, const char *opcode, struct ir_operand d, struct ir_operand a,
	       struct ir_operand b)
{
	struct str *name = intern_get(&p->m->names_table, opcode, strlen(opcode));
	const struct isa_form *form = name ? forms_of(p, name) : NULL;
	struct ir_operand ops[] = {d, a, b};
	struct ir_insn in = {
		.form = form,
		.first_op = (u32)p->f->operands.len,
		.ops = ARRAY_LEN(ops),
		.guard = p->guard,
		.guard_not = p->guard_not,
		.loc = p->loc,
		.begin = p->opcode_span.begin,
	};

	if (!form || !VEC_RESERVE(&p->f->operands, ARRAY_LEN(ops)) || !VEC_PUSH(&p->f->insns, in))
		return build_no_memory(p);
	memcpy(p->f->operands.at + in.first_op, ops, sizeof(ops));
	p->f->operands.len += ARRAY_LEN(ops);
}

/*
 * To be run, an instruction must have a meaning. ptxas also accepts vectors of mixed elements and
 * the like.
 */
static const struct isa_form *only_meaningful(struct parse *p, const struct isa_form *form,
					      struct diag_span where)
{
	bool vectors = false;

	for (u32 i = 0; i < p->ops.len; i++)
		vectors |= p->ops.at[i].kind == IR_OP_VEC;
	if (p->options.lint || (!p->unrunnable && !(vectors || form->row->lax)) ||
	    (!p->unrunnable && ir_check_plain(p->m, p->f, form, p->ops.at, (u32)p->ops.len)))
		return form;
	poison(p, where,
	       p->unrunnable ? p->unrunnable
			     : "an operand is not of the type or length that the instruction says");
	return NULL;
}

void build_insn_end(struct parse *p, struct diag_span where)
{
	const struct isa_form *form;

	if (!p->f || !p->opcode)
		return;
	form = forms_of(p, p->opcode);
	if (!form) {
		unknown(p, where);
	} else if (!p->insn_failed) {
		form = choose(p, form);
		if (form) {
			check_minima(p, form);
			settle_operands(p, form);
			check_param_access(p, form);
			settle_sums(p, form);
			form = only_meaningful(p, form, where);
		}
	}
	if (!p->insn_failed)
		append_insn(p, form);
	p->guard = IR_NONE;
	p->guard_not = false;
	p->insn_failed = false;
	p->addends.len = 0;
	p->unrunnable = NULL;
	p->opcode = NULL;
}
