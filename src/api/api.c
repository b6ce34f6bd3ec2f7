/*
 * The C API, but for launches: devices, modules, buffers, messages.
 */
#include "src/base/file.h"
#include "src/base/setting.h"
#include "src/api/api_int.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* Messages that are not fetched are kept up to this size. */
#define MESSAGES_MAX (64u << 10)

/* ---- statuses ---- */

const char *ptxloom_status_text(int status)
{
	const struct status_info *s = status_info(status);

	return s ? s->text : "unrecognized error code";
}

const char *ptxloom_status_name(int status)
{
	const struct status_info *s = status_info(status);

	if (!s)
		return "unrecognized error code";
	return s->runtime ? s->runtime : s->driver;
}

/* ---- messages ---- */

void api_say(struct ptxloom_device *dev, const char *text)
{
	if (!text || !*text)
		return;
	if (dev->message) {
		dev->message(dev->user, text);
		return;
	}
	pthread_mutex_lock(&dev->lock);
	if (dev->messages.len < MESSAGES_MAX)
		text_puts(&dev->messages, text);
	pthread_mutex_unlock(&dev->lock);
}

size_t ptxloom_message(struct ptxloom_device *dev, char *out, size_t size)
{
	size_t len;

	pthread_mutex_lock(&dev->lock);
	len = dev->messages.len;
	if (size)
		snprintf(out, size, "%s", len ? dev->messages.at : "");
	text_fini(&dev->messages);
	dev->messages = (struct text){0};
	pthread_mutex_unlock(&dev->lock);
	return len;
}

/* ---- devices ---- */

static int fail_open(struct ptxloom_device *dev, const char *text, int status)
{
	if (text && *text && dev->message)
		dev->message(dev->user, text);
	return status;
}

static int read_checks(struct ptxloom_device *dev, const struct ptxloom_options *o,
		       struct device_settings *s)
{
	struct text why = {0};
	u64 which = s->checks;
	int status = PTXLOOM_SUCCESS;

	if (o->checks && *o->checks &&
	    !setting_parse(SETTING_CHECK, "checks", o->checks, &which, &why)) {
		text_puts(&why, "\n");
		status = fail_open(dev, why.at, PTXLOOM_INVALID_VALUE);
	}
	text_fini(&why);
	s->checks = o->checks && !*o->checks ? 0 : (u32)which;
	/* What is found is found in one order of events. */
	if (s->checks & CHECKS_WATCHING)
		s->sched.workers = 1;
	return status;
}

static int read_api_settings(struct ptxloom_device *dev, const struct ptxloom_options *o,
			     struct device_settings *s)
{
	struct text why = {0};
	int status = PTXLOOM_SUCCESS;

	if (!device_settings_read(s, &why)) {
		text_puts(&why, "\n");
		status = fail_open(dev, why.at, PTXLOOM_INVALID_VALUE);
	}
	if (o->workers)
		s->sched.workers = o->workers;
	if (o->seed)
		s->sched.seed = o->seed;
	if (o->weak)
		s->weak = o->weak;
	if (o->counters)
		dev->counting = (u64)o->counters - 1;
	else if (!status && !setting_read(SETTING_COUNTERS, &dev->counting, &why)) {
		text_puts(&why, "\n");
		status = fail_open(dev, why.at, PTXLOOM_INVALID_VALUE);
	}
	if (!status && (o->counters < 0 || dev->counting >= PTXLOOM_COUNT_CACHES)) {
		text_printf(&why, "counters: there is no %d, only enum ptxloom_counting\n",
			    o->counters);
		status = fail_open(dev, why.at, PTXLOOM_INVALID_VALUE);
	}
	if (o->deterministic)
		s->sched.deterministic = true;
	if (o->timeout_ms)
		s->sched.timeout_ms = o->timeout_ms;
	if (o->host_functions)
		s->host_functions = o->host_functions;
	status = status ? status : read_checks(dev, o, s);
	if (!status && !device_schedule_read(s, &why)) {
		text_puts(&why, "\n");
		status = fail_open(dev, why.at, PTXLOOM_INVALID_VALUE);
	}
	text_fini(&why);
	return status;
}

