/*
 * What src/dbg reads and writes of a launch: struct dbg_target over src/sched/debug.h.
 *
 * Parameters of device functions, and of calls that are being prepared, are local memory of frames:
 * addresses of that kind have MACHINE_IN_LOCAL set, those of the kernel's parameters do not.
 */
#include "src/dev/memory/watch.h"
#include "src/debugger/object/object.h"
#include "src/lower/lower.h"
#include "src/exec/turn.h"

#define MACHINE_IN_LOCAL ((u64)1 << 40)

/* ---- lanes ---- */

u32 machine_lanes(const struct cta *c, u32 warp)
{
	u32 left = warp < c->warps ? c->threads - warp * WARP_LANES : 0;

	return left >= WARP_LANES ? FULL_MASK : (1u << left) - 1;
}

/* The CTA of a lane that has not exited; NULL: it has, or was never there. */
static struct cta *cta_of(const struct debugger *x, const struct dbg_lane *lane)
{
	struct cta *c = x->grid ? debug_cta(x->grid, lane->cta) : NULL;

	if (!c || lane->warp >= c->warps || lane->lane >= WARP_LANES ||
	    !(c->warp[lane->warp].live >> lane->lane & 1))
		return NULL;
	return c;
}

static enum dbg_answer frame_of(const struct debugger *x, const struct dbg_lane *lane,
				struct cta **c, struct debug_frame *out)
{
	struct debug_frame few[16], *all = few;
	u32 max = lane->frame < ARRAY_LEN(few) ? lane->frame + 1 : DEBUG_FRAMES_MAX, n;

	*c = cta_of(x, lane);
	if (!*c)
		return DBG_GONE;
	if (max > ARRAY_LEN(few))
		all = calloc(max, sizeof(*all));
	n = all ? debug_frames(x->grid, *c, lane->warp, lane->lane, all, max) : 0;
	if (lane->frame < n)
		*out = all[lane->frame];
	if (all != few)
		free(all);
	return lane->frame < n ? DBG_OK : DBG_NOT_KNOWN;
}

/* ---- registers ---- */

/* One that no row holds: nothing has written it, or the outer frame's calls did not save it. */
static enum dbg_answer no_register(const struct dbg_lane *lane)
{
	return lane->frame ? DBG_NOT_KNOWN : DBG_NOT_SET;
}

static enum dbg_answer read_register(void *user, const struct dbg_lane *lane,
				     const struct ir_func *func, u32 reg, void *to, u32 bytes)
{
	struct debugger *x = user;
	struct debug_frame f;
	struct cta *c;
	enum dbg_answer a = frame_of(x, lane, &c, &f);

	if (a != DBG_OK)
		return a;
	if (f.func->func != func || reg >= func->regs.len)
		return DBG_NOT_KNOWN;
	return debug_read_register(x->grid, c, lane->warp, lane->lane, &f, reg, to, bytes)
		       ? DBG_OK
		       : no_register(lane);
}

static enum dbg_answer register_of_warp(void *user, const struct dbg_lane *warp, u32 lanes,
					const struct ir_func *func, u32 reg, u64 *value)
{
	struct debugger *x = user;
	struct debug_frame f;
	struct cta *c;
	enum dbg_answer a = warp->frame ? DBG_NOT_KNOWN : frame_of(x, warp, &c, &f);

	if (a != DBG_OK)
		return a;
	if (f.func->func != func || reg >= func->regs.len)
		return DBG_NOT_KNOWN;
	return debug_read_registers(x->grid, c, warp->warp, lanes, &f, reg, value) ? DBG_OK
										   : DBG_NOT_SET;
}

static enum dbg_answer write_register(void *user, const struct dbg_lane *lane,
				      const struct ir_func *func, u32 reg, const void *from,
				      u32 bytes)
{
	struct debugger *x = user;
	struct debug_frame f;
	struct cta *c;
	enum dbg_answer a = frame_of(x, lane, &c, &f);

	if (a != DBG_OK)
		return a;
	if (f.func->func != func || reg >= func->regs.len ||
	    !debug_write_register(x->grid, c, lane->warp, lane->lane, &f, reg, from, bytes))
		return DBG_NOT_KNOWN;
	debug_changed(x->grid);
	return DBG_OK;
}

/* ---- memory ---- */

