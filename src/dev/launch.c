/*
 * Launches: checks in the order of CUDA, parameters, occupancy, and the way to the scheduler.
 */
#include "src/base/clock.h"
#include "src/dev/attend.h"
#include "src/base/stats.h"
#include "src/lower/lower.h"
#include "src/dev/memory/copy.h"
#include "src/dev/device_int.h"
#include "src/dev/graph/graph.h"
#include "src/dev/module/nested.h"
#include "src/dev/place.h"
#include "src/dev/record/record.h"
#include "src/dev/stream/stream_int.h"
#include "src/dev/texture/texture.h"
#include "src/exec/observer.h"
#include "src/host/syscall.h"
#include "src/mem/guard.h"
#include "src/sched/rest.h"

#include <stdlib.h>

/* Registers a kernel is taken to need when it does not say: PTX registers are virtual. */
#define REGISTERS 32u
#define PARAMS_CAP 4096u
#define PARAMS_ALIGN 256u
#define RESERVED_ALIGN 128u
#define VALUES_STEP 256u

/* ---- checks ---- */

static bool sizes_fit(const struct arch *a, const struct device_launch *l, const u32 *ctas)
{
	const s32 grid[3] = {a->grid_x_max, a->grid_y_max, a->grid_z_max},
		  cta[3] = {a->cta_x_max, a->cta_y_max, a->cta_z_max};

	for (u32 i = 0; i < 3; i++)
		if (!l->grid[i] || !l->block[i] || ctas[i] > (u32)grid[i] ||
		    l->block[i] > (u32)cta[i])
			return false;
	return device_volume(l->block) <= (u64)a->threads_per_cta_max;
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
	return device_volume(block) <= (u64)max[0] * (max[1] ? max[1] : 1) * (max[2] ? max[2] : 1);
}

static struct arch_use use_of(const struct device_kernel *k, u32 threads, u64 shared)
{
	const struct ir_func *f = k->func;
	u32 most = threads ? (u32)k->owner->dev->arch->registers_per_cta_max / threads : REGISTERS;

	return (struct arch_use){
		.threads_per_cta = threads,
		.smem_bytes = shared,
		.carveout_percent = k->carveout_percent,
		.registers_per_thread = f->has_perf[IR_MAXNREG] ? f->perf[IR_MAXNREG][0]
					: most < REGISTERS      ? most
								: REGISTERS,
	};
}

/*
 * As far as a CTA can reach: hardware gives whole units, and notices only what is after them;
 * measured.
 */
static u32 shared_bytes(const struct device *d, const struct program *p, u32 dynamic)
{
	u32 n = (p->extents ? p->shared_end : p->shared_static) + dynamic;

	return d->mem.strict ? n : (u32)align_up(n, (u64)d->arch->smem_alloc_unit_bytes);
}

/* Is one variable all that threads have in local memory, as compilers make one of several? */
static bool has_one_local(const struct program *p)
{
	const struct program_func *f = &p->funcs[0];
	bool found = false;

	if (p->has_calls || p->stack_bytes != align_up(p->local_bytes, p->frame_align))
		return false;
	for (size_t i = 0; i < f->func->vars.len && !found; i++) {
		const struct ir_var *v = f->module->vars.at[f->func->vars.at[i]];

		found = v->space == M_local && v->size_bytes == p->local_bytes;
	}
	return found;
}

/* Words of all lanes lie side by side, so it is whole words. */
static u32 local_bytes(const struct device *d, const struct program *p)
{
	return d->mem.strict && p->local_bytes && has_one_local(p)
		       ? (u32)align_up(p->local_bytes, 4)
		       : exec_local_bytes(p, d->stack_bytes);
}

u32 device_kernel_dynamic_max(const struct device_kernel *k, u32 shared_static)
{
	u32 plain = (u32)k->owner->dev->arch->smem_per_cta_bytes,
	    used = device_shared_counted(shared_static);

	if (k->max_dynamic_bytes != DEVICE_DYNAMIC_PLAIN)
		return k->max_dynamic_bytes;
	return plain > used ? plain - used : 0;
}

static u32 occupancy(const struct device_kernel *k, u32 shared_static, u32 threads, u32 dynamic)
{
	const struct arch *a = k->owner->dev->arch;
	struct arch_use use = use_of(k, threads, (u64)shared_static + dynamic);
	struct arch_occupancy o;

	if (dynamic > device_kernel_dynamic_max(k, shared_static))
		return 0;
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
	ctas = occupancy(k, p->shared_static, threads, dynamic);
	pthread_mutex_lock(&d->lock);
	k->occupancy.threads = threads;
	k->occupancy.dynamic_bytes = dynamic;
	k->occupancy.ctas = ctas;
	pthread_mutex_unlock(&d->lock);
	return ctas;
}

