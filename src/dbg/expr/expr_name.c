/*
 * What names mean in expressions: variables, members of `this`, enumerators, functions, registers,
 * convenience variables.
 */
#include "src/dbg/expr/expr_int.h"

#include <stdlib.h>

/* ---- special registers ---- */

static bool read_special(struct expr_evaluation *e, enum isa_sreg_id id, u32 part, u64 *value)
{
	const struct dbg_target *t = e->c->target;
	enum dbg_answer a =
		t && t->special ? t->special(t->user, &e->c->lane, id, part, value) : DBG_NOT_KNOWN;

	if (a != DBG_OK)
		text_printf(e->why, "%s is %s", isa_sreg(id)->name, dbg_answer_text(a));
	return a == DBG_OK;
}

/* threadIdx and the others: structures of three numbers. */
static struct dbg_member xyz[] = {{.name = "x", .type = &dbg_type_uint, .offset = 0},
				  {.name = "y", .type = &dbg_type_uint, .offset = 4},
				  {.name = "z", .type = &dbg_type_uint, .offset = 8},
				  {.name = "w", .type = &dbg_type_uint, .offset = 12}};
static struct dbg_type uint3_type = {
	.kind = DBG_STRUCT, .name = "uint3", .size = 12, .members = xyz, .members_len = 3};
static struct dbg_type dim3_type = {
	.kind = DBG_STRUCT, .name = "dim3", .size = 12, .members = xyz, .members_len = 3};
/* %tid and others as PTX has them. */
static struct dbg_type v4_type = {
	.kind = DBG_STRUCT, .name = ".v4", .size = 16, .members = xyz, .members_len = 4};

static const struct builtin {
	const char *name;
	struct dbg_type *type;
	enum isa_sreg_id id;
} builtins[] = {
	{"threadIdx", &uint3_type, SR_tid},        {"blockIdx", &uint3_type, SR_ctaid},
	{"blockDim", &dim3_type, SR_ntid},         {"gridDim", &dim3_type, SR_nctaid},
	{"clusterIdx", &uint3_type, SR_clusterid}, {"clusterDim", &dim3_type, SR_cluster_nctaid},
};

static const struct builtin *builtin_of(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(builtins); i++)
		if (!strcmp(name, builtins[i].name))
			return &builtins[i];
	return NULL;
}

static bool read_vector(struct expr_evaluation *e, enum isa_sreg_id id, struct dbg_type *type,
			struct dbg_value *out)
{
	*out = (struct dbg_value){.type = type, .store = DBG_RVALUE};
	for (u32 i = 0; i < type->members_len; i++) {
		u64 value = 0;

		if (i < 3 && !read_special(e, id, i, &value))
			return false;
		memcpy(out->own + 4 * (size_t)i, &value, 4);
	}
	return true;
}

/* *known: is it one of these names? */
static bool evaluate_builtin(struct expr_evaluation *e, const char *name, bool *known,
			     struct dbg_value *out)
{
	const struct builtin *b = builtin_of(name);

	*known = true;
	if (!strcmp(name, "warpSize")) {
		*out = dbg_value_int(&dbg_type_int, 32);
		return true;
	}
	*known = b != NULL;
	return b && read_vector(e, b->id, b->type, out);
}

static struct dbg_type *special_type(const struct isa_sreg *s)
{
	return s->type == T_pred             ? &dbg_type_bool
	       : isa_type_bits(s->type) > 32 ? &dbg_type_ulong
					     : &dbg_type_uint;
}

static bool evaluate_special(struct expr_evaluation *e, const struct isa_sreg *s,
			     struct dbg_value *out)
{
	enum isa_sreg_id id = (enum isa_sreg_id)(s - isa_sreg(0));
	u64 value;

	if (s->components > 1)
		return read_vector(e, id, &v4_type, out);
	if (!read_special(e, id, 0, &value))
		return false;
	*out = dbg_value_int(special_type(s), value);
	return true;
}

/* ---- names ---- */

/* `x` for this->x in a member function. */
static bool member_of_this(struct expr_evaluation *e, const char *name, struct dbg_value *out)
{
	const struct dbg_context *c = e->c;
	struct text unwanted = {0};
	struct dbg_variable self;
	struct dbg_value value, object;
	bool found = false;

	if (c->names && c->place.func &&
	    dbg_names_find(c->names, c->place, c->inlined, "this", &self)) {
		dbg_value_of(c, &self, &value);
		found = dbg_value_follow(c, &value, &object, &unwanted) &&
			dbg_value_member(c, &object, name, out, &unwanted);
	}
	text_fini(&unwanted);
	return found;
}

static bool same_place(const struct expr_node *n, const struct dbg_context *c)
{
	return n->found && n->found_at.func == c->place.func && n->found_at.insn == c->place.insn &&
	       n->found_inlined == c->inlined;
}

static bool look_up_variable(struct expr_evaluation *e, struct expr_node *n)
{
	const struct dbg_context *c = e->c;

	n->found = false;
	if (!c->names || !dbg_names_find(c->names, c->place, c->inlined, n->text, &n->variable))
		return false;
	n->found = true;
	n->found_at = c->place;
	n->found_inlined = c->inlined;
	return true;
}

