/*
 * Constant expressions: every operator, precedence, signedness, the edges of 64 bits. The expected
 * values are computed by hand from PTX ISA "Constant Expressions"; each is seen as the initial
 * value of a variable.
 */
#include "tests/unit/ptx/ptx_text.h"

struct expr_case {
	const char *text;
	u64 value;
};

static const struct expr_case cases[] = {
	{"0", 0},
	{"42", 42},
	{"0x1F", 31},
	{"0XfF", 255},
	{"0777", 511},
	{"0b101", 5},
	{"0B11", 3},
	{"42U", 42},
	{"0x10U", 16},
	{"WARP_SZ", 32},
	{"-1", UINT64_MAX},
	{"+7", 7},
	{"- -7", 7},
	{"~0", UINT64_MAX},
	{"~5", ~5ull},
	{"!0", 1},
	{"!7", 0},
	{"!!7", 1},
	{"9223372036854775807", INT64_MAX},
	{"9223372036854775808", 1ull << 63},
	{"18446744073709551615", UINT64_MAX},
	{"-9223372036854775808", 1ull << 63},
	{"0xffffffffffffffff", UINT64_MAX},
	/* precedence and grouping */
	{"1 + 2 * 3", 7},
	{"(1 + 2) * 3", 9},
	{"10 - 4 - 3", 3},
	{"100 / 10 / 5", 2},
	{"2 + 3 << 1", 10},
	{"1 << 2 + 1", 8},
	{"7 & 3 == 3", 1},
	{"6 ^ 3 | 8", 13},
	{"1 | 6 ^ 7 & 3", 5},
	{"1 || 0 && 0", 1},
	{"5 > 3 ? 10 : 20", 10},
	{"0 ? 1 : 0 ? 2 : 3", 3},
	{"1 ? 0 ? 4 : 5 : 6", 5},
	{"1 ? 2 : 3 + 10", 2},
	{"-2 * -3", 6},
	{"~0 & 0xff", 255},
	{"-(3)", (u64)-3},
	/* division: signed unless one side is unsigned; % is unsigned */
	{"7 / 2", 3},
	{"-7 / 2", (u64)-3},
	{"7 / -2", (u64)-3},
	{"-7 / -2", 3},
	{"7U / 2", 3},
	{"-8 / 2U", (UINT64_MAX - 7) / 2},
	{"17 % 5", 2},
	{"-1 % 10", 5},
	{"-9223372036854775808 / -1", 1ull << 63},
	{"0 / 5", 0},
	{"5 / 9223372036854775808", 0},
	/* shifts: as signed as their left side; counts past the width */
	{"1 << 63", 1ull << 63},
	{"1 << 64", 0},
	{"-8 >> 1", (u64)-4},
	{"-8 >> 64", UINT64_MAX},
	{"0xfffffffffffffff8 >> 1", UINT64_MAX >> 1 & ~3ull},
	{"(.u64) -8 >> 1", (u64)-8 >> 1},
	{"(.s64) 0xfffffffffffffff8 >> 1", (u64)-4},
	{"8U >> 2", 2},
	{"8U >> 99", 0},
	{"~0 >> 60", 15},
	/* comparisons: signed when both sides are */
	{"-1 < 1", 1},
	{"-1 < 1U", 0},
	{"-1 > 1U", 1},
	{"(.s64) 18446744073709551615 < 0", 1},
	{"18446744073709551615 < 0", 0},
	{"3 <= 3", 1},
	{"3 >= 4", 0},
	{"3 == 3U", 1},
	{"3 != 3", 0},
	{"-1 == 18446744073709551615", 1},
	{"2 > 1 > 0", 1},
	{"1 < 2 == 1", 1},
	/* logic */
	{"2 && 4", 1},
	{"2 && 0", 0},
	{"0 || 0", 0},
	{"0 || 9", 1},
	{"5 & 6", 4},
	{"5 | 6", 7},
	{"5 ^ 6", 3},
	/* sign of the results */
	{"(1 ? -1 : 1U) >> 63", 1},
	{"(1 ? -1 : 1) >> 63", UINT64_MAX},
	{"(-1 + 0U) >> 63", 1},
	{"(-1 | 0) >> 63", UINT64_MAX},
	{"(.u64)(-1) / 3", UINT64_MAX / 3},
	{"(.s64) 7", 7},
	{"((((1))))", 1},
};