u32 device_kernel_occupancy(struct device_kernel *k, u32 threads, u32 dynamic_bytes)
{
	const struct arch *a = k->owner->dev->arch;
	struct exec_needs needs;

	return threads && threads <= (u32)a->threads_per_cta_max && device_kernel_needs(k, &needs)
		       ? occupancy(k, needs.shared_static, threads, dynamic_bytes)
		       : 0;
}

/* A block of parameters may end in the midst of structures, but not of numbers. */
static bool holds_params(const struct device_launch *l)
{
	const struct device_kernel *k = l->kernel;

	if (!l->packed || !l->packed_bytes)
		return !k->param_bytes;
	for (u32 i = 0; l->packed_bytes < k->param_bytes && i < k->param_len; i++)
		if (!k->params[i].is_array &&
		    k->params[i].offset + k->params[i].bytes > l->packed_bytes)
			return false;
	return true;
}

static enum status check_launch(const struct device_launch *l, struct device_shape *shape)
{
	const struct device_kernel *k = l->kernel;
	enum status status = device_cluster_resolve(l, shape);

	if (!sizes_fit(k->owner->dev->arch, l, shape->grid) || !bounds_fit(k->func, shape->block))
		return STATUS_INVALID_VALUE;
	if (!l->args && !holds_params(l))
		return STATUS_INVALID_VALUE;
	return status;
}

/* ---- launches under way ---- */

/* Room for the values of parameters until the launch starts. */
static bool values_reserve(struct device_flight *f, u32 bytes)
{
	u8 *p;

	if (bytes <= f->values_cap)
		return true;
	p = realloc(f->values, align_up(bytes, VALUES_STEP));
	if (!p)
		return false;
	f->values = p;
	f->values_cap = (u32)align_up(bytes, VALUES_STEP);
	return true;
}

static struct device_flight *flight_take(struct device *d, u32 bytes)
{
	struct device_flight *f;
	u64 id;

	pthread_mutex_lock(&d->lock);
	f = d->spare;
	if (f)
		d->spare = f->next;
	id = ++d->grids;
	if (stats_on())
		stats_add(STATS_LAUNCH, 1, 0, 0);
	pthread_mutex_unlock(&d->lock);
	if (!f)
		f = calloc(1, sizeof(*f));
	if (!f)
		return NULL;
	f->dev = d;
	f->grid_id = id;
	f->place = sched_mix(id, 0);
	if (values_reserve(f, bytes))
		return f;
	device_flight_drop(f);
	return NULL;
}

void device_flight_drop(struct device_flight *f)
{
	struct device *d = f->dev;

	pthread_mutex_lock(&d->lock);
	f->next = d->spare;
	d->spare = f;
	pthread_mutex_unlock(&d->lock);
}

static void count_running(struct device *d, u64 more)
{
	d->running += more;
	if (d->running_shown)
		__atomic_store_n(d->running_shown, d->running, __ATOMIC_RELAXED);
}

/* A block of device memory for the parameters; blocks are kept for further launches. */
static bool params_take(struct device *d, struct device_flight *f, u32 bytes)
{
	struct device_params *b;

	pthread_mutex_lock(&d->lock);
	b = d->spare_params;
	if (b)
		d->spare_params = b->next;
	count_running(d, 1);
	pthread_mutex_unlock(&d->lock);
	if (!b)
		b = calloc(1, sizeof(*b));
	f->params = b;
	if (!b || b->cap >= bytes)
		return b != NULL;
	if (b->address)
		mem_free(&d->mem, b->address);
	b->cap = bytes < PARAMS_CAP ? PARAMS_CAP : bytes;
	b->address = mem_alloc(&d->mem, b->cap, PARAMS_ALIGN, MEM_KIND_PARAM);
	b->host = b->address ? mem_pointer(&d->mem, b->address) : NULL;
	if (!b->address)
		b->cap = 0;
	return b->cap != 0;
}

/*
 * What the code of a grid's barrier finds through %envreg1 and %envreg2: the size of the workspace
 * and the word that counts arrivals. A layout between compiler and driver.
 */
struct workspace {
	u32 bytes, barrier;
};

static bool workspace_make(struct device *d, struct device_params *b)
{
	if (!b->workspace)
		b->workspace =
			mem_alloc(&d->mem, sizeof(struct workspace), MEM_ALIGN, MEM_KIND_INTERNAL);
	if (b->workspace)
		*(struct workspace *)mem_pointer(&d->mem, b->workspace) =
			(struct workspace){.bytes = sizeof(struct workspace)};
	return b->workspace != 0;
}

