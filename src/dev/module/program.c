/*
 * Programs: units linked, variables placed. Images are read in program_image.c, kernels found in
 * kernel.c.
 */
#include "grammar/parse.h"
#include "src/dev/module/builtin.h"
#include "src/lower/lower.h"
#include "src/dev/device.h"
#include "src/dev/memory/watch.h"
#include "src/dev/module/module.h"
#include "src/dev/stream/order.h"
#include "src/dev/texture/texref.h"
#include "src/sched/debug.h"

#include <dlfcn.h>
#include <stdlib.h>

/* ---- linking ---- */

typedef VEC(const char *) name_list;

static bool add_host_functions(const struct device *dev, const struct ir_module *m,
			       name_list *names)
{
	for (size_t i = 0; i < m->funcs.len; i++) {
		const struct ir_func *f = m->funcs.at[i];

		if (!f->has_body && hostcall_is_allowed(dev->host_functions, f->name->text) &&
		    dlsym(RTLD_DEFAULT, f->name->text) && !VEC_PUSH(names, f->name->text))
			return false;
	}
	return true;
}

/* Of functions without a definition: which ones the host has, and how they may be called. */
static void note_host_functions(const struct device_program *p, struct diag *d)
{
	for (u32 u = 0; u < p->len; u++)
		for (size_t i = 0; i < p->units[u]->funcs.len; i++) {
			const struct ir_func *f = p->units[u]->funcs.at[i];
			struct diag_span where = {f->begin, f->begin + f->name->len};

			if (f->has_body || f->definition != f ||
			    hostcall_is_allowed(p->dev->host_functions, f->name->text) ||
			    !dlsym(RTLD_DEFAULT, f->name->text))
				continue;
			diag_at(d, DIAG_NOTE, &p->units[u]->source, where, NULL,
				"the host has a function '%s'; PTXLOOM_HOST_FUNCTIONS=%s lets kernels call it",
				f->name->text, f->name->text);
		}
}

/*
 * Names may stay open when the engine has such a function, or the process one that may be called.
 */
static bool link_units(struct device_program *p, enum ir_link_mode mode, struct diag *d)
{
	name_list names = {0};
	bool ok = true;

	for (const char *const *n = exec_extern_names; *n && ok; n++)
		ok = VEC_PUSH(&names, *n);
	for (u32 u = 0; u < p->len && ok; u++)
		ok = add_host_functions(p->dev, p->units[u], &names);
	for (const struct exec_extern *x = p->dev->externs; x && x->name && ok; x++)
		ok = VEC_PUSH(&names, x->name);
	ok = ok && VEC_PUSH(&names, NULL);
	if (ok && !ir_link(p->units, p->len, mode, names.at, d)) {
		note_host_functions(p, d);
		ok = false;
	}
	VEC_FREE(&names);
	return ok;
}

/* ---- variables ---- */

static bool has_address(const struct ir_var *v)
{
	return v->space == M_global || v->space == M_const;
}

/* The address that the next variable had before; 0: there is no such allocation any more. */
static u64 earlier_place(struct device *d, u64 bytes)
{
	struct device_places *places = d->places;
	struct mem_range r;
	u64 at = places->used < places->len ? places->at[places->used++] : 0;

	return at && mem_find(&d->mem, at, bytes, &r) && r.base == at ? at : 0;
}

static bool place_variable(struct device_program *p, u32 unit, u32 i, struct map *where)
{
	const struct ir_var *v = p->units[unit]->vars.at[i];
	enum mem_kind kind = v->space == M_const ? MEM_KIND_CONST
			     : v->managed        ? MEM_KIND_MANAGED
						 : MEM_KIND_DEVICE;
	/* Pages of their own: checks protect them from the host. */
	u64 align = kind == MEM_KIND_MANAGED && v->align < MEM_HOST_PAGE ? MEM_HOST_PAGE : v->align;
	u64 at;

	if (!has_address(v) || v->definition != v || v->linkage == IR_EXTERN)
		return true;
	at = p->dev->places ? earlier_place(p->dev, v->size_bytes)
			    : mem_alloc(&p->dev->mem, v->size_bytes, align, kind);
	if (!at)
		return false;
	p->address[unit][i] = at;
	if (v->data)
		memcpy(mem_pointer(&p->dev->mem, at), v->data, v->data_len);
	if (kind == MEM_KIND_MANAGED && p->dev->mem.system)
		memory_tell_variable(&p->dev->mem, at, v->size_bytes);
	return VEC_PUSH(&p->allocations, at) && map_set(where, map_key(v), at);
}

