/*
 * Observing launches, and writing a line about each.
 */
#include "src/base/demangle.h"
#include "src/base/setting.h"
#include "src/dev/window.h"
#include "src/managed/managed.h"
#include "src/profile/collect_int.h"
#include "src/profile/table/links.h"
#include "src/profile/table/migrations.h"
#include "src/profile/table/variables.h"
#include "src/lower/lower.h"
#include "src/watch/counters.h"
#include "src/watch/insns.h"
#include "src/watch/texture.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum collect_caches { CACHES_COLD, CACHES_WARM, CACHES_OFF };

/* ---- which launch, which worker ---- */

static struct collect_launch *launch_of(struct profile_device *d, u64 grid_id)
{
	u64 *at;

	pthread_mutex_lock(&d->lock);
	at = map_get(&d->launches, grid_id + 1);
	pthread_mutex_unlock(&d->lock);
	return at ? (struct collect_launch *)(uintptr_t)*at : NULL;
}

static void slot_free(struct slot *s)
{
	if (s)
		free(s->shared);
	free(s);
}

static struct slot *slot_new(struct collect_launch *l)
{
	struct slot *s = calloc(1, sizeof(*s) + (size_t)l->rows->len * sizeof(s->row[0]));
	bool ok;

	if (s && l->rows->shared)
		s->shared = calloc(l->rows->shared->len, sizeof(*s->shared));
	pthread_mutex_lock(&l->device->lock);
	ok = s && (s->shared || !l->rows->shared) && VEC_PUSH(&l->slots, s);
	l->is_cut |= !ok;
	pthread_mutex_unlock(&l->device->lock);
	if (ok)
		return s;
	slot_free(s);
	return NULL;
}

/* A worker mostly counts for the launch that it counted for last. */
static _Thread_local struct {
	u64 serial, grid_id;
	struct slot *slot; /* NULL: no memory */
	const struct profile_rows *rows;
} mine;

static struct slot *collect_slot_of(struct profile_device *d, const struct exec_env *e)
{
	struct collect_launch *l;

	if (PL_LIKELY(mine.serial == d->serial && mine.grid_id == e->grid_id))
		return mine.slot;
	l = launch_of(d, e->grid_id);
	if (!l)
		return NULL;
	mine.serial = d->serial;
	mine.grid_id = e->grid_id;
	mine.rows = l->rows;
	mine.slot = slot_new(l);
	return mine.slot;
}

/* ---- counting ---- */

/* The counts of a launch that has ended, as a slot of their own. */
static void collect_counted(void *user, const struct program *p, u64 grid_id,
			    const struct exec_count *counts)
{
	struct collect_launch *l = launch_of(user, grid_id);
	struct slot *s = l ? slot_new(l) : NULL;
	struct watch_insns insns = watch_insns_of(p, counts);

	for (u32 row = 0; s && row < l->rows->len; row++) {
		struct watch_insn x = watch_insn_at(&insns, row);

		s->row[row][COLUMN_inst] = x.warps;
		s->row[row][COLUMN_threads] = x.threads;
		s->row[row][COLUMN_threads_on] = x.threads_on;
		if (l->rows->shape[row].work == WORK_BRANCH)
			s->row[row][COLUMN_divergent] = x.divergent;
	}
}

static const u8 global_accesses[] = {
	[ACCESS_LOAD] = ACCESS_OF_global_ld,        [ACCESS_STORE] = ACCESS_OF_global_st,
	[ACCESS_ATOM] = ACCESS_OF_global_atom,      [ACCESS_RED] = ACCESS_OF_global_red,
	[ACCESS_COPY_READ] = ACCESS_OF_copy_access,
};

static const u8 shared_accesses[] = {
	[ACCESS_LOAD] = ACCESS_OF_shared_ld,         [ACCESS_STORE] = ACCESS_OF_shared_st,
	[ACCESS_ATOM] = ACCESS_OF_shared_atom,       [ACCESS_RED] = ACCESS_OF_shared_atom,
	[ACCESS_COPY_READ] = ACCESS_OF_shared_ld,    [ACCESS_COPY_WRITE] = ACCESS_OF_shared_copy,
	[ACCESS_COPY_DONE] = PROFILE_ACCESSES,       [ACCESS_MATRIX_LOAD] = ACCESS_OF_matrix_ld,
	[ACCESS_MATRIX_STORE] = ACCESS_OF_matrix_st,
};

