/*
 * Folded accesses: telling them.
 */
#include "src/exec/fold.h"
#include "src/exec/lane_access.h"

#include <stdlib.h>

struct exec_folds *exec_folds_of(const struct gang *g, const struct uop *in,
				 enum exec_access_kind kind, u32 space)
{
	struct exec_folds *f = g->folds[in->mem.cache];
	u32 gangs = g->cta->gangs;

	if (f)
		return f;
	f = g->folds[in->mem.cache] = calloc(1, sizeof(*f) + gangs * sizeof(f->row[0]));
	if (f) {
		f->kind = (u8)kind;
		f->space = (u8)space;
		f->gangs = gangs;
		f->version = 1;
	}
	return f;
}

struct exec_fold_row *exec_fold_row_of(const struct gang *g, struct exec_folds *f, u32 bytes)
{
	struct exec_fold_row **r = &f->row[g - g->cta->gang];

	if (!*r)
		*r = calloc(1, sizeof(**r) + bytes);
	return *r;
}

void exec_folds_free(struct exec_folds **folds, u32 len)
{
	for (u32 i = 0; folds && i < len; i++) {
		for (u32 k = 0; folds[i] && k < folds[i]->gangs; k++)
			free(folds[i]->row[k]);
		free(folds[i]);
	}
	free(folds);
}

static void tell_folded(const struct cta *c, struct exec_access *e, u32 mask, enum mem_space space)
{
	const struct exec_observer *o = c->env->observer;

	e->mask = mask;
	e->space = (u8)space;
	if (mask)
		o->alike(o->user, e);
}

/* By space, as accesses that are told at once. */
static void tell_folded_generic(const struct cta *c, struct exec_access *e, const u64 *from,
				u32 mask)
{
	u64 address[WARP_LANES];
	u32 shared = 0, local = 0;

	memcpy(address, from, sizeof(address));
	for (u32 m = mask; m; m &= m - 1) {
		u32 l = (u32)__builtin_ctz(m);
		enum mem_space space = generic_space(c->env->mem, &address[l]);

		shared |= (u32)(space == MEM_SHARED) << l;
		local |= (u32)(space == MEM_LOCAL) << l;
	}
	e->address = address;
	tell_folded(c, e, mask & ~shared & ~local, MEM_GLOBAL);
	tell_folded(c, e, shared, MEM_SHARED);
	tell_folded(c, e, local, MEM_LOCAL);
}

static void tell_fold(const struct cta *c, const struct uop *in, const struct exec_folds *f,
		      struct exec_fold *x)
{
	struct exec_access e = {.cta = c,
				.in = in,
				.pc = (u32)(in - c->env->program->uop),
				.warp = x->warp,
				.kind = f->kind,
				.size = in->mem.size,
				.count = in->mem.count,
				.bytes = (u64)in->mem.size * in->mem.count,
				.address = x->address,
				.more = x->times - 1};

	if (!x->times)
		return;
	x->times = 0;
	if (f->space == MEM_GENERIC)
		tell_folded_generic(c, &e, x->address, x->mask);
	else
		tell_folded(c, &e, x->mask, f->space);
}

struct exec_fold *exec_fold_begin(const struct gang *g, const struct uop *in, struct exec_folds *f,
				  const u64 *address, u32 mask, u32 warp)
{
	struct exec_fold *x = f->at;

	tell_fold(g->cta, in, f, &x[FOLD_PLACES - 1]);
	memmove(x + 1, x, sizeof(*x) * (FOLD_PLACES - 1));
	f->version++;
	x->times = 1;
	x->mask = mask;
	x->warp = warp;
	x->pattern = ++g->cta->patterns;
	memcpy(x->address, address, sizeof(x->address));
	return x;
}

void exec_folds_tell(const struct cta *c, struct exec_folds **folds)
{
	const struct program *p = c->env->program;

	for (u32 pc = 0; pc < p->uops; pc++) {
		const struct uop *in = &p->uop[pc];
		struct exec_folds *f = uop_has_access(in->inner) ? folds[in->mem.cache] : NULL;

		for (u32 i = 0; f && i < FOLD_PLACES; i++)
			tell_fold(c, in, f, &f->at[i]);
		/* Another launch has other rows. */
		if (f)
			f->version++;
	}
}
