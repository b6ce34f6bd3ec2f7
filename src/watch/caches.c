/*
 * Playing launches through the caches of a device: recording CTAs, and playing those that are
 * resident at once when all of them have ended.
 */
#include "src/watch/caches.h"
#include "src/exec/lane_access.h"
#include "src/watch/code_size.h"
#include "src/watch/policy.h"
#include "src/watch/texture.h"

#include <stdlib.h>

/* Bits of an address that a trace has room for. */
#define ADDRESS_MASK (((u64)1 << 47) - 1)
/* Bytes of traces from which on they go to a file. */
#define SPILL_FROM ((u64)256 << 20)
/* Above all device addresses: where local memory lies, in lines. */
#define LOCAL_LINES ((u64)1 << 39)

/* Of a thread, where there is no machine code. */
#define REGISTERS_UNKNOWN 32u
struct caches_launch {
	const struct program *program;
	struct watch_caches *owner;
	pthread_mutex_t lock;
	struct cache_rules rules;
	struct code_size code; /* of machine code, or an estimate */
	u64 smem_bytes;        /* what an SM's shared memory is set to */
	u64 ctas, resident;    /* of the grid; on an SM */
	u64 round, ended;      /* the one that is recorded, and how many of its CTAs have ended */
	u32 warps;             /* of a CTA */
	struct cache_sm *sm;
	bool is_cut;
	struct map traces; /* by CTA + 1 */
	struct map shapes; /* by what runs a CTA (struct cta), which runs one at a time */
	VEC(struct cache_trace *) spare; /* to be used again */
	struct watch_policy *insn;       /* by micro-op */
	struct cache_insn *told;         /* by micro-op, with watch_caches.ended; else NULL */
	struct l2 *l2;                   /* the observer's, or `own` */
	struct l2 own;  /* for a launch that runs beside others, when all begin cold */
	bool is_shared; /* without memory: the second cache of another launch */
	struct l2_counts l2_counts;
	struct l2_window window;
	struct cache_places *places; /* NULL: none are counted */
};

/* ---- what instructions ask ---- */

