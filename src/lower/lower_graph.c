/*
 * Which functions a kernel may reach, in which order they are laid out, and what their addresses
 * are.
 *
 * Functions are lowered callees first, so that a function's micro-ops lie below those of its
 * callers: lanes that have diverged to call it come back before the others go on, since the lowest
 * pc runs first. Functions that may call each other form a cycle; calls inside one save the
 * caller's rows (op_call.c). All others have rows no active caller uses. PTX ISA "Control Flow
 * Instructions: call", "Linking Directives", ".alias".
 */
#include "src/ir/source.h"
#include "src/lower/lower_int.h"

/* Functions of a program up to which calls get copies of what they call; calls in each other. */
#define COPIES_MAX 1024u
#define COPIES_DEEP 16u

/* Function addresses are even, as C++ needs for pointers to members, and no small integer. */
#define ADDRESS_STEP 16u

/* ---- definitions and addresses ---- */

/* What a name stands for: the definition the linker chose, or the body an alias stands for. */
static const struct ir_func *definition_of(const struct ir_module *m, const struct ir_func *f)
{
	const struct ir_func *target;

	if (f->definition && f->definition->has_body)
		return f->definition;
	target = f->alias_of ? ir_find_func(m, f->alias_of->text) : NULL;
	return target ? target : f;
}

static bool is_in(const struct ir_module *m, const struct ir_func *f)
{
	return f->index < m->funcs.len && m->funcs.at[f->index] == f;
}

u64 exec_const_base(const struct exec_unit *units, u32 n)
{
	u64 base = UINT64_MAX;

	for (u32 u = 0; u < n; u++)
		for (size_t i = 0; i < units[u].module->vars.len; i++)
			if (units[u].module->vars.at[i]->space == M_const &&
			    units[u].var_address[i])
				base = min_u64(base, units[u].var_address[i]);
	return base == UINT64_MAX ? 0 : base;
}

u64 exec_function_address(const struct exec_unit *units, u32 n, u32 unit, u32 func)
{
	const struct ir_func *f =
		definition_of(units[unit].module, units[unit].module->funcs.at[func]);
	u64 before = 0;

	for (u32 i = 0; i < n; i++) {
		if (is_in(units[i].module, f))
			return (before + f->index + 1) * ADDRESS_STEP;
		before += units[i].module->funcs.len;
	}
	return 0;
}

const struct ir_func *exec_function_at(const struct exec_unit *units, u32 n, u64 address)
{
	u64 number = address / ADDRESS_STEP;

	if (!number || address % ADDRESS_STEP)
		return NULL;
	for (u32 i = 0; i < n; i++) {
		if (number <= units[i].module->funcs.len)
			return units[i].module->funcs.at[number - 1];
		number -= units[i].module->funcs.len;
	}
	return NULL;
}

const struct program_func *exec_program_function(const struct program *p, u64 address)
{
	u64 number = address / ADDRESS_STEP;

	if (!number || address % ADDRESS_STEP || number > p->address_len ||
	    p->address_func[number - 1] == IR_NONE)
		return NULL;
	return &p->funcs[p->address_func[number - 1]];
}

u64 lower_function_address(struct lower *l, u32 func)
{
	return exec_function_address(l->options.units, l->options.unit_len, l->unit, func);
}

/* ---- what can be called ---- */

static bool is_call(const struct ir_insn *in)
{
	return in->form && in->form->row->operands == 1 &&
	       in->form->row->operand[0].kind == ISA_OP_CALL;
}

bool lower_parse_call(const struct ir_func *f, const struct ir_insn *in, struct lower_call *c)
{
	const struct ir_operand *ops = f->operands.at + in->first_op;
	u32 i = 0;

	*c = (struct lower_call){0};
	if (!is_call(in))
		return false;
	if (i < in->ops &&
	    (ops[i].kind == IR_OP_LIST || (ops[i].kind == IR_OP_INT && ops[i].flags & IR_PAREN)))
		c->rets = &ops[i++];
	c->target = i < in->ops ? &ops[i++] : NULL;
	if (i < in->ops &&
	    (ops[i].kind == IR_OP_LIST || (ops[i].kind == IR_OP_INT && ops[i].flags & IR_PAREN)))
		c->args = &ops[i++];
	c->list = i < in->ops ? &ops[i] : NULL;
	return c->target != NULL;
}

