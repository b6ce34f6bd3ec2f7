/*
 * Kernels of a program: found by name or number, with their parameters; lowered when first
 * launched.
 */
#include "src/base/demangle.h"
#include "src/base/stats.h"
#include "src/lower/callee.h"
#include "src/dev/module/callee.h"
#include "src/dev/module/module.h"
#include "src/sched/debug.h"

static bool fill_params(struct device_kernel *k, struct arena *a)
{
	const struct ir_func *f = k->func;
	u64 at = 0;

	k->params = ARENA_ARRAY(a, struct device_param, f->params_len + 1);
	if (!k->params)
		return false;
	k->param_len = f->params_len;
	for (u32 i = 0; i < f->params_len; i++) {
		const struct ir_var *v = k->unit->vars.at[f->params[i]];

		at = align_up(at, v->align);
		k->params[i] = (struct device_param){
			.name = v->name->text,
			.type = v->type,
			.is_array = v->is_array,
			.is_pointer = v->ptr,
			.offset = (u32)at,
			.bytes = (u32)v->size_bytes,
			.align = v->align,
		};
		at += v->size_bytes;
	}
	k->param_bytes = (u32)at;
	return true;
}

static const struct device_code *code_of(const struct device_program *p, const struct ir_func *f)
{
	for (size_t i = 0; i < p->codes.len; i++)
		if (!strcmp(p->codes.at[i].name, f->name->text))
			return &p->codes.at[i];
	return NULL;
}

static struct device_kernel *make_kernel(struct device_program *p, u32 unit,
					 const struct ir_func *f)
{
	struct device_kernel *k = ARENA_NEW(&p->arena, struct device_kernel), **at;

	if (!k)
		return NULL;
	*k = (struct device_kernel){
		.owner = p,
		.unit = p->units[unit],
		.func = f,
		.unit_index = unit,
		.max_dynamic_bytes = DEVICE_DYNAMIC_PLAIN,
		.carveout_percent = -1,
		.code = code_of(p, f),
	};
	if (!fill_params(k, &p->arena))
		return NULL;
	for (at = &p->kernels; *at; at = &(*at)->next)
		;
	return *at = k;
}

/* Read what the kernel needs of a unit that was not read whole. False: it is wrong. */
static bool read_kernel_body(struct device_program *p, u32 unit, struct ir_func *f)
{
	struct diag d;
	bool ok;

	if (!p->later || unit)
		return true;
	diag_init(&d, p->sink, p->sink_user);
	d.error_limit = p->error_limit;
	ok = module_read_reached(p->later, p->units[unit], f, &d);
	diag_fini(&d);
	return ok;
}

/* Kernels are made when asked for; once made they stay. */
static struct device_kernel *kernel_of(struct device_program *p, u32 unit, struct ir_func *f)
{
	struct device_kernel *k;

	/* Lines of the source may name functions that were inlined. */
	if (demangle_wants(f->name->text) || p->units[unit]->locs.len)
		demangle_prepare();
	pthread_mutex_lock(&p->lock);
	for (k = p->kernels; k && k->func != f; k = k->next)
		;
	if (!k && read_kernel_body(p, unit, f))
		k = make_kernel(p, unit, f);
	pthread_mutex_unlock(&p->lock);
	return k;
}

static bool is_kernel(const struct ir_func *f)
{
	return f->is_entry && f->has_body && f->definition == f;
}

/* The kernel of this name and its unit, NULL: none. */
static struct ir_func *find_kernel_named(struct device_program *p, const char *name, u32 *unit)
{
	struct ir_func *f = NULL;

	/* Bodies that other threads read add names. */
	pthread_mutex_lock(&p->lock);
	for (*unit = 0; *unit < p->len; ++*unit) {
		f = ir_find_func(p->units[*unit], name);
		if (f && is_kernel(f))
			break;
		f = NULL;
	}
	pthread_mutex_unlock(&p->lock);
	return f;
}

struct device_kernel *device_program_kernel(struct device_program *p, const char *name)
{
	u32 unit;
	struct ir_func *f = find_kernel_named(p, name, &unit);

	return f ? kernel_of(p, unit, f) : NULL;
}

