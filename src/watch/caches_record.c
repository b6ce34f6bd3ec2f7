/*
 * Playing launches through the caches of a device: recording what their CTAs ask.
 */
#include "src/base/l2_policy.h"
#include "src/exec/lane_access.h"
#include "src/watch/caches_int.h"
#include "src/watch/texture.h"

/* Bits of an address that a trace has room for. */
#define ADDRESS_MASK (((u64)1 << 47) - 1)
/* Above all device addresses: where local memory lies, in lines. */
#define LOCAL_LINES ((u64)1 << 39)

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

struct caches_launch *watch_caches_launch(struct watch_caches *c, u64 grid_id)
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

struct cache_trace *watch_caches_trace(struct watch_caches *c, const struct cta *cta,
				       struct caches_launch **launch)
{
	struct caches_launch *l;
	u64 *slot;

	if (PL_UNLIKELY(seen.owner != c->serial || seen.grid_id != cta->env->grid_id ||
			seen.number != cta->number)) {
		l = watch_caches_launch(c, cta->env->grid_id);
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

void watch_caches_see(struct caches_launch *l, const struct cta *cta, struct cache_trace *t)
{
	seen = (struct seen_cta){l->owner->serial, cta->env->grid_id, cta->number, l, t};
}

void watch_caches_forget(void)
{
	seen.owner = 0;
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
							: (u8)(L2_PEER + owner->index);
	return seen_far.aperture;
}

/* Addresses from the start of the device's memory, which lies elsewhere in every process. */
static u64 place_in(const struct mem *mem, u64 address)
{
	return (address - (u64)(uintptr_t)mem->arena) & ADDRESS_MASK;
}

static u64 place(const struct exec_access *a, u32 lane)
{
	return place_in(a->cta->env->mem, a->address[lane]);
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

/* ---- what instructions say ---- */

/* The policy that the worker saw last. */
static _Thread_local struct {
	u64 owner, grid_id, policy;
	u8 number;
} seen_hint;

static u8 hint_number(struct caches_launch *l, u64 grid_id, u64 policy)
{
	if (seen_hint.owner == l->owner->serial && seen_hint.grid_id == grid_id &&
	    seen_hint.policy == policy)
		return seen_hint.number;
	pthread_mutex_lock(&l->lock);
	seen_hint.number = (u8)l2_hint_number(&l->hints, policy);
	pthread_mutex_unlock(&l->lock);
	seen_hint.owner = l->owner->serial;
	seen_hint.grid_id = grid_id;
	seen_hint.policy = policy;
	return seen_hint.number;
}

static u64 insn_number(const struct uop *in)
{
	return (u64)in->func << 32 | (in->ir + 1);
}

/* The policy of an access that was given one. */
static void take_hint(const struct caches_launch *l, const struct cache_trace *t, u32 warp,
		      const struct uop *in, struct watch_policy *p)
{
	u8 hint = cache_trace_hint_of(t, warp, insn_number(in));
	u64 policy = hint ? l->hints.policy[hint - 1] : 0;

	p->policy.hint = hint;
	if (policy & L2_POLICY_NOT_IN_FIRST)
		p->policy.keep = L1_KEEP_NOTHING;
	if (policy & L2_POLICY_FETCH_256)
		p->policy.fetch_sectors = 256 / CACHE_SECTOR_BYTES;
}

static void add_bulk_lines(struct cache_trace *t, u32 warp, struct cache_shape *s, u64 at,
			   u64 bytes)
{
	for (u64 n; bytes; at += n, bytes -= n) {
		n = min_u64(bytes, CACHE_LINE_BYTES - at % CACHE_LINE_BYTES);
		add_bulk(t, warp, s, at, (u32)n);
	}
}

/* Lanes of a warp that name lines: the sectors that they name count together. */
static void add_prefetch(struct cache_trace *t, const struct exec_hint *h, struct cache_shape *s)
{
	struct mem *mem = h->cta->env->mem;
	u64 address[WARP_LANES] = {0};
	u32 mask = 0;

	for (u32 m = h->mask; m; m &= m - 1) {
		u32 lane = (u32)__builtin_ctz(m);

		if (aperture_of(mem, h->value[lane]) != L2_DEVICE)
			continue;
		address[lane] = place_in(mem, h->value[lane]);
		mask |= 1u << lane;
	}
	if (!mask)
		return;
	cache_shape_global(s, address, mask, 1, false);
	cache_trace_add(t, h->warp, s);
}

/* Lines of lanes, one after the other. */
static void add_told(struct cache_trace *t, const struct exec_hint *h, struct cache_shape *s)
{
	struct mem *mem = h->cta->env->mem;

	for (u32 m = h->mask; m; m &= m - 1) {
		u32 lane = (u32)__builtin_ctz(m);
		u64 at = place_in(mem, h->value[lane]);

		if (aperture_of(mem, h->value[lane]) != L2_DEVICE)
			continue;
		if (!h->bytes)
			at &= ~(u64)(CACHE_LINE_BYTES - 1);
		add_bulk_lines(t, h->warp, s, at, h->bytes ? h->bytes[lane] : CACHE_LINE_BYTES);
	}
}

void watch_caches_hint(void *user, const struct exec_hint *h)
{
	static const u8 kinds[] = {[HINT_NORMAL] = CACHE_NORMAL,
				   [HINT_DISCARD] = CACHE_DISCARD,
				   [HINT_PREFETCH] = CACHE_PREFETCH,
				   [HINT_BULK_PREFETCH] = CACHE_BULK_PREFETCH};
	struct caches_launch *l;
	struct cache_trace *t = watch_caches_trace(user, h->cta, &l);
	struct watch_policy p;
	struct cache_shape s;

	if (!t)
		return;
	if (h->kind == HINT_POLICY) {
		u64 policy = h->value[__builtin_ctz(h->mask)];

		cache_trace_hint(t, h->warp, insn_number(h->in),
				 hint_number(l, h->cta->env->grid_id, policy));
		return;
	}
	p = *policy_of(l, h->in, h->pc);
	if (p.takes_hint)
		take_hint(l, t, h->warp, h->in, &p);
	s.pc = h->pc;
	s.kind = kinds[h->kind];
	s.policy = p.policy;
	if (h->kind == HINT_PREFETCH)
		add_prefetch(t, h, &s);
	else
		add_told(t, h, &s);
}

void watch_caches_access(void *user, const struct exec_access *a)
{
	struct caches_launch *l;
	struct cache_trace *t = watch_caches_trace(user, a->cta, &l);
	const struct watch_policy *p;
	struct watch_policy hinted;
	struct cache_shape s;
	u64 pattern = a->pattern;
	u8 aperture = L2_DEVICE;

	if (!t || (a->space != MEM_GLOBAL && a->space != MEM_LOCAL))
		return;
	if (a->space == MEM_GLOBAL)
		aperture = aperture_of(a->cta->env->mem, a->address[__builtin_ctz(a->mask)]);
	p = policy_of(l, a->in, a->pc);
	if (PL_UNLIKELY(p->takes_hint)) {
		hinted = *p;
		take_hint(l, t, a->warp, a->in, &hinted);
		p = &hinted;
		pattern ^= pattern ? (u64)hinted.policy.hint << 56 : 0;
	}
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
	} else if (!cache_trace_again(t, a->warp, pattern, first_line_of(l, a, p))) {
		if (!shape_of(l, a, p, aperture, &s))
			return;
		cache_trace_add_pattern(t, a->warp, pattern, &s);
	}
	if (p->is_acquire)
		add_mark(t, a->warp, a->pc, CACHE_FLUSH);
}

void watch_caches_texture(void *user, const struct exec_texture *x)
{
	struct caches_launch *l;
	struct cache_trace *t = watch_caches_trace(user, x->cta, &l);
	struct cache_shape s;

	if (t && watch_texture_shape(x, (u64)(uintptr_t)x->cta->env->mem->arena, &s))
		cache_trace_add(t, x->warp, &s);
}

void watch_caches_sync(void *user, const struct exec_sync *s)
{
	struct caches_launch *l;
	struct cache_trace *t = watch_caches_trace(user, s->cta, &l);
	const struct isa_form *form;

	if (!t)
		return;
	form = exec_form(l->program, s->in);
	if (s->op == OP_bar_sync || s->op == OP_bar_red)
		add_mark(t, s->warp, s->pc, CACHE_BARRIER);
	else if (s->op == OP_fence && form && !isa_form_has(form, M_cta))
		add_mark(t, s->warp, s->pc, CACHE_FLUSH);
}
