/*
 * Part of numeric_eval.h: integer, bit, carry, comparison and video instructions.
 */
#ifndef PL_NUMERIC_EVAL_INT_H
#define PL_NUMERIC_EVAL_INT_H

/* Product parts of mul and mad: .lo, .hi, .wide by type. */
static bool ev_product(const struct ev_insn *in, const char *type, u64 *r)
{
	u64 a = ev_extend(in->op[1].value, type), b = ev_extend(in->op[2].value, type);
	u32 bits = ev_bits_of(type);
	bool s = *type == 's';

	if (!ev_has(in, "hi"))
		*r = a * b;
	else if (bits == 64)
		*r = s ? num_mul_hi_s64(a, b) : num_mul_hi_u64(a, b);
	else if (bits == 32)
		*r = s ? num_mul_hi_s32((u32)a, (u32)b) : num_mul_hi_u32((u32)a, (u32)b);
	else
		*r = s ? num_mul_hi_s16((u32)a, (u32)b) : num_mul_hi_u16((u32)a, (u32)b);
	return true;
}

/* add.cc, addc, sub.cc, subc, mad.cc, madc */
static bool ev_carry(const struct ev_insn *in, struct ev *e, const char *type, u64 *r)
{
	const char *m = in->tok[0];
	bool c64 = ev_bits_of(type) == 64, mad = !strncmp(m, "mad", 3), sub = !strncmp(m, "sub", 3);
	u64 a = in->op[1].value, b = in->op[2].value;
	u32 carry = m[3] == 'c' ? e->carry : sub, out;

	if (mad) {
		ev_product(in, type, &a);
		b = in->op[3].value;
	}
	if (c64)
		*r = sub ? num_sub_carry_u64(a, b, carry, &out)
			 : num_add_carry_u64(a, b, carry, &out);
	else
		*r = sub ? num_sub_carry_u32((u32)a, (u32)b, carry, &out)
			 : num_add_carry_u32((u32)a, (u32)b, carry, &out);
	if (ev_has(in, "cc"))
		e->carry = out;
	return true;
}

/* Packed bytes. */
static bool ev_bytes(const char *m, const char *type, u32 a, u32 b, u32 mode, u64 *r)
{
	bool s = *type == 's', sat = mode & NUM_SAT;

	if (!strcmp(m, "min") || !strcmp(m, "max"))
		*r = num_minmax_8x4(a, b, m[1] == 'a', s, mode);
	else if (!strcmp(m, "add"))
		*r = sat ? num_add_sat_8x4(a, b, s) : num_add_8x4(a, b);
	else
		*r = !strcmp(m, "neg") ? num_sub_8x4(0, a)
		     : sat             ? num_sub_sat_8x4(a, b, s)
				       : num_sub_8x4(a, b);
	return true;
}

static bool ev_minmax(const char *type, u64 a, u64 b, bool max, u32 mode, u64 *r)
{
	bool s = *type == 's', lt;

	if (!strcmp(type, "u16x2")) {
		*r = num_minmax_u16x2((u32)a, (u32)b, max);
		return true;
	}
	if (!strcmp(type, "s16x2")) {
		*r = num_minmax_s16x2((u32)a, (u32)b, max, mode);
		return true;
	}
	a = ev_extend(a, type);
	b = ev_extend(b, type);
	if (!strcmp(type, "s32")) {
		*r = num_minmax_s32((u32)a, (u32)b, max, mode);
		return true;
	}
	lt = s ? (s64)a < (s64)b : a < b;
	*r = lt != max ? a : b;
	return true;
}

static bool ev_divide(const char *type, bool rem, u64 a, u64 b, u64 *r)
{
	bool s = *type == 's';
	u32 x, y;

	a = ev_extend(a, type);
	b = ev_extend(b, type);
	x = (u32)a;
	y = (u32)b;
	switch (ev_bits_of(type)) {
	case 64:
		*r = rem ? (s ? num_rem_s64(a, b) : num_rem_u64(a, b))
		     : s ? num_div_s64(a, b)
			 : num_div_u64(a, b);
		return true;
	case 32:
		*r = rem ? (s ? num_rem_s32(x, y) : num_rem_u32(x, y))
		     : s ? num_div_s32(x, y)
			 : num_div_u32(x, y);
		return true;
	default:
		*r = rem ? (s ? num_rem_s16(x, y) : num_rem_u16(x, y))
		     : s ? num_div_s16(x, y)
			 : num_div_u16(x, y);
		return true;
	}
}

