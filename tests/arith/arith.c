/*
 * Arithmetic of the engine against MPFR, which shares nothing with it: add, sub, mul, fma, div,
 * rcp, sqrt and conversions between floats, and between floats and integers, in all roundings, with
 * .ftz, .sat and .relu, at every level of the host's instruction set. Unary forms of 16-bit formats
 * are tried with all operands.
 *
 *     tests/arith/arith [COUNT [FORM]]    operands of each form (2,048); only forms that contain
 *                                         FORM
 *
 * Rules beside rounding: PTX ISA "Floating Point Instructions" (.ftz, .sat; NaN results), "cvt".
 */
#include "tests/arith/formats.h"
#include "tests/check.h"

#include <ptxloom.h>

#include <inttypes.h>
#include <stdlib.h>

#define OPERANDS 3
#define WIDE 2200 /* bits that hold any sum of two f64 exactly */
#define SHOWN 5   /* differences of a form that are printed */
#define THREADS 128

enum value_kind { VALUE_FLOAT, VALUE_SIGNED, VALUE_UNSIGNED };

/* What a register holds. */
struct value_type {
	enum value_kind kind;
	unsigned bits;
	const struct format *format; /* of floats */
	const char *reg;             /* the type of its register, "b32" */
	const char *ptx;             /* as instructions name it */
};

static const struct value_type types[] = {
	{VALUE_FLOAT, 16, NULL, "b16", "f16"},    {VALUE_FLOAT, 16, NULL, "b16", "bf16"},
	{VALUE_FLOAT, 32, NULL, "f32", "f32"},    {VALUE_FLOAT, 64, NULL, "f64", "f64"},
	{VALUE_FLOAT, 32, NULL, "b32", "tf32"},   {VALUE_SIGNED, 8, NULL, "s8", "s8"},
	{VALUE_UNSIGNED, 8, NULL, "u8", "u8"},    {VALUE_SIGNED, 16, NULL, "s16", "s16"},
	{VALUE_UNSIGNED, 16, NULL, "u16", "u16"}, {VALUE_SIGNED, 32, NULL, "s32", "s32"},
	{VALUE_UNSIGNED, 32, NULL, "u32", "u32"}, {VALUE_SIGNED, 64, NULL, "s64", "s64"},
	{VALUE_UNSIGNED, 64, NULL, "u64", "u64"},
};

#define TYPES (sizeof(types) / sizeof(*types))

enum clamp { CLAMP_NONE, CLAMP_SAT, CLAMP_RELU, CLAMP_FINITE, CLAMP_FINITE_RELU };

/* Devices that run the forms; a form belongs to the first that has it. */
static const struct generation {
	const char *device, *head;
} generations[] = {
	{"h100", ".version 8.1\n.target sm_90\n.address_size 64\n"},
	{"gb202", ".version 8.7\n.target sm_120a\n.address_size 64\n"},
};

#define GENERATIONS (sizeof(generations) / sizeof(*generations))

struct form {
	char text[48]; /* "add.rm.ftz.f32" */
	format_op *op;
	unsigned operands;
	struct value_type from, to;
	mpfr_rnd_t rnd;
	bool whole;               /* the result is a whole number */
	bool flush_in, flush_out; /* .ftz; of cvt, that of its f32 side alone */
	enum clamp clamp;
	bool pair; /* two numbers side by side, the first operand's in the upper half */
	unsigned generation;
	bool moves_nan; /* the NaN of the operand passes: which one is not compared */
};

static struct form *forms;
static unsigned form_count;
static const char *wanted;

/* ---- operations ---- */

static int op_add(mpfr_t to, const mpfr_t *x, mpfr_rnd_t rnd)
{
	return mpfr_add(to, x[0], x[1], rnd);
}

static int op_sub(mpfr_t to, const mpfr_t *x, mpfr_rnd_t rnd)
{
	return mpfr_sub(to, x[0], x[1], rnd);
}

static int op_mul(mpfr_t to, const mpfr_t *x, mpfr_rnd_t rnd)
{
	return mpfr_mul(to, x[0], x[1], rnd);
}

static int op_fma(mpfr_t to, const mpfr_t *x, mpfr_rnd_t rnd)
{
	return mpfr_fma(to, x[0], x[1], x[2], rnd);
}

