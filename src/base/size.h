/*
 * Checked arithmetic of sizes. Bytes, pitches, counts and offsets from programs and files are
 * computed with these: 64 bits wrap silently, and a wrapped value passes every later check.
 *
 * Functions return false when the true result does not fit; *out is then undefined.
 */
#ifndef PL_SIZE_H
#define PL_SIZE_H

#include "src/base/base.h"

static inline bool size_add(u64 a, u64 b, u64 *out)
{
	return !__builtin_add_overflow(a, b, out);
}

static inline bool size_mul(u64 a, u64 b, u64 *out)
{
	return !__builtin_mul_overflow(a, b, out);
}

/* a * b + c */
static inline bool size_mul_add(u64 a, u64 b, u64 c, u64 *out)
{
	return size_mul(a, b, out) && size_add(*out, c, out);
}

/* x, rounded up to a multiple of `align`, a power of two. */
static inline bool size_align_up(u64 x, u64 align, u64 *out)
{
	if (!size_add(x, align - 1, out))
		return false;
	*out &= ~(align - 1);
	return true;
}

/*
 * Does [at, at + bytes) lie in [base, base + size)? Neither sum is computed, so that ranges may end
 * at the end of the address space.
 */
static inline bool size_inside(u64 at, u64 bytes, u64 base, u64 size)
{
	return at >= base && bytes <= size && at - base <= size - bytes;
}

/* Does [at, at + bytes) end within the address space? */
static inline bool size_is_range(u64 at, u64 bytes)
{
	u64 end;

	return size_add(at, bytes, &end);
}

/* Bytes from the start of the first row to byte x of row y of slice z. */
static inline bool size_offset(u64 x, u64 y, u64 pitch, u64 z, u64 slice, u64 *out)
{
	u64 rows;

	return size_mul_add(y, pitch, x, &rows) && size_mul_add(z, slice, rows, out);
}

#endif
