/*
 * Under a debugger: groups of lanes, frames, registers and memory of resident CTAs.
 */
#include "src/ops/local.h"
#include "src/sched/debug_int.h"

/* ---- the launch ---- */

const struct exec_env *debug_env(const struct debug_grid *d)
{
	return &d->grid->launch.env;
}

void *debug_launch_user(const struct debug_grid *d)
{
	return d->grid->launch.user;
}

u64 debug_time(const struct debug_grid *d)
{
	return d->time;
}

u64 debug_ctas(const struct debug_grid *d)
{
	return d->grid->units * d->grid->unit_ctas;
}

u64 debug_ctas_unstarted(const struct debug_grid *d)
{
	return (d->grid->units - d->cursor.next) * d->grid->unit_ctas;
}

struct cta *debug_resident(const struct debug_grid *d, u32 n)
{
	u32 unit = n / d->grid->unit_ctas, rank = n % d->grid->unit_ctas;
	struct cta_slot *s = unit < d->units.len ? d->units.at[unit] : NULL;

	if (d->call)
		return n ? NULL : debug_calling_cta(d);
	while (s && rank--)
		s = s->mate;
	return s ? &s->cta : NULL;
}

u64 debug_ctas_done(const struct debug_grid *d)
{
	u64 n = d->cursor.done * d->grid->unit_ctas;

	for (size_t i = 0; i < d->units.len; i++)
		if (d->units.at[i]->cta.cluster)
			n += (u32)__builtin_popcount(d->units.at[i]->cluster.done);
	return n;
}

struct cta *debug_cta(const struct debug_grid *d, u64 number)
{
	if (d->call)
		return debug_calling_cta(d)->number == number ? debug_calling_cta(d) : NULL;
	for (size_t i = 0; i < d->units.len; i++)
		for (struct cta_slot *s = d->units.at[i]; s; s = s->mate)
			if (s->cta.number == number)
				return &s->cta;
	return NULL;
}

/* Which unit a CTA belongs to: units begin in the order of their numbers. */
static u64 unit_number(const struct debug_grid *d, u64 cta)
{
	const struct exec_env *e = &d->grid->launch.env;
	const u32 *n = d->grid->unit_grid;
	u64 at[3] = {cta % e->grid[0], cta / e->grid[0] % e->grid[1],
		     cta / e->grid[0] / e->grid[1]};

	for (u32 i = 0; i < 3; i++)
		at[i] /= e->cluster[i] ? e->cluster[i] : 1;
	return at[0] + n[0] * (at[1] + n[1] * at[2]);
}

bool debug_cta_is_done(const struct debug_grid *d, u64 number)
{
	const struct cta *c = debug_cta(d, number);

	if (c)
		return exec_cta_is_over(c);
	return number < debug_ctas(d) && unit_number(d, number) < d->cursor.next;
}

/* ---- groups ---- */

/* The instruction at a micro-op where lanes are parked that are ready. */
static u32 instruction_at(const struct gang *g, u32 pc)
{
	while (g->uops[pc].op == OP_join && pc + 1 < g->env->program->uops)
		pc++;
	return pc;
}

static struct debug_group describe_group(const struct gang *g, const struct group *x)
{
	struct debug_group out = {
		.mask = x->mask, .pc = x->pc, .barrier = x->barrier, .want = x->want};

	switch ((enum group_state)x->state) {
	case GROUP_READY:
	case GROUP_FROZEN:
		out.state = x->state == GROUP_READY ? DEBUG_READY : DEBUG_FROZEN;
		out.pc = instruction_at(g, x->pc);
		break;
	case GROUP_BARRIER:
		out.state = DEBUG_BARRIER;
		out.pc = x->pc - 1;
		break;
	case GROUP_CLUSTER:
		out.state = DEBUG_CLUSTER;
		out.pc = x->pc - 1;
		break;
	case GROUP_SYNC:
		out.state = DEBUG_SYNC;
		break;
	}
	return out;
}

