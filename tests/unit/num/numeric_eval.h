/*
 * Evaluate one PTX instruction text over the numeric primitives, for tests: operands %a0..%a7 are
 * inputs, %d0..%d7 results, %t0..%t3 temporaries, several statements may follow each other, the
 * carry flag lives between them. Modifiers are parsed at run time, which the engine never does.
 */
#ifndef PL_NUMERIC_EVAL_H
#define PL_NUMERIC_EVAL_H

#include "src/num/mufu.h"
#include "src/num/numeric_bits.h"
#include "src/num/numeric_mini.h"
#include "src/num/numeric_video.h"

#include <stdio.h>
#include <stdlib.h>

#define EV_TOKENS 12
#define EV_OPERANDS 8

struct ev {
	u64 in[8];
	u64 out[12]; /* results, then temporaries */
	u32 carry;
};

struct ev_operand {
	u64 value;
	char part[12];
	int dst;  /* result number, or -1 */
	int dst2; /* the q of p|q */
	bool negate;
	bool constant;
};

struct ev_insn {
	char tok[EV_TOKENS][24];
	int tokens;
	struct ev_operand op[EV_OPERANDS];
	int ops;
	u32 mode;
	char type[4][16]; /* type tokens in order */
	int types;
};

static bool ev_has(const struct ev_insn *in, const char *t)
{
	for (int i = 1; i < in->tokens; i++)
		if (!strcmp(in->tok[i], t))
			return true;
	return false;
}

static bool ev_is_type(const char *t)
{
	static const char *const names[] = {
		"u8",     "s8",      "u16",   "s16",   "u32",    "s32",    "u64",    "s64",
		"b16",    "b32",     "b64",   "f16",   "bf16",   "f32",    "f64",    "f16x2",
		"bf16x2", "tf32",    "u16x2", "s16x2", "e4m3x2", "e5m2x2", "e2m3x2", "e3m2x2",
		"e2m1x2", "ue8m0x2", "pred",  "u2",    "s2",     "u4",     "s4",     "e4m3x4",
		"e5m2x4", "u8x4",    "s8x4",  "s2f6x2"};

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (!strcmp(t, names[i]))
			return true;
	return false;
}

static u32 ev_mode_of(const char *t)
{
	static const struct {
		const char *name;
		u32 mode;
	} words[] = {{"rz", NUM_RZ},
		     {"rm", NUM_RM},
		     {"rp", NUM_RP},
		     {"rna", NUM_RNA},
		     {"rzi", NUM_RZ},
		     {"rmi", NUM_RM},
		     {"rpi", NUM_RP},
		     {"ftz", NUM_FTZ},
		     {"sat", NUM_SAT},
		     {"relu", NUM_RELU},
		     {"satfinite", NUM_SATFINITE},
		     {"NaN", NUM_NAN},
		     {"abs", NUM_ABS},
		     {"xorsign", NUM_XORSIGN},
		     {"oob", NUM_OOB}};

	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (!strcmp(t, words[i].name))
			return words[i].mode;
	return 0;
}

/* 12, -1, 0x1f, 0b101, 0f3f800000, 0d3ff0..., 1.5, WARP_SZ */
static u64 ev_constant(const char *s, const char *type)
{
	if (!strncmp(s, "WARP_SZ", 7))
		return 32;
	if (*s == '0' && strchr("fFdD", s[1]) && s[1])
		return strtoull(s + 2, NULL, 16);
	if (*s == '0' && (s[1] == 'b' || s[1] == 'B'))
		return strtoull(s + 2, NULL, 2);
	if (!strcmp(type, "f32"))
		return bits_f32((f32)strtod(s, NULL));
	if (!strcmp(type, "f64"))
		return bits_f64(strtod(s, NULL));
	return *s == '-' ? (u64)strtoll(s, NULL, 0) : strtoull(s, NULL, 0);
}

static int ev_result(const char *s)
{
	if (*s == '_')
		return -1;
	return atoi(s + 2) + (s[1] == 't' ? 8 : 0);
}

static void ev_parse_operand(struct ev_insn *in, const struct ev *e, char *s)
{
	struct ev_operand *o = &in->op[in->ops++];
	char *bar = strchr(s, '|'), *dot;

	memset(o, 0, sizeof(*o));
	o->dst = o->dst2 = -1;
	while (*s == ' ' || *s == '{')
		s++;
	if ((*s == '-' || *s == '!') && s[1] == '%') {
		o->negate = true;
		s++;
	}
	if (bar)
		o->dst2 = ev_result(bar + 1);
	if (*s == '_')
		return;
	if (*s != '%') {
		o->constant = true;
		o->value = ev_constant(s, in->types ? in->type[in->types - 1] : "");
		return;
	}
	if (s[1] == 'd' || s[1] == 't') {
		o->dst = ev_result(s);
		o->value = e->out[o->dst];
	} else {
		o->value = e->in[atoi(s + 2)];
	}
	dot = strchr(s, '.');
	if (dot)
		snprintf(o->part, sizeof(o->part), "%s", dot + 1);
	o->part[strcspn(o->part, " }")] = 0;
}

