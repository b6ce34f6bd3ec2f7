/*
 * From IR to records: walks the functions a kernel reaches, applies a rule to every instruction, places labels.
 * All choices are made here once: operation, types, rounding, space, width. Rules are in lower_rules.c and lower_mem.c.
 */
#include "src/exec/lower_int.h"

#include <pthread.h>
#include <stdio.h>

/* ---- operations by opcode text ---- */

struct op_info {
	const char *texts, *shape;
};

static const struct op_info op_infos[EXEC_OPS] = {
#define OP(id, texts, shape, expr) [OP_##id] = {texts, #shape},
#include "src/exec/ops/all.def"
#undef OP
};

static struct arena op_arena;
static struct intern op_names;
static pthread_once_t op_once = PTHREAD_ONCE_INIT;

static void op_names_make(void)
{
	intern_init(&op_names, &op_arena);
	for (u32 i = 0; i < EXEC_OPS; i++) {
		const char *p = op_infos[i].texts ? op_infos[i].texts : "";

		while (*p) {
			size_t n = strcspn(p, " ");
			struct str *s = intern_get(&op_names, p, n);

			s->user[0] = (void *)(uintptr_t)(i + 1);
			p += n + (p[n] == ' ');
		}
	}
}

enum exec_op lower_find_op(const char *text)
{
	const struct str *s;

	pthread_once(&op_once, op_names_make);
	s = intern_find(&op_names, text, strlen(text));
	return s && s->user[0] ? (enum exec_op)((uintptr_t)s->user[0] - 1) : EXEC_OPS;
}

void lower_text(const struct isa_form *form, const enum isa_kind *skip, char *out, size_t size)
{
	size_t n = (size_t)snprintf(out, size, "%s", form->row->name[form->name]);

	for (u32 i = 0; i < form->row->slots && n < size; i++) {
		bool left_out = !form->word[i];

		for (const enum isa_kind *k = skip; k && *k != ISA_KINDS; k++)
			left_out |= isa_word_kind(form->word[i]) == *k;
		if (!left_out)
			n += (size_t)snprintf(out + n, size - n, ".%s", isa_word_text(form->word[i]));
	}
}

/* ---- rows ---- */

enum row_class lower_class(u32 bits)
{
	return bits == 1 ? ROW_P : bits > 32 ? ROW_X : ROW_W;
}

u32 lower_vreg(struct lower *l, enum row_class class)
{
	struct vreg v = {.class = (u8)class, .first = UINT32_MAX};

	if (!VEC_PUSH(&l->vregs, v))
		l->failed = true;
	return (u32)l->vregs.len - 1;
}

u32 lower_const(struct lower *l, enum row_class class, u64 bits)
{
	u64 key, *found;
	u32 v;

	if (class == ROW_W)
		bits = (u32)bits;
	key = hash_bytes(&bits, sizeof(bits)) * 4 + class + 1;
	found = map_get(&l->consts, key);
	if (found && l->vregs.at[*found].bits == bits && l->vregs.at[*found].class == class)
		return (u32)*found;
	v = lower_vreg(l, class);
	if (l->failed)
		return 0;
	l->vregs.at[v].is_const = true;
	l->vregs.at[v].bits = bits;
	if (!map_set(&l->consts, key, v))
		l->failed = true;
	return v;
}

static struct insn *append(struct lower *l, enum exec_op op, bool guarded)
{
	struct insn in = {
		.op = (u16)op, .inner = (u16)op, .d = NO_ROW, .a = NO_ROW, .b = NO_ROW, .c = NO_ROW, .target = NO_PC, .join = NO_PC,
		.guard = NO_ROW, .ir = l->ir, .func = l->func, .ext = (u32)l->ext.len,
	};

	if (!VEC_PUSH(&l->insns, in)) {
		l->failed = true;
		return &l->insns.at[0];
	}
	if (guarded && l->guard != IR_NONE) {
		struct insn *last = &l->insns.at[l->insns.len - 1];

		last->op = OP_guard;
		last->flags |= l->guard_not ? INSN_GUARD_NOT : 0;
		lower_read(l, FIELD_GUARD, l->guard);
	}
	return &l->insns.at[l->insns.len - 1];
}