static bool is_running_now(const struct debug_grid *d, const struct cta *c, u32 warp)
{
	return d->gang && d->gang->cta == c && d->gang->first_warp + d->gang->warp == warp;
}

u32 debug_groups(const struct debug_grid *d, const struct cta *c, u32 warp,
		 struct debug_group out[WARP_LANES])
{
	const struct gang *g = exec_gang_of(c, warp);
	const struct warp *w = &c->warp[warp];
	u32 n = 0, frozen = debug_frozen_lanes(d, c->number, warp);

	if (is_running_now(d, c, warp) && w->mask)
		out[n++] =
			(struct debug_group){.mask = w->mask, .pc = d->pc, .state = DEBUG_RUNNING};
	for (u32 i = 0; i < w->groups && n < WARP_LANES; i++) {
		struct debug_group x = describe_group(g, &w->group[i]);

		/* Lanes are set aside when it would be their turn. */
		for (u32 part = 0; part < 2 && n < WARP_LANES; part++) {
			struct debug_group y = x;

			y.mask &= part ? frozen : ~frozen;
			if (y.state == DEBUG_READY || y.state == DEBUG_FROZEN)
				y.state = part ? DEBUG_FROZEN : DEBUG_READY;
			if (y.mask)
				out[n++] = y;
		}
	}
	for (u32 i = 1; i < n; i++)
		for (u32 k = i; k && out[k].pc < out[k - 1].pc; k--) {
			struct debug_group x = out[k];

			out[k] = out[k - 1];
			out[k - 1] = x;
		}
	return n;
}

/* ---- frames ---- */

/* Where a live lane stands, NO_PC: nowhere. */
static u32 place_of_lane(const struct debug_grid *d, const struct cta *c, u32 warp, u32 lane)
{
	struct debug_group at[WARP_LANES];
	u32 n = debug_groups(d, c, warp, at);

	for (u32 i = 0; i < n; i++)
		if (at[i].mask >> lane & 1)
			return at[i].pc;
	return NO_PC;
}

static u32 row_w(const struct gang *g, u32 row, u32 number)
{
	return ((const u32 *)(const void *)(g->regs + row))[number];
}

/*
 * Where the value of a row of a frame is, as the call that is under way in it has saved it in local
 * memory; UINT64_MAX: nowhere. SAVED_CLASS: as in op_call.c.
 */
#define SAVED_CLASS 3u

static u64 saved_at(const struct program *p, const struct uop *call, u64 frame, u32 row)
{
	const u32 *list = p->ext + call->ext;
	u64 at = frame + p->funcs[call->func].save_at;

	for (u32 i = 1; i <= list[0]; i++) {
		if (list[i] == row)
			return at;
		at += (list[i] & SAVED_CLASS) == ROW_W   ? 4
		      : (list[i] & SAVED_CLASS) == ROW_X ? 8
							 : 1;
	}
	return UINT64_MAX;
}

/*
 * Is the function of a frame called again in one further in? Then its rows are those of that one.
 */
static bool is_again(const struct debug_frame *f, u32 n, const struct program_func *func)
{
	for (u32 i = 0; i < n; i++)
		if (f[i].func == func)
			return true;
	return false;
}

/* A W row of frame n of the list, false: gone. */
static bool frame_word(const struct gang *g, u32 number, const struct debug_frame *f, u32 n,
		       u32 row, u32 *out)
{
	const struct program *p = g->env->program;
	const struct uop *call = &p->uop[f[n].pc];
	u64 at;

	if (!n || !is_again(f, n, f[n].func)) {
		*out = row_w(g, row, number);
		return true;
	}
	if (call->inner != OP_call || !call->call.saves)
		return false;
	at = saved_at(p, call, f[n].local, row | ROW_W);
	if (at == UINT64_MAX)
		return false;
	local_read(g, number, at, out, 4);
	return true;
}

