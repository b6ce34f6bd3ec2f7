/*
 * What pieces of work touch, noted as they run and compared when they end.
 */
#include "src/check/order/between_int.h"
#include "src/check/race/race_int.h"
#include "src/dev/module/nested.h"
#include "src/uop/async.h"

#include <stdlib.h>

/* Pairs that are kept for one piece; more hide the first. */
#define RACES_MAX 64u

/* ---- pieces ---- */

static void piece_drop(struct between_piece *p)
{
	if (p->is_live) {
		trace_fini(&p->trace);
		trace_fini(&p->early);
		waits_fini(&p->waits);
		VEC_FREE(&p->programs);
	}
	*p = (struct between_piece){0};
}

static u64 grid_key(u32 device, u64 grid_id)
{
	return (u64)(device + 1) << 56 | (grid_id + 1);
}

static void between_begin(void *user, const struct order_piece *info)
{
	struct between *b = user;
	struct between_piece *p = &b->piece[info->slot];

	pthread_mutex_lock(&b->lock);
	piece_drop(p);
	p->is_live = true;
	p->info = *info;
	trace_init(&p->trace, 0);
	trace_init(&p->early, 0);
	for (u32 i = 0; i < ARRAY_LEN(info->soft.word); i++)
		p->is_soft |= info->soft.word[i] != 0;
	if (info->kernel)
		map_set(&b->grids, grid_key(info->dev->mem.index, info->grid_id), info->slot + 1);
	pthread_mutex_unlock(&b->lock);
}

/* ---- kernels of a piece ---- */

/* What its micro-ops are numbered from; added if it is not there yet. False: no memory. */
static bool piece_program(struct between_piece *p, const struct program *program, u32 *first)
{
	struct between_program added = {program, p->trace.pcs};

	for (size_t i = 0; i < p->programs.len; i++)
		if (p->programs.at[i].program == program) {
			*first = p->programs.at[i].first;
			return true;
		}
	trace_grow(&p->trace, program->uops);
	if (p->is_soft)
		trace_grow(&p->early, program->uops);
	if (p->trace.gave_up || p->early.gave_up || !VEC_PUSH(&p->programs, added))
		return false;
	*first = added.first;
	return true;
}

/* The program of a micro-op of a clash, which is then numbered as it is there. */
static const struct program *place_clash(const struct between_piece *p, u32 *pc)
{
	for (size_t i = p->programs.len; *pc != TRACE_NO_PC && i-- > 0;)
		if (*pc >= p->programs.at[i].first) {
			*pc -= p->programs.at[i].first;
			return p->programs.at[i].program;
		}
	return NULL;
}

/* ---- the host ---- */

static void arm_page(void *user, u64 address, u8 how)
{
	(void)user;
	host_guard_arm(address, how & TRACE_WRITES);
}

/* The host may not touch what this has touched, until it has waited for it. */
static void guard_piece(const struct between_piece *p)
{
	u64 first, end;

	if (!p->is_shared || !p->has_ended || p->is_known || p->publishes || !host_guard_works())
		return;
	for (u32 i = 0; host_guard_range(i, &first, &end); i++)
		trace_each_page(&p->trace, first, end, MEM_HOST_PAGE, arm_page, NULL);
}

/* Accesses of the host so far are kept, before what it has waited for changes. */
static void take_accesses(struct between *b)
{
	struct host_access a;

	while (host_guard_next(&a))
		for (u32 i = 0; i < ORDER_SLOTS; i++) {
			const struct between_piece *p = &b->piece[i];
			struct host_race r = {.access = a, .race.piece[1] = p->info};

			if (!p->has_ended || p->is_known || p->publishes ||
			    !trace_find(&p->trace, a.address, a.writes ? TRACE_WRITES : TRACE_READS,
					&r.race.clash))
				continue;
			r.race.program[1] = place_clash(p, &r.race.clash.pc[1]);
			(void)VEC_PUSH(&b->host_races, r);
		}
}

static void between_teach(void *user, const struct order_set *host)
{
	struct between *b = user;
	bool any = false;

	pthread_mutex_lock(&b->lock);
	take_accesses(b);
	for (u32 i = 0; i < ORDER_SLOTS; i++)
		if (b->piece[i].is_live && !b->piece[i].is_known && order_has(host, i)) {
			b->piece[i].is_known = true;
			any |= b->piece[i].is_shared;
		}
	if (any) {
		host_guard_disarm();
		for (u32 i = 0; i < ORDER_SLOTS; i++)
			guard_piece(&b->piece[i]);
	}
	pthread_mutex_unlock(&b->lock);
}