/* PROFILE_ACCESSES: it is not counted. */
static u32 collect_access_of(const struct exec_access *a, bool is_constant)
{
	switch (a->space) {
	case MEM_GLOBAL:
		if (is_constant)
			return ACCESS_OF_constant_ld;
		if (a->kind == ACCESS_COPY_READ && a->bypass)
			return ACCESS_OF_copy_bypass;
		return a->kind < ARRAY_LEN(global_accesses) ? global_accesses[a->kind]
							    : PROFILE_ACCESSES;
	case MEM_SHARED:
		return a->kind < ARRAY_LEN(shared_accesses) ? shared_accesses[a->kind]
							    : PROFILE_ACCESSES;
	case MEM_LOCAL:
		return a->kind == ACCESS_STORE ? ACCESS_OF_local_st : ACCESS_OF_local_ld;
	default:
		return PROFILE_ACCESSES;
	}
}

/* times: how many accesses there were. */
static void count_row(u64 *at, u8 space, const struct watch_tally *t, u64 ideal, u64 bytes,
		      u64 times)
{
	switch (space) {
	case MEM_GLOBAL:
		at[COLUMN_global_requests] += t->requests * times;
		at[COLUMN_global_sectors] += t->sectors * times;
		at[COLUMN_global_ideal] += ideal * times;
		at[COLUMN_bytes] += bytes * times;
		break;
	case MEM_SHARED:
		at[COLUMN_shared_requests] += t->requests * times;
		at[COLUMN_shared_passes] += t->passes * times;
		at[COLUMN_shared_ideal] += t->ideal * times;
		if (t->loads.insts) {
			at[COLUMN_shared_requests] += (t->insts + t->loads.insts - 1) * times;
			at[COLUMN_shared_passes] += t->loads.passes * times;
			at[COLUMN_shared_ideal] += t->loads.ideal * times;
		}
		break;
	default:
		at[COLUMN_local_requests] += t->requests * times;
		at[COLUMN_local_sectors] += t->sectors * times;
	}
}

/* Loads that an atomic on shared memory makes. */
static void count_loads(u64 *to, const struct watch_loads *l, u64 times)
{
	to[FIELD_INSTS] += l->insts * times;
	to[FIELD_REQUESTS] += l->insts * times;
	to[FIELD_PASSES] += l->passes * times;
	to[FIELD_PARTS] += l->parts * times;
	to[FIELD_IDEAL] += l->ideal * times;
}

static void collect_count_access(void *user, const struct exec_access *a)
{
	struct slot *s = collect_slot_of(user, a->cta->env);
	u64 *to, bytes = (u64)__builtin_popcount(a->mask) * a->bytes, ideal, sectors;
	u64 times = a->more + 1;
	struct watch_tally t;
	u32 row, which;

	if (!s)
		return;
	row = mine.rows->row_of[a->pc];
	which = collect_access_of(a, mine.rows->shape[row].is_constant);
	if (which == PROFILE_ACCESSES)
		return;
	to = s->access[which];
	to[FIELD_BYTES] += bytes * times;
	if (which == ACCESS_OF_constant_ld) {
		to[FIELD_INSTS] += times;
		return;
	}
	watch_tally_access(a, &t);
	to[FIELD_INSTS] += t.insts * times;
	count_loads(s->access[ACCESS_OF_shared_ld], &t.loads, times);
	sectors = t.sectors;
	/* Lanes of atomics that are on one word count once each; here they share its sector. */
	if (a->kind == ACCESS_ATOM || a->kind == ACCESS_RED)
		sectors = a->space == MEM_GLOBAL
				  ? watch_sectors(a->address, a->mask, (u32)a->size * a->count)
				  : sectors;
	ideal = a->space == MEM_SHARED ? t.ideal : min_u64(sectors, (bytes + 31) / 32);
	to[FIELD_DISTINCT] += sectors * times;
	to[FIELD_REQUESTS] += t.requests * times;
	to[FIELD_SECTORS] += t.sectors * times;
	to[FIELD_IDEAL] += ideal * times;
	to[FIELD_PASSES] += t.passes * times;
	to[FIELD_PARTS] += t.parts * times;
	t.sectors = (u32)sectors;
	if (which == ACCESS_OF_copy_bypass)
		s->row[row][COLUMN_shared_passes] += t.passes * times;
	count_row(s->row[row], a->space, &t, ideal, bytes, times);
}

