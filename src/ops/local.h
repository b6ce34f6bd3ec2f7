/*
 * Local memory of a gang's lanes: its 32-bit words lie side by side, lane after lane, as in a GPU's
 * memory. An address that all lanes have in common, which is the rule, is a row like that of a
 * register; bytes and halves are parts of such words, wider elements take the same place in the
 * rows that follow. What needs a lane's bytes one after the other copies them.
 */
#ifndef PL_OPS_LOCAL_H
#define PL_OPS_LOCAL_H

#include "src/exec/exec.h"

/* Bytes from a word to the lane's next one. */
static inline u64 local_stride(const struct gang *g)
{
	return (u64)g->warps * WARP_LANES * 4;
}

/*
 * Host address of a lane's byte. lane: counted in the gang. The other bytes of the word lie beside
 * it.
 */
static inline u8 *local_byte(const struct gang *g, u32 lane, u64 at)
{
	return g->local + (at >> 2) * local_stride(g) + (u64)lane * 4 + (at & 3);
}

/* Any bytes of a lane, in order. */
static inline void local_read(const struct gang *g, u32 lane, u64 at, void *to, u64 bytes)
{
	u8 *d = to;

	for (u64 i = 0; i < bytes;) {
		u64 left = 4 - ((at + i) & 3), n = left < bytes - i ? left : bytes - i;

		memcpy(d + i, local_byte(g, lane, at + i), n);
		i += n;
	}
}

static inline void local_write(const struct gang *g, u32 lane, u64 at, const void *from, u64 bytes)
{
	const u8 *s = from;

	for (u64 i = 0; i < bytes;) {
		u64 left = 4 - ((at + i) & 3), n = left < bytes - i ? left : bytes - i;

		memcpy(local_byte(g, lane, at + i), s + i, n);
		i += n;
	}
}

/* Within a lane, where the two places do not overlap. */
static inline void local_copy(const struct gang *g, u32 lane, u64 to, u64 from, u64 bytes)
{
	u8 part[64];

	for (u64 i = 0; i < bytes; i += sizeof(part)) {
		u64 n = bytes - i < sizeof(part) ? bytes - i : sizeof(part);

		local_read(g, lane, from + i, part, n);
		local_write(g, lane, to + i, part, n);
	}
}

#endif
