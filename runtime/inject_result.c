/*
 * Fault injection in results of instructions. Launches then run as for a debugger, an instruction
 * of a group of lanes at a time in one order, so that the n-th instruction of a thread is the same
 * each time, whatever the number of workers. Registers are PTX's.
 *
 * inst=rand: the launch runs to its end, which tells how many instructions there are; then it is
 * gone back to its beginning, and one of them is drawn.
 */
#include "runtime/inject_groups.h"

#include "src/base/demangle.h"
#include "src/dev/place.h"
#include "src/sched/debug.h"

#include <stdio.h>
#include <stdlib.h>

/* Copies of states that are kept for going back. */
#define HISTORY_BYTES ((u64)1 << 30)
#define RESULT_BYTES 16u

/* What is changed as soon as the instruction has run. */
struct pending {
	bool on;
	bool in_memory; /* of atomics: what they leave there */
	u64 cta;
	u32 warp, lane, pc;
	u32 reg;  /* of the function */
	u32 bits; /* of the result */
	u8 space; /* enum mem_space */
	u64 address;
};

/* A rule in a launch that it is about. */
struct flip {
	struct inject_rule *rule;
	u64 nth_launch;
	u64 seen, total; /* instructions of the group; total 0: not known */
	u64 target;      /* 0: none yet */
	struct pending pending;
	bool done;
};

struct flipped_launch {
	struct flipped_launch *next;
	const struct debug_grid *d;
	u8 *groups; /* by micro-op that begins an instruction: a bit for each enum inject_group */
	VEC(struct flip) list;
	struct text printed; /* while instructions are counted */
	bool counts, again;
	bool pends; /* some flip does */
};

static struct {
	pthread_mutex_t lock;
	struct flipped_launch *launches;
	u32 pending;    /* launches in which some flip pends; guarded by lock */
	bool attentive; /* there are some: all launches are asked before each instruction; atomic */
} flips = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- launches ---- */

static struct flipped_launch *find_launch(const struct debug_grid *d)
{
	struct flipped_launch *l;

	pthread_mutex_lock(&flips.lock);
	for (l = flips.launches; l && l->d != d; l = l->next)
		;
	pthread_mutex_unlock(&flips.lock);
	return l;
}

static void keep_flipped(struct flipped_launch *l)
{
	pthread_mutex_lock(&flips.lock);
	l->next = flips.launches;
	flips.launches = l;
	pthread_mutex_unlock(&flips.lock);
}

static void set_pending(struct flipped_launch *l, bool pends)
{
	if (l->pends == pends)
		return;
	l->pends = pends;
	pthread_mutex_lock(&flips.lock);
	flips.pending += pends ? 1 : -1u;
	__atomic_store_n(&flips.attentive, flips.pending != 0, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&flips.lock);
}

static void drop_launch(const struct debug_grid *d)
{
	struct flipped_launch **at, *l = NULL;

	pthread_mutex_lock(&flips.lock);
	for (at = &flips.launches; *at && (*at)->d != d; at = &(*at)->next)
		;
	l = *at;
	if (l)
		*at = l->next;
	pthread_mutex_unlock(&flips.lock);
	if (!l)
		return;
	free(l->groups);
	VEC_FREE(&l->list);
	text_fini(&l->printed);
	free(l);
}

static void choose_rules(struct flipped_launch *l, const struct exec_env *e)
{
	struct inject *j = inject_get();
	const struct rt_device *of = rt_device_of(e->mem);
	const struct device *dev = of ? &of->dev : NULL;
	struct inject_event event = {.kernel = e->program->funcs[0].func->name->text,
				     .device = dev ? dev->number : 0,
				     .number = e->grid_id};

	for (size_t i = 0; i < j->rules.list.len; i++) {
		struct inject_rule *r = &j->rules.list.at[i];

		if (!inject_of_results(r) || !inject_acts(r, &event))
			continue;
		if (!VEC_PUSH(&l->list, ((struct flip){.rule = r,
						       .nth_launch = __atomic_load_n(
							       &r->fits, __ATOMIC_RELAXED),
						       .target = r->inst}))) {
			fputs("ptxloom: inject: no memory left for a rule\n", stderr);
			continue;
		}
		l->counts |= r->act == INJECT_FLIP && !r->inst;
	}
}