/* The engine's space of an address, and the address there. */
static enum mem_space engine_space(enum dbg_space space, u64 *address)
{
	switch (space) {
	case DBG_GLOBAL:
	case DBG_CONST:
		return MEM_GLOBAL;
	case DBG_SHARED:
		return MEM_SHARED;
	case DBG_LOCAL:
		return MEM_LOCAL;
	case DBG_PARAM:
		if (!(*address & MACHINE_IN_LOCAL))
			return MEM_PARAM;
		*address &= ~MACHINE_IN_LOCAL;
		return MEM_LOCAL;
	case DBG_GENERIC:
	case DBG_SPACES:
		break;
	}
	return MEM_GENERIC;
}

/*
 * The CTA whose memory is meant: shared memory is there as long as the CTA is, and what all see
 * also when the lane has exited.
 */
static struct cta *memory_cta(const struct debugger *x, const struct dbg_lane *lane,
			      enum mem_space space)
{
	struct cta *c = x->grid ? debug_cta(x->grid, lane->cta) : NULL;

	if (space == MEM_LOCAL || space == MEM_PARAM)
		return cta_of(x, lane);
	return c ? c : x->grid ? debug_resident(x->grid, 0) : NULL;
}

/* Between launches: bytes of a device's memory, NULL: they are in none. */
static u8 *device_bytes(const struct debugger *x, enum mem_space space, u64 address, u64 bytes)
{
	struct mem_range r;

	for (size_t i = 0; i < x->modules.len && space != MEM_LOCAL && space != MEM_SHARED; i++) {
		struct mem *m = &x->modules.at[i]->owner->dev->mem;

		if (mem_find(m, address, bytes ? bytes : 1, &r))
			return mem_host(&r, address);
	}
	return NULL;
}

static enum dbg_answer read_memory(void *user, const struct dbg_lane *lane, enum dbg_space space,
				   u64 address, void *to, u64 bytes)
{
	struct debugger *x = user;
	enum mem_space s = engine_space(space, &address);
	struct cta *c = memory_cta(x, lane, s);
	const u8 *at = x->grid ? NULL : device_bytes(x, s, address, bytes);

	if (at)
		memcpy(to, at, bytes);
	if (!c)
		return at ? DBG_OK : x->grid ? DBG_GONE : DBG_NO_ACCESS;
	return debug_read_memory(x->grid, c, lane->warp, lane->lane, s, address, to, bytes)
		       ? DBG_OK
		       : DBG_NO_ACCESS;
}

static enum dbg_answer write_memory(void *user, const struct dbg_lane *lane, enum dbg_space space,
				    u64 address, const void *from, u64 bytes)
{
	struct debugger *x = user;
	enum mem_space s = engine_space(space, &address);
	struct cta *c = memory_cta(x, lane, s);
	u8 *at = x->grid ? NULL : device_bytes(x, s, address, bytes);

	if (at)
		memcpy(at, from, bytes);
	if (!c)
		return at ? DBG_OK : x->grid ? DBG_GONE : DBG_NO_ACCESS;
	if (!debug_write_memory(x->grid, c, lane->warp, lane->lane, s, address, from, bytes))
		return DBG_NO_ACCESS;
	if (s == MEM_GLOBAL && memory_is_watched())
		memory_tell_write(address, bytes);
	debug_changed(x->grid);
	return DBG_OK;
}

/* ---- variables ---- */

static enum dbg_answer frame_variable(const struct debugger *x, const struct dbg_lane *lane,
				      const struct ir_var *var, const struct exec_place *place,
				      u64 *address)
{
	struct debug_frame f;
	struct cta *c;
	enum dbg_answer a = frame_of(x, lane, &c, &f);

	if (a != DBG_OK)
		return a;
	if (var->func != IR_NONE && f.func->func->index != var->func)
		return DBG_NOT_KNOWN;
	*address = f.local + place->at;
	if (place->base == EXEC_IN_STACK)
		*address += f.func->frame_bytes;
	if (var->space == M_param)
		*address |= MACHINE_IN_LOCAL;
	return DBG_OK;
}

/* Of the devices' memory: between launches, and those that the launch's kernel does not use. */
static enum dbg_answer device_variable(const struct debugger *x, const struct ir_var *var,
				       u64 *address)
{
	const struct mem *mem = x->grid ? debug_env(x->grid)->mem : NULL;
	enum dbg_answer found = DBG_NOT_KNOWN;

	for (size_t i = 0; i < x->modules.len; i++) {
		const struct loaded *l = x->modules.at[i];

		if (mem && &l->owner->dev->mem != mem)
			continue;
		for (size_t k = 0; k < l->m->vars.len; k++) {
			if (l->m->vars.at[k] != var)
				continue;
			*address = l->owner->address[l->unit][k];
			if (*address)
				return DBG_OK;
			found = DBG_GONE;
		}
	}
	return found;
}

