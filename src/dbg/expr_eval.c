/*
 * Evaluation of expressions.
 */
#include "src/dbg/expr_int.h"

#include "src/base/size.h"

#include <stdlib.h>

struct evaluation {
	const struct dbg_context *c;
	struct text *why;
};

static bool evaluate_node(struct evaluation *e, struct expr_node *n, struct dbg_value *out);

/* ---- special registers ---- */

static bool read_special(struct evaluation *e, enum isa_sreg_id id, u32 part, u64 *value)
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
	{"threadIdx", &uint3_type, SR_tid},
	{"blockIdx", &uint3_type, SR_ctaid},
	{"blockDim", &dim3_type, SR_ntid},
	{"gridDim", &dim3_type, SR_nctaid},
};

static bool read_vector(struct evaluation *e, enum isa_sreg_id id, struct dbg_type *type,
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
static bool evaluate_builtin(struct evaluation *e, const char *name, bool *known,
			     struct dbg_value *out)
{
	*known = true;
	if (!strcmp(name, "warpSize")) {
		*out = dbg_value_int(&dbg_type_int, 32);
		return true;
	}
	for (size_t i = 0; i < ARRAY_LEN(builtins); i++)
		if (!strcmp(name, builtins[i].name))
			return read_vector(e, builtins[i].id, builtins[i].type, out);
	*known = false;
	return false;
}

static bool evaluate_special(struct evaluation *e, const struct isa_sreg *s, struct dbg_value *out)
{
	enum isa_sreg_id id = (enum isa_sreg_id)(s - isa_sreg(0));
	u64 value;

	if (s->components > 1)
		return read_vector(e, id, &v4_type, out);
	if (!read_special(e, id, 0, &value))
		return false;
	*out = dbg_value_int(s->type == T_pred             ? &dbg_type_bool
			     : isa_type_bits(s->type) > 32 ? &dbg_type_ulong
							   : &dbg_type_uint,
			     value);
	return true;
}

/* ---- names ---- */

/* `x` for this->x in a member function. */
static bool member_of_this(struct evaluation *e, const char *name, struct dbg_value *out)
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

static bool look_up_variable(struct evaluation *e, struct expr_node *n)
{
	const struct dbg_context *c = e->c;

	if (same_place(n, c))
		return true;
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

static bool evaluate_ptx(struct evaluation *e, struct expr_node *n, struct dbg_value *out)
{
	const struct isa_sreg *s = isa_sreg_find(n->text, strlen(n->text));

	if (is_register(e->c, n->text) && look_up_variable(e, n)) {
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
static bool local_of_frame(struct evaluation *e, const char *function, const char *name,
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
static bool evaluate_scoped(struct evaluation *e, const char *name, struct dbg_value *out)
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

static bool evaluate_function(struct evaluation *e, const char *name, struct dbg_value *out)
{
	const struct ir_func *f = dbg_names_find_function(e->c->names, name);

	if (f)
		*out = dbg_value_function(e->c, f);
	return f != NULL;
}

/* 'file'::name: the file is one of the module's. */
static bool file_is_known(struct evaluation *e, const struct expr_node *n)
{
	if (!n->file || (e->c->names && dbg_names_has_file(e->c->names, n->file)))
		return true;
	text_printf(e->why, "No symbol table is loaded for \"%s\".", n->file);
	return false;
}

static bool evaluate_name(struct evaluation *e, struct expr_node *n, struct dbg_value *out)
{
	struct dbg_type *type;
	bool known = false, is;
	s64 value;

	if (!file_is_known(e, n))
		return false;
	/* The headers declare variables of these names that are nowhere. */
	is = evaluate_builtin(e, n->text, &known, out);
	if (known)
		return is;
	if (look_up_variable(e, n)) {
		dbg_value_of(e->c, &n->variable, out);
		return true;
	}
	if (member_of_this(e, n->text, out))
		return true;
	if (e->c->names && dbg_names_enumerator(e->c->names, n->text, &type, &value)) {
		*out = dbg_value_int(type, (u64)value);
		return true;
	}
	if (e->c->names && (evaluate_scoped(e, n->text, out) ||
			    (!e->why->len && evaluate_function(e, n->text, out))))
		return true;
	if (e->why->len)
		return false;
	if (!e->c->names)
		text_printf(e->why, "No symbol \"%s\": no device code is loaded.", n->text);
	else
		text_printf(e->why, "No symbol \"%s\" in current context.%s", n->text,
			    dbg_names_has_dwarf(e->c->names)
				    ? ""
				    : " (no debug information: build with -G)");
	return false;
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

/* $pc is the number of the instruction in its function; $r1 is %r1. */
static bool evaluate_dollar(struct evaluation *e, struct expr_node *n, struct dbg_value *out)
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
		return evaluate_ptx(e, &ptx, out);
	dbg_session_get(e->c->session, n->text, out);
	return true;
}

static bool evaluate_kept(struct evaluation *e, const struct expr_node *n, struct dbg_value *out)
{
	s64 count = dbg_session_count(e->c->session), at = n->number;

	if (n->from_last)
		at = count - at;
	if (!n->from_last && (at <= 0 || at > count)) {
		text_printf(e->why, "History has not yet reached $%lld.", (long long)at);
		return false;
	}
	dbg_session_kept(e->c->session, at > 0 ? (u32)at : 0, out);
	return true;
}

/* ---- operators ---- */

static bool evaluate_repeat(struct evaluation *e, struct expr_node *n, struct dbg_value *out)
{
	struct dbg_value a, count;
	struct dbg_number number;
	u64 bytes;

	if (!evaluate_node(e, n->a, &a) || !evaluate_node(e, n->b, &count) ||
	    !dbg_value_referred(e->c, &a, &a, e->why) ||
	    !dbg_value_number(e->c, &count, &number, e->why))
		return false;
	if (a.store != DBG_MEMORY) {
		text_puts(e->why, "Only values in memory can be extended with '@'.");
		return false;
	}
	if (number.is_float || (s64)number.bits <= 0 ||
	    !size_mul(dbg_type_size(a.type), number.bits, &bytes)) {
		text_puts(e->why, "Invalid number of repetitions.");
		return false;
	}
	*out = a;
	out->type = dbg_session_array(e->c->session, a.type, number.bits);
	return true;
}

static bool evaluate_sizeof(struct evaluation *e, struct expr_node *n, struct dbg_value *out)
{
	struct dbg_context dry = *e->c;
	struct evaluation quiet = {&dry, e->why};
	struct dbg_value a;

	dry.dry = true;
	if (n->a->op == EXPR_TYPE)
		a.type = n->a->type;
	else if (!evaluate_node(&quiet, n->a, &a))
		return false;
	*out = dbg_value_int(&dbg_type_ulong, dbg_type_size(dbg_type_refers(a.type)));
	return true;
}

static bool evaluate_assign(struct evaluation *e, struct expr_node *n, struct dbg_value *out)
{
	struct dbg_value place, value;

	if (!evaluate_node(e, n->a, &place) || !evaluate_node(e, n->b, &value))
		return false;
	if (n->sign != SIGN_NONE && !expr_binary(e->c, n->sign, &place, &value, &value, e->why))
		return false;
	if (!dbg_value_set(e->c, &place, &value, e->why))
		return false;
	*out = place;
	if (place.store == DBG_CONVENIENCE) {
		if (e->c->dry)
			*out = value;
		else
			dbg_session_get(e->c->session, place.name, out);
	} else if (place.store == DBG_NO_VALUE) {
		return dbg_value_cast(e->c, &value, place.type, out, e->why);
	}
	return true;
}

/* ++a and a++ */
static bool evaluate_step(struct evaluation *e, struct expr_node *n, struct dbg_value *out)
{
	struct dbg_value place, before, after, by = dbg_value_int(&dbg_type_int, (u64)n->number);
	struct dbg_number number;

	if (!evaluate_node(e, n->a, &place) || !dbg_value_number(e->c, &place, &number, e->why))
		return false;
	before = dbg_value_make(dbg_type_refers(place.type), &number);
	if (!expr_binary(e->c, SIGN_ADD, &before, &by, &after, e->why) ||
	    !dbg_value_set(e->c, &place, &after, e->why))
		return false;
	if (n->op == EXPR_AFTER)
		*out = before;
	else
		return dbg_value_cast(e->c, &after, before.type, out, e->why);
	return true;
}

static bool evaluate_logic(struct evaluation *e, struct expr_node *n, struct dbg_value *out)
{
	struct dbg_value v;
	bool is;

	if (!evaluate_node(e, n->a, &v) || !dbg_value_is_true(e->c, &v, &is, e->why))
		return false;
	if (n->op == EXPR_CHOOSE)
		return evaluate_node(e, is ? n->b : n->c, out);
	if (is == (n->op == EXPR_AND) &&
	    (!evaluate_node(e, n->b, &v) || !dbg_value_is_true(e->c, &v, &is, e->why)))
		return false;
	*out = dbg_value_int(&dbg_type_bool, is);
	return true;
}

static bool evaluate_member(struct evaluation *e, struct expr_node *n, struct dbg_value *out)
{
	struct dbg_value a;

	if (!evaluate_node(e, n->a, &a))
		return false;
	if (n->op == EXPR_ARROW && !dbg_value_follow(e->c, &a, &a, e->why))
		return false;
	return dbg_value_member(e->c, &a, n->text, out, e->why);
}

static bool evaluate_index(struct evaluation *e, struct expr_node *n, struct dbg_value *out)
{
	struct dbg_value a, b;
	struct dbg_number index;

	if (!evaluate_node(e, n->a, &a) || !evaluate_node(e, n->b, &b) ||
	    !dbg_value_number(e->c, &b, &index, e->why))
		return false;
	if (index.is_float) {
		text_puts(e->why, "an index is an integer");
		return false;
	}
	return dbg_value_index(e->c, &a, (s64)index.bits, out, e->why);
}

static bool evaluate_call(struct evaluation *e, struct expr_node *n, struct dbg_value *out)
{
	const struct dbg_target *t = e->c->target;
	struct dbg_value args[DBG_ARGUMENTS_MAX];
	u32 len = 0;

	for (const struct expr_node *one = n->b; one; one = one->b) {
		if (len == ARRAY_LEN(args)) {
			text_puts(e->why, "Too many arguments in function call.");
			return false;
		}
		if (!evaluate_node(e, one->a, &args[len++]))
			return false;
	}
	if (t && t->call)
		return t->call(t->user, e->c, n->text, args, len, out, e->why);
	text_puts(e->why, "Functions can be called while a kernel stands.");
	return false;
}

/* Operators that need the value of one operand. */
static bool evaluate_one(struct evaluation *e, struct expr_node *n, struct dbg_value *out)
{
	struct dbg_value a;

	if (!evaluate_node(e, n->a, &a))
		return false;
	switch (n->op) {
	case EXPR_FOLLOW:
		return dbg_value_follow(e->c, &a, out, e->why);
	case EXPR_ADDRESS:
		return dbg_value_address(e->c, &a, out, e->why);
	case EXPR_CAST:
		return dbg_value_cast(e->c, &a, n->type, out, e->why);
	default:
		return expr_unary(e->c, n->op, &a, out, e->why);
	}
}

static bool evaluate_two(struct evaluation *e, struct expr_node *n, struct dbg_value *out)
{
	struct dbg_value a, b;

	if (!evaluate_node(e, n->a, &a) || !evaluate_node(e, n->b, &b))
		return false;
	if (n->op == EXPR_COMMA) {
		*out = b;
		return true;
	}
	return expr_binary(e->c, n->sign, &a, &b, out, e->why);
}

static bool evaluate_node(struct evaluation *e, struct expr_node *n, struct dbg_value *out)
{
	switch ((enum expr_op)n->op) {
	case EXPR_VALUE:
		*out = n->value;
		return true;
	case EXPR_TYPE:
		text_puts(e->why, "Attempt to use a type name as an expression");
		return false;
	case EXPR_NAME:
		return evaluate_name(e, n, out);
	case EXPR_PTX:
		return evaluate_ptx(e, n, out);
	case EXPR_DOLLAR:
		return evaluate_dollar(e, n, out);
	case EXPR_KEPT:
		return evaluate_kept(e, n, out);
	case EXPR_MEMBER:
	case EXPR_ARROW:
		return evaluate_member(e, n, out);
	case EXPR_INDEX:
		return evaluate_index(e, n, out);
	case EXPR_SIZEOF:
		return evaluate_sizeof(e, n, out);
	case EXPR_BEFORE:
	case EXPR_AFTER:
		return evaluate_step(e, n, out);
	case EXPR_ASSIGN:
		return evaluate_assign(e, n, out);
	case EXPR_AND:
	case EXPR_OR:
	case EXPR_CHOOSE:
		return evaluate_logic(e, n, out);
	case EXPR_REPEAT:
		return evaluate_repeat(e, n, out);
	case EXPR_BINARY:
	case EXPR_COMMA:
		return evaluate_two(e, n, out);
	case EXPR_CALL:
		return evaluate_call(e, n, out);
	case EXPR_LIST:
		break;
	case EXPR_FOLLOW:
	case EXPR_ADDRESS:
	case EXPR_CAST:
	case EXPR_MINUS:
	case EXPR_PLUS:
	case EXPR_NOT:
	case EXPR_FLIP:
		return evaluate_one(e, n, out);
	}
	return false;
}

bool dbg_expr_eval(struct dbg_expr *e, const struct dbg_context *c, struct dbg_value *out,
		   struct text *why)
{
	struct evaluation evaluation = {c, why};

	if (evaluate_node(&evaluation, e->root, out))
		return true;
	/* Without words it was memory. */
	if (!why->len)
		text_puts(why, "no memory");
	return false;
}