static void tell_host_races(struct between *b)
{
	host_races races;

	pthread_mutex_lock(&b->lock);
	take_accesses(b);
	memcpy(&races, &b->host_races, sizeof(races));
	memset(&b->host_races, 0, sizeof(b->host_races));
	pthread_mutex_unlock(&b->lock);
	for (size_t i = 0; i < races.len; i++)
		between_tell_host(b->found, &races.at[i]);
	VEC_FREE(&races);
}

void between_finish(struct between *b)
{
	if (b)
		tell_host_races(b);
}

static void between_forget(void *user)
{
	tell_host_races(user);
}

static void note_shared(struct between_piece *p)
{
	u64 first, end;

	p->is_shared = false;
	for (u32 i = 0; host_guard_range(i, &first, &end); i++)
		p->is_shared |= p->trace.first < end && p->trace.end > first;
}

static void between_drop(void *user, const struct order_set *slots)
{
	struct between *b = user;

	pthread_mutex_lock(&b->lock);
	take_accesses(b);
	for (u32 i = 0; i < ORDER_SLOTS; i++)
		if (order_has(slots, i))
			piece_drop(&b->piece[i]);
	pthread_mutex_unlock(&b->lock);
}

/* ---- comparing ---- */

struct comparing {
	const struct between_piece *now, *other;
	bool is_early; /* only what `now` touched before it waited */
	between_races *out;
};

static bool is_same_pair(const struct between_race *a, const struct between_race *b)
{
	return a->program[0] == b->program[0] && a->program[1] == b->program[1] &&
	       a->clash.pc[0] == b->clash.pc[0] && a->clash.pc[1] == b->clash.pc[1];
}

static void note_clash(void *user, const struct trace_clash *c)
{
	const struct comparing *x = user;
	struct between_race r = {
		.clash = *c, .piece = {x->now->info, x->other->info}, .is_early = x->is_early};

	r.program[0] = place_clash(x->now, &r.clash.pc[0]);
	r.program[1] = place_clash(x->other, &r.clash.pc[1]);
	for (size_t i = 0; i < x->out->len; i++) {
		struct between_race *old = &x->out->at[i];

		if (old->piece[1].slot != r.piece[1].slot || !is_same_pair(old, &r))
			continue;
		old->clash.address = min_u64(old->clash.address, c->address);
		return;
	}
	if (x->out->len < RACES_MAX)
		(void)VEC_PUSH(x->out, r);
}

/*
 * The host has seen what a kernel wrote while it ran, perhaps, and went on: later calls come behind
 * that.
 */
static bool is_published(const struct between_piece *first, const struct between_piece *second)
{
	return first->publishes && second->info.issued > first->info.begun;
}

/* Kernels that run at the same time may wait for each other, by flags in memory. */
static bool may_agree(const struct between_piece *a, const struct between_piece *b)
{
	return a->fences && b->fences && trace_meets(&a->trace, &b->trace);
}

static void compare_work(const struct between_piece *now, const struct between_piece *other,
			 bool is_early, between_races *out)
{
	struct comparing x = {now, other, is_early, out};
	size_t len = out->len;

	trace_compare(is_early ? &now->early : &now->trace, &other->trace, note_clash, &x);
	if (out->len > len &&
	    (is_published(now, other) || is_published(other, now) || may_agree(now, other)))
		out->len = len;
}

static int races_by_place(const void *a, const void *b)
{
	const struct between_race *x = a, *y = b;

	for (u32 i = 0; i < 2; i++)
		if (x->clash.pc[i] != y->clash.pc[i])
			return x->clash.pc[i] < y->clash.pc[i] ? -1 : 1;
	return x->piece[1].issued < y->piece[1].issued ? -1 : 1;
}

static void between_end(void *user, u32 slot, const struct order_set *before)
{
	struct between *b = user;
	struct between_piece *now = &b->piece[slot];
	between_races races = {0};

	pthread_mutex_lock(&b->lock);
	trace_close(&now->trace);
	if (now->info.kernel)
		map_remove(&b->grids, grid_key(now->info.dev->mem.index, now->info.grid_id));
	trace_close(&now->early);
	for (u32 i = 0; i < ORDER_SLOTS; i++) {
		const struct between_piece *other = &b->piece[i];

		if (i == slot || !other->has_ended)
			continue;
		if (!order_has(before, i))
			compare_work(now, other, false, &races);
		else if (order_has(&now->info.soft, i) && other->lets_go)
			compare_work(now, other, true, &races);
	}
	take_accesses(b);
	now->has_ended = true;
	note_shared(now);
	guard_piece(now);
	pthread_mutex_unlock(&b->lock);
	tell_host_races(b);
	if (races.len)
		qsort(races.at, races.len, sizeof(*races.at), races_by_place);
	for (size_t i = 0; i < races.len; i++)
		between_tell(b->found, &races.at[i]);
	VEC_FREE(&races);
}