static bool find_groups(struct flipped_launch *l, struct debug_grid *d, const struct program *p)
{
	u32 wanted = 0;
	u8 *marks = calloc(p->uops + 1, 1);

	l->groups = calloc(p->uops + 1, 1);
	for (size_t i = 0; i < l->list.len; i++)
		wanted |= 1u << l->list.at[i].rule->group;
	for (u32 pc = 0; l->groups && marks && pc < p->launch_first; pc++)
		if (exec_is_first(p, pc)) {
			l->groups[pc] = (u8)(inject_groups_of(p, pc) & wanted);
			marks[pc] = l->groups[pc] != 0;
		}
	if (l->groups && marks)
		debug_mark(d, p, marks);
	free(marks);
	return l->groups != NULL;
}

static void flips_begin(void *user, struct debug_grid *d)
{
	const struct exec_env *e = debug_env(d);
	struct flipped_launch *l = calloc(1, sizeof(*l));

	(void)user;
	if (!l)
		return;
	l->d = d;
	choose_rules(l, e);
	if (!find_groups(l, d, e->program) || !l->list.len) {
		free(l->groups);
		VEC_FREE(&l->list);
		free(l);
		return;
	}
	keep_flipped(l);
}

/* ---- changing ---- */

static u64 draw_of(const struct flip *f, u64 more)
{
	return sched_mix(sched_mix(f->rule->seed, f->nth_launch), sched_mix(f->target, more));
}

/* A value of that many bits, by the rule's model. */
static void change_value(const struct flip *f, u8 *value, u32 bits, struct text *how)
{
	u32 bit = f->rule->flip == FLIP_BIT ? f->rule->bit : (u32)(draw_of(f, 1) % bits);
	u32 two = bits > 1 ? (bit + 1) % bits : bit;

	switch ((enum inject_flip)f->rule->flip) {
	case FLIP_ZERO:
		memset(value, 0, RESULT_BYTES);
		text_puts(how, "zero");
		break;
	case FLIP_RANDOM:
		for (u32 i = 0; i < bits; i++)
			value[i / 8] = (u8)((value[i / 8] & ~(1u << i % 8)) |
					    (draw_of(f, 2 + i / 32) >> i % 32 & 1) << i % 8);
		text_puts(how, "random");
		break;
	case FLIP_TWO:
		value[two / 8] ^= (u8)(1u << two % 8);
		text_printf(how, "bits %u and %u", bit, two);
		value[bit / 8] ^= (u8)(bits > 1 ? 1u << bit % 8 : 0);
		break;
	default:
		value[bit / 8] ^= (u8)(1u << bit % 8);
		text_printf(how, "bit %u", bit);
		break;
	}
}

static void say_flip_value(const u8 *value, u32 bits, struct text *t)
{
	u32 bytes = (bits + 7) / 8;

	text_puts(t, "0x");
	for (u32 i = bytes; i-- > 0;)
		text_printf(t, "%02x", value[i]);
}

static void say_lane(const struct exec_env *e, const struct cta *c, const struct pending *p,
		     struct text *t)
{
	u32 thread = p->warp * WARP_LANES + p->lane, x = e->block[0], y = e->block[1];

	text_printf(t, "block (%u,%u,%u) thread (%u,%u,%u), ", c->id[0], c->id[1], c->id[2],
		    thread % x, thread / x % y, thread / x / y);
	device_say_place(e->program, p->pc, t);
}

static void say_flip_target(const struct exec_env *e, const struct pending *p, struct text *t)
{
	const struct ir_func *f = e->program->funcs[e->program->uop[p->pc].func].func;
	const struct ir_reg *r = &f->regs.at[p->in_memory ? 0 : p->reg];
	const struct ir_regdecl *decl = &f->regdecls.at[r->decl];

	if (p->in_memory)
		text_printf(t, ": memory at 0x%llx, ", (unsigned long long)p->address);
	else if (decl->family)
		text_printf(t, ": %s%u, ", decl->name->text, r->number);
	else
		text_printf(t, ": %s, ", decl->name->text);
}

static bool move_result(struct debug_grid *d, struct cta *c, const struct pending *p, u8 *value,
			bool write)
{
	struct debug_frame frame;
	u32 bytes = (p->bits + 7) / 8;

	if (p->in_memory)
		return write ? debug_write_memory(d, c, p->warp, p->lane, (enum mem_space)p->space,
						  p->address, value, bytes)
			     : debug_read_memory(d, c, p->warp, p->lane, (enum mem_space)p->space,
						 p->address, value, bytes);
	if (!debug_frames(d, c, p->warp, p->lane, &frame, 1))
		return false;
	return write ? debug_write_register(d, c, p->warp, p->lane, &frame, p->reg, value, bytes)
		     : debug_read_register(d, c, p->warp, p->lane, &frame, p->reg, value, bytes);
}