static int op_div(mpfr_t to, const mpfr_t *x, mpfr_rnd_t rnd)
{
	return mpfr_div(to, x[0], x[1], rnd);
}

static int op_rcp(mpfr_t to, const mpfr_t *x, mpfr_rnd_t rnd)
{
	return mpfr_ui_div(to, 1, x[0], rnd);
}

static int op_sqrt(mpfr_t to, const mpfr_t *x, mpfr_rnd_t rnd)
{
	return mpfr_sqrt(to, x[0], rnd);
}

static int op_copy(mpfr_t to, const mpfr_t *x, mpfr_rnd_t rnd)
{
	return mpfr_set(to, x[0], rnd);
}

/* To nearest, ties away from zero (.rna). */
static int op_away(mpfr_t to, const mpfr_t *x, mpfr_rnd_t rnd)
{
	(void)rnd;
	return mpfr_round_nearest_away(mpfr_set, to, x[0]);
}

/* ---- the list of forms ---- */

static const struct value_type *type_find(const char *name)
{
	for (size_t i = 0; i < TYPES; i++)
		if (!strcmp(types[i].ptx, name))
			return &types[i];
	abort();
}

static struct value_type type_of(const char *name)
{
	struct value_type t = *type_find(name);

	if (t.kind == VALUE_FLOAT)
		t.format = format_find(name);
	return t;
}

/* Takes `form` up under the name that `text` is. */
static void add_form(struct form form, const char *text)
{
	if (wanted && !strstr(text, wanted))
		return;
	forms = realloc(forms, (form_count + 1) * sizeof(*forms));
	if (!forms)
		abort();
	snprintf(form.text, sizeof(form.text), "%s", text);
	forms[form_count++] = form;
}

struct rounding {
	const char *name, *whole;
	mpfr_rnd_t rnd;
};

static const struct rounding roundings[] = {
	{"rn", "rni", MPFR_RNDN},
	{"rz", "rzi", MPFR_RNDZ},
	{"rm", "rmi", MPFR_RNDD},
	{"rp", "rpi", MPFR_RNDU},
};

/* `name` of `type` with each rounding of `count`, and the modifiers that it may have. */
static void add_arithmetic(const char *name, format_op *op, unsigned operands, const char *type,
			   unsigned count, bool may_flush, const char *const *clamps)
{
	static const enum clamp kinds[] = {CLAMP_NONE, CLAMP_SAT, CLAMP_RELU};

	for (unsigned r = 0; r < count; r++)
		for (unsigned ftz = 0; ftz <= may_flush; ftz++)
			for (unsigned c = 0; c < 3; c++) {
				struct form f = {.op = op,
						 .operands = operands,
						 .rnd = roundings[r].rnd,
						 .flush_in = ftz,
						 .flush_out = ftz,
						 .clamp = kinds[c]};
				char text[48];

				if (!clamps[c])
					continue;
				f.from = f.to = type_of(type);
				snprintf(text, sizeof(text), "%s.%s%s%s.%s", name,
					 roundings[r].name, ftz ? ".ftz" : "", clamps[c], type);
				add_form(f, text);
			}
}

static void list_arithmetic(void)
{
	static const char *const plain[3] = {""}, *const sat[3] = {"", ".sat"},
				 *const all[3] = {"", ".sat", ".relu"},
				 *const relu[3] = {"", NULL, ".relu"};
	static const struct {
		const char *name;
		format_op *op;
	} sums[] = {{"add", op_add}, {"sub", op_sub}, {"mul", op_mul}};

	for (size_t i = 0; i < sizeof(sums) / sizeof(*sums); i++) {
		add_arithmetic(sums[i].name, sums[i].op, 2, "f32", 4, true, sat);
		add_arithmetic(sums[i].name, sums[i].op, 2, "f64", 4, false, plain);
		add_arithmetic(sums[i].name, sums[i].op, 2, "f16", 1, true, sat);
		add_arithmetic(sums[i].name, sums[i].op, 2, "bf16", 1, false, plain);
	}
	add_arithmetic("fma", op_fma, 3, "f32", 4, true, sat);
	add_arithmetic("fma", op_fma, 3, "f64", 4, false, plain);
	add_arithmetic("fma", op_fma, 3, "f16", 1, true, all);
	add_arithmetic("fma", op_fma, 3, "bf16", 1, false, relu);
	add_arithmetic("div", op_div, 2, "f32", 4, true, plain);
	add_arithmetic("div", op_div, 2, "f64", 4, false, plain);
	add_arithmetic("rcp", op_rcp, 1, "f32", 4, true, plain);
	add_arithmetic("rcp", op_rcp, 1, "f64", 4, false, plain);
	add_arithmetic("sqrt", op_sqrt, 1, "f32", 4, true, plain);
	add_arithmetic("sqrt", op_sqrt, 1, "f64", 4, false, plain);
}