/* ---- copies and fills ---- */

static void note_box(struct between_piece *p, u8 how, const struct memory_box *box, u64 width,
		     u64 height, u64 depth)
{
	if (!box->known)
		return;
	for (u64 z = 0; z < depth; z++)
		for (u64 y = 0; y < height; y++)
			trace_span(&p->trace, how, box->address + z * box->slice + y * box->pitch,
				   width);
}

/* The piece of work that this thread carries out, locked; NULL: none. */
static struct between_piece *lock_current(struct between *b)
{
	u32 slot = order_current();

	if (slot == ORDER_NONE)
		return NULL;
	pthread_mutex_lock(&b->lock);
	return &b->piece[slot];
}

static void between_copy(void *user, const struct memory_copy *c)
{
	struct between *b = user;
	struct between_piece *p = lock_current(b);

	if (!p)
		return;
	note_box(p, TRACE_READS, &c->src, c->width, c->height, c->depth);
	note_box(p, TRACE_WRITES, &c->dst, c->width, c->height, c->depth);
	pthread_mutex_unlock(&b->lock);
}

static void between_fill(void *user, const struct memory_box *to, u64 width, u64 height, u64 depth)
{
	struct between *b = user;
	struct between_piece *p = lock_current(b);

	if (!p)
		return;
	note_box(p, TRACE_WRITES, to, width, height, depth);
	pthread_mutex_unlock(&b->lock);
}

/* cuStreamWriteValue: strong, as what waits for the value is. */
static void between_write(void *user, u64 address, u64 bytes)
{
	struct between *b = user;
	struct between_piece *p = lock_current(b);

	if (!p)
		return;
	trace_span(&p->trace, TRACE_WRITES | TRACE_STRONG, address, bytes);
	pthread_mutex_unlock(&b->lock);
}

static void forget_everywhere(struct between *b, u64 address, u64 bytes)
{
	pthread_mutex_lock(&b->lock);
	for (u32 i = 0; i < ORDER_SLOTS; i++)
		if (b->piece[i].is_live) {
			trace_forget(&b->piece[i].trace, address, bytes);
			trace_forget(&b->piece[i].early, address, bytes);
		}
	pthread_mutex_unlock(&b->lock);
}

/* The host reaches memory of this process's devices without a call; lock held. */
static void watch_host(struct between *b, struct mem *m)
{
	const struct mem *arena = &m->system->host;
	u64 first = (u64)(uintptr_t)arena->arena;

	host_guard_open(first, first + arena->arena_size);
	__atomic_store_n(&b->order.wants_ends, true, __ATOMIC_RELAXED);
}

static void between_variable(void *user, struct mem *m, u64 address, u64 bytes)
{
	struct between *b = user;

	(void)address, (void)bytes;
	pthread_mutex_lock(&b->lock);
	watch_host(b, m);
	pthread_mutex_unlock(&b->lock);
}

/* Allocators order those who have memory one after the other. */
static void between_alloc(void *user, struct mem *m, u64 address, u64 bytes, enum mem_kind kind)
{
	struct between *b = user;

	pthread_mutex_lock(&b->lock);
	if (kind == MEM_KIND_MANAGED || kind == MEM_KIND_PINNED || kind == MEM_KIND_HOST)
		watch_host(b, m);
	if (kind == MEM_KIND_HOST)
		host_guard_open_program(address, bytes);
	pthread_mutex_unlock(&b->lock);
	forget_everywhere(user, address, bytes);
}

/* Work that the allocation is not ordered before has no such memory yet. */
static void between_hand_out(void *user, u64 address, u64 bytes)
{
	struct between *b = user;
	struct between_piece *p = lock_current(b);

	if (!p)
		return;
	trace_span(&p->trace, TRACE_WRITES, address, bytes);
	pthread_mutex_unlock(&b->lock);
}

static void between_region(void *user, u64 address, u64 bytes)
{
	forget_everywhere(user, address, bytes);
}

/* In a stream freeing is work like other work: nothing may use the memory without order. */
static void between_freed(void *user, struct mem *m, u64 address, u64 bytes)
{
	struct between *b = user;
	struct between_piece *p = lock_current(b);

	(void)m;
	if (!p) {
		pthread_mutex_lock(&b->lock);
		take_accesses(b);
		host_guard_forget(address, bytes);
		pthread_mutex_unlock(&b->lock);
		forget_everywhere(b, address, bytes);
		return;
	}
	trace_span(&p->trace, TRACE_WRITES, address, bytes);
	pthread_mutex_unlock(&b->lock);
}