static u32 unit_of_func(const struct lower *l, const struct ir_func *f)
{
	for (u32 i = 0; i < l->options.unit_len; i++)
		if (is_in(l->options.units[i].module, f))
			return i;
	return IR_NONE;
}

static u32 unit_of_var(const struct lower *l, const struct ir_var *v, u32 hint)
{
	if (v->definition == v)
		return hint;
	for (u32 i = 0; i < l->options.unit_len; i++)
		for (size_t k = 0; k < l->options.units[i].module->vars.len; k++)
			if (l->options.units[i].module->vars.at[k] == v->definition)
				return i;
	return hint;
}

/*
 * The function's place in l->funcs, entering it when it is new and has a body; IR_NONE: it has
 * none.
 */
static u32 enter_func(struct lower *l, const struct ir_func *f)
{
	struct lower_func x = {
		.f = f, .unit = unit_of_func(l, f), .tail = IR_NONE, .caller = IR_NONE};
	u64 *found = map_get(&l->func_at, map_key(f));

	if (found)
		return (u32)*found;
	if (!f->has_body || f->is_entry || x.unit == IR_NONE)
		return IR_NONE;
	if (!VEC_PUSH(&l->funcs, x) || !map_set(&l->func_at, map_key(f), l->funcs.len - 1)) {
		l->failed = true;
		return IR_NONE;
	}
	return (u32)l->funcs.len - 1;
}

u32 lower_find_function(const struct lower *l, u32 func)
{
	const struct ir_func *f = definition_of(l->m, l->m->funcs.at[func]);
	const struct lower_func *from = &l->funcs.at[l->func];
	u64 *found = map_get(&l->func_at, map_key(f));

	for (u32 i = 0; i < from->edges; i++) {
		const struct lower_edge *e = &l->edges.at[from->first_edge + i];

		if (e->insn == l->ir && l->funcs.at[e->to].caller != IR_NONE)
			return e->to;
	}
	return found ? (u32)*found : IR_NONE;
}

/* ir_func_is_of_toolkit, which looks at every instruction: once for each function. */
static bool is_func_of_toolkit(struct lower *l, u32 unit, const struct ir_func *f)
{
	const u64 *known = map_get(&l->toolkit_funcs, map_key(f));
	bool is;

	if (known)
		return *known;
	is = ir_func_is_of_toolkit(l->options.units[unit].module, f);
	l->failed |= !map_set(&l->toolkit_funcs, map_key(f), is);
	return is;
}

/*
 * Does a call in `from` get a copy of f: of what the headers of the toolkit have, called in code of
 * the user's or in such a copy, and not by itself?
 */
static bool gets_copy(struct lower *l, u32 from, const struct ir_func *f)
{
	u32 unit = unit_of_func(l, f), at = from, deep = 0;

	if (!l->options.copies || l->funcs.len >= COPIES_MAX || !f->has_body || f->is_entry ||
	    unit == IR_NONE || !is_func_of_toolkit(l, unit, f))
		return false;
	while (l->funcs.at[at].caller != IR_NONE && deep < COPIES_DEEP && l->funcs.at[at].f != f) {
		at = l->funcs.at[at].caller;
		deep++;
	}
	return l->funcs.at[at].caller == IR_NONE && l->funcs.at[at].f != f &&
	       !is_func_of_toolkit(l, l->funcs.at[at].unit, l->funcs.at[at].f);
}