/* cvt.rounding{.ftz}{.sat}.to.from */
static void add_cvt(const char *to, const char *from, const char *rounding, struct form f, bool sat)
{
	bool f32 = !strcmp(to, "f32") || !strcmp(from, "f32");
	/* bf16 has no .ftz towards integers or f64; f32 has it with all. */
	bool may_flush = f32 && strcmp(to, "tf32") && strcmp(to, "bf16");

	f.operands = 1;
	f.from = type_of(from);
	f.to = type_of(to);
	for (unsigned ftz = 0; ftz <= may_flush; ftz++)
		for (unsigned s = 0; s <= sat; s++) {
			char text[48];

			snprintf(text, sizeof(text), "cvt%s%s%s%s.%s.%s", *rounding ? "." : "",
				 rounding, ftz ? ".ftz" : "", s ? ".sat" : "", to, from);
			/*
			 * Towards f16 it has no effect, as tests/vectors/cvt.vec has it from an
			 * H200.
			 */
			f.flush_in = ftz && !strcmp(from, "f32") && strcmp(to, "f16");
			f.flush_out = ftz && !strcmp(to, "f32");
			f.clamp = s ? CLAMP_SAT : CLAMP_NONE;
			add_form(f, text);
		}
}

static bool is_bf16(const char *name)
{
	return !strcmp(name, "bf16");
}

static void list_float_to_float(void)
{
	static const char *const floats[] = {"f16", "bf16", "f32", "f64"};

	for (unsigned i = 0; i < 4; i++)
		for (unsigned k = 0; k < 4; k++) {
			const char *to = floats[i], *from = floats[k];
			bool sat = !is_bf16(to) && !is_bf16(from);
			unsigned least = type_find(to)->bits, most = type_find(from)->bits;

			if (i == k)
				continue;
			if (least > most) {
				add_cvt(to, from, "",
					(struct form){.op = op_copy, .moves_nan = is_bf16(from)},
					sat);
				continue;
			}
			for (unsigned r = 0; r < 4; r++)
				add_cvt(to, from, roundings[r].name,
					(struct form){.op = op_copy, .rnd = roundings[r].rnd}, sat);
		}
	for (unsigned k = 0; k < 4; k++)
		for (unsigned r = 0; r < 4; r++)
			add_cvt(floats[k], floats[k], roundings[r].whole,
				(struct form){
					.op = op_copy, .rnd = roundings[r].rnd, .whole = true},
				!is_bf16(floats[k]));
	add_cvt("tf32", "f32", "rna", (struct form){.op = op_away, .moves_nan = true}, false);
	add_cvt("tf32", "f32", "rn", (struct form){.op = op_copy}, false);
	add_cvt("tf32", "f32", "rz", (struct form){.op = op_copy, .rnd = MPFR_RNDZ}, false);
}