static bool ev_arith(const struct ev_insn *in, const char *m, const char *type, u64 *r)
{
	u64 a = in->op[1].value, b = in->op[2].value, c = in->op[3].value;
	bool s = *type == 's', sat = in->mode & NUM_SAT, x2 = strstr(type, "x2"),
	     w64 = ev_bits_of(type) == 64;
	u64 xa = ev_extend(a, type), xb = ev_extend(b, type);
	u32 a32 = (u32)xa, b32 = (u32)xb, c32 = (u32)c;

	if (strstr(type, "x4"))
		return ev_bytes(m, type, (u32)a, (u32)b, in->mode, r);
	EV_TRY("clmad", (ev_has(in, "hi") ? num_clmul_hi_u64(a, b) : num_clmul_lo_u64(a, b)) ^ c)
	EV_TRY("add", x2 ? sat ? num_add_sat_16x2((u32)a, (u32)b, s) : num_add_16x2((u32)a, (u32)b)
		      : !sat ? a + b
		      : s    ? num_add_sat_s32(a32, b32)
			     : num_add_sat_u32(a32, b32))
	EV_TRY("sub", sat ? num_sub_sat_s32(a32, b32) : a - b)
	EV_TRY("abs", (s64)xa < 0 ? 0 - xa : xa)
	EV_TRY("neg", 0 - a)
	EV_TRY("sad", w64 ? (s ? num_sad_s64(a, b, c) : num_sad_u64(a, b, c))
		      : s ? num_sad_s32(a32, b32, c32)
			  : num_sad_u32(a32, b32, c32))
	if (!strcmp(m, "min") || !strcmp(m, "max"))
		return ev_minmax(type, a, b, m[1] == 'a', in->mode, r);
	if (!strcmp(m, "div") || !strcmp(m, "rem"))
		return ev_divide(type, *m == 'r', a, b, r);
	if (!strcmp(m, "mul"))
		return ev_product(in, type, r);
	if (!strcmp(m, "mad")) {
		if (sat)
			*r = num_mad_hi_sat_s32(a32, b32, c32);
		else if (ev_product(in, type, r))
			*r += c;
		return true;
	}
	if (!strcmp(m, "mul24") || !strcmp(m, "mad24")) {
		bool hi = ev_has(in, "hi");

		*r = s    ? (hi ? num_mul24_hi_s32(a32, b32) : num_mul24_lo_s32(a32, b32))
		     : hi ? num_mul24_hi_u32(a32, b32)
			  : num_mul24_lo_u32(a32, b32);
		if (m[1] == 'a')
			*r = sat ? num_mad24_hi_sat_s32(a32, b32, c32) : *r + c;
		return true;
	}
	return false;
}

static bool ev_logic(const struct ev_insn *in, const char *m, const char *type, u64 *r)
{
	u64 a = in->op[1].value, b = in->op[2].value;
	u32 a32 = (u32)a, n = (u32)b, bits = ev_bits_of(type);
	bool s = *type == 's';

	if (!strcmp(type, "pred"))
		b = in->op[2].negate ? !b : b;
	EV_TRY("and", a & b)
	EV_TRY("or", a | b)
	EV_TRY("xor", a ^ b)
	EV_TRY("not", !strcmp(type, "pred") ? !a : ~a)
	EV_TRY("cnot", num_cnot(bits == 64 ? a : bits == 32 ? a32 : a & 0xffff))
	EV_TRY("shl", bits == 64   ? num_shl_b64(a, n)
		      : bits == 32 ? num_shl_b32(a32, n)
				   : num_shl_b16(a32, n))
	EV_TRY("shr", bits == 64   ? (s ? num_shr_s64(a, n) : num_shr_u64(a, n))
		      : bits == 32 ? (s ? num_shr_s32(a32, n) : num_shr_u32(a32, n))
		      : s          ? num_shr_s16(a32, n)
				   : num_shr_u16(a32, n))
	return false;
}