/* The first worker to find it writes it: others may read it from then on. */
static const struct watch_policy *policy_of(struct caches_launch *l, const struct uop *in, u32 pc)
{
	const struct isa_form *form;
	struct watch_policy found = {.policy = {.class = L2_NORMAL}};

	if (__atomic_load_n(&l->insn[pc].is_known, __ATOMIC_ACQUIRE))
		return &l->insn[pc];
	form = exec_form(l->program, in);
	if (form)
		watch_policy_find(form, l->rules.loads_pass, &found);
	pthread_mutex_lock(&l->lock);
	if (!l->insn[pc].is_known) {
		l->insn[pc] = found;
		__atomic_store_n(&l->insn[pc].is_known, true, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&l->lock);
	return &l->insn[pc];
}

/* ---- recording ---- */

static struct caches_launch *caches_launch_of(struct watch_caches *c, u64 grid_id)
{
	u64 *slot;

	pthread_mutex_lock(&c->lock);
	slot = map_get(&c->launches, grid_id + 1);
	pthread_mutex_unlock(&c->lock);
	return slot ? (struct caches_launch *)(uintptr_t)*slot : NULL;
}

/* A worker mostly sees the CTA that it saw last. */
struct seen_cta {
	u64 owner, grid_id, number;
	struct caches_launch *launch;
	struct cache_trace *trace;
};

static _Thread_local struct seen_cta seen;

/* The CTA's trace, NULL if there is none; its launch in *launch. */
static struct cache_trace *trace_of(struct watch_caches *c, const struct cta *cta,
				    struct caches_launch **launch)
{
	struct caches_launch *l;
	u64 *slot;

	if (PL_UNLIKELY(seen.owner != c->serial || seen.grid_id != cta->env->grid_id ||
			seen.number != cta->number)) {
		l = caches_launch_of(c, cta->env->grid_id);
		if (!l)
			return NULL;
		pthread_mutex_lock(&l->lock);
		slot = map_get(&l->traces, cta->number + 1);
		seen = (struct seen_cta){c->serial, cta->env->grid_id, cta->number, l,
					 slot ? (struct cache_trace *)(uintptr_t)*slot : NULL};
		pthread_mutex_unlock(&l->lock);
	}
	*launch = seen.launch;
	return seen.trace;
}

/* Lines of the warp's local memory: CTAs that follow each other on an SM have the same. */
static u64 local_base(const struct caches_launch *l, const struct cta *c, u32 warp)
{
	u64 sm = c->number % l->rules.sms, place = c->number / l->rules.sms % l->resident;
	u64 lines =
		((u64)c->env->local_bytes * WARP_LANES + CACHE_LINE_BYTES - 1) / CACHE_LINE_BYTES;

	return LOCAL_LINES + ((sm * l->resident + place) * c->warps + warp) * lines;
}

static const u8 global_kinds[] = {
	[ACCESS_LOAD] = CACHE_LOAD, [ACCESS_STORE] = CACHE_STORE,    [ACCESS_ATOM] = CACHE_ATOM,
	[ACCESS_RED] = CACHE_RED,   [ACCESS_COPY_READ] = CACHE_COPY,
};

/* The allocation beyond the device's own memory that the worker saw last. */
static _Thread_local struct {
	const struct mem *of;
	u32 epoch;
	u64 base, size;
	u8 aperture;
} seen_far;

/*
 * Whose memory it is. Lanes of one access are taken to go to one memory; managed memory and
 * mappings are the device's own, as pages are that it has touched.
 */
static u8 aperture_of(struct mem *m, u64 address)
{
	u32 epoch = __atomic_load_n(&m->epoch, __ATOMIC_RELAXED);
	struct mem *owner = NULL;
	struct mem_range r;

	if (PL_LIKELY(mem_in_arena(m, address)) || !m->system)
		return L2_DEVICE;
	if (seen_far.of == m && seen_far.epoch == epoch && address - seen_far.base < seen_far.size)
		return seen_far.aperture;
	if (!mem_system_find(m->system, address, 1, &r, &owner))
		return L2_DEVICE;
	seen_far.of = m;
	seen_far.epoch = epoch;
	seen_far.base = r.base;
	seen_far.size = r.size;
	seen_far.aperture = owner == &m->system->host
				    ? r.kind == MEM_KIND_MANAGED ? L2_DEVICE : L2_SYSTEM
			    : owner == &m->system->maps ? L2_DEVICE
							: L2_PEER;
	return seen_far.aperture;
}

/* Addresses from the start of the device's memory, which lies elsewhere in every process. */
static u64 place(const struct exec_access *a, u32 lane)
{
	return (a->address[lane] - (u64)(uintptr_t)a->cta->env->mem->arena) & ADDRESS_MASK;
}

/* The line of a shape's first piece. */
static u64 first_line_of(const struct caches_launch *l, const struct exec_access *a,
			 const struct watch_policy *p)
{
	u32 lane = (u32)__builtin_ctz(a->mask);

	if (a->space == MEM_LOCAL)
		return local_base(l, a->cta, a->warp) +
		       a->address[lane] / (CACHE_LINE_BYTES / WARP_LANES);
	return place(a, lane) / (p->is_constant ? CONSTANT_LINE_BYTES : CACHE_LINE_BYTES);
}

/* Fills the shape; false: the caches do not see the access. */
static bool shape_of(struct caches_launch *l, const struct exec_access *a,
		     const struct watch_policy *p, u8 aperture, struct cache_shape *s)
{
	u32 width = (u32)a->size * a->count;
	u64 address[WARP_LANES];

	s->pc = a->pc;
	s->policy = p->policy;
	s->policy.aperture = aperture;
	if (a->space == MEM_LOCAL) {
		s->kind = a->kind == ACCESS_STORE ? CACHE_LOCAL_STORE : CACHE_LOCAL_LOAD;
		cache_shape_local(s, a->address, a->mask, width, local_base(l, a->cta, a->warp));
		return true;
	}
	if (a->space != MEM_GLOBAL || a->kind >= ARRAY_LEN(global_kinds))
		return false;
	for (u32 i = 0; i < WARP_LANES; i++)
		address[i] = place(a, i);
	if (p->is_constant) {
		s->kind = CACHE_CONSTANT;
		cache_shape_constant(s, address, a->mask);
		return true;
	}
	s->kind = a->bypass ? CACHE_COPY_PAST : global_kinds[a->kind];
	if (a->bypass && a->other)
		cache_shape_copy_past(s, address, a->other, a->mask);
	else
		cache_shape_global(s, address, a->mask, width, p->is_cas);
	return true;
}

static void add_mark(struct cache_trace *t, u32 warp, u32 pc, u8 kind)
{
	struct cache_shape s;

	s.first_line = 0;
	s.pc = pc;
	s.kind = kind;
	s.policy = (struct cache_policy){0};
	s.pieces = 0;
	s.lines = s.sets = s.sectors = 0;
	cache_trace_add(t, warp, &s);
}

/* Bytes that a bulk copy moves at a time. */
#define BULK_BYTES 128u

static void add_bulk(struct cache_trace *t, u32 warp, struct cache_shape *s, u64 address, u32 bytes)
{
	if (!bytes)
		return;
	cache_shape_global(s, &address, 1, bytes, false);
	cache_trace_add(t, warp, s);
}

/* By 128 bytes of the destination: the sectors that are not whole go by themselves. */
static void add_bulk_pieces(struct cache_trace *t, u32 warp, struct cache_shape *s, u64 address,
			    u64 bytes)
{
	while (bytes) {
		u32 n = (u32)min_u64(bytes, BULK_BYTES);
		u32 head = (u32)(-address % CACHE_SECTOR_BYTES), body;

		head = head < n ? head : n;
		body = (n - head) / CACHE_SECTOR_BYTES * CACHE_SECTOR_BYTES;
		add_bulk(t, warp, s, address, head);
		/* A piece lies in one line. */
		for (u32 done = 0, part; done < body; done += part) {
			u64 at = address + head + done;

			part = (u32)min_u64(body - done, CACHE_LINE_BYTES - at % CACHE_LINE_BYTES);
			add_bulk(t, warp, s, at, part);
		}
		add_bulk(t, warp, s, address + head + body, n - head - body);
		address += n;
		bytes -= n;
	}
}

static u8 bulk_kind(const struct exec_access *a)
{
	return a->kind == ACCESS_COPY_READ    ? CACHE_BULK_LOAD
	       : a->kind == ACCESS_COPY_WRITE ? CACHE_BULK_STORE
	       : a->kind == ACCESS_RED        ? CACHE_BULK_RED
					      : CACHE_KINDS;
}

/* Accesses that have no width of a lane. */
static void caches_extra(struct cache_trace *t, const struct exec_access *a,
			 const struct watch_policy *p)
{
	u64 address[WARP_LANES];
	struct cache_shape s;

	if (a->space != MEM_GLOBAL || p->is_surface)
		return;
	for (u32 i = 0; i < WARP_LANES; i++)
		address[i] = place(a, i);
	s.pc = a->pc;
	s.policy = p->policy;
	s.kind = bulk_kind(a);
	if (s.kind != CACHE_KINDS) {
		add_bulk_pieces(t, a->warp, &s, address[__builtin_ctz(a->mask)], a->bytes);
	} else if (p->is_fragment && a->bytes <= CACHE_SECTOR_BYTES) {
		s.kind = a->kind == ACCESS_STORE ? CACHE_STORE : CACHE_LOAD;
		cache_shape_global(&s, address, a->mask, (u32)a->bytes, false);
		cache_trace_add(t, a->warp, &s);
	}
}

static void caches_access(void *user, const struct exec_access *a)
{
	struct caches_launch *l;
	struct cache_trace *t = trace_of(user, a->cta, &l);
	const struct watch_policy *p;
	struct cache_shape s;
	u8 aperture = L2_DEVICE;

	if (!t || (a->space != MEM_GLOBAL && a->space != MEM_LOCAL))
		return;
	if (a->space == MEM_GLOBAL)
		aperture = aperture_of(a->cta->env->mem, a->address[__builtin_ctz(a->mask)]);
	p = policy_of(l, a->in, a->pc);
	/* The caches of textures are none of the model's. */
	if (a->in->inner == OP_tex)
		return;
	if (a->extra) {
		caches_extra(t, a, p);
		return;
	}
	if (aperture != L2_DEVICE) {
		if (shape_of(l, a, p, aperture, &s))
			cache_trace_add(t, a->warp, &s);
	} else if (!cache_trace_again(t, a->warp, a->pattern, first_line_of(l, a, p))) {
		if (!shape_of(l, a, p, aperture, &s))
			return;
		cache_trace_add_pattern(t, a->warp, a->pattern, &s);
	}
	if (p->is_acquire)
		add_mark(t, a->warp, a->pc, CACHE_FLUSH);
}

static void caches_texture(void *user, const struct exec_texture *x)
{
	struct caches_launch *l;
	struct cache_trace *t = trace_of(user, x->cta, &l);
	struct cache_shape s;

	if (t && watch_texture_shape(x, (u64)(uintptr_t)x->cta->env->mem->arena, &s))
		cache_trace_add(t, x->warp, &s);
}

static void caches_sync(void *user, const struct exec_sync *s)
{
	struct caches_launch *l;
	struct cache_trace *t = trace_of(user, s->cta, &l);
	const struct isa_form *form;

	if (!t)
		return;
	form = exec_form(l->program, s->in);
	if (s->op == OP_bar_sync || s->op == OP_bar_red)
		add_mark(t, s->warp, s->pc, CACHE_BARRIER);
	else if (s->op == OP_fence && form && !isa_form_has(form, M_cta))
		add_mark(t, s->warp, s->pc, CACHE_FLUSH);
}

/* ---- playing ---- */

static u64 round_first(const struct caches_launch *l, u64 round)
{
	return round * l->resident * l->rules.sms;
}

static u64 round_len(const struct caches_launch *l)
{
	u64 first = round_first(l, l->round), len = l->resident * l->rules.sms;

	return first >= l->ctas ? 0 : min_u64(len, l->ctas - first);
}

/* An SM has no caches before its first CTA. */
static bool sm_begin(struct caches_launch *l, struct cache_sm *sm)
{
	if (sm->l1.index)
		return true;
	if (!cache_sm_init(sm, &l->rules.l1))
		return false;
	cache_sm_begin(sm);
	sm->places = l->places;
	return true;
}

/* Shared memory of an SM while Nsight Compute flushes the caches. */
#define FLUSH_SMEM_BYTES ((u64)32 << 10)

/*
 * Launches that begin cold are those of a profiler, which repeats them: local memory is still there
 * from the time before, but on the SM where it flushed the caches, if that took another part of the
 * storage for shared memory.
 */
static bool finds_local(const struct caches_launch *l, u32 sm)
{
	return l->owner->counts_code && (sm || l->smem_bytes == FLUSH_SMEM_BYTES);
}

/* Take the traces of an SM in the launch's round, and start them. */
static u32 start_sm(struct caches_launch *l, u32 sm, struct cache_trace **t)
{
	u32 len = 0;

	for (u64 q = 0; q < l->resident; q++) {
		u64 cta = round_first(l, l->round) + q * l->rules.sms + sm;
		u64 *slot = cta < l->ctas ? map_get(&l->traces, cta + 1) : NULL;

		if (!slot)
			continue;
		t[len++] = (struct cache_trace *)(uintptr_t)*slot;
		map_remove(&l->traces, cta + 1);
	}
	if (!len)
		return 0;
	if (!sm_begin(l, &l->sm[sm])) {
		l->sm[sm].is_cut = true;
		return len;
	}
	if (!l->round && finds_local(l, sm))
		cache_leave_local(&l->sm[sm], t, len);
	cache_sm_start(&l->sm[sm], t, len);
	return len;
}

static void play_launch_round(struct caches_launch *l)
{
	struct watch_caches *c = l->owner;
	u32 sms = (u32)min_u64(l->rules.sms, round_len(l)), len = 0;
	struct cache_trace **t = malloc(round_len(l) * sizeof(struct cache_trace *));

	for (u32 i = 0; t && i < sms; i++)
		len += start_sm(l, i, t + len);
	l->is_cut |= !t;
	pthread_mutex_lock(&c->second);
	l->l2->count = l->l2_counts;
	l->l2->rules.fetch_bytes = l->rules.l2.fetch_bytes;
	l->l2->window = l->window;
	l2_set_aside(l->l2, __atomic_load_n(&c->set_aside, __ATOMIC_RELAXED));
	cache_place_sms(l->sm, l->rules.sms, l->ctas, l->rules.l2.partitions);
	cache_play_round(l->l2, l->sm, sms, l->told);
	l->l2_counts = l->l2->count;
	pthread_mutex_unlock(&c->second);
	for (u32 i = 0; i < len; i++) {
		cache_trace_clear(t[i]);
		if (!VEC_PUSH(&l->spare, t[i]))
			cache_trace_free(t[i]);
	}
	free(t);
	l->round++;
}

/* ---- launches and CTAs ---- */

/* The launch is known from its first CTA on; with the lock held. */
static bool launch_ready(struct caches_launch *l, const struct cta *cta)
{
	const struct exec_env *e = cta->env;
	const struct arch *a = l->owner->arch;
	struct arch_use use = {.threads_per_cta = cta->threads,
			       .registers_per_thread = REGISTERS_UNKNOWN,
			       .smem_bytes = e->shared_bytes,
			       .carveout_percent = e->carveout_percent};
	struct watch_code code = {0};
	u64 smem_bytes;

	if (l->sm)
		return true;
	if (l->owner->code_of)
		l->owner->code_of(e, &code);
	if (code.registers)
		use.registers_per_thread = code.registers;
	arch_smem_config(a, &use, &smem_bytes);
	l->smem_bytes = smem_bytes;
	cache_rules_of(a, smem_bytes, &l->rules);
	if (e->fetch_bytes)
		l->rules.l2.fetch_bytes = e->fetch_bytes;
	l->window = l2_window_of(code.window, (u64)(uintptr_t)e->mem->arena);
	l->ctas = (u64)e->grid[0] * e->grid[1] * e->grid[2];
	l->resident = max_u64(code.resident ? code.resident : e->resident, 1);
	l->warps = cta->warps;
	l->code = code.bytes ? (struct code_size){code.bytes, code.constant_loads}
			     : watch_code_size(l->program);
	l->insn = calloc(l->program->uops, sizeof(*l->insn));
	if (l->owner->ended)
		l->told = calloc(l->program->uops, sizeof(*l->told));
	l->sm = calloc(l->rules.sms, sizeof(*l->sm));
	if (l->insn && l->sm) {
		if (l->owner->places_of)
			l->places = l->owner->places_of(l->owner->ended_user, e);
		return true;
	}
	free(l->sm);
	free(l->insn);
	free(l->told);
	l->sm = NULL;
	l->insn = NULL;
	l->told = NULL;
	return false;
}

/* Of the CTAs that run in this one's place; with the lock held. */
static struct cache_shapes *shapes_of(struct caches_launch *l, const struct cta *cta)
{
	u64 *slot = map_get(&l->shapes, map_key(cta));
	struct cache_shapes *s;

	if (slot)
		return (struct cache_shapes *)(uintptr_t)*slot;
	s = malloc(sizeof(*s));
	if (s && cache_shapes_init(s) && map_set(&l->shapes, map_key(cta), map_key(s)))
		return s;
	if (s)
		cache_shapes_fini(s);
	free(s);
	return NULL;
}

static struct cache_trace *begin_trace(struct caches_launch *l, const struct cta *cta)
{
	struct cache_shapes *shapes = shapes_of(l, cta);
	struct cache_trace *t = NULL;

	if (!shapes)
		return NULL;
	if (!l->spare.len) {
		t = cache_trace_new(cta->number, cta->warps, shapes);
	} else {
		t = l->spare.at[--l->spare.len];
		cache_trace_renew(t, cta->number, shapes);
	}
	if (t)
		t->spill = &l->owner->spill;
	if (!t || map_set(&l->traces, cta->number + 1, map_key(t)))
		return t;
	cache_trace_free(t);
	return NULL;
}

static void caches_cta_begin(void *user, const struct cta *cta)
{
	struct caches_launch *l = caches_launch_of(user, cta->env->grid_id);
	struct cache_trace *t;

	if (!l)
		return;
	pthread_mutex_lock(&l->lock);
	t = launch_ready(l, cta) ? begin_trace(l, cta) : NULL;
	l->is_cut |= !t;
	pthread_mutex_unlock(&l->lock);
	seen = (struct seen_cta){l->owner->serial, cta->env->grid_id, cta->number, l, t};
}

/* CTAs of the round that have ended. */
static u64 count_over(const struct caches_launch *l)
{
	u64 n = 0;

	for (u64 i = 0; i < round_len(l); i++) {
		u64 *slot = map_get(&l->traces, round_first(l, l->round) + i + 1);

		n += slot && ((struct cache_trace *)(uintptr_t)*slot)->is_over;
	}
	return n;
}

static void caches_cta_end(void *user, const struct cta *cta)
{
	struct caches_launch *l;
	struct cache_trace *t = trace_of(user, cta, &l);

	seen.owner = 0;
	if (!t)
		return;
	pthread_mutex_lock(&l->lock);
	t->is_over = true;
	l->ended += cta->number / (l->resident * l->rules.sms) == l->round;
	while (round_len(l) && l->ended == round_len(l)) {
		play_launch_round(l);
		l->ended = count_over(l);
	}
	pthread_mutex_unlock(&l->lock);
}

/* Where all launches begin cold, those that run at a time have a second cache each. */
static void take_second(struct watch_caches *c, struct caches_launch *l)
{
	l->l2 = &c->l2;
	if (c->keeps_second)
		return;
	if (!c->l2_taken) {
		c->l2_taken = true;
		l2_reset(&c->l2);
	} else if (l2_init(&l->own, &c->l2.rules)) {
		l->l2 = &l->own;
	} else {
		l->is_cut = true;
		l->is_shared = true;
	}
}

static void give_second(struct watch_caches *c, struct caches_launch *l)
{
	if (l->l2 == &l->own)
		l2_fini(&l->own);
	else if (!l->is_shared)
		c->l2_taken = false;
}

static void caches_launch_begin(void *user, const struct program *p, u64 grid_id)
{
	struct watch_caches *c = user;
	struct caches_launch *l = calloc(1, sizeof(*l));

	pthread_mutex_lock(&c->lock);
	if (l && map_set(&c->launches, grid_id + 1, map_key(l))) {
		l->program = p;
		l->owner = c;
		pthread_mutex_init(&l->lock, NULL);
		take_second(c, l);
	} else {
		free(l);
		c->is_cut = true;
	}
	pthread_mutex_unlock(&c->lock);
}

/* What CTAs asked that a fault has kept from ending, too. */
static void play_rest(struct caches_launch *l)
{
	for (u64 i = 0; l->sm && l->traces.len && round_len(l); i++)
		play_launch_round(l);
}

static void free_records(struct caches_launch *l)
{
	for (size_t i = 0; i < l->traces.cap; i++)
		if (l->traces.slots[i].key)
			cache_trace_free((struct cache_trace *)(uintptr_t)l->traces.slots[i].value);
	for (size_t i = 0; i < l->spare.len; i++)
		cache_trace_free(l->spare.at[i]);
	for (size_t i = 0; i < l->shapes.cap; i++)
		if (l->shapes.slots[i].key) {
			struct cache_shapes *s =
				(struct cache_shapes *)(uintptr_t)l->shapes.slots[i].value;

			cache_shapes_fini(s);
			free(s);
		}
	map_fini(&l->traces);
	map_fini(&l->shapes);
	VEC_FREE(&l->spare);
}

static void count_code(const struct caches_launch *l, struct cache_counts *n)
{
	const struct watch_parameters p = {
		.loads = l->code.constant_loads,
		.lines = (l->program->param_bytes + CONSTANT_LINE_BYTES - 1) / CONSTANT_LINE_BYTES,
		.sms = l->rules.sms,
		.warps = l->warps,
		.ctas = l->ctas,
		.resident = l->resident,
	};

	watch_parameter_requests(&p, &n->constant_hit, &n->constant_miss);
	if (!l->owner->counts_code)
		return;
	n->code_sectors =
		(u64)l->owner->arch->launch_code_sectors + watch_code_sectors(l->code.bytes);
	n->l2.dram_read += n->code_sectors;
	if (l->rules.l2.partitions > 1) {
		u64 more = watch_parameter_sectors(l->program->param_bytes);

		n->l2.fabric[L2_READ] += more;
		n->l2.fabric_hit[L2_READ] += more;
		n->l2.fabric_requests[L2_READ] += more / CACHE_SECTORS;
		n->l2.fabric_request_hit[L2_READ] += more / CACHE_SECTORS;
	}
}

static void caches_launch_end(void *user, const struct program *p, u64 grid_id)
{
	struct watch_caches *c = user;
	struct caches_launch *l = caches_launch_of(c, grid_id);
	struct cache_counts counts = {0};

	(void)p;
	if (!l)
		return;
	play_rest(l);
	counts.l2 = l->l2_counts;
	if (l->sm)
		count_code(l, &counts);
	for (u32 i = 0; l->sm && i < l->rules.sms; i++) {
		cache_counts_add(&counts, &l->sm[i].count);
		l->is_cut |= l->sm[i].is_cut;
	}
	pthread_mutex_lock(&c->lock);
	map_remove(&c->launches, grid_id + 1);
	c->is_cut |= l->is_cut;
	cache_counts_add(&c->counts, &counts);
	give_second(c, l);
	pthread_mutex_unlock(&c->lock);
	if (c->ended)
		c->ended(c->ended_user, grid_id, &counts, l->told, l->sm, l->places);
	for (u32 i = 0; l->sm && i < l->rules.sms; i++)
		cache_sm_fini(&l->sm[i]);
	free_records(l);
	pthread_mutex_destroy(&l->lock);
	free(l->sm);
	free(l->insn);
	free(l->told);
	free(l->places);
	free(l);
}

bool watch_caches_init(struct watch_caches *c, const struct arch *a, bool keeps_second)
{
	static u64 serials;
	struct cache_rules rules;

	cache_rules_of(a, 0, &rules);
	*c = (struct watch_caches){.arch = a,
				   .keeps_second = keeps_second,
				   .serial = __atomic_add_fetch(&serials, 1, __ATOMIC_RELAXED)};
	if (!l2_init(&c->l2, &rules.l2))
		return false;
	pthread_mutex_init(&c->lock, NULL);
	pthread_mutex_init(&c->second, NULL);
	cache_spill_init(&c->spill, SPILL_FROM);
	c->observer = (struct exec_observer){
		.user = c,
		.launch_begin = caches_launch_begin,
		.launch_end = caches_launch_end,
		.cta_begin = caches_cta_begin,
		.cta_end = caches_cta_end,
		.access = caches_access,
		.each = 1u << MEM_GLOBAL | 1u << MEM_LOCAL | 1u << MEM_GENERIC,
		.every = true,
		.texture = caches_texture,
		.fuses = true,
		.sync = caches_sync,
	};
	return true;
}

void watch_caches_make_normal(struct watch_caches *c)
{
	pthread_mutex_lock(&c->second);
	l2_make_normal(&c->l2);
	pthread_mutex_unlock(&c->second);
}

void watch_caches_fini(struct watch_caches *c)
{
	l2_fini(&c->l2);
	cache_spill_fini(&c->spill);
	map_fini(&c->launches);
	pthread_mutex_destroy(&c->lock);
	pthread_mutex_destroy(&c->second);
}