static void ev_parse(struct ev_insn *in, const struct ev *e, char *text)
{
	char *ops = strchr(text, ' '), *save, *t;

	memset(in, 0, sizeof(*in));
	*ops++ = 0;
	for (t = strtok_r(text, ".", &save); t && in->tokens < EV_TOKENS;
	     t = strtok_r(NULL, ".", &save)) {
		snprintf(in->tok[in->tokens++], sizeof(in->tok[0]), "%s", t);
		if (in->tokens > 1 && ev_is_type(t) && in->types < 4)
			snprintf(in->type[in->types++], sizeof(in->type[0]), "%s", t);
		if (in->tokens > 1)
			in->mode |= ev_mode_of(t);
	}
	for (t = strtok_r(ops, ",", &save); t && in->ops < EV_OPERANDS;
	     t = strtok_r(NULL, ",", &save))
		ev_parse_operand(in, e, t);
}

static u32 ev_bits_of(const char *type)
{
	return (u32)atoi(type + strcspn(type, "0123456789"));
}

/* An integer operand extended to 64 bits by its type. */
static u64 ev_extend(u64 v, const char *type)
{
	u32 bits = ev_bits_of(type);

	if (!bits) /* a predicate */
		return v;
	return *type == 's' ? num_extend_s64(v, bits) : num_extend_u64(v, bits);
}

static bool ev_is_float(const char *type)
{
	return *type == 'f' || !strncmp(type, "bf", 2);
}

#define EV_TRY(name, expr)                                                                         \
	if (!strcmp(m, name)) {                                                                    \
		*r = (expr);                                                                       \
		return true;                                                                       \
	}

static bool ev_f32(const struct ev_insn *in, const char *m, u64 *r)
{
	u32 a = (u32)in->op[1].value, b = (u32)in->op[2].value, c = (u32)in->op[3].value,
	    mode = in->mode;
	bool three = in->ops == 4;

	if (ev_has(in, "approx") || ev_has(in, "full")) {
		EV_TRY("rcp", num_rcp_approx_f32(a, mode))
		EV_TRY("rsqrt", num_rsqrt_approx_f32(a, mode))
		EV_TRY("sqrt", num_sqrt_approx_f32(a, mode))
		EV_TRY("lg2", num_lg2_approx_f32(a, mode))
		EV_TRY("ex2", num_ex2_approx_f32(a, mode))
		EV_TRY("sin", num_sin_approx_f32(a))
		EV_TRY("cos", num_cos_approx_f32(a))
		EV_TRY("tanh", num_tanh_approx_f32(a))
		EV_TRY("div", ev_has(in, "full") ? num_div_full_f32(a, b, mode)
						 : num_div_approx_f32(a, b, mode))
		return false;
	}
	EV_TRY("add", num_add_f32(a, b, mode))
	EV_TRY("sub", num_sub_f32(a, b, mode))
	EV_TRY("mul", num_mul_f32(a, b, mode))
	EV_TRY("fma", num_fma_f32(a, b, c, mode))
	EV_TRY("mad", num_fma_f32(a, b, c, mode))
	EV_TRY("div", num_div_f32(a, b, mode))
	EV_TRY("rcp", num_rcp_f32(a, mode))
	EV_TRY("sqrt", num_sqrt_f32(a, mode))
	EV_TRY("abs", num_abs_f32(a, mode))
	EV_TRY("neg", num_neg_f32(a, mode))
	EV_TRY("copysign", num_copysign_f32(a, b))
	EV_TRY("min", three ? num_min3_f32(a, b, c, mode) : num_min_f32(a, b, mode))
	EV_TRY("max", three ? num_max3_f32(a, b, c, mode) : num_max_f32(a, b, mode))
	return false;
}