static bool ev_bits(const struct ev_insn *in, const char *m, const char *type, u64 *r)
{
	u64 a = in->op[1].value, b = in->op[2].value;
	u32 a32 = (u32)a, b32 = (u32)b, c = (u32)in->op[3].value, d = (u32)in->op[4].value;
	bool w64 = ev_bits_of(type) == 64, s = *type == 's', clamp = ev_has(in, "clamp");
	bool sh = ev_has(in, "shiftamt");

	if (!strcmp(m, "bfe") && !strcmp(type, "s32") && in->op[2].constant && in->op[3].constant) {
		*r = num_bfe_folded_s32(a32, b32, c);
		return true;
	}
	EV_TRY("popc", w64 ? num_popc_b64(a) : num_popc_b32(a32))
	EV_TRY("clz", w64 ? num_clz_b64(a) : num_clz_b32(a32))
	EV_TRY("brev", w64 ? num_brev_b64(a) : num_brev_b32(a32))
	EV_TRY("bfind", w64 ? (s ? num_bfind_s64(a, sh) : num_bfind_u64(a, sh))
			: s ? num_bfind_s32(a32, sh)
			    : num_bfind_u32(a32, sh))
	EV_TRY("bfe", w64 ? (s ? num_bfe_s64(a, b32, c) : num_bfe_u64(a, b32, c))
		      : s ? num_bfe_s32(a32, b32, c)
			  : num_bfe_u32(a32, b32, c))
	EV_TRY("bfi", w64 ? num_bfi_b64(a, b, c, d) : num_bfi_b32(a32, b32, c, d))
	EV_TRY("fns", num_fns_b32(a32, b32, c))
	EV_TRY("szext", s ? num_szext_s32(a32, b32, clamp) : num_szext_u32(a32, b32, clamp))
	EV_TRY("bmsk", num_bmsk_b32(a32, b32, clamp))
	EV_TRY("shf",
	       ev_has(in, "l") ? num_shf_l(a32, b32, c, clamp) : num_shf_r(a32, b32, c, clamp))
	if (!strcmp(m, "prmt")) {
		static const char *const modes[] = {"f4e", "b4e", "rc8", "ecl", "ecr", "rc16"};

		*r = num_prmt_b32(a32, b32, c);
		for (u32 i = 0; i < 6; i++)
			if (ev_has(in, modes[i]))
				*r = num_prmt_mode_b32(a32, b32, c, (enum num_prmt)i);
		return true;
	}
	if (!strcmp(m, "dp4a") || !strcmp(m, "dp2a")) {
		bool sa = *in->type[0] == 's', sb = *in->type[1] == 's';

		*r = m[2] == '4' ? num_dp4a(a32, b32, c, sa, sb)
				 : num_dp2a(a32, ev_has(in, "hi") ? b32 >> 16 : b32, c, sa, sb);
		return true;
	}
	return false;
}

static bool ev_integer(const struct ev_insn *in, struct ev *e, const char *m, u64 *r)
{
	const char *type = in->type[in->types - 1];

	if (ev_has(in, "cc") || !strcmp(m, "addc") || !strcmp(m, "subc") || !strcmp(m, "madc"))
		return ev_carry(in, e, type, r);
	return ev_arith(in, m, type, r) || ev_logic(in, m, type, r) || ev_bits(in, m, type, r);
}

static bool ev_cmp_values(const char *type, u64 a, u64 b, enum num_cmp op, u32 mode)
{
	if (!strcmp(type, "f32"))
		return num_cmp_f32((u32)a, (u32)b, op, mode);
	if (!strcmp(type, "f64"))
		return num_cmp_f64(a, b, op);
	if (!strncmp(type, "f16", 3))
		return num_cmp_f16((u32)a, (u32)b, op, mode);
	if (!strncmp(type, "bf16", 4))
		return num_cmp_bf16((u32)a, (u32)b, op);
	a = ev_extend(a, type);
	b = ev_extend(b, type);
	if (ev_bits_of(type) < 64)
		return *type == 's' ? num_cmp_s32((u32)a, (u32)b, op)
				    : num_cmp_u32((u32)a, (u32)b, op);
	return *type == 's' ? num_cmp_s64(a, b, op) : num_cmp_u64(a, b, op);
}

