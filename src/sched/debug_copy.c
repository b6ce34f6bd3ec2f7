/*
 * Under a debugger: copies of the resident CTAs, and of what decides which warp runs next.
 */
#include "src/async/async.h"
#include "src/exec/probe.h"
#include "src/sched/debug_int.h"

#include <stdlib.h>

/* ---- one CTA ---- */

/* Local memory of each lane that is in use: its calls' frames, and arguments above. */
static u64 local_in_use(const struct debug_grid *d, const struct cta *c)
{
	const struct program *p = c->env->program;
	u64 most = p->frame_bytes;

	for (u32 w = 0; p->has_calls && w < c->warps; w++) {
		const struct gang *g = exec_gang_of(c, w);
		const u32 *stack = (const u32 *)(const void *)(g->regs + p->stack_row) +
				   (w - g->first_warp) * WARP_LANES;

		for (u32 m = c->warp[w].live; m; m &= m - 1) {
			u64 top = (u64)stack[__builtin_ctz(m)] + d->reserve;

			most = top > most ? top : most;
		}
	}
	most = align_up(most, 4);
	return c->local ? min_u64(most, c->env->local_bytes) : 0;
}

u64 debug_state_hash(const struct debug_grid *d)
{
	u64 h[2] = {d->cursor.target, d->cursor.near};

	for (size_t i = 0; i < d->units.len; i++)
		for (struct cta_slot *s = d->units.at[i]; s; s = s->mate) {
			const struct cta *c = &s->cta;
			u64 lane = local_in_use(d, c) / 4;

			h[0] = hash_bytes(h, sizeof(h)) ^ exec_probe_state(c);
			h[1] = hash_bytes(c->shared, c->env->shared_bytes) + c->number;
			for (u32 k = 0; lane && k < c->gangs; k++)
				h[1] = h[1] * 31 +
				       hash_bytes(c->gang[k].local,
						  lane * c->gang[k].warps * WARP_LANES * 4);
		}
	return hash_bytes(h, sizeof(h));
}

/* Copies bytes out of the storage, or back. */
struct mover {
	u8 *at; /* NULL: they are only counted */
	u64 bytes;
	bool back;
};

static void move_bytes_of(struct mover *m, void *storage, u64 bytes)
{
	if (m->at && bytes)
		memcpy(m->back ? storage : m->at + m->bytes, m->back ? m->at + m->bytes : storage,
		       bytes);
	m->bytes += bytes;
}

static void move_storage(struct mover *m, struct cta_slot *s, u64 local_bytes)
{
	struct cta *c = &s->cta;

	move_bytes_of(m, c->warp, sizeof(*c->warp) * c->warps);
	move_bytes_of(m, c->gang, sizeof(*c->gang) * c->gangs);
	move_bytes_of(m, s->regs, align_up(s->program->block_bytes, 64) * c->gangs);
	move_bytes_of(m, c->shared, s->env.shared_bytes);
	if (s->steer)
		move_bytes_of(m, s->steer, sizeof(*s->steer) * c->warps);
	for (u32 i = 0; local_bytes && i < c->gangs; i++)
		move_bytes_of(m, c->gang[i].local,
			      local_bytes / 4 * ((u64)c->gang[i].warps * WARP_LANES * 4));
}

static bool take_cta(const struct debug_grid *d, struct cta_slot *s, struct debug_cta_copy *x,
		     size_t *bytes)
{
	struct mover m = {0};
	bool ok;

	*x = (struct debug_cta_copy){.slot = s, .cta = s->cta, .place = s->place};
	x->local_bytes = local_in_use(d, &s->cta);
	x->assertions = s->cta.assertions.len;
	x->cluster = s->cluster;
	move_storage(&m, s, x->local_bytes);
	x->bytes = malloc(m.bytes);
	*bytes += m.bytes + sizeof(*x);
	x->async = async_clone(&s->cta, &ok);
	if (!x->bytes || !ok)
		return false;
	m = (struct mover){.at = x->bytes};
	move_storage(&m, s, x->local_bytes);
	return true;
}

static void put_cta(const struct debug_cta_copy *x)
{
	struct cta_slot *s = x->slot;
	struct mover m = {.at = x->bytes, .back = true};
	struct text assertions = s->cta.assertions;
	struct cta saved = x->cta;
	bool ok;

	async_free(&s->cta);
	saved.async = x->async;
	s->cta = x->cta;
	s->cta.async = async_clone(&saved, &ok);
	s->cta.assertions = assertions;
	if (s->cta.assertions.len > x->assertions)
		s->cta.assertions.len = x->assertions;
	s->cluster = x->cluster;
	s->place = x->place;
	move_storage(&m, s, x->local_bytes);
}