/* The profile of one device: of a list the first. */
static int find_profile(struct ptxloom_device *dev, const char *name)
{
	struct text text = {0};
	struct diag d;
	int status = PTXLOOM_SUCCESS;

	if (!name)
		name = setting_text(SETTING_DEVICE);
	diag_init(&d, diag_collect, &text);
	if (!arch_devices_parse(&dev->profiles, name ? name : "", &d))
		status = fail_open(dev, text.at, PTXLOOM_INVALID_DEVICE);
	diag_fini(&d);
	text_fini(&text);
	return status;
}

static void to_stdout(void *user, const char *text, size_t len)
{
	(void)user;
	fwrite(text, 1, len, stdout);
}

static int open_observers(struct ptxloom_device *dev)
{
	struct text why = {0};
	int status = PTXLOOM_SUCCESS;

	if (dev->settings.checks && !api_checks_open(dev, dev->settings.checks, &why)) {
		text_puts(&why, "\n");
		status = fail_open(dev, why.at, PTXLOOM_INVALID_VALUE);
	} else if (!api_counters_open(dev)) {
		status = PTXLOOM_OUT_OF_MEMORY;
	}
	text_fini(&why);
	return status;
}

static void close_observers(struct ptxloom_device *dev)
{
	api_counters_close(dev);
	api_checks_close(dev);
}

/* As the settings say; also after a reset. */
static int start_device(struct ptxloom_device *dev)
{
	struct device *d = &dev->dev;
	int status = (int)device_init(d, dev->profiles.at[0], dev->pool,
				      exec_ops_select(dev->settings.host_isa), NULL);

	if (status)
		return status;
	d->async_eager = dev->settings.async_eager;
	d->host_functions = dev->host_functions;
	d->syscalls.print = dev->output;
	d->syscalls.user = dev->user;
	status = open_observers(dev);
	if (!status)
		return PTXLOOM_SUCCESS;
	close_observers(dev);
	device_fini(d);
	return status;
}

static int open_api_device(struct ptxloom_device *dev, const struct ptxloom_options *o)
{
	struct device_settings *s = &dev->settings;
	int status = read_api_settings(dev, o, s);

	if (status)
		return status;
	status = find_profile(dev, o->device);
	if (status)
		return status;
	if (s->memory_bytes && !arch_devices_limit(&dev->profiles, s->memory_bytes))
		return PTXLOOM_OUT_OF_MEMORY;
	dev->host_functions = s->host_functions ? strdup(s->host_functions) : NULL;
	dev->pool = sched_pool_new(&s->sched);
	if (!dev->pool || (s->host_functions && !dev->host_functions))
		return PTXLOOM_OUT_OF_MEMORY;
	dev->output = o->output ? o->output : to_stdout;
	return start_device(dev);
}

int ptxloom_device_open(const struct ptxloom_options *options, struct ptxloom_device **out)
{
	struct ptxloom_options o = {0};
	struct ptxloom_device *dev;
	int status;

	*out = NULL;
	if (options && (options->size < sizeof(size_t) || options->size > sizeof(o)))
		return PTXLOOM_INVALID_VALUE;
	if (options)
		memcpy(&o, options, options->size);
	dev = calloc(1, sizeof(*dev));
	if (!dev)
		return PTXLOOM_OUT_OF_MEMORY;
	dev->message = o.message;
	dev->user = o.user;
	status = open_api_device(dev, &o);
	if (status) {
		sched_pool_free(dev->pool);
		arch_devices_fini(&dev->profiles);
		free(dev->host_functions);
		free(dev);
		return status;
	}
	pthread_mutex_init(&dev->lock, NULL);
	pthread_cond_init(&dev->ended, NULL);
	*out = dev;
	return PTXLOOM_SUCCESS;
}

static void empty_device(struct ptxloom_device *dev)
{
	device_wait(&dev->dev);
	while (dev->modules)
		ptxloom_module_unload(dev->modules);
}

void ptxloom_device_close(struct ptxloom_device *dev)
{
	if (!dev)
		return;
	if (!dev->is_lost)
		empty_device(dev);
	sched_pool_free(dev->pool);
	if (!dev->is_lost) {
		api_record_close(dev);
		close_observers(dev);
		device_fini(&dev->dev);
	}
	arch_devices_fini(&dev->profiles);
	free(dev->host_functions);
	text_fini(&dev->messages);
	pthread_cond_destroy(&dev->ended);
	pthread_mutex_destroy(&dev->lock);
	free(dev);
}