static bool ev_combine(const struct ev_insn *in, bool p, bool c)
{
	return ev_has(in, "and")   ? p && c
	       : ev_has(in, "or")  ? p || c
	       : ev_has(in, "xor") ? p != c
				   : p;
}

static int ev_cmp_op(const struct ev_insn *in)
{
	static const char *const names[] = {"eq",  "ne",  "lt",  "le",  "gt",  "ge",
					    "equ", "neu", "ltu", "leu", "gtu", "geu",
					    "num", "nan", "lo",  "ls",  "hi",  "hs"};

	for (int i = 1; i < in->tokens; i++)
		for (int j = 0; j < (int)ARRAY_LEN(names); j++)
			if (!strcmp(in->tok[i], names[j]))
				return j < 14 ? j : j - 14 + NUM_LT;
	return -1;
}

/* The true value of a set destination type. */
static u64 ev_true(const char *type)
{
	return !strcmp(type, "f32")        ? 0x3f800000u
	       : !strncmp(type, "f16", 3)  ? 0x3c00u
	       : !strncmp(type, "bf16", 4) ? 0x3f80u
	       : strstr(type, "16")        ? 0xffffu
					   : 0xffffffffu;
}

static bool ev_set(const struct ev_insn *in, struct ev *e)
{
	const char *src = in->type[in->types - 1];
	enum num_cmp op = (enum num_cmp)ev_cmp_op(in);
	u64 a = in->op[1].value, b = in->op[2].value, one;
	bool c = (in->op[3].value != 0) != in->op[3].negate, x2 = strstr(src, "x2");
	bool p = ev_cmp_values(src, x2 ? a & 0xffff : a, x2 ? b & 0xffff : b, op, in->mode);
	bool q = x2 && ev_cmp_values(src, a >> 16 & 0xffff, b >> 16 & 0xffff, op, in->mode);

	if (!strcmp(in->tok[0], "setp")) {
		if (in->op[0].dst >= 0)
			e->out[in->op[0].dst] = ev_combine(in, p, c);
		if (in->op[0].dst2 >= 0)
			e->out[in->op[0].dst2] = x2 ? ev_combine(in, q, c) : ev_combine(in, !p, c);
		return true;
	}
	one = ev_true(in->type[0]);
	if (x2) {
		one &= 0xffff;
		e->out[in->op[0].dst] =
			(ev_combine(in, p, c) ? one : 0) | (ev_combine(in, q, c) ? one << 16 : 0);
	} else {
		e->out[in->op[0].dst] = ev_combine(in, p, c) ? one : 0;
	}
	return true;
}

static bool ev_compare(const struct ev_insn *in, struct ev *e)
{
	static const char *const tests[] = {"finite",     "infinite", "number",
					    "notanumber", "normal",   "subnormal"};
	const char *m = in->tok[0], *type = in->types ? in->type[in->types - 1] : "";
	u64 a = in->op[1].value, b = in->op[2].value, c = in->op[3].value;

	if (m[0] == 's' && m[1] == 'e' && m[2] == 't')
		return ev_set(in, e);
	if (!strcmp(m, "selp")) {
		e->out[in->op[0].dst] = c ? a : b;
		return true;
	}
	if (!strcmp(m, "slct")) {
		bool first = !strcmp(type, "f32") ? num_slct_f32((u32)c, in->mode)
						  : num_slct_s32((u32)c);

		e->out[in->op[0].dst] = first ? a : b;
		return true;
	}
	if (!strcmp(m, "testp")) {
		for (u32 i = 0; i < 6; i++)
			if (ev_has(in, tests[i]))
				e->out[in->op[0].dst] =
					!strcmp(type, "f64")
						? num_testp_f64(a, (enum num_testp)i)
						: num_testp_f32((u32)a, (enum num_testp)i);
		return true;
	}
	/* lop3, with the predicate of its boolean form */
	a = num_lop3((u32)a, (u32)b, (u32)c, (u32)in->op[4].value);
	if (in->op[0].dst >= 0)
		e->out[in->op[0].dst] = a;
	if (in->op[0].dst2 >= 0)
		e->out[in->op[0].dst2] =
			ev_combine(in, a != 0, (in->op[5].value != 0) != in->op[5].negate);
	return true;
}