struct insn *lower_emit(struct lower *l, enum exec_op op)
{
	return append(l, op, true);
}

struct insn *lower_emit_free(struct lower *l, enum exec_op op)
{
	return append(l, op, false);
}

static void add_ref(struct lower *l, u32 field, u32 vreg, bool write)
{
	struct row_ref r = {.insn = (u32)l->insns.len - 1, .field = field, .vreg = vreg, .write = write};

	if (vreg != IR_NONE && !VEC_PUSH(&l->refs, r))
		l->failed = true;
}

void lower_read(struct lower *l, u32 field, u32 vreg)
{
	add_ref(l, field, vreg, false);
}

void lower_write(struct lower *l, u32 field, u32 vreg)
{
	add_ref(l, field, vreg, true);
}

void lower_ext(struct lower *l, u32 vreg, bool write)
{
	if (!VEC_PUSH(&l->ext, NO_ROW))
		l->failed = true;
	else
		add_ref(l, FIELD_EXT + (u32)l->ext.len - 1, vreg, write);
}

void lower_op(struct lower *l, enum exec_op op, u32 d, u32 a, u32 b, u32 c, bool guarded)
{
	append(l, op, guarded);
	lower_read(l, FIELD_A, a);
	lower_read(l, FIELD_B, b);
	lower_read(l, FIELD_C, c);
	lower_write(l, FIELD_D, d);
}

const struct ir_operand *lower_operand(const struct lower *l, u32 i)
{
	return i < l->in->ops ? &l->f->operands.at[l->in->first_op + i] : NULL;
}

const struct ir_operand *lower_named(const struct lower *l, char name)
{
	const struct isa_form *form = l->in->form;

	for (u32 i = 0; i < l->in->ops; i++) {
		const struct isa_operand *o = ir_operand_spec(form, &l->f->operands.at[l->in->first_op], l->in->ops, i);

		if (o && o->name[0] == name && !o->name[1])
			return lower_operand(l, i);
	}
	return NULL;
}

u32 lower_register(struct lower *l, const struct ir_operand *op, u32 part)
{
	const struct ir_reg *r = &l->f->regs.at[op->index];
	u32 bits = isa_type_bits(r->type), parts = bits > 64 ? 2 : 1, *v = &l->vreg_of[op->index];
	enum row_class class = lower_class(bits);

	if (*v == IR_NONE) {
		*v = lower_vreg(l, class);
		for (u32 i = 1; i < parts * r->vec; i++)
			lower_vreg(l, class);
	}
	return l->vreg_of[op->index] + (op->part ? (op->part - IR_PART_X) * parts : 0) + part;
}

static u64 float_bits(const struct ir_operand *op, u32 type)
{
	if (isa_type_bits(type) == 64 && op->type == T_f32 && isa_type_class(type) == ISA_FLOAT)
		return bits_f64((f64)f32_bits((u32)op->imm));
	if (isa_type_bits(type) == 32 && op->type == T_f64)
		return bits_f32((f32)f64_bits((u64)op->imm));
	return (u64)op->imm;
}

u32 lower_source(struct lower *l, const struct ir_operand *op, u32 type, enum row_class class)
{
	enum row_class have;
	u32 v, t;

	switch (op->kind) {
	case IR_OP_INT:
		return lower_const(l, class, class == ROW_P ? (op->imm != 0) : (u64)op->imm);
	case IR_OP_FLOAT:
		return lower_const(l, class, float_bits(op, type));
	case IR_OP_REG:
		break;
	default:
		l->failed = true;
		return 0;
	}
	v = lower_register(l, op, 0);
	have = l->vregs.at[v].class;
	if (have == ROW_P && (op->flags & IR_NOT)) {
		t = lower_vreg(l, ROW_P);
		lower_op(l, OP_not_pred, t, v, IR_NONE, IR_NONE, false);
		return t;
	}
	if (have == class || class == ROW_NONE)
		return v;
	t = lower_vreg(l, class);
	lower_op(l, class == ROW_W ? OP_low_of_x : OP_zero_extend, t, v, IR_NONE, IR_NONE, false);
	return t;
}