/* Two f32 to a pair of narrower numbers. */
static void list_pairs(void)
{
	static const struct {
		const char *name;
		bool finite; /* .satfinite is part of the form */
		unsigned generation;
	} pairs[] = {{"f16", false, 0}, {"bf16", false, 0}, {"e4m3", true, 0}, {"e5m2", true, 0},
		     {"e2m3", true, 1}, {"e3m2", true, 1},  {"f16", true, 0},  {"bf16", true, 0}};

	for (size_t i = 0; i < sizeof(pairs) / sizeof(*pairs); i++)
		for (unsigned r = 0; r < 2; r++)
			for (unsigned relu = 0; relu < 2; relu++) {
				const struct format *to = format_find(pairs[i].name);
				unsigned half = to->bits < 8 ? 8 : to->bits;
				struct form f = {.op = op_copy,
						 .operands = 2,
						 .rnd = roundings[r].rnd,
						 .pair = true,
						 .generation = pairs[i].generation};
				char text[48];

				/* Formats of eight bits and fewer have .rn alone. */
				if (r && half == 8)
					continue;
				f.from = type_of("f32");
				f.to = (struct value_type){VALUE_FLOAT, half, to,
							   half == 8 ? "b16" : "b32", ""};
				f.clamp = pairs[i].finite ? relu ? CLAMP_FINITE_RELU : CLAMP_FINITE
					  : relu          ? CLAMP_RELU
							  : CLAMP_NONE;
				snprintf(text, sizeof(text), "cvt.%s%s%s.%sx2.f32",
					 roundings[r].name, relu && half > 8 ? ".relu" : "",
					 pairs[i].finite ? ".satfinite" : "", pairs[i].name);
				if (relu && half == 8)
					snprintf(text, sizeof(text),
						 "cvt.rn.satfinite.relu.%sx2.f32", pairs[i].name);
				add_form(f, text);
			}
}

static void list_integers(void)
{
	static const char *const floats[] = {"f16", "bf16", "f32", "f64"};

	for (size_t t = 0; t < TYPES; t++)
		for (unsigned k = 0; types[t].kind != VALUE_FLOAT && k < 4; k++)
			for (unsigned r = 0; r < 4; r++) {
				struct form f = {.op = op_copy, .rnd = roundings[r].rnd};

				add_cvt(floats[k], types[t].ptx, roundings[r].name, f,
					!is_bf16(floats[k]));
				f.whole = true;
				add_cvt(types[t].ptx, floats[k], roundings[r].whole, f, false);
			}
}

/* ---- what a form should give ---- */

static void read_value(const struct value_type *t, uint64_t bits, mpfr_t x)
{
	uint64_t mask = t->bits == 64 ? UINT64_MAX : ((uint64_t)1 << t->bits) - 1;

	bits &= mask;
	if (t->kind == VALUE_FLOAT)
		format_decode(t->format, bits >> t->format->shift, x);
	else if (t->kind == VALUE_UNSIGNED)
		mpfr_set_uj(x, bits, MPFR_RNDN);
	else
		mpfr_set_sj(x, (intmax_t)(bits << (64 - t->bits)) >> (64 - t->bits), MPFR_RNDN);
}

/* .ftz: subnormal operands of f32 are zeros of their sign. */
static void flush_operand(const struct value_type *t, mpfr_t x)
{
	if (t->kind == VALUE_FLOAT && mpfr_regular_p(x) && mpfr_get_exp(x) < 2 - t->format->bias)
		mpfr_set_zero(x, mpfr_signbit(x) ? -1 : 1);
}

/* .satfinite: what is beyond the largest number, infinities too, becomes that. */
static void clamp_finite(const struct format *f, mpfr_t x)
{
	mpfr_t most;

	mpfr_init2(most, f->precision);
	format_largest(f, most);
	if (mpfr_cmpabs(x, most) > 0)
		mpfr_setsign(x, most, mpfr_signbit(x), MPFR_RNDN);
	mpfr_clear(most);
}

static void clamp(enum clamp kind, const struct format *f, mpfr_t x)
{
	if ((kind == CLAMP_FINITE || kind == CLAMP_FINITE_RELU) && !mpfr_nan_p(x))
		clamp_finite(f, x);
	if (kind == CLAMP_FINITE)
		return;
	kind = kind == CLAMP_FINITE_RELU ? CLAMP_RELU : kind;
	if (kind == CLAMP_NONE || (kind == CLAMP_RELU && mpfr_nan_p(x)))
		return;
	if (mpfr_nan_p(x) || mpfr_signbit(x))
		mpfr_set_zero(x, 1);
	else if (kind == CLAMP_SAT && mpfr_cmp_ui(x, 1) > 0)
		mpfr_set_ui(x, 1, MPFR_RNDN);
}