static u8 ev_part(const char *part)
{
	if (!*part)
		return NUM_VPART_WORD;
	return (u8)(part[1] - '0' + (*part == 'b' ? NUM_VPART_B0 : NUM_VPART_H0));
}

static bool ev_vmad(const struct ev_insn *in, u64 *r)
{
	struct num_vmad v = {
		.a_part = ev_part(in->op[1].part),
		.b_part = ev_part(in->op[2].part),
		.a_signed = *in->type[1] == 's',
		.b_signed = *in->type[2] == 's',
		.negate_product = in->op[1].negate != in->op[2].negate,
		.negate_c = in->op[3].negate,
		.plus_one = ev_has(in, "po"),
		.sat = in->mode & NUM_SAT,
		.shift = ev_has(in, "shr7")    ? 7
			 : ev_has(in, "shr15") ? 15
					       : 0,
	};

	*r = num_video_vmad(&v, (u32)in->op[1].value, (u32)in->op[2].value, (u32)in->op[3].value);
	return true;
}

static void ev_lanes(const char *part, u32 lanes, u32 first, u8 sel[4])
{
	for (u32 i = 0; i < lanes; i++)
		sel[i] = (u8)(*part ? (u32)(part[lanes - i] - '0') : first + i);
}

static bool ev_video(const struct ev_insn *in, u64 *r)
{
	static const char *const names[] = {"vadd",  "vsub", "vabsdiff", "vmin", "vmax",
					    "vavrg", "vset", "vshl",     "vshr"};
	const char *m = in->tok[0];
	size_t n = strlen(m);
	u32 lanes = m[n - 1] == '2' || m[n - 1] == '4' ? (u32)(m[n - 1] - '0') : 0;
	bool set = !strncmp(m, "vset", 4);
	struct num_video v = {
		.second = NUM_V2_NONE, .sat = in->mode & NUM_SAT, .wrap = ev_has(in, "wrap")};
	u32 a = (u32)in->op[1].value, b = (u32)in->op[2].value, c = (u32)in->op[3].value;

	if (!strcmp(m, "vmad"))
		return ev_vmad(in, r);
	for (u8 i = 0; i < ARRAY_LEN(names); i++)
		if (!strncmp(m, names[i], lanes ? n - 1 : n))
			v.op = i;
	v.cmp = (u8)(set ? ev_cmp_op(in) : 0);
	v.d_signed = *in->type[0] == 's';
	v.a_signed = *in->type[set ? 0 : 1] == 's';
	v.b_signed = *in->type[set ? 1 : 2] == 's';
	v.second = ev_has(in, "add")   ? NUM_V2_ADD
		   : ev_has(in, "min") ? NUM_V2_MIN
		   : ev_has(in, "max") ? NUM_V2_MAX
		   : *in->op[0].part   ? NUM_V2_MERGE
				       : NUM_V2_NONE;
	if (!lanes) {
		v.a_part = ev_part(in->op[1].part);
		v.b_part = ev_part(in->op[2].part);
		v.d_part = ev_part(in->op[0].part);
		*r = num_video_scalar(&v, a, b, c);
		return true;
	}
	for (const char *p = in->op[0].part; *p; p++)
		if (*p >= '0' && *p <= '3')
			v.mask |= (u8)(1 << (*p - '0'));
	if (!v.mask)
		v.mask = (u8)((1 << lanes) - 1);
	ev_lanes(in->op[1].part, lanes, 0, v.a_sel);
	ev_lanes(in->op[2].part, lanes, lanes, v.b_sel);
	*r = num_video_simd(&v, a, b, c, lanes);
	return true;
}

#endif
