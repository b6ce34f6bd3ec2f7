// Copies of bulk and tensor kinds, mbarriers, clusters, products of warpgroups and what goes with them on sm_90, each used
// as it may be and with one mistake: `hopper NAME good` and `hopper NAME bad`. The name begins with the check that finds
// it; lines that a finding may name have its name behind a `!`. tests/check/hopper.sh runs them.
#include <cstdio>
#include <cstring>
#include <cuda.h>
#include <cuda_runtime.h>

typedef unsigned long long u64;
typedef unsigned u32;

struct maps {
	CUtensorMap in, out;
};

// A kernel, with the blocks of its clusters, its blocks and their threads.
#define K(name, cluster, grid, block) \
	template <bool BAD> __global__ void __launch_bounds__(block) name(const maps *maps, int *o, int *raw)
#define T threadIdx.x
#define FIRST (threadIdx.x == 0)
#define SIN __shared__ __align__(128) int
#define BARS(n) __shared__ __align__(8) u64 b[n]
#define AT(p) "r"((u32)__cvta_generic_to_shared(p))
#define AS(...) asm volatile(__VA_ARGS__)

// ---- mbarriers ----
#define INIT(b, n) AS("mbarrier.init.shared.b64 [%0], %1;" ::AT(b), "r"(n) : "memory")
#define INIT_FENCE AS("fence.mbarrier_init.release.cluster;" ::: "memory")
#define BEGIN(n) \
	do { \
		if (FIRST) { \
			INIT(&b[0], n); \
			INIT_FENCE; \
		} \
		__syncthreads(); \
	} while (0)
#define INVAL(b) AS("mbarrier.inval.shared.b64 [%0];" ::AT(b) : "memory")
#define EXPECT(b, n) AS("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::AT(b), "r"(n) : "memory")
#define ARRIVE(b) AS("mbarrier.arrive.shared.b64 _, [%0];" ::AT(b) : "memory")
#define WAIT_BY(words, b, parity) \
	do { \
		int d = 0; \
		while (!d) \
			AS("{ .reg .pred p; mbarrier.try_wait.parity." words ".b64 p, [%1], %2; selp.b32 %0, 1, 0, p; }" \
			   : "=r"(d) : AT(b), "r"(parity) : "memory"); \
	} while (0)
#define WAIT(b, parity) WAIT_BY("shared", b, parity)
#define WAIT_RELAXED(b, parity) WAIT_BY("relaxed.cta.shared::cta", b, parity)
#define WAIT_CLUSTER(b, parity) WAIT_BY("acquire.cluster.shared::cta", b, parity)

// ---- copies ----
#define BULK_LOAD "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
#define LOAD(to, from, n, b) \
	AS(BULK_LOAD " [%0], [%1], %2, [%3];" ::AT(to), "l"(from), "r"(n), AT(b) : "memory")
#define LOAD_MC(to, from, n, b, m) \
	AS(BULK_LOAD ".multicast::cluster [%0], [%1], %2, [%3], %4;" ::AT(to), "l"(from), "r"(n), AT(b), "h"((short)(m)) \
	   : "memory")