static bool is_register(const struct dbg_context *c, const char *name)
{
	return c->names && c->place.func &&
	       dbg_find_register(c->place.func, c->place.insn, name) != IR_NONE;
}

bool expr_ptx_value(struct expr_evaluation *e, struct expr_node *n, struct dbg_value *out)
{
	const struct isa_sreg *s = isa_sreg_find(n->text, strlen(n->text));

	if (is_register(e->c, n->text) && (same_place(n, e->c) || look_up_variable(e, n))) {
		dbg_value_of(e->c, &n->variable, out);
		return true;
	}
	if (s)
		return evaluate_special(e, s, out);
	text_printf(e->why, "No register %s here.", n->text);
	return false;
}

/* A register of another frame is that frame's: its value is kept instead. */
static bool keep_register(const struct dbg_context *c, struct dbg_value *v, struct text *why)
{
	u64 size = dbg_type_size(v->type);

	if (v->store != DBG_REGISTER)
		return true;
	if (size > sizeof(v->own) || !dbg_value_read(c, v, 0, v->own, size, why))
		return false;
	v->store = DBG_RVALUE;
	v->data = NULL;
	return true;
}

static bool is_of_module(const struct dbg_context *c, const struct ir_func *f)
{
	const struct ir_module *m = dbg_names_module(c->names);

	return f && f->index < m->funcs.len && m->funcs.at[f->index] == f;
}

/* A variable of the innermost frame of a function, by the function's name. */
static bool local_of_frame(struct expr_evaluation *e, const char *function, const char *name,
			   struct dbg_value *out)
{
	const struct dbg_target *t = e->c->target;
	struct dbg_context c = *e->c;
	struct dbg_variable v;

	for (; t && t->frame && t->frame(t->user, &c.lane, &c.place) == DBG_OK; c.lane.frame++) {
		u32 count = is_of_module(&c, c.place.func) ? 1 : 0;

		for (c.inlined = 0; c.inlined < count; c.inlined++)
			if (dbg_names_frame_is(c.names, c.place, c.inlined, function, &count) &&
			    dbg_names_find(c.names, c.place, c.inlined, name, &v)) {
				dbg_value_of(&c, &v, out);
				return keep_register(&c, out, e->why);
			}
	}
	return false;
}

/* ns::Class::member, function::variable */
static bool evaluate_scoped(struct expr_evaluation *e, const char *name, struct dbg_value *out)
{
	const char *last = dbg_last_scope(name);
	char *scope = last && last > name ? strndup(name, (size_t)(last - name)) : NULL;
	struct dbg_type *class;
	const struct ir_func *f;
	struct dbg_variable v;
	bool found = false;

	if (!scope)
		return false;
	class = dbg_names_type(e->c->names, scope);
	f = dbg_names_find_function(e->c->names, scope);
	if (class && dbg_type_strip(class)->kind == DBG_STRUCT) {
		found = dbg_value_static(dbg_type_strip(class), last + 2, out, e->why);
	} else if (local_of_frame(e, scope, last + 2, out)) {
		found = true;
	} else if (f && !e->why->len && dbg_names_find_static(e->c->names, f, last + 2, &v)) {
		dbg_value_of(e->c, &v, out);
		found = true;
	} else if (f && !e->why->len) {
		text_printf(e->why, "No symbol \"%s\" in function \"%s\", or it is in no frame.",
			    last + 2, scope);
	}
	free(scope);
	return found;
}

static bool evaluate_function(struct expr_evaluation *e, const char *name, bool defined,
			      struct dbg_value *out)
{
	const struct ir_func *f = dbg_names_find_function(e->c->names, name);

	if (!f || (defined && !f->has_body))
		return false;
	*out = dbg_value_function(e->c, f);
	return true;
}

/* A name in one module: that of the context. True also when e->why tells why it has no value. */
static bool find_here(struct expr_evaluation *e, struct expr_node *n, bool *good,
		      struct dbg_value *out)
{
	struct dbg_type *type;
	s64 value;

	*good = true;
	if (look_up_variable(e, n)) {
		dbg_value_of(e->c, &n->variable, out);
		return true;
	}
	if (member_of_this(e, n->text, out))
		return true;
	if (dbg_names_enumerator(e->c->names, n->text, &type, &value)) {
		*out = dbg_value_int(type, (u64)value);
		return true;
	}
	if (evaluate_scoped(e, n->text, out))
		return true;
	*good = !e->why->len;
	return !*good || evaluate_function(e, n->text, true, out);
}

/*
 * In the module of the context, then in the others of the program, which have no frame here; with a
 * file in those that know it.
 */
static bool find_in_program(struct expr_evaluation *e, struct expr_node *n, bool *good,
			    bool *has_file, struct dbg_value *out)
{
	struct dbg_context other = *e->c;
	struct expr_evaluation there = {&other, e->why, e->expr};
	bool found = false;

	for (u32 at = 0; !found && (other.names = dbg_context_names(e->c, &at));) {
		bool own = other.names == e->c->names;

		if (n->file && !dbg_names_has_file(other.names, n->file))
			continue;
		*has_file = true;
		if (!own) {
			other.place = (struct dbg_place){0};
			other.inlined = 0;
		}
		found = find_here(&there, n, good, out);
		e->expr->foreign |= found && !own;
	}
	/* Declared, and nowhere defined. */
	return found || (e->c->names && !n->file && evaluate_function(e, n->text, false, out));
}