/* The instruction has run. */
static void apply_flip(struct debug_grid *d, struct cta *c, struct flip *f)
{
	const struct exec_env *e = debug_env(d);
	struct pending *p = &f->pending;
	u8 value[RESULT_BYTES] = {0};
	struct text t = {0}, how = {0};
	bool is_read = move_result(d, c, p, value, false);

	p->on = false;
	f->done = true;
	inject_say(inject_get(), f->rule, &t);
	text_printf(&t, "launch %llu of these, ", (unsigned long long)f->nth_launch);
	demangle(e->program->funcs[0].func->name->text, &t);
	text_printf(&t, ": instruction %llu", (unsigned long long)f->target);
	if (f->total)
		text_printf(&t, " of %llu", (unsigned long long)f->total);
	text_printf(&t, " (%s), ", inject_group_name(f->rule->group));
	say_lane(e, c, p, &t);
	say_flip_target(e, p, &t);
	if (!is_read) {
		text_puts(&t, "which nothing reads");
	} else if (f->rule->flip == FLIP_BIT && f->rule->bit >= p->bits) {
		text_printf(&t, "there is no bit %u", f->rule->bit);
	} else {
		u8 before[RESULT_BYTES];

		memcpy(before, value, sizeof(before));
		change_value(f, value, p->bits, &how);
		text_printf(&t, "%s: ", how.at ? how.at : "");
		say_flip_value(before, p->bits, &t);
		text_puts(&t, " becomes ");
		say_flip_value(value, p->bits, &t);
		if (!inject_get()->is_dry)
			move_result(d, c, p, value, true);
	}
	inject_put(&t);
	text_fini(&how);
}

/* Of the lane that is about to run the instruction; nothing pends if it has no such result. */
static void aim(struct debug_grid *d, struct gang *g, u32 pc, u32 lane, struct flip *f)
{
	const struct exec_env *e = debug_env(d);
	const struct ir_func *func;
	const struct ir_insn *in = inject_insn_at(e->program, pc, &func);
	bool in_memory = inject_is_atomic(in) &&
			 (f->rule->group == GROUP_FP32 || f->rule->group == GROUP_FP64);
	const struct ir_operand *o = in_memory ? inject_atomic_address(func, in)
					       : inject_written(func, in, (u32)(draw_of(f, 3) % 8));
	const struct uop *reader = in_memory ? inject_reader_of(e->program, pc) : NULL;
	struct pending p = {.on = true,
			    .in_memory = in_memory,
			    .cta = g->cta->number,
			    .warp = g->first_warp + g->warp,
			    .lane = lane,
			    .pc = pc,
			    .reg = o->index};
	struct debug_frame frame;

	if (!in_memory) {
		p.bits = inject_register_bits(func, o->index);
		f->pending = p;
		return;
	}
	if (!reader || !debug_frames(d, g->cta, p.warp, lane, &frame, 1) ||
	    !debug_read_register(d, g->cta, p.warp, lane, &frame, o->index, &p.address,
				 inject_register_bits(func, o->index) / 8))
		return;
	p.bits = isa_type_bits(in->form->type[0]);
	p.space = reader->mem.space;
	p.address += (u64)o->imm;
	f->pending = p;
}

static u32 nth_lane(u32 mask, u64 n)
{
	while (n--)
		mask &= mask - 1;
	return (u32)__builtin_ctz(mask);
}

static void count_towards(struct debug_grid *d, struct gang *g, u32 pc, struct flip *f, u32 mask)
{
	u32 n = (u32)__builtin_popcount(mask);

	if (!f->done && f->target > f->seen && f->target - f->seen <= n)
		aim(d, g, pc, nth_lane(mask, f->target - f->seen - 1), f);
	f->seen += n;
}

static void flips_over_again(struct debug_grid *d, struct flipped_launch *l)
{
	l->again = false;
	debug_changed(d);
}

static enum debug_verdict flips_step(void *user, struct debug_grid *d, struct gang *g,
				     const struct uop *in)
{
	struct flipped_launch *l = find_launch(d);
	u32 pc = (u32)(in - g->uops), warp = g->first_warp + g->warp, mask = exec_step_mask(g, 0);
	bool pends = false;

	(void)user;
	if (l && l->again)
		flips_over_again(d, l);
	for (size_t i = 0; l && i < l->list.len; i++) {
		struct flip *f = &l->list.at[i];

		if (f->pending.on && f->pending.cta == g->cta->number && f->pending.warp == warp &&
		    mask >> f->pending.lane & 1)
			apply_flip(d, g->cta, f);
		if (l->groups[pc] >> f->rule->group & 1)
			count_towards(d, g, pc, f, exec_step_passes(g, in, 0));
		pends |= f->pending.on;
	}
	if (l)
		set_pending(l, pends);
	return DEBUG_GO_ON;
}