#define STORE(to, from, n) \
	AS("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to), AT(from), "r"(n) : "memory")
#define REDUCE(to, from, n) \
	AS("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.s32 [%0], [%1], %2;" ::"l"(to), AT(from), "r"(n) \
	   : "memory")
#define COPY_TO_PEER(to, from, n, b) \
	AS("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to), \
	   AT(from), "r"(n), "r"(b) : "memory")
#define TILE(to, map, x, y, b) \
	AS("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" \
	   ::AT(to), "l"(map), "r"(x), "r"(y), AT(b) : "memory")
#define TILE_STORE(map, x, y, from) \
	AS("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];" ::"l"(map), "r"(x), \
	   "r"(y), AT(from) : "memory")
#define COMMIT AS("cp.async.bulk.commit_group;" ::: "memory")
#define DONE(n) AS("cp.async.bulk.wait_group %0;" ::"n"(n) : "memory")
#define READ(n) AS("cp.async.bulk.wait_group.read %0;" ::"n"(n) : "memory")
#define PROXY AS("fence.proxy.async.shared::cta;" ::: "memory")

// ---- clusters ----
#define CARRIVE AS("barrier.cluster.arrive.aligned;" ::: "memory")
#define CARRIVE_RELAXED AS("barrier.cluster.arrive.relaxed.aligned;" ::: "memory")
#define CWAIT AS("barrier.cluster.wait.aligned;" ::: "memory")
#define CSYNC \
	do { \
		CARRIVE; \
		CWAIT; \
	} while (0)
#define RLD(v, a) AS("ld.shared::cluster.u32 %0, [%1];" : "=r"(v) : "r"(a) : "memory")
#define RST(a, v) AS("st.shared::cluster.u32 [%0], %1;" ::"r"(a), "r"(v) : "memory")
#define RADD(scope, a) AS("red.relaxed." scope ".shared::cluster.add.u32 [%0], 1;" ::"r"(a) : "memory")
#define RARRIVE(a) AS("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(a) : "memory")
#define STASYNC(a, v, b) \
	AS("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [%0], %1, [%2];" ::"r"(a), "r"(v), "r"(b) \
	   : "memory")

__device__ inline u32 rank()
{
	u32 r;

	AS("mov.u32 %0, %%cluster_ctarank;" : "=r"(r));
	return r;
}

__device__ inline u32 mapa(const void *p, u32 r)
{
	u32 a;

	AS("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(a) : AT(p), "r"(r));
	return a;
}

// ---- products ----
#define WFENCE AS("wgmma.fence.sync.aligned;" ::: "memory")
#define WCOMMIT AS("wgmma.commit_group.sync.aligned;" ::: "memory")
#define WDONE(n) AS("wgmma.wait_group.sync.aligned %0;" ::"n"(n) : "memory")
#define MMA(d, a, b) \
	AS("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, {%4, %5, %6, %7}, %8, 1, 1, 1, 0;" \
	   : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b) : "memory")
#define MMA_SS(d, a, b) \
	AS("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, %4, %5, 1, 1, 1, 0, 0;" \
	   : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "l"(a), "l"(b) : "memory")
#define SUMS \
	u32 a[4] = {0x3c003c00, 0x3c003c00, 0x3c003c00, 0x3c003c00}; \
	float d[4] = {0, 0, 0, 0}
#define WG \
	SIN s[64]; \
	SUMS; \
	u64 e = desc(s); \
	if (T < 64) \
		s[T] = 0x3c003c00
#define OUT o[T] = (int)(d[0] + d[1] + d[2] + d[3])

__device__ inline u64 desc(const void *p)
{
	return ((u64)__cvta_generic_to_shared(p) & 0x3ffff) >> 4 | 0x1000080000ull;
}

// ---- bulk loads ----

K(sync_no_wait, 1, 1, 64)
{
	SIN s[64];
	BARS(1);
	BEGIN(1);
	if (FIRST) {
		EXPECT(b, 256);
		LOAD(s, raw, 256, b);
	}
	if (!BAD)
		WAIT(b, 0);
	o[T] = s[T]; // !sync_no_wait
	if (BAD)
		WAIT(b, 0);
}

K(race_only_one_waits, 1, 1, 64)
{
	SIN s[64];
	BARS(1);
	BEGIN(1);
	if (FIRST) {
		EXPECT(b, 256);
		LOAD(s, raw, 256, b);
		WAIT(b, 0);
	}
	if (!BAD)
		__syncthreads();
	o[T] = s[T]; // !race_only_one_waits
}

K(sync_too_few_bytes, 1, 1, 64)
{
	SIN s[64];
	BARS(1);
	BEGIN(1);
	if (FIRST) {
		EXPECT(b, BAD ? 128 : 256);
		LOAD(s, raw, 256, b); // !sync_too_few_bytes
	}
	WAIT(b, 0); // !sync_too_few_bytes
	o[T] = s[T];
}

K(sync_too_many_bytes, 1, 1, 64)
{
	SIN s[64];
	BARS(1);
	BEGIN(1);
	if (FIRST) {
		EXPECT(b, BAD ? 512 : 256);
		LOAD(s, raw, 256, b);
	}
	WAIT(b, 0); // !sync_too_many_bytes
	o[T] = s[T];
}

// Counts one of two copies.
K(sync_bytes_of_elements, 1, 1, 64)
{
	SIN s[64], t[64];
	BARS(1);
	BEGIN(1);
	if (FIRST) {
		EXPECT(b, BAD ? 256 : 512);
		LOAD(s, raw, 256, b);
		LOAD(t, raw + 64, 256, b); // !sync_bytes_of_elements
	}
	WAIT(b, 0); // !sync_bytes_of_elements
	o[T] = s[T] + t[T]; // !sync_bytes_of_elements
}

K(sync_wrong_parity, 1, 1, 64)
{
	SIN s[64];
	BARS(1);
	BEGIN(1);
	if (FIRST) {
		EXPECT(b, 256);
		LOAD(s, raw, 256, b);
	}
	WAIT(b, BAD ? 1 : 0);
	o[T] = s[T]; // !sync_wrong_parity
	if (BAD)
		WAIT(b, 0);
}

K(sync_parity_not_flipped, 1, 1, 64)
{
	SIN s[64];
	BARS(1);
	BEGIN(1);
	int sum = 0;
	for (int i = 0; i < 4; i++) {
		if (FIRST) {
			EXPECT(b, 256);
			LOAD(s, raw + i * 64, 256, b);
		}
		WAIT(b, BAD ? 0 : i & 1);
		sum += s[T]; // !sync_parity_not_flipped
		__syncthreads();
	}
	o[T] = sum;
}

// The stage is filled again while others read it.
K(race_stage_reused, 1, 1, 64)
{
	SIN s[2][64];
	BARS(2);
	if (FIRST) {
		INIT(&b[0], 1);
		INIT(&b[1], 1);
		INIT_FENCE;
	}
	__syncthreads();
	int sum = 0;
	if (FIRST)
		for (int i = 0; i < 2; i++) {
			EXPECT(&b[i], 256);
			LOAD(s[i], raw + i * 64, 256, &b[i]);
		}
	for (int i = 0; i < 6; i++) {
		int k = i & 1;
		WAIT(&b[k], (i >> 1) & 1);
		sum += s[k][63 - T]; // !race_stage_reused
		if (!BAD)
			__syncthreads();
		if (FIRST)
			if (i < 4) {
				EXPECT(&b[k], 256);
				LOAD(s[k], raw + i * 64, 256, &b[k]); // !race_stage_reused
			}
	}
	o[T] = sum;
}

// Warp 2 produces.
K(race_full_without_empty, 1, 1, 96)
{
	SIN s[2][64];
	BARS(4);
	if (FIRST) {
		for (int i = 0; i < 2; i++) {
			INIT(&b[i], 1);
			INIT(&b[2 + i], 64);
		}
		INIT_FENCE;
	}
	__syncthreads();
	if (T >= 64) {
		if (T == 64)
			for (int i = 0; i < 6; i++) {
				int k = i & 1;
				if (!BAD)
					WAIT(&b[2 + k], ((i >> 1) & 1) ^ 1);
				EXPECT(&b[k], 256);
				LOAD(s[k], raw + i * 64, 256, &b[k]); // !race_full_without_empty
				if (BAD)
					WAIT(&b[k], (i >> 1) & 1);
			}
	} else {
		int sum = 0;
		for (int i = 0; i < 6; i++) {
			int k = i & 1;
			if (!BAD || i > 3)
				WAIT(&b[k], (i >> 1) & 1);
			sum += s[k][T]; // !race_full_without_empty
			if (!BAD)
				ARRIVE(&b[2 + k]);
		}
		o[T] = sum;
	}
}

// Consumers arrive before they have read.
K(race_empty_too_early, 1, 1, 96)
{
	SIN s[2][64];
	BARS(4);
	if (FIRST) {
		for (int i = 0; i < 2; i++) {
			INIT(&b[i], 1);
			INIT(&b[2 + i], 64);
		}
		INIT_FENCE;
	}
	__syncthreads();
	if (T >= 64) {
		if (T == 64)
			for (int i = 0; i < 6; i++) {
				int k = i & 1;
				WAIT(&b[2 + k], ((i >> 1) & 1) ^ 1);
				EXPECT(&b[k], 256);
				LOAD(s[k], raw + i * 64, 256, &b[k]); // !race_empty_too_early
			}
	} else {
		int sum = 0;
		for (int i = 0; i < 6; i++) {
			int k = i & 1;
			WAIT(&b[k], (i >> 1) & 1);
			if (BAD)
				ARRIVE(&b[2 + k]);
			sum += s[k][T]; // !race_empty_too_early
			if (!BAD)
				ARRIVE(&b[2 + k]);
		}
		o[T] = sum;
	}
}

// Producer waits for the first phase of an empty stage: never.
K(sync_empty_parity, 1, 1, 96)
{
	SIN s[2][64];
	BARS(4);
	if (FIRST) {
		for (int i = 0; i < 2; i++) {
			INIT(&b[i], 1);
			INIT(&b[2 + i], 64);
		}
		INIT_FENCE;
	}
	__syncthreads();
	if (T >= 64) {
		if (T == 64)
			for (int i = 0; i < 6; i++) {
				int k = i & 1;
				WAIT(&b[2 + k], // !sync_empty_parity
				     ((i >> 1) & 1) ^ (BAD ? 0 : 1));
				EXPECT(&b[k], 256);
				LOAD(s[k], raw + i * 64, 256, &b[k]);
			}
	} else {
		int sum = 0;
		for (int i = 0; i < 6; i++) {
			int k = i & 1;
			WAIT(&b[k], (i >> 1) & 1);
			sum += s[k][T];
			ARRIVE(&b[2 + k]);
		}
		o[T] = sum;
	}
}

// Generic writes, then a copy over them.
K(race_written_then_loaded, 1, 1, 64)
{
	SIN s[64];
	BARS(1);
	BEGIN(1);
	s[T] = T; // !race_written_then_loaded
	if (!BAD)
		PROXY;
	__syncthreads();
	if (FIRST) {
		EXPECT(b, 256);
		LOAD(s, raw, 256, b);
	}
	WAIT(b, 0);
	o[T] = s[T];
}

K(mem_bulk_misaligned, 1, 1, 64)
{
	SIN s[68];
	BARS(1);
	BEGIN(1);
	if (FIRST) {
		EXPECT(b, 128);
		LOAD(s + (BAD ? 1 : 4), raw, 128, b); // !mem_bulk_misaligned
	}
	WAIT(b, 0);
	o[T] = s[4 + T % 32];
}

K(mem_bulk_size, 1, 1, 64)
{
	SIN s[68];
	BARS(1);
	BEGIN(1);
	if (FIRST) {
		EXPECT(b, BAD ? 100 : 96);
		LOAD(s, raw, BAD ? 100 : 96, b); // !mem_bulk_size
	}
	WAIT(b, 0);
	o[T] = s[T % 24];
}

// ---- mbarriers ----

K(race_init_no_barrier, 1, 1, 64)
{
	SIN s[64];
	BARS(1);
	if (FIRST) {
		INIT(b, 1);
		INIT_FENCE;
	}
	if (!BAD)
		__syncthreads();
	if (FIRST) {
		EXPECT(b, 256);
		LOAD(s, raw, 256, b);
	}
	WAIT(b, 0); // !race_init_no_barrier
	o[T] = s[T];
}

K(sync_reinit_in_use, 1, 1, 64)
{
	SIN s[64];
	BARS(1);
	BEGIN(1);
	int sum = 0;
	for (int i = 0; i < 2; i++) {
		if (FIRST) {
			EXPECT(b, 256);
			LOAD(s, raw + i * 64, 256, b);
		}
		WAIT(b, BAD ? 0 : i);
		sum += s[T];
		__syncthreads();
		if (BAD) {
			if (FIRST)
				INIT(b, 1); // !sync_reinit_in_use
			__syncthreads();
		}
	}
	o[T] = sum;
}

// Inval while others may wait.
K(race_reinit_after_inval, 1, 1, 64)
{
	SIN s[64];
	BARS(1);
	BEGIN(1);
	int sum = 0;
	for (int i = 0; i < 2; i++) {
		if (FIRST) {
			EXPECT(b, 256);
			LOAD(s, raw + i * 64, 256, b);
		}
		WAIT(b, 0); // !race_reinit_after_inval
		sum += s[T];
		if (!BAD)
			__syncthreads();
		if (FIRST) {
			INVAL(b); // !race_reinit_after_inval
			INIT(b, 1);
		}
		__syncthreads();
	}
	o[T] = sum;
}

// All arrive, the count is one.
K(sync_arrive_all, 1, 1, 64)
{
	SIN s[64];
	BARS(1);
	BEGIN(1);
	if (BAD || T == 0)
		EXPECT(b, 256); // !sync_arrive_all
	if (FIRST)
		LOAD(s, raw, 256, b);
	WAIT(b, 0);
	o[T] = s[T];
}

K(sync_count_too_large, 1, 1, 64)
{
	SIN s[64];
	BARS(1);
	BEGIN(BAD ? 65 : 64);
	s[T] = T;
	ARRIVE(b);
	WAIT(b, 0); // !sync_count_too_large
	o[T] = s[63 - T];
}

K(race_arrive_before_write, 1, 1, 64)
{
	SIN s[64];
	BARS(1);
	BEGIN(64);
	if (!BAD)
		s[T] = T;
	ARRIVE(b);
	if (BAD)
		s[T] = T; // !race_arrive_before_write
	WAIT(b, 0);
	o[T] = s[63 - T];
}

K(race_wait_relaxed, 1, 1, 64)
{
	SIN s[64];
	BARS(1);
	BEGIN(64);
	s[T] = T; // !race_wait_relaxed
	ARRIVE(b);
	if (BAD)
		WAIT_RELAXED(b, 0);
	else
		WAIT(b, 0);
	o[T] = s[63 - T];
}

K(race_arrive_relaxed, 1, 1, 64)
{
	SIN s[64];
	BARS(1);
	BEGIN(64);
	s[T] = T; // !race_arrive_relaxed
	if (BAD)
		AS("mbarrier.arrive.relaxed.cta.shared::cta.b64 _, [%0];" ::AT(b) : "memory");
	else
		ARRIVE(b);
	WAIT(b, 0);
	o[T] = s[63 - T];
}

// A mbarrier in a buffer that is cleared.
K(sync_barrier_overwritten, 1, 1, 64)
{
	SIN s[66];
	u64 *b = (u64 *)(s + 64);
	BEGIN(1);
	for (int i = T; i < (BAD ? 66 : 64); i += 64)
		s[i] = 0; // !sync_barrier_overwritten
	PROXY;
	__syncthreads();
	if (FIRST) {
		EXPECT(b, 256);
		LOAD(s, raw, 256, b); // !sync_barrier_overwritten
	}
	WAIT(b, 0); // !sync_barrier_overwritten
	o[T] = s[T];
}

// Arrive.noComplete that completes.
K(sync_no_complete, 1, 1, 64)
{
	BARS(1);
	u64 st;
	BEGIN(BAD ? 64 : 128);
	AS("mbarrier.arrive.noComplete.shared.b64 %0, [%1], %2;" // !sync_no_complete
	   : "=l"(st)
	   : AT(b), "r"(1)
	   : "memory");
	if (!BAD)
		ARRIVE(b);
	if (BAD)
		WAIT(b, 0);
	o[T] = 1;
}

// A generic address that is not shared memory.
K(mem_barrier_in_global, 1, 1, 32)
{
	BARS(1);
	BEGIN(1);
	u64 *p = BAD ? (u64 *)raw : b;
	if (FIRST)
		AS("mbarrier.arrive.b64 _, [%0];" ::"l"(p) : "memory"); // !mem_barrier_in_global
	o[T] = 1;
}

// Without .noinc no thread's arrival counts.
K(sync_cp_async_noinc, 1, 1, 64)
{
	SIN s[64];
	BARS(1);
	BEGIN(64);
	AS("cp.async.ca.shared.global [%0], [%1], 4;" ::AT(&s[T]), "l"(raw + T) : "memory");
	if (BAD)
		AS("cp.async.mbarrier.arrive.shared.b64 [%0];" ::AT(b) : "memory");
	else
		AS("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::AT(b) : "memory");
	WAIT(b, 0); // !sync_cp_async_noinc
	o[T] = s[63 - T];
}

// A thread that leaves the ring without saying so.
K(sync_drop, 1, 1, 64)
{
	SIN s[64];
	BARS(1);
	BEGIN(64);
	if (T == 63) {
		if (!BAD)
			AS("mbarrier.arrive_drop.shared.b64 _, [%0];" ::AT(b) : "memory");
		else
			ARRIVE(b);
		o[T] = 0;
		return;
	}
	for (int i = 0; i < 3; i++) {
		s[T] = i;
		ARRIVE(b);
		WAIT(b, i & 1); // !sync_drop
	}
	o[T] = s[T];
}

// ---- bulk stores ----

K(race_store_no_proxy, 1, 1, 64)
{
	SIN s[64];
	s[T] = T; // !race_store_no_proxy
	if (!BAD)
		PROXY;
	__syncthreads();
	if (FIRST) {
		STORE(raw, s, 256);
		COMMIT;
		DONE(0);
	}
}

K(race_store_no_commit, 1, 1, 64)
{
	SIN s[64];
	s[T] = T;
	PROXY;
	__syncthreads();
	if (FIRST) {
		STORE(raw, s, 256); // !race_store_no_commit
		if (!BAD)
			COMMIT;
		READ(0);
	}
	__syncthreads();
	s[T] = 2 * T;
	PROXY;
	__syncthreads();
	if (FIRST) {
		STORE(raw + 64, s, 256);
		COMMIT;
		DONE(0);
	}
}

K(race_store_no_read_wait, 1, 1, 64)
{
	SIN s[64];
	s[T] = T;
	PROXY;
	__syncthreads();
	if (FIRST) {
		STORE(raw, s, 256);
		COMMIT;
		if (!BAD)
			READ(0);
	}
	__syncthreads();
	s[T] = 2 * T; // !race_store_no_read_wait
	PROXY;
	__syncthreads();
	if (FIRST) {
		STORE(raw + 64, s, 256);
		COMMIT;
		DONE(0);
	}
}

K(race_store_no_barrier, 1, 1, 64)
{
	SIN s[64];
	s[T] = T;
	PROXY;
	__syncthreads();
	if (FIRST) {
		STORE(raw, s, 256);
		COMMIT;
		READ(0);
	}
	if (!BAD)
		__syncthreads();
	s[T] = 2 * T; // !race_store_no_barrier
	PROXY;
	__syncthreads();
	if (FIRST) {
		STORE(raw + 64, s, 256);
		COMMIT;
		DONE(0);
	}
}

K(race_store_read_back, 1, 1, 64)
{
	SIN s[64];
	s[T] = T;
	PROXY;
	__syncthreads();
	if (FIRST) {
		STORE(raw, s, 256);
		COMMIT;
		if (BAD)
			READ(0);
		else
			DONE(0);
	}
	__syncthreads();
	o[T] = raw[63 - T]; // !race_store_read_back
	if (FIRST)
		DONE(0);
}

// Two buffers, but waits for one group fewer.
K(race_store_wait_too_few, 1, 1, 64)
{
	SIN s[2][64];
	for (int i = 0; i < 4; i++) {
		int k = i & 1;
		if (FIRST) {
			if (BAD)
				READ(2);
			else
				READ(1);
		}
		__syncthreads();
		s[k][T] = i; // !race_store_wait_too_few
		PROXY;
		__syncthreads();
		if (FIRST) {
			STORE(raw + 64 * i, s[k], 256);
			COMMIT; // !race_store_wait_too_few
		}
	}
	if (FIRST)
		READ(0);
}

K(race_store_commit_by_other, 1, 1, 64)
{
	SIN s[64];
	s[T] = T;
	PROXY;
	__syncthreads();
	if (FIRST)
		STORE(raw, s, 256); // !race_store_commit_by_other
	if (T == (BAD ? 32 : 0)) {
		COMMIT;
		READ(0);
	}
	__syncthreads();
	s[T] = 2 * T;
	PROXY;
	__syncthreads();
	if (FIRST) {
		STORE(raw + 64, s, 256);
		COMMIT;
		DONE(0);
	}
}

// The block's memory is gone by then.
K(sync_store_at_exit, 1, 1, 64)
{
	SIN s[64];
	s[T] = T;
	PROXY;
	__syncthreads();
	if (FIRST) {
		STORE(raw, s, 256); // !sync_store_at_exit
		if (!BAD)
			COMMIT;
		READ(0);
	}
}

K(race_reduce_and_read, 1, 1, 64)
{
	SIN s[64];
	s[T] = T;
	PROXY;
	__syncthreads();
	if (FIRST) {
		REDUCE(raw, s, 256);
		COMMIT;
		if (!BAD)
			DONE(0);
	}
	__syncthreads();
	o[T] = raw[T]; // !race_reduce_and_read
	if (FIRST)
		DONE(0);
}

// Two blocks store to the same place.
K(race_two_stores, 1, 2, 64)
{
	SIN s[64];
	s[T] = T;
	PROXY;
	__syncthreads();
	if (FIRST) {
		STORE(raw + (BAD ? 0 : 64 * blockIdx.x), s, 256); // !race_two_stores
		COMMIT;
		DONE(0);
	}
}

K(race_store_and_reduce, 1, 2, 64)
{
	SIN s[64];
	s[T] = T;
	PROXY;
	__syncthreads();
	if (FIRST) {
		if (BAD && blockIdx.x)
			STORE(raw, s, 256); // !race_store_and_reduce
		else
			REDUCE(raw, s, 256);
		COMMIT;
		DONE(0);
	}
}

// ---- tensor copies ----

// A tile at the border counts all of its bytes.
K(sync_tile_few_bytes, 1, 1, 64)
{
	SIN s[64];
	BARS(1);
	BEGIN(1);
	if (FIRST) {
		EXPECT(b, BAD ? 128 : 256);
		TILE(s, &maps->in, 8, 0, b); // !sync_tile_few_bytes
	}
	WAIT(b, 0); // !sync_tile_few_bytes
	o[T] = s[T];
}

K(race_tile_store_no_proxy, 1, 1, 64)
{
	SIN s[64];
	s[T] = T; // !race_tile_store_no_proxy
	if (!BAD)
		PROXY;
	__syncthreads();
	if (FIRST) {
		TILE_STORE(&maps->out, 0, 0, s);
		COMMIT;
		READ(0);
	}
}

// Coordinates are elements, not tiles.
K(race_tile_store_overlap, 1, 2, 64)
{
	SIN s[64];
	s[T] = T;
	PROXY;
	__syncthreads();
	if (FIRST) {
		TILE_STORE(&maps->out, BAD ? blockIdx.x : 16 * blockIdx.x, 0, // !race_tile_store_overlap
			   s);
		COMMIT;
		READ(0);
	}
}

// ---- clusters ----

K(sync_peer_may_be_gone, 2, 2, 64)
{
	SIN s[64];
	s[T] = T;
	CSYNC;
	int v;
	RLD(v, mapa(&s[T], rank() ^ 1)); // !sync_peer_may_be_gone
	o[64 * rank() + T] = v;
	if (!BAD)
		CSYNC;
}

K(race_peer_not_written, 2, 2, 64)
{
	SIN s[64];
	int v;
	s[T] = T; // !race_peer_not_written
	if (BAD)
		__syncthreads();
	else
		CSYNC;
	RLD(v, mapa(&s[T], rank() ^ 1)); // !race_peer_not_written
	o[64 * rank() + T] = v;
	CSYNC;
}

K(race_cluster_relaxed, 2, 2, 64)
{
	SIN s[64];
	int v;
	s[T] = T; // !race_cluster_relaxed
	if (BAD)
		CARRIVE_RELAXED;
	else
		CARRIVE;
	CWAIT;
	RLD(v, mapa(&s[T], rank() ^ 1));
	o[64 * rank() + T] = v;
	CSYNC;
}

K(race_cluster_no_wait, 2, 2, 64)
{
	SIN s[64];
	int v;
	s[T] = T; // !race_cluster_no_wait
	CARRIVE;
	if (!BAD)
		CWAIT;
	RLD(v, mapa(&s[T], rank() ^ 1));
	o[64 * rank() + T] = v;
	if (BAD)
		CWAIT;
	CSYNC;
}

// Writes its memory again while the peer reads.
K(race_peer_reuses, 2, 2, 64)
{
	SIN s[64];
	int v = 0, w;
	for (int i = 0; i < 3; i++) {
		s[T] = i + T; // !race_peer_reuses
		CSYNC;
		RLD(w, mapa(&s[T], rank() ^ 1));
		v += w; // !race_peer_reuses
		if (!BAD)
			CSYNC;
	}
	o[64 * rank() + T] = v;
	CSYNC;
}

K(mem_mapa_range, 2, 2, 64)
{
	SIN s[64];
	s[T] = T;
	CSYNC;
	int v;
	RLD(v, mapa(&s[T], BAD ? rank() + 1 : (rank() + 1) % 2)); // !mem_mapa_range
	o[64 * rank() + T] = v;
	CSYNC;
}

// A plain sum in the leader.
K(race_remote_sum, 2, 2, 64)
{
	SIN s[64];
	s[T] = T;
	CSYNC;
	int v;
	u32 a = mapa(&s[0], 0);
	if (BAD) {
		if (FIRST) {
			RLD(v, a); // !race_remote_sum
			RST(a, v + 1);
		}
	} else if (FIRST)
		RADD("cluster", a);
	CSYNC;
	o[64 * rank() + T] = s[T];
}

K(race_remote_sum_scope, 2, 2, 64)
{
	SIN s[64];
	s[T] = T;
	CSYNC;
	u32 a = mapa(&s[0], 0);
	if (FIRST) {
		if (BAD)
			RADD("cta", a); // !race_remote_sum_scope
		else
			RADD("cluster", a);
	}
	CSYNC;
	o[64 * rank() + T] = s[T];
}

K(sync_multicast_gone, 2, 2, 64)
{
	SIN s[64];
	BARS(1);
	BEGIN(1);
	CSYNC;
	if (BAD && rank() == 1) {
		o[T] = 0;
		return;
	}
	if (FIRST)
		EXPECT(b, 256);
	if (rank() == 0) {
		if (FIRST)
			LOAD_MC(s, raw, 256, b, 3); // !sync_multicast_gone
	}
	WAIT(b, 0);
	o[64 * rank() + T] = s[T];
}

K(mem_multicast_mask, 2, 2, 64)
{
	SIN s[64];
	BARS(1);
	BEGIN(1);
	CSYNC;
	if (FIRST)
		EXPECT(b, 256);
	if (rank() == 0) {
		if (FIRST)
			LOAD_MC(s, raw, 256, b, BAD ? 7 : 3); // !mem_multicast_mask
	}
	WAIT(b, 0);
	o[64 * rank() + T] = s[T];
	CSYNC;
}

K(sync_multicast_peer_not_ready, 2, 2, 64)
{
	SIN s[64];
	BARS(1);
	BEGIN(1); // !sync_multicast_peer_not_ready
	if (!BAD)
		CSYNC;
	if (FIRST)
		EXPECT(b, 256);
	if (rank() == 0) {
		if (FIRST)
			LOAD_MC(s, raw, 256, b, 3); // !sync_multicast_peer_not_ready
	}
	WAIT(b, 0);
	o[64 * rank() + T] = s[T];
	CSYNC;
}

// Each fills half of both: 512 bytes, counts its own only.
K(sync_multicast_half, 2, 2, 64)
{
	SIN s[64];
	BARS(1);
	BEGIN(1);
	CSYNC;
	if (FIRST)
		EXPECT(b, BAD ? 128 : 256);
	if (FIRST)
		LOAD_MC(s + 32 * rank(), raw + 32 * rank(), 128, b, 3); // !sync_multicast_half
	WAIT(b, 0); // !sync_multicast_half
	o[64 * rank() + T] = s[T]; // !sync_multicast_half
	CSYNC;
}

// Only the own block has read.
K(race_multicast_reuse, 2, 2, 64)
{
	SIN s[64];
	BARS(1);
	BEGIN(1);
	CSYNC;
	int v = 0;
	for (int i = 0; i < 3; i++) {
		if (FIRST)
			EXPECT(b, 256);
		if (rank() == 0) {
			if (FIRST)
				LOAD_MC(s, raw + 64 * i, 256, b, 3); // !race_multicast_reuse
		}
		WAIT(b, i & 1);
		v += s[63 - T]; // !race_multicast_reuse
		if (BAD)
			__syncthreads();
		else
			CSYNC;
	}
	o[64 * rank() + T] = v;
	CSYNC;
}

K(sync_remote_arrive_gone, 2, 2, 64)
{
	BARS(1);
	BEGIN(1);
	CSYNC;
	if (FIRST)
		RARRIVE(mapa(b, rank() ^ 1)); // !sync_remote_arrive_gone
	if (!BAD)
		WAIT_CLUSTER(b, 0);
	else if (rank() == 1)
		WAIT_CLUSTER(b, 0);
	o[64 * rank() + T] = 1;
}

K(sync_st_async_no_wait, 2, 2, 64)
{
	SIN s[64];
	BARS(1);
	BEGIN(1);
	CSYNC;
	if (FIRST)
		EXPECT(b, 256);
	STASYNC(mapa(&s[T], rank() ^ 1), T, mapa(b, rank() ^ 1));
	if (!BAD)
		WAIT(b, 0);
	else
		CSYNC;
	o[64 * rank() + T] = s[63 - T]; // !sync_st_async_no_wait
	CSYNC;
}

K(sync_st_async_bytes, 2, 2, 64)
{
	SIN s[64];
	BARS(1);
	BEGIN(1);
	CSYNC;
	if (FIRST)
		EXPECT(b, BAD ? 64 : 256);
	STASYNC(mapa(&s[T], rank() ^ 1), T, mapa(b, rank() ^ 1)); // !sync_st_async_bytes
	WAIT(b, 0); // !sync_st_async_bytes
	o[64 * rank() + T] = s[63 - T]; // !sync_st_async_bytes
	CSYNC;
}

// Shared to the peer's shared.
K(race_dsmem_copy_source, 2, 2, 64)
{
	SIN s[64], t[64];
	BARS(1);
	BEGIN(1);
	s[T] = T;
	PROXY;
	CSYNC;
	if (FIRST) {
		EXPECT(b, 256);
		COPY_TO_PEER(mapa(t, rank() ^ 1), s, 256, mapa(b, rank() ^ 1)); // !race_dsmem_copy_source
	}
	WAIT(b, 0);
	if (!BAD)
		CSYNC;
	s[T] = 2 * T; // !race_dsmem_copy_source
	o[64 * rank() + T] = t[T];
	CSYNC;
}

K(sync_dsmem_copy_no_wait, 2, 2, 64)
{
	SIN s[64], t[64];
	BARS(1);
	BEGIN(1);
	s[T] = T;
	PROXY;
	CSYNC;
	if (FIRST) {
		EXPECT(b, 256);
		COPY_TO_PEER(mapa(t, rank() ^ 1), s, 256, mapa(b, rank() ^ 1));
	}
	if (!BAD)
		WAIT(b, 0);
	else
		CSYNC;
	o[64 * rank() + T] = t[T]; // !sync_dsmem_copy_no_wait
	CSYNC;
}

// Half of the block comes to the cluster's barrier.
K(sync_cluster_half, 2, 2, 64)
{
	SIN s[64];
	s[T] = T;
	if (!BAD || T < 32) {
		CARRIVE; // !sync_cluster_half
		CWAIT;
	}
	o[64 * rank() + T] = s[T];
}

K(sync_cluster_no_arrive, 2, 2, 64)
{
	SIN s[64];
	s[T] = T;
	if (!BAD)
		CARRIVE;
	CWAIT; // !sync_cluster_no_arrive
	o[64 * rank() + T] = s[T];
}

// ---- wgmma ----

K(race_wgmma_no_proxy, 1, 1, 128)
{
	WG; // !race_wgmma_no_proxy
	if (!BAD)
		PROXY;
	__syncthreads();
	WFENCE;
	MMA(d, a, e); // !race_wgmma_no_proxy
	WCOMMIT;
	WDONE(0);
	OUT;
}

K(sync_wgmma_stage_not_waited, 1, 1, 128)
{
	SIN s[64];
	BARS(1);
	BEGIN(1);
	SUMS;
	if (FIRST) {
		EXPECT(b, 256);
		LOAD(s, raw, 256, b);
	}
	if (!BAD)
		WAIT(b, 0);
	WFENCE;

	MMA(d, a, desc(s)); // !sync_wgmma_stage_not_waited

	WCOMMIT;
	WDONE(0);
	OUT;
	if (BAD)
		WAIT(b, 0);
}

K(sync_wgmma_stage_refilled, 1, 1, 128)
{
	SIN s[64];
	BARS(1);
	BEGIN(1);
	SUMS;
	for (int i = 0; i < 3; i++) {
		if (FIRST) {
			EXPECT(b, 256);
			LOAD(s, raw, 256, b); // !sync_wgmma_stage_refilled
		}
		WAIT(b, i & 1);
		WFENCE;

		MMA(d, a, desc(s)); // !sync_wgmma_stage_refilled

		WCOMMIT;
		if (BAD)
			WDONE(1);
		else
			WDONE(0);
		__syncthreads();
	}
	WDONE(0);
	OUT;
}

K(race_wgmma_stage_other_wg, 1, 1, 256)
{
	SIN s[64];
	BARS(1);
	BEGIN(1);
	SUMS;
	for (int i = 0; i < 3; i++) {
		if (FIRST) {
			EXPECT(b, 256);
			LOAD(s, raw, 256, b); // !race_wgmma_stage_other_wg
		}
		WAIT(b, i & 1);
		WFENCE;

		MMA(d, a, desc(s)); // !race_wgmma_stage_other_wg

		WCOMMIT;
		WDONE(0);
		if (!BAD)
			__syncthreads();
	}
	OUT;
}

K(sync_wgmma_touched, 1, 1, 128)
{
	WG;
	PROXY;
	__syncthreads();
	WFENCE;
	MMA(d, a, e); // !sync_wgmma_touched
	WCOMMIT;
	if (!BAD)
		WDONE(0);
	d[0] += 1;
	if (BAD)
		WDONE(0);
	OUT;
}

K(sync_wgmma_factor, 1, 1, 128)
{
	WG;
	PROXY;
	__syncthreads();
	WFENCE;
	MMA(d, a, e); // !sync_wgmma_factor
	WCOMMIT;
	if (!BAD)
		WDONE(0);
	AS("add.u32 %0, %0, 1;" : "+r"(a[0])::"memory");
	if (BAD)
		WDONE(0);
	WFENCE;
	MMA(d, a, e);
	WCOMMIT;
	WDONE(0);
	OUT;
}

K(sync_wgmma_no_fence, 1, 1, 128)
{
	WG;
	PROXY;
	__syncthreads();
	WFENCE;
	MMA(d, a, e);
	WCOMMIT;
	WDONE(0);
	AS("add.u32 %0, %0, 1;" : "+r"(a[0])::"memory");
	if (!BAD)
		WFENCE;

	MMA(d, a, e); // !sync_wgmma_no_fence

	WCOMMIT;
	WDONE(0);
	OUT;
}

// The factors' memory is used for the results.
K(sync_wgmma_epilogue, 1, 1, 128)
{
	WG;
	PROXY;
	__syncthreads();
	WFENCE;
	MMA(d, a, e); // !sync_wgmma_epilogue
	WCOMMIT;
	if (!BAD)
		WDONE(0);
	if (T < 64)
		s[T] = T; // !sync_wgmma_epilogue
	if (BAD)
		WDONE(0);
	OUT;
}

// Another warpgroup still multiplies.
K(race_wgmma_epilogue_barrier, 1, 1, 256)
{
	WG;
	PROXY;
	__syncthreads();
	WFENCE;
	MMA(d, a, e); // !race_wgmma_epilogue_barrier
	WCOMMIT;
	WDONE(0);
	if (!BAD)
		__syncthreads();
	if (T < 64)
		s[T] = T; // !race_wgmma_epilogue_barrier
	OUT;
}

K(sync_wgmma_part, 1, 1, 128)
{
	WG;
	PROXY;
	__syncthreads();
	if (!BAD || T < 96) {
		WFENCE;
		MMA(d, a, e); // !sync_wgmma_part
		WCOMMIT;
		WDONE(0);
	}
	OUT;
}

// A by threads, with no fence
K(race_wgmma_ss_a, 1, 1, 128)
{
	SIN s[1024];
	float d[4] = {0, 0, 0, 0};
	for (int i = T; i < 1024; i += 128)
		s[i] = 0; // !race_wgmma_ss_a
	if (!BAD)
		PROXY;
	__syncthreads();
	WFENCE;
	MMA_SS(d, desc(s), desc(s + 512)); // !race_wgmma_ss_a
	WCOMMIT;
	WDONE(0);
	OUT;
}

// ---- registers, elect, matrices ----

// A mask of lanes that do not come.
K(sync_elect_branch, 1, 1, 32)
{
	int e = 0;
	if (!BAD || T < 16)
		AS("{ .reg .pred p; elect.sync _|p, 0xffffffff; selp.b32 %0, 1, 0, p; }" // !sync_elect_branch
		   : "=r"(e)::"memory");
	o[T] = e;
}

// The elected one waits, the others of the warp do not.
K(race_elect_waits, 1, 1, 64)
{
	SIN s[64];
	BARS(1);
	BEGIN(1);
	int e = 0;
	AS("{ .reg .pred p; elect.sync _|p, 0xffffffff; selp.b32 %0, 1, 0, p; }"
	   : "=r"(e)::"memory");
	if (T < 32 && e) {
		EXPECT(b, 256);
		LOAD(s, raw, 256, b);
	}
	if (BAD) {
		if (e)
			WAIT(b, 0);
	} else
		WAIT(b, 0);
	o[T] = s[T]; // !race_elect_waits
}

K(mem_ldmatrix, 1, 1, 32)
{
	SIN s[160];
	for (int i = T; i < 160; i += 32)
		s[i] = i;
	__syncthreads();
	u32 r;
	AS("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" // !mem_ldmatrix
	   : "=r"(r)
	   : AT(s + (BAD ? 5 : 4) * (T % 8))
	   : "memory");
	o[T] = r;
}

K(mem_stmatrix, 1, 1, 32)
{
	SIN s[160];
	AS("stmatrix.sync.aligned.m8n8.x1.shared.b16 [%0], {%1};" ::AT(s + (BAD ? 5 : 4) * (T % 8)), // !mem_stmatrix
	   "r"(T)
	   : "memory");
	__syncthreads();
	o[T] = s[T];
}

K(race_stmatrix_store, 1, 1, 32)
{
	SIN s[64];
	AS("stmatrix.sync.aligned.m8n8.x1.shared.b16 [%0], {%1};" ::AT(s + 4 * (T % 8)), "r"(T) // !race_stmatrix_store
	   : "memory");
	if (!BAD)
		PROXY;
	__syncwarp();
	if (FIRST) {
		STORE(raw, s, 128);
		COMMIT;
		READ(0);
	}
}

K(init_ldmatrix, 1, 1, 32)
{
	SIN s[64];
	if (T < (BAD ? 28 : 32))
		s[T] = T;
	__syncthreads();
	u32 r;
	AS("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" // !init_ldmatrix
	   : "=r"(r)
	   : AT(s + 4 * (T % 8))
	   : "memory");
	o[T] = r + 1;
}

// Reads more than was copied.
K(init_load_part, 1, 1, 64)
{
	SIN s[64];
	BARS(1);
	BEGIN(1);
	if (FIRST) {
		EXPECT(b, BAD ? 128 : 256);
		LOAD(s, raw, BAD ? 128 : 256, b);
	}
	WAIT(b, 0);
	o[T] = s[T] + 1; // !init_load_part
}

// ---- the program ----
struct row {
	const char *name;
	int cluster, grid, block;
	void (*kernel[2])(const maps *, int *, int *);
};
#define ROW(name, cluster, grid, block) {#name, cluster, grid, block, {name<false>, name<true>}},
static const row rows[] = {
#include "hopper.inc"
};

// 16 rows of 32 words, tiles of 4 by 16.
static CUtensorMap map_of(void *p)
{
	CUtensorMap m;
	cuuint64_t size[2] = {32, 16}, stride[1] = {128};
	cuuint32_t box[2] = {16, 4}, step[2] = {1, 1};

	cuTensorMapEncodeTiled(&m, CU_TENSOR_MAP_DATA_TYPE_INT32, 2, p, size, stride, box, step,
			       CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE,
			       CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
	return m;
}

static cudaError_t run(const row &r, bool bad)
{
	int *o, *raw;
	maps *there;
	cudaLaunchAttribute cluster = {};
	cudaLaunchConfig_t config = {};
	cudaError_t e;

	cudaMalloc(&o, 4096);
	cudaMalloc(&raw, 4096);
	cudaMemset(o, 0, 4096);
	cudaMemset(raw, 0, 4096);
	cudaMalloc(&there, sizeof(maps));
	maps here = {map_of(raw), map_of(raw)};
	cudaMemcpy(there, &here, sizeof(here), cudaMemcpyHostToDevice);
	cluster.id = cudaLaunchAttributeClusterDimension;
	cluster.val.clusterDim.x = r.cluster;
	cluster.val.clusterDim.y = cluster.val.clusterDim.z = 1;
	config.gridDim = r.grid;
	config.blockDim = r.block;
	config.attrs = &cluster;
	config.numAttrs = 1;
	void *arguments[] = {&there, &o, &raw};
	cudaLaunchKernelExC(&config, (const void *)r.kernel[bad], arguments);
	e = cudaDeviceSynchronize();
	cudaFree(o);
	cudaFree(raw);
	cudaFree(there);
	return e;
}

int main(int count, char **argument)
{
	for (const row &r : rows)
		if (count == 3 && !strcmp(r.name, argument[1]))
			return run(r, !strcmp(argument[2], "bad")) != cudaSuccess;
	return 2;
}
