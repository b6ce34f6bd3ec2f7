/*
 * What a micro-op changes beside registers, and what a CTA's next time slices depend on. See
 * probe.h.
 */
#include "src/exec/observer.h"
#include "src/exec/probe.h"

#include "src/async/async.h"
#include "src/exec/lane_access.h"
#include "src/uop/async.h"
#include "src/ops/local.h"

/* Bytes of one lane's access at most. */
#define ACCESS_BYTES 32u
/* More than the number of groups that may be parked before one that waits is overdue (warp.c). */
#define AGE_MOST 128u

/* ---- kinds of micro-ops ---- */

static bool is_copying(const struct cta *c)
{
	return c->async && c->async->some;
}

static enum uop_effect effect_of(const struct gang *g, const struct uop *in)
{
	enum uop_effect effect = uop_info[in->inner].effect;
	bool quiet;

	if (effect != EFFECT_ASK)
		return effect;
	switch (uop_kind(in->inner)) {
	case UOP_SREG:
		quiet = isa_sreg_varies(in->sreg.number) != ISA_TIME;
		break;
	case UOP_CALL:
		quiet = !in->call.saves;
		break; /* saves registers in memory */
	case UOP_WAIT:
		quiet = !g->env->program->reads_clock;
		break; /* nanosleep: what it changes is the time */
	default:
		quiet = in->mbar.action >= MBAR_WAIT && !is_copying(g->cta);
		break;
	}
	return quiet ? EFFECT_QUIET : EFFECT_OTHER;
}

/* Do all live lanes of the warps take part? */
static bool are_whole(const struct gang *g)
{
	if (g->mode != MODE_GANG)
		return g->active == g->warp_at[g->warp].live;
	for (u32 w = 0; g->diverged.on && w < g->warps; w++)
		if (g->warp_at[w].live && g->warp_at[w].live != g->diverged.live[w])
			return false;
	return true;
}

/* ---- memory that a micro-op writes ---- */

struct written {
	u32 len, width;
	struct {
		u32 lane;
		u64 address;
		u8 old[ACCESS_BYTES];
	} at[GANG_WARPS * WARP_LANES];
};

/*
 * Which memory an address of the micro-op is in; *address becomes an offset where that has a
 * window.
 */
static enum mem_space space_of_access(const struct gang *g, const struct uop *in, u64 *address)
{
	u8 space = uop_info[in->inner].space;

	return space == MEM_GENERIC ? generic_space(g->env->mem, address) : space;
}

/* What a lane's access would find. False: it is not known, or a fault. */
static bool fetch(const struct gang *g, const struct uop *in, u32 lane, u64 address, void *to)
{
	u32 width = (u32)in->mem.size * in->mem.count;
	const struct cta *owner;
	struct mem_range r;

	switch (space_of_access(g, in, &address)) {
	case MEM_LOCAL:
		if (address + width > g->env->local_bytes)
			return false;
		local_read(g, lane, address, to, width);
		return true;
	case MEM_SHARED:
		owner = shared_owner(g->cta, address >> MEM_SHARED_RANK_SHIFT);
		address &= MEM_SHARED_OFFSET;
		if (!owner || address + width > g->env->shared_bytes)
			return false;
		memcpy(to, owner->shared + address, width);
		return true;
	default:
		if (!mem_find(g->env->mem, address, width, &r))
			return false;
		memcpy(to, (const void *)(uintptr_t)(address + r.bias), width);
		return true;
	}
}

/* Remember what is there. False: some of it is not known. */
static bool remember(const struct gang *g, const struct uop *in, struct written *x)
{
	u32 warps = g->mode == MODE_GANG ? g->lanes / WARP_LANES : 1;

	x->len = 0;
	x->width = (u32)in->mem.size * in->mem.count;
	for (u32 w = 0; w < warps; w++)
		for (u32 m = exec_step_passes(g, in, w); m; m &= m - 1) {
			u32 lane = g->lane0 + w * WARP_LANES + (u32)__builtin_ctz(m);
			u64 address = lane_address(g, in, lane);

			x->at[x->len].lane = lane;
			x->at[x->len].address = address;
			if (x->width > ACCESS_BYTES ||
			    !fetch(g, in, lane, address, x->at[x->len++].old))
				return false;
		}
	return true;
}

static bool is_as_before(const struct gang *g, const struct uop *in, const struct written *x)
{
	u8 now[ACCESS_BYTES];

	for (u32 i = 0; i < x->len; i++)
		if (!fetch(g, in, x->at[i].lane, x->at[i].address, now) ||
		    memcmp(now, x->at[i].old, x->width))
			return false;
	return true;
}

static u64 byte_sum(u64 address, u8 byte)
{
	u64 x = (address << 8 | byte) * 0x9e3779b97f4a7c15u;

	x = (x ^ x >> 32) * 0xd6e8feb86659fd93u;
	return x ^ x >> 32;
}

/* Of what several lanes write once. */
static bool is_repeated(const struct written *x, u32 i)
{
	for (u32 k = 0; k < i; k++)
		if (x->at[k].address == x->at[i].address)
			return true;
	return false;
}

