/*
 * Devices and the settings they start with.
 */
#include "src/dev/device_int.h"
#include "src/dev/texref.h"

#include <errno.h>
#include <stdlib.h>

static bool read_number(const char *name, u64 max, u64 *out, struct text *why)
{
	const char *s = getenv(name);
	char *end;
	u64 v;

	if (!s || !*s)
		return true;
	errno = 0;
	v = strtoull(s, &end, 0);
	if (errno || *end || end == s || *s == '-' || v > max) {
		text_printf(why, "%s takes a number up to %llu, not '%s'", name,
			    (unsigned long long)max, s);
		return false;
	}
	*out = v;
	return true;
}

/* Names of checks, separated by commas. */
static bool read_checks(const char *list, struct device_settings *s, struct text *why)
{
	while (list && *list) {
		size_t n = strcspn(list, ",");

		if (n != 3 || memcmp(list, "mem", 3)) {
			text_printf(why, "PTXLOOM_CHECK: there is no check '%.*s'; there is: mem",
				    (int)n, list);
			return false;
		}
		s->check_mem = true;
		list += n + (list[n] == ',');
	}
	return true;
}

bool device_settings_read(struct device_settings *s, struct text *why)
{
	const char *isa = getenv("PTXLOOM_HOST_ISA"), *async = getenv("PTXLOOM_ASYNC");
	u64 workers = s->sched.workers;

	if (!read_number("PTXLOOM_WORKERS", 1024, &workers, why) ||
	    !read_number("PTXLOOM_SEED", UINT64_MAX, &s->sched.seed, why) ||
	    !read_number("PTXLOOM_TIMEOUT", (u64)1 << 40, &s->sched.timeout_ms, why))
		return false;
	s->sched.workers = (u32)workers;
	if (async && *async) {
		if (strcmp(async, "late") != 0 && strcmp(async, "eager") != 0) {
			text_printf(why, "PTXLOOM_ASYNC is late or eager, not '%s'", async);
			return false;
		}
		s->async_eager = *async == 'e';
	}
	if (!read_checks(getenv("PTXLOOM_CHECK"), s, why))
		return false;
	if (isa && *isa) {
		if (!exec_ops_select(isa)) {
			text_printf(why, "PTXLOOM_HOST_ISA: this host has no level '%s'", isa);
			return false;
		}
		s->host_isa = isa;
	}
	return true;
}

enum status device_init(struct device *d, const struct arch *arch, struct sched_pool *pool,
			const struct exec_ops *ops, const struct device_home *home)
{
	u64 bytes = arch->memory_bytes;

	*d = (struct device){.arch = arch, .pool = pool, .ops = ops, .stack_bytes = DEVICE_STACK_BYTES};
	if (!(home ? mem_init_in(&d->mem, bytes, home->system, home->index)
		   : mem_init(&d->mem, bytes)))
		return STATUS_OUT_OF_MEMORY;
	d->syscalls.heap = exec_heap_new(&d->mem, EXEC_HEAP_DEFAULT);
	d->textures = texture_store_new(&d->mem, arch);
	if (!d->syscalls.heap || !d->textures) {
		exec_heap_free(d->syscalls.heap);
		texture_store_free(d->textures);
		mem_fini(&d->mem);
		return STATUS_OUT_OF_MEMORY;
	}
	pthread_mutex_init(&d->lock, NULL);
	pthread_cond_init(&d->idle, NULL);
	return STATUS_SUCCESS;
}

void device_wait(struct device *d)
{
	pthread_mutex_lock(&d->lock);
	while (d->running)
		pthread_cond_wait(&d->idle, &d->lock);
	pthread_mutex_unlock(&d->lock);
}

void device_fini(struct device *d)
{
	struct device_flight *f;
	struct device_params *b;

	device_wait(d);
	while ((f = d->spare)) {
		d->spare = f->next;
		free(f->values);
		free(f);
	}
	while ((b = d->spare_params)) {
		d->spare_params = b->next;
		free(b);
	}
	map_fini(&d->texts);
	exec_heap_free(d->syscalls.heap);
	texref_fini(d);
	texture_store_free(d->textures);
	mem_fini(&d->mem);
	pthread_cond_destroy(&d->idle);
	pthread_mutex_destroy(&d->lock);
}
