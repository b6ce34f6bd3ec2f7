/*
 * Handlers of policies of caches, and of what instructions say about caches.
 */
#include "src/base/l2_policy.h"
#include "src/exec/lane_access.h"
#include "src/exec/observer.h"
#include "src/ops/access.h"
#include "src/ops/lanes.h"

HANDLER(policy)
{
	enum l2_priority primary = (enum l2_priority)in->policy.primary,
			 secondary = (enum l2_priority)in->policy.secondary;

	EACH_LANE(w, l) {
		u32 at = w * WARP_LANES + l;
		float fraction;

		if (in->policy.is_range) {
			ROW64(in->d)
			[at] = l2_policy_range(primary, secondary, ROW64(in->a)[at],
					       ROW32(in->b)[at], ROW32(in->c)[at]);
			continue;
		}
		memcpy(&fraction, &ROW32(in->a)[at], sizeof(fraction));
		ROW64(in->d)[at] = l2_policy_fractional(primary, secondary, fraction);
	}
	return in + 1;
}

/* Like counts, they take no time of the emulated clocks. */
HANDLER(hint)
{
	const struct exec_observer *o = g->env->observer;
	struct exec_hint h = {
		.cta = g->cta, .in = in, .pc = (u32)(in - g->uops), .kind = in->hint.kind};

	g->clock -= EXEC_UOP_CYCLES;
	for (u32 w = 0, n = WARPS; o && o->hint && w < n; w++) {
		h.mask = mask_of(g, w);
		h.warp = cta_warp(g, w);
		h.value = ROW64(in->a) + w * WARP_LANES;
		if (h.mask)
			o->hint(o->user, &h);
	}
	return in + 1;
}
