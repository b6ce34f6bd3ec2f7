/*
 * Small uses of expressions: numbers in arguments, convenience variables.
 */
#include "src/debugger/debugger_int.h"

void debugger_set_variable(struct debugger *x, const char *name, s64 value)
{
	struct dbg_context c = {.session = x->session};
	struct dbg_value v = dbg_value_int(&dbg_type_int, (u64)value);
	struct text why = {0};

	dbg_session_set(x->session, &c, name, &v, &why);
	text_fini(&why);
}

/* Those that the debugger sets itself are made anew. */
static bool is_kept_variable(const char *name)
{
	return *name != '_' && strcmp(name, "bpnum") != 0;
}

void variables_write(struct debugger *x, struct text *out)
{
	struct dbg_context c = {.session = x->session};
	const char *name;

	for (u32 i = 0; (name = dbg_session_variable(x->session, i)); i++) {
		struct text why = {0};
		struct dbg_number n;
		struct dbg_value v;

		dbg_session_get(x->session, name, &v);
		if (!is_kept_variable(name) || !dbg_value_number(&c, &v, &n, &why))
			;
		else if (n.is_float)
			text_printf(out, "set var $%s = %.17g\n", name, n.real);
		else if (n.is_signed)
			text_printf(out, "set var $%s = %lld\n", name, (long long)n.bits);
		else
			text_printf(out, "set var $%s = %lluu\n", name, (unsigned long long)n.bits);
		text_fini(&why);
	}
}

bool debugger_number(struct debugger *x, const char *text, u64 *out)
{
	struct dbg_context c;
	struct text why = {0};
	struct dbg_expr *e;
	struct dbg_number n;
	struct dbg_value v;
	bool good;

	if (!*text) {
		say_error(x, "A number is needed.");
		return false;
	}
	context_now(x, &c);
	e = dbg_expr_parse(&c, text, &why);
	good = e && dbg_expr_eval(e, &c, &v, &why) && dbg_value_number(&c, &v, &n, &why);
	if (good && (n.is_float ? n.real < 0 : n.is_signed && (s64)n.bits < 0)) {
		text_printf(&why, "%s is negative.", text);
		good = false;
	}
	if (good)
		*out = n.is_float ? (u64)(s64)n.real : n.bits;
	else
		say_error(x, "%s", why.at ? why.at : "no memory");
	dbg_expr_free(e);
	text_fini(&why);
	return good;
}

bool returned_variable(struct loaded *l, u32 index, struct dbg_variable *out)
{
	const struct ir_var *v = index < l->m->vars.len ? l->m->vars.at[index] : NULL;

	if (!v || (v->space != M_param && v->space != M_reg))
		return false;
	*out = (struct dbg_variable){.name = v->name->text,
				     .type = dbg_ptx_type(v->type, v->vec),
				     .where = v->space == M_reg ? DBG_IN_REGISTER : DBG_IN_MEMORY,
				     .space = DBG_PARAM,
				     .base = v,
				     .reg = v->reg};
	return true;
}