bool device_program_has_bad(struct device_program *p, const char *name)
{
	u32 unit;
	struct ir_func *f = p->later ? find_kernel_named(p, name, &unit) : NULL;

	return f && !kernel_of(p, unit, f);
}

static struct ir_func *find_nth_locked(const struct device_program *p, u32 n, u32 *unit)
{
	for (*unit = 0; *unit < p->len; ++*unit)
		for (size_t i = 0; i < p->units[*unit]->funcs.len; i++)
			if (is_kernel(p->units[*unit]->funcs.at[i]) && !n--)
				return p->units[*unit]->funcs.at[i];
	return NULL;
}

struct device_kernel *device_program_nth(struct device_program *p, u32 n)
{
	struct ir_func *f;
	u32 unit;

	pthread_mutex_lock(&p->lock);
	f = find_nth_locked(p, n, &unit);
	pthread_mutex_unlock(&p->lock);
	return f ? kernel_of(p, unit, f) : NULL;
}

u32 device_program_kernels(const struct device_program *p)
{
	u32 n = 0;

	for (u32 u = 0; u < p->len; u++)
		for (size_t i = 0; i < p->units[u]->funcs.len; i++)
			n += is_kernel(p->units[u]->funcs.at[i]);
	return n;
}

/* Several shared variables, or one and a dynamic part: accesses may go from one to another. */
static bool has_vars_apart(const struct device_program *p)
{
	u32 n = 0;

	for (u32 u = 0; p->dev->observer_apart && u < p->len; u++)
		for (size_t i = 0; i < p->units[u]->vars.len; i++)
			n += p->units[u]->vars.at[i]->space == M_shared;
	return n > 1;
}

static struct lower_options options_of(const struct device_program *p, u32 unit, u32 warps)
{
	return (struct lower_options){
		.warps = warps,
		.units = p->exec_units,
		.unit_len = p->len,
		.externs = p->dev->externs,
		.host_functions = p->dev->host_functions,
		.no_fusion = p->dev->observer && !p->dev->observer->fuses,
		.apart = has_vars_apart(p),
		.bounds = p->dev->observer_apart != NULL,
		.copies = p->dev->tells_callers,
		.one_to_one = sched_debug(p->dev->pool) != NULL,
		.counts = p->dev->counts,
		.contract = !p->units[unit]->debug,
		.stable = sched_is_stable(p->dev->pool),
	};
}

struct program *device_callee_lower(const struct device_program *p, u32 unit,
				    const struct ir_func *kernel, const struct ir_func *function,
				    struct diag *d)
{
	struct lower_options options = options_of(p, unit, 1);

	return exec_lower_callee(p->units[unit], kernel, function, p->dev->arch, p->address[unit],
				 &options, d);
}

const struct program *device_kernel_lower(struct device_kernel *k, u32 threads, struct diag *d)
{
	u32 warps = (threads + WARP_LANES - 1) / WARP_LANES,
	    gang = warps < GANG_WARPS ? warps : GANG_WARPS;
	struct device_program *p = k->owner;
	struct lower_options options = options_of(p, k->unit_index, warps);
	struct program *lowered;

	lowered = __atomic_load_n(&k->lowered[gang], __ATOMIC_ACQUIRE);
	if (lowered)
		return lowered;
	pthread_mutex_lock(&p->lock);
	lowered = k->lowered[gang];
	if (!lowered) {
		u64 began = stats_begin();

		lowered = exec_lower(k->unit, k->func, p->dev->arch, p->address[k->unit_index],
				     &options, d);
		stats_end(STATS_LOWER, began, lowered ? lowered->uops : 0);
		__atomic_store_n(&k->lowered[gang], lowered, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&p->lock);
	return lowered;
}

bool device_kernel_needs(struct device_kernel *k, struct exec_needs *out)
{
	struct device_program *p = k->owner;
	struct lower_options options = options_of(p, k->unit_index, 1);
	bool ok;

	pthread_mutex_lock(&p->lock);
	ok = k->has_needs || exec_measure(k->unit, k->func, p->dev->arch, p->address[k->unit_index],
					  &options, &k->needs);
	__atomic_store_n(&k->has_needs, ok, __ATOMIC_RELEASE);
	*out = k->needs;
	pthread_mutex_unlock(&p->lock);
	return ok;
}
