/*
 * Extents of shared variables.
 */
#include "src/exec/extents.h"

const struct program_extent *exec_extent_before(const struct program *p, u64 at)
{
	u32 lo = 0, hi = p->extent_len;

	while (lo < hi) {
		u32 mid = (lo + hi) / 2;

		if (p->extents[mid].at <= at)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo ? &p->extents[lo - 1] : NULL;
}

bool exec_extent_of(const struct exec_env *e, u64 at, u64 bytes, u64 *from, u64 *size)
{
	const struct program *p = e->program;
	const struct program_extent *x;

	if (at >= p->shared_end) {
		*from = p->shared_end;
		*size = e->shared_bytes > *from ? e->shared_bytes - *from : 0;
		return bytes <= *size && at - *from <= *size - bytes;
	}
	x = exec_extent_before(p, at);
	if (!x || bytes > x->bytes || at - x->at > x->bytes - bytes)
		return false;
	*from = x->at;
	*size = x->bytes;
	return true;
}
