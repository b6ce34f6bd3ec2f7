/*
 * Scopes at an instruction, the variables in them, and where those are.
 */
#include "src/base/demangle.h"
#include "src/dbg/dwarf_die.inc"
#include "src/dbg/flow.h"
#include "src/ir/source.h"

#include <stdlib.h>

/* ---- scopes ---- */

/* DIEs around an instruction, outermost first: the function, blocks, inlined functions. */
struct dwarf_chain {
	Dwarf_Die at[DWARF_DEPTH_MAX];
	u32 len;
	u64 begin, end; /* the same for every instruction from begin to before end */
};

static bool is_inlined(Dwarf_Die *die)
{
	return libdw.dwarf_tag(die) == DW_TAG_inlined_subroutine;
}

static bool is_scope(Dwarf_Die *die)
{
	int tag = libdw.dwarf_tag(die);

	return tag == DW_TAG_lexical_block || tag == DW_TAG_inlined_subroutine ||
	       tag == DW_TAG_try_block || tag == DW_TAG_catch_block;
}

/* Is the instruction in the scope? Either way the chain holds no longer than that is so. */
static bool holds(Dwarf_Die *scope, u64 pc, struct dwarf_chain *c)
{
	bool inside = libdw.dwarf_haspc(scope, pc) == 1;
	Dwarf_Addr low, high;

	if (libdw.dwarf_lowpc(scope, &low) != 0 || libdw.dwarf_highpc(scope, &high) != 0) {
		/* Several ranges: the next instruction is asked for anew. */
		low = pc;
		high = pc + 1;
	}
	if (low <= pc && pc < high) {
		c->begin = max_u64(c->begin, low);
		c->end = min_u64(c->end, high);
	} else if (low > pc) {
		c->end = min_u64(c->end, low);
	} else {
		c->begin = max_u64(c->begin, high);
	}
	return inside;
}

static bool find_inner(struct dwarf_chain *c, u64 pc)
{
	Dwarf_Die *out = &c->at[c->len];

	if (!die_child(&c->at[c->len - 1], out))
		return false;
	do
		if (is_scope(out) && holds(out, pc, c))
			return true;
	while (die_next(out));
	return false;
}

/* Neighbouring instructions usually have the same scopes: the last chain is kept. */
static struct dwarf_chain *chain_by_address(struct debug_info *d, struct dbg_place at)
{
	struct dwarf_chain *c = d->chain;
	u64 pc = dwarf_image_pc(at);

	if (c->begin <= pc && pc < c->end)
		return c;
	c->len = 0;
	c->begin = pc & ~(u64)UINT32_MAX;
	c->end = c->begin + UINT32_MAX;
	if (at.func->index >= d->m->funcs.len || d->m->funcs.at[at.func->index] != at.func ||
	    !die_at(d, d->funcs[at.func->index], &c->at[0]))
		return c;
	c->len = 1;
	while (c->len < DWARF_DEPTH_MAX && find_inner(c, pc))
		c->len++;
	return c;
}

static void note_next(void *user, u32 next)
{
	u32 *only = user;

	*only = *only == IR_NONE ? next : IR_NONE - 1;
}

/* Does the instruction do nothing but go on with the next? */
static bool leads_on(struct dbg_place at)
{
	u32 next = IR_NONE;

	if (at.insn >= at.func->insns.len || ir_opcode(&at.func->insns.at[at.insn]) != OPCODE_bra)
		return false;
	flow_successors(at.func, at.insn, note_next, &next);
	return next == at.insn + 1;
}

/*
 * nvcc jumps into an inlined function that begins another one's code, and gives the jump the line
 * of the call, but leaves it outside of the function that the call is in. There it belongs.
 */
static struct dwarf_chain *find_chain(struct debug_info *d, struct dbg_place at)
{
	struct dwarf_chain *c = chain_by_address(d, at);
	const struct ir_loc *l;
	u32 len = c->len, i;
	u64 own, line = 0;

	if (!len || !leads_on(at) || !(l = ir_loc_at(d->m, at.func->insns.at[at.insn].loc)))
		return c;
	own = die_id(&c->at[len - 1]);
	c = chain_by_address(d, (struct dbg_place){at.func, at.insn + 1});
	for (i = c->len; i-- > 1 && !is_inlined(&c->at[i]);)
		;
	if (i && i < c->len && i > len && die_id(&c->at[len - 1]) == own) {
		die_number(&c->at[i], DW_AT_call_line, &line);
		if (line == l->line) {
			c->len = i;
			c->begin = c->end = 0; /* of this instruction alone */
			return c;
		}
	}
	return chain_by_address(d, at);
}

