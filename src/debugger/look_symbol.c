/*
 * Names and addresses: info symbol, info address, info scope.
 */
#include "src/debugger/look_value.h"

#include "src/base/demangle.h"

/* ---- the variable at an address ---- */

/*
 * Addresses of shared memory name the CTA of the cluster that they are of: *owner is that CTA, and
 * the variables' own addresses are those without it. NULL: the lane's.
 */
static const struct cta *shared_address(struct debugger *x, const struct dbg_context *c,
					enum dbg_space space, u64 *address)
{
	const struct cta *own = x->grid ? debug_cta(x->grid, c->lane.cta) : NULL;
	u64 base = 0, rank;

	if (!own || !own->cluster || (space != DBG_GENERIC && space != DBG_SHARED))
		return NULL;
	if (space == DBG_GENERIC)
		base = own->env->mem->shared_base;
	rank = (*address - base) >> MEM_SHARED_RANK_SHIFT;
	if (*address - base >= MEM_SHARED_WINDOW || !rank || rank > own->cluster->size)
		return NULL;
	*address = base + ((*address - base) & MEM_SHARED_OFFSET);
	return own->cluster->cta[rank - 1];
}

static bool variable_is_at(struct debugger *x, const struct dbg_context *c, const struct ir_var *v,
			   enum dbg_space space, u64 address, u64 *offset)
{
	enum dbg_space own = dbg_space_of(v);
	u64 at;

	if (own == DBG_SPACES || x->target.variable(x, &c->lane, v, &at) != DBG_OK)
		return false;
	if (space == DBG_GENERIC && x->target.to_generic(x, &c->lane, own, at, &at) != DBG_OK)
		return false;
	if (space != DBG_GENERIC && space != own)
		return false;
	*offset = address - at;
	return *offset < (v->size_bytes ? v->size_bytes : 1);
}

static const struct ir_var *symbol_at(struct debugger *x, const struct dbg_context *c,
				      enum dbg_space space, u64 address, u64 *offset)
{
	const struct ir_func *f = c->place.func;

	for (size_t i = 0; i < x->modules.len && x->grid; i++) {
		const struct ir_module *m = x->modules.at[i]->m;

		for (size_t k = 0; k < m->vars.len; k++) {
			const struct ir_var *v = m->vars.at[k];
			bool here = v->func == IR_NONE || v->space == M_shared ||
				    (f && v->func == f->index && m->funcs.at[f->index] == f);

			if (here && variable_is_at(x, c, v, space, address, offset))
				return v;
		}
	}
	return NULL;
}

/* Where compilers keep what is in no register, and texts: no variables of the program. */
static bool is_made_up(const char *name)
{
	static const char *const begins[] = {"__local_depot", "_$_str", "$str", ".str"};

	for (size_t i = 0; i < ARRAY_LEN(begins); i++)
		if (!strncmp(name, begins[i], strlen(begins[i])))
			return true;
	return false;
}

bool look_symbol(struct debugger *x, const struct dbg_context *c, enum dbg_space space, u64 address,
		 struct text *out)
{
	u64 offset = 0;
	const struct cta *owner = shared_address(x, c, space, &address);
	const struct ir_var *v = symbol_at(x, c, space, address, &offset);

	if (!v || is_made_up(v->name->text))
		return false;
	demangle(v->name->text, out);
	if (offset)
		text_printf(out, "+%llu", (unsigned long long)offset);
	if (owner) {
		text_puts(out, " of CTA ");
		look_say_id(owner->id, out);
	}
	return true;
}

/* A function, or a pointer to one. */
static bool is_code_type(struct dbg_type *t)
{
	t = dbg_type_strip(t);
	if (t->kind == DBG_POINTER && t->target)
		t = dbg_type_strip(t->target);
	return t->kind == DBG_FUNCTION;
}

void command_info_symbol(struct debugger *x, const struct call *c)
{
	struct look_evaluated v;
	struct dbg_number n = {0};
	struct text t = {0}, why = {0};
	enum dbg_space space;
	const struct ir_var *found;
	u64 offset, at;

	if (!*c->args) {
		say_error(x, "Argument required (address)");
		return;
	}
	if (!look_evaluate(x, c->args, &v))
		return;
	space = dbg_type_strip(v.v.type)->kind == DBG_POINTER ? dbg_type_strip(v.v.type)->space
							      : DBG_GENERIC;
	if (!dbg_value_number(&v.c, &v.v, &n, &why)) {
		look_say_why(x, &why);
		goto out;
	}
	at = n.bits;
	if (is_code_type(v.v.type)) {
		if (x->target.symbol(x, &v.c.lane, space, at, true, &t) == DBG_OK)
			say(x, "%s in code\n", t.at ? t.at : "");
		else
			say(x, "No symbol matches %s.\n", c->args);
		goto out;
	}
	shared_address(x, &v.c, space, &at);
	found = symbol_at(x, &v.c, space, at, &offset);
	if (!found) {
		say(x, "No symbol matches %s.\n", c->args);
	} else {
		demangle_prepare();
		look_symbol(x, &v.c, space, n.bits, &t);
		say(x, "%s in %s memory\n", t.at, dbg_space_name(dbg_space_of(found)));
	}
out:
	text_fini(&t);
	text_fini(&why);
	look_evaluated_fini(&v);
}

