/*
 * Runs a kernel of a PTX text under a debugger's hooks, and without: for tests of
 * src/sched/debug.h.
 */
#ifndef PL_DEBUG_RUN_H
#define PL_DEBUG_RUN_H

#include "grammar/parse.h"
#include "src/lower/lower.h"
#include "src/base/text.h"
#include "src/host/syscall.h"
#include "src/sched/debug.h"

#include <stdlib.h>

struct debug_run {
	const char *ptx;
	const char *kernel; /* NULL: k */
	const char *device; /* NULL: h200 */
	u32 grid[3], block[3], cluster[3];
	bool cooperative, plain; /* plain: without a debugger */
	u32 resident;            /* CTAs of an SM; 0: 2 */
	const void *params;
	const struct debug_hooks *hooks;
	struct mem *mem;
	u32 dynamic_shared;
	/* what came of it */
	struct program *p;
	struct ir_module *m;
	struct fault fault;
	bool done;
	struct diag_source source;
	struct text printed;
	struct sched_pool *pool;
	u64 var_address[256];
};

static inline void debug_run_done(void *user, const struct sched_end *end)
{
	struct debug_run *r = user;

	r->done = true;
	if (end->fault)
		r->fault = *end->fault;
}

static inline void debug_run_print(void *user, const char *text, size_t len)
{
	text_add(&((struct debug_run *)user)->printed, text, len);
}

/* False: it could not be run at all. */
static inline bool debug_run_open(struct debug_run *r)
{
	struct lower_options options = {.warps =
						(r->block[0] * r->block[1] * r->block[2] + 31) / 32,
					.one_to_one = !r->plain};

	struct text messages = {0};
	struct diag d;

	r->source = (struct diag_source){"test.ptx", r->ptx, strlen(r->ptx)};
	diag_init(&d, diag_collect, &messages);
	r->m = ptx_parse(&r->source, NULL, &d);
	for (u32 i = 0; r->m && i < r->m->vars.len && i < ARRAY_LEN(r->var_address); i++) {
		const struct ir_var *v = r->m->vars.at[i];

		if (v->space != M_global && v->space != M_const)
			continue;
		r->var_address[i] = mem_alloc(r->mem, v->size_bytes, v->align, MEM_KIND_DEVICE);
		if (v->data)
			memcpy((void *)(uintptr_t)r->var_address[i], v->data, v->data_len);
	}
	if (r->m)
		r->p = exec_lower(r->m, ir_find_func(r->m, r->kernel ? r->kernel : "k"),
				  arch_find(r->device ? r->device : "h200"), r->var_address,
				  &options, &d);
	if (!r->p)
		printf("# %s\n", messages.at ? messages.at : "?");
	text_fini(&messages);
	diag_fini(&d);
	return r->p != NULL;
}

static inline bool debug_run_go(struct debug_run *r)
{
	struct exec_syscalls syscalls = {.print = debug_run_print, .user = r};
	struct sched_launch l = {
		.env =
			{
				.program = r->p,
				.ops = exec_ops_select(NULL),
				.mem = r->mem,
				.params = r->params,
				.param_address = 0,
				.grid = {r->grid[0], r->grid[1], r->grid[2]},
				.block = {r->block[0], r->block[1], r->block[2]},
				.cluster = {r->cluster[0], r->cluster[1], r->cluster[2]},
				.shared_bytes = r->p->shared_static + r->dynamic_shared,
				.dynamic_shared = r->dynamic_shared,
				.local_bytes = exec_local_bytes(r->p, 4096),
				.syscalls = &syscalls,
			},
		.cooperative = r->cooperative,
		.resident_per_sm = r->resident ? r->resident : 2,
		.done = debug_run_done,
		.user = r,
	};

	r->done = false;
	r->fault = (struct fault){0};
	r->pool = sched_pool_new(&(struct sched_options){.deterministic = true});
	if (!r->plain)
		sched_set_debug(r->pool, r->hooks);
	if (!r->pool || !sched_start(r->pool, &l, false))
		return false;
	while (!r->done)
		sched_go_wait(r->pool);
	sched_pool_free(r->pool);
	r->pool = NULL;
	return true;
}

static inline void debug_run_close(struct debug_run *r)
{
	exec_program_free(r->p);
	ir_module_free(r->m);
	text_fini(&r->printed);
	for (u32 i = 0; i < ARRAY_LEN(r->var_address); i++)
		if (r->var_address[i])
			mem_free(r->mem, r->var_address[i]);
	r->p = NULL;
	r->m = NULL;
}

/* The instruction whose text in the PTX begins with `text`; NO_PC: none. */
static inline u32 debug_run_at(const struct debug_run *r, const char *text)
{
	const char *at = strstr(r->ptx, text);

	for (u32 pc = 0; at && pc < r->p->launch_first; pc++) {
		const struct ir_func *f = r->p->funcs[r->p->uop[pc].func].func;
		u32 ir = r->p->uop[pc].ir;

		if (exec_is_first(r->p, pc) && ir < f->insns.len &&
		    f->insns.at[ir].begin == (u32)(at - r->ptx))
			return pc;
	}
	return NO_PC;
}

/* Index of a register of a function by its name, UINT32_MAX: none. */
static inline u32 debug_run_register(const struct ir_func *f, const char *name)
{
	for (u32 i = 0; i < f->regs.len; i++) {
		const struct ir_regdecl *d = &f->regdecls.at[f->regs.at[i].decl];
		char have[64];

		if (d->family)
			snprintf(have, sizeof(have), "%s%u", d->name->text, f->regs.at[i].number);
		else
			snprintf(have, sizeof(have), "%s", d->name->text);
		if (!strcmp(have, name))
			return i;
	}
	return UINT32_MAX;
}

#endif
