/*
 * Runs a kernel of a PTX text on the gang engine without devices or schedulers: one worker, CTAs
 * one after the other.
 */
#ifndef PL_TESTS_EXEC_HARNESS_H
#define PL_TESTS_EXEC_HARNESS_H

#include "grammar/parse.h"
#include "src/lower/lower.h"
#include "src/exec/exec.h"

#include <stdlib.h>

struct harness {
	struct ir_module *m;
	struct mem mem;
	struct exec_env env;
	struct fault fault;
	struct diag_source source;
	struct diag d;
	struct text messages;
	u64 *var_address; /* by variable of m */
	const struct exec_syscalls *syscalls;
	u32 stack_limit; /* 0: 65536 beyond the kernel's frame */
	u32 cancel;
	const char *device; /* profile, NULL: h200 */
	bool async_eager;
	const struct tex_table *textures;
	const struct exec_observer *observer; /* NULL: none */
	bool contract;                        /* products go into sums */
	const char *host_functions;           /* lower_options */
	u64 turns;                            /* a CTA or cluster may take so many; 0: no limit */
	s32 budget;                           /* of a turn, 0: 10000 */
};

static inline bool harness_open(struct harness *h, const char *ptx)
{
	memset(h, 0, sizeof(*h));
	h->source = (struct diag_source){"test.ptx", ptx, strlen(ptx)};
	diag_init(&h->d, diag_collect, &h->messages);
	h->m = ptx_parse(&h->source, NULL, &h->d);
	if (!h->m)
		fprintf(stderr, "%s\n", h->messages.at);
	h->var_address = h->m ? calloc(h->m->vars.len + 1, sizeof(u64)) : NULL;
	return h->m && mem_init(&h->mem, (u64)1 << 30);
}

static inline void harness_close(struct harness *h)
{
	free(h->var_address);
	ir_module_free(h->m);
	mem_fini(&h->mem);
	diag_fini(&h->d);
	text_fini(&h->messages);
}

/* Addresses in initial data. */
static inline void harness_relocate(struct harness *h, u32 var)
{
	const struct ir_var *v = h->m->vars.at[var];
	struct exec_unit unit = {h->m, h->var_address};

	for (u32 i = 0; i < v->relocs_len; i++) {
		const struct ir_reloc *r = &v->relocs[i];
		u64 x = r->is_func ? exec_function_address(&unit, 1, 0, r->index)
				   : h->var_address[r->index];

		x = (x + (u64)r->addend) >> r->shift;
		x = r->masked ? x & 0xff : x;
		memcpy((u8 *)(uintptr_t)h->var_address[var] + r->at, &x, r->size);
	}
}

static inline void harness_place_vars(struct harness *h)
{
	for (u32 i = 0; i < h->m->vars.len; i++) {
		const struct ir_var *v = h->m->vars.at[i];

		if (v->space != M_global && v->space != M_const)
			continue;
		h->var_address[i] =
			mem_alloc(&h->mem, v->size_bytes, v->align,
				  v->space == M_const ? MEM_KIND_CONST : MEM_KIND_DEVICE);
		if (v->data)
			memcpy((void *)(uintptr_t)h->var_address[i], v->data, v->data_len);
	}
	for (u32 i = 0; i < h->m->vars.len; i++)
		if (h->var_address[i])
			harness_relocate(h, i);
}

/* Storage of one CTA; register blocks are 64-byte aligned. */
static inline void harness_cta(struct harness *h, struct cta *c, u32 threads)
{
	const struct program *p = h->env.program;
	u32 warps = (threads + 31) / 32, gangs = (warps + p->gang - 1) / p->gang;

	*c = (struct cta){.env = &h->env, .warps = warps, .threads = threads, .gangs = gangs};
	c->warp = calloc(warps, sizeof(*c->warp));
	c->gang = calloc(gangs, sizeof(*c->gang));
	c->shared = aligned_alloc(1024, align_up(h->env.shared_bytes + 1, 1024));
	c->local = calloc(1, (size_t)warps * 32 * h->env.local_bytes + 64);
	for (u32 i = 0; i < gangs; i++) {
		struct gang *g = &c->gang[i];

		g->regs = aligned_alloc(64, p->block_bytes);
		memset(g->regs, 0, p->block_bytes);
		g->first_warp = i * p->gang;
		g->warps = warps - g->first_warp < p->gang ? warps - g->first_warp : p->gang;
		g->uops = p->uop;
		g->env = &h->env;
		g->cta = c;
		g->warp_at = c->warp + g->first_warp;
		g->caches = calloc(p->cache_slots, sizeof(*g->caches));
		g->shared = c->shared;
		g->local = c->local + (size_t)g->first_warp * 32 * h->env.local_bytes;
		g->fault = &h->fault;
	}
	exec_cta_prepare(c);
}

static inline void harness_cta_free(struct cta *c)
{
	for (u32 i = 0; i < c->gangs; i++) {
		free(c->gang[i].regs);
		free(c->gang[i].caches);
	}
	exec_cta_free(c);
	free(c->warp);
	free(c->gang);
	free(c->shared);
	free(c->local);
}

