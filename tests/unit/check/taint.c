/* src/check/init/taint.h: undefined bytes of registers, by class of row. */
#include "src/check/init/taint.h"
#include "tests/check.h"

/* Two warps; W rows at 0 and 256, an X row at 512, a P row at 1024. */
enum { W_ROW = 0, OTHER_ROW = 256, X_ROW = 512, P_ROW = 1024, BLOCK = 1088 };

static const struct taint_shape shape = {
	.wide_at = X_ROW, .preds_at = P_ROW, .block_bytes = BLOCK, .gang = 2};

static bool begin(struct taint *t)
{
	u8 states[BLOCK / 64 + 2] = {0};

	if (!CHECK(taint_init(t, &shape)))
		return false;
	states[W_ROW / 64] = states[X_ROW / 64] = states[P_ROW / 64] = TAINT_UNSET;
	taint_begin(t, states, 3);
	return true;
}

static void test_unset(struct taint *t)
{
	CHECK_EQ(taint_get(t, W_ROW, 5).mask, 0xf);
	CHECK_EQ(taint_get(t, X_ROW, 40).mask, 0xff);
	CHECK_EQ(taint_get(t, P_ROW, 63).mask, 1);
	CHECK_EQ(taint_get(t, W_ROW, 5).origin, TAINT_NEVER);
	CHECK_EQ(taint_get(t, OTHER_ROW, 5).mask, 0);
	CHECK(taint_lanes(t, W_ROW, 1) == FULL_MASK && !taint_lanes(t, OTHER_ROW, 1));
}

/* Every lane but one writes each row: that one remains. */
static void test_lanes(struct taint *t)
{
	static const u32 rows[] = {W_ROW, X_ROW, P_ROW};

	for (u32 i = 0; i < ARRAY_LEN(rows); i++) {
		taint_clean(t, rows[i], 0, FULL_MASK);
		taint_clean(t, rows[i], 1, ~(1u << 7));
		taint_settle(t, rows[i]);
		CHECK(!taint_lanes(t, rows[i], 0) && taint_lanes(t, rows[i], 1) == 1u << 7);
		CHECK_EQ(t->dirty, 3 - i);
		taint_clean(t, rows[i], 1, 1u << 7);
		taint_settle(t, rows[i]);
		CHECK_EQ(t->dirty, 2 - i);
		CHECK_EQ(taint_state(t, rows[i]), TAINT_CLEAN);
	}
}

static void test_values(struct taint *t)
{
	struct taint_value x = {.mask = 5 | TAINT_COMPUTED, .origin = 9}, none = {0};

	taint_put(t, X_ROW, 33, none);
	CHECK_EQ(t->dirty, 0);
	taint_put(t, X_ROW, 33, x);
	CHECK(taint_get(t, X_ROW, 33).mask == x.mask && taint_get(t, X_ROW, 33).origin == 9);
	CHECK(!taint_get(t, X_ROW, 32).mask && !taint_get(t, X_ROW, 34).mask);
	CHECK_EQ(taint_lanes(t, X_ROW, 1), 2);
	x.mask = 1;
	taint_put(t, P_ROW, 2, x);
	CHECK(taint_get(t, P_ROW, 2).mask == 1 && taint_get(t, P_ROW, 2).origin == 9);
	CHECK_EQ(t->dirty, 2);
	taint_clean_row(t, X_ROW);
	taint_put(t, P_ROW, 2, none);
	taint_settle(t, P_ROW);
	CHECK_EQ(t->dirty, 0);
}

int main(void)
{
	struct taint t;

	if (begin(&t)) {
		test_unset(&t);
		test_lanes(&t);
		test_values(&t);
		taint_fini(&t);
	}
	return check_done();
}
