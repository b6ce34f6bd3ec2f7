/*
 * Sums of products as the publications on tensor cores describe them, in whole numbers and slowly:
 * a second opinion for src/exec, with which it shares nothing. Xie et al., "MMA-Sim" (arXiv
 * 2511.10909); Khattak and Mikaitis, "Accurate Models of NVIDIA Tensor Cores" (arXiv 2512.07004).
 */
#ifndef PL_TESTS_UNIT_DOT_MODEL_H
#define PL_TESTS_UNIT_DOT_MODEL_H

#include "src/base/base.h"

/*
 * Bits of exponent and fraction; finite: no infinities, nor NaN but e4m3's, all bits of which are
 * set.
 */
struct dot_format {
	const char *name;
	u32 bits, exponent, fraction;
	bool finite, nan;
};

enum dot_kind {
	DOT_F16,
	DOT_BF16,
	DOT_TF32, /* in 32 bits, the lower 13 of which do not count */
	DOT_E4M3,
	DOT_E5M2,
	DOT_E3M2,
	DOT_E2M3,
	DOT_E2M1,
	DOT_F32,
	DOT_KINDS,
};

extern const struct dot_format dot_formats[DOT_KINDS];

struct dot_rule {
	u32 fraction; /* bits that terms keep below the largest exponent */
	u32 below;    /* the largest exponent is at least the result's least normal one less this */
	u32 block;    /* products of a sum; the sums follow each other */
};

/*
 * c + sum of a[i] b[i], i < n; kinds of A, B, C and D; the bits of D. An accumulator of f16 for f32
 * results is made f32 first; f16 results of f32 accumulators are rounded at the end. scale:
 * exponent that is added to that of each product.
 */
u32 dot_sum(const struct dot_rule *rule, const enum dot_kind *kinds, const u32 *a, const u32 *b,
	    u32 n, u32 c, s32 scale);

/*
 * Block-scaled fp4: `groups` sums of 16 products, each exact, times two scales m 2^e; then these
 * and c as terms with the scales' exponents.
 */
struct dot_scale {
	u32 m; /* in eighths, 8 to 15; less if subnormal */
	s32 e;
};

u32 dot_groups(const struct dot_rule *rule, const u32 *a, const u32 *b, u32 groups,
	       const struct dot_scale (*scales)[2], u32 c);

#endif