/* Dimensions of the clusters a kernel asks for. */
static inline void harness_cluster_dims(struct harness *h, const struct ir_func *f)
{
	for (u32 i = 0; i < 3; i++)
		h->env.cluster[i] =
			f->has_perf[IR_REQNCTAPERCLUSTER] && f->perf[IR_REQNCTAPERCLUSTER][i]
				? f->perf[IR_REQNCTAPERCLUSTER][i]
				: 1;
	h->env.explicit_cluster = f->has_perf[IR_REQNCTAPERCLUSTER];
}

/*
 * Run the grid of h->env, cluster after cluster. budget: of a turn. Returns STOP_DONE, STOP_FAULT,
 * or STOP_YIELD when a cluster has not ended after `turns` turns (0: no limit).
 */
static inline enum exec_stop harness_grid(struct harness *h, s32 budget, u64 turns)
{
	const u32 *d = h->env.cluster, *n = h->env.grid;
	u32 threads = h->env.block[0] * h->env.block[1] * h->env.block[2], clusters[3], total;
	struct cta cta[CLUSTER_CTAS_MAX];
	struct cluster cl = {.size = d[0] * d[1] * d[2]};
	enum exec_stop stop = STOP_DONE;

	for (u32 i = 0; i < 3; i++)
		clusters[i] = n[i] / d[i];
	total = clusters[0] * clusters[1] * clusters[2];
	for (u32 r = 0; r < cl.size; r++) {
		harness_cta(h, &cta[r], threads);
		cl.cta[r] = &cta[r];
		cta[r].cluster = cl.size > 1 ? &cl : NULL;
		cta[r].rank = r;
	}
	for (u32 i = 0; i < total && stop == STOP_DONE; i++) {
		u64 left = turns;

		cl.done = 0;
		for (u32 r = 0; r < cl.size; r++) {
			struct cta *c = &cta[r];

			c->id[0] = i % clusters[0] * d[0] + r % d[0];
			c->id[1] = i / clusters[0] % clusters[1] * d[1] + r / d[0] % d[1];
			c->id[2] = i / clusters[0] / clusters[1] * d[2] + r / d[0] / d[1];
			c->number = c->id[0] + (u64)n[0] * (c->id[1] + (u64)n[1] * c->id[2]);
			exec_cta_start(c);
		}
		do
			stop = cl.size > 1 ? exec_cluster_run(&cl, budget)
					   : exec_cta_run(&cta[0], budget);
		while (stop == STOP_YIELD && --left);
	}
	for (u32 r = 0; r < cl.size; r++)
		harness_cta_free(&cta[r]);
	return stop;
}

/*
 * Lower `kernel` and fill h->env for a launch. level: host ISA, NULL: the best. To be ended by
 * harness_end.
 */
static inline bool harness_begin(struct harness *h, const char *kernel, u32 grid, u32 block,
				 const void *params, const char *level)
{
	struct lower_options options = {.warps = (block + 31) / 32,
					.check = true,
					.no_fusion = h->observer != NULL,
					.contract = h->contract,
					.host_functions = h->host_functions};
	const struct exec_ops *ops = exec_ops_select(level);
	u32 *tid = calloc(3 * 2048, sizeof(u32));
	struct program *p = exec_lower(h->m, ir_find_func(h->m, kernel),
				       arch_find(h->device ? h->device : "h200"), h->var_address,
				       &options, &h->d);

	h->env = (struct exec_env){.program = p, .tid = tid};
	if (!p)
		return false;
	h->env = (struct exec_env){
		.program = p,
		.ops = h->observer ? ops->watched : ops,
		.observer = h->observer,
		.mem = &h->mem,
		.params = params,
		.grid = {grid, 1, 1},
		.block = {block, 1, 1},
		.shared_bytes = p->shared_static + 4096,
		.cancel = &h->cancel,
		.tid = tid,
		.syscalls = h->syscalls,
		.async_eager = h->async_eager,
		.textures = h->textures,
		.local_bytes = h->stack_limit ? exec_local_bytes(p, h->stack_limit)
					      : p->frame_bytes + 65536,
	};
	for (u32 i = 0; i < block; i++)
		tid[i] = i;
	memset(&h->fault, 0, sizeof(h->fault));
	harness_cluster_dims(h, ir_find_func(h->m, kernel));
	return true;
}

static inline void harness_end(struct harness *h)
{
	free((void *)(uintptr_t)h->env.tid);
	exec_program_free((struct program *)(uintptr_t)h->env.program);
}

/*
 * Run `kernel`; returns STOP_DONE, STOP_FAULT (see h->fault) or, with h->turns, STOP_YIELD. level:
 * host ISA, NULL = best.
 */
static inline enum exec_stop harness_run(struct harness *h, const char *kernel, u32 grid, u32 block,
					 const void *params, const char *level)
{
	enum exec_stop stop = STOP_FAULT;

	if (harness_begin(h, kernel, grid, block, params, level))
		stop = harness_grid(h, h->budget ? h->budget : 10000, h->turns);
	harness_end(h);
	return stop;
}

#endif
