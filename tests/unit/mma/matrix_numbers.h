/*
 * Numbers for sums of products, by seed: styles that show how many bits of small terms are kept,
 * where the least exponent is, and what infinities and NaN do.
 */
#ifndef PL_TESTS_UNIT_MATRIX_NUMBERS_H
#define PL_TESTS_UNIT_MATRIX_NUMBERS_H

#include "tests/unit/mma/dot_model.h"

static const char *const styles[] = {"ordinary", "spread", "finite", "any", "tiny"};

#define STYLES ARRAY_LEN(styles)

static u64 state;

static u32 next(void)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (u32)(state >> 33);
}

/*
 * Exponents near 1, and bits of all kinds: what is kept below the largest term is seen in the sum.
 */
static u32 spread_number(const struct dot_format *f)
{
	u32 one = (1u << (f->exponent - 1)) - 1, all = (1u << f->fraction) - 1, r = next();
	u32 wide = one > 13 ? 13 : one - 1, field = one - wide + r % (2 * wide + 1);
	u32 fractions[4] = {0, all, 1u << r / 64 % f->fraction, next() & all};

	return r % 11 == 0 ? 0 : field << f->fraction | fractions[r / 1024 % 4];
}

/* Half are zeros, others of one bit mostly: products near the least exponent of their sums. */
static u32 tiny_number(const struct dot_format *f, bool sum)
{
	u32 one = (1u << (f->exponent - 1)) - 1, r = next(), s = next();
	u32 fraction = s % 4 == 0 ? 1 : s % 4 == 1 ? 1u << (s / 4 % f->fraction) : 0;
	u32 field = 1 + r / 64 % 4;

	if (r % 8 < (sum ? 5u : 3u))
		return 0;
	if (r % 8 == 7)
		field = 0;
	else if (f->exponent > 5 && !sum)
		field = one - (one / 2 - 6) - r / 64 % 16;
	else if (f->exponent > 5 && r % 8 == 6)
		field = one - 20 - r / 64 % 32;
	if (f->exponent < 4)
		field &= 1;
	return field << f->fraction | (field || fraction ? fraction : 1u << (s / 4 % f->fraction));
}

static u32 number(enum dot_kind kind, u32 style, bool sum)
{
	const struct dot_format *f = &dot_formats[kind];
	u32 top = (1u << f->exponent) - 1, all = (1u << f->fraction) - 1, r = next(), bits;
	u32 sign = (r & 1) << (f->exponent + f->fraction), field = next() & top;

	if (style == 0) {
		bits = (top / 2 + (f->exponent > 3 ? next() % 5 - 3 : next() % 2)) << f->fraction;
		bits |= next() & all;
	} else if (style == 1) {
		bits = spread_number(f);
	} else if (style == 4) {
		bits = tiny_number(f, sum);
	} else {
		bits = (style == 2 && field == top ? field - 1 : field) << f->fraction |
		       (next() & all);
	}
	bits |= sign;
	return kind == DOT_TF32   ? bits << 13 | (r >> 8 & 0x1fff)
	       : kind == DOT_E2M1 ? bits << 2
				  : bits;
}

#endif