int ptxloom_device_reset(struct ptxloom_device *dev)
{
	int status;

	if (!dev->is_lost) {
		empty_device(dev);
		api_record_close(dev);
		device_fini(&dev->dev);
		close_observers(dev);
	}
	pthread_mutex_lock(&dev->lock);
	text_fini(&dev->messages);
	dev->messages = (struct text){0};
	dev->faulted = false;
	dev->pending = PTXLOOM_SUCCESS;
	pthread_mutex_unlock(&dev->lock);
	status = start_device(dev);
	dev->is_lost = status != PTXLOOM_SUCCESS;
	return status;
}

const char *ptxloom_device_name(const struct ptxloom_device *dev)
{
	return dev->dev.arch->name;
}

int ptxloom_device_number(const struct ptxloom_device *dev, const char *field, int64_t *out)
{
	const struct arch *a = dev->dev.arch;
	enum arch_field f = arch_field_find(field, strlen(field));
	const u8 *at;

	if (f == ARCH_FIELD_COUNT || !arch_is_known(a, f))
		return PTXLOOM_NOT_FOUND;
	at = (const u8 *)a + arch_field_info(f)->offset;
	switch (arch_field_info(f)->type) {
	case ARCH_INT:
		*out = *(const s32 *)(const void *)at;
		return PTXLOOM_SUCCESS;
	case ARCH_SIZE:
		*out = (s64) * (const u64 *)(const void *)at;
		return PTXLOOM_SUCCESS;
	case ARCH_BOOL:
		*out = *(const bool *)at;
		return PTXLOOM_SUCCESS;
	case ARCH_TEXT:
	case ARCH_LIST:
	case ARCH_SHAPES:
		break;
	}
	return PTXLOOM_NOT_FOUND;
}

/* ---- modules ---- */

static int load_api_program(struct ptxloom_device *dev, const void *image, size_t size,
			    const char *name, struct ptxloom_module **out)
{
	struct ptxloom_module *m = calloc(1, sizeof(*m));
	struct text text = {0};
	struct diag d;
	int status;

	*out = NULL;
	if (!m)
		return PTXLOOM_OUT_OF_MEMORY;
	diag_init(&d, diag_collect, &text);
	status =
		size ? (int)device_program_load_image(&dev->dev, image, size, name, &d, &m->program)
		     : PTXLOOM_INVALID_IMAGE;
	diag_fini(&d);
	api_say(dev, text.at);
	text_fini(&text);
	if (status) {
		free(m);
		return status;
	}
	m->dev = dev;
	pthread_mutex_lock(&dev->lock);
	m->next = dev->modules;
	dev->modules = m;
	pthread_mutex_unlock(&dev->lock);
	*out = m;
	return PTXLOOM_SUCCESS;
}

int ptxloom_module_load(struct ptxloom_device *dev, const void *image, size_t size,
			struct ptxloom_module **out)
{
	return load_api_program(dev, image, size, "<memory>", out);
}

int ptxloom_module_load_file(struct ptxloom_device *dev, const char *path,
			     struct ptxloom_module **out)
{
	struct text text = {0};
	struct file f;
	int status;

	*out = NULL;
	if (!file_open(&f, path)) {
		text_printf(&text, "%s: error: %s\n", path, strerror(errno));
		api_say(dev, text.at);
		text_fini(&text);
		return PTXLOOM_FILE_NOT_FOUND;
	}
	status = load_api_program(dev, f.data, f.size, path, out);
	file_close(&f);
	return status;
}

void ptxloom_module_unload(struct ptxloom_module *mod)
{
	struct ptxloom_module **at;
	struct ptxloom_kernel *k;

	if (!mod)
		return;
	pthread_mutex_lock(&mod->dev->lock);
	for (at = &mod->dev->modules; *at != mod; at = &(*at)->next)
		;
	*at = mod->next;
	pthread_mutex_unlock(&mod->dev->lock);
	api_bound_free(mod->bound);
	while ((k = mod->kernels)) {
		mod->kernels = k->next;
		free(k);
	}
	device_program_unload(mod->program);
	free(mod);
}