u32 debug_frames(const struct debug_grid *d, const struct cta *c, u32 warp, u32 lane,
		 struct debug_frame *out, u32 max)
{
	const struct program *p = c->env->program;
	const struct gang *g = exec_gang_of(c, warp);
	u32 number = (warp - g->first_warp) * WARP_LANES + lane, n = 0,
	    pc = place_of_lane(d, c, warp, lane),
	    local = p->has_calls ? row_w(g, p->frame_row, number) : 0;

	while (pc < p->uops && n < max) {
		u32 func = p->uop[pc].func, back, frame;

		out[n] = (struct debug_frame){&p->funcs[func], pc, local, n};
		n++;
		if (!func || !frame_word(g, number, out, n - 1, p->funcs[func].return_row, &back) ||
		    !frame_word(g, number, out, n - 1, p->funcs[func].return_frame_row, &frame) ||
		    !back || (d->call && back == debug_calling_back(d)))
			break;
		pc = back - 1;
		local = frame;
	}
	return n;
}

/* ---- registers ---- */

struct part {
	u64 at; /* of its bytes: in the registers of the gang, or in local memory */
	bool saved;
	u32 row;
};

/* Where the frame has a row. False: nowhere any more. */
static bool find_row(const struct debug_grid *d, const struct cta *c, u32 warp, u32 lane,
		     const struct debug_frame *f, u32 row, struct part *out)
{
	const struct program *p = c->env->program;
	const struct uop *call = &p->uop[f->pc];
	struct debug_frame in[64];
	u32 n, seen = 0;

	*out = (struct part){.row = row};
	/* Rows of a function that cannot call itself are its own. */
	if (!f->depth || call->inner != OP_call || !call->call.saves)
		return true;
	n = debug_frames(d, c, warp, lane, in, f->depth < 64 ? f->depth : 64);
	seen = n < f->depth ? n : f->depth;
	if (!is_again(in, seen, f->func))
		return true;
	out->saved = true;
	out->at = saved_at(p, call, f->local, row);
	return out->at != UINT64_MAX;
}

static u32 class_bytes(u32 row)
{
	return (row & SAVED_CLASS) == ROW_W ? 4 : (row & SAVED_CLASS) == ROW_X ? 8 : 1;
}

static void read_part(const struct gang *g, u32 number, const struct part *x, void *to)
{
	u32 row = x->row & ~SAVED_CLASS;
	u8 bit;

	if (x->saved) {
		local_read(g, number, x->at, to, class_bytes(x->row));
		return;
	}
	switch (x->row & SAVED_CLASS) {
	case ROW_W:
		memcpy(to, g->regs + row + (u64)number * 4, 4);
		break;
	case ROW_X:
		memcpy(to, g->regs + row + (u64)number * 8, 8);
		break;
	default:
		bit = row_w(g, row, number / WARP_LANES) >> number % WARP_LANES & 1;
		memcpy(to, &bit, 1);
		break;
	}
}

static void write_part(struct gang *g, u32 number, const struct part *x, const void *from)
{
	u32 row = x->row & ~SAVED_CLASS, *word, bit = 1u << number % WARP_LANES;

	if (x->saved) {
		local_write(g, number, x->at, from, class_bytes(x->row));
		return;
	}
	switch (x->row & SAVED_CLASS) {
	case ROW_W:
		memcpy(g->regs + row + (u64)number * 4, from, 4);
		break;
	case ROW_X:
		memcpy(g->regs + row + (u64)number * 8, from, 8);
		break;
	default:
		word = (u32 *)(void *)(g->regs + row) + number / WARP_LANES;
		*word = *(const u8 *)from ? *word | bit : *word & ~bit;
		break;
	}
}

