/*
 * src/base: policies of the second cache, by the values that libcu++ has for them.
 */
#include "src/base/l2_policy.h"
#include "tests/check.h"

static enum l2_priority at(u64 policy, u64 address, u32 part)
{
	return l2_policy_priority(policy, &(struct l2_policy_line){address, part});
}

static void test_fractions(void)
{
	u64 half = l2_policy_fractional(L2_PRIORITY_LAST, L2_PRIORITY_FIRST, 0.5f);

	CHECK_EQ(l2_policy_fractional(L2_PRIORITY_UNCHANGED, L2_PRIORITY_UNCHANGED, 1),
		 0x10f0000000000000);
	CHECK_EQ(l2_policy_fractional(L2_PRIORITY_FIRST, L2_PRIORITY_UNCHANGED, 1),
		 0x12f0000000000000);
	CHECK_EQ(l2_policy_fractional(L2_PRIORITY_LAST, L2_PRIORITY_UNCHANGED, 1),
		 0x14f0000000000000);
	CHECK_EQ(l2_policy_fractional(L2_PRIORITY_NORMAL, L2_PRIORITY_UNCHANGED, 1),
		 0x16f0000000000000);
	CHECK_EQ(half, 0x1570000000000000);
	CHECK_EQ(l2_policy_fractional(L2_PRIORITY_LAST, L2_PRIORITY_UNCHANGED, 1e-3f),
		 0x1400000000000000);
	CHECK_MSG(at(half, 0, 7) == L2_PRIORITY_LAST && at(half, 0, 8) == L2_PRIORITY_FIRST,
		  "half of the parts");
	CHECK_MSG(at(0, 0, 0) == L2_PRIORITY_UNCHANGED, "0 is no policy");
}

static void test_ranges(void)
{
	/* Blocks of 8 KiB: 5 of them from the first on. */
	u64 p = l2_policy_range(L2_PRIORITY_LAST, L2_PRIORITY_FIRST, 0x301000, 0x8000, 0x100000);

	CHECK_EQ(p, (u64)5 << 37 | (u64)1 << 52 | (u64)1 << 56 | (u64)2 << 57 | (u64)3 << 59);
	CHECK(at(p, 0x300000, 15) == L2_PRIORITY_LAST && at(p, 0x309fff, 0) == L2_PRIORITY_LAST);
	CHECK(at(p, 0x2fffff, 0) == L2_PRIORITY_FIRST && at(p, 0x30a000, 0) == L2_PRIORITY_FIRST);
	CHECK_MSG(at(p, 0x300000 + 128 * 0x2000, 0) == L2_PRIORITY_LAST, "blocks repeat");
	p = l2_policy_range(L2_PRIORITY_LAST, L2_PRIORITY_UNCHANGED, 0, 0x80000, 0x80000);
	CHECK_MSG((p >> 37 & 127) == 127, "all is one block less than all");
	p = l2_policy_range(L2_PRIORITY_LAST, L2_PRIORITY_UNCHANGED, 1, UINT32_MAX, UINT32_MAX);
	CHECK_MSG((p >> 37 & 127) == 1 && (p >> 52 & 15) == 13, "of the largest there is one");
}

int main(void)
{
	test_fractions();
	test_ranges();
	return check_done();
}