static void say_no_symbol(struct expr_evaluation *e, const struct expr_node *n, bool has_file)
{
	if (n->file && !has_file)
		text_printf(e->why, "No symbol table is loaded for \"%s\".", n->file);
	else if (!e->c->names)
		text_printf(e->why, "No symbol \"%s\": no device code is loaded.", n->text);
	else
		text_printf(e->why, "No symbol \"%s\" in %s.%s", n->text,
			    n->file ? n->file : "current context",
			    dbg_names_has_dwarf(e->c->names)
				    ? ""
				    : " (no debug information: build with -G)");
}

bool expr_name_value(struct expr_evaluation *e, struct expr_node *n, struct dbg_value *out)
{
	bool known = false, good = true, has_file = false, is;

	/* The headers declare variables of these names that are nowhere. */
	is = evaluate_builtin(e, n->text, &known, out);
	if (known)
		return is;
	/* What was found in another module is kept by the place, too. */
	if (same_place(n, e->c)) {
		dbg_value_of(e->c, &n->variable, out);
		return true;
	}
	if (!find_in_program(e, n, &good, &has_file, out)) {
		say_no_symbol(e, n, has_file);
		return false;
	}
	if (good && n->found) {
		n->found_at = e->c->place;
		n->found_inlined = e->c->inlined;
	}
	return good;
}

/* What the target knows by a name. */
static bool read_builtin(const struct dbg_context *c, const char *name, struct dbg_value *out)
{
	const struct dbg_target *t = c->target;
	u64 value;

	if (!t || !t->builtin || t->builtin(t->user, &c->lane, name, &value) != DBG_OK)
		return false;
	*out = dbg_value_int(&dbg_type_ulong, value);
	return true;
}

bool expr_dollar_value(struct expr_evaluation *e, struct expr_node *n, struct dbg_value *out)
{
	struct expr_node ptx = *n;
	char name[256];

	if (*n->text == '_' && read_builtin(e->c, n->text, out))
		return true;
	if (dbg_session_has(e->c->session, n->text)) {
		dbg_session_get(e->c->session, n->text, out);
		return true;
	}
	if (!strcmp(n->text, "pc") && e->c->place.func) {
		*out = dbg_value_int(&dbg_type_ulong, e->c->place.insn);
		return true;
	}
	snprintf(name, sizeof(name), "%s%s", *n->text == '%' ? "" : "%", n->text);
	ptx.text = is_register(e->c, n->text) ? n->text : name;
	ptx.found = false;
	if (is_register(e->c, ptx.text) || isa_sreg_find(name, strlen(name)))
		return expr_ptx_value(e, &ptx, out);
	dbg_session_get(e->c->session, n->text, out);
	return true;
}

/* ---- what a node means, without evaluating it ---- */

const struct dbg_variable *expr_find_variable(struct expr_evaluation *e, struct expr_node *n)
{
	bool found = false;

	if (n->op == EXPR_NAME)
		found = strcmp(n->text, "warpSize") != 0 && !builtin_of(n->text) &&
			(same_place(n, e->c) || (!n->file && look_up_variable(e, n)));
	else if (n->op == EXPR_PTX)
		found = same_place(n, e->c) ||
			(is_register(e->c, n->text) && look_up_variable(e, n));
	return found ? &n->variable : NULL;
}

/* %tid, threadIdx */
static bool find_vector(struct expr_evaluation *e, struct expr_node *n, enum isa_sreg_id *id)
{
	const struct isa_sreg *s = NULL;
	const struct builtin *b = n->op == EXPR_NAME ? builtin_of(n->text) : NULL;

	if (b)
		*id = b->id;
	else if (n->op == EXPR_PTX && !expr_find_variable(e, n))
		s = isa_sreg_find(n->text, strlen(n->text));
	if (s && s->components > 1)
		*id = (enum isa_sreg_id)(s - isa_sreg(0));
	return b || (s && s->components > 1);
}

bool expr_find_special(struct expr_evaluation *e, struct expr_node *n, struct expr_special *out)
{
	const struct isa_sreg *s;

	if (n->op == EXPR_MEMBER) {
		if (strlen(n->text) != 1 || *n->text < 'x' || *n->text > 'z' ||
		    !find_vector(e, n->a, &out->id))
			return false;
		out->part = (u32)(*n->text - 'x');
		out->type = &dbg_type_uint;
		return true;
	}
	if (n->op != EXPR_PTX || expr_find_variable(e, n))
		return false;
	s = isa_sreg_find(n->text, strlen(n->text));
	if (!s || s->components > 1)
		return false;
	*out = (struct expr_special){(enum isa_sreg_id)(s - isa_sreg(0)), 0, special_type(s)};
	return true;
}
