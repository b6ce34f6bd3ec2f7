/*
 * Part of numeric_eval.h: cvt in all its forms.
 */
#ifndef PL_NUMERIC_EVAL_CVT_H
#define PL_NUMERIC_EVAL_CVT_H

#define EV_MINI(T, W)                                                                              \
	if (!strcmp(d, #T "x2")) {                                                                 \
		*r = !strcmp(s, "f32")      ? num_##T##x2_from_f32(a, b, mode)                     \
		     : !strcmp(s, "bf16x2") ? num_##T##x2_from_bf16x2(a, mode)                     \
					    : num_##T##x2_from_f16x2(a, mode);                     \
		return true;                                                                       \
	}                                                                                          \
	if (!strcmp(s, #T "x2")) {                                                                 \
		*r = *d == 'b' ? num_bf16x2_from_##T##x2(a, scaled ? b : NUM_SCALE_ONE, mode)      \
			       : num_f16x2_from_##T##x2(a, mode);                                  \
		return true;                                                                       \
	}

static bool ev_cvt_fixed(const struct ev_insn *in, const char *d, u64 *r)
{
	u32 a = (u32)in->op[1].value, b = (u32)in->op[2].value, c = (u32)in->op[3].value,
	    mode = in->mode;
	bool scaled = ev_has(in, "scaled::n2::ue8m0");

	if (*d == 'b')
		*r = num_bf16x2_from_s2f6x2(a, scaled ? b : NUM_SCALE_ONE, mode);
	else if (in->ops == (scaled ? 4 : 3))
		*r = num_s2f6x2_from_f32(a, b, scaled ? c : NUM_SCALE_ONE, mode);
	else
		*r = num_s2f6x2_scaled_from_bf16x2(a, scaled ? b : NUM_SCALE_ONE, mode);
	return true;
}

static bool ev_cvt_packed(const struct ev_insn *in, const char *d, const char *s, u64 *r)
{
	u32 a = (u32)in->op[1].value, b = (u32)in->op[2].value, c = (u32)in->op[3].value,
	    mode = in->mode;
	bool scaled = ev_has(in, "scaled::n2::ue8m0");

	if (!strcmp(d, "s2f6x2") || !strcmp(s, "s2f6x2"))
		return ev_cvt_fixed(in, d, r);
	if (ev_has(in, "pack")) {
		u32 bits = ev_bits_of(d);

		*r = *d == 's' ? num_pack_signed(a, b, c, bits) : num_pack_unsigned(a, b, c, bits);
		return true;
	}
	if (!strcmp(d, "tf32")) {
		*r = ev_has(in, "rna") ? num_tf32_rna_from_f32(a, mode)
				       : num_tf32_from_f32(a, mode);
		return true;
	}
	if (!strcmp(d, "f16x2") && !strcmp(s, "f32")) {
		*r = ev_has(in, "rs") ? num_f16x2_stochastic(a, b, c, mode)
				      : num_f16x2_from_f32(a, b, mode);
		return true;
	}
	if (!strcmp(d, "bf16x2") && !strcmp(s, "f32")) {
		*r = ev_has(in, "rs") ? num_bf16x2_stochastic(a, b, c, mode)
				      : num_bf16x2_from_f32(a, b, mode);
		return true;
	}
	if (!strcmp(d, "ue8m0x2")) {
		*r = !strcmp(s, "f32") ? num_ue8m0x2_from_f32(a, b, mode)
				       : num_ue8m0x2_from_bf16x2(a, mode);
		return true;
	}
	if (!strcmp(s, "ue8m0x2")) {
		*r = num_bf16x2_from_ue8m0x2(a);
		return true;
	}
	if (!strcmp(d, "e4m3x4") || !strcmp(d, "e5m2x4")) {
		u32 v[4] = {a, b, c, (u32)in->op[4].value};

		*r = num_minix4_stochastic(v, (u32)in->op[5].value,
					   d[1] == '4' ? num_e4m3 : num_e5m2, mode);
		return true;
	}
	EV_MINI(e4m3, 8)
	EV_MINI(e5m2, 8)
	EV_MINI(e2m3, 8)
	EV_MINI(e3m2, 8)
	EV_MINI(e2m1, 4)
	return false;
}

#define EV_FLOAT_TO_INT(T, V)                                                                      \
	if (!strcmp(s, #T)) {                                                                      \
		*r = bits == 64 ? (sd ? num_s64_from_##T(V, mode) : num_u64_from_##T(V, mode))     \
		     : sd       ? num_signed_from_##T(V, bits, mode)                               \
				: num_unsigned_from_##T(V, bits, mode);                                  \
		return true;                                                                       \
	}

static bool ev_cvt_to_int(const struct ev_insn *in, const char *d, const char *s, u64 *r)
{
	u64 a = in->op[1].value;
	u32 a32 = (u32)a, bits = ev_bits_of(d), mode = in->mode;
	bool sd = *d == 's', sat = mode & NUM_SAT;

	EV_FLOAT_TO_INT(f16, a32)
	EV_FLOAT_TO_INT(bf16, a32)
	EV_FLOAT_TO_INT(f32, a32)
	EV_FLOAT_TO_INT(f64, a)
	a = ev_extend(a, s);
	if (!sat)
		*r = sd ? num_extend_s64(a, bits) : num_extend_u64(a, bits);
	else if (*s == 's')
		*r = sd ? num_clamp_signed_s64(a, bits) : num_clamp_unsigned_s64(a, bits);
	else
		*r = sd ? num_clamp_signed_u64(a, bits) : num_clamp_unsigned_u64(a, bits);
	return true;
}

#define EV_INT_TO_FLOAT(T)                                                                         \
	if (!strcmp(d, #T)) {                                                                      \
		a = ev_extend(a, s);                                                               \
		*r = ev_bits_of(s) == 64 ? (*s == 's' ? num_##T##_from_s64(a, mode)                \
						      : num_##T##_from_u64(a, mode))               \
		     : *s == 's'         ? num_##T##_from_s32((u32)a, mode)                        \
					 : num_##T##_from_u32((u32)a, mode);                               \
		return true;                                                                       \
	}

static bool ev_cvt_to_float(const struct ev_insn *in, const char *d, const char *s, u64 *r)
{
	u64 a = in->op[1].value;
	u32 a32 = (u32)a, mode = in->mode;
	bool whole =
		ev_has(in, "rni") || ev_has(in, "rzi") || ev_has(in, "rmi") || ev_has(in, "rpi");
	char pair[32];
	const char *m = pair;

	if (!ev_is_float(s)) {
		EV_INT_TO_FLOAT(f16)
		EV_INT_TO_FLOAT(bf16)
		EV_INT_TO_FLOAT(f32)
		EV_INT_TO_FLOAT(f64)
		return false;
	}
	snprintf(pair, sizeof(pair), "%s %s", d, s);
	EV_TRY("f32 f64", num_f32_from_f64(a, mode))
	EV_TRY("f16 f64", num_f16_from_f64(a, mode))
	EV_TRY("bf16 f64", num_bf16_from_f64(a, mode))
	EV_TRY("f16 f32", num_f16_from_f32(a32, mode))
	EV_TRY("bf16 f32", num_cvt_bf16_f32(a32, mode))
	EV_TRY("f32 f16", num_f32_from_f16(a32, mode))
	EV_TRY("f32 bf16", num_f32_from_bf16(a32, mode))
	EV_TRY("f64 f32", num_f64_from_f32(a32, mode))
	EV_TRY("f64 f16", num_f64_from_f16(a32, mode))
	EV_TRY("f64 bf16", num_f64_from_bf16(a32, mode))
	EV_TRY("bf16 f16", num_bf16_from_f16(a32, mode))
	EV_TRY("f16 bf16", num_f16_from_bf16(a32, mode))
	EV_TRY("f32 f32", whole ? num_round_f32(a32, mode) : num_move_f32(a32, mode))
	EV_TRY("f64 f64", whole ? num_round_whole_f64(a, mode) : num_move_f64(a, mode))
	EV_TRY("f16 f16", whole ? num_round_f16(a32, mode) : num_move_f16(a32, mode))
	EV_TRY("bf16 bf16", whole ? num_round_bf16(a32, mode) : num_move_bf16(a32, mode))
	return false;
}

static bool ev_cvt(const struct ev_insn *in, u64 *r)
{
	const char *d = in->type[0], *s = in->type[1];

	if (ev_cvt_packed(in, d, s, r))
		return true;
	return ev_is_float(d) ? ev_cvt_to_float(in, d, s, r) : ev_cvt_to_int(in, d, s, r);
}

#endif
