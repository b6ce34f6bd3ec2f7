/* src/check/init/written.h: which bytes have been written, across words and at both ends. */
#include "src/check/init/written.h"
#include "tests/check.h"

#define BYTES 1000u

/* A plain array says the same of every stretch. */
static bool agrees(const struct written *w, const bool *byte)
{
	u64 missing = 0;

	for (u32 at = 0; at < BYTES; at++) {
		u32 mask = 0;

		missing += !byte[at];
		for (u32 i = 0; i < WRITTEN_MASK && at + i < BYTES; i++)
			mask |= (u32)!byte[at + i] << i;
		if (written_missing(w, at, WRITTEN_MASK) != mask)
			return false;
	}
	return w->missing == missing && written_count_missing(w, 0, BYTES) == missing;
}

static void test_stretches(void)
{
	bool byte[BYTES] = {false};
	struct written w;
	u32 x = 1;
	bool ok = true;

	written_init(&w, BYTES);
	CHECK(agrees(&w, byte));
	for (u32 i = 0; i < 400; i++) {
		u32 at, bytes;

		x = x * 1664525 + 1013904223;
		at = x >> 8 & 1023;
		bytes = 1 + (x >> 20 & 255);
		(x >> 30 ? written_set : written_clear)(&w, at, bytes);
		for (u32 k = at; k < at + bytes && k < BYTES; k++)
			byte[k] = x >> 30;
		ok &= agrees(&w, byte);
	}
	CHECK_MSG(ok, "stretches are set and cleared to the byte");
	written_set(&w, 0, 2 * BYTES);
	CHECK(!w.missing && written_all(&w, 0, BYTES));
	written_clear(&w, 63, 1);
	CHECK(!written_all(&w, 0, 64) && !written_all(&w, 63, 2) && written_all(&w, 64, 900));
	CHECK_EQ(written_missing(&w, 60, 8), 1 << 3);
	written_reset(&w);
	CHECK_EQ(w.missing, BYTES);
	written_fini(&w);
}

static void test_end(void)
{
	struct written w;

	written_init(&w, 100);
	written_set(&w, 0, 100);
	CHECK(written_all(&w, 90, 50));
	CHECK_EQ(written_missing(&w, 99, 8), 0);
	CHECK_EQ(written_missing(&w, 100, 8), 0);
	written_clear(&w, 99, 8);
	CHECK_EQ(written_missing(&w, 98, 8), 1 << 1);
	CHECK_EQ(w.missing, 1);
	written_fini(&w);
}

static void test_origins(void)
{
	struct written w;

	written_init(&w, 64);
	written_set(&w, 0, 64);
	CHECK_EQ(written_origin(&w, 8), 0);
	written_taint(&w, 8, 2, 77);
	CHECK_EQ(written_missing(&w, 8, 4), 3);
	CHECK_EQ(written_origin(&w, 9), 77);
	CHECK_EQ(written_origin(&w, 12), 0);
	written_reset(&w);
	CHECK_EQ(written_origin(&w, 8), 0);
	written_fini(&w);
}

static void test_copies(void)
{
	struct written from, to;

	written_init(&from, 256);
	written_init(&to, 256);
	written_set(&from, 0, 256);
	written_copy(&to, 3, &from, 5, 100);
	CHECK(written_all(&to, 3, 100) && to.missing == 156);
	written_clear(&from, 70, 3);
	written_set(&to, 0, 256);
	written_copy(&to, 0, &from, 60, 90);
	CHECK_EQ(to.missing, 3);
	CHECK_EQ(written_missing(&to, 8, 8), 7 << 2);
	written_fini(&from);
	written_fini(&to);
}

int main(void)
{
	test_stretches();
	test_end();
	test_origins();
	test_copies();
	return check_done();
}