/*
 * The part [*begin, *end) of the chain that belongs to the function with `inlined` others inside.
 */
static bool function_part(struct dwarf_chain *c, u32 inlined, u32 *begin, u32 *end)
{
	*end = c->len;
	for (u32 i = c->len; i--;)
		if (!i || is_inlined(&c->at[i])) {
			*begin = i;
			if (!inlined--)
				return true;
			*end = i;
		}
	return false;
}

/* ---- opening ---- */

struct debug_info *debug_info_open(const struct ir_module *m, struct arena *arena, struct text *why)
{
	struct debug_info *d = calloc(1, sizeof(*d));
	struct text reason = {0};

	if (!d)
		return NULL;
	d->chain = calloc(1, sizeof(*d->chain));
	if (!d->chain) {
		free(d);
		return NULL;
	}
	d->m = m;
	d->arena = arena;
	intern_init(&d->names, arena);
	demangle_prepare();
	if (!dwarf_image_open(&d->image, m, &reason) || !dwarf_index(d)) {
		if (reason.len || d->failed)
			text_printf(why, "the debug information of %s cannot be read: %s",
				    m->source.name,
				    reason.len  ? reason.at
				    : d->unseen ? "no memory"
						: "its entries overlap");
		debug_info_close(d);
		d = NULL;
	}
	text_fini(&reason);
	return d;
}

void debug_info_close(struct debug_info *d)
{
	if (!d)
		return;
	map_fini(&d->types);
	map_fini(&d->prefixes);
	map_fini(&d->type_names);
	map_fini(&d->variables);
	map_fini(&d->enumerators);
	intern_fini(&d->names);
	dwarf_image_close(&d->image);
	free(d->chain);
	free(d);
}

/* ---- where a variable is ---- */

/* The name that compilers put into the number of a register: its letters, the first one highest. */
static void register_name(u64 number, char name[9])
{
	u32 n = 0;

	for (u32 shift = 64; shift; shift -= 8)
		if (n || number >> (shift - 8) & 0xff)
			name[n++] = (char)(number >> (shift - 8) & 0xff);
	name[n] = 0;
}

static void in_register(struct debug_info *d, struct dbg_place at, u64 number,
			struct dbg_variable *v)
{
	char name[9];

	register_name(number, name);
	for (char *c = name; *c; c++)
		if (*c < ' ' || *c > '~')
			*c = '?';
	v->where = DBG_IN_REGISTER;
	v->reg = at.func ? dbg_find_register(at.func, at.insn, name) : IR_NONE;
	if (v->reg != IR_NONE) {
		v->unset = !flow_may_be_set(at.func, d->m, at.insn, v->reg);
		return;
	}
	v->where = DBG_IS_NOWHERE;
	if (*name)
		snprintf(v->why, sizeof(v->why), "the function has no register %s", name);
	else
		snprintf(v->why, sizeof(v->why), "the compiler does not tell its register");
}

static void in_memory(struct debug_info *d, struct dbg_place at, Dwarf_Die *die, u64 address,
		      u64 plus, struct dbg_variable *v)
{
	static const u8 spaces[] = {[4] = DBG_CONST,
				    [5] = DBG_GLOBAL,
				    [6] = DBG_LOCAL,
				    [7] = DBG_PARAM,
				    [8] = DBG_SHARED};
	const struct ir_var *base = dwarf_image_var(d->m, address);
	u64 class = 0;

	v->where = DBG_IN_MEMORY;
	v->offset = (base ? address & UINT32_MAX : address) + plus;
	die_number(die, DW_AT_address_class, &class);
	v->space = class < ARRAY_LEN(spaces) ? spaces[class] : DBG_GENERIC;
	if (!base)
		return;
	v->base = base->definition ? base->definition : base;
	v->space = (u8)dbg_space_of(base);
	if (base->space == M_reg && at.func && base->func == at.func->index) {
		v->where = DBG_IN_REGISTER;
		v->reg = base->reg;
	} else if (v->space == DBG_SPACES) {
		v->where = DBG_IS_NOWHERE;
		snprintf(v->why, sizeof(v->why), "it is in no memory");
	}
}