static enum dbg_answer variable(void *user, const struct dbg_lane *lane, const struct ir_var *var,
				u64 *address)
{
	struct debugger *x = user;
	enum dbg_space space = dbg_space_of(var);
	struct exec_place place;

	if (!x->grid)
		return device_variable(x, var, address);
	if (!exec_variable_place(debug_env(x->grid)->program, var, &place))
		return space == DBG_GLOBAL || space == DBG_CONST ? device_variable(x, var, address)
								 : DBG_NOT_KNOWN;
	if (place.base == EXEC_IN_FRAME || place.base == EXEC_IN_STACK)
		return frame_variable(x, lane, var, &place, address);
	*address = place.at;
	return DBG_OK;
}

static enum dbg_answer to_generic(void *user, const struct dbg_lane *lane PL_UNUSED,
				  enum dbg_space space, u64 address, u64 *generic)
{
	struct debugger *x = user;
	const struct exec_env *env = x->grid ? debug_env(x->grid) : NULL;

	if (!env)
		return DBG_NOT_KNOWN;
	switch (engine_space(space, &address)) {
	case MEM_SHARED:
		*generic = env->mem->shared_base + address;
		break;
	case MEM_LOCAL:
		*generic = env->mem->local_base + address;
		break;
	case MEM_PARAM:
		*generic = env->param_address + address;
		break;
	default:
		*generic = address;
	}
	return DBG_OK;
}

/* ---- symbols ---- */

/* Is the launch's kernel one of the program? */
static bool runs_program(struct debugger *x, const struct device_program *p)
{
	const struct loaded *l = loaded_of(x, debug_env(x->grid)->program->funcs[0].func);

	return l && l->owner == p;
}

static enum dbg_answer function_symbol(struct debugger *x, u64 address, struct text *out)
{
	for (size_t i = 0; i < x->modules.len; i++) {
		const struct device_program *p = x->modules.at[i]->owner;
		const struct ir_func *f = exec_function_at(p->exec_units, p->len, address);
		struct loaded *l = f ? loaded_of(x, f) : NULL;

		/* Each program counts its own. */
		if (x->grid && !runs_program(x, p))
			continue;
		if (!l || !l->names)
			return DBG_NOT_KNOWN;
		text_puts(out, dbg_names_function(l->names, f));
		return DBG_OK;
	}
	return DBG_NOT_KNOWN;
}

static enum dbg_answer symbol(void *user, const struct dbg_lane *lane, enum dbg_space space,
			      u64 address, bool is_code, struct text *out)
{
	struct debugger *x = user;
	/* Without a frame: its variables are told by their values. */
	struct dbg_context c = {.session = x->session, .target = &x->target, .lane = *lane};

	if (is_code)
		return function_symbol(x, address, out);
	return x->grid && look_symbol(x, &c, space, address, out) ? DBG_OK : DBG_NOT_KNOWN;
}

static enum dbg_answer function_address(void *user, const struct ir_func *func, u64 *address)
{
	struct debugger *x = user;
	const struct loaded *l = loaded_of(x, func);

	if (!l)
		return DBG_NOT_KNOWN;
	*address = exec_function_address(l->owner->exec_units, l->owner->len, l->unit, func->index);
	return *address ? DBG_OK : DBG_NOT_KNOWN;
}

static enum dbg_answer frame(void *user, const struct dbg_lane *lane, struct dbg_place *out)
{
	struct debugger *x = user;
	struct debug_frame f;
	struct cta *c;
	enum dbg_answer a = frame_of(x, lane, &c, &f);

	if (a == DBG_OK)
		*out = loaded_place(debug_env(x->grid)->program, f.pc);
	return a;
}

/* ---- special registers ---- */

void machine_thread(const struct exec_env *env, u32 warp, u32 lane, u32 out[3])
{
	u32 t = warp * WARP_LANES + lane;

	out[0] = t % env->block[0];
	out[1] = t / env->block[0] % env->block[1];
	out[2] = t / env->block[0] / env->block[1];
}

/* The thread that comes after this one. */
static void machine_next_thread(const struct exec_env *env, u32 thread[3])
{
	for (u32 i = 0; i < 3; i++) {
		if (++thread[i] < env->block[i] || i == 2)
			return;
		thread[i] = 0;
	}
}