static bool ev_f64(const struct ev_insn *in, const char *m, u64 *r)
{
	u64 a = in->op[1].value, b = in->op[2].value, c = in->op[3].value;
	u32 mode = in->mode;

	if (ev_has(in, "approx")) {
		EV_TRY("rcp", num_rcp_approx_f64(a))
		EV_TRY("rsqrt",
		       mode & NUM_FTZ ? num_rsqrt_approx_f64(a) : num_rsqrt_approx_full_f64(a))
		return false;
	}
	EV_TRY("add", num_add_f64(a, b, mode))
	EV_TRY("sub", num_sub_f64(a, b, mode))
	EV_TRY("mul", num_mul_f64(a, b, mode))
	EV_TRY("fma", num_fma_f64(a, b, c, mode))
	EV_TRY("mad", num_fma_f64(a, b, c, mode))
	EV_TRY("div", num_div_f64(a, b, mode))
	EV_TRY("rcp", num_rcp_f64(a, mode))
	EV_TRY("sqrt", num_sqrt_f64(a, mode))
	EV_TRY("abs", num_abs_f64(a))
	EV_TRY("neg", num_neg_f64(a))
	EV_TRY("copysign", num_copysign_f64(a, b))
	EV_TRY("min", num_min_f64(a, b))
	EV_TRY("max", num_max_f64(a, b))
	return false;
}

#define EV_HALF(T)                                                                                 \
	EV_TRY("add", x2 ? num_add_##T##x2(a, b, mode) : num_add_##T(a, b, mode))                  \
	EV_TRY("sub", x2 ? num_sub_##T##x2(a, b, mode) : num_sub_##T(a, b, mode))                  \
	EV_TRY("mul", x2 ? num_mul_##T##x2(a, b, mode) : num_mul_##T(a, b, mode))                  \
	EV_TRY("min", x2 ? num_min_##T##x2(a, b, mode) : num_min_##T(a, b, mode))                  \
	EV_TRY("max", x2 ? num_max_##T##x2(a, b, mode) : num_max_##T(a, b, mode))                  \
	EV_TRY("fma", x2 ? num_fma_##T##x2(a, b, c, mode) : num_fma_##T(a, b, c, mode))            \
	EV_TRY("ex2", x2 ? num_ex2_approx_##T##x2(a) : num_ex2_approx_##T(a))                      \
	EV_TRY("tanh", x2 ? num_tanh_approx_##T##x2(a) : num_tanh_approx_##T(a))

static bool ev_half(const struct ev_insn *in, const char *m, const char *type, u64 *r)
{
	u32 a = (u32)in->op[1].value, b = (u32)in->op[2].value, c = (u32)in->op[3].value,
	    mode = in->mode;
	bool x2 = strstr(type, "x2");

	if (*type == 'f') {
		EV_HALF(f16)
		EV_TRY("abs", x2 ? num_abs_f16x2(a, mode) : num_abs_f16(a, mode))
		EV_TRY("neg", x2 ? num_neg_f16x2(a, mode) : num_neg_f16(a, mode))
		return false;
	}
	EV_HALF(bf16)
	EV_TRY("abs", x2 ? num_abs_bf16x2(a) : num_abs_bf16(a))
	EV_TRY("neg", x2 ? num_neg_bf16x2(a) : num_neg_bf16(a))
	return false;
}

#include "tests/unit/num/numeric_eval_int.h"
#include "tests/unit/num/numeric_eval_cvt.h"

/* One statement. Returns false for a form this file does not know. */
static bool ev_statement(struct ev *e, char *text)
{
	struct ev_insn in;
	const char *m, *type;
	u64 r = 0;
	bool ok;

	ev_parse(&in, e, text);
	m = in.tok[0];
	type = in.types ? in.type[in.types - 1] : "";
	if (!strcmp(m, "setp") || !strcmp(m, "set") || !strcmp(m, "selp") || !strcmp(m, "slct") ||
	    !strcmp(m, "testp") || !strcmp(m, "lop3"))
		return ev_compare(&in, e);
	if (m[0] == 'v')
		ok = ev_video(&in, &r);
	else if (!strcmp(m, "cvt"))
		ok = ev_cvt(&in, &r);
	else if (!strcmp(type, "f32"))
		ok = ev_f32(&in, m, &r);
	else if (!strcmp(type, "f64"))
		ok = ev_f64(&in, m, &r);
	else if (ev_is_float(type))
		ok = ev_half(&in, m, type, &r);
	else
		ok = ev_integer(&in, e, m, &r);
	if (ok)
		e->out[in.op[0].dst] = r;
	return ok;
}

/* All statements of `form`, separated by semicolons. */
static bool ev_run(struct ev *e, const char *form)
{
	char text[256], *save, *s;

	snprintf(text, sizeof(text), "%.255s", form);
	for (s = strtok_r(text, ";", &save); s; s = strtok_r(NULL, ";", &save)) {
		while (*s == ' ')
			s++;
		if (*s && !ev_statement(e, s))
			return false;
	}
	return true;
}

#endif