u32 lower_target(struct lower *l, const struct ir_operand *op, enum row_class class)
{
	u32 v;

	if (op->kind != IR_OP_REG)
		return lower_vreg(l, class);
	v = lower_register(l, op, 0);
	return l->vregs.at[v].class == class ? v : lower_vreg(l, class);
}

void lower_finish(struct lower *l, const struct ir_operand *op, u32 from, u32 type, enum row_class class)
{
	u32 v;

	if (op->kind != IR_OP_REG)
		return;
	v = lower_register(l, op, 0);
	if (v == from)
		return;
	if (class == ROW_W && l->vregs.at[v].class == ROW_X)
		lower_op(l, isa_type_class(type) == ISA_SINT ? OP_sign_extend : OP_zero_extend, v, from, IR_NONE, IR_NONE, true);
	else if (class == ROW_X && l->vregs.at[v].class == ROW_W)
		lower_op(l, OP_low_of_x, v, from, IR_NONE, IR_NONE, true);
	else
		lower_poison(l, "a result does not fit its register");
}

void lower_poison(struct lower *l, const char *reason)
{
	(void)reason;
	lower_emit(l, OP_poison);
}

/* ---- lane operations ---- */

static enum row_class class_of_letter(char c)
{
	return c == 'P' ? ROW_P : c == 'X' ? ROW_X : ROW_W;
}

/* W_XXP has three; small letters are no operands. */
static u32 shape_operands(const char *shape)
{
	return (u32)strspn(shape + 2, "WXPV");
}

/* The carry flag of W_WWi, W_WWo, W_WWio. */
static void add_carry(struct lower *l, const char *shape)
{
	if (l->carry == IR_NONE)
		l->carry = lower_vreg(l, ROW_P);
	if (strchr(shape, 'i'))
		lower_read(l, FIELD_TARGET, l->carry);
	if (strchr(shape, 'o'))
		lower_write(l, FIELD_TARGET, l->carry);
}

void lower_lanes(struct lower *l)
{
	const struct isa_form *form = l->in->form;
	const char *shape;
	char text[160];
	enum exec_op op;
	u32 src[4] = {IR_NONE, IR_NONE, IR_NONE, IR_NONE}, n, d;
	u32 type = form->types ? form->type[0] : T_b32;
	s64 imm = 0;

	lower_text(form, NULL, text, sizeof(text));
	op = lower_find_op(text);
	if (op == EXEC_OPS || shape_operands(op_infos[op].shape) + 1 != l->in->ops)
		op = lower_mode_op(form, &imm);
	if (op == EXEC_OPS) {
		lower_poison(l, text);
		return;
	}
	shape = op_infos[op].shape;
	if (shape[2] == 'V') {
		lower_four_words(l, op, imm);
		return;
	}
	n = shape_operands(shape);
	for (u32 i = 0; i < n && i < 4; i++) {
		const struct ir_operand *o = lower_operand(l, i + 1);
		const struct isa_operand *spec = ir_operand_spec(form, &l->f->operands.at[l->in->first_op], l->in->ops, i + 1);

		if (!o || !spec) {
			lower_poison(l, text);
			return;
		}
		src[i] = lower_source(l, o, isa_operand_type(form, spec), class_of_letter(shape[2 + i]));
	}
	d = lower_target(l, lower_operand(l, 0), class_of_letter(shape[0]));
	lower_op(l, op, d, src[0], src[1], src[2], true);
	l->insns.at[l->insns.len - 1].imm = imm;
	lower_read(l, FIELD_TARGET, src[3]);
	if (shape[2 + n])
		add_carry(l, shape);
	lower_finish(l, lower_operand(l, 0), d, type, class_of_letter(shape[0]));
}

/* ---- functions ---- */

static void lower_insn(struct lower *l)
{
	const struct ir_insn *in = l->in;
	char name[32];
	lower_rule *rule;

	l->guard = IR_NONE;
	l->guard_not = in->guard_not;
	if (in->guard != IR_NONE) {
		struct ir_operand g = {.kind = IR_OP_REG, .type = T_pred, .index = in->guard};

		l->guard = lower_register(l, &g, 0);
	}
	if (!in->form) {
		lower_poison(l, "unknown instruction");
		return;
	}
	snprintf(name, sizeof(name), "%.*s", (int)strcspn(in->form->row->name[in->form->name], "."), in->form->row->name[in->form->name]);
	rule = lower_find_rule(name);
	(rule ? rule : lower_lanes)(l);
}

