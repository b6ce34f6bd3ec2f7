/*
 * Binary floating-point formats as numbers of MPFR. Shares nothing with the engine: formats are
 * described by their widths, and rounding, overflow and subnormal numbers are MPFR's affair.
 * Source: IEEE 754-2019, 3.4; PTX ISA "Fundamental Types", "Alternate Floating-Point Data Formats".
 */
#ifndef PL_TESTS_ARITH_FORMATS_H
#define PL_TESTS_ARITH_FORMATS_H

#include <stdbool.h>
#include <stdint.h>
#include <mpfr.h>

enum format_specials {
	SPECIALS_IEEE,   /* infinities and NaNs under the largest exponent */
	SPECIALS_NAN,    /* no infinity; all bits set is NaN (e4m3) */
	SPECIALS_FINITE, /* numbers alone (e2m3, e3m2, e2m1) */
};

struct format {
	const char *name;
	unsigned bits;      /* of the whole number, sign included */
	unsigned precision; /* of the significand, hidden bit included */
	int bias;
	enum format_specials specials;
	uint64_t nan;   /* what operations on NaNs give; 0: any NaN will do */
	unsigned shift; /* of the number in its register (tf32) */
};

/* The format of this name; NULL: none. */
const struct format *format_find(const char *name);
/* Sets x, which has at least `precision` bits, to the number that `bits` stand for, exactly. */
void format_decode(const struct format *f, uint64_t bits, mpfr_t x);
/* The bits of x, which format_round has made. The sign of a NaN is lost. */
uint64_t format_encode(const struct format *f, const mpfr_t x);
bool format_is_nan(const struct format *f, uint64_t bits);

/* An operation on exact operands that rounds to the precision of `to`: MPFR's ternary value. */
typedef int format_op(mpfr_t to, const mpfr_t *from, mpfr_rnd_t rnd);

/*
 * Sets `to`, of f's precision, to op of `from` as rounded once to format f.
 * flush: numbers that are below the normal range when rounded without a limit of exponents become
 * zero of their sign.
 */
void format_round(const struct format *f, mpfr_t to, format_op *op, const mpfr_t *from,
		  mpfr_rnd_t rnd, bool flush);
/* Largest finite number of f, as a positive x. */
void format_largest(const struct format *f, mpfr_t x);

#endif