static u32 enter_func_copy(struct lower *l, u32 from, u32 insn, const struct ir_func *f)
{
	struct lower_func x = {.f = f,
			       .unit = unit_of_func(l, f),
			       .tail = IR_NONE,
			       .caller = from,
			       .caller_insn = insn};

	if (!VEC_PUSH(&l->funcs, x)) {
		l->failed = true;
		return IR_NONE;
	}
	return (u32)l->funcs.len - 1;
}

static void add_edge(struct lower *l, u32 from, u32 insn, const struct ir_func *f)
{
	struct lower_edge e = {from, enter_func(l, f), insn};

	if (e.to != IR_NONE && !VEC_PUSH(&l->edges, e))
		l->failed = true;
}

static void add_direct(struct lower *l, u32 from, u32 insn, const struct ir_func *f)
{
	struct lower_edge e = {from, IR_NONE, insn};

	if (!gets_copy(l, from, f)) {
		add_edge(l, from, insn, f);
		return;
	}
	e.to = enter_func_copy(l, from, insn, f);
	if (e.to != IR_NONE && !VEC_PUSH(&l->edges, e))
		l->failed = true;
}

/* Note a function whose address something holds; once each. */
static void note_address_taken(struct lower *l, const struct ir_module *m, u32 func)
{
	const struct ir_func *f = definition_of(m, m->funcs.at[func]);

	if (f->has_body && !f->is_entry && !map_get(&l->taken_at, map_key(f)) &&
	    (!VEC_PUSH(&l->taken, f) || !map_set(&l->taken_at, map_key(f), 1)))
		l->failed = true;
}

static void take_from_code(struct lower *l, const struct ir_module *m, const struct ir_func *f)
{
	for (size_t i = 0; i < f->insns.len; i++) {
		const struct ir_insn *in = &f->insns.at[i];

		for (u32 k = 0; k < in->ops && !is_call(in); k++)
			if (f->operands.at[in->first_op + k].kind == IR_OP_FUNC)
				note_address_taken(l, m, f->operands.at[in->first_op + k].index);
	}
}

/*
 * Every function an indirect call may meet: those in initial data, and those some instruction takes
 * the address of.
 */
static void find_taken(struct lower *l)
{
	l->has_taken = true;
	for (u32 u = 0; u < l->options.unit_len; u++) {
		const struct ir_module *m = l->options.units[u].module;

		for (size_t i = 0; i < m->vars.len; i++)
			for (u32 k = 0; k < m->vars.at[i]->relocs_len; k++)
				if (m->vars.at[i]->relocs[k].is_func)
					note_address_taken(l, m, m->vars.at[i]->relocs[k].index);
		for (size_t i = 0; i < m->funcs.len; i++)
			take_from_code(l, m, m->funcs.at[i]);
	}
}

/*
 * call through a register: the listed functions, those of the table, or all that fit the prototype.
 */
static void add_indirect(struct lower *l, u32 from, u32 insn, const struct ir_func *f,
			 const struct ir_operand *list)
{
	const struct ir_module *m = l->options.units[l->funcs.at[from].unit].module;
	const struct ir_table *t =
		list && list->kind == IR_OP_TABLE ? &f->tables.at[list->index] : NULL;

	if (t && t->kind == IR_CALL_TARGETS) {
		for (u32 i = 0; i < t->len; i++)
			add_edge(l, from, insn, definition_of(m, m->funcs.at[t->at[i]]));
	} else if (t && t->kind == IR_PROTOTYPE) {
		u32 wanted = lower_signature(m, t->proto);

		if (!l->has_taken)
			find_taken(l);
		for (size_t i = 0; i < l->taken.len; i++) {
			const struct ir_func *x = l->taken.at[i];

			if (lower_signature(l->options.units[unit_of_func(l, x)].module, x) ==
			    wanted)
				add_edge(l, from, insn, x);
		}
	} else if (list && list->kind == IR_OP_VAR) {
		const struct ir_var *v = m->vars.at[list->index],
				    *def = v->definition ? v->definition : v;
		const struct ir_module *home =
			l->options.units[unit_of_var(l, v, l->funcs.at[from].unit)].module;

		for (u32 i = 0; i < def->relocs_len; i++)
			if (def->relocs[i].is_func)
				add_edge(l, from, insn,
					 definition_of(home, home->funcs.at[def->relocs[i].index]));
	}
}

