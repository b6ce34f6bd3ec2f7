/*
 * Devices and the settings they start with.
 */
#include "src/tier/tier.h"
#include "src/base/demangle.h"
#include "src/base/cgroup.h"
#include "src/base/setting.h"
#include "src/base/stats.h"
#include "src/dev/device_int.h"
#include "src/dev/memory/watch.h"
#include "src/dev/texture/texref.h"
#include "src/sched/rest.h"
#include "src/sched/steer/schedule.h"
#include "src/sched/steer/steer_notes.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* A device has that much in any case, and whole pieces of it. */
#define MEMORY_LEAST ((u64)2 << 20)

/* Tests that run beside this one, as far as what starts them says. */
static u64 jobs_beside(void)
{
	static const char *const names[] = {"CTEST_PARALLEL_LEVEL", "PYTEST_XDIST_WORKER_COUNT"};
	u64 jobs = 1;

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		const char *v = getenv(names[i]);
		u64 n = v && *v >= '0' && *v <= '9' ? strtoull(v, NULL, 10) : 1;

		jobs = n > jobs ? n : jobs;
	}
	return jobs;
}

/* PTXLOOM_MEMORY=auto: what a device may have so that it fits beside what else runs. */
static u64 free_memory(void)
{
	u64 bytes = cgroup_memory(&cgroup_of_process), kib;
	FILE *f = fopen("/proc/meminfo", "r");
	char line[128];

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "MemAvailable: %" SCNu64, &kib) == 1)
			bytes = min_u64(bytes, kib * 1024);
	if (f)
		fclose(f);
	bytes = bytes / 5 * 4 / jobs_beside();
	return bytes > MEMORY_LEAST ? bytes / MEMORY_LEAST * MEMORY_LEAST : MEMORY_LEAST;
}

/* Statistics count what is interpreted, unless they are asked for what is compiled. */
static enum tier_choice unset_tier(void)
{
	return stats_on() ? TIER_ONE : TIER_AUTO;
}

bool device_settings_read(struct device_settings *s, struct text *why)
{
	u64 one_order = s->sched.deterministic, stable = s->sched.stable;
	u64 tier = unset_tier(), workers = s->sched.workers, eager = s->async_eager,
	    checks = s->checks;
	const char *isa = setting_text(SETTING_HOST_ISA);

	if (!settings_check(why) || !setting_read(SETTING_WORKERS, &workers, why) ||
	    !setting_read(SETTING_SEED, &s->sched.seed, why) ||
	    !setting_read(SETTING_DETERMINISTIC, &one_order, why) ||
	    !setting_read(SETTING_STABLE, &stable, why) ||
	    !setting_read(SETTING_MEMORY, &s->memory_bytes, why) ||
	    !setting_read(SETTING_TIMEOUT, &s->sched.timeout_ms, why) ||
	    !setting_read(SETTING_WEAK, &s->weak, why) || !setting_read(SETTING_TIER, &tier, why) ||
	    !setting_read(SETTING_ASYNC, &eager, why) || !setting_read(SETTING_CHECK, &checks, why))
		return false;
	tier_choose((enum tier_choice)tier);
	s->sched.workers = (u32)workers;
	s->sched.deterministic = one_order;
	s->sched.stable = stable;
	if (s->memory_bytes == SETTING_SIZE_WORD)
		s->memory_bytes = free_memory();
	s->async_eager = eager;
	s->checks = (u32)checks;
	if (tier == TIER_TWO && !tier_available()) {
		text_puts(why, "PTXLOOM_TIER=2 needs LLVM's library, which is not installed: "
			       "libLLVM of a version from 14 to 20");
		return false;
	}
	if (isa && !exec_ops_select(isa)) {
		text_printf(why, "PTXLOOM_HOST_ISA: this host has no level '%s'", isa);
		return false;
	}
	if (tier == TIER_TWO && !tier_has_level(exec_ops_select(isa))) {
		text_printf(why,
			    "PTXLOOM_TIER=2 compiles for levels v3 and v4 of the host, not for %s",
			    exec_ops_select(isa)->level);
		return false;
	}
	s->host_isa = isa ? isa : s->host_isa;
	if (setting_text(SETTING_HOST_FUNCTIONS))
		s->host_functions = setting_text(SETTING_HOST_FUNCTIONS);
	return true;
}

bool device_compiles(void)
{
	return tier_is_wanted();
}

void device_watch_forks(void)
{
	tier_watch_forks();
}

/* The schedule of the process is the pool's; so is what is written down of it. */
static void note_copy(void *user, const struct memory_copy *c)
{
	u64 hash = HASH_SEED;

	if (!c->src.device || c->dst.device)
		return;
	for (u64 z = 0; z < c->depth; z++)
		for (u64 y = 0; y < c->height; y++)
			hash = hash_more(hash, c->bytes + z * c->src.slice + y * c->src.pitch,
					 c->width);
	notes_copy(user, hash);
}

static bool open_notes(struct sched_options *o, const char *path, struct text *why)
{
	static struct memory_watch watch = {.copy = note_copy};

	o->notes = notes_open(path, why);
	if (!o->notes)
		return !why->len;
	watch.user = o->notes;
	return memory_watch_add(&watch);
}

/* The schedule that the settings ask for, into *x. */
static bool read_schedule(struct device_settings *s, const char *value, struct schedule *x,
			  struct text *why)
{
	*x = (struct schedule){.kind = SCHEDULE_RANDOM,
			       .seed = s->sched.seed ? s->sched.seed : s->weak,
			       .weak = s->weak};
	if (!value) {
		s->sched.seed = 0;
		return true;
	}
	if (s->weak)
		text_puts(why, "PTXLOOM_WEAK and PTXLOOM_SCHEDULE exclude each other: a schedule "
			       "of weak memory is weak:SEED:..");
	else if (s->sched.seed)
		text_puts(why, "PTXLOOM_SEED and PTXLOOM_SCHEDULE exclude each other: a schedule "
			       "of a seed is random:SEED");
	return !s->weak && !s->sched.seed && schedule_read(x, value, "PTXLOOM_SCHEDULE", why);
}

bool device_schedule_read(struct device_settings *s, struct text *why)
{
	const char *value = setting_text(SETTING_SCHEDULE), *path;
	struct schedule *x;

	if (!value && !s->weak)
		return true;
	x = malloc(sizeof(*x));
	if (!x || !read_schedule(s, value, x, why)) {
		if (x)
			schedule_fini(x);
		free(x);
		return false;
	}
	s->sched.schedule = x;
	s->sched.deterministic = true;
	s->async_eager |= x->eager;
	mem_fix_addresses();
	demangle_prepare();
	path = setting_text(SETTING_SCHEDULE_NOTES);
	return !path || open_notes(&s->sched, path, why);
}

enum status device_init(struct device *d, const struct arch *arch, struct sched_pool *pool,
			const struct exec_ops *ops, const struct device_home *home)
{
	u64 bytes = arch->memory_bytes;

	*d = (struct device){.arch = arch,
			     .pool = pool,
			     .ops = ops,
			     .stack_bytes = DEVICE_STACK_BYTES,
			     .stack_limit = DEVICE_STACK_LIMIT};
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
	while (d->running) {
		if (sched_is_deterministic(d->pool)) {
			pthread_mutex_unlock(&d->lock);
			sched_go_wait(d->pool);
			pthread_mutex_lock(&d->lock);
		} else {
			sched_rest(d->pool, &d->idle, &d->lock);
		}
	}
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

struct device *device_of_mem(struct mem *m)
{
	return (struct device *)(void *)((char *)m - offsetof(struct device, mem));
}
