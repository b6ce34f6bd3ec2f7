/*
 * NCCL as the host does it: communicators of several devices in one process, or of several
 * processes. Its functions are found by their names.
 *
 *   nccl                 all devices of this process, then errors
 *   nccl RANKS           that many processes with a device each
 *   nccl RANKS dies      the last of them ends without a word
 */
#include "tests/hostlibs/device.h"

#include <sys/wait.h>
#include <unistd.h>

enum { RANKS_MAX = 8, SUM = 0, PROD, MAX, MIN, AVG };

struct id {
	char bytes[128];
};

static void *comms[RANKS_MAX], *streams[RANKS_MAX], *in[RANKS_MAX], *out[RANKS_MAX];
static int ranks, first, mine; /* first ... first + mine - 1 are of this process */

static const size_t sizes[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};

/* Small integers in every type; numbers of ncclDataType_t. */
static void put_small(int type, void *at, int x)
{
	float f = (float)x;
	double d = x;
	int64_t l = x;
	uint16_t h = type == 6 ? half_of(x) : bf16_of(x);
	/* Of 8-bit floats: 0, 1, 2, 3, 4. */
	static const uint8_t e4m3[] = {0, 0x38, 0x40, 0x44, 0x48},
			     e5m2[] = {0, 0x3c, 0x40, 0x42, 0x44};

	memcpy(at,
	       type == 7                ? (void *)&f
	       : type == 8              ? (void *)&d
	       : type == 6 || type == 9 ? (void *)&h
	       : type == 10             ? (const void *)&e4m3[x]
	       : type == 11             ? (const void *)&e5m2[x]
					: (void *)&l,
	       sizes[type]);
}

static void device_set(int local)
{
	named("cudaSetDevice")(local);
}

/* Element i of rank r. */
static int value(int r, long i)
{
	return (int)((r + i) % 2 + 1);
}

static int expected(int op, long i)
{
	int x = value(0, i);

	for (int r = 1; r < ranks; r++) {
		int y = value(r, i);

		x = op == SUM || op == AVG   ? x + y
		    : op == PROD             ? x * y
		    : (op == MAX) == (y > x) ? y
					     : x;
	}
	return op == AVG ? x / ranks : x;
}

static void fill(int local, int type, long n)
{
	char *t = malloc((size_t)n * sizes[type]);

	for (long i = 0; i < n; i++)
		put_small(type, t + (size_t)i * sizes[type], value(first + local, i));
	device_set(local);
	named("cudaMemcpy")(in[local], t, (size_t)n * sizes[type], 1);
	free(t);
}

/* How many of n elements from `from` on are not what `want` says. */
static long wrong(int local, int type, long from, long n, int (*want)(int rank, long i))
{
	size_t size = sizes[type];
	char *t = malloc((size_t)n * size), one[8];
	long bad = 0;

	device_set(local);
	if (named("cudaStreamSynchronize")(streams[local]))
		bad = -1;
	named("cudaMemcpy")(t, (char *)out[local] + (size_t)from * size, (size_t)n * size, 2);
	for (long i = 0; i < n && bad >= 0; i++) {
		put_small(type, one, want(first + local, i));
		bad += memcmp(one, t + (size_t)i * size, size) != 0;
	}
	free(t);
	return bad;
}

static int op_now, root_now;
static long part_now;

static int want_reduced(int rank, long i)
{
	(void)rank;
	return expected(op_now, i);
}

static int want_scattered(int rank, long i)
{
	return expected(op_now, rank * part_now + i);
}

static int want_root(int rank, long i)
{
	(void)rank;
	return value(root_now, i);
}

static int want_gathered(int rank, long i)
{
	(void)rank;
	return value((int)(i / part_now), i % part_now);
}

static int want_exchanged(int rank, long i)
{
	return value((int)(i / part_now), rank * part_now + i % part_now);
}

static int want_neighbour(int rank, long i)
{
	return value((rank + ranks - 1) % ranks, i);
}

