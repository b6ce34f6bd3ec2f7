/*
 * Names without debug information: registers and variables as PTX declares them.
 */
#include "src/dbg/names_int.h"

#include "src/base/demangle.h"
#include "src/dbg/flow.h"

#include <stdlib.h>

static bool scope_holds(const struct ir_func *f, u32 scope, u32 insn)
{
	const struct ir_scope *s = scope < f->scopes.len ? &f->scopes.at[scope] : NULL;

	return !scope || (s && insn >= s->first_insn && insn < s->end_insn);
}

/* "%r12" of the family "%r": its number; false: another name. */
static bool is_member(const struct ir_regdecl *d, const char *name, u32 *number)
{
	u64 n = 0;

	if (strncmp(name, d->name->text, d->name->len) != 0)
		return false;
	name += d->name->len;
	*number = 0;
	if (!d->family)
		return !*name;
	if (!*name || (*name == '0' && name[1]))
		return false;
	for (; *name >= '0' && *name <= '9' && n < UINT32_MAX; name++)
		n = n * 10 + (u64)(*name - '0');
	*number = (u32)n;
	return !*name && n < d->count;
}

u32 dbg_find_register(const struct ir_func *f, u32 insn, const char *name)
{
	u32 found = IR_NONE;

	for (u32 i = 0; i < f->regs.len; i++) {
		const struct ir_regdecl *d = &f->regdecls.at[f->regs.at[i].decl];
		u32 number;

		/* Inner declarations come later. */
		if (is_member(d, name, &number) && (!d->family || f->regs.at[i].number == number) &&
		    scope_holds(f, d->scope, insn))
			found = i;
	}
	return found;
}

/* Untyped bits are what compilers keep int in. */
#define KIND_PRED DBG_BOOL
#define KIND_BITS DBG_INT
#define KIND_UINT DBG_INT
#define KIND_SINT DBG_INT
#define KIND_FLOAT DBG_FLOAT
#define KIND_ALT DBG_OPAQUE
#define KIND_OPAQUE DBG_OPAQUE

static struct dbg_type ptx_types[ISA_TYPES] = {
#define TYPE(id, bits, class, declarable)                                                          \
	[T_##id] = {.kind = (bits) > 64 || T_##id == T_f16x2 ? DBG_OPAQUE : KIND_##class,          \
		    .number = T_##id == T_f16 ? DBG_HALF : DBG_PLAIN,                              \
		    .is_signed = KIND_##class == DBG_FLOAT || ISA_##class == ISA_SINT ||           \
				 ISA_##class == ISA_BITS,                                          \
		    .name = "." #id,                                                               \
		    .size = ((bits) + 7) / 8},
#include "src/isa/types.def"
#undef TYPE
};