/* Labels that something jumps to. */
static bool *used_labels(const struct ir_func *f)
{
	bool *used = calloc(f->labels.len + 1, sizeof(*used));

	if (!used)
		return NULL;
	for (size_t i = 0; i < f->operands.len; i++)
		if (f->operands.at[i].kind == IR_OP_LABEL)
			used[f->operands.at[i].index] = true;
	for (size_t i = 0; i < f->tables.len; i++)
		for (u32 k = 0; f->tables.at[i].kind == IR_BRANCH_TARGETS && k < f->tables.at[i].len; k++)
			used[f->tables.at[i].at[k]] = true;
	return used;
}

/* Offsets of local and parameter variables in the frame: result and parameters first, so that callers know them. */
static void lay_out_frame(struct lower *l, const struct ir_func *f)
{
	u64 at = 0;

	for (u32 pass = 0; pass < 3; pass++) {
		u32 n = pass == 0 ? f->rets_len : pass == 1 ? f->params_len : (u32)f->vars.len;
		const u32 *list = pass == 0 ? f->rets : pass == 1 ? f->params : f->vars.at;

		for (u32 i = 0; i < n; i++) {
			const struct ir_var *v = l->m->vars.at[list[i]];

			if (v->space != M_param && v->space != M_local)
				continue;
			at = align_up(at, v->align);
			l->var_offset[list[i]] = (u32)at;
			at += v->size_bytes;
		}
		if (f->is_entry && pass == 1) {
			l->p->param_bytes = (u32)at;
			at = 0;
		}
	}
	l->frame_bytes.at[l->func] = (u32)align_up(at, 16);
}

static void place_label(struct lower *l, u32 label)
{
	l->label_at[label] = (u32)l->insns.len;
	lower_emit_free(l, OP_join);
}

static void settle(struct lower *l, size_t first_fixup)
{
	for (size_t i = first_fixup; i < l->fixups.len; i++) {
		const struct fixup *x = &l->fixups.at[i];
		u32 at = l->label_at[x->label];

		if (x->in_ext)
			l->ext.at[x->insn] = at;
		else
			l->insns.at[x->insn].target = at;
		if (!x->in_ext && at <= x->insn)
			l->insns.at[x->insn].flags |= INSN_BACK;
	}
	l->fixups.len = first_fixup;
}

static void lower_function(struct lower *l, u32 index)
{
	const struct ir_func *f = l->funcs.at[index];
	size_t fixups = l->fixups.len;
	bool *used = used_labels(f);
	u32 label = 0;

	l->f = f;
	l->func = index;
	l->carry = IR_NONE;
	l->vreg_of = malloc(sizeof(u32) * (f->regs.len + 1));
	l->label_at = malloc(sizeof(u32) * (f->labels.len + 1));
	if (!used || !l->vreg_of || !l->label_at) {
		l->failed = true;
		goto out;
	}
	memset(l->vreg_of, 0xff, sizeof(u32) * f->regs.len);
	memset(l->label_at, 0xff, sizeof(u32) * f->labels.len);
	lay_out_frame(l, f);
	for (u32 i = 0; i <= f->insns.len && !l->failed; i++) {
		l->ir = i < f->insns.len ? i : i - 1;
		l->guard = IR_NONE;
		for (; label < f->labels.len && f->labels.at[label].insn <= i; label++)
			if (used[label])
				place_label(l, label);
		if (i == f->insns.len)
			break;
		l->in = &f->insns.at[i];
		lower_insn(l);
	}
	l->guard = IR_NONE;
	lower_emit_free(l, f->is_entry ? OP_exit : OP_ret);
	settle(l, fixups);
out:
	free(used);
	free(l->vreg_of);
	free(l->label_at);
}