const struct ir_func *lower_prototype(const struct lower *l, const struct lower_call *c,
				      const struct ir_module **m)
{
	const struct ir_var *v, *def;

	*m = l->m;
	if (c->target->kind == IR_OP_FUNC)
		return l->m->funcs.at[c->target->index];
	if (c->list && c->list->kind == IR_OP_TABLE) {
		const struct ir_table *t = &l->f->tables.at[c->list->index];

		return t->kind == IR_PROTOTYPE                ? t->proto
		       : t->kind == IR_CALL_TARGETS && t->len ? l->m->funcs.at[t->at[0]]
							      : NULL;
	}
	if (!c->list || c->list->kind != IR_OP_VAR)
		return NULL;
	v = l->m->vars.at[c->list->index];
	def = v->definition ? v->definition : v;
	*m = l->options.units[unit_of_var(l, v, l->unit)].module;
	for (u32 i = 0; i < def->relocs_len; i++)
		if (def->relocs[i].is_func)
			return (*m)->funcs.at[def->relocs[i].index];
	return NULL;
}

static void add_calls(struct lower *l, u32 from)
{
	const struct ir_func *f = l->funcs.at[from].f;
	const struct ir_module *m = l->options.units[l->funcs.at[from].unit].module;
	struct lower_call c;

	l->funcs.at[from].first_edge = (u32)l->edges.len;
	for (size_t i = 0; i < f->insns.len && !l->failed; i++) {
		if (!lower_parse_call(f, &f->insns.at[i], &c))
			continue;
		if (c.target->kind == IR_OP_FUNC)
			add_direct(l, from, (u32)i, definition_of(m, m->funcs.at[c.target->index]));
		else
			add_indirect(l, from, (u32)i, f, c.list);
	}
	l->funcs.at[from].edges = (u32)l->edges.len - l->funcs.at[from].first_edge;
}

/* ---- cycles and order ---- */

/*
 * Tarjan's strongly connected components; a component gets its number when all it calls have
 * theirs.
 */
struct tarjan {
	struct lower *l;
	u32 *low, *number, *stack, *cycle;
	u32 height, numbers, cycles;
};

static void visit(struct tarjan *t, u32 v)
{
	const struct lower_func *x = &t->l->funcs.at[v];

	t->low[v] = t->number[v] = ++t->numbers;
	t->stack[t->height++] = v;
	for (u32 i = 0; i < x->edges; i++) {
		u32 w = t->l->edges.at[x->first_edge + i].to;

		if (!t->number[w])
			visit(t, w);
		if (t->cycle[w] == IR_NONE && t->low[w] < t->low[v])
			t->low[v] = t->low[w];
	}
	if (t->low[v] != t->number[v])
		return;
	for (u32 w = IR_NONE; w != v;) {
		w = t->stack[--t->height];
		t->cycle[w] = t->cycles;
	}
	t->cycles++;
}

/*
 * Put functions in order of falling component number: callers first. Counting sort; edges follow.
 */
static bool sort_functions(struct lower *l, const u32 *cycle, u32 cycles, u32 *place)
{
	u32 n = (u32)l->funcs.len, *start = calloc(cycles + 1, sizeof(*start));
	struct lower_func *sorted = malloc(sizeof(*sorted) * (n + 1));
	bool ok = start && sorted;

	for (u32 i = 0; ok && i < n; i++)
		start[cycles - 1 - cycle[i] + 1]++;
	for (u32 i = 0; ok && i < cycles; i++)
		start[i + 1] += start[i];
	for (u32 i = 0; ok && i < n; i++) {
		place[i] = start[cycles - 1 - cycle[i]]++;
		sorted[place[i]] = l->funcs.at[i];
		sorted[place[i]].cycle = cycle[i];
	}
	if (ok)
		memcpy(l->funcs.at, sorted, sizeof(*sorted) * n);
	for (size_t i = 0; ok && i < l->edges.len; i++) {
		l->edges.at[i].from = place[l->edges.at[i].from];
		l->edges.at[i].to = place[l->edges.at[i].to];
	}
	for (u32 i = 0; ok && i < n; i++)
		if (l->funcs.at[i].caller == IR_NONE)
			ok = map_set(&l->func_at, map_key(l->funcs.at[i].f), i);
		else
			l->funcs.at[i].caller = place[l->funcs.at[i].caller];
	free(start);
	free(sorted);
	return ok;
}