/* It has ended, or could not be started. */
static void flight_return(struct device_flight *f)
{
	struct device *d = f->dev;

	pthread_mutex_lock(&d->lock);
	if (f->params) {
		f->params->next = d->spare_params;
		d->spare_params = f->params;
		f->params = NULL;
	}
	f->next = d->spare;
	d->spare = f;
	count_running(d, UINT64_MAX);
	if (!d->running)
		sched_wake(d->pool, &d->idle);
	pthread_mutex_unlock(&d->lock);
}

static void on_overrun(void *user, const struct fault *fault)
{
	const struct device_flight *f = user;

	if (!f->dev->mem.strict || !f->is_unobserved)
		f->dev->on_overrun(f->kernel, f->program, fault, f->from);
}

void device_flight_finish(struct device_flight *f, enum status status,
			  const struct device_fault *fault)
{
	device_done *done = f->done;
	void *user = f->user;

	/* After a fault the kernel it is about must stay until it was reported. */
	if (fault && done)
		done(user, status, fault);
	flight_return(f);
	if (!fault && done)
		done(user, status, NULL);
}

static void say_end(const struct device_flight *f)
{
	f->dev->on_end(f->dev,
		       &(struct device_ended){f->kernel, f->shape.grid, f->shape.block,
					      f->dynamic_bytes, clock_ns() - f->started_ns});
}

/* The launch has ended: what was kept of its inputs is written, or no longer wanted. */
static void end_record(struct device_flight *f, const struct device_fault *fault)
{
	if (PL_LIKELY(!f->shot))
		return;
	recorder_end(f->dev->recorder, f->shot, fault);
	f->shot = NULL;
}

static const struct exec_observer *launch_observer(struct device_flight *f)
{
	const struct device *d = f->dev;
	const char *name = f->kernel->func->name->text;
	bool is_counted = d->counted.has && d->counted.has(d->counted.user, name, f->tag);

	f->is_unobserved = d->is_observed && !d->is_observed(d->is_observed_user, name);
	if (f->is_unobserved)
		return is_counted ? d->counted.rest : d->observer_rest;
	if (f->program->extents)
		return is_counted ? d->counted.apart : d->observer_apart;
	return is_counted ? d->counted.observer : d->observer;
}

static const struct exec_ops *launch_ops(const struct device *d, const struct exec_observer *o)
{
	return !o ? d->ops : o->only_apart ? d->ops->apart : d->ops->watched;
}

static void tell_counts(struct device_flight *f)
{
	if (f->dev->on_counts)
		f->dev->on_counts(f->dev->on_counts_user, f->program, f->counts);
	free(f->counts);
	f->counts = NULL;
}

static void on_done(void *user, const struct sched_end *end)
{
	struct device_flight *f = user;
	struct device_fault fault;
	const struct exec_observer *o = f->observer;

	if (o && o->counted && f->counts)
		o->counted(o->user, f->program, f->grid_id, f->counts);
	if (o && o->launch_end)
		o->launch_end(o->user, f->program, f->grid_id);
	if (PL_UNLIKELY(f->counts != NULL))
		tell_counts(f);
	if (f->dev->on_end)
		say_end(f);
	if (!end->fault) {
		end_record(f, NULL);
		if (!f->family || !nested_continue(f))
			device_flight_finish(f, STATUS_SUCCESS, NULL);
		return;
	}
	nested_drop(f);
	device_fault_describe(f->kernel, f->program, end, f->from, &fault);
	fault.is_unobserved = f->is_unobserved;
	end_record(f, &fault);
	device_flight_finish(f, fault.status, &fault);
	device_fault_fini(&fault);
}

static void on_tell(void *user, const struct sched_progress *progress, const struct sched_end *end)
{
	const struct device_flight *f = user;
	struct text t = {0};

	device_census_describe(f->kernel, f->program, progress, end, f->from, &t);
	attend_put(&t);
	text_fini(&t);
}

struct param_copy {
	const struct device_launch *launch;
	u8 *to;
};

static void move_params(void *arg)
{
	const struct param_copy *c = arg;
	const struct device_launch *l = c->launch;
	const struct device_kernel *k = l->kernel;

	if (!l->args) {
		device_launch_unpack(l, c->to);
		return;
	}
	for (u32 i = 0; i < k->param_len; i++)
		memcpy(c->to + k->params[i].offset, l->args[i], k->params[i].bytes);
}

