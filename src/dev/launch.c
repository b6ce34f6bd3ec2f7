/*
 * Launches: checks in the order of CUDA, parameters, occupancy, and the way to the scheduler.
 */
#include "src/dev/device_int.h"

#include <stdlib.h>

/* Registers a kernel is taken to need when it does not say: PTX registers are virtual. */
#define REGISTERS 32u
#define PARAMS_CAP 4096u
#define PARAMS_ALIGN 256u

/* ---- checks ---- */

static u64 product(const u32 *v)
{
	return (u64)v[0] * v[1] * v[2];
}

static bool sizes_fit(const struct arch *a, const struct device_launch *l)
{
	const s32 grid[3] = {a->grid_x_max, a->grid_y_max, a->grid_z_max},
		  cta[3] = {a->cta_x_max, a->cta_y_max, a->cta_z_max};

	for (u32 i = 0; i < 3; i++)
		if (!l->grid[i] || !l->block[i] || l->grid[i] > (u32)grid[i] ||
		    l->block[i] > (u32)cta[i])
			return false;
	return product(l->block) <= (u64)a->threads_per_cta_max;
}

/* PTX ISA "Performance-Tuning Directives": .reqntid, .maxntid. */
static bool bounds_fit(const struct ir_func *f, const u32 *block)
{
	const u32 *req = f->perf[IR_REQNTID], *max = f->perf[IR_MAXNTID];

	for (u32 i = 0; f->has_perf[IR_REQNTID] && i < 3; i++)
		if (block[i] != (req[i] ? req[i] : 1))
			return false;
	if (!f->has_perf[IR_MAXNTID])
		return true;
	return product(block) <= (u64)max[0] * (max[1] ? max[1] : 1) * (max[2] ? max[2] : 1);
}

static struct arch_use use_of(const struct device_kernel *k, u32 threads, u64 shared)
{
	const struct ir_func *f = k->func;
	u32 most = threads ? (u32)k->owner->dev->arch->registers_per_cta_max / threads : REGISTERS;

	return (struct arch_use){
		.threads_per_cta = threads,
		.smem_bytes = shared,
		.carveout_percent = -1,
		.registers_per_thread = f->has_perf[IR_MAXNREG] ? f->perf[IR_MAXNREG][0]
					: most < REGISTERS      ? most
								: REGISTERS,
	};
}

static u32 occupancy(const struct device_kernel *k, const struct program *p, u32 threads,
		     u32 dynamic)
{
	const struct arch *a = k->owner->dev->arch;
	struct arch_use use = use_of(k, threads, (u64)p->shared_static + dynamic);
	struct arch_occupancy o;

	/* A profile that does not say enough: what its threads allow. */
	if (!arch_occupancy(a, &use, &o))
		return a->threads_per_sm_max > 0 ? (u32)a->threads_per_sm_max / threads : 1;
	return o.ctas;
}

/* The last answer for a kernel is kept: launches repeat. */
static u32 occupancy_cached(struct device_kernel *k, const struct program *p, u32 threads,
			    u32 dynamic)
{
	struct device *d = k->owner->dev;
	u32 ctas = 0;

	pthread_mutex_lock(&d->lock);
	if (k->occupancy.threads == threads && k->occupancy.dynamic_bytes == dynamic)
		ctas = k->occupancy.ctas;
	pthread_mutex_unlock(&d->lock);
	if (ctas)
		return ctas;
	ctas = occupancy(k, p, threads, dynamic);
	pthread_mutex_lock(&d->lock);
	k->occupancy.threads = threads;
	k->occupancy.dynamic_bytes = dynamic;
	k->occupancy.ctas = ctas;
	pthread_mutex_unlock(&d->lock);
	return ctas;
}

u32 device_kernel_occupancy(struct device_kernel *k, u32 threads, u32 dynamic_bytes)
{
	const struct program *p = threads ? device_kernel_lower(k, threads, NULL) : NULL;

	return p ? occupancy(k, p, threads, dynamic_bytes) : 0;
}

static enum status check(const struct device_launch *l)
{
	const struct device_kernel *k = l->kernel;

	if (!sizes_fit(k->owner->dev->arch, l) || !bounds_fit(k->func, l->block) ||
	    l->dynamic_bytes > k->max_dynamic_bytes)
		return STATUS_INVALID_VALUE;
	if (!l->args && (l->packed ? l->packed_bytes < k->param_bytes : k->param_bytes != 0))
		return STATUS_INVALID_VALUE;
	return STATUS_SUCCESS;
}