/* Integers clamp. NaN is 0, or the top bit alone where one of the types has 64 bits. */
static uint64_t integer_bits(const struct form *f, mpfr_t x)
{
	const struct value_type *t = &f->to;
	uint64_t top = (uint64_t)1 << (t->bits - 1), mask = top | (top - 1);
	bool is_signed = t->kind == VALUE_SIGNED;

	if (mpfr_nan_p(x))
		return f->from.bits == 64 || t->bits == 64 ? top : 0;
	if (mpfr_signbit(x)) {
		if (!is_signed || mpfr_zero_p(x))
			return 0;
		mpfr_neg(x, x, MPFR_RNDN);
		return mpfr_cmp_ui(x, top) >= 0 ? top : (0 - mpfr_get_uj(x, MPFR_RNDN)) & mask;
	}
	mask = is_signed ? top - 1 : mask;
	return mpfr_cmp_ui(x, mask) >= 0 ? mask : mpfr_get_uj(x, MPFR_RNDN);
}

/* Operands, and a result whose precision follows its format. */
struct numbers {
	mpfr_t in[OPERANDS], out;
};

static uint64_t expected_number(const struct form *f, const uint64_t *bits, struct numbers *n)
{
	const struct format *to = f->to.format;

	for (unsigned i = 0; i < (f->pair ? 1 : f->operands); i++) {
		read_value(&f->from, bits[i], n->in[i]);
		if (f->flush_in)
			flush_operand(&f->from, n->in[i]);
	}
	if (f->whole && mpfr_number_p(n->in[0]))
		mpfr_rint(n->in[0], n->in[0], f->rnd);
	if (f->to.kind != VALUE_FLOAT)
		return integer_bits(f, n->in[0]);
	mpfr_set_prec(n->out, to->precision);
	format_round(to, n->out, f->op, n->in, f->rnd, f->flush_out);
	clamp(f->clamp, to, n->out);
	if (mpfr_nan_p(n->out))
		return to->nan << to->shift;
	return format_encode(to, n->out) << to->shift;
}

static uint64_t expected(const struct form *f, const uint64_t *bits, struct numbers *n)
{
	if (!f->pair)
		return expected_number(f, bits, n);
	return expected_number(f, bits, n) << f->to.bits | expected_number(f, bits + 1, n);
}

/*
 * Which NaN f64 operations and moves give is not this test's business: tests/vectors has them as
 * measured.
 */
static bool agrees(const struct form *f, uint64_t got, uint64_t want)
{
	const struct format *to = f->to.format;

	if (!to || want != to->nan << to->shift)
		return got == want;
	if (!to->nan || f->from.bits == 64)
		return !got || format_is_nan(to, got);
	return f->moves_nan || got == want;
}

/* ---- operands ---- */

static uint64_t random_state = 1;