/* Report the first thing that cannot be read: the list of addresses, or a value. */
static void report_params(const struct device_launch *l)
{
	const struct device_kernel *k = l->kernel;
	struct copy_fault fault = {.what = "the launch of ",
				   .name = k->func->name->text,
				   .from = (u64)(uintptr_t)(l->args ? l->args : l->packed),
				   .bytes = l->args ? k->param_len * sizeof(*l->args)
						    : min_u64(l->packed_bytes, k->param_bytes)};
	bool bad =
		mem_guard_find_bad(fault.from, fault.bytes, false, &fault.address, &fault.exists);

	for (u32 i = 0; i < k->param_len && !bad && l->args; i++) {
		fault.from = (u64)(uintptr_t)l->args[i];
		fault.bytes = k->params[i].bytes;
		bad = mem_guard_find_bad(fault.from, fault.bytes, false, &fault.address,
					 &fault.exists);
	}
	if (bad && k->owner->dev->on_copy_fault)
		k->owner->dev->on_copy_fault(k->owner->dev, &fault);
}

/* Programs pass addresses of the values; some are none. */
static bool copy_params(const struct device_launch *l, u8 *to)
{
	struct param_copy c = {l, to};

	if (PL_LIKELY(!l->kernel->param_len || mem_guard(move_params, &c, NULL)))
		return true;
	report_params(l);
	return false;
}

enum status device_flight_prepare(const struct device_launch *l, struct device_flight **out)
{
	struct device_kernel *k = l->kernel;
	struct device *d = k->owner->dev;
	struct device_flight *f;
	const struct program *p;
	struct device_shape shape;
	enum status status = check_launch(l, &shape);
	u32 threads = (u32)device_volume(l->block), resident;

	if (status != STATUS_SUCCESS)
		return status;
	p = device_kernel_lower(k, threads, NULL);
	if (!p)
		return STATUS_OUT_OF_MEMORY;
	if (PL_UNLIKELY(l->dynamic_bytes > device_kernel_dynamic_max(k, p->shared_static) ||
			!exec_local_fits(p)))
		return STATUS_INVALID_VALUE;
	resident = occupancy_cached(k, p, threads, l->dynamic_bytes);
	if (!resident)
		return STATUS_LAUNCH_OUT_OF_RESOURCES;
	if (l->cooperative && device_volume(shape.grid) > (u64)resident * (u32)d->arch->sms)
		return STATUS_COOPERATIVE_LAUNCH_TOO_LARGE;
	f = flight_take(d, k->param_bytes);
	if (!f)
		return STATUS_OUT_OF_MEMORY;
	f->kernel = k;
	f->from = l->from;
	f->context = l->context;
	f->stream = 0;
	f->window = (struct access_window){0};
	f->tag = PL_UNLIKELY(d->counted.tag != NULL) ? d->counted.tag(d->counted.user) : NULL;
	f->program = p;
	f->resident = resident;
	f->cooperative = l->cooperative;
	f->dynamic_bytes = l->dynamic_bytes;
	f->shape = shape;
	f->family = NULL;
	f->pool = NULL;
	f->run = NULL;
	f->shot = NULL;
	f->depth = 0;
	f->parent = 0;
	if (PL_UNLIKELY(!copy_params(l, f->values))) {
		device_flight_drop(f);
		return STATUS_INVALID_VALUE;
	}
	*out = f;
	return STATUS_SUCCESS;
}

bool device_flight_launches_graphs(const struct device_flight *f)
{
	const struct program *p = f->program;

	for (u32 i = 0; i < p->extern_len; i++)
		if (p->externs[i].run == graph_device_launch)
			return true;
	return false;
}

/* What an H200 gives the threads of kernels that need less. */
#define LEAST_REGISTERS 16u

/* ---- with machine code beside the PTX (device.reads_code) ---- */

static u32 code_registers(const struct device_kernel *k)
{
	u32 n = k->code ? k->code->registers : 0;

	return n && n < LEAST_REGISTERS ? LEAST_REGISTERS : n;
}

/* CTAs on an SM as its registers allow; what the program is told stays. */
static u32 code_resident(const struct device_flight *f)
{
	const u32 *block = f->shape.block;
	struct arch_use use;
	struct arch_occupancy o;

	if (!code_registers(f->kernel))
		return f->resident;
	use = use_of(f->kernel, block[0] * block[1] * block[2],
		     (u64)f->program->shared_static + f->dynamic_bytes);
	use.registers_per_thread = code_registers(f->kernel);
	return arch_occupancy(f->dev->arch, &use, &o) && o.ctas ? o.ctas : f->resident;
}