/* The handle of a kernel: one for each. */
static struct ptxloom_kernel *handle(struct ptxloom_module *mod, struct device_kernel *dk)
{
	struct ptxloom_kernel *k;

	if (!dk)
		return NULL;
	pthread_mutex_lock(&mod->dev->lock);
	for (k = mod->kernels; k && k->k != dk; k = k->next)
		;
	if (!k && (k = calloc(1, sizeof(*k)))) {
		*k = (struct ptxloom_kernel){mod, dk, mod->kernels};
		/*
		 * A caller that asks for dynamic shared memory gets it; there is no attribute to
		 * set first.
		 */
		dk->max_dynamic_bytes = (u32)mod->dev->dev.arch->smem_per_cta_optin_bytes;
		dk->nonportable_cluster = true;
		mod->kernels = k;
	}
	pthread_mutex_unlock(&mod->dev->lock);
	return k;
}

struct ptxloom_kernel *ptxloom_module_kernel(struct ptxloom_module *mod, const char *name)
{
	return handle(mod, device_program_kernel(mod->program, name));
}

struct ptxloom_kernel *ptxloom_module_kernel_nth(struct ptxloom_module *mod, unsigned n)
{
	return handle(mod, device_program_nth(mod->program, n));
}

int ptxloom_module_variable(struct ptxloom_module *mod, const char *name, void **address,
			    size_t *bytes)
{
	u64 at, size;

	if (!device_program_variable(mod->program, name, &at, &size))
		return PTXLOOM_NOT_FOUND;
	*address = (void *)(uintptr_t)at;
	*bytes = size;
	return PTXLOOM_SUCCESS;
}

const char *ptxloom_kernel_name(const struct ptxloom_kernel *kernel)
{
	return kernel->k->func->name->text;
}

unsigned ptxloom_kernel_param_count(const struct ptxloom_kernel *kernel)
{
	return kernel->k->param_len;
}

int ptxloom_kernel_param(const struct ptxloom_kernel *kernel, unsigned n, struct ptxloom_param *out)
{
	const struct device_param *p;

	if (n >= kernel->k->param_len)
		return PTXLOOM_INVALID_VALUE;
	p = &kernel->k->params[n];
	*out = (struct ptxloom_param){
		.name = p->name,
		.type = isa_word_text(p->type),
		.offset = p->offset,
		.bytes = p->bytes,
		.align = p->align,
		.is_array = p->is_array,
	};
	return PTXLOOM_SUCCESS;
}

unsigned ptxloom_kernel_occupancy(struct ptxloom_kernel *kernel, unsigned threads,
				  size_t dynamic_shared)
{
	return dynamic_shared > UINT32_MAX
		       ? 0
		       : device_kernel_occupancy(kernel->k, threads, (u32)dynamic_shared);
}

/* ---- buffers ---- */

void *ptxloom_alloc(struct ptxloom_device *dev, size_t bytes)
{
	return (void *)(uintptr_t)mem_alloc(&dev->dev.mem, bytes, MEM_ALIGN, MEM_KIND_DEVICE);
}

int ptxloom_free(struct ptxloom_device *dev, void *buffer)
{
	struct mem_range r;
	u64 at = (u64)(uintptr_t)buffer;

	if (!buffer)
		return PTXLOOM_SUCCESS;
	/* Variables and parameter blocks are not the program's to free. */
	if (!mem_find(&dev->dev.mem, at, 1, &r) || r.base != at || r.kind != MEM_KIND_DEVICE)
		return PTXLOOM_INVALID_VALUE;
	return mem_free(&dev->dev.mem, at) ? PTXLOOM_SUCCESS : PTXLOOM_INVALID_VALUE;
}

int ptxloom_register(struct ptxloom_device *dev, void *memory, size_t bytes)
{
	return mem_register(&dev->dev.mem, (u64)(uintptr_t)memory, bytes, MEM_KIND_HOST)
		       ? PTXLOOM_SUCCESS
		       : PTXLOOM_INVALID_VALUE;
}

int ptxloom_unregister(struct ptxloom_device *dev, void *memory)
{
	return mem_unregister(&dev->dev.mem, (u64)(uintptr_t)memory) ? PTXLOOM_SUCCESS
								     : PTXLOOM_INVALID_VALUE;
}