/* Of the bytes in global memory that have been remembered: as they are now, or were. */
static u64 written_sum(const struct gang *g, const struct uop *in, const struct written *x,
		       bool now)
{
	u64 sum = 0;

	for (u32 i = 0; i < x->len; i++) {
		u64 address = x->at[i].address;
		u8 bytes[ACCESS_BYTES];

		if (space_of_access(g, in, &address) == MEM_SHARED ||
		    space_of_access(g, in, &address) == MEM_LOCAL || is_repeated(x, i))
			continue;
		memcpy(bytes, x->at[i].old, x->width);
		if (now && !fetch(g, in, x->at[i].lane, x->at[i].address, bytes))
			continue;
		for (u32 b = 0; b < x->width; b++)
			sum += byte_sum(address + b, bytes[b]);
	}
	return sum;
}

const struct uop *exec_probe_step(struct exec_probe *p, struct gang *g, const struct uop *in)
{
	enum uop_effect effect = p->moved && !p->sums ? EFFECT_QUIET : effect_of(g, in);
	/* Compiled runs are inspected micro-op by micro-op. */
	u32 op = in->op == OP_tier || in->op == OP_tier_counted ? in->inner : in->op;
	const struct uop *next;
	struct written x;
	bool known, other;

	if (effect != EFFECT_WRITE) {
		other = effect == EFFECT_OTHER || (effect == EFFECT_LANES && !are_whole(g));
		p->moved |= other;
		p->lost |= other;
		return g->table->run[op](g, in);
	}
	known = remember(g, in, &x);
	next = g->table->run[op](g, in);
	p->moved |= !known || !is_as_before(g, in, &x);
	p->lost |= !known;
	if (p->sums && known)
		p->sum += written_sum(g, in, &x, true) - written_sum(g, in, &x, false);
	return next;
}

static void loop(struct gang *g, const struct uop *in)
{
	/* The CTA's ops are the first member of its probe's. */
	struct exec_probe *p = (struct exec_probe *)(uintptr_t)g->env->ops;
	u32 pc;

	do {
		pc = (u32)(in - g->uops);
		if (exec_is_observed(g->env))
			exec_tell_step(g, in);
		g->clock += EXEC_UOP_CYCLES;
		in = exec_probe_step(p, g, in);
	} while (in);
	if (exec_is_observed(g->env))
		exec_tell_stop(g, pc);
}

void exec_probe_init(struct exec_probe *p, const struct exec_ops *ops)
{
	*p = (struct exec_probe){.ops = *ops};
	p->ops.loop = loop;
}

/* ---- state ---- */

/* size: a multiple of 4. */
static u64 mix(u64 hash, const void *data, size_t size)
{
	const u8 *at = data;

	for (size_t i = 0; i < size; i += sizeof(u32)) {
		u32 word;

		memcpy(&word, at + i, sizeof(word));
		hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
		hash ^= hash >> 32;
	}
	return hash;
}

static u64 mix_word(u64 hash, u64 word)
{
	return mix(hash, &word, sizeof(word));
}

/* How many groups were parked before it: what decides who is next, without the time. */
static u32 rank_of(const struct warp *w, const struct group *x)
{
	u32 n = 0;

	for (u32 i = 0; i < w->groups; i++)
		n += w->group[i].since < x->since;
	return n;
}

/* How long it has waited, as far as that makes a difference in seeded runs. */
static u32 age_of(const struct warp *w, const struct group *x)
{
	u64 age = w->ticks - x->since;

	return age < AGE_MOST ? (u32)age : AGE_MOST;
}

static u64 mix_warp(u64 hash, const struct warp *w)
{
	hash = mix(
		hash,
		(u32[]){w->live, w->groups, w->rotate, w->spins, w->cluster_arrived, w->arrivals},
		6 * sizeof(u32));
	if (w->arrivals)
		hash = mix(hash, w->arrived, sizeof(w->arrived));
	for (u32 i = 0; i < w->groups; i++) {
		const struct group *x = &w->group[i];

		hash = mix(hash,
			   (u32[]){x->mask, x->pc, x->state, x->barrier, x->want, rank_of(w, x),
				   age_of(w, x)},
			   7 * sizeof(u32));
	}
	return hash;
}

static u64 mix_diverged(u64 hash, const struct gang *g)
{
	const struct diverged *p = &g->diverged;

	hash = mix(hash, (u32[]){p->groups, p->stop, p->spins, p->outer}, 4 * sizeof(u32));
	hash = mix(hash, p->live, g->warps * sizeof(u32));
	for (u32 i = 0; i < p->groups; i++) {
		hash = mix_word(hash, p->group[i].pc);
		hash = mix(hash, p->group[i].mask, g->warps * sizeof(u32));
	}
	return hash;
}

u64 exec_probe_state(const struct cta *c)
{
	u64 hash = mix(c->rests, c->barrier, sizeof(c->barrier));

	for (u32 i = 0; i < c->gangs; i++) {
		const struct gang *g = &c->gang[i];

		hash = mix(hash, g->regs, g->env->program->block_bytes);
		hash = mix(hash,
			   (u32[]){g->together, g->pc, g->stop, g->rejoin, g->rejoin_passes,
				   g->diverged.on},
			   6 * sizeof(u32));
		if (g->diverged.on)
			hash = mix_diverged(hash, g);
	}
	for (u32 w = 0; w < c->warps; w++)
		hash = mix_warp(hash, &c->warp[w]);
	return hash;
}