/* Shared variables the kernel's functions name, one after the other; .extern ones alias what follows. */
static void lay_out_shared(struct lower *l)
{
	u64 at = 0;

	for (size_t i = 0; i < l->m->vars.len; i++) {
		const struct ir_var *v = l->m->vars.at[i];

		if (v->space != M_shared || v->unsized || v->linkage == IR_EXTERN)
			continue;
		at = align_up(at, v->align);
		l->var_offset[i] = (u32)at;
		at += v->size_bytes;
	}
	for (size_t i = 0; i < l->m->vars.len; i++) {
		const struct ir_var *v = l->m->vars.at[i];

		if (v->space == M_shared && (v->unsized || v->linkage == IR_EXTERN))
			at = align_up(at, v->align);
	}
	for (size_t i = 0; i < l->m->vars.len; i++) {
		const struct ir_var *v = l->m->vars.at[i];

		if (v->space == M_shared && (v->unsized || v->linkage == IR_EXTERN))
			l->var_offset[i] = (u32)at;
	}
	l->p->shared_static = (u32)at;
}

static void lower_fini(struct lower *l)
{
	VEC_FREE(&l->insns);
	VEC_FREE(&l->ext);
	VEC_FREE(&l->refs);
	VEC_FREE(&l->vregs);
	VEC_FREE(&l->fixups);
	VEC_FREE(&l->funcs);
	VEC_FREE(&l->frame_bytes);
	map_fini(&l->consts);
	free(l->var_offset);
}

static bool finish(struct lower *l)
{
	struct program *p = l->p;

	p->insns = (u32)l->insns.len;
	p->exts = (u32)l->ext.len;
	p->insn = aligned_alloc(64, align_up(sizeof(struct insn) * (p->insns + 1), 64));
	p->ext = arena_copy(&p->arena, l->ext.at, sizeof(u32) * l->ext.len);
	if (!p->insn || !p->ext)
		return false;
	memcpy(p->insn, l->insns.at, sizeof(struct insn) * p->insns);
	for (u32 i = 0; i < p->insns; i++)
		p->insn[i].cache = i;
	p->cache_slots = p->insns;
	p->func_len = (u32)l->funcs.len;
	for (u32 i = 0; i < p->func_len; i++)
		p->funcs[i].frame_bytes = l->frame_bytes.at[i];
	p->frame_bytes = p->func_len ? p->funcs[0].frame_bytes : 0;
	return true;
}

struct program *exec_lower(const struct ir_module *m, const struct ir_func *kernel, const struct arch *arch,
			   const u64 *var_address, const struct lower_options *options, struct diag *d)
{
	struct lower l = {.m = m, .arch = arch, .var_address = var_address, .options = *options, .d = d};

	l.p = calloc(1, sizeof(*l.p));
	l.var_offset = calloc(m->vars.len + 1, sizeof(u32));
	if (!l.p || !l.var_offset || !VEC_PUSH(&l.funcs, kernel))
		goto fail;
	l.p->arch = arch;
	l.p->var_address = var_address;
	l.p->funcs = arena_alloc(&l.p->arena, sizeof(*l.p->funcs) * (m->funcs.len + 1));
	if (!l.p->funcs)
		goto fail;
	l.frame_vreg = lower_vreg(&l, ROW_W);
	l.stack_vreg = lower_vreg(&l, ROW_W);
	lay_out_shared(&l);
	for (u32 i = 0; i < l.funcs.len && !l.failed; i++) {
		if (!VEC_PUSH(&l.frame_bytes, 0))
			goto fail;
		l.p->funcs[i] = (struct program_func){.module = m, .func = l.funcs.at[i], .first = (u32)l.insns.len};
		lower_function(&l, i);
		l.p->funcs[i].end = (u32)l.insns.len;
	}
	l.p->has_calls = l.funcs.len > 1;
	if (l.failed || !lower_rows(&l) || !finish(&l))
		goto fail;
	lower_fini(&l);
	return l.p;
fail:
	if (d)
		diag_at(d, DIAG_ERROR, &m->source, (struct diag_span){kernel->begin, kernel->begin + 1}, NULL,
			"kernel '%s' cannot be prepared: out of memory", kernel->name->text);
	lower_fini(&l);
	exec_program_free(l.p);
	return NULL;
}

void exec_program_free(struct program *p)
{
	if (!p)
		return;
	free(p->insn);
	free(p->consts);
	arena_fini(&p->arena);
	free(p);
}