#define EACH for (int l = 0; l < mine; l++)
#define GROUP(call)                                                                                \
	do {                                                                                       \
		bad += named("ncclGroupStart")() != 0;                                             \
		EACH bad += (call) != 0;                                                           \
		bad += named("ncclGroupEnd")() != 0;                                               \
	} while (0)
#define JUDGE(from, n, want)                                                                       \
	do {                                                                                       \
		EACH bad += wrong(l, type, from, n, want);                                         \
	} while (0)

static long reductions(int type, long n)
{
	long bad = 0;

	for (op_now = SUM; op_now <= AVG; op_now++) {
		/* What 8-bit floats and halves of small integers do not hold, and inexact means. */
		if ((type >= 10 && op_now != MAX && op_now != MIN) || (op_now == AVG && type > 5) ||
		    (op_now == PROD && ranks > 4))
			continue;
		EACH fill(l, type, n);
		GROUP(named("ncclAllReduce")(in[l], out[l], n, type, op_now, comms[l], streams[l]));
		JUDGE(0, n, want_reduced);
	}
	op_now = MAX;
	root_now = ranks - 1;
	GROUP(named("ncclReduce")(in[l], out[l], n, type, MAX, root_now, comms[l], streams[l]));
	EACH if (first + l == root_now) bad += wrong(l, type, 0, n, want_reduced);
	part_now = n / ranks;
	GROUP(named("ncclReduceScatter")(in[l], out[l], part_now, type, MAX, comms[l], streams[l]));
	JUDGE(0, part_now, want_scattered);
	return bad;
}

static long moves(int type, long n)
{
	long bad = 0, p = n / ranks;
	size_t size = sizes[type];

	part_now = p;
	EACH fill(l, type, n);
	for (root_now = 0; root_now < ranks; root_now += ranks - 1) {
		GROUP(named("ncclBroadcast")(in[l], out[l], n, type, root_now, comms[l],
					     streams[l]));
		JUDGE(0, n, want_root);
		GROUP(named("ncclScatter")(in[l], out[l], p, type, root_now, comms[l], streams[l]));
		EACH bad += first + l == 0 && root_now == 0 ? wrong(l, type, 0, p, want_root) : 0;
		GROUP(named("ncclGather")(in[l], out[l], p, type, root_now, comms[l], streams[l]));
		EACH if (first + l == root_now) bad += wrong(l, type, 0, p * ranks, want_gathered);
	}
	GROUP(named("ncclAllGather")(in[l], out[l], p, type, comms[l], streams[l]));
	JUDGE(0, p * ranks, want_gathered);
	GROUP(named("ncclAlltoAll")(in[l], out[l], p, type, comms[l], streams[l]));
	JUDGE(0, p * ranks, want_exchanged);
	bad += named("ncclGroupStart")() != 0;
	EACH
	{
		int rank = first + l;

		bad += named("ncclSend")(in[l], n, type, (rank + 1) % ranks, comms[l],
					 streams[l]) != 0;
		bad += named("ncclRecv")(out[l], n, type, (rank + ranks - 1) % ranks, comms[l],
					 streams[l]) != 0;
	}
	bad += named("ncclGroupEnd")() != 0;
	JUDGE(0, n, want_neighbour);
	/* In place. */
	EACH
	{
		device_set(l);
		named("cudaMemcpy")((char *)out[l] + (size_t)((first + l) * p) * size, in[l],
				    (size_t)p * size, 3);
	}
	GROUP(named("ncclAllGather")((char *)out[l] + (size_t)((first + l) * p) * size, out[l], p,
				     type, comms[l], streams[l]));
	JUDGE(0, p * ranks, want_gathered);
	return bad;
}

