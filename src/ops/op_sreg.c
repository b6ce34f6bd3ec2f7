/*
 * Special registers. PTX ISA "Special Registers".
 */
#include "src/ops/lanes.h"

/* %tid.x, .y, .z */
HANDLER(sreg_tid)
{
	const u32 *t = g->env->tid + (u64)in->sreg.component * g->cta->warps * WARP_LANES +
		       (u64)(g->first_warp + g->warp) * WARP_LANES;

	u32 *d = ROW32(in->d), active = g->active;

	if (g->mode == MODE_GANG) {
		memcpy(d, t, sizeof(*d) * LANES);
	} else {
		FOR_LANES(l, WARP_LANES)
			d[l] = active >> l & 1 ? t[l] : d[l];
	}
	return in + 1;
}

/* Those that are one value for the whole CTA. */
HANDLER(sreg_uniform)
{
	if (PL_UNLIKELY(g->env->program->reads_clock))
		exec_clock_wait(g, (u32)(in - g->uops), in->sreg.waits, WARPS);
	fill_row(g, in->d, in->flags & UOPF_WIDE_DATA,
		 exec_sreg_uniform(g, in->sreg.number, in->sreg.component));
	return in + 1;
}

/* A special register that is a predicate. */
HANDLER(sreg_pred)
{
	u32 v = exec_sreg_uniform(g, in->sreg.number, 0) ? FULL_MASK : 0;

	for (u32 w = 0; w < WARPS; w++) {
		u32 mask = g->mode == MODE_GANG ? FULL_MASK : g->active;

		ROWP(in->d)[w] = (ROWP(in->d)[w] & ~mask) | (v & mask);
	}
	return in + 1;
}

HANDLER(sreg_uniform_x)
{
	return EXEC_NAME(op_sreg_uniform)(g, in);
}

/* %laneid, %lanemask_*, %warpid */
HANDLER(sreg_lane)
{
	for (u32 w = 0; w < WARPS; w++) {
		u32 mask = g->mode == MODE_GANG ? FULL_MASK : g->active,
		    *d = ROW32(in->d) + w * WARP_LANES;

		for (u32 m = mask; m; m &= m - 1) {
			u32 l = (u32)__builtin_ctz(m);

			d[l] = exec_sreg_lane(in->sreg.number, l, g->first_warp + g->warp + w);
		}
	}
	return in + 1;
}

/* nanosleep: the time in nanoseconds is that of the first lane that sleeps. PTX ISA "nanosleep". */
HANDLER(sleep)
{
	u32 mask = g->active & g->warp_at[g->warp].live;

	if (mask)
		exec_clock_sleep(g, ROW32(in->b)[__builtin_ctz(mask)], WARPS);
	return in + 1;
}

/* Device address of a kernel parameter. */
HANDLER(param_address)
{
	fill_row(g, in->d, in->flags & UOPF_WIDE_DATA,
		 g->env->param_address + (u64)in->address.offset);
	return in + 1;
}
