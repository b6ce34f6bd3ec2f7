/*
 * Single values at the edges, where a plausible mistake would show and random operands seldom
 * fall. The rules are those of an H200.
 */
#include "src/num/mufu.h"
#include "src/num/numeric_bits.h"
#include "src/num/numeric_mini.h"
#include "tests/check.h"

int main(void)
{
	/* .ftz looks at the result rounded to 24 bits without a lower limit of the exponent. */
	CHECK_EQ(num_f32_from_f64(0x380fffffffffffffu, NUM_RN | NUM_FTZ), 0x00800000u);
	CHECK_EQ(num_f32_from_f64(0x380fffffe0000000u, NUM_RN | NUM_FTZ), 0);
	CHECK_EQ(num_div_f32(0x00800000u, 0x3f800001u, NUM_RP | NUM_FTZ), 0);

	/* Roundings far beyond the range. */
	CHECK_EQ(num_mul_f64(0x7fe0000000000000u, 0x7fe0000000000000u, NUM_RZ),
		 0x7fefffffffffffffu);
	CHECK_EQ(num_mul_f64(0x7fe0000000000000u, 0xffe0000000000000u, NUM_RP),
		 0xffefffffffffffffu);
	CHECK_EQ(num_mul_f64(0x7fe0000000000000u, 0x7fe0000000000000u, NUM_RP), NUM_INF_F64);
	CHECK_EQ(num_fma_f64(1, 1, 0x8000000000000000u, NUM_RP), 1);

	/* NaN: which operand's payload, and how it narrows. */
	CHECK_EQ(num_add_f64(0x7ff0000000000001u, 0xfff0000000000002u, NUM_RN),
		 0xfff8000000000002u);
	CHECK_EQ(num_div_f64(0x7ff0000000000001u, 0xfff0000000000002u, NUM_RN),
		 0x7ff8000000000001u);
	CHECK_EQ(num_f16_from_f64(0xfff8000000000000u, NUM_RN), 0xfe00u);
	CHECK_EQ(num_tf32_from_f32(0xff800001u, NUM_RZ), 0x7fffe000u);

	/* Integers that do not fit, and NaN by type. */
	CHECK_EQ(num_unsigned_from_f32(0x4f800000u, 32, NUM_RZ), 0xffffffffu);
	CHECK_EQ(num_signed_from_f64(0x7ff8000000000000u, 32, NUM_RZ), 0x80000000u);
	CHECK_EQ(num_signed_from_f32(0x7fc00000u, 32, NUM_RZ), 0);
	CHECK_EQ(num_s64_from_f32(0x7fc00000u, NUM_RZ), 0x8000000000000000u);
	CHECK_EQ(num_div_s32(0x80000000u, 0xffffffffu), 0x80000000u);
	CHECK_EQ(num_rem_u32(7, 0), 0xffffffffu);

	/* Divisors above 2^126 are scaled by div.full alone. */
	CHECK_EQ(num_div_full_f32(0x7f000000u, 0x7e800000u, 0), 0x40000000u);
	CHECK_EQ(num_div_full_f32(0x7f000000u, 0x7f000000u, 0), 0x3f800000u);
	CHECK_EQ(num_div_full_f32(0xfb7a1fc0u, 0x7edc19a4u, 0), 0xbc1175e2u);

	/* Exact sums that cancel: by host arithmetic. */
	CHECK_EQ(num_add_f32(0x3f800000u, 0xbf800000u, NUM_RM), 0x80000000u);
	CHECK_EQ(num_add_f32(0x3f800000u, 0xbf800000u, NUM_RP), 0);
	CHECK_EQ(num_add_f32(0x80000000u, 0x80000000u, NUM_RP), 0x80000000u);
	CHECK_EQ(num_fma_f32(0x7f7fffffu, 0x7f7fffffu, 0xff800000u, NUM_RZ), 0xff800000u);
	CHECK_EQ(num_fma_f32(0x7f7fffffu, 0x7f7fffffu, 0xff7fffffu, NUM_RZ), 0x7f7fffffu);
	return check_done();
}