/* Variables defined in another unit share its address. */
static void share_addresses(struct device_program *p, u32 unit, const struct map *where)
{
	const struct ir_module *m = p->units[unit];

	for (size_t i = 0; i < m->vars.len; i++) {
		const u64 *at = m->vars.at[i]->definition
					? map_get(where, map_key(m->vars.at[i]->definition))
					: NULL;

		if (at && has_address(m->vars.at[i]))
			p->address[unit][i] = *at;
	}
}

/*
 * Addresses in initial data. Global and generic addresses are the same here; constant ones are
 * offsets.
 */
static void relocate(struct device_program *p, u32 unit, u32 i)
{
	const struct ir_module *m = p->units[unit];
	const struct ir_var *v = m->vars.at[i];
	u8 *at = mem_pointer(&p->dev->mem, p->address[unit][i]);

	for (u32 k = 0; at && v->definition == v && k < v->relocs_len; k++) {
		const struct ir_reloc *r = &v->relocs[k];
		u64 value = r->is_func
				    ? exec_function_address(p->exec_units, p->len, unit, r->index)
				    : p->address[unit][r->index];

		if (!r->is_func && !r->generic && m->vars.at[r->index]->space == M_const)
			value -= exec_const_base(p->exec_units, p->len);
		value = (value + (u64)r->addend) >> r->shift;
		memcpy(at + r->at, &value, r->size);
	}
}

static bool place_variables(struct device_program *p)
{
	struct map where = {0};
	bool ok = true;

	for (u32 u = 0; u < p->len && ok; u++) {
		/* With those of bodies that are read later, which have no address. */
		p->address[u] = ARENA_ARRAY(&p->arena, u64, p->units[u]->vars.cap + 1);
		p->placed[u] = p->units[u]->vars.len;
		p->exec_units[u] = (struct exec_unit){p->units[u], p->address[u]};
		ok = p->address[u] != NULL;
		for (u32 i = 0; i < p->units[u]->vars.len && ok; i++)
			ok = place_variable(p, u, i, &where);
	}
	for (u32 u = 0; u < p->len && ok; u++)
		share_addresses(p, u, &where);
	for (u32 u = 0; u < p->len && ok; u++)
		for (u32 i = 0; i < p->units[u]->vars.len; i++)
			relocate(p, u, i);
	map_fini(&where);
	return ok;
}

bool device_program_variable(struct device_program *p, const char *name, u64 *address, u64 *bytes)
{
	for (u32 u = 0; u < p->len; u++)
		for (size_t i = 0; i < p->placed[u]; i++) {
			const struct ir_var *v = p->units[u]->vars.at[i];

			if (v->func != IR_NONE || !p->address[u][i] || strcmp(v->name->text, name))
				continue;
			*address = p->address[u][i];
			*bytes = v->definition->size_bytes;
			return true;
		}
	return false;
}

bool device_program_is_managed(const struct device_program *p, const char *name)
{
	for (u32 u = 0; u < p->len; u++)
		for (size_t i = 0; i < p->placed[u]; i++) {
			const struct ir_var *v = p->units[u]->vars.at[i];

			if (v->func == IR_NONE && v->managed && !strcmp(v->name->text, name))
				return true;
		}
	return false;
}

/* ---- loading ---- */

/* Smaller ones are parsed in a few milliseconds. */
#define LATER_BYTES_MIN ((size_t)256 << 10)

/* Does an observer want all of its code? */
static bool is_observed_whole(const struct device *d)
{
	return d->observer || d->observer_apart || d->observer_rest || d->counted.has ||
	       d->counts & ~LOWER_COUNT_INSNS || d->on_program || d->reads_code ||
	       d->tells_callers || d->recorder || sched_debug(d->pool);
}

/* Only what links by itself: else a unit that is parsed whole says what is missing. */
static bool links_alone(struct device_program *p)
{
	struct diag quiet;
	bool ok;

	diag_init(&quiet, NULL, NULL);
	ok = !builtin_is_needed(p->units, 1) && link_units(p, IR_LINK_WHOLE, &quiet) &&
	     !quiet.warnings;
	diag_fini(&quiet);
	return ok;
}

static bool read_later(struct device_program *p, const struct device_text *text, u32 unit,
		       struct diag *d)
{
	if (!text->later || p->len > 1 || text->size < LATER_BYTES_MIN || is_observed_whole(p->dev))
		return false;
	p->units[unit] = module_parse_later(&p->sources[unit], &p->later);
	if (p->units[unit] && links_alone(p)) {
		p->sink = d->sink;
		p->sink_user = d->user;
		p->error_limit = d->error_limit;
		return true;
	}
	ptx_later_free(p->later);
	ir_module_free(p->units[unit]);
	p->later = NULL;
	p->units[unit] = NULL;
	return false;
}