/* Each access by itself: those that are alike may be to several variables. */
static void collect_count_shared(void *user, const struct exec_access *a)
{
	struct slot *s = collect_slot_of(user, a->cta->env);
	bool is_past =
		a->space == MEM_GLOBAL && a->kind == ACCESS_COPY_READ && a->bypass && a->other;
	u64 at[COUNTED_COLUMNS] = {0}, *to;
	struct watch_tally t;
	u32 lane;

	if (!s || !s->shared || (a->space != MEM_SHARED && !is_past) ||
	    (!is_past && collect_access_of(a, false) == PROFILE_ACCESSES))
		return;
	lane = (u32)__builtin_ctz(a->mask);
	watch_tally_access(a, &t);
	to = s->shared[profile_shared_place_of(mine.rows->shared,
					       is_past ? a->other[lane] : a->address[lane])];
	/* What goes past the first cache has passes of its own there, and nothing else. */
	if (is_past)
		at[COLUMN_shared_passes] = t.passes;
	else
		count_row(at, MEM_SHARED, &t, 0, 0, 1);
	to[SHARED_REQUESTS] += at[COLUMN_shared_requests];
	to[SHARED_PASSES] += at[COLUMN_shared_passes];
	to[SHARED_IDEAL] += at[COLUMN_shared_ideal];
}

static void collect_count_texture(void *user, const struct exec_texture *x)
{
	struct slot *s = collect_slot_of(user, x->cta->env);
	u64 *to, *at, sectors, bytes = 0;
	struct cache_shape shape;
	u32 which;

	if (!s)
		return;
	which = !x->is_surface            ? ACCESS_OF_texture_ld
		: x->kind == ACCESS_STORE ? ACCESS_OF_surface_st
		: x->kind == ACCESS_RED   ? ACCESS_OF_surface_red
					  : ACCESS_OF_surface_ld;
	watch_texture_shape(x, (u64)(uintptr_t)x->cta->env->mem->arena, &shape);
	sectors = watch_shape_sectors(&shape);
	for (u32 i = 0; i < x->len; i++)
		bytes += x->texel[i].bytes;
	to = s->access[which];
	to[FIELD_INSTS] += x->is_first;
	to[FIELD_REQUESTS]++;
	to[FIELD_SECTORS] += sectors;
	to[FIELD_DISTINCT] += sectors;
	to[FIELD_IDEAL] += min_u64(sectors, (bytes + 31) / 32);
	to[FIELD_BYTES] += bytes;
	at = s->row[mine.rows->row_of[x->pc]];
	at[COLUMN_texture_requests]++;
	at[COLUMN_texture_sectors] += sectors;
}

/* ---- programs ---- */

/*
 * The same for programs that differ in nothing but their number, which is the first member; 0:
 * there is none.
 */
static u64 description_hash(const struct text *t)
{
	size_t first = t->failed ? t->len : strcspn(t->at, ",");

	return t->failed ? 0 : hash_bytes(t->at + first, t->len - first) | 1;
}

/* Describe it, in the file if that has not been done; with the lock held. false: no memory. */
static bool describe(struct profile_collect *c, struct profile_rows *r, const char *kernel)
{
	struct profile_program *p = profile_rows_describe(r, kernel);
	struct text t = {0};
	u64 hash, *id;
	bool ok = true;

	if (!p)
		return false;
	r->described = p;
	p->id = c->programs + 1;
	profile_program_write(p, &t);
	hash = description_hash(&t);
	id = hash ? map_get(&c->written, hash) : NULL;
	if (id) {
		p->id = *id;
	} else {
		ok = hash && map_set(&c->written, hash, p->id);
		c->programs += ok;
		if (ok && c->to)
			fwrite(t.at, 1, t.len, c->to);
	}
	text_fini(&t);
	return ok;
}

