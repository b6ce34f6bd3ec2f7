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
		.op = (u16)op,
		.inner = (u16)op,
		.d = NO_ROW,
		.a = NO_ROW,
		.b = NO_ROW,
		.c = NO_ROW,
		.target = NO_PC,
		.join = NO_PC,
		.guard = NO_ROW,
		.ir = l->ir,
		.func = l->func,
		.ext = (u32)l->ext.len,
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

/* One value in braces stands for itself. */
static const struct ir_operand *without_braces(const struct lower *l, const struct ir_operand *op)
{
	return op->kind == IR_OP_VEC && op->imm == 1 ? &l->f->operands.at[op->index] : op;
}

u32 lower_source(struct lower *l, const struct ir_operand *op, u32 type, enum row_class class)
{
	enum row_class have;
	u32 v, t;

	op = without_braces(l, op);
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

	op = without_braces(l, op);
	if (op->kind != IR_OP_REG)
		return lower_vreg(l, class);
	v = lower_register(l, op, 0);
	return l->vregs.at[v].class == class ? v : lower_vreg(l, class);
}

void lower_finish(struct lower *l, const struct ir_operand *op, u32 from, u32 type, enum row_class class)
{
	u32 v;

	op = without_braces(l, op);
	if (op->kind != IR_OP_REG)
		return;
	v = lower_register(l, op, 0);
	if (v == from)
		return;
	if (class == ROW_W && l->vregs.at[v].class == ROW_X)
		lower_op(l, isa_type_class(type) == ISA_SINT ? OP_sign_extend : OP_zero_extend, v,
			 from, IR_NONE, IR_NONE, true);
	else if (class == ROW_X && l->vregs.at[v].class == ROW_W)
		lower_op(l, OP_low_of_x, v, from, IR_NONE, IR_NONE, true);
	else
		lower_poison(l, "a result does not fit its register");
}

