/*
 * Names at a place: DWARF first, PTX always.
 */
#include "src/dbg/names.h"

#include "src/base/demangle.h"
#include "src/dbg/dwarf_int.h"
#include "src/dbg/flow.h"
#include "src/ir/source.h"

#include <ctype.h>
#include <stdlib.h>

struct dbg_names {
	const struct ir_module *m;
	struct arena arena;
	struct debug_info *dwarf; /* NULL: none */
};

struct dbg_names *dbg_names_open(const struct ir_module *m, struct text *why)
{
	struct dbg_names *n = calloc(1, sizeof(*n));

	if (!n)
		return NULL;
	n->m = m;
	demangle_prepare();
	n->dwarf = debug_info_open(m, &n->arena, why);
	return n;
}

void dbg_names_close(struct dbg_names *n)
{
	if (!n)
		return;
	debug_info_close(n->dwarf);
	arena_fini(&n->arena);
	free(n);
}

bool dbg_names_has_dwarf(const struct dbg_names *n)
{
	return n->dwarf != NULL;
}

const struct ir_module *dbg_names_module(const struct dbg_names *n)
{
	return n->m;
}

struct arena *dbg_names_arena(struct dbg_names *n)
{
	return &n->arena;
}

/* ---- PTX ---- */

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

static bool find_ptx(struct dbg_names *n, struct dbg_place at, const char *name,
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

/* ---- C++ names ---- */

const char *dbg_names_function(struct dbg_names *n, const struct ir_func *f)
{
	struct text t = {0};
	const char *name;

	demangle(f->name->text, &t);
	name = t.at ? arena_strdup(&n->arena, t.at, t.len) : NULL;
	text_fini(&t);
	return name ? name : f->name->text;
}

/* Where the parameters begin, else the end: "ns::f<int (*)()>(int)" has them at the last group. */
static size_t name_length(const char *name)
{
	size_t n = strlen(name);
	u32 depth = 0;

	if (n > 6 && !strcmp(name + n - 6, " const"))
		n -= 6;
	if (!n || name[n - 1] != ')')
		return n;
	for (size_t i = n; i--;) {
		depth += name[i] == ')';
		depth -= name[i] == '(';
		if (!depth)
			return i && strncmp(name + i, "(anonymous", 10) != 0 ? i : n;
	}
	return n;
}

/* Without a result type in front and template arguments: "ns::f". */
static void plain_function(const char *name, bool keep_arguments, struct text *out)
{
	size_t n = name_length(name), begin = 0;
	u32 depth = 0;

	for (size_t i = 0; i < n; i++) {
		depth += name[i] == '<' || name[i] == '(' || name[i] == '{';
		depth -= depth && (name[i] == '>' || name[i] == ')' || name[i] == '}');
		if (!depth && name[i] == ' ' && i + 1 < n)
			begin = i + 1;
	}
	depth = 0;
	for (size_t i = begin; i < n; i++) {
		depth += name[i] == '<';
		if (!depth || keep_arguments)
			text_add(out, name + i, 1);
		depth -= depth && name[i] == '>';
	}
}

struct dbg_type *dbg_names_result(struct dbg_names *n, const struct ir_func *f)
{
	return n->dwarf ? debug_info_result(n->dwarf, f) : NULL;
}

static bool is_of_word(char c)
{
	return isalnum((u8)c) || c == '_' || c == '$';
}

/* As it compares with what a user writes: no blank that could be left out, no unnamed namespace. */
static void squeeze(const char *name, struct text *out)
{
	static const char unnamed[] = "(anonymous namespace)::";

	for (const char *s = name; *s; s++) {
		const char *next = s + strspn(s, " \t");

		while (!strncmp(next, unnamed, sizeof(unnamed) - 1))
			next += sizeof(unnamed) - 1;

		if (next > s && out->len && is_of_word(out->at[out->len - 1]) && is_of_word(*next))
			text_puts(out, " ");
		if (!*next)
			break;
		text_add(out, next, 1);
		s = next;
	}
}

/* The name, or its end behind a namespace. */
static bool ends_in_name(const char *whole, const char *name)
{
	struct text a = {0}, b = {0};
	bool is;

	squeeze(whole, &a);
	squeeze(name, &b);
	is = a.len >= b.len && b.len && !strcmp(a.at + a.len - b.len, b.at) &&
	     (a.len == b.len || a.at[a.len - b.len - 1] == ':');
	text_fini(&a);
	text_fini(&b);
	return is;
}

/* "f<7>" for "f<(int)7>", as the source has it. */
static void without_casts(const char *name, struct text *out)
{
	for (; *name; name++) {
		const char *end =
			(name[0] == '(' && out->len && strchr("<,( ", out->at[out->len - 1]))
				? strchr(name, ')')
				: NULL;

		if (end && (isalnum((unsigned char)end[1]) || end[1] == '-'))
			name = end;
		else
			text_add(out, name, 1);
	}
}

bool dbg_names_same(const char *whole, const char *name)
{
	bool is = ends_in_name(whole, name);

	for (u32 keep = 0; keep < 2 && !is; keep++) {
		struct text t = {0}, plain = {0};

		plain_function(whole, keep, &t);
		if (t.at)
			without_casts(t.at, &plain);
		is = plain.at && (ends_in_name(t.at, name) || ends_in_name(plain.at, name));
		text_fini(&t);
		text_fini(&plain);
	}
	return is;
}

bool dbg_names_is_function(struct dbg_names *n, const struct ir_func *f, const char *name)
{
	return !strcmp(name, f->name->text) || dbg_names_same(dbg_names_function(n, f), name);
}

const struct ir_func *dbg_names_find_function(struct dbg_names *n, const char *name)
{
	const struct ir_func *found = NULL;

	if (!strncmp(name, "::", 2))
		name += 2;
	for (size_t i = 0; i < n->m->funcs.len && !(found && found->has_body); i++)
		if (n->m->funcs.at[i] && dbg_names_is_function(n, n->m->funcs.at[i], name) &&
		    (!found || n->m->funcs.at[i]->has_body))
			found = n->m->funcs.at[i];
	return found;
}

struct dbg_type *dbg_names_function_type(struct dbg_names *n, const struct ir_func *f)
{
	static struct dbg_type unknown = {.kind = DBG_FUNCTION, .target = &dbg_type_void};
	struct dbg_type *t = n->dwarf ? debug_info_function_type(n->dwarf, f) : NULL;

	return t ? t : &unknown;
}

/* By what PTX calls it: "f(int)::x" of a mangled name. */
static bool find_static_ptx(struct dbg_names *n, const struct ir_func *f, const char *name,
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

bool dbg_names_find_static(struct dbg_names *n, const struct ir_func *f, const char *name,
			   struct dbg_variable *out)
{
	return (n->dwarf && debug_info_find_static(n->dwarf, f, name, out)) ||
	       find_static_ptx(n, f, name, out);
}

struct dbg_type *dbg_names_type_argument(struct dbg_names *n, struct dbg_place at, u32 inlined,
					 const char *name)
{
	return n->dwarf && at.func ? debug_info_type_argument(n->dwarf, at, inlined, name) : NULL;
}

bool dbg_names_frame_is(struct dbg_names *n, struct dbg_place at, u32 inlined, const char *name,
			u32 *count)
{
	struct debug_inline in[DBG_INLINE_MAX];
	struct text whole = {0};
	bool is;

	*count = 1 + (n->dwarf ? debug_info_inlined(n->dwarf, at, in) : 0);
	if (inlined + 1 >= *count)
		return inlined + 1 == *count && dbg_names_is_function(n, at.func, name);
	if (!in[inlined].function)
		return false;
	demangle(in[inlined].function, &whole);
	is = whole.at && dbg_names_same(whole.at, name);
	text_fini(&whole);
	return is;
}

bool dbg_names_has_file(const struct dbg_names *n, const char *file)
{
	size_t len = strlen(file);

	for (size_t i = 0; i < n->m->files.len; i++) {
		const char *path = n->m->files.at[i].path;
		size_t have = path ? strlen(path) : 0;

		if (have >= len && !strcmp(path + have - len, file) &&
		    (have == len || path[have - len - 1] == '/'))
			return true;
	}
	return false;
}

const char *dbg_last_scope(const char *name)
{
	const char *last = NULL;
	u32 depth = 0;

	for (const char *s = name; *s; s++) {
		depth += *s == '<' || *s == '(' || *s == '{';
		depth -= depth && (*s == '>' || *s == ')' || *s == '}');
		if (!depth && s[0] == ':' && s[1] == ':')
			last = s++;
	}
	return last;
}

bool dbg_same_name(const char *a, size_t n, const char *b)
{
	const char *end = a + n;

	for (;; a++, b++) {
		while (a < end && *a == ' ')
			a++;
		while (*b == ' ')
			b++;
		if (a == end || !*b)
			return a == end && !*b;
		if (*a != *b)
			return false;
	}
}

/* ---- look-up ---- */

/* With the namespaces of the function the place is in, innermost first, then alone. */
static bool find_module_variable(struct dbg_names *n, struct dbg_place at, const char *name,
				 struct dbg_variable *out)
{
	struct text prefix = {0}, t = {0};
	bool found = false;

	if (at.func)
		plain_function(dbg_names_function(n, at.func), true, &prefix);
	while (prefix.len && !found) {
		while (prefix.len &&
		       (prefix.len < 2 || memcmp(prefix.at + prefix.len - 2, "::", 2)))
			prefix.at[--prefix.len] = 0;
		if (!prefix.len)
			break;
		t.len = 0;
		text_printf(&t, "%s%s", prefix.at, name);
		found = t.at && debug_info_find_global(n->dwarf, t.at, out);
		prefix.len -= 2;
		prefix.at[prefix.len] = 0;
	}
	text_fini(&prefix);
	text_fini(&t);
	return found || debug_info_find_global(n->dwarf, name, out);
}

bool dbg_names_find(struct dbg_names *n, struct dbg_place at, u32 inlined, const char *name,
		    struct dbg_variable *out)
{
	if (n->dwarf && !strncmp(name, "::", 2))
		name += 2;
	if (n->dwarf && at.func && debug_info_find_local(n->dwarf, at, inlined, name, out))
		return true;
	if (n->dwarf && find_module_variable(n, at, name, out))
		return true;
	return find_ptx(n, at, name, out);
}

static void ptx_locals(struct dbg_names *n, const struct ir_func *f, dbg_variable_visitor *see,
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

void dbg_names_locals(struct dbg_names *n, struct dbg_place at, u32 inlined,
		      dbg_variable_visitor *see, void *user)
{
	if (n->dwarf && debug_info_function(n->dwarf, at.func))
		debug_info_locals(n->dwarf, at, inlined, see, user);
	else
		ptx_locals(n, at.func, see, user);
}

struct dbg_type *dbg_names_type(struct dbg_names *n, const char *name)
{
	return n->dwarf ? debug_info_type(n->dwarf, name) : NULL;
}

bool dbg_names_enumerator(struct dbg_names *n, const char *name, struct dbg_type **type, s64 *value)
{
	return n->dwarf && debug_info_enumerator(n->dwarf, name, type, value);
}

/* ---- frames ---- */

u32 dbg_names_inlined(void *names, struct dbg_place at, struct dbg_inline *out)
{
	struct debug_inline in[DBG_INLINE_MAX];
	struct dbg_names *n = names;
	u32 count = n->dwarf ? debug_info_inlined(n->dwarf, at, in) : 0;

	for (u32 i = 0; i < count; i++)
		out[i] = in[i].call;
	return count;
}

static const char *short_name(struct dbg_names *n, const char *name)
{
	struct text whole = {0}, t = {0};
	const char *copy;

	demangle(name, &whole);
	if (whole.at)
		plain_function(whole.at, true, &t);
	copy = t.at ? arena_strdup(&n->arena, t.at, t.len) : NULL;
	text_fini(&whole);
	text_fini(&t);
	return copy ? copy : name;
}

/* By .loc alone: names of inlined functions stand beside its lines. */
static u32 inlined_by_loc(struct dbg_names *n, struct dbg_place at, struct debug_inline *out)
{
	const struct ir_insn *in =
		at.insn < at.func->insns.len ? &at.func->insns.at[at.insn] : NULL;
	const struct ir_loc *l = in ? ir_loc_at(n->m, in->loc) : NULL;
	struct dbg_inline calls[DBG_INLINE_MAX];
	u32 count = dbg_lines_inlined(n->m, at, calls);

	for (u32 i = 0; i < count; i++) {
		out[i] = (struct debug_inline){calls[i], l ? ir_loc_function(n->m, l) : NULL};
		l = l ? ir_loc_at(n->m, l->inlined_at) : NULL;
	}
	return count;
}

u32 dbg_names_frames(struct dbg_names *n, const struct dbg_lines *l, struct dbg_place at,
		     struct dbg_frame out[DBG_INLINE_MAX + 1])
{
	struct debug_inline in[DBG_INLINE_MAX];
	struct dbg_source source = dbg_lines_at(l, at);
	u32 count = n->dwarf ? debug_info_inlined(n->dwarf, at, in) : 0;

	if (!count)
		count = inlined_by_loc(n, at, in);
	for (u32 i = 0; i <= count; i++) {
		const char *name = i < count ? in[i].function : at.func->name->text;

		out[i] = (struct dbg_frame){.function = name ? short_name(n, name) : "?",
					    .source = source,
					    .inlined = i,
					    .is_inlined = i < count};
		if (i < count)
			source = (struct dbg_source){ir_file_path(n->m, in[i].call.call_file),
						     in[i].call.call_line, in[i].call.call_column};
	}
	return count + 1;
}