static void by_expression(struct debug_info *d, struct dbg_place at, Dwarf_Die *die,
			  const Dwarf_Op *op, size_t n, struct dbg_variable *v)
{
	bool value = n == 2 && op[1].atom == DW_OP_stack_value;
	u64 plus = 0;
	size_t i = 1;

	if (n == 1 && op[0].atom == DW_OP_regx) {
		in_register(d, at, op[0].number, v);
		return;
	}
	if (value && op[0].atom >= DW_OP_const1u && op[0].atom <= DW_OP_consts) {
		v->where = DBG_IS_CONSTANT;
		v->constant = op[0].number;
		return;
	}
	if (value && op[0].atom >= DW_OP_lit0 && op[0].atom <= DW_OP_lit31) {
		v->where = DBG_IS_CONSTANT;
		v->constant = op[0].atom - DW_OP_lit0;
		return;
	}
	for (; op[0].atom == DW_OP_addr && i < n && op[i].atom == DW_OP_plus_uconst; i++)
		plus += op[i].number;
	if (op[0].atom == DW_OP_addr && i == n) {
		in_memory(d, at, die, op[0].number, plus, v);
		return;
	}
	v->where = DBG_IS_NOWHERE;
	snprintf(v->why, sizeof(v->why), "where it is takes DW_OP %#x, which is not supported",
		 op[i < n ? i : 0].atom);
}

static void locate(struct debug_info *d, struct dbg_place at, Dwarf_Die *die,
		   struct dbg_variable *v)
{
	Dwarf_Attribute a;
	Dwarf_Sword s;
	Dwarf_Op *op;
	size_t len;
	int n;

	v->where = DBG_IS_NOWHERE;
	if (libdw.dwarf_attr_integrate(die, DW_AT_const_value, &a) &&
	    libdw.dwarf_formsdata(&a, &s) == 0) {
		v->where = DBG_IS_CONSTANT;
		v->constant = (u64)s;
		return;
	}
	if (!libdw.dwarf_attr_integrate(die, DW_AT_location, &a)) {
		snprintf(v->why, sizeof(v->why), "optimized out");
		return;
	}
	n = libdw.dwarf_getlocation_addr(&a, at.func ? dwarf_image_pc(at) : 0, &op, &len, 1);
	if (n < 0)
		snprintf(v->why, sizeof(v->why), "its location cannot be read: %s",
			 libdw.dwarf_errmsg(-1));
	else if (!n && !dwarf_list_locate(&a, at, &op, &len))
		snprintf(v->why, sizeof(v->why), "not known here");
	else if (n && !dwarf_list_locate(&a, at, &op, &len) && !len)
		snprintf(v->why, sizeof(v->why), "optimized out");
	else
		by_expression(d, at, die, op, len, v);
}

/*
 * clang tells no place of structures that a kernel takes by value. They are where the launch has
 * put them: the n-th parameter of the source is that of the kernel.
 */
static void locate_kernel_parameter(struct debug_info *d, struct dbg_place at, Dwarf_Die *die,
				    struct dbg_variable *v)
{
	const struct ir_var *p;
	Dwarf_Die func, child;
	u32 n = 0;

	if (!at.func || !at.func->is_entry || !die_at(d, d->funcs[at.func->index], &func) ||
	    !die_child(&func, &child))
		return;
	while (libdw.dwarf_dieoffset(&child) != libdw.dwarf_dieoffset(die)) {
		n += libdw.dwarf_tag(&child) == DW_TAG_formal_parameter;
		if (!die_next(&child))
			return;
	}
	p = n < at.func->params_len ? d->m->vars.at[at.func->params[n]] : NULL;
	if (!p || p->size_bytes != dbg_type_size(v->type))
		return;
	v->where = DBG_IN_MEMORY;
	v->space = DBG_PARAM;
	v->base = p;
	v->offset = 0;
}

static void describe_variable(struct debug_info *d, struct dbg_place at, Dwarf_Die *die,
			      struct dbg_variable *v)
{
	struct dbg_type *type = dwarf_type_of(d, die_id(die));
	const char *name = libdw.dwarf_diename(die);
	int line = 0;
	u64 flag = 0;

	*v = (struct dbg_variable){.name = name ? dwarf_plain_name(d, name) : "",
				   .type = type ? type : &dbg_type_void,
				   .is_parameter = libdw.dwarf_tag(die) == DW_TAG_formal_parameter,
				   .reg = IR_NONE};
	libdw.dwarf_decl_line(die, &line);
	v->line = (u32)line;
	die_number(die, DW_AT_artificial, &flag);
	v->is_artificial = flag || !strcmp(v->name, "this");
	locate(d, at, die, v);
	/* Where clang keeps parameters is not filled before the kernel's first instructions. */
	if (v->is_parameter && (v->where == DBG_IS_NOWHERE || !at.insn))
		locate_kernel_parameter(d, at, die, v);
}

/* ---- variables of a scope ---- */

static bool is_variable(Dwarf_Die *die)
{
	return libdw.dwarf_tag(die) == DW_TAG_variable ||
	       libdw.dwarf_tag(die) == DW_TAG_formal_parameter;
}