static uint64_t next_random(void)
{
	uint64_t z = random_state += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

/* Corners of a format, of which the low bits come near a tie of a narrower one. */
static uint64_t corner(const struct value_type *t, uint64_t r)
{
	uint64_t top = (uint64_t)1 << (t->bits - 1), one, exponent;
	unsigned fraction = t->format ? t->format->precision - 1 : t->bits - 1;

	one = (uint64_t)1 << fraction;
	exponent = (top - 1) & ~(one - 1);
	switch (r % 10) {
	case 0:
		return r & top; /* zeros */
	case 1:
		return (r & top) | exponent; /* infinities */
	case 2:
		return (r & top) | exponent | (r >> 8 & (one - 1)); /* NaNs */
	case 3:
		return (r & top) | (exponent - 1); /* the largest number */
	case 4:
		return (r & top) | one; /* the smallest normal one */
	case 5:
		return (r & top) | (one - 1); /* the largest subnormal one */
	case 6:
		return (r & top) | (r >> 8 & (one - 1)); /* subnormal */
	case 7:
		return (r & top) | 1;
	case 8:
		return (r & top) |
		       (one * (r >> 16 & 3) + (exponent & ~exponent >> 1)); /* 1, 2, 4 */
	default:
		return r << (r >> 40) % t->bits; /* few bits */
	}
}

static uint64_t operand(const struct value_type *t, uint64_t other)
{
	uint64_t r = next_random(), kind = r >> 58;

	if (kind < 12)
		return corner(t, r);
	if (kind < 20)
		return corner(t, r) + (r >> 20) % 5 - 2;
	/* Near the other operand, so that sums cancel and quotients are near 1. */
	if (kind < 36)
		return other ^ (r & (((uint64_t)1 << (r >> 50) % t->bits) - 1)) ^
		       (r >> 49 & 1) << (t->bits - 1);
	/* A tie of a narrower format, or beside one. */
	if (kind < 48) {
		unsigned cut = (unsigned)(r >> 50) % t->bits;

		return (r & ~(((uint64_t)2 << cut) - 1)) + ((uint64_t)1 << cut) + (r >> 10) % 3 - 1;
	}
	return r;
}

static void fill_operands(const struct form *f, uint64_t *in, unsigned n)
{
	bool all = f->operands == 1 && f->from.bits <= 16 && n >= 1u << f->from.bits;

	for (unsigned i = 0; i < n; i++)
		for (unsigned k = 0; k < OPERANDS; k++)
			in[i * OPERANDS + k] =
				all ? i : operand(&f->from, k ? in[i * OPERANDS] : i);
}

/* ---- the kernels ---- */

static unsigned result_bits(const struct form *f)
{
	return f->pair ? 2 * f->to.bits : f->to.bits;
}

/* Eight bytes for each operand; the result is written as its register holds it. */
static int write_kernel(char *at, size_t size, const struct form *f, unsigned id)
{
	const char *operands[] = {"%a0", "%a0, %a1", "%a0, %a1, %a2"};

	return snprintf(
		at, size,
		".visible .entry k%u(.param .u64 pin, .param .u64 pout)\n{\n"
		".reg .u64 %%in, %%out; .reg .u32 %%t, %%c, %%n; .reg .%s %%a<3>; .reg .%s %%d;\n"
		"mov.u32 %%t, %%tid.x; mov.u32 %%c, %%ctaid.x; mov.u32 %%n, %%ntid.x;\n"
		"mad.lo.u32 %%t, %%c, %%n, %%t;\n"
		"ld.param.u64 %%in, [pin]; mad.wide.u32 %%in, %%t, %u, %%in;\n"
		"ld.param.u64 %%out, [pout]; mad.wide.u32 %%out, %%t, 8, %%out;\n"
		"ld.global.b%u %%a0, [%%in]; ld.global.b%u %%a1, [%%in+8]; ld.global.b%u %%a2, [%%in+16];\n"
		"%s %%d, %s;\nst.global.b%u [%%out], %%d;\nret;\n}\n",
		id, f->from.reg, f->to.reg, OPERANDS * 8, f->from.bits, f->from.bits, f->from.bits,
		f->text, operands[f->operands - 1], result_bits(f));
}

/* The kernels of one generation as text, to be freed. */
static char *write_module(unsigned generation)
{
	size_t size = 256 + form_count * (size_t)1024;
	char *text = malloc(size), *at = text;

	if (!text)
		abort();
	at += sprintf(at, "%s", generations[generation].head);
	for (unsigned i = 0; i < form_count; i++)
		if (forms[i].generation == generation)
			at += write_kernel(at, size - (size_t)(at - text), &forms[i], i);
	return text;
}

static bool run_form(struct ptxloom_module *module, unsigned id, void *in, void *out, unsigned n)
{
	struct ptxloom_config config = {.grid = {n / THREADS}, .block = {THREADS}};
	void *args[] = {&in, &out};
	char name[16];

	snprintf(name, sizeof(name), "k%u", id);
	return !ptxloom_launch(ptxloom_module_kernel(module, name), &config, args);
}

static unsigned compare(const struct form *f, const uint64_t *in, const uint64_t *out,
			const uint64_t *want, unsigned n, const char *level)
{
	unsigned wrong = 0;
	uint64_t mask = result_bits(f) == 64 ? UINT64_MAX : ((uint64_t)1 << result_bits(f)) - 1;

	for (unsigned i = 0; i < n; i++) {
		uint64_t got = out[i] & mask;

		if (agrees(f, got, want[i]))
			continue;
		if (wrong++ < SHOWN)
			printf("# %s at %s: %" PRIx64 " %" PRIx64 " %" PRIx64 ": got %" PRIx64
			       ", MPFR %" PRIx64 "\n",
			       f->text, level, in[i * OPERANDS], in[i * OPERANDS + 1],
			       in[i * OPERANDS + 2], got, want[i]);
	}
	return wrong;
}

/* A device for each level and generation, with the module and room for the operands of one form. */
struct target {
	const char *level;
	unsigned generation;
	struct ptxloom_device *device;
	struct ptxloom_module *module;
	uint64_t *in, *out;
};

static void show(void *user, const char *text)
{
	(void)user;
	printf("# %s", text);
}

/* False: the host has no such level. */
static bool open_target(struct target *t, unsigned most)
{
	struct ptxloom_options options = {.size = sizeof(options),
					  .device = generations[t->generation].device,
					  .message = show};
	char *text;
	int status;

	setenv("PTXLOOM_HOST_ISA", t->level, 1);
	if (ptxloom_device_open(&options, &t->device))
		return false;
	text = write_module(t->generation);
	status = ptxloom_module_load(t->device, text, strlen(text), &t->module);
	free(text);
	t->in = ptxloom_alloc(t->device, most * OPERANDS * sizeof(uint64_t));
	t->out = ptxloom_alloc(t->device, most * sizeof(uint64_t));
	return CHECK_MSG(!status && t->in && t->out, "the forms load");
}

static unsigned open_targets(struct target *targets, unsigned most)
{
	static const char *const levels[] = {"base", "v2", "v3", "v4"};
	unsigned n = 0;

	for (unsigned g = 0; g < GENERATIONS; g++)
		for (unsigned l = 0; l < 4; l++) {
			targets[n] = (struct target){.level = levels[l], .generation = g};
			n += open_target(&targets[n], most);
		}
	CHECK_MSG(n >= GENERATIONS, "a level of the host");
	return n;
}

static void try_form(struct target *targets, unsigned count, unsigned id, unsigned n,
		     struct numbers *numbers)
{
	const struct form *f = &forms[id];
	uint64_t *in = malloc(n * OPERANDS * sizeof(*in)), *want = malloc(n * sizeof(*want));
	unsigned wrong = 0, runs = 0;

	if (!in || !want)
		abort();
	fill_operands(f, in, n);
	for (unsigned i = 0; i < n; i++)
		want[i] = expected(f, in + i * OPERANDS, numbers);
	for (unsigned i = 0; i < count; i++) {
		struct target *t = &targets[i];

		if (t->generation != f->generation)
			continue;
		memcpy(t->in, in, n * OPERANDS * sizeof(*in));
		wrong += !run_form(t->module, id, t->in, t->out, n);
		wrong += compare(f, in, t->out, want, n, t->level);
		runs++;
	}
	check_that(runs && !wrong, f->text, __FILE__, __LINE__);
	free(in);
	free(want);
}

static void try_all(struct target *targets, unsigned count, unsigned n, unsigned most)
{
	struct numbers numbers;

	for (unsigned i = 0; i < OPERANDS; i++)
		mpfr_init2(numbers.in[i], WIDE);
	mpfr_init2(numbers.out, WIDE);
	for (unsigned i = 0; i < form_count; i++) {
		bool all = forms[i].operands == 1 && forms[i].from.bits <= 16;

		try_form(targets, count, i, all ? most : n, &numbers);
	}
	for (unsigned i = 0; i < OPERANDS; i++)
		mpfr_clear(numbers.in[i]);
	mpfr_clear(numbers.out);
	mpfr_free_cache();
}

int main(int argc, char **argv)
{
	unsigned n = argc > 1 ? (unsigned)atoi(argv[1]) / THREADS * THREADS : 2048, count;
	unsigned most = n < 65536 ? 65536 : n;
	struct target targets[GENERATIONS * 4];

	wanted = argc > 2 ? argv[2] : NULL;
	list_arithmetic();
	list_float_to_float();
	list_pairs();
	list_integers();
	count = open_targets(targets, most);
	try_all(targets, count, n, most);
	for (unsigned i = 0; i < count; i++)
		ptxloom_device_close(targets[i].device);
	free(forms);
	return check_done();
}