/* ---- kernels ---- */

/* The slot of a launch, or of the one whose threads have launched it. */
static u32 slot_of_grid(struct between_device *d, const struct cta *c, u64 grid_id)
{
	const u64 *slot = map_get(&d->all->grids, grid_key(d->index, grid_id));

	if (!slot && c)
		slot = map_get(&d->all->grids, grid_key(d->index, nested_root(c->env->user)));
	return slot ? (u32)*slot - 1 : ORDER_NONE;
}

/* lock held */
static struct between_piece *piece_of_cta(struct between_device *d, const struct cta *c)
{
	if (PL_UNLIKELY(d->last_grid != c->env->grid_id)) {
		d->last = slot_of_grid(d, c, c->env->grid_id);
		d->last_grid = c->env->grid_id;
		d->is_nested = nested_root(c->env->user) != d->last_grid;
		if (d->last != ORDER_NONE &&
		    !piece_program(&d->all->piece[d->last], c->env->program, &d->first))
			d->last = ORDER_NONE;
	}
	return d->last == ORDER_NONE ? NULL : &d->all->piece[d->last];
}

static void between_launch(void *user, const struct program *p, u64 grid_id)
{
	struct between_device *d = user;
	u32 slot;

	pthread_mutex_lock(&d->all->lock);
	slot = slot_of_grid(d, NULL, grid_id);
	d->last_grid = 0;
	if (slot != ORDER_NONE) {
		struct between_piece *piece = &d->all->piece[slot];

		trace_fini(&piece->trace);
		trace_init(&piece->trace, 0);
		trace_fini(&piece->early);
		trace_init(&piece->early, 0);
		piece->programs.len = 0;
		(void)piece_program(piece, p, &d->first);
	}
	pthread_mutex_unlock(&d->all->lock);
}

static u8 how_of(const struct exec_access *a)
{
	const struct isa_form *form = exec_form(a->cta->env->program, a->in);
	bool strong = uop_kind(a->in->inner) == UOP_ATOMIC || a->kind == ACCESS_RED ||
		      (form && (isa_form_has(form, M_relaxed) || isa_form_has(form, M_volatile) ||
				isa_form_has(form, M_acquire) || isa_form_has(form, M_release) ||
				isa_form_has(form, M_acq_rel) || isa_form_has(form, M_mmio)));
	bool reads = a->kind != ACCESS_STORE && a->kind != ACCESS_COPY_WRITE &&
		     a->kind != ACCESS_MATRIX_STORE;
	bool writes = a->kind != ACCESS_LOAD && a->kind != ACCESS_COPY_READ &&
		      a->kind != ACCESS_MATRIX_LOAD;

	strong &= !form || race_scope(form) >= SCOPE_GPU;
	return (u8)((reads ? TRACE_READS : 0) | (writes ? TRACE_WRITES : 0) |
		    (strong ? TRACE_STRONG : 0));
}

/* Releases and acquires of device scope are fences, too. */
static void note_order(struct between_piece *p, const struct isa_form *form)
{
	enum scope scope = race_scope(form);

	if (scope >= SCOPE_GPU)
		p->fences = true;
	if (scope >= SCOPE_SYS)
		p->publishes = true;
}

static bool is_fence(const struct isa_form *form)
{
	return isa_form_has(form, M_acquire) || isa_form_has(form, M_release) ||
	       isa_form_has(form, M_acq_rel) || isa_form_has(form, M_sc);
}

/* Lanes whose accesses lie side by side are one. */
static void mark_lanes(struct trace *t, u32 pc, const struct exec_access *a, u32 lanes, u8 how)
{
	u64 first = 0, end = 0;

	for (u32 m = lanes; m; m &= m - 1) {
		u64 at = a->address[__builtin_ctz(m)];

		if (at == end && end) {
			end += a->bytes;
			continue;
		}
		if (at == first && end == first + a->bytes)
			continue;
		if (end)
			trace_mark(t, pc, how, first, end - first);
		first = at;
		end = at + a->bytes;
	}
	if (end)
		trace_mark(t, pc, how, first, end - first);
}