static bool order_funcs(struct lower *l)
{
	size_t n = l->funcs.len;
	u32 *block = calloc(5 * n + 1, sizeof(u32));
	struct tarjan t = {.l = l,
			   .low = block,
			   .number = block + n,
			   .stack = block + 2 * n,
			   .cycle = block + 3 * n};
	bool ok;

	if (!block)
		return false;
	memset(t.cycle, 0xff, n * sizeof(u32));
	/* The kernel comes first, so it is numbered last. */
	if (l->also)
		visit(&t, 1);
	if (!t.number[0])
		visit(&t, 0);
	l->cycles = t.cycles;
	ok = sort_functions(l, t.cycle, t.cycles, block + 4 * n);
	free(block);
	return ok;
}

static bool number_addresses(struct lower *l)
{
	struct program *p = l->p;

	for (u32 u = 0; u < l->options.unit_len; u++)
		p->address_len += (u32)l->options.units[u].module->funcs.len;
	p->address_func = ARENA_ARRAY(&p->arena, u32, p->address_len + 1);
	if (!p->address_func)
		return false;
	memset(p->address_func, 0xff, sizeof(u32) * p->address_len);
	for (u32 i = 1; i < l->funcs.len; i++) {
		u64 at = exec_function_address(l->options.units, l->options.unit_len,
					       l->funcs.at[i].unit, l->funcs.at[i].f->index);

		if (at && l->funcs.at[i].caller == IR_NONE)
			p->address_func[at / ADDRESS_STEP - 1] = i;
	}
	return true;
}

bool lower_find_functions(struct lower *l, const struct ir_func *kernel)
{
	struct lower_func first = {
		.f = kernel, .unit = unit_of_func(l, kernel), .tail = IR_NONE, .caller = IR_NONE};

	if (first.unit == IR_NONE || !VEC_PUSH(&l->funcs, first) ||
	    !map_set(&l->func_at, map_key(kernel), 0) ||
	    (l->also && enter_func(l, l->also) == IR_NONE))
		return false;
	for (u32 i = 0; i < l->funcs.len && !l->failed; i++)
		add_calls(l, i);
	return !l->failed && order_funcs(l) && number_addresses(l);
}

bool lower_same_cycle(const struct lower *l, u32 caller, u32 callee)
{
	return l->funcs.at[caller].cycle == l->funcs.at[callee].cycle;
}

/* ---- shared memory ---- */

/* What a function declares itself, it has; of a module's variables those that are used. */
static void mark_shared(struct lower *l, bool *const *used)
{
	for (size_t i = 0; i < l->funcs.len; i++) {
		const struct ir_func *f = l->funcs.at[i].f;

		for (size_t k = 0; k < f->vars.len; k++)
			used[l->funcs.at[i].unit][f->vars.at[k]] = true;

		for (size_t k = 0; k < f->operands.len; k++)
			if (f->operands.at[k].kind == IR_OP_VAR ||
			    f->operands.at[k].kind == IR_OP_ADDR_VAR)
				used[l->funcs.at[i].unit][f->operands.at[k].index] = true;
	}
}

