/*
 * Comparing results, with tolerances.
 */
#include "src/tools/kit/compare.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

/* Elements that are shown. */
#define SHOWN 5u

bool tolerance_parse(const char *text, struct tolerance *out, struct text *why)
{
	char *end;

	*out = (struct tolerance){0};
	for (const char *s = text; *s; s = end + (*end == ',')) {
		bool rel = !strncmp(s, "rel=", 4), ulp = !strncmp(s, "ulp=", 4);
		double v;

		if (!rel && !ulp && strncmp(s, "abs=", 4) != 0)
			goto wrong;
		errno = 0;
		v = strtod(s + 4, &end);
		if (end == s + 4 || errno || !(v >= 0) || isinf(v) || (*end && *end != ','))
			goto wrong;
		if (ulp && v != floor(v))
			goto wrong;
		if (rel)
			out->rel = v;
		else if (ulp)
			out->ulp = v < 0x1p63 ? (u64)v : UINT64_MAX;
		else
			out->abs = v;
		out->is_strict |= ulp && v == 0;
	}
	if (*text)
		return true;
wrong:
	text_printf(why, "'%s' is not a tolerance such as rel=1e-5,abs=0,ulp=2", text);
	return false;
}

/* Floats in the order of their values: neighbours differ by 1, and both zeros are alike. */
static s64 float_rank(u64 bits, u32 width)
{
	u64 sign = (u64)1 << (width - 1);

	return bits & sign ? -(s64)(bits & ~sign) : (s64)bits;
}

static u64 ulps_between(u64 a, u64 b, u32 width)
{
	s64 x = float_rank(a, width), y = float_rank(b, width);

	return x > y ? (u64)x - (u64)y : (u64)y - (u64)x;
}

static bool is_right(const struct data_type *type, u64 a, u64 b, const struct tolerance *t,
		     long double *error)
{
	long double x = data_real(type, a), y = data_real(type, b);

	*error = 0;
	if (a == b)
		return true;
	*error = fabsl(x - y);
	if (data_is_whole(type))
		return *error <= t->abs || *error <= t->rel * fabsl(y);
	if (isnan(x) && isnan(y)) {
		*error = 0;
		return true;
	}
	if (isnan(x) || isnan(y) || isinf(x) || isinf(y)) {
		*error = HUGE_VALL;
		return x == y;
	}
	if (x == y)
		return !t->is_strict;
	return *error <= t->abs || *error <= t->rel * fabsl(y) ||
	       ulps_between(a, b, 8u * type->bytes) <= t->ulp;
}

static void say_difference(const char *name, const struct data *got, const struct data *want, u64 i,
			   const char *note, struct text *out)
{
	text_printf(out, "%s[%" PRIu64 "] =", name, i);
	data_print_element(got, i, out);
	text_puts(out, ", expected");
	data_print_element(want, i, out);
	text_printf(out, "%s\n", note);
}

bool data_compare(const char *name, const struct data *got, const struct data *want,
		  const struct tolerance *t, struct text *out)
{
	u64 wrong = 0, worst = 0;
	long double most = -1, error;

	for (u64 i = 0; i < got->count; i++) {
		if (is_right(got->type, data_get(got, i), data_get(want, i), t, &error))
			continue;
		if (wrong++ < SHOWN)
			say_difference(name, got, want, i, "", out);
		if (error > most) {
			most = error;
			worst = i;
		}
	}
	if (wrong > SHOWN)
		say_difference(name, got, want, worst, " is the worst", out);
	if (wrong > 1)
		text_printf(out, "%s: %" PRIu64 " of %" PRIu64 " elements differ\n", name, wrong,
			    got->count);
	return !wrong;
}