/* ---- the end ---- */

/* Draw what has been counted. False: there is nothing to be drawn. */
static bool draw_targets(struct flipped_launch *l)
{
	bool any = false;

	for (size_t i = 0; i < l->list.len; i++) {
		struct flip *f = &l->list.at[i];

		f->total = f->seen;
		if (f->rule->act == INJECT_FLIP && !f->rule->inst && f->total) {
			f->target = draw_of(f, 0) % f->total + 1;
			any = true;
		}
	}
	for (size_t i = 0; any && i < l->list.len; i++)
		l->list.at[i].seen = 0;
	return any;
}

static void put_printed(const struct debug_grid *d, struct flipped_launch *l)
{
	const struct rt_device *of = rt_device_of(debug_env(d)->mem);
	const struct device *dev = of ? &of->dev : NULL;

	l->counts = false;
	if (dev && dev->syscalls.print && l->printed.len)
		dev->syscalls.print(dev->syscalls.user, l->printed.at, l->printed.len);
}

static enum debug_verdict flips_over(void *user, struct debug_grid *d)
{
	struct flipped_launch *l = find_launch(d);
	struct text why = {0};

	(void)user;
	if (!l || !l->counts)
		return DEBUG_GO_ON;
	if (!draw_targets(l)) {
		put_printed(d, l);
		return DEBUG_GO_ON;
	}
	if (!debug_back(d, debug_start(d), debug_start(d), &why)) {
		fprintf(stderr,
			"ptxloom: inject: no instruction can be drawn from this launch: %s; inst=N "
			"names one of %llu\n",
			why.at ? why.at : "no memory left",
			(unsigned long long)l->list.at[0].total);
		text_fini(&why);
		put_printed(d, l);
		return DEBUG_GO_ON;
	}
	text_fini(&why);
	text_fini(&l->printed);
	l->printed = (struct text){0};
	l->counts = false;
	l->again = true;
	return DEBUG_BACK;
}

static bool flips_print(void *user, struct debug_grid *d, const char *text, size_t len)
{
	struct flipped_launch *l = find_launch(d);

	(void)user;
	if (!l || !l->counts)
		return false;
	text_add(&l->printed, text, len);
	return true;
}

static void say_count(const struct debug_grid *d, struct flip *f)
{
	struct text t = {0};

	inject_say(inject_get(), f->rule, &t);
	text_printf(&t, "launch %llu of these, ", (unsigned long long)f->nth_launch);
	demangle(debug_env(d)->program->funcs[0].func->name->text, &t);
	text_printf(&t, ": %llu instructions of threads (%s)", (unsigned long long)f->seen,
		    inject_group_name(f->rule->group));
	inject_put(&t);
}

static void flips_end(void *user, struct debug_grid *d, const struct fault *fault)
{
	struct flipped_launch *l = find_launch(d);

	(void)user;
	(void)fault;
	if (l && l->counts)
		put_printed(d, l);
	for (size_t i = 0; l && i < l->list.len; i++) {
		struct flip *f = &l->list.at[i];

		if (f->rule->act == INJECT_COUNT)
			say_count(d, f);
		else if (!f->done && f->rule->inst > f->seen)
			fprintf(stderr,
				"ptxloom: inject: launch %llu of these has %llu instructions only (%s)\n",
				(unsigned long long)f->nth_launch, (unsigned long long)f->seen,
				inject_group_name(f->rule->group));
	}
	if (l)
		set_pending(l, false);
	drop_launch(d);
}

void inject_results_forget(void)
{
	pthread_mutex_init(&flips.lock, NULL);
	flips.launches = NULL;
	flips.pending = 0;
	flips.attentive = false;
}

const struct debug_hooks *inject_hooks(void)
{
	static struct debug_hooks hooks = {
		.launch_begin = flips_begin,
		.launch_end = flips_end,
		.step = flips_step,
		.over = flips_over,
		.print = flips_print,
		.attentive = &flips.attentive,
		.keeps_limits = true,
	};
	const struct inject *j = inject_get();

	if (!j || !inject_rules_flip_results(&j->rules))
		return NULL;
	for (size_t i = 0; i < j->rules.list.len; i++)
		if (inject_of_results(&j->rules.list.at[i]) &&
		    j->rules.list.at[i].act == INJECT_FLIP && !j->rules.list.at[i].inst)
			hooks.history_bytes = HISTORY_BYTES;
	return &hooks;
}
