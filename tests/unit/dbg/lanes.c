/*
 * Expressions for all lanes of a warp at once give what they give one lane at a time, and ask the
 * machine less often.
 */
#include "tests/unit/dbg/fake.h"

#define ALL 0xffffffffu

static const char text[] =
	".version 8.0\n.target sm_80\n.address_size 64\n"
	".global .align 4 .u32 limit;\n.shared .align 4 .b32 box[64];\n"
	".visible .entry k(.param .u32 n)\n{\n"
	".reg .pred p; .reg .b16 h; .reg .s32 i, j; .reg .u32 u; .reg .u64 w; .reg .f32 f;\n"
	".reg .v2 .f32 pair; .reg .s32 never;\n"
	"mov.b16 h, 1; mov.s32 i, 1; mov.s32 j, 1; mov.u32 u, 1; mov.u64 w, 1; mov.f32 f, 1.0;\n"
	"setp.eq.s32 p, i, j; mov.v2.f32 pair, {0f3F800000, 0f40000000};\nret;\n}\n";

static u32 asked; /* questions to the machine */
static bool at_once;

static enum dbg_answer lane_special(void *user PL_UNUSED, const struct dbg_lane *lane,
				    enum isa_sreg_id id, u32 part, u64 *value)
{
	asked++;
	switch ((u32)id) {
	case SR_tid:
		return *value = part ? lane->lane % 3 : lane->lane + 32, DBG_OK;
	case SR_ctaid:
		return *value = 7 + part, DBG_OK;
	case SR_laneid:
		return *value = lane->lane, DBG_OK;
	default:
		return DBG_NOT_KNOWN;
	}
}

static enum dbg_answer special_of_warp(void *user, const struct dbg_lane *warp, u32 lanes,
				       enum isa_sreg_id id, u32 part, u64 *value, bool *same)
{
	enum dbg_answer a = at_once ? DBG_OK : DBG_NOT_KNOWN;
	struct dbg_lane one = *warp;
	u32 was = asked;

	*same = id == SR_ctaid;
	CHECK_EQ(warp->lane, (u32)__builtin_ctz(lanes));
	for (u32 m = lanes; m && a == DBG_OK; m &= *same ? 0 : m - 1) {
		one.lane = (u32)__builtin_ctz(m);
		a = lane_special(user, &one, id, part, &value[one.lane]);
	}
	asked = was + 1;
	return a;
}

/* What lane l has in a register: numbers of both signs, large and small ones. */
static u64 lane_bits(const struct ir_func *f, u32 reg, u32 l)
{
	if (f->regs.at[reg].type == T_pred)
		return l & 1;
	if (f->regs.at[reg].type == T_f32)
		return l == 5 ? 0x7fc00000 : bits_f32((f32)l / 2 - 3);
	return (u64)((s64)l - 9) * (reg % 2 ? 0x100000001ull : 1);
}

static enum dbg_answer lane_register(void *user, const struct dbg_lane *lane,
				     const struct ir_func *f, u32 reg, void *to, u32 bytes)
{
	u64 bits = lane_bits(f, reg, lane->lane);

	(void)user;
	asked++;
	if (dbg_find_register(f, (u32)f->insns.len - 1, "never") == reg)
		return DBG_NOT_SET;
	memset(to, 0, bytes);
	memcpy(to, &bits, bytes < 8 ? bytes : 8);
	return DBG_OK;
}

static enum dbg_answer register_of_warp(void *user, const struct dbg_lane *warp, u32 lanes,
					const struct ir_func *f, u32 reg, u64 *value)
{
	u32 bytes = (isa_type_bits(f->regs.at[reg].type) + 7) / 8, was = asked;
	enum dbg_answer a = at_once ? DBG_OK : DBG_NOT_KNOWN;
	struct dbg_lane one = *warp;

	for (u32 m = lanes; m && a == DBG_OK; m &= m - 1) {
		one.lane = (u32)__builtin_ctz(m);
		value[one.lane] = 0;
		a = lane_register(user, &one, f, reg, &value[one.lane], bytes);
	}
	asked = was + 1;
	return a;
}

/* One lane at a time. False: it fails for one. */
static bool each_lane(struct dbg_expr *e, const struct dbg_context *c, u32 lanes, u32 *holds)
{
	struct dbg_context one = *c;
	struct text why = {0};
	bool good = true, is;

	*holds = 0;
	for (u32 m = lanes; m && good; m &= m - 1) {
		struct dbg_value v;

		one.lane.lane = (u32)__builtin_ctz(m);
		good = dbg_expr_eval(e, &one, &v, &why) && dbg_value_is_true(&one, &v, &is, &why);
		*holds |= good && is ? m & -m : 0;
	}
	text_fini(&why);
	return good;
}