/* With the lock held. NULL without memory. */
static struct profile_rows *collect_rows_of(struct profile_collect *c, const struct program *p,
					    const char *kernel)
{
	const u64 *at = map_get(&c->rows, map_key(p));
	struct profile_rows *r;

	if (at)
		return (struct profile_rows *)(uintptr_t)*at;
	r = profile_rows_new(p);
	if (r && c->has_variables)
		r->shared = profile_shared_places(p);
	if (r && describe(c, r, kernel) && map_set(&c->rows, map_key(p), map_key(r)))
		return r;
	profile_rows_free(r);
	return NULL;
}

/* Its kernels may come again, at other addresses, which may be those of others. */
static void collect_forget_program(void *user, const struct device_program *p, bool loaded)
{
	struct profile_device *d = user;
	struct profile_collect *c = d->of;

	if (d->on_program)
		d->on_program(d->on_program_user, p, loaded);
	pthread_mutex_lock(&c->lock);
	for (const struct device_kernel *k = loaded ? NULL : p->kernels; k; k = k->next)
		for (u32 i = 0; i <= GANG_WARPS; i++) {
			u64 *at = k->lowered[i] ? map_get(&c->rows, map_key(k->lowered[i])) : NULL;

			if (!at)
				continue;
			profile_rows_free((struct profile_rows *)(uintptr_t)*at);
			map_remove(&c->rows, map_key(k->lowered[i]));
		}
	pthread_mutex_unlock(&c->lock);
}

/* ---- launches ---- */

static void collect_launch_free(struct collect_launch *l)
{
	for (size_t i = 0; i < l->slots.len; i++)
		slot_free(l->slots.at[i]);
	VEC_FREE(&l->slots);
	free(l->sm_caches);
	free(l->insns);
	profile_launch_forget(&l->variables);
	free(l);
}

/* Was the launch that the thread is about to begin chosen for the file? */
static _Thread_local bool chosen;

static struct collect_launch *launch_new(struct profile_device *d, const struct exec_env *e)
{
	struct collect_launch *l = calloc(1, sizeof(*l));
	struct profile_collect *c = d->of;

	if (!l)
		return NULL;
	l->device = d;
	device_look_at(e, &l->look);
	memcpy(l->grid, e->grid, sizeof(l->grid));
	memcpy(l->block, e->block, sizeof(l->block));
	memcpy(l->cluster, e->cluster, sizeof(l->cluster));
	l->sms = (u32)min_u64((u64)e->grid[0] * e->grid[1] * e->grid[2], (u64)d->dev->arch->sms);
	pthread_mutex_lock(&c->lock);
	l->is_written = c->to && chosen;
	l->number = c->launches;
	c->launches += l->is_written;
	l->told = c->told++;
	l->rows = collect_rows_of(c, e->program, l->look.kernel->func->name->text);
	pthread_mutex_unlock(&c->lock);
	if (!l->rows) {
		collect_launch_free(l);
		return NULL;
	}
	l->tells_pages = managed_is_used(c->managed);
	if (l->tells_pages)
		managed_launch_begin(c->managed, d->dev->number);
	return l;
}

/* places: NULL: it has touched nothing. */
static void tell_pages(struct collect_launch *l, const struct cache_places *places)
{
	if (l->tells_pages &&
	    !profile_migrations_end(l->device->of->managed, l->device->dev->number, places,
				    l->variables.value))
		l->is_cut = true;
	l->tells_pages = false;
}

