/*
 * Global memory at affine addresses, all of a gang at once: for the handler files that say with
 * struct reach, find_reach and host_of where the lanes' elements lie. See affine.h.
 */
#ifndef PL_EXEC_AFFINE_ROWS_H
#define PL_EXEC_AFFINE_ROWS_H

#include "src/exec/affine.h"
#include "src/ops/move_rows.h"

/* Groups of `UNIT` lanes of a gang, each a row. */
#define MOVE_UNITS(what, UNIT)                                                                     \
	for (u32 at = 0, n = LANES; at < n; at += (UNIT))                                          \
		what##_row(g, in, at, (UNIT), host_of(&x, in, at), size);

#define MOVE_REACH(what)                                                                           \
	do {                                                                                       \
		if (x.unit == WARP_LANES)                                                          \
			MOVE_UNITS(what, WARP_LANES)                                               \
		else if (x.unit == HALF_LANES)                                                     \
			MOVE_UNITS(what, HALF_LANES)                                               \
		else                                                                               \
			what##_row(g, in, 0, LANES, x.host, size);                                 \
	} while (0)

/* load_whole_SPACE and store_whole_SPACE, as MEMORY wants them. */
#define WHOLE_REACH(space)                                                                         \
	static ALWAYS_INLINE bool load_whole_##space(struct gang *g, const struct uop *in,         \
						     u32 width, u32 size)                          \
	{                                                                                          \
		struct reach x;                                                                    \
		bool same;                                                                         \
		if (PL_UNLIKELY(!find_reach(g, in, width, &same, &x)))                             \
			return false;                                                              \
		if (!same) {                                                                       \
			MOVE_REACH(load);                                                          \
			return true;                                                               \
		}                                                                                  \
		for (u32 at = 0, n = LANES; at < n; at += HALF_LANES)                              \
			load_same(g, in, at, HALF_LANES, host_of(&x, in, at), size);               \
		return true;                                                                       \
	}                                                                                          \
	static ALWAYS_INLINE bool store_whole_##space(struct gang *g, const struct uop *in,        \
						      u32 width, u32 size)                         \
	{                                                                                          \
		struct reach x;                                                                    \
		bool same;                                                                         \
		if (PL_UNLIKELY(!find_reach(g, in, width, &same, &x)) || same)                     \
			return false;                                                              \
		MOVE_REACH(store);                                                                 \
		return true;                                                                       \
	}

#endif