void device_look_at(const struct exec_env *e, struct device_look *out)
{
	const struct device_flight *f = e->user;
	struct arch_use use = use_of(f->kernel, e->block[0] * e->block[1] * e->block[2], 0);

	*out = (struct device_look){
		.kernel = f->kernel,
		.program = f->program,
		.context = f->context,
		.stream = f->stream,
		.parent = f->parent,
		.tag = f->tag,
		.registers = code_registers(f->kernel) ? code_registers(f->kernel)
						       : use.registers_per_thread,
		.registers_given =
			code_registers(f->kernel) || f->kernel->func->has_perf[IR_MAXNREG],
		.static_shared = device_shared_counted(f->program->shared_static),
		.dynamic_shared = f->dynamic_bytes,
		.resident = code_resident(f),
		.code = f->kernel->code,
	};
}

static bool start_grid(struct device_flight *f, bool may_inline)
{
	struct device *d = f->dev;
	const struct program *p = f->program;
	const struct device_shape *h = &f->shape;
	const struct exec_observer *observer = launch_observer(f);
	struct sched_launch s = {
		.env =
			{
				.program = p,
				.ops = launch_ops(d, observer),
				.observer = observer,
				.mem = &d->mem,
				.params = f->params->host,
				.param_address = f->params->address,
				.grid = {h->grid[0], h->grid[1], h->grid[2]},
				.block = {h->block[0], h->block[1], h->block[2]},
				.cluster = {h->cluster[0], h->cluster[1], h->cluster[2]},
				.explicit_cluster = h->explicit_cluster,
				.async_eager = d->async_eager,
				.dynamic_shared = f->dynamic_bytes,
				.shared_bytes = shared_bytes(d, p, f->dynamic_bytes),
				.local_bytes = local_bytes(d, p),
				.resident = f->resident,
				.fetch_bytes = d->fetch_bytes,
				.carveout_percent = f->kernel->carveout_percent,
				.syscalls = &d->syscalls,
				.textures = texture_table(d->textures),
				.user = f,
				.on_overrun = d->on_overrun ? on_overrun : NULL,
			},
		.cooperative = f->cooperative,
		.resident_per_sm = f->resident,
		.place = f->place,
		.done = on_done,
		.tell = on_tell,
		.say_place = device_say_place,
		.user = f,
	};

	f->observer = observer;
	s.env.grid_id = f->grid_id;
	f->counts = p->counts ? calloc(p->counts, sizeof(*f->counts)) : NULL;
	s.counts = f->counts;
	if (p->counts && !f->counts)
		return false;
	if (p->uses_reserved) {
		s.env.reserved_at = (u32)align_up(s.env.shared_bytes, RESERVED_ALIGN);
		s.env.shared_bytes = s.env.reserved_at + EXEC_RESERVED_SHARED;
	}
	if (f->cooperative) {
		if (!workspace_make(d, f->params))
			return false;
		s.env.workspace = f->params->workspace;
	}
	if (f->kernel->param_bytes)
		memcpy(f->params->host, f->values, f->kernel->param_bytes);
	if (observer && observer->launch_begin)
		observer->launch_begin(observer->user, p, f->grid_id);
	if (observer && observer->narrow) {
		f->told = *observer;
		observer->narrow(observer->user, &s.env, &f->told);
		s.env.observer = &f->told;
	}
	if (PL_UNLIKELY(d->recorder != NULL))
		f->shot = recorder_begin(d->recorder, f);
	return sched_start(f->pool ? f->pool : d->pool, &s, may_inline);
}

enum status device_flight_start(struct device_flight *f, bool may_inline, device_done *done,
				void *user)
{
	u32 bytes = f->kernel->param_bytes;

	if (PL_UNLIKELY(f->dev->on_launch != NULL)) {
		enum status status = f->dev->on_launch(f->dev->on_launch_user, f->kernel, true);

		if (status != STATUS_SUCCESS) {
			device_flight_drop(f);
			return status;
		}
	}
	f->done = done;
	f->user = user;
	if (f->dev->on_end)
		f->started_ns = clock_ns();
	if (params_take(f->dev, f, bytes ? bytes : 1) && start_grid(f, may_inline))
		return STATUS_SUCCESS;
	end_record(f, NULL);
	free(f->counts);
	f->counts = NULL;
	flight_return(f);
	return STATUS_OUT_OF_MEMORY;
}

enum status device_launch(const struct device_launch *l, device_done *done, void *user)
{
	struct device_flight *f;
	enum status status = device_flight_prepare(l, &f);

	return status == STATUS_SUCCESS ? device_flight_start(f, l->may_inline, done, user)
					: status;
}