/* Element after element of a register; what follows `bytes` is left alone. */
static bool each_part(const struct debug_grid *d, const struct cta *c, u32 warp, u32 lane,
		      const struct debug_frame *f, u32 reg, void *to, const void *from, u32 bytes)
{
	struct gang *g = exec_gang_of(c, warp);
	const struct program_func *p = f->func;
	u32 number = (warp - g->first_warp) * WARP_LANES + lane, done = 0;

	if (!p->reg_part || reg >= p->func->regs.len)
		return false;
	for (u32 k = p->reg_part[reg]; k < p->reg_part[reg + 1] && done < bytes; k++) {
		struct part x;
		u8 value[8] = {0};
		u32 n = class_bytes(p->part_row[k]), take = bytes - done < n ? bytes - done : n;

		if (p->part_row[k] == NO_ROW || !find_row(d, c, warp, lane, f, p->part_row[k], &x))
			return false;
		read_part(g, number, &x, value);
		if (to)
			memcpy((u8 *)to + done, value, take);
		if (from) {
			memcpy(value, (const u8 *)from + done, take);
			write_part(g, number, &x, value);
		}
		done += take;
	}
	if (to && done < bytes)
		memset((u8 *)to + done, 0, bytes - done);
	return done != 0;
}

bool debug_read_register(const struct debug_grid *d, const struct cta *c, u32 warp, u32 lane,
			 const struct debug_frame *f, u32 reg, void *to, u32 bytes)
{
	return each_part(d, c, warp, lane, f, reg, to, NULL, bytes);
}

bool debug_read_registers(const struct debug_grid *d, const struct cta *c, u32 warp, u32 lanes,
			  const struct debug_frame *f, u32 reg, u64 *to)
{
	const struct gang *g = exec_gang_of(c, warp);
	const struct program_func *p = f->func;
	u32 number = (warp - g->first_warp) * WARP_LANES, k;
	struct part x;

	if (f->depth || !p->reg_part || reg >= p->func->regs.len)
		return false;
	k = p->reg_part[reg];
	if (p->reg_part[reg + 1] != k + 1 || p->part_row[k] == NO_ROW ||
	    !find_row(d, c, warp, 0, f, p->part_row[k], &x))
		return false;
	for (u32 m = lanes; m; m &= m - 1) {
		u32 lane = (u32)__builtin_ctz(m);

		to[lane] = 0;
		read_part(g, number + lane, &x, &to[lane]);
	}
	return true;
}

bool debug_put_register(struct debug_grid *d, struct cta *c, u32 warp, u32 lane,
			const struct debug_frame *f, u32 reg, const void *from, u32 bytes)
{
	u8 old[16];

	/* All or nothing. */
	return each_part(d, c, warp, lane, f, reg, old, NULL, bytes < 16 ? bytes : 16) &&
	       each_part(d, c, warp, lane, f, reg, NULL, from, bytes);
}

bool debug_write_register(struct debug_grid *d, struct cta *c, u32 warp, u32 lane,
			  const struct debug_frame *f, u32 reg, const void *from, u32 bytes)
{
	if (!debug_put_register(d, c, warp, lane, f, reg, from, bytes))
		return false;
	debug_note(d, (struct debug_deed){.kind = DEED_REGISTER,
					  .cta = c->number,
					  .warp = warp,
					  .lanes = lane,
					  .frame = *f,
					  .reg = reg,
					  .bytes = bytes,
					  .data = (u8 *)(uintptr_t)from});
	return true;
}

/* ---- going elsewhere ---- */

bool debug_jump(struct debug_grid *d, struct cta *c, u32 warp, u32 lanes, u32 pc)
{
	struct gang *g = exec_gang_of(c, warp);
	struct warp *w = &c->warp[warp];
	u32 n = w->groups, left = 0;

	lanes &= w->live;
	if (!lanes || pc >= c->env->program->launch_first)
		return false;
	for (u32 i = 0; i < n; i++) {
		w->group[left] = w->group[i];
		w->group[left].mask &= ~lanes;
		left += w->group[left].mask != 0;
	}
	w->groups = left;
	if (is_running_now(d, c, warp))
		w->mask &= ~lanes;
	warp_park(w,
		  (struct group){.mask = lanes, .pc = warp_label_of(g, pc), .state = GROUP_READY});
	d->changed = true;
	return true;
}

bool debug_set_pc(struct debug_grid *d, struct cta *c, u32 warp, u32 lanes, u32 pc)
{
	if (!debug_jump(d, c, warp, lanes, pc))
		return false;
	debug_note(d, (struct debug_deed){.kind = DEED_JUMP,
					  .cta = c->number,
					  .warp = warp,
					  .lanes = lanes,
					  .pc = pc});
	return true;
}