static enum status load_units(struct device_program *p, const struct device_text *texts,
			      enum ir_link_mode mode, struct diag *d)
{
	u32 errors = d->errors;

	for (u32 i = 0; i < p->len; i++) {
		p->names[i] = arena_strdup(&p->arena, texts[i].name, strlen(texts[i].name));
		p->sources[i] = (struct diag_source){p->names[i], texts[i].text, texts[i].size};
		if (!read_later(p, &texts[i], i, d))
			p->units[i] = module_parse(&p->sources[i], MODULE_LOAD, d);
		if (!p->units[i])
			return STATUS_INVALID_PTX;
	}
	if (builtin_is_needed(p->units, p->len)) {
		p->sources[p->len] = builtin_source;
		p->units[p->len] = module_parse(&builtin_source, MODULE_LOAD, d);
		if (!p->units[p->len++])
			return STATUS_OUT_OF_MEMORY;
	}
	if (!link_units(p, mode, d))
		return mode == IR_LINK_WHOLE ? STATUS_INVALID_PTX : STATUS_UNKNOWN;
	if (!place_variables(p)) {
		diag_at(d, DIAG_ERROR, NULL, DIAG_NOWHERE, NULL,
			"the variables of '%s' do not fit the device's memory", p->names[0]);
		return STATUS_OUT_OF_MEMORY;
	}
	return d->errors == errors ? texref_load(p) : STATUS_INVALID_PTX;
}

enum status device_program_load(struct device *dev, const struct device_text *texts, u32 len,
				enum ir_link_mode mode, struct diag *d, struct device_program **out)
{
	struct device_program *p = calloc(1, sizeof(*p));
	enum status status;

	*out = NULL;
	if (p) {
		u32 units = len + 1; /* with that of builtin.h */

		p->dev = dev;
		p->units = ARENA_ARRAY(&p->arena, struct ir_module *, units);
		p->exec_units = ARENA_ARRAY(&p->arena, struct exec_unit, units);
		p->sources = ARENA_ARRAY(&p->arena, struct diag_source, units);
		p->names = ARENA_ARRAY(&p->arena, char *, units);
		p->owned = ARENA_ARRAY(&p->arena, void *, units);
		p->address = ARENA_ARRAY(&p->arena, u64 *, units);
		p->placed = ARENA_ARRAY(&p->arena, size_t, units);
	}
	if (!p || !p->units || !p->exec_units || !p->sources || !p->names || !p->owned ||
	    !p->address || !p->placed) {
		for (u32 i = 0; i < len; i++)
			free(texts[i].owned);
		if (p)
			arena_fini(&p->arena);
		free(p);
		return STATUS_OUT_OF_MEMORY;
	}
	pthread_mutex_init(&p->lock, NULL);
	p->len = len;
	p->given = len;
	p->mode = mode;
	for (u32 i = 0; i < len; i++)
		p->owned[i] = texts[i].owned;
	status = load_units(p, texts, mode, d);
	if (status == STATUS_SUCCESS) {
		*out = p;
		p->told = dev->on_program != NULL;
		if (p->told)
			dev->on_program(dev->on_program_user, p, true);
	} else {
		device_program_unload(p);
	}
	return status;
}

static void forget_variable(struct device_program *p, u64 at)
{
	struct mem_range r;

	if (mem_find(&p->dev->mem, at, 1, &r) && r.kind == MEM_KIND_MANAGED)
		memory_tell_free(&p->dev->mem, at, r.size);
	mem_free(&p->dev->mem, at);
}

void device_program_unload(struct device_program *p)
{
	struct device_kernel *k;

	if (!p)
		return;
	order_forget(p->dev);
	if (p->told)
		p->dev->on_program(p->dev->on_program_user, p, false);
	while ((k = p->kernels)) {
		p->kernels = k->next;
		for (u32 i = 0; i <= GANG_WARPS; i++)
			if (k->lowered[i]) {
				sched_forget(p->dev->pool, k->lowered[i]);
				exec_program_free(k->lowered[i]);
			}
	}
	texref_unload(p);
	for (size_t i = 0; i < p->allocations.len; i++)
		forget_variable(p, p->allocations.at[i]);
	VEC_FREE(&p->allocations);
	VEC_FREE(&p->codes);
	ptx_later_free(p->later);
	for (u32 i = 0; i < p->len; i++)
		ir_module_free(p->units[i]);
	for (u32 i = 0; i < p->len; i++)
		free(p->owned[i]);
	arena_fini(&p->arena);
	pthread_mutex_destroy(&p->lock);
	free(p);
}