/* ---- launches under way ---- */

static struct device_flight *flight_take(struct device *d, u32 bytes)
{
	struct device_flight *f;
	u64 id;

	pthread_mutex_lock(&d->lock);
	f = d->spare;
	if (f)
		d->spare = f->next;
	d->running++;
	id = ++d->grids;
	pthread_mutex_unlock(&d->lock);
	if (!f)
		f = calloc(1, sizeof(*f));
	if (f && f->params_cap < bytes) {
		u32 cap = bytes < PARAMS_CAP ? PARAMS_CAP : bytes;

		if (f->params)
			mem_free(&d->mem, f->params);
		f->params = mem_alloc(&d->mem, cap, PARAMS_ALIGN, MEM_KIND_PARAM);
		f->params_cap = f->params ? cap : 0;
	}
	if (f)
		f->grid_id = id;
	return f;
}

static void flight_return(struct device *d, struct device_flight *f)
{
	pthread_mutex_lock(&d->lock);
	if (f) {
		f->next = d->spare;
		d->spare = f;
	}
	if (!--d->running)
		pthread_cond_broadcast(&d->idle);
	pthread_mutex_unlock(&d->lock);
}

static void on_done(void *user, const struct sched_end *end)
{
	struct device_flight *f = user;
	struct device *d = f->dev;
	struct device_fault fault;

	if (end->fault) {
		device_fault_describe(f->kernel, f->program, end, &fault);
		if (f->done)
			f->done(f->user, fault.status, &fault);
		text_fini(&fault.message);
	} else if (f->done) {
		f->done(f->user, STATUS_SUCCESS, NULL);
	}
	flight_return(d, f);
}

static void copy_params(const struct device_launch *l, u8 *to)
{
	const struct device_kernel *k = l->kernel;

	if (!l->args) {
		if (k->param_bytes)
			memcpy(to, l->packed, k->param_bytes);
		return;
	}
	for (u32 i = 0; i < k->param_len; i++)
		memcpy(to + k->params[i].offset, l->args[i], k->params[i].bytes);
}

static enum status start(const struct device_launch *l, const struct program *p, u32 resident,
			 struct device_flight *f)
{
	struct device *d = f->dev;
	struct sched_launch s = {
		.env =
			{
				.program = p,
				.ops = d->ops,
				.mem = &d->mem,
				.params = (const u8 *)(uintptr_t)f->params,
				.param_address = f->params,
				.grid = {l->grid[0], l->grid[1], l->grid[2]},
				.block = {l->block[0], l->block[1], l->block[2]},
				.cluster = {1, 1, 1},
				.dynamic_shared = l->dynamic_bytes,
				.shared_bytes = p->shared_static + l->dynamic_bytes,
				.local_bytes = exec_local_bytes(p, d->stack_bytes),
				.syscalls = &d->syscalls,
				.user = f,
			},
		.cooperative = l->cooperative,
		.resident_per_sm = resident,
		.done = on_done,
		.user = f,
	};

	copy_params(l, (u8 *)(uintptr_t)f->params);
	s.env.grid_id = f->grid_id;
	return sched_start(d->pool, &s, l->may_inline) ? STATUS_SUCCESS : STATUS_OUT_OF_MEMORY;
}

enum status device_launch(const struct device_launch *l, device_done *done, void *user)
{
	struct device_kernel *k = l->kernel;
	struct device *d = k->owner->dev;
	struct device_flight *f;
	const struct program *p;
	enum status status = check(l);
	u32 threads = (u32)product(l->block), resident;

	if (status != STATUS_SUCCESS)
		return status;
	p = device_kernel_lower(k, threads, NULL);
	if (!p)
		return STATUS_OUT_OF_MEMORY;
	resident = occupancy_cached(k, p, threads, l->dynamic_bytes);
	if (!resident)
		return STATUS_LAUNCH_OUT_OF_RESOURCES;
	if (l->cooperative && product(l->grid) > (u64)resident * (u32)d->arch->sms)
		return STATUS_COOPERATIVE_LAUNCH_TOO_LARGE;
	f = flight_take(d, k->param_bytes ? k->param_bytes : 1);
	if (!f || !f->params) {
		flight_return(d, f);
		return STATUS_OUT_OF_MEMORY;
	}
	f->dev = d;
	f->kernel = k;
	f->program = p;
	f->done = done;
	f->user = user;
	status = start(l, p, resident, f);
	if (status != STATUS_SUCCESS)
		flight_return(d, f);
	return status;
}