static long scaled(void)
{
	long bad = 0;
	float three = 3, got = 0, want = 0;
	int ops[RANKS_MAX];

	EACH fill(l, 7, 100);
	EACH bad += named("ncclRedOpCreatePreMulSum")(&ops[l], &three, 7, 1, comms[l]) != 0;
	GROUP(named("ncclAllReduce")(in[l], out[l], 100L, 7, ops[l], comms[l], streams[l]));
	for (int r = 0; r < ranks; r++)
		want += 3.0f * (float)value(r, 7);
	device_set(0);
	named("cudaStreamSynchronize")(streams[0]);
	named("cudaMemcpy")(&got, (char *)out[0] + 28, 4L, 2);
	EACH bad += named("ncclRedOpDestroy")(ops[l], comms[l]) != 0;
	return bad + (got != want);
}

/* Even and odd ranks, in the other order. */
static long split(void)
{
	void *whole[RANKS_MAX], *parts[RANKS_MAX];
	long bad = 0;
	int all = ranks, at, n;

	GROUP(named("ncclCommSplit")(comms[l], (first + l) % 2, -(first + l), &parts[l], NULL));
	EACH bad += named("ncclCommUserRank")(parts[l], &at) ||
		    named("ncclCommCount")(parts[l], &n) || n != (all + 1 - (first + l) % 2) / 2 ||
		    at != n - 1 - (first + l) / 2;
	EACH fill(l, 7, 10);
	GROUP(named("ncclBroadcast")(in[l], out[l], 10L, 7, 0, parts[l], streams[l]));
	memcpy(whole, comms, sizeof(whole));
	EACH
	{
		root_now = all - 1 - (all - 1 - (first + l)) % 2;
		bad += wrong(l, 7, 0, 10, want_root);
	}
	EACH bad += named("ncclCommDestroy")(parts[l]) != 0;
	return bad;
}

static long captured(void)
{
	void *graph[RANKS_MAX], *exec[RANKS_MAX];
	long bad = 0;

	op_now = SUM;
	EACH fill(l, 7, 1000);
	EACH
	{
		device_set(l);
		bad += named("cudaStreamBeginCapture")(streams[l], 1) != 0;
	}
	GROUP(named("ncclAllReduce")(in[l], out[l], 1000L, 7, SUM, comms[l], streams[l]));
	EACH
	{
		device_set(l);
		bad += named("cudaStreamEndCapture")(streams[l], &graph[l]) != 0;
	}
	EACH
	{
		device_set(l);
		bad += named("cudaGraphInstantiate")(&exec[l], graph[l], 0ull) != 0;
	}
	for (int i = 0; i < 3; i++) {
		EACH
		{
			device_set(l);
			named("cudaMemset")(out[l], 0, 4000L);
			bad += named("cudaGraphLaunch")(exec[l], streams[l]) != 0;
		}
		for (int l = 0; l < mine; l++)
			bad += wrong(l, 7, 0, 1000, want_reduced);
	}
	return bad;
}

static void test_all(void)
{
	static const char *const names[] = {"s8",  "u8",  "s32", "u32",  "s64",  "u64",
					    "f16", "f32", "f64", "bf16", "e4m3", "e5m2"};
	char text[64];

	for (int type = 0; type < 12; type++) {
		snprintf(text, sizeof(text), "reductions of %s", names[type]);
		CHECK_MSG(reductions(type, 1000) == 0, text);
		snprintf(text, sizeof(text), "moves of %s", names[type]);
		CHECK_MSG(moves(type, 1000) == 0, text);
	}
	CHECK_MSG(reductions(7, 700000) == 0 && moves(2, 700000) == 0, "many pieces");
	CHECK_MSG(scaled() == 0, "operators of programs");
	CHECK_MSG(split() == 0, "parts of a communicator");
	CHECK_MSG(captured() == 0, "graphs");
}

static void open_devices(void)
{
	EACH
	{
		device_set(l);
		named("cudaMalloc")(&in[l], 8000000L);
		named("cudaMalloc")(&out[l], 8000000L);
		named("cudaStreamCreate")(&streams[l]);
	}
}