static void narrow_launch(void *user, const struct exec_env *e, struct exec_observer *o)
{
	struct profile_device *d = user;
	struct collect_launch *l = launch_new(d, e);
	bool ok;

	pthread_mutex_lock(&d->lock);
	ok = l && map_set(&d->launches, e->grid_id + 1, map_key(l));
	pthread_mutex_unlock(&d->lock);
	if (ok)
		return;
	if (l) {
		tell_pages(l, NULL);
		collect_launch_free(l);
	}
	d->of->is_short = true;
	o->access = NULL;
	o->alike = NULL;
	o->texture = NULL;
}

static void caches_ended(void *user, u64 grid_id, const struct cache_counts *counts,
			 const struct cache_insn *insns, const struct cache_sm *sm,
			 const struct cache_places *places)
{
	struct collect_launch *l = launch_of(user, grid_id);

	if (!l)
		return;
	tell_pages(l, places);
	if (places && l->device->of->has_variables &&
	    !profile_variables_end(places, l->look.kernel->owner, l->device->of->origin,
				   &l->variables))
		l->is_cut = true;
	l->variables.device = l->device->dev->number;
	if (!profile_links_end(l->device->of->links, &counts->l2, &l->variables))
		l->is_cut = true;
	collect_keep_caches(l, counts, insns, sm);
}

/* Behind that of the caches, which have given their part. */
static void launch_end(void *user, const struct program *p, u64 grid_id)
{
	struct profile_device *d = user;
	struct collect_launch *l = launch_of(d, grid_id);

	(void)p;
	if (!l)
		return;
	pthread_mutex_lock(&d->lock);
	map_remove(&d->launches, grid_id + 1);
	pthread_mutex_unlock(&d->lock);
	tell_pages(l, NULL);
	if (!collect_report(l))
		d->of->is_short = true;
	collect_launch_free(l);
}

/* ---- devices ---- */

static bool collect_chooses(void *user, const char *kernel, const void *tag)
{
	struct profile_collect *c = user;

	chosen = profile_choice_has(&c->choice, kernel, tag);
	if (chosen || c->tell)
		return true;
	managed_launch_unseen(c->managed);
	return false;
}

static const void *collect_ranges_here(void *user)
{
	struct profile_collect *c = user;

	return c->ranges ? profile_ranges_here(c->ranges) : NULL;
}

void collect_put_line(struct profile_collect *c, const struct text *line)
{
	pthread_mutex_lock(&c->lock);
	if (line->failed)
		c->is_short = true;
	else
		fwrite(line->at, 1, line->len, c->to);
	pthread_mutex_unlock(&c->lock);
}

void profile_say_devices(struct profile_collect *c, const struct arch_devices *devices)
{
	if (c)
		profile_links_say_devices(c->links, devices);
}

struct profile_ranges *profile_ranges_of(struct profile_collect *c)
{
	return c->ranges;
}

/*
 * What watches a launch, and what counts it. other: NULL: nothing watches it. NULL: there are too
 * many.
 */
static const struct exec_observer *observe_beside(struct profile_device *d, struct watch_tee *tee,
						  const struct exec_observer *other)
{
	watch_tee_init(tee);
	if ((!other || watch_tee_add(tee, other)) &&
	    (!d->has_caches || watch_tee_add(tee, &d->caches.observer)) &&
	    watch_tee_add(tee, &d->counts) &&
	    (!d->of->has_variables || watch_tee_add(tee, &d->shared)))
		return &tee->observer;
	return NULL;
}

static void collect_code_of(const struct exec_env *e, struct watch_code *out)
{
	struct device_look look;

	device_look_at(e, &look);
	if (look.code)
		*out = (struct watch_code){look.code->bytes, look.code->constant_loads,
					   look.code->registers, look.resident, NULL};
	out->window = window_of(e);
}

static struct cache_places *collect_places_of(void *user, const struct exec_env *e)
{
	const struct profile_device *d = user;
	const struct collect_launch *l = launch_of(user, e->grid_id);
	bool tells = l && l->tells_pages;

	return tells || d->of->has_variables ? profile_variables_begin(e, tells) : NULL;
}

