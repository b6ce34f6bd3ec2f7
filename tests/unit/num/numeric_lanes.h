/*
 * Lane loops over the primitives, for the test of vectorised code and for the bench: one function
 * per line of numeric_lanes.def, and operands in which special values, near neighbours and
 * plain bits mix.
 */
#ifndef PL_NUMERIC_LANES_H
#define PL_NUMERIC_LANES_H

#include "src/num/mufu.h"
#include "src/num/numeric_bits.h"
#include "src/num/numeric_cmp.h"
#include "src/num/numeric_mini.h"

/* A gang's row, and how many of them make the operands. */
#define ROW_LANES 256
#define ROWS 64

struct lane_case {
	const char *name;
	u32 in_bytes, out_bytes;
	void (*row)(const void *a, const void *b, const void *c, void *d);
	u64 (*one)(u64 x, u64 y, u64 z);
};

#define LANE(in, out, name, expr)                                                                  \
	static __attribute__((noinline)) void row_##name(const void *a, const void *b,             \
							 const void *c, void *d)                   \
	{                                                                                          \
		const in *pa = __builtin_assume_aligned(a, 64),                                    \
			 *pb = __builtin_assume_aligned(b, 64);                                    \
		const in *pc = __builtin_assume_aligned(c, 64);                                    \
		out *pd = __builtin_assume_aligned(d, 64);                                         \
                                                                                                   \
		_Pragma("omp simd") for (int i = 0; i < ROW_LANES; i++)                            \
		{                                                                                  \
			in x = pa[i], y PL_UNUSED = pb[i], z PL_UNUSED = pc[i];                    \
                                                                                                   \
			pd[i] = (out)(expr);                                                       \
		}                                                                                  \
	}                                                                                          \
	static __attribute__((noinline)) u64 one_##name(u64 a, u64 b, u64 c)                       \
	{                                                                                          \
		in x = (in)a, y PL_UNUSED = (in)b, z PL_UNUSED = (in)c;                            \
                                                                                                   \
		return (u64)(out)(expr);                                                           \
	}
#include "tests/unit/num/numeric_lanes.def"
#undef LANE

static const struct lane_case lane_cases[] = {
#define LANE(in, out, name, expr) {#name, sizeof(in), sizeof(out), row_##name, one_##name},
#include "tests/unit/num/numeric_lanes.def"
#undef LANE
};

static u64 lane_seed = 0x9e3779b97f4a7c15u;

static u64 lane_random(void)
{
	lane_seed ^= lane_seed << 13;
	lane_seed ^= lane_seed >> 7;
	lane_seed ^= lane_seed << 17;
	return lane_seed;
}

static u64 lane_value(u32 bytes)
{
	static const u32 special[] = {0,          1,          0x7fffff,   0x800000,
				      0x3f800000, 0x7f7fffff, 0x7f800000, 0x7fc00000,
				      0x7ff7,     0x4f000000, 0x3c003c00, 0x7c000400,
				      0xffffffff, 31,         32,         255};
	u64 r = lane_random(), v;
	u32 s = special[r >> 8 & 15];

	switch (r & 3) {
	case 0:
		v = (u64)s << 32 | (r >> 32 & 1 ? s : 0);
		break;
	case 1:
		v = lane_random();
		break;
	default:
		/* A number of moderate size in both widths. */
		v = (lane_random() & 0x800fffff007fffffu) | (u64)(1015 + (r >> 40) % 16) << 52;
		v = bytes == 4 ? (v & 0x807fffffu) | (120 + (r >> 50) % 16) << 23 : v;
	}
	return bytes == 4 && (r & 3) == 0 ? s | (r >> 20 & 1) << 31 : v;
}

static void lane_fill(void *p, u32 bytes, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		u64 v = lane_value(bytes);

		memcpy((u8 *)p + i * bytes, &v, bytes);
	}
}

#endif
