/*
 * The C API: launches and their faults.
 */
#include "src/api/api_int.h"
#include "src/sched/rest.h"

#include <stdio.h>

/* A thread waits for a launch. */
struct waiting {
	struct ptxloom_device *dev;
	int status;
	bool done; /* dev->lock; atomic for readers without the lock */
};

static void keep_fault(struct ptxloom_device *dev, const struct device_fault *f)
{
	struct ptxloom_fault *o = &dev->fault;

	memset(o, 0, sizeof(*o));
	o->status = (int)f->status;
	snprintf(o->kind, sizeof(o->kind), "%s", device_fault_name(f->kind));
	snprintf(o->kernel, sizeof(o->kernel), "%s", f->kernel);
	snprintf(o->function, sizeof(o->function), "%s", f->function);
	memcpy(o->cta, f->ctaid, sizeof(o->cta));
	memcpy(o->thread, f->thread, sizeof(o->thread));
	snprintf(o->ptx_file, sizeof(o->ptx_file), "%s", f->ptx_name ? f->ptx_name : "");
	o->ptx_line = f->ptx_line;
	memcpy(o->source_file, f->source, sizeof(o->source_file));
	o->source_line = f->source_line;
	o->has_address = f->has_address;
	o->is_write = f->write;
	o->address = f->address;
	o->bytes = f->bytes;
	snprintf(o->message, sizeof(o->message), "%s", f->message.at ? f->message.at : "");
	dev->faulted = true;
}

/* A fault goes to ptxloom_last_fault, and as text to the program. */
static void report_api_fault(struct ptxloom_device *dev, const struct device_fault *fault)
{
	if (!fault)
		return;
	pthread_mutex_lock(&dev->lock);
	keep_fault(dev, fault);
	pthread_mutex_unlock(&dev->lock);
	api_say(dev, fault->message.at);
	api_checks_fault(dev, fault);
}

static void note_launch_end(void *user, enum status status, const struct device_fault *fault)
{
	struct waiting *w = user;
	struct ptxloom_device *dev = w->dev;

	report_api_fault(dev, fault);
	pthread_mutex_lock(&dev->lock);
	w->status = (int)status;
	__atomic_store_n(&w->done, true, __ATOMIC_RELEASE);
	sched_wake(dev->pool, &dev->ended);
	pthread_mutex_unlock(&dev->lock);
}

static void on_end_async(void *user, enum status status, const struct device_fault *fault)
{
	struct ptxloom_device *dev = user;

	if (status == STATUS_SUCCESS)
		return;
	report_api_fault(dev, fault);
	pthread_mutex_lock(&dev->lock);
	if (!dev->pending)
		dev->pending = (int)status;
	pthread_mutex_unlock(&dev->lock);
}

static bool to_launch(struct ptxloom_kernel *kernel, const struct ptxloom_config *c,
		      void *const *args, struct device_launch *l)
{
	*l = (struct device_launch){
		.kernel = kernel->k,
		.cooperative = c->cooperative != 0,
		.may_inline = true,
		.args = args,
		.dynamic_bytes = (u32)min_u64(c->dynamic_shared, UINT32_MAX),
		.grid = {c->grid[0], c->grid[1], c->grid[2]},
		.block = {c->block[0], c->block[1], c->block[2]},
		.cluster = {c->cluster[0], c->cluster[1], c->cluster[2]},
	};
	for (u32 i = 1; i < 3; i++) {
		l->grid[i] += !l->grid[i];
		l->block[i] += !l->block[i];
	}
	return c->dynamic_shared <= UINT32_MAX && (args || !kernel->k->param_len);
}

/* The launch did not even start: say why. */
static int refuse_launch(struct ptxloom_device *dev, const struct device_launch *l,
			 enum status status)
{
	struct text why = {0};

	text_puts(&why, "ptxloom: error: ");
	device_refusal_describe(l, status, &why);
	text_puts(&why, "\n");
	api_say(dev, why.at);
	text_fini(&why);
	return (int)status;
}

int ptxloom_launch(struct ptxloom_kernel *kernel, const struct ptxloom_config *config,
		   void *const *args)
{
	struct ptxloom_device *dev = kernel->mod->dev;
	struct waiting w = {.dev = dev};
	struct device_launch l;
	enum status status;

	if (!to_launch(kernel, config, args, &l))
		return refuse_launch(dev, &l, STATUS_INVALID_VALUE);
	status = device_launch(&l, note_launch_end, &w);
	if (status != STATUS_SUCCESS)
		return refuse_launch(dev, &l, status);
	if (__atomic_load_n(&w.done, __ATOMIC_ACQUIRE))
		return w.status;
	pthread_mutex_lock(&dev->lock);
	while (!w.done) {
		if (sched_is_deterministic(dev->pool)) {
			pthread_mutex_unlock(&dev->lock);
			sched_go_wait(dev->pool);
			pthread_mutex_lock(&dev->lock);
		} else {
			sched_rest(dev->pool, &dev->ended, &dev->lock);
		}
	}
	pthread_mutex_unlock(&dev->lock);
	return w.status;
}

int ptxloom_launch_async(struct ptxloom_kernel *kernel, const struct ptxloom_config *config,
			 void *const *args)
{
	struct device_launch l;
	enum status status = STATUS_INVALID_VALUE;

	if (to_launch(kernel, config, args, &l))
		status = device_launch(&l, on_end_async, kernel->mod->dev);
	return status == STATUS_SUCCESS ? 0 : refuse_launch(kernel->mod->dev, &l, status);
}

int ptxloom_device_sync(struct ptxloom_device *dev)
{
	int status;

	device_wait(&dev->dev);
	pthread_mutex_lock(&dev->lock);
	status = dev->pending;
	dev->pending = PTXLOOM_SUCCESS;
	pthread_mutex_unlock(&dev->lock);
	return status;
}

int ptxloom_last_fault(struct ptxloom_device *dev, struct ptxloom_fault *out)
{
	int status = PTXLOOM_NOT_FOUND;

	pthread_mutex_lock(&dev->lock);
	if (dev->faulted) {
		*out = dev->fault;
		status = PTXLOOM_SUCCESS;
	}
	pthread_mutex_unlock(&dev->lock);
	return status;
}

const char *ptxloom_fault_rule(const struct ptxloom_fault *fault)
{
	const char *rule;

	for (u32 k = 1; (rule = device_fault_rule((enum fault_kind)k)); k++)
		if (!strcmp(fault->kind, device_fault_name((enum fault_kind)k)))
			return rule;
	return "";
}