/* false, with a line in `why`. */
static bool collect_observe(struct profile_device *d, struct text *why)
{
	struct profile_collect *c = d->of;
	struct device *dev = d->dev;
	const struct exec_observer *all, *apart, *rest;

	d->has_caches = c->caches != CACHES_OFF &&
			watch_caches_init(&d->caches, dev->arch, c->caches == CACHES_WARM);
	if (c->caches != CACHES_OFF && !d->has_caches) {
		text_puts(why, "no memory left");
		return false;
	}
	if (d->has_caches) {
		watch_caches_share(&d->caches, sched_workers(dev->pool));
		d->caches.ended = caches_ended;
		d->caches.counts_code = c->caches == CACHES_COLD;
		d->caches.ended_user = d;
		d->caches.code_of = collect_code_of;
		d->caches.places_of = collect_places_of;
	}
	all = observe_beside(d, &d->tee, dev->observer);
	apart = observe_beside(d, &d->tee_apart, dev->observer_apart);
	rest = observe_beside(d, &d->tee_rest, dev->observer_rest);
	if (!all || !apart || !rest) {
		text_puts(why, "too many tools watch its launches");
		return false;
	}
	dev->counts |= LOWER_COUNT_INSNS | (d->has_caches ? LOWER_CACHE_HINTS : LOWER_COUNT_NONE);
	dev->counted.has = collect_chooses;
	dev->counted.tag = collect_ranges_here;
	dev->counted.user = c;
	dev->counted.observer = all;
	dev->counted.apart = apart;
	dev->counted.rest = rest;
	d->on_program = dev->on_program;
	d->on_program_user = dev->on_program_user;
	dev->reads_code = true;
	dev->on_program = collect_forget_program;
	dev->on_program_user = d;
	return true;
}

struct profile_device *profile_device_open(struct profile_collect *c, struct device *dev)
{
	static u64 serials;
	struct profile_device *d = calloc(1, sizeof(*d));
	struct text why = {0};

	if (d) {
		*d = (struct profile_device){
			.of = c,
			.dev = dev,
			.serial = __atomic_add_fetch(&serials, 1, __ATOMIC_RELAXED),
			.counts = {.user = d,
				   .launch_end = launch_end,
				   .counted = collect_counted,
				   .fuses = true,
				   .access = collect_count_access,
				   .alike = collect_count_access,
				   .texture = collect_count_texture,
				   .narrow = narrow_launch},
			/* Behind the counts, which know the launch by then. */
			.shared = {.user = d,
				   .access = collect_count_shared,
				   .each = 1u << MEM_SHARED | 1u << MEM_GLOBAL | 1u << MEM_GENERIC,
				   .fuses = true},
		};
		pthread_mutex_init(&d->lock, NULL);
		profile_links_say_memory(c->links, dev->mem.system);
		if (collect_observe(d, &why))
			return d;
		profile_device_close(d);
	}
	fprintf(stderr, "ptxloom: error: launches of device %u are not profiled: %s\n", dev->number,
		why.at ? why.at : "no memory left");
	text_fini(&why);
	return NULL;
}

void profile_device_set_aside(struct profile_device *d, u64 bytes)
{
	__atomic_store_n(&d->caches.set_aside, bytes, __ATOMIC_RELAXED);
}

bool profile_device_keeps_lines(const struct profile_device *d)
{
	return d && d->of->caches == CACHES_WARM;
}

void profile_device_reset_persisting(struct profile_device *d)
{
	watch_caches_make_normal(&d->caches);
}

void profile_device_close(struct profile_device *d)
{
	if (!d)
		return;
	if (d->has_caches)
		watch_caches_fini(&d->caches);
	map_fini(&d->launches);
	pthread_mutex_destroy(&d->lock);
	free(d);
}

/* ---- the process ---- */

/* The path with the number of the process for %p. */
static char *path_of(const char *pattern)
{
	struct text t = {0};

	for (; *pattern; pattern++)
		if (pattern[0] == '%' && pattern[1] == 'p') {
			text_printf(&t, "%ld", (long)getpid());
			pattern++;
		} else {
			text_add(&t, pattern, 1);
		}
	return t.at;
}

