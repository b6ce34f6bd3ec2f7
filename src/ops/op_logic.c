/*
 * Handlers of logic, shifts, bit fields and conversions between integers: one function per row,
 * made from its shape and expression. Compiled once per host ISA level. Serves gang and warp mode;
 * masked mode goes through op_masked (op_control.c).
 */
#include "src/ops/lane_shapes.h"

/* A choice by each operand in turn, which is cheap for a table that is the same in all lanes. */
static inline u32 lop3_any(u32 a, u32 b, u32 c, u32 lut)
{
	u32 r[4];

	for (u32 i = 0; i < 4; i++) {
		u32 zero = -(lut >> (2 * i) & 1), one = -(lut >> (2 * i + 1) & 1);

		r[i] = zero ^ (c & (zero ^ one));
	}
	r[0] ^= b & (r[0] ^ r[1]);
	r[2] ^= b & (r[2] ^ r[3]);
	return r[0] ^ (a & (r[0] ^ r[2]));
}
#define LOP3_ANY(a, b, c, imm) lop3_any(a, b, c, (u32)(imm))

/* Too long for a lane loop. */
NUM_COLD u32 find_nth(u32 mask, u32 base, u32 offset)
{
	return num_fns_b32(mask, base, offset);
}

/* Saturation of 32-bit and 64-bit integers to (imm & 0xff) bits, signed if imm & 0x100. */
static inline s64 lowest(s64 imm)
{
	return imm & 0x100 ? (s64)(~(u64)0 << ((imm & 0xff) - 1)) : 0;
}

static inline u64 highest(s64 imm)
{
	return ~(u64)0 >> (64 - (imm & 0xff) + (imm >> 8 & 1));
}

static inline u64 clamp_s64(u64 x, s64 imm)
{
	s64 v = (s64)x, low = lowest(imm);
	u64 high = highest(imm) > INT64_MAX ? INT64_MAX : highest(imm);

	return v < low ? (u64)low : v > (s64)high ? high : x;
}

static inline u32 clamp_s32(u32 x, s64 imm)
{
	s32 v = (s32)x, low = (s32)(lowest(imm) < INT32_MIN ? INT32_MIN : lowest(imm));
	s32 high = (s32)(highest(imm) > INT32_MAX ? INT32_MAX : highest(imm));

	return (u32)(v < low ? low : v > high ? high : v);
}

static inline u32 clamp_u32(u32 x, s64 imm)
{
	u32 high = (u32)(highest(imm) > UINT32_MAX ? UINT32_MAX : highest(imm));

	return x > high ? high : x;
}

#define CLAMP_S32(x, imm) clamp_s32(x, imm)
#define CLAMP_U32(x, imm) clamp_u32(x, imm)
#define CLAMP_S64(x, imm) clamp_s64(x, imm)
#define CLAMP_U64(x, imm) ((x) > highest(imm) ? highest(imm) : (x))

#define OP LANE_HANDLER
#include "src/uop/table/logic.def"
#include "src/uop/table/cvt_int.def"