/* A use of a declaration is a use of the definition in another unit. */
static void mark_definitions(struct lower *l, bool *const *used, u32 u)
{
	const struct ir_module *m = l->options.units[u].module;

	for (size_t i = 0; i < m->vars.len; i++) {
		const struct ir_var *v = m->vars.at[i];
		u32 home;

		if (!used[u][i] || v->space != M_shared || v->unsized || !v->definition ||
		    v->definition == v)
			continue;
		home = unit_of_var(l, v, u);
		for (size_t k = 0; k < l->options.units[home].module->vars.len; k++)
			used[home][k] |= l->options.units[home].module->vars.at[k] == v->definition;
	}
}

static u32 offset_of_definition(const struct lower *l, const struct ir_var *v, u32 u)
{
	u32 home = unit_of_var(l, v, u);

	for (size_t k = 0; k < l->options.units[home].module->vars.len; k++)
		if (l->options.units[home].module->vars.at[k] == v->definition)
			return l->offsets[home][k];
	return 0;
}

/* Declared in one unit, defined in another. */
static bool is_elsewhere(const struct ir_var *v)
{
	return !v->unsized && v->definition && v->definition != v;
}

bool lower_is_dynamic(const struct ir_var *v)
{
	return !is_elsewhere(v) && (v->unsized || v->linkage == IR_EXTERN);
}

/* As far as wrong indexes usually go: to the next row, to the next object of its kind. */
u32 lower_shared_distance(const struct ir_var *v)
{
	u64 least = 256, most = 8192, n = align_up(v->size_bytes, 64);

	return (u32)(n < least ? least : n > most ? most : n);
}

/*
 * pass 0: variables with a size; pass 1: alignment of the dynamic part; pass 2: where it begins,
 * and declarations.
 */
static u64 place_shared(struct lower *l, bool *const *used, u32 pass, u64 at, bool apart)
{
	for (u32 u = 0; u < l->options.unit_len; u++)
		for (size_t i = 0; i < l->options.units[u].module->vars.len; i++) {
			const struct ir_var *v = l->options.units[u].module->vars.at[i];
			bool elsewhere = is_elsewhere(v), dynamic = lower_is_dynamic(v);

			if (v->space != M_shared)
				continue;
			if (!used[u][i]) {
				l->offsets[u][i] = IR_NONE;
				/* ptxas aligns for it all the same. */
				if (pass == 1 && dynamic)
					at = align_up(at, v->align);
				continue;
			}
			if (pass == 0 && !dynamic && !elsewhere) {
				at = align_up(at, v->align);
				l->offsets[u][i] = (u32)at;
				at += v->size_bytes + (apart ? lower_shared_distance(v) : 0);
			} else if (pass == 1 && dynamic) {
				at = align_up(at, v->align);
			} else if (pass == 2 && dynamic) {
				l->offsets[u][i] = (u32)at;
			} else if (pass == 2 && elsewhere) {
				l->offsets[u][i] = offset_of_definition(l, v, u);
			}
		}
	return at;
}

/* Where the dynamic part begins. */
static u64 place_all_shared(struct lower *l, bool *const *used, bool apart)
{
	u64 at = 0;

	for (u32 pass = 0; pass < 3; pass++)
		at = place_shared(l, used, pass,
				  apart && pass == 1 ? align_up(at, SHARED_END_ALIGN) : at, apart);
	return at;
}

bool lower_lay_out_shared(struct lower *l)
{
	u32 n = l->options.unit_len;
	bool **used = calloc(n + 1, sizeof(*used)), ok = used != NULL;

	for (u32 u = 0; ok && u < n; u++) {
		used[u] = calloc(l->options.units[u].module->vars.len + 1, sizeof(bool));
		ok = used[u] != NULL;
	}
	if (ok) {
		mark_shared(l, used);
		for (u32 u = 0; u < n; u++)
			mark_definitions(l, used, u);
		l->p->shared_static = (u32)place_all_shared(l, used, false);
		if (l->options.apart)
			place_all_shared(l, used, true);
	}
	for (u32 u = 0; used && u < n; u++)
		free(used[u]);
	free(used);
	return ok;
}