/* often: how often the machine may be asked about 32 lanes. */
static void test_expression(struct fake *x, const char *condition, u32 often)
{
	static const u32 some[] = {ALL, 1, 0x80000000, 0x0ff0, 0xaaaaaaaa, 0x20};
	struct text why = {0};
	struct dbg_expr *e = dbg_expr_parse(&x->c, condition, &why);
	u32 want, have;

	if (!CHECK_MSG(e != NULL, condition))
		return;
	for (u32 i = 0; i < ARRAY_LEN(some); i++) {
		bool good = each_lane(e, &x->c, some[i], &want);

		asked = 0;
		CHECK_MSG(dbg_expr_lanes(e, &x->c, some[i], &have) == good, condition);
		CHECK_MSG(!good || have == want, condition);
		CHECK_MSG(!at_once || asked <= often, condition);
	}
	dbg_expr_free(e);
	text_fini(&why);
}

static const struct {
	const char *text;
	u32 often;
} conditions[] = {
	{"1", 0},
	{"0", 0},
	{"threadIdx.x == 37", 1},
	{"threadIdx.x == 37 && blockIdx.x == 7", 2},
	{"blockIdx.x == 8 && threadIdx.x == 37", 1},
	{"blockIdx.y == 8 || threadIdx.x == 37", 1},
	{"threadIdx.y == 2 && threadIdx.x > 40 && blockIdx.z != 3", 3},
	{"%laneid % 4 == 3", 1},
	{"%ctaid.x - 9 < %laneid", 2},
	{"i == -3", 1},
	{"i < u", 2},
	{"-i > 3 || !(j & 1)", 2},
	{"~i == 2", 1},
	{"(i << 30) < 0", 1},
	{"i >> 1 == -2 || u >> 1 == 2", 2},
	{"i / 2 == -1", 1},
	{"w > 0x100000000", 1},
	{"i * 1.5 > 2", 1},
	{"f > 1 || f != f", 3},
	{"f / 3 == 1.0f / 3", 1},
	{"+f", 1},
	{"h == 4", 1},
	{"p && i > 0", 2},
	{"p ? i > 3 : i < 3", 64},
	{"limit + 1 == 1", 0},
	{"box[i & 7] == 0", 32},
	{"&box[1] == 4", 0},
	{"sizeof(i) == 4", 64},
	{"(unsigned char)i == 250", 64},
	{"pair.x > 1", 64},
	{"warpSize == 32", 0},
	{"$none", 0},
	/* what fails for some lane, or for all */
	{"6 / i", 64},
	{"never > 3", 64},
	{"i > -9 && 6 / i", 64},
	{"nosuch == 3", 64},
	{"%clock == 1", 64},
	{"f & 1", 64},
};

/* The left side of && is asked about lanes for which the right side would fail. */
static void test_short(struct fake *x)
{
	struct text why = {0};
	struct dbg_expr *e = dbg_expr_parse(&x->c, "i != 0 && 6 / i == -2", &why);
	u32 holds;

	CHECK(e && dbg_expr_lanes(e, &x->c, ALL, &holds) && holds == 1u << 6);
	dbg_expr_free(e);
	text_fini(&why);
}

/* What changes something is done lane by lane by the caller, and not at all here. */
static void test_effects(struct fake *x)
{
	static const char *const effects[] = {"$n++ == 3", "i = 5", "i > 100 || ++limit", "f(i)"};
	struct text why = {0};

	for (u32 i = 0; i < ARRAY_LEN(effects); i++) {
		struct dbg_expr *e = dbg_expr_parse(&x->c, effects[i], &why);
		u32 holds, writes = x->writes;

		CHECK_MSG(e && !dbg_expr_lanes(e, &x->c, ALL, &holds), effects[i]);
		CHECK(x->writes == writes);
		dbg_expr_free(e);
	}
	text_fini(&why);
}

int main(void)
{
	static struct fake x;

	if (!CHECK(fake_open(&x, "lanes.ptx", text, strlen(text))))
		return check_done();
	x.c.place.func = ir_find_func(x.m, "k");
	x.c.place.insn = (u32)x.c.place.func->insns.len - 1;
	x.target.special = lane_special;
	x.target.read_register = lane_register;
	for (u32 i = 0; i < ARRAY_LEN(conditions); i++)
		test_expression(&x, conditions[i].text, conditions[i].often);
	at_once = true;
	x.target.special_of_warp = special_of_warp;
	x.target.register_of_warp = register_of_warp;
	for (u32 i = 0; i < ARRAY_LEN(conditions); i++)
		test_expression(&x, conditions[i].text, conditions[i].often);
	test_short(&x);
	test_effects(&x);
	fake_close(&x);
	return check_done();
}