void lower_poison(struct lower *l, const char *reason)
{
	struct program_note n = {.pc = (u32)l->insns.len, .text = arena_strdup(&l->p->arena, reason, strlen(reason))};

	lower_emit(l, OP_poison);
	if (!n.text || !VEC_PUSH(&l->notes, n))
		l->failed = true;
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

/* The operation of the instruction and its constant; forms are shared, so most have been looked up before. */
static enum exec_op find_lanes(struct lower *l, s64 *imm)
{
	const struct isa_form *form = l->in->form;
	u64 key = (u64)(uintptr_t)form * 32 + l->in->ops, *found = map_get(&l->form_ops, key);
	char text[160];
	enum exec_op op;

	*imm = 0;
	if (found) {
		*imm = (s64)(*found >> 16);
		return (enum exec_op)(*found & 0xffff);
	}
	lower_text(form, NULL, text, sizeof(text));
	op = lower_find_op(text);
	if (op == EXEC_OPS || shape_operands(op_infos[op].shape) + 1 != l->in->ops)
		op = lower_mode_op(form, imm);
	if (!map_set(&l->form_ops, key, (u64)*imm << 16 | op))
		l->failed = true;
	return op;
}

/*
 * ptxas puts a constant factor or summand of f64 second. Seen only in NaN results: of several NaNs that
 * of the second operand is kept.
 */
static bool is_constant_first(const struct lower *l)
{
	const struct ir_operand *a = lower_operand(l, 1), *b = lower_operand(l, 2);
	const struct isa_form *f = l->in->form;

	return (f->row->row == I_fma_f64 || f->row->row == I_mad_f64 ||
		(f->row->row == I_add_sub_mul_f64 && strcmp(f->row->name[f->name], "sub") != 0)) &&
	       a->kind == IR_OP_FLOAT && b->kind == IR_OP_REG;
}

void lower_lanes(struct lower *l)
{
	const struct isa_form *form = l->in->form;
	const char *shape;
	char text[160];
	enum exec_op op;
	u32 src[4] = {IR_NONE, IR_NONE, IR_NONE, IR_NONE}, n, d;
	const struct isa_operand *result =
		ir_operand_spec(form, &l->f->operands.at[l->in->first_op], l->in->ops, 0);
	s64 imm;

	op = find_lanes(l, &imm);
	if (op == EXEC_OPS) {
		lower_text(form, NULL, text, sizeof(text));
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
		const struct isa_operand *spec = ir_operand_spec(
			form, &l->f->operands.at[l->in->first_op], l->in->ops, i + 1);

		if (!o || !spec) {
			lower_text(form, NULL, text, sizeof(text));
			lower_poison(l, text);
			return;
		}
		src[i] = lower_source(l, o, isa_operand_type(form, spec), class_of_letter(shape[2 + i]));
	}
	if (is_constant_first(l)) {
		u32 constant = src[0];

		src[0] = src[1];
		src[1] = constant;
	}
	d = lower_target(l, lower_operand(l, 0), class_of_letter(shape[0]));
	lower_op(l, op, d, src[0], src[1], src[2], true);
	l->insns.at[l->insns.len - 1].imm = imm;
	lower_read(l, FIELD_TARGET, src[3]);
	if (shape[2 + n])
		add_carry(l, shape);
	lower_finish(l, lower_operand(l, 0), d, result ? isa_operand_type(form, result) : T_b32,
		     class_of_letter(shape[0]));
}

/* ---- functions ---- */

/* What the front end noted of a statement it did not know. */
static const char *poison_reason(const struct ir_func *f, u32 insn)
{
	for (size_t i = 0; i < f->poisons.len; i++)
		if (f->poisons.at[i].insn == insn)
			return f->poisons.at[i].reason;
	return "unknown instruction";
}

/* Rows of the table that are known but not run: the instruction faults when it is reached. */
static void lower_refuse(struct lower *l)
{
	char text[160], why[256];

	lower_text(l->in->form, NULL, text, sizeof(text));
	snprintf(why, sizeof(why), "'%s' is not supported: it can be checked but not run", text);
	lower_poison(l, why);
}

static void lower_insn(struct lower *l)
{
	const struct ir_insn *in = l->in;
	lower_rule *rule;

	l->guard = IR_NONE;
	l->guard_not = in->guard_not;
	if (in->guard != IR_NONE) {
		struct ir_operand g = {.kind = IR_OP_REG, .type = T_pred, .index = in->guard};

		l->guard = lower_register(l, &g, 0);
	}
	if (!in->form) {
		lower_poison(l, poison_reason(l->f, l->ir));
		return;
	}
	if (in->form->row->state != ISA_RUN) {
		lower_refuse(l);
		return;
	}
	if (lower_contracted(l))
		return;
	rule = lower_find_rule(in->form->row->row);
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
	const struct ir_func *f = l->funcs.at[index].f;
	size_t fixups = l->fixups.len;
	bool *used = used_labels(f);
	u32 label = 0;

	l->f = f;
	l->func = index;
	l->unit = l->funcs.at[index].unit;
	l->m = l->options.units[l->unit].module;
	l->var_address = l->options.units[l->unit].var_address;
	l->var_offset = l->offsets[l->unit];
	l->offset_in = l->places[l->unit];
	l->ir = 0;
	l->guard = IR_NONE;
	l->carry = IR_NONE;
	l->vreg_of = malloc(sizeof(u32) * (f->regs.len + 1));
	l->label_at = malloc(sizeof(u32) * (f->labels.len + 1));
	if (!used || !l->vreg_of || !l->label_at) {
		l->failed = true;
		goto out;
	}
	memset(l->vreg_of, 0xff, sizeof(u32) * f->regs.len);
	memset(l->label_at, 0xff, sizeof(u32) * f->labels.len);
	lower_contract_find(l, used);
	lower_lay_out_frame(l);
	lower_prologue(l);
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
	if (f->is_entry)
		lower_emit_free(l, OP_exit);
	else
		lower_epilogue(l);
	settle(l, fixups);
out:
	lower_contract_free(l);
	free(used);
	free(l->vreg_of);
	free(l->label_at);
}

static void lower_fini(struct lower *l)
{
	VEC_FREE(&l->insns);
	VEC_FREE(&l->ext);
	VEC_FREE(&l->refs);
	VEC_FREE(&l->vregs);
	VEC_FREE(&l->fixups);
	VEC_FREE(&l->funcs);
	VEC_FREE(&l->edges);
	VEC_FREE(&l->taken);
	VEC_FREE(&l->notes);
	map_fini(&l->consts);
	map_fini(&l->form_ops);
	map_fini(&l->func_at);
	map_fini(&l->taken_at);
	for (u32 u = 0; u < l->options.unit_len; u++) {
		if (l->offsets)
			free(l->offsets[u]);
		if (l->places)
			free(l->places[u]);
	}
	free(l->offsets);
	free(l->places);
}

/* Frames in full, and the most a thread may need of them while no cycle goes round. */
static void measure_frames(struct lower *l)
{
	struct program *p = l->p;
	u32 n = (u32)l->funcs.len;
	u64 *need = calloc(2 * (size_t)n + l->cycles + 1, sizeof(u64)), *args = need + n, *cycle = need + 2 * (size_t)n;

	p->func_len = n;
	for (u32 i = 0; i < n; i++)
		p->funcs[i].frame_bytes = (u32)align_up(l->funcs.at[i].frame_bytes, p->frame_align);
	p->frame_bytes = p->funcs[0].frame_bytes;
	if (!need) {
		l->failed = true;
		return;
	}
	for (u32 i = 0; i < p->insns; i++)
		if (p->insn[i].inner == OP_reserve && (u64)p->insn[i].imm > args[p->insn[i].func])
			args[p->insn[i].func] = (u64)p->insn[i].imm;
	/* Callees come last; all functions of a cycle count once. */
	for (u32 i = n; i-- > 0;) {
		const struct lower_func *f = &l->funcs.at[i];
		u64 most = args[i];

		for (u32 k = 0; k < f->edges; k++) {
			u32 to = l->edges.at[f->first_edge + k].to;

			p->has_cycles |= lower_same_cycle(l, i, to);
			if (!lower_same_cycle(l, i, to) && cycle[l->funcs.at[to].cycle] > most)
				most = cycle[l->funcs.at[to].cycle];
		}
		need[i] = p->funcs[i].frame_bytes + most;
		cycle[f->cycle] += need[i];
	}
	p->stack_bytes = align_up(cycle[l->funcs.at[0].cycle], p->frame_align);
	free(need);
}

u32 exec_local_bytes(const struct program *p, u64 stack_limit)
{
	u64 bytes = p->stack_bytes + (p->has_cycles || p->moves_stack ? 4 * stack_limit : 0);

	/* Threads' memories lie side by side: an odd number of cache lines keeps them apart in the host's caches. */
	bytes = bytes ? align_up(bytes, 64) | 64 : 0;
	return bytes > (u64)1 << 30 ? 1u << 30 : (u32)bytes;
}

const char *exec_program_note(const struct program *p, u32 pc)
{
	u32 lo = 0, hi = p->note_len;

	while (lo < hi) {
		u32 mid = (lo + hi) / 2;

		if (p->notes[mid].pc < pc)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < p->note_len && p->notes[lo].pc == pc ? p->notes[lo].text : NULL;
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
	p->notes = arena_copy(&p->arena, l->notes.at, sizeof(*p->notes) * l->notes.len);
	p->note_len = (u32)l->notes.len;
	measure_frames(l);
	lower_mark_polls(p);
	p->thread_insns = lower_estimate(p);
	p->may_be_idle = lower_may_be_idle(p);
	return p->notes != NULL && !l->failed;
}

/* Arrays about the variables of every unit. */
static bool make_units(struct lower *l)
{
	if (!l->options.units) {
		l->only = (struct exec_unit){l->m, l->var_address};
		l->options.units = &l->only;
		l->options.unit_len = 1;
	}
	l->const_base = exec_const_base(l->options.units, l->options.unit_len);
	l->offsets = calloc(l->options.unit_len, sizeof(*l->offsets));
	l->places = calloc(l->options.unit_len, sizeof(*l->places));
	for (u32 u = 0; l->offsets && l->places && u < l->options.unit_len; u++) {
		size_t n = l->options.units[u].module->vars.len + 1;

		l->offsets[u] = calloc(n, sizeof(**l->offsets));
		l->places[u] = calloc(n, sizeof(**l->places));
		if (!l->offsets[u] || !l->places[u])
			return false;
	}
	return l->offsets && l->places;
}

static bool lower_functions(struct lower *l)
{
	struct program *p = l->p;
	u32 n = (u32)l->funcs.len;

	p->funcs = ARENA_ARRAY(&p->arena, struct program_func, n);
	if (!p->funcs)
		return false;
	p->has_calls = n > 1;
	p->func_len = n;
	for (u32 i = 1; i < n; i++) {
		l->funcs.at[i].return_pc = lower_vreg(l, ROW_W);
		l->funcs.at[i].return_frame = lower_vreg(l, ROW_W);
	}
	for (u32 i = n; i-- > 0 && !l->failed;) {
		const struct lower_func *f = &l->funcs.at[i];
		const struct ir_module *m = l->options.units[f->unit].module;

		p->funcs[i] = (struct program_func){
			.module = m, .func = f->f, .first = (u32)l->insns.len, .signature = lower_signature(m, f->f),
		};
		lower_function(l, i);
		p->funcs[i].end = (u32)l->insns.len;
	}
	return !l->failed;
}

static struct program *lower_program(struct lower l, const struct ir_func *kernel)
{
	l.p = calloc(1, sizeof(*l.p));
	if (!l.p || !make_units(&l))
		goto fail;
	l.p->arch = l.arch;
	l.p->var_address = l.var_address;
	l.p->frame_align = 16;
	l.frame_vreg = lower_vreg(&l, ROW_W);
	l.stack_vreg = lower_vreg(&l, ROW_W);
	if (!lower_find_functions(&l, kernel) || !lower_lay_out_shared(&l) ||
	    !lower_functions(&l) || !lower_fuse(&l) || !lower_rows(&l) ||
	    !finish(&l))
		goto fail;
	lower_fini(&l);
	return l.p;
fail:
	if (l.d)
		diag_at(l.d, DIAG_ERROR, &l.m->source, (struct diag_span){kernel->begin, kernel->begin + 1}, NULL,
			"kernel '%s' cannot be prepared: out of memory", kernel->name->text);
	lower_fini(&l);
	exec_program_free(l.p);
	return NULL;
}

static u32 widest_gang(u32 warps)
{
	u32 g = GANG_WARPS;

	while (g > 1 && warps && g / 2 >= warps)
		g /= 2;
	return g;
}

/*
 * Rows that are kept for a whole launch can make gangs smaller; then they are not worth it. The
 * first of the ways with the largest gangs is taken.
 */
struct program *exec_lower(const struct ir_module *m, const struct ir_func *kernel, const struct arch *arch,
			   const u64 *var_address, const struct lower_options *options, struct diag *d)
{
	struct lower l = {.m = m, .arch = arch, .var_address = var_address, .options = *options, .d = d};
	struct program *p, *q;

	l.options.contract &= !m->debug;
	p = lower_program(l, kernel);
	l.d = NULL;
	for (u32 way = 0; p && way < 2 && p->gang < widest_gang(options->warps) &&
			  p->launch_first < p->insns;
	     way++) {
		l.no_affine = true;
		l.no_launch = way == 1;
		q = lower_program(l, kernel);
		if (q && q->gang > p->gang) {
			exec_program_free(p);
			p = q;
		} else {
			exec_program_free(q);
		}
	}
	return p;
}

void exec_program_free(struct program *p)
{
	if (!p)
		return;
	free(p->insn);
	free(p->consts);
	free(p->externs);
	arena_fini(&p->arena);
	free(p);
}
