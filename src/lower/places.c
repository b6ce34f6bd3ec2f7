/*
 * Where variables of a program lie, for those who look into a launch: lowering places them, and a
 * program that was lowered one to one remembers.
 */
#include "src/lower/callee.h"
#include "src/lower/lower_int.h"

/* Bodies that are read later add variables (ir.h: later): they are not in this program. */
static void *keep_places(struct arena *a, const void *places, size_t bytes, size_t all, u8 others)
{
	u8 *kept = arena_alloc(a, all);

	if (!kept)
		return NULL;
	memset(kept, others, all);
	if (bytes)
		memcpy(kept, places, bytes);
	return kept;
}

bool lower_keep_places(struct lower *l)
{
	struct program *p = l->p;
	u32 n = l->options.unit_len;
	struct program_unit *units = ARENA_ARRAY(&p->arena, struct program_unit, n);

	if (!units)
		return false;
	for (u32 u = 0; u < n; u++) {
		const struct exec_unit *from = &l->options.units[u];
		size_t vars = from->module->vars.len, most = from->module->vars.cap;

		units[u] = (struct program_unit){
			.module = from->module,
			.var_address = from->var_address,
			.offset = keep_places(&p->arena, l->offsets[u], sizeof(u32) * vars,
					      sizeof(u32) * most, 0xff),
			.in_stack = keep_places(&p->arena, l->places[u], vars, most, 0),
		};
		if (vars && (!units[u].offset || !units[u].in_stack))
			return false;
	}
	p->units = units;
	p->unit_len = n;
	return true;
}

static const struct program_unit *unit_of(const struct program *p, const struct ir_var *v,
					  u32 *index)
{
	for (u32 u = 0; p->units && u < p->unit_len; u++)
		for (size_t i = 0; i < p->units[u].module->vars.len; i++)
			if (p->units[u].module->vars.at[i] == v) {
				*index = (u32)i;
				return &p->units[u];
			}
	return NULL;
}

bool exec_formal_place(const struct program *p, const struct ir_var *v, u32 *at)
{
	u32 index;
	const struct program_unit *u = unit_of(p, v, &index);

	if (!u || u->in_stack[index] || v->unsized)
		return false;
	*at = u->offset[index];
	return true;
}

/* Where the dynamic part of a CTA's shared memory begins. */
static u32 shared_end(const struct program *p)
{
	u32 end = 0;

	for (u32 u = 0; u < p->unit_len; u++)
		for (size_t i = 0; i < p->units[u].module->vars.len; i++) {
			const struct ir_var *v = p->units[u].module->vars.at[i];
			u32 at = p->units[u].offset[i];

			if (v->space != M_shared || at == IR_NONE)
				continue;
			if (lower_is_dynamic(v))
				return at;
			at += (u32)v->size_bytes + lower_shared_distance(v);
			end = at > end ? at : end;
		}
	return (u32)align_up(end, SHARED_END_ALIGN);
}

static bool has_extent(const struct program_unit *u, size_t i)
{
	const struct ir_var *v = u->module->vars.at[i];

	return v->space == M_shared && !v->unsized && v->linkage != IR_EXTERN &&
	       !(v->definition && v->definition != v) && u->offset[i] != IR_NONE;
}

static void insert_extent(struct program_extent *all, u32 n, struct program_extent one)
{
	for (; n && all[n - 1].at > one.at; n--)
		all[n] = all[n - 1];
	all[n] = one;
}

bool lower_keep_extents(struct lower *l)
{
	struct program *p = l->p;
	struct program_extent *all;
	size_t most = 1;

	for (u32 u = 0; u < p->unit_len; u++)
		most += p->units[u].module->vars.len;
	all = ARENA_ARRAY(&p->arena, struct program_extent, most);
	if (!all)
		return false;
	for (u32 u = 0; u < p->unit_len; u++)
		for (size_t i = 0; i < p->units[u].module->vars.len; i++) {
			const struct ir_var *v = p->units[u].module->vars.at[i];

			if (has_extent(&p->units[u], i))
				insert_extent(all, p->extent_len++,
					      (struct program_extent){p->units[u].offset[i],
								      (u32)v->size_bytes, v});
		}
	p->extents = all;
	p->shared_end = shared_end(p);
	return true;
}

static bool is_kernel_parameter(const struct program_unit *u, const struct ir_var *v, u32 index)
{
	const struct ir_func *f =
		v->func < u->module->funcs.len ? u->module->funcs.at[v->func] : NULL;

	for (u32 i = 0; f && f->is_entry && i < f->params_len; i++)
		if (f->params[i] == index)
			return true;
	return false;
}

bool exec_variable_place(const struct program *p, const struct ir_var *v, struct exec_place *out)
{
	u32 index;
	const struct program_unit *u = unit_of(p, v, &index);

	if (!u)
		return false;
	out->at = u->offset[index];
	switch (v->space) {
	case M_shared:
		out->base = EXEC_IN_SHARED;
		return u->offset[index] != IR_NONE;
	case M_param:
	case M_local:
		out->base = is_kernel_parameter(u, v, index) ? EXEC_IN_PARAMS
			    : u->in_stack[index]             ? EXEC_IN_STACK
							     : EXEC_IN_FRAME;
		/* Parameters without a size stand for memory that each call brings along. */
		return !v->unsized;
	case M_global:
	case M_const:
		out->base = EXEC_IN_MEMORY;
		out->at = u->var_address ? u->var_address[index] : 0;
		return out->at != 0;
	default:
		return false;
	}
}
