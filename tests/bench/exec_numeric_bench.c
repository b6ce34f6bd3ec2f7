/*
 * Time of the numeric primitives in lane loops, in nanoseconds per lane: rows of a full gang,
 * operands in L1, least of several runs. An argument selects names that contain it.
 */
#include "tests/unit/num/numeric_lanes.h"

#include <stdio.h>
#include <time.h>

#define BENCH_ROWS 4
#define REPEATS 60
#define RUNS 12

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double lane_ns(const struct lane_case *lc, u8 *a, u8 *b, u8 *c, u8 *d)
{
	double best = 1e18;

	for (int run = 0; run < RUNS; run++) {
		double t = now_ns();

		for (int i = 0; i < REPEATS; i++) {
			for (size_t r = 0; r < BENCH_ROWS; r++) {
				size_t at = r * ROW_LANES * lc->in_bytes;

				lc->row(a + at, b + at, c + at, d);
			}
		}
		t = now_ns() - t;
		best = t < best ? t : best;
	}
	return best / (REPEATS * BENCH_ROWS * ROW_LANES);
}

int main(int argc, char **argv)
{
	static _Alignas(64) u64 a[ROW_LANES * BENCH_ROWS], b[ROW_LANES * BENCH_ROWS],
		c[ROW_LANES * BENCH_ROWS];
	static _Alignas(64) u64 d[ROW_LANES];

	for (size_t k = 0; k < ARRAY_LEN(lane_cases); k++) {
		const struct lane_case *lc = &lane_cases[k];

		if (argc > 1 && !strstr(lc->name, argv[1]))
			continue;
		lane_fill(a, lc->in_bytes, ROW_LANES * BENCH_ROWS);
		lane_fill(b, lc->in_bytes, ROW_LANES * BENCH_ROWS);
		lane_fill(c, lc->in_bytes, ROW_LANES * BENCH_ROWS);
		printf("%-20s %7.3f\n", lc->name, lane_ns(lc, (u8 *)a, (u8 *)b, (u8 *)c, (u8 *)d));
	}
	return 0;
}