static void test_errors(void)
{
	static const int no_device[] = {0, 99};
	void *none[2];
	struct id id;
	void *c;
	int two[] = {0, 0}, error = -1;

	CHECK_EQ(named("ncclAllReduce")(in[0], out[0], 1L, 12, SUM, comms[0], streams[0]), 4);
	CHECK_EQ(named("ncclAllReduce")(in[0], out[0], 1L, 7, 5, comms[0], streams[0]), 4);
	CHECK_EQ(named("ncclAllReduce")(NULL, out[0], 1L, 7, SUM, comms[0], streams[0]), 4);
	CHECK_EQ(named("ncclAllReduce")(in[0], out[0], 1L, 7, SUM, NULL, streams[0]), 4);
	CHECK_EQ(named("ncclAllReduce")(in[0], out[0], 0L, 7, SUM, comms[0], streams[0]), 0);
	CHECK_EQ(named("ncclAllReduce")(in[0], out[0], -1L, 7, SUM, comms[0], streams[0]), 4);
	CHECK_EQ(named("ncclSend")(in[0], 1L, 7, ranks, comms[0], streams[0]), 4);
	CHECK_EQ(named("ncclGroupEnd")(), 5);
	CHECK_EQ(named("ncclCommInitAll")(&c, 2, two), 5);
	CHECK_EQ(named("ncclCommInitAll")(none, 2, no_device), 4);
	CHECK_EQ(named("ncclGather")(in[0], out[0], 1L, 7, -1, comms[0], streams[0]), 4);
	named("ncclGroupStart")();
	CHECK_EQ(named("ncclGroupSimulateEnd")(NULL), 5);
	CHECK_EQ(named("ncclGroupEnd")(), 5);
	memset(&id, 0, sizeof(id));
	CHECK_EQ(((int (*)(void **, int, struct id, int))named("ncclCommInitRank"))(&c, 1, id, 0),
		 4);
	CHECK_EQ(named("ncclCommGetAsyncError")(comms[0], &error), 0);
	CHECK_EQ(error, 0);
	/* Ranks that do not call the same. */
	named("ncclGroupStart")();
	named("ncclAllReduce")(in[0], out[0], 10L, 7, SUM, comms[0], streams[0]);
	for (int l = 1; l < mine; l++)
		named("ncclAllReduce")(in[l], out[l], 11L, 7, SUM, comms[l], streams[l]);
	CHECK_EQ(named("ncclGroupEnd")(), 0);
	device_set(0);
	CHECK_EQ(named("cudaStreamSynchronize")(streams[0]), 719);
	CHECK_EQ(named("ncclCommGetAsyncError")(comms[0], &error), 0);
	CHECK_MSG(error == 5 || error == 6, "an asynchronous error");
	CHECK_EQ(named("ncclCommAbort")(comms[0]), 0);
}

static int run_rank(const struct id *id, int rank, int dies)
{
	void *init = (void *)named("ncclCommInitRank");

	first = rank;
	mine = 1;
	device_set(0);
	CHECK_EQ(((int (*)(void **, int, struct id, int))init)(&comms[0], ranks, *id, rank), 0);
	if (dies && rank == ranks - 1)
		_exit(0);
	open_devices();
	if (dies) {
		named("ncclAllReduce")(in[0], out[0], 10L, 7, SUM, comms[0], streams[0]);
		CHECK_EQ(named("cudaStreamSynchronize")(streams[0]), 719);
	} else {
		test_all();
	}
	CHECK_EQ(named("ncclCommDestroy")(comms[0]), 0);
	return check_done();
}

static int run_processes(int dies)
{
	struct id id;
	int bad = 0, status;

	named("ncclGetUniqueId")(&id);
	for (int r = 0; r < ranks; r++)
		if (!fork())
			exit(run_rank(&id, r, dies));
	while (wait(&status) > 0)
		bad += status != 0;
	return bad != 0;
}

int main(int argc, char **argv)
{
	if (argc > 1) {
		ranks = atoi(argv[1]);
		return run_processes(argc > 2);
	}
	named("cudaGetDeviceCount")(&ranks);
	mine = ranks;
	CHECK_EQ(named("ncclCommInitAll")(comms, ranks, NULL), 0);
	open_devices();
	test_all();
	test_errors();
	return check_done();
}
