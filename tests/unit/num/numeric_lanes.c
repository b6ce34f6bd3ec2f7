/*
 * Vectorised lane loops give the same bits as one lane at a time. Build it for several processor
 * levels: the code differs most where the processor has or lacks a fused multiply-add.
 */
#include "tests/unit/num/numeric_lanes.h"
#include "tests/check.h"
#include "tests/skip.h"

static u64 get(const void *p, u32 bytes, size_t i)
{
	u64 v = 0;

	memcpy(&v, (const u8 *)p + i * bytes, bytes);
	return v;
}

/* LANES_NEED names what the processor must have to run a build for more than the baseline. */
static bool host_runs_this(void)
{
#ifdef LANES_NEED
	return __builtin_cpu_supports(LANES_NEED);
#else
	return true;
#endif
}

int main(void)
{
	static _Alignas(64) u64 a[ROW_LANES * ROWS], b[ROW_LANES * ROWS], c[ROW_LANES * ROWS],
		d[ROW_LANES];
	const bool runs = host_runs_this();

	for (size_t k = 0; k < ARRAY_LEN(lane_cases); k++) {
		const struct lane_case *lc = &lane_cases[k];
		u32 n = lc->in_bytes;
		size_t bad = 0;

		if (!runs) {
			check_skip(lc->name, "the processor lacks the instructions of this build");
			continue;
		}
		lane_fill(a, n, ROW_LANES * ROWS);
		lane_fill(b, n, ROW_LANES * ROWS);
		lane_fill(c, n, ROW_LANES * ROWS);
		for (size_t r = 0; r < ROWS; r++) {
			size_t at = r * ROW_LANES;

			lc->row((u8 *)a + at * n, (u8 *)b + at * n, (u8 *)c + at * n, d);
			for (size_t i = 0; i < ROW_LANES; i++)
				bad += get(d, lc->out_bytes, i) != lc->one(get(a, n, at + i),
									   get(b, n, at + i),
									   get(c, n, at + i));
		}
		CHECK_MSG(!bad, lc->name);
	}
	return check_done();
}