/* ---- all of them ---- */

bool debug_copy_take(struct debug_grid *d, struct gang *gang, u32 pc, struct debug_copy *out)
{
	const struct exec_env *e = &d->grid->launch.env;
	u64 heap = 0;
	u32 n = 0;
	bool ok;

	*out = (struct debug_copy){.time = d->time,
				   .chain = d->chain,
				   .cursor = d->cursor,
				   .frozen_len = (u32)d->frozen.len,
				   .deeds = d->deeds_done,
				   .timer_ns = d->grid->timer_ns,
				   .last_clock = d->grid->last_clock,
				   .gang = gang,
				   .pc = pc};
	if (e->syscalls)
		out->heap = exec_heap_save(e->syscalls->heap, &heap);
	out->cta = calloc(d->units.len * d->grid->unit_ctas + 1, sizeof(*out->cta));
	out->frozen = malloc(sizeof(*out->frozen) * (d->frozen.len + 1));
	out->weak = d->weak ? weak_clone(d->weak) : NULL;
	ok = out->cta && out->frozen && (out->heap || !heap) && !out->weak == !d->weak;
	if (out->frozen && d->frozen.len)
		memcpy(out->frozen, d->frozen.at, sizeof(*out->frozen) * d->frozen.len);
	out->bytes = sizeof(*out) + heap;
	for (size_t i = 0; ok && i < d->units.len; i++)
		for (struct cta_slot *s = d->units.at[i]; ok && s; s = s->mate) {
			ok = take_cta(d, s, &out->cta[n], &out->bytes);
			out->cta[n++].first = s == d->units.at[i];
			out->cta_len = n;
		}
	if (!ok)
		debug_copy_free(out);
	return ok;
}

/* All storage is idle, in its list. */
static void clear_units(struct debug_grid *d)
{
	for (size_t i = 0; i < d->units.len; i++)
		slot_part(&d->share->idle, d->units.at[i]);
	d->units.len = 0;
}

static void take_out(struct slot_list *l, struct cta_slot *s)
{
	for (u32 n = l->len; n; n--) {
		struct cta_slot *x = slot_pop(l);

		if (x != s)
			slot_push(l, x);
	}
}

/* Without memory for it, what waited is there at once. */
static void put_weak(struct debug_grid *d, const struct debug_copy *c)
{
	struct weak *w = c->weak ? weak_clone(c->weak) : NULL;

	if (!w)
		return;
	weak_free(d->weak);
	d->weak = w;
}

void debug_copy_put(struct debug_grid *d, const struct debug_copy *c)
{
	struct sched_grid *g = d->grid;
	struct cta_slot *last = NULL;

	clear_units(d);
	for (u32 i = 0; i < c->cta_len; i++) {
		struct cta_slot *s = c->cta[i].slot;

		take_out(&d->share->idle, s);
		s->mate = NULL;
		if (c->cta[i].first)
			VEC_PUSH(&d->units, s); /* there were as many before */
		else
			last->mate = s;
		last = s;
		put_cta(&c->cta[i]);
	}
	/* What CTAs that have not begun any more said of failed assertions, they say again. */
	for (struct cta_slot *s = d->share->idle.first; s; s = s->next)
		s->cta.assertions.len = 0;
	d->cursor = c->cursor;
	put_weak(d, c);
	d->frozen.len = 0;
	for (u32 i = 0; i < c->frozen_len; i++)
		VEC_PUSH(&d->frozen, c->frozen[i]);
	d->deeds_done = c->deeds;
	d->time = c->time;
	d->chain = c->chain;
	d->resume = c->gang;
	d->resume_pc = c->pc;
	d->share->next = d->cursor.next;
	g->timer_ns = c->timer_ns;
	g->last_clock = c->last_clock;
	__atomic_store_n(&g->left, g->units - d->cursor.done, __ATOMIC_RELEASE);
	if (g->launch.env.syscalls)
		exec_heap_return(g->launch.env.syscalls->heap, c->heap);
}

void debug_copy_free(struct debug_copy *c)
{
	for (u32 i = 0; i < c->cta_len; i++) {
		struct cta owner = {.warps = c->cta[i].cta.warps, .async = c->cta[i].async};

		async_free(&owner);
		free(c->cta[i].bytes);
	}
	free(c->cta);
	free(c->frozen);
	free(c->heap);
	weak_free(c->weak);
	debug_pages_free(&c->pages);
	*c = (struct debug_copy){0};
}