/* ---- where a name is ---- */

static void say_symbol_place(struct debugger *x, const struct dbg_context *c, const char *name,
			     const struct dbg_variable *v, struct text *out)
{
	char reg[128];
	u64 at = v->offset, base = 0, generic;

	text_printf(out, "Symbol \"%s\" is ", name);
	switch ((enum dbg_where)v->where) {
	case DBG_IN_REGISTER:
		text_printf(out, "a variable in register %s%s",
			    ir_reg_name(c->place.func, v->reg, reg, sizeof(reg)),
			    v->unset && c->target ? ", which is not set yet" : "");
		break;
	case DBG_IS_CONSTANT:
		text_printf(out, "constant, %lld", (long long)v->constant);
		break;
	case DBG_IS_NOWHERE:
		text_puts(out, v->why);
		break;
	case DBG_IN_MEMORY:
		if (v->base &&
		    (!c->target || x->target.variable(x, &c->lane, v->base, &base) != DBG_OK)) {
			text_printf(out, "in %s memory, part of %s", dbg_space_name(v->space),
				    v->base->name->text);
			break;
		}
		at += base;
		text_printf(out, "in %s memory at 0x%llx", dbg_space_name(v->space),
			    (unsigned long long)at);
		if (v->space != DBG_GLOBAL && v->space != DBG_CONST &&
		    x->target.to_generic(x, &c->lane, v->space, at, &generic) == DBG_OK)
			text_printf(out, " (generic 0x%llx)", (unsigned long long)generic);
		break;
	}
}

/* A function, in whichever file; else that there is nothing of the name. */
static void say_function_place(struct debugger *x, const struct dbg_context *c, const char *name)
{
	struct dbg_names *names;
	u64 address;

	for (u32 at = 0; (names = dbg_context_names(c, &at));) {
		const struct ir_func *f = dbg_names_find_function(names, name);

		if (!f || !f->has_body)
			continue;
		if (c->target && c->target->function(x, f, &address) == DBG_OK)
			say(x, "Symbol \"%s\" is a function at address 0x%llx.\n",
			    dbg_names_function(names, f), (unsigned long long)address);
		else
			say(x, "Symbol \"%s\" is a function.\n", dbg_names_function(names, f));
		return;
	}
	say_error(x, "No symbol \"%s\" in current context.", name);
}

void command_info_address(struct debugger *x, const struct call *c)
{
	struct dbg_context at;
	struct dbg_variable v;
	struct text t = {0};

	context_now(x, &at);
	if (!*c->args)
		say_error(x, "Argument required");
	else if (!dbg_context_find(&at, c->args, &v))
		say_function_place(x, &at, c->args);
	else {
		say_symbol_place(x, &at, c->args, &v, &t);
		say(x, "%s.\n", t.at ? t.at : "");
	}
	text_fini(&t);
}

/* ---- names of a function ---- */

struct scope {
	struct debugger *x;
	struct dbg_context c;
	u32 count;
};

static void say_name(void *user, const struct dbg_variable *v, u32 depth PL_UNUSED)
{
	struct scope *s = user;
	struct text t = {0};

	if (!v->name || !*v->name)
		return;
	say_symbol_place(s->x, &s->c, v->name, v, &t);
	say(s->x, "%s, length %llu.\n", t.at ? t.at : "",
	    (unsigned long long)dbg_type_size(v->type));
	text_fini(&t);
	s->count++;
}

void command_info_scope(struct debugger *x, const struct call *c)
{
	struct scope s = {.x = x};
	point_places places = {0};
	struct location at = {0};
	struct loaded *l;

	if (!*c->args)
		say_error(x, "info scope needs a function or a line");
	if (!*c->args || !location_parse(x, c->args, &at)) {
		location_fini(&at);
		return;
	}
	context_now(x, &s.c);
	location_find(x, &at, &places);
	l = places.len ? loaded_of(x, places.at[0].place.func) : NULL;
	if (!l && at.kind == AT_FUNCTION) {
		say_error(x, "Function \"%s\" not defined.", at.function);
	} else if (!l) {
		say_error(x, "No code is at %s.", c->args);
	} else {
		s.c.names = l->names;
		s.c.target = NULL;
		s.c.place = places.at[0].place;
		dbg_names_locals(l->names, s.c.place, places.at[0].inlined, say_name, &s);
		if (!s.count)
			say(x, "%s has no variables here.\n", c->args);
	}
	VEC_FREE(&places);
	location_fini(&at);
}