/* lock held */
static void note_piece_access(struct between_device *d, struct between_piece *p,
			      const struct exec_access *a, u8 how)
{
	mark_lanes(&p->trace, d->first + a->pc, a, a->mask, how);
	if (p->is_soft && !d->is_nested)
		mark_lanes(&p->early, d->first + a->pc, a,
			   a->mask & ~waits_behind(&p->waits, d->race, a->cta, a->warp, a->mask),
			   how);
}

/* What an instruction does; lock held. */
static u8 learn_access(struct between_piece *p, const struct exec_access *a)
{
	u8 how = how_of(a);
	const struct isa_form *form = exec_form(a->cta->env->program, a->in);

	if (how & TRACE_STRONG && is_fence(form))
		note_order(p, form);
	return how;
}

static void between_access(void *user, const struct exec_access *a)
{
	struct between_device *d = user;
	struct between_piece *p;

	if (a->space != MEM_GLOBAL || a->kind == ACCESS_COPY_DONE)
		return;
	pthread_mutex_lock(&d->all->lock);
	p = piece_of_cta(d, a->cta);
	if (p && !p->trace.gave_up)
		note_piece_access(d, p, a, learn_access(p, a));
	pthread_mutex_unlock(&d->all->lock);
}

/* A gang at once. */
static bool between_span(void *user, const struct exec_span *s)
{
	struct between_device *d = user;
	struct between_piece *p;
	struct exec_access a;
	u64 address[WARP_LANES];
	u8 how = 0;

	if (s->space != MEM_GLOBAL)
		return true;
	if (s->end)
		return false;
	pthread_mutex_lock(&d->all->lock);
	p = piece_of_cta(d, s->g->cta);
	for (u32 w = 0; p && !p->trace.gave_up && w < exec_step_warps(s->g); w++) {
		if (!exec_span_access(s, w, address, &a))
			continue;
		how = how ? how : learn_access(p, &a);
		note_piece_access(d, p, &a, how);
	}
	pthread_mutex_unlock(&d->all->lock);
	return true;
}

static void note_mark(struct between_device *d, struct between_piece *p, const struct exec_sync *s)
{
	if (s->in->group.action == MARK_GRID_LAUNCH)
		p->lets_go = true;
	else if (s->in->group.action == MARK_GRID_WAIT && p->is_soft)
		waits_note(&p->waits, d->race, s->cta, s->warp, s->mask);
}

static void between_sync(void *user, const struct exec_sync *s)
{
	struct between_device *d = user;
	const struct isa_form *form;
	struct between_piece *p;

	if (s->op != OP_fence && s->op != OP_mark)
		return;
	pthread_mutex_lock(&d->all->lock);
	p = piece_of_cta(d, s->cta);
	form = p && s->op == OP_fence ? exec_form(s->cta->env->program, s->in) : NULL;
	if (form)
		note_order(p, form);
	else if (p && s->op == OP_mark)
		note_mark(d, p, s);
	pthread_mutex_unlock(&d->all->lock);
}

static void between_heap(void *user, const struct cta *c, u64 address, u64 bytes)
{
	struct between_device *d = user;

	(void)c;
	forget_everywhere(d->all, address, bytes);
}

/* ---- the whole ---- */

struct between *between_new(struct findings *found)
{
	struct between *b = calloc(1, sizeof(*b));

	if (!b)
		return NULL;
	b->found = found;
	b->order = (struct order_watch){.user = b,
					.begin = between_begin,
					.drop = between_drop,
					.teach = between_teach,
					.end = between_end,
					.forget = between_forget};
	b->memory = (struct memory_watch){.user = b,
					  .alloc = between_alloc,
					  .variable = between_variable,
					  .free = between_freed,
					  .copy = between_copy,
					  .fill = between_fill,
					  .write = between_write,
					  .hand_out = between_hand_out,
					  .region = between_region};
	pthread_mutex_init(&b->lock, NULL);
	if (!memory_watch_add(&b->memory)) {
		free(b);
		return NULL;
	}
	return b;
}

void between_free(struct between *b)
{
	if (!b)
		return;
	memory_watch_remove(&b->memory);
	for (u32 i = 0; i < ORDER_SLOTS; i++)
		piece_drop(&b->piece[i]);
	VEC_FREE(&b->host_races);
	map_fini(&b->grids);
	pthread_mutex_destroy(&b->lock);
	free(b);
}

void between_device_init(struct between_device *d, struct between *b, struct race_check *race,
			 u32 index)
{
	*d = (struct between_device){.all = b,
				     .race = race,
				     .index = index,
				     .observer = {.user = d,
						  .every = true,
						  .launch_begin = between_launch,
						  .access = between_access,
						  .span = between_span,
						  .sync = between_sync,
						  .heap = between_heap}};
}