/* nvcc names a variable of a namespace by its linkage name. */
static bool is_called(struct debug_info *d, Dwarf_Die *die, const char *name)
{
	const char *own = libdw.dwarf_diename(die);

	return own && (!strcmp(own, name) ||
		       (demangle_wants(own) && !strcmp(dwarf_plain_name(d, own), name)));
}

static bool find_in_scope(struct debug_info *d, Dwarf_Die *scope, const char *name, Dwarf_Die *out)
{
	if (!die_child(scope, out))
		return false;
	do
		if (is_variable(out) && is_called(d, out, name))
			return true;
	while (die_next(out));
	return false;
}

/* What the compiler dropped from an inlined copy is in the function it is a copy of. */
static bool find_in_origin(struct debug_info *d, Dwarf_Die *scope, const char *name, Dwarf_Die *out)
{
	Dwarf_Attribute a;
	Dwarf_Die origin;

	return libdw.dwarf_attr(scope, DW_AT_abstract_origin, &a) &&
	       libdw.dwarf_formref_die(&a, &origin) && find_in_scope(d, &origin, name, out);
}

/*
 * A template argument of a function or its class, which clang tells among their members. scope: the
 * function, or a copy of it.
 */
static bool find_argument(struct debug_info *d, Dwarf_Die *scope, int tag, const char *name,
			  Dwarf_Die *out)
{
	Dwarf_Die of = *scope;

	for (u32 i = 0; i < DWARF_DEPTH_MAX; i++) {
		Dwarf_Attribute a;

		if (die_child(&of, out))
			do {
				const char *own = libdw.dwarf_tag(out) == tag
							  ? libdw.dwarf_diename(out)
							  : NULL;

				if (own && !strcmp(own, name))
					return true;
			} while (die_next(out));
		if ((!libdw.dwarf_attr(&of, DW_AT_abstract_origin, &a) &&
		     !libdw.dwarf_attr(&of, DW_AT_specification, &a)) ||
		    !libdw.dwarf_formref_die(&a, &of))
			return false;
	}
	(void)d;
	return false;
}

static void describe_argument(struct debug_info *d, Dwarf_Die *die, struct dbg_variable *v)
{
	struct dbg_type *type = dwarf_type_of(d, die_id(die));
	Dwarf_Attribute a;
	Dwarf_Sword s = 0;

	*v = (struct dbg_variable){.name = libdw.dwarf_diename(die),
				   .type = type ? type : &dbg_type_int,
				   .where = DBG_IS_CONSTANT,
				   .reg = IR_NONE};
	if (libdw.dwarf_attr(die, DW_AT_const_value, &a) && libdw.dwarf_formsdata(&a, &s) == 0)
		v->constant = (u64)s;
	else
		v->where = DBG_IS_NOWHERE;
	snprintf(v->why, sizeof(v->why), "not known here");
}

struct dbg_type *debug_info_type_argument(struct debug_info *d, struct dbg_place at, u32 inlined,
					  const char *name)
{
	struct dwarf_chain *c = find_chain(d, at);
	struct dbg_type *type;
	Dwarf_Die die;
	u32 begin, end;

	if (!c->len || !function_part(c, inlined, &begin, &end) ||
	    !find_argument(d, &c->at[begin], DW_TAG_template_type_parameter, name, &die))
		return NULL;
	type = dwarf_type_of(d, die_id(&die));
	return type ? type : &dbg_type_void;
}

bool debug_info_find_local(struct debug_info *d, struct dbg_place at, u32 inlined, const char *name,
			   struct dbg_variable *out)
{
	struct dwarf_chain *c = find_chain(d, at);
	Dwarf_Die die;
	u32 begin, end;

	if (!c->len || !function_part(c, inlined, &begin, &end))
		return false;
	for (u32 i = end; i-- > begin;)
		if (find_in_scope(d, &c->at[i], name, &die) ||
		    find_in_origin(d, &c->at[i], name, &die)) {
			describe_variable(d, at, &die, out);
			return true;
		}
	if (!find_argument(d, &c->at[begin], DW_TAG_template_value_parameter, name, &die))
		return false;
	describe_argument(d, &die, out);
	return true;
}

