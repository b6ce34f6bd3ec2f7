/*
 * Which instructions follow each other for the same lanes.
 */
#include "src/watch/straight.h"

/*
 * Lanes part at branches and guards. They meet at labels, and wherever they may have waited for
 * each other, so at anything that is not known never to wait.
 */
static bool stays_together(const struct uop *in)
{
	if (in->guard != NO_ROW)
		return false;
	switch (uop_kind(in->inner)) {
	case UOP_LANE:
	case UOP_NOTHING:
	case UOP_FENCE:
	case UOP_VALUE:
	case UOP_SREG:
	case UOP_LOAD:
	case UOP_STORE:
	case UOP_ATOMIC:
		return true;
	default:
		return false;
	}
}

bool watch_is_straight(const struct program *p, u32 pc)
{
	const struct uop *in = &p->uop[pc];

	if (!pc || !stays_together(in))
		return false;
	for (u32 i = pc; i-- > 0;) {
		if (!stays_together(&p->uop[i]) || p->uop[i].func != in->func)
			return false;
		if (exec_is_first(p, i))
			return true;
	}
	return false;
}