/* ---- memory ---- */

/* Host address of bytes that lie side by side there, NULL: they may not be touched. */
static u8 *plain_bytes(const struct cta *c, enum mem_space space, u64 address, u64 bytes)
{
	const struct exec_env *e = c->env;
	struct mem_range r;
	u64 rank = address >> MEM_SHARED_RANK_SHIFT, at = address & MEM_SHARED_OFFSET;

	switch (space) {
	case MEM_PARAM:
		return address <= e->program->param_bytes &&
				       bytes <= e->program->param_bytes - address
			       ? (u8 *)(uintptr_t)e->params + address
			       : NULL;
	case MEM_SHARED:
		if (rank && (!c->cluster || rank > c->cluster->size))
			return rank == 1 && !c->cluster && at <= e->shared_bytes &&
					       bytes <= e->shared_bytes - at
				       ? c->shared + at
				       : NULL;
		return at <= e->shared_bytes && bytes <= e->shared_bytes - at
			       ? (rank ? c->cluster->cta[rank - 1]->shared : c->shared) + at
			       : NULL;
	default:
		return e->mem && mem_find(e->mem, address, bytes ? bytes : 1, &r)
			       ? mem_host(&r, address)
			       : NULL;
	}
}

/* Generic addresses: the space and the offset in it. */
static enum mem_space split_generic(const struct cta *c, enum mem_space space, u64 *address)
{
	const struct mem *m = c->env->mem;

	if (space != MEM_GENERIC || !m)
		return space;
	if (*address - m->shared_base < MEM_SHARED_WINDOW) {
		*address -= m->shared_base;
		return MEM_SHARED;
	}
	if (*address - m->local_base < MEM_LOCAL_WINDOW) {
		*address -= m->local_base;
		return MEM_LOCAL;
	}
	return MEM_GLOBAL;
}

static bool move_bytes(const struct cta *c, u32 warp, u32 lane, enum mem_space space, u64 address,
		       void *to, const void *from, u64 bytes)
{
	const struct gang *g = exec_gang_of(c, warp);
	u32 number = (warp - g->first_warp) * WARP_LANES + lane, limit = c->env->local_bytes;
	u8 *at;

	space = split_generic(c, space, &address);
	if (space == MEM_LOCAL) {
		if (!g->local || address > limit || bytes > limit - address)
			return false;
		if (to)
			local_read(g, number, address, to, bytes);
		else
			local_write(g, number, address, from, bytes);
		return true;
	}
	at = plain_bytes(c, space, address, bytes);
	if (!at)
		return false;
	if (to)
		memcpy(to, at, bytes);
	else if (from)
		memcpy(at, from, bytes);
	return true;
}

bool debug_read_memory(const struct debug_grid *d, const struct cta *c, u32 warp, u32 lane,
		       enum mem_space space, u64 address, void *to, u64 bytes)
{
	(void)d;
	return move_bytes(c, warp, lane, space, address, to, NULL, bytes);
}

bool debug_put_memory(struct debug_grid *d, struct cta *c, u32 warp, u32 lane, enum mem_space space,
		      u64 address, const void *from, u64 bytes)
{
	(void)d;
	return move_bytes(c, warp, lane, space, address, NULL, from, bytes);
}

bool debug_write_memory(struct debug_grid *d, struct cta *c, u32 warp, u32 lane,
			enum mem_space space, u64 address, const void *from, u64 bytes)
{
	if (!debug_put_memory(d, c, warp, lane, space, address, from, bytes))
		return false;
	debug_note(d, (struct debug_deed){.kind = DEED_MEMORY,
					  .cta = c->number,
					  .warp = warp,
					  .lanes = lane,
					  .space = (u8)space,
					  .address = address,
					  .bytes = bytes,
					  .data = (u8 *)(uintptr_t)from});
	return true;
}
