/*
 * Instructions: when their operands have been read (build_operand.c), the table decides what the
 * opcode is.
 */
#include "grammar/build.h"

#define NO_FORM ((const struct isa_form *)(uintptr_t)1)

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
	bool store = isa_form_opcode(form) == OPCODE_st;

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
