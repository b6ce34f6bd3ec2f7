/* See formats.h. */
#include "tests/arith/formats.h"

#include <stdlib.h>
#include <string.h>

static const struct format formats[] = {
	{"f16", 16, 11, 15, SPECIALS_IEEE, 0x7fff, 0},
	{"bf16", 16, 8, 127, SPECIALS_IEEE, 0x7fff, 0},
	{"f32", 32, 24, 127, SPECIALS_IEEE, 0x7fffffff, 0},
	{"f64", 64, 53, 1023, SPECIALS_IEEE, 0, 0},
	{"tf32", 19, 11, 127, SPECIALS_IEEE, 0x3ffff, 13},
	{"e5m2", 8, 3, 15, SPECIALS_IEEE, 0x7f, 0},
	{"e4m3", 8, 4, 7, SPECIALS_NAN, 0x7f, 0},
	{"e3m2", 6, 3, 3, SPECIALS_FINITE, 0x1f, 0},
	{"e2m3", 6, 4, 1, SPECIALS_FINITE, 0x1f, 0},
	{"e2m1", 4, 2, 1, SPECIALS_FINITE, 0x7, 0},
};

const struct format *format_find(const char *name)
{
	for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++)
		if (!strcmp(formats[i].name, name))
			return &formats[i];
	return NULL;
}

static uint64_t fraction_mask(const struct format *f)
{
	return ((uint64_t)1 << (f->precision - 1)) - 1;
}

static uint64_t exponent_mask(const struct format *f)
{
	return ((uint64_t)1 << (f->bits - f->precision)) - 1;
}

bool format_is_nan(const struct format *f, uint64_t bits)
{
	uint64_t fraction = bits & fraction_mask(f),
		 exponent = bits >> (f->precision - 1) & exponent_mask(f);

	if (f->specials == SPECIALS_FINITE || exponent != exponent_mask(f))
		return false;
	return f->specials == SPECIALS_IEEE ? fraction != 0 : fraction == fraction_mask(f);
}

void format_decode(const struct format *f, uint64_t bits, mpfr_t x)
{
	uint64_t fraction = bits & fraction_mask(f),
		 exponent = bits >> (f->precision - 1) & exponent_mask(f);
	int negative = (int)(bits >> (f->bits - 1) & 1);
	long scale = (long)(exponent ? exponent : 1) - f->bias - (long)(f->precision - 1);

	if (format_is_nan(f, bits)) {
		mpfr_set_nan(x);
		return;
	}
	if (f->specials == SPECIALS_IEEE && exponent == exponent_mask(f)) {
		mpfr_set_inf(x, 1);
	} else {
		fraction |= exponent ? fraction_mask(f) + 1 : 0;
		mpfr_set_uj_2exp(x, fraction, scale, MPFR_RNDN);
	}
	mpfr_setsign(x, x, negative, MPFR_RNDN);
}

uint64_t format_encode(const struct format *f, const mpfr_t x)
{
	uint64_t sign = (uint64_t)(mpfr_signbit(x) != 0) << (f->bits - 1), bits;
	long least =
		1 - f->bias - (long)(f->precision - 1); /* of the last place of subnormal numbers */
	mpfr_exp_t scale;
	mpz_t z;

	if (mpfr_nan_p(x))
		return f->nan;
	if (mpfr_inf_p(x))
		return sign | exponent_mask(f) << (f->precision - 1);
	if (mpfr_zero_p(x))
		return sign;
	mpz_init(z);
	scale = mpfr_get_z_2exp(z, x); /* |z| has `precision` bits */
	mpz_abs(z, z);
	if (scale < least) {
		mpz_fdiv_q_2exp(z, z, (mp_bitcnt_t)(least - scale));
		bits = mpz_get_ui(z);
	} else {
		/* The hidden bit counts as one in the field of the exponent. */
		bits = mpz_get_ui(z) + ((uint64_t)(scale - least) << (f->precision - 1));
	}
	mpz_clear(z);
	return sign | bits;
}

void format_largest(const struct format *f, mpfr_t x)
{
	uint64_t all = ((uint64_t)1 << (f->bits - 1)) - 1;

	if (f->specials == SPECIALS_IEEE)
		all -= fraction_mask(f) + 1;
	else if (f->specials == SPECIALS_NAN)
		all--;
	format_decode(f, all, x);
}

/* MPFR counts exponents with significands in [1/2, 1). */
static mpfr_exp_t largest_exponent(const struct format *f)
{
	return f->specials == SPECIALS_IEEE ? f->bias + 1 : mpfr_get_emax_max();
}

void format_round(const struct format *f, mpfr_t to, format_op *op, const mpfr_t *from,
		  mpfr_rnd_t rnd, bool flush)
{
	mpfr_exp_t emin = mpfr_get_emin(), emax = mpfr_get_emax();
	mpfr_exp_t normal = 2 - f->bias, least = normal - (mpfr_exp_t)(f->precision - 1);
	int ternary;

	/* Rounded to the precision first; MPFR's ternary value keeps what the limits then need. */
	ternary = op(to, from, rnd);
	if (flush && mpfr_regular_p(to) && mpfr_get_exp(to) < normal) {
		mpfr_set_zero(to, mpfr_signbit(to) ? -1 : 1);
		return;
	}
	mpfr_set_emin(least);
	mpfr_set_emax(largest_exponent(f));
	ternary = mpfr_check_range(to, ternary, rnd);
	mpfr_subnormalize(to, ternary, rnd);
	mpfr_set_emin(emin);
	mpfr_set_emax(emax);
}