/* In the scope or one inside. */
static bool find_static_in(struct debug_info *d, struct dbg_place at, Dwarf_Die *scope,
			   const char *name, u32 depth, struct dbg_variable *out)
{
	Dwarf_Die die;

	if (depth > DWARF_DEPTH_MAX || !die_child(scope, &die))
		return false;
	do {
		if (is_variable(&die) && is_called(d, &die, name)) {
			describe_variable(d, at, &die, out);
			if (out->where == DBG_IN_MEMORY && out->base && out->space != DBG_LOCAL &&
			    out->space != DBG_PARAM)
				return true;
		} else if (is_scope(&die) && find_static_in(d, at, &die, name, depth + 1, out)) {
			return true;
		}
	} while (die_next(&die));
	return false;
}

bool debug_info_find_static(struct debug_info *d, const struct ir_func *f, const char *name,
			    struct dbg_variable *out)
{
	Dwarf_Die die;

	return f->index < d->m->funcs.len && die_at(d, d->funcs[f->index], &die) &&
	       find_static_in(d, (struct dbg_place){f, 0}, &die, name, 0, out);
}

struct dbg_type *debug_info_function_type(struct debug_info *d, const struct ir_func *f)
{
	u64 die = f->index < d->m->funcs.len ? d->funcs[f->index] : 0;

	return die ? dwarf_type(d, die) : NULL;
}

void debug_info_locals(struct debug_info *d, struct dbg_place at, u32 inlined,
		       dbg_variable_visitor *see, void *user)
{
	struct dbg_variable v;
	struct dwarf_chain *c = find_chain(d, at);
	Dwarf_Die die;
	u32 begin, end;

	if (!c->len || !function_part(c, inlined, &begin, &end))
		return;
	for (u32 i = end; i-- > begin;) {
		if (!die_child(&c->at[i], &die))
			continue;
		do {
			if (!is_variable(&die))
				continue;
			describe_variable(d, at, &die, &v);
			if (*v.name)
				see(user, &v, i - begin);
		} while (die_next(&die));
	}
}

bool debug_info_find_global(struct debug_info *d, const char *name, struct dbg_variable *out)
{
	u64 id = dwarf_named(d, &d->variables, name);
	Dwarf_Die die;

	if (!die_at(d, id, &die))
		return false;
	describe_variable(d, (struct dbg_place){NULL, 0}, &die, out);
	return true;
}

/* ---- types and functions ---- */

struct dbg_type *debug_info_type(struct debug_info *d, const char *name)
{
	u64 id = dwarf_named(d, &d->type_names, name);
	const char *last = strrchr(name, ':');

	/* nvcc does not tell the namespaces of types. */
	if (!id && last && !strchr(name, '<'))
		id = dwarf_named(d, &d->type_names, last + 1);
	return id ? dwarf_type(d, id) : NULL;
}

bool debug_info_enumerator(struct debug_info *d, const char *name, struct dbg_type **type,
			   s64 *value)
{
	u64 id = dwarf_named(d, &d->enumerators, name);
	const char *last = strrchr(name, ':');

	if (!id)
		return false;
	last = last ? last + 1 : name;
	*type = dwarf_type(d, id);
	for (u32 i = 0; i < (*type)->enumerators_len; i++) {
		const char *own = (*type)->enumerators[i].name, *colon = strrchr(own, ':');

		if (!strcmp(colon ? colon + 1 : own, last)) {
			*value = (*type)->enumerators[i].value;
			return true;
		}
	}
	return false;
}

const char *debug_info_function(struct debug_info *d, const struct ir_func *f)
{
	Dwarf_Die die;

	return f->index < d->m->funcs.len && die_at(d, d->funcs[f->index], &die)
		       ? libdw.dwarf_diename(&die)
		       : NULL;
}

struct dbg_type *debug_info_result(struct debug_info *d, const struct ir_func *f)
{
	u64 die = f->index < d->m->funcs.len ? d->funcs[f->index] : 0;

	return die ? dwarf_type_of(d, die) : NULL;
}

u32 debug_info_inlined(struct debug_info *d, struct dbg_place at,
		       struct debug_inline out[DBG_INLINE_MAX])
{
	struct dwarf_chain *c = find_chain(d, at);
	u32 n = 0;

	for (u32 i = c->len; i-- > 1 && n < DBG_INLINE_MAX;) {
		u64 file = 0, line = 0, column = 0;
		const char *linkage;

		if (!is_inlined(&c->at[i]))
			continue;
		die_number(&c->at[i], DW_AT_call_file, &file);
		die_number(&c->at[i], DW_AT_call_line, &line);
		die_number(&c->at[i], DW_AT_call_column, &column);
		linkage = die_linkage_name(&c->at[i]);
		out[n].call =
			(struct dbg_inline){die_id(&c->at[i]), (u32)file, (u32)line, (u32)column};
		out[n++].function = linkage ? linkage : libdw.dwarf_diename(&c->at[i]);
	}
	return n;
}