/* As a thread would read it now, which itself costs time: of a copy. */
static u64 read_uniform(const struct gang *g, enum isa_sreg_id id, u32 part)
{
	struct exec_env env = *g->env;
	struct gang copy = *g;

	env.clock.now = NULL;
	copy.env = &env;
	return exec_sreg_uniform(&copy, id, part);
}

static enum dbg_answer special(void *user, const struct dbg_lane *lane, enum isa_sreg_id id,
			       u32 part, u64 *value)
{
	struct debugger *x = user;
	struct cta *c = cta_of(x, lane);
	u32 thread[3];

	if (!c)
		return DBG_GONE;
	if (isa_sreg_varies(id) == ISA_TIME && !c->env->program->reads_clock)
		return DBG_NOT_KNOWN;
	if (id == SR_tid) {
		machine_thread(c->env, lane->warp, lane->lane, thread);
		*value = part < 3 ? thread[part] : 0;
	} else if (isa_sreg_varies(id) == ISA_LANE) {
		*value = exec_sreg_lane(id, lane->lane, lane->warp);
	} else {
		*value = read_uniform(exec_gang_of(c, lane->warp), id, part);
	}
	return DBG_OK;
}

/* Lanes stand together in a live warp: what one of them is asked for holds for all. */
static enum dbg_answer special_of_warp(void *user, const struct dbg_lane *warp, u32 lanes,
				       enum isa_sreg_id id, u32 part, u64 *value, bool *same)
{
	struct debugger *x = user;
	struct cta *c = cta_of(x, warp);
	u32 thread[3];

	*same = (id != SR_tid && isa_sreg_varies(id) != ISA_LANE) || part >= 3;
	if (*same || !c)
		return special(user, warp, id, part, &value[warp->lane]);
	if (id != SR_tid) {
		for (u32 m = lanes; m; m &= m - 1)
			value[__builtin_ctz(m)] =
				exec_sreg_lane(id, (u32)__builtin_ctz(m), warp->warp);
		return DBG_OK;
	}
	machine_thread(c->env, warp->warp, 0, thread);
	for (u32 l = 0; l < WARP_LANES; l++) {
		if (lanes >> l & 1)
			value[l] = thread[part];
		machine_next_thread(c->env, thread);
	}
	return DBG_OK;
}

/* ---- $_name ---- */

/* Lanes of the warp that run, or are next, together with this one. */
static u32 active_lanes(const struct debugger *x, const struct cta *c, u32 warp, u32 lane)
{
	struct debug_group group[WARP_LANES];
	u32 n = debug_groups(x->grid, c, warp, group);

	for (u32 i = 0; i < n; i++)
		if (group[i].mask >> lane & 1)
			return group[i].mask;
	return 0;
}

static enum dbg_answer builtin(void *user, const struct dbg_lane *lane, const char *name,
			       u64 *value)
{
	struct debugger *x = user;
	struct cta *c = cta_of(x, lane);
	u32 active = c ? active_lanes(x, c, lane->warp, lane->lane) : 0;
	const struct {
		const char *name;
		u64 value;
	} all[] = {
		{"_time", x->grid ? debug_time(x->grid) - debug_start(x->grid) : 0},
		{"_launch", lane->launch},
		{"_cta", lane->cta},
		{"_warp", lane->warp},
		{"_lane", lane->lane},
		{"_thread", (u64)lane->warp * WARP_LANES + lane->lane},
		{"_active", active},
		{"_live", c ? c->warp[lane->warp].live : 0},
		{"_waiting", c ? c->warp[lane->warp].live & ~active : 0},
		{"_frozen", c ? debug_frozen(x->grid, lane->cta, lane->warp) : 0},
	};

	for (size_t i = 0; i < ARRAY_LEN(all); i++)
		if (!strcmp(all[i].name, name)) {
			*value = all[i].value;
			return x->grid ? DBG_OK : DBG_GONE;
		}
	return DBG_NOT_KNOWN;
}

void machine_init(struct debugger *x)
{
	x->target = (struct dbg_target){
		.user = x,
		.read_register = read_register,
		.write_register = write_register,
		.read_memory = read_memory,
		.write_memory = write_memory,
		.variable = variable,
		.to_generic = to_generic,
		.special = special,
		.special_of_warp = special_of_warp,
		.register_of_warp = register_of_warp,
		.builtin = builtin,
		.call = call_function,
		.symbol = symbol,
		.function = function_address,
		.frame = frame,
		.object = object_describe,
	};
}