static void check_values(void)
{
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct text body = {0};
		struct ptx_text t;
		u64 value = 0;

		text_printf(&body, ".global .u64 x = %s;\n", cases[i].text);
		t = ptx_text_module(body.at);
		if (t.m && t.m->vars.at[0]->data_len == 8)
			memcpy(&value, t.m->vars.at[0]->data, 8);
		if (!CHECK_MSG(t.m && value == cases[i].value, cases[i].text))
			printf("# got 0x%llx, expected 0x%llx; %s\n", (unsigned long long)value,
			       (unsigned long long)cases[i].value, t.log.at ? t.log.at : "");
		ptx_text_fini(&t);
		text_fini(&body);
	}
}

static void check_refused(void)
{
	static const struct {
		const char *text, *message;
	} bad[] = {
		{"1 / 0", "division by zero"},
		{"1 % 0", "division by zero"},
		{"1.5 + 2", "integer only"},
		{"!1.5", "does not apply"},
		{"~1.5", "does not apply"},
		{"(.f32) 1", "a cast is"},
		{"(.s64) 1.5", "integer only"},
		{"1 ? 1.5 : 2", "integer only"},
		{"08", "octal"},
		{"18446744073709551616", "does not fit"},
		{"1 +", "unexpected"},
		{"(1", "unexpected"},
		{"1)", "expected ',' or ';' before ')'"},
		{"1 ? 2", "unexpected"},
		{"1 2", "expected ',' or ';' before '2'"},
		{"0f3F80000", "takes 8"},
		{"0d3FF", "takes 8"},
		{"0xg", "expected ',' or ';' before 'xg'"},
		{"1e999", "too large"},
		{"1e", "exponent"},
		{"1.5e+", "exponent"},
	};

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct text body = {0};
		struct ptx_text t;

		text_printf(&body, ".global .u64 x = %s;\n", bad[i].text);
		t = ptx_text_module(body.at);
		ptx_text_bad(&t, bad[i].message, bad[i].text);
		ptx_text_fini(&t);
		text_fini(&body);
	}
}

static void check_floats(void)
{
	static const struct {
		const char *text;
		f64 value;
	} floats[] = {
		{"1.5", 1.5},
		{".5", 0.5},
		{"5.", 5},
		{"1e3", 1000},
		{"2E+3", 2000},
		{"25e-1", 2.5},
		{"-1.5", -1.5},
		{"+0.25", 0.25},
		{"-0.0", -0.0},
		{"1.7976931348623157e308", 1.7976931348623157e308},
		{"4.9e-324", 4.9e-324},
		{"0d3FF8000000000000", 1.5},
		{"0D4000000000000000", 2},
		{"0f3FC00000", 1.5},
		{"0F40000000", 2},
		{".5e1", 5},
	};

	for (size_t i = 0; i < ARRAY_LEN(floats); i++) {
		struct text body = {0};
		struct ptx_text t;
		u64 bits = 1;

		text_printf(&body, ".global .f64 x = %s;\n", floats[i].text);
		t = ptx_text_module(body.at);
		if (t.m)
			memcpy(&bits, t.m->vars.at[0]->data, 8);
		if (!CHECK_MSG(t.m && bits == bits_f64(floats[i].value), floats[i].text))
			printf("# got 0x%llx; %s\n", (unsigned long long)bits,
			       t.log.at ? t.log.at : "");
		ptx_text_fini(&t);
		text_fini(&body);
	}
}

/* Deep nesting ends in a message, not in a crash; what people write is far from it. */
static void check_depth(void)
{
	for (u32 depth = 10; depth <= 100000; depth *= 10) {
		struct text body = {0};
		struct ptx_text t;

		text_puts(&body, ".global .u64 x = ");
		for (u32 i = 0; i < depth; i++)
			text_puts(&body, "(-");
		text_puts(&body, "1");
		for (u32 i = 0; i < depth; i++)
			text_puts(&body, ")");
		text_puts(&body, ";\n");
		t = ptx_text_module(body.at);
		CHECK_MSG(depth <= 1000 ? t.m != NULL : depth < 100000 || !t.m,
			  "nested parentheses");
		ptx_text_fini(&t);
		text_fini(&body);
	}
}

int main(void)
{
	check_values();
	check_refused();
	check_floats();
	check_depth();
	return check_done();
}
