/*
 * Structures of the runtime interface's copies, for copies at once and as nodes of graphs.
 */
#ifndef PL_RT_COPY_H
#define PL_RT_COPY_H

#include "runtime/rt.h"
#include "src/dev/memory/copy.h"

struct rt_pos { /* cudaPos */
	size_t x, y, z;
};

struct rt_copy_3d_end {
	void *array;
	struct rt_pos pos;
	struct rt_pitched ptr;
};

/* cudaMemcpy3DParms */
struct rt_copy_3d {
	struct rt_copy_3d_end src, dst;
	struct rt_extent extent;
	int kind;
};

/* Read the parameters of a copy that is not empty. Returns an error number. */
int rt_copy_3d(const struct rt_copy_3d *p, struct copy *out);
/* Say where the ends are that are no arrays: cudaMemcpyKind. Returns an error number. */
int rt_copy_places(struct copy *c, int kind);

#endif