/* The components of vectors. */
static struct dbg_member ptx_parts[ISA_TYPES][4] = {
#define TYPE(id, bits, class, declarable)                                                          \
	[T_##id] = {{.name = "x", .type = &ptx_types[T_##id]},                                     \
		    {.name = "y", .type = &ptx_types[T_##id], .offset = ((bits) + 7) / 8},         \
		    {.name = "z", .type = &ptx_types[T_##id], .offset = ((bits) + 7) / 8 * 2},     \
		    {.name = "w", .type = &ptx_types[T_##id], .offset = ((bits) + 7) / 8 * 3}},
#include "src/isa/types.def"
#undef TYPE
};

static struct dbg_type ptx_vectors[ISA_TYPES][2] = {
#define VECTOR(id, bits, n)                                                                        \
	{                                                                                          \
		.kind = DBG_STRUCT, .name = ".v" #n "." #id, .size = ((bits) + 7) / 8 * (n),       \
		.members = ptx_parts[T_##id], .members_len = (n)                                   \
	}
#define TYPE(id, bits, class, declarable) [T_##id] = {VECTOR(id, bits, 2), VECTOR(id, bits, 4)},
#include "src/isa/types.def"
#undef TYPE
};

struct dbg_type *dbg_ptx_type(u32 type, u32 vec)
{
	type = type < ISA_TYPES ? type : T_b32;
	return vec == 2 || vec == 4 ? &ptx_vectors[type][vec / 4] : &ptx_types[type];
}

static struct dbg_type *ptx_var_type(struct arena *a, const struct ir_var *v)
{
	struct dbg_type *t = dbg_ptx_type(v->type, v->vec);

	for (u32 i = v->dims; v->is_array && i--;) {
		struct dbg_type *array = dbg_type_array(a, t, v->dim[i]);

		if (!array)
			return t;
		array->counted = i || !v->unsized;
		t = array;
	}
	return t;
}

static void of_register(struct dbg_names *n, struct dbg_place at, u32 reg, const char *name,
			struct dbg_variable *out)
{
	const struct ir_reg *r = &at.func->regs.at[reg];

	*out = (struct dbg_variable){.where = DBG_IN_REGISTER, .reg = reg};
	out->unset = !flow_may_be_set(at.func, n->m, at.insn, reg);
	out->name = name;
	out->type = dbg_ptx_type(r->type, r->vec);
}

/* ---- dynamic shared memory ---- */

/*
 * Is the operand an address in the variable, or a register marked in `in` that holds one? Compilers
 * use a register for one thing where they do not optimise.
 */
static bool leads_into(const struct ir_module *m, const struct ir_var *v,
		       const struct ir_operand *o, const u8 *in)
{
	if (o->kind == IR_OP_VAR || o->kind == IR_OP_ADDR_VAR)
		return o->index < m->vars.len && m->vars.at[o->index] == v;
	return (o->kind == IR_OP_REG || o->kind == IR_OP_ADDR_REG) && in[o->index];
}

/*
 * How elements are shown that are accessed so: a number of bits or an unsigned one as compilers use
 * it for a type of that size. With the width of a vector.
 */
static u32 shown_as(const struct isa_form *form)
{
	static const u8 shown[][2] = {{T_u16, T_s16}, {T_u32, T_s32}, {T_u64, T_s64},
				      {T_b16, T_s16}, {T_b32, T_s32}, {T_b64, T_s64},
				      {T_b8, T_u8}};
	u32 type = isa_form_word(form, ISA_K_TYPE, 0), vec = isa_form_word(form, ISA_K_VEC, 0);

	for (size_t i = 0; i < ARRAY_LEN(shown); i++)
		if (type == shown[i][0]) {
			type = shown[i][1];
			break;
		}
	return type | (vec == M_v2 ? 2u : vec == M_v4 ? 4u : vec != ISA_NONE ? 8u : 0) << 16;
}

/* What a function reads or writes in the variable; *type: ISA_TYPES when accesses differ. */
static void see_accesses(const struct ir_module *m, const struct ir_func *f, const struct ir_var *v,
			 u8 *in, u32 *type)
{
	for (size_t i = 0; i < f->insns.len; i++) {
		const struct ir_insn *insn = &f->insns.at[i];
		enum isa_mnemonic what = ir_opcode(insn);
		const struct ir_operand *o = &f->operands.at[insn->first_op];
		bool load = what == OPCODE_ld || what == OPCODE_atom;
		bool access = load || what == OPCODE_st || what == OPCODE_red;
		bool moves = what == OPCODE_mov || what == OPCODE_cvta || what == OPCODE_add ||
			     what == OPCODE_mad;

		for (u32 k = 1; moves && k < insn->ops && o->kind == IR_OP_REG; k++)
			in[o->index] |= leads_into(m, v, &o[k], in);
		if (access && insn->ops > 1 && leads_into(m, v, &o[load], in)) {
			u32 t = shown_as(insn->form);

			*type = *type == IR_NONE || *type == t ? t : ISA_TYPES;
		}
	}
}

static void see_function(const struct ir_module *m, const struct ir_func *f, const struct ir_var *v,
			 u32 *type)
{
	u8 *in = calloc(f->regs.len + 1, 1);

	if (in)
		see_accesses(m, f, v, in, type);
	free(in);
}

/*
 * The type of the elements of `extern __shared__ T x[]`, which only nvcc -G tells: as the function
 * accesses them or, if it does not, all others. What differs has no size, so that it is not taken
 * for bytes.
 */
static struct dbg_type *dynamic_type(const struct ir_module *m, const struct ir_var *v,
				     const struct ir_func *in)
{
	static struct dbg_type unknown = {.kind = DBG_OPAQUE,
					  .name = "<data variable, no debug info>"};
	u32 type = IR_NONE, vec;

	if (in)
		see_function(m, in, v, &type);
	for (size_t i = 0; i < m->funcs.len && type == IR_NONE; i++)
		see_function(m, m->funcs.at[i], v, &type);
	vec = type >> 16;
	type &= UINT16_MAX;
	return type < ISA_TYPES && vec <= 4 ? dbg_ptx_type(type, vec) : &unknown;
}

static struct dbg_type *type_of_var(struct dbg_names *n, const struct ir_var *v,
				    const struct ir_func *in)
{
	struct dbg_type *element =
		v->space == M_shared && v->unsized && v->dims == 1 && v->type == T_b8
			? dynamic_type(n->m, v, in)
			: NULL;
	struct dbg_type *array = element ? dbg_type_array(&n->arena, element, 0) : NULL;

	if (!array)
		return ptx_var_type(&n->arena, v);
	array->counted = false;
	return array;
}

/* in: the function of the place; NULL: none. */
static void of_var(struct dbg_names *n, const struct ir_var *v, const struct ir_func *in,
		   struct dbg_variable *out)
{
	*out = (struct dbg_variable){.name = v->name->text,
				     .type = type_of_var(n, v, in),
				     .is_parameter = v->space == M_param,
				     .where = DBG_IN_MEMORY,
				     .space = (u8)dbg_space_of(v),
				     .base = v->definition ? v->definition : v,
				     .reg = IR_NONE};
	if (v->space == M_reg) {
		out->where = DBG_IN_REGISTER;
		out->reg = v->reg;
	} else if (out->space == DBG_SPACES) {
		out->where = DBG_IS_NOWHERE;
		snprintf(out->why, sizeof(out->why), "it is in no memory");
	}
}

/* A variable of the function, or of the module when f is NULL. */
static const struct ir_var *find_var(const struct ir_module *m, const struct ir_func *f,
				     const char *name)
{
	for (size_t i = 0; i < m->vars.len; i++) {
		const struct ir_var *v = m->vars.at[i];

		if (v->func == (f ? f->index : IR_NONE) && !strcmp(v->name->text, name))
			return v;
	}
	return NULL;
}

/* A variable of a namespace by its name in C++, where no debug information tells it. */
static const struct ir_var *find_demangled(const struct ir_module *m, const char *name)
{
	for (size_t i = 0; i < m->vars.len; i++) {
		const struct ir_var *v = m->vars.at[i];
		struct text whole = {0};
		bool is;

		if (v->func != IR_NONE || !demangle_wants(v->name->text))
			continue;
		demangle(v->name->text, &whole);
		is = whole.at && !strcmp(whole.at, name);
		text_fini(&whole);
		if (is)
			return v;
	}
	return NULL;
}

bool names_ptx_find(struct dbg_names *n, struct dbg_place at, const char *name,
		    struct dbg_variable *out)
{
	const struct ir_var *v = NULL;
	u32 reg = IR_NONE;

	if (at.func) {
		reg = dbg_find_register(at.func, at.insn, name);
		v = find_var(n->m, at.func, name);
	}
	v = v ? v : find_var(n->m, NULL, name);
	if (!v && strstr(name, "::"))
		v = find_demangled(n->m, name);
	if (reg != IR_NONE)
		of_register(n, at, reg, name, out);
	else if (v)
		of_var(n, v, at.func, out);
	return reg != IR_NONE || v;
}

bool names_ptx_static(struct dbg_names *n, const struct ir_func *f, const char *name,
		      struct dbg_variable *out)
{
	for (size_t i = 0; i < n->m->vars.len; i++) {
		const struct ir_var *v = n->m->vars.at[i];
		struct text whole = {0};
		const char *scope;
		bool is;

		if (v->space != M_shared && v->space != M_global && v->space != M_const)
			continue;
		demangle(v->name->text, &whole);
		scope = whole.at ? dbg_last_scope(whole.at) : NULL;
		is = scope && !strcmp(scope + 2, name) &&
		     dbg_same_name(whole.at, (size_t)(scope - whole.at), dbg_names_function(n, f));
		text_fini(&whole);
		if (!is)
			continue;
		of_var(n, v, f, out);
		return true;
	}
	return false;
}

void names_ptx_locals(struct dbg_names *n, const struct ir_func *f, dbg_variable_visitor *see,
		      void *user)
{
	struct dbg_variable v;

	for (size_t i = 0; i < f->vars.len; i++) {
		of_var(n, n->m->vars.at[f->vars.at[i]], f, &v);
		if (!v.is_parameter)
			see(user, &v, 1);
	}
	for (u32 i = 0; i < f->params_len; i++) {
		of_var(n, n->m->vars.at[f->params[i]], f, &v);
		v.is_parameter = true;
		see(user, &v, 0);
	}
}