static void write_process(struct profile_collect *c)
{
	char name[4096];
	ssize_t n = readlink("/proc/self/exe", name, sizeof(name) - 1);
	struct profile_process p = {.pid = (u64)getpid(), .name = name};
	struct text t = {0};

	name[n > 0 ? n : 0] = 0;
	profile_process_write(&p, &t);
	if (!t.failed)
		fwrite(t.at, 1, t.len, c->to);
	fflush(c->to);
	text_fini(&t);
}

struct profile_collect *profile_open(struct text *why)
{
	const char *path = setting_text(SETTING_PROFILE);
	struct profile_collect *c = path ? calloc(1, sizeof(*c)) : NULL;

	if (!c)
		return NULL;
	c->path = path_of(path);
	/* A process that becomes another one keeps its number. */
	c->to = c->path ? fopen(c->path, "ae") : NULL;
	if (!c->to) {
		text_printf(why, "%s: %s", path, strerror(errno));
	} else if (profile_choice_read(&c->choice, why)) {
		c->ranges = profile_ranges_new((enum profile_switch)setting_number(
			SETTING_PROFILE_FROM_START, SWITCHED_ON));
		c->caches =
			(enum collect_caches)setting_number(SETTING_PROFILE_CACHES, CACHES_COLD);
		c->has_variables = setting_number(SETTING_PROFILE_VARIABLES, 0) != 0;
		pthread_mutex_init(&c->lock, NULL);
		demangle_prepare();
		c->links = profile_links_new();
		c->managed = c->caches == CACHES_OFF ? NULL : managed_new();
		write_process(c);
		return c;
	}
	profile_choice_fini(&c->choice);
	if (c->to)
		fclose(c->to);
	free(c->path);
	free(c);
	return NULL;
}

void profile_tell(struct profile_collect *c,
		  void (*tell)(void *user, const struct profile_launch *l), void *user)
{
	c->tell = tell;
	c->user = user;
}

struct profile_collect *
profile_open_told(bool caches, void (*tell)(void *user, const struct profile_launch *l), void *user)
{
	struct profile_collect *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->caches = caches ? CACHES_COLD : CACHES_OFF;
	profile_tell(c, tell, user);
	pthread_mutex_init(&c->lock, NULL);
	demangle_prepare();
	return c;
}

const char profile_why_not_debugged[] =
	"launches are profiled, or debugged, not at once: a debugger repeats what it has run when it "
	"goes back, and stops between instructions; its `info counters` counts moves, and `info cache` "
	"explains the caches";

bool profile_has_variables(const struct profile_collect *c)
{
	return c && c->has_variables;
}

void profile_say_origin(struct profile_collect *c, void (*origin)(u64 base, struct text *out))
{
	c->origin = origin;
}

bool profile_needs_order(const struct profile_collect *c)
{
	return c && c->caches == CACHES_WARM;
}

void profile_close(struct profile_collect *c)
{
	struct profile_process process = {0};
	struct text end = {0};
	bool ok;

	if (!c)
		return;
	c->is_short |= !profile_links_copies(c->links, &process) ||
		       !profile_migrations_sum(c->managed, &process);
	profile_end_write(&process, c->launches, &end);
	VEC_FREE(&process.copies);
	profile_migrations_forget(&process);
	ok = !c->to || (end.at && fwrite(end.at, 1, end.len, c->to) == end.len && !ferror(c->to));
	text_fini(&end);
	if ((c->to && fclose(c->to)) || !ok)
		fprintf(stderr, "ptxloom: error: %s: the profile could not be written: %s\n",
			c->path, strerror(errno));
	if (c->is_short)
		fputs("ptxloom: error: a launch was not profiled: no memory left\n", stderr);
	for (size_t i = 0; i < c->rows.cap; i++)
		if (c->rows.slots[i].key)
			profile_rows_free((struct profile_rows *)(uintptr_t)c->rows.slots[i].value);
	map_fini(&c->rows);
	map_fini(&c->written);
	profile_choice_fini(&c->choice);
	profile_ranges_free(c->ranges);
	profile_links_free(c->links);
	managed_free(c->managed);
	pthread_mutex_destroy(&c->lock);
	free(c->path);
	free(c);
}
