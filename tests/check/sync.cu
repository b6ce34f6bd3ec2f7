// Misuse of synchronisation and what is none; the name says which. tests/check/sync.ptx is made of it by
//     ptxloom cc --ptx -lineinfo sync.cu -o - | sed -e 's,"[^"]*/\(sync.cu\|share/\),"\1,' \
//         -e "s/^\.version.*/.version 8.0/" -e "s/^\.target.*/.target sm_90/" >sync.ptx
// sync.sh looks for the lines that are marked: `first` and `second` are the two sides of a finding.
// Run in two blocks of 64 threads, unless sync.inc.sh says otherwise.
#define KERNEL extern "C" __global__ void
#define FULL 0xffffffffu

#define bar(id, threads) asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory")
#define bar_arrive(id, threads) asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(threads) : "memory")

// ---- barriers of a block ----

KERNEL bad_warp_skips(int *out)
{
	__shared__ int s[64];

	s[threadIdx.x] = threadIdx.x;
	if (threadIdx.x < 32)
		__syncthreads(); // bad_warp_skips first
	out[threadIdx.x] = s[threadIdx.x] + 1;
}

KERNEL bad_lanes_skip(int *out)
{
	__shared__ int s[64];

	s[threadIdx.x] = threadIdx.x;
	if (threadIdx.x % 2)
		__syncthreads(); // bad_lanes_skip first
	out[threadIdx.x] = s[threadIdx.x] + 1;
}

KERNEL bad_skip_in_loop(int *out)
{
	__shared__ int s[64];

	for (int i = 0; i < out[200] + 3; i++) {
		if (threadIdx.x < 48)
			__syncthreads(); // bad_skip_in_loop first
		s[threadIdx.x] = i;
	}
	out[threadIdx.x] = s[threadIdx.x];
}

KERNEL bad_trips(int *out)
{
	__shared__ int s[64];

	s[threadIdx.x] = 0;
	for (int i = 0; i <= (int)threadIdx.x / 32 + out[200]; i++) {
		s[threadIdx.x] += i;
		__syncthreads(); // bad_trips first
	}
	out[threadIdx.x] = s[threadIdx.x];
}

KERNEL bad_lane_trips(int *out)
{
	__shared__ int s[64];

	s[threadIdx.x] = 0;
	for (int i = 0; i <= (int)threadIdx.x % 4 + out[200]; i++) {
		s[threadIdx.x] += i;
		__syncthreads(); // bad_lane_trips first
	}
	out[threadIdx.x] = s[threadIdx.x];
}

KERNEL bad_two_barriers_in_warp(int *out)
{
	if (threadIdx.x % 32 < 16) {
		out[threadIdx.x] = 1;
		__syncthreads(); // bad_two_barriers_in_warp second
		out[threadIdx.x] += 1;
	} else {
		out[threadIdx.x] = 2;
		__syncthreads(); // bad_two_barriers_in_warp first
		out[threadIdx.x] += 3;
	}
}

KERNEL bad_break(int *out)
{
	__shared__ int s[64];

	for (int i = 0; i < 4 + out[200]; i++) {
		s[threadIdx.x] = i;
		if (i == 2 && threadIdx.x == 5)
			break;
		__syncthreads(); // bad_break first
	}
	out[threadIdx.x] = s[threadIdx.x];
}

__device__ __noinline__ void meet(int *out)
{
	__syncthreads(); // bad_in_function first
	out[threadIdx.x] += 1;
}

KERNEL bad_in_function(int *out)
{
	if (threadIdx.x < 32)
		meet(out);
	out[threadIdx.x] += 2;
}

KERNEL bad_reduction(int *out)
{
	if (threadIdx.x < 40)
		out[0] = __syncthreads_count(threadIdx.x);
	out[threadIdx.x] = 5;
}

KERNEL fine_whole_block(int *out)
{
	__shared__ int s[64];

	for (int i = 0; i < 5; i++) {
		s[threadIdx.x] = i;
		__syncthreads();
		if (out[200] == 0)
			__syncthreads();
		out[threadIdx.x] = s[63 - threadIdx.x];
		__syncthreads();
	}
}

// Whole warps may come to the same barrier by different instructions.
KERNEL fine_two_barriers(int *out)
{
	if (threadIdx.x < 32) {
		out[threadIdx.x] = 1;
		__syncthreads();
		out[threadIdx.x] += 1;
	} else {
		out[threadIdx.x] = 2;
		__syncthreads();
		out[threadIdx.x] += 3;
	}
}

// Devices since sm_70 count threads that have exited.
KERNEL warning_early_return(int *out)
{
	__shared__ int s[64];

	if (threadIdx.x >= 40)
		return;
	s[threadIdx.x] = threadIdx.x;
	__syncthreads(); // warning_early_return first
	out[threadIdx.x] = s[39 - threadIdx.x];
}

KERNEL warning_early_return_that_writes(int *out)
{
	if (threadIdx.x >= 40) {
		((short *)out)[threadIdx.x] = -1;
		return;
	}
	__syncthreads(); // warning_early_return_that_writes first
	out[threadIdx.x] = out[threadIdx.x + 64] + out[threadIdx.x + 70];
}

KERNEL warning_return_in_loop(int *out)
{
	for (int s = 32 + out[200]; s > 0; s /= 2) {
		if ((int)threadIdx.x >= s)
			return;
		out[threadIdx.x] += out[threadIdx.x + s];
		__syncthreads(); // warning_return_in_loop first
	}
}

KERNEL fine_block_returns(int *out)
{
	if (blockIdx.x == 1)
		return;
	__syncthreads();
	out[threadIdx.x] = 1;
}

// A lane that spins comes later than the others of its warp.
KERNEL fine_leader_spins(int *out)
{
	if (threadIdx.x == 0) {
		atomicAdd(&out[100], 1);
		while (atomicAdd(&out[100], 0) < (int)gridDim.x)
			;
	}
	__syncthreads();
	out[threadIdx.x] = 1;
}

// ---- barriers with numbers and counts ----

KERNEL bad_barrier_number(int *out)
{
	bar(16 + out[200], 64); // bad_barrier_number first
	out[threadIdx.x] = 1;
}

KERNEL bad_count(int *out)
{
	bar(1, 40 + out[200]); // bad_count first
	out[threadIdx.x] = 1;
}

KERNEL bad_count_too_large(int *out)
{
	bar(1, 96 + out[200]); // bad_count_too_large first
	out[threadIdx.x] = 1;
}

KERNEL bad_counts_differ(int *out)
{
	if (threadIdx.x < 32)
		bar_arrive(1, 64); // bad_counts_differ second
	else
		bar(1, 32); // bad_counts_differ first
	out[threadIdx.x] = 1;
}

KERNEL bad_lonely_arrival(int *out)
{
	if (threadIdx.x < 32)
		bar_arrive(3, 64); // bad_lonely_arrival first
	out[threadIdx.x] = 1;
}

KERNEL bad_count_too_small(int *out)
{
	bar(2, 32);
	if (threadIdx.x < 32)
		bar(2, 64); // bad_count_too_small first
	out[threadIdx.x] = 1;
}

KERNEL fine_producer(int *out)
{
	__shared__ int s[32];

	for (int i = 0; i < 4; i++)
		if (threadIdx.x < 32) {
			bar(2, 64);
			s[threadIdx.x] = i;
			__threadfence_block();
			bar_arrive(1, 64);
		} else {
			bar_arrive(2, 64);
			bar(1, 64);
			out[threadIdx.x] = s[threadIdx.x - 32];
		}
}

KERNEL fine_warps_apart(int *out)
{
	bar(1 + threadIdx.x / 32, 32);
	out[threadIdx.x] = 1;
	bar(1 + threadIdx.x / 32, 32);
}

// ---- warp instructions ----

KERNEL bad_mask_without_self(int *out)
{
	if (threadIdx.x % 32 < 16) __syncwarp(0xff); // bad_mask_without_self first
	out[threadIdx.x] = 1;
}

KERNEL bad_mask_zero(int *out)
{
	__syncwarp(out[200]); // bad_mask_zero first
	out[threadIdx.x] = 1;
}

KERNEL bad_shuffle_in_branch(int *out)
{
	int v = threadIdx.x;

	if (threadIdx.x % 32 < 16) v = __shfl_down_sync(FULL, v, 8); // bad_shuffle_in_branch first
	out[threadIdx.x] = v;
}

KERNEL bad_ballot_in_branch(int *out)
{
	if (threadIdx.x % 2) out[threadIdx.x] = __ballot_sync(FULL, out[200] == 0); // bad_ballot_in_branch first
	out[64 + threadIdx.x] = 1;
}

KERNEL bad_syncwarp_in_branch(int *out)
{
	if (threadIdx.x % 2) __syncwarp(); // bad_syncwarp_in_branch first
	out[threadIdx.x] = 1;
}

KERNEL bad_masks_differ(int *out)
{
	unsigned mask = threadIdx.x % 32 < 8 ? 0xff : FULL;

	out[threadIdx.x] = __any_sync(mask, out[200] == 0); // bad_masks_differ first
}

KERNEL bad_exited_lanes(int *out)
{
	if (threadIdx.x % 32 >= 16)
		return;
	out[threadIdx.x] = __shfl_xor_sync(FULL, threadIdx.x, 16);
}

KERNEL bad_match_of_exited(int *out)
{
	if (threadIdx.x % 32 >= 16)
		return;
	out[threadIdx.x] = __match_any_sync(FULL, threadIdx.x / 2);
}

KERNEL bad_reduce_of_exited(int *out)
{
	if (threadIdx.x % 32 >= 16)
		return;
	out[threadIdx.x] = __reduce_add_sync(FULL, threadIdx.x / 2);
}

KERNEL bad_absent_lanes(int *out)
{
	out[threadIdx.x] = __shfl_down_sync(FULL, threadIdx.x, 12);
}

KERNEL bad_lane_never_comes(int *out)
{
	if (threadIdx.x % 32 == 3)
		__syncwarp(0x18);
	else if (threadIdx.x % 32 == 4)
		out[1] = __shfl_sync(0x18, out[200], 3);
	out[threadIdx.x] = 1;
}

KERNEL warning_syncwarp_after_return(int *out)
{
	if (threadIdx.x % 32 >= 16)
		return;
	out[threadIdx.x] = 1;
	__syncwarp();
}

KERNEL fine_partial_block(int *out)
{
	int v = threadIdx.x;

	__syncwarp();
	for (int i = 4; i; i /= 2)
		v += __shfl_down_sync(threadIdx.x < 32 ? FULL : 0xff, v, i);
	out[threadIdx.x] = v + __ballot_sync(FULL, v > 3);
}

KERNEL fine_tiles(int *out)
{
	unsigned lane = threadIdx.x % 32, tile = 0xffu << lane / 8 * 8;
	int v = lane;

	for (int i = 4; i; i /= 2)
		v += __shfl_xor_sync(tile, v, i, 8);
	if (lane / 8 % 2) {
		__syncwarp(tile);
		v += __shfl_down_sync(tile, v, 1, 8);
	}
	out[threadIdx.x] = v;
}

KERNEL fine_subset(int *out)
{
	unsigned mask = __ballot_sync(FULL, threadIdx.x % 3 == 0);

	if (threadIdx.x % 3 == 0)
		out[threadIdx.x] = __popc(__ballot_sync(mask, out[200] == 0)) + __shfl_down_sync(mask, 1, 1);
	if (threadIdx.x % 4 == 1) {
		unsigned active = __activemask();

		out[threadIdx.x] = __reduce_max_sync(active, threadIdx.x);
	}
}

// The same kind of instruction in both branches: lanes meet there since sm_70.
KERNEL fine_both_branches(int *out)
{
	int v = threadIdx.x;

	if (threadIdx.x % 2)
		v += __shfl_xor_sync(FULL, v, 2);
	else
		v -= __shfl_xor_sync(FULL, v, 2);
	out[threadIdx.x] = v;
}

// ---- mbarriers ----

typedef unsigned long long u64;
#define ADDRESS(p) (unsigned)(u64)(__attribute__((address_space(3))) const void *)(p)
#define mbar_init(b, n) asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(ADDRESS(b)), "r"(n) : "memory")
#define mbar_inval(b) asm volatile("mbarrier.inval.shared.b64 [%0];" ::"r"(ADDRESS(b)) : "memory")
#define mbar_arrive(b) asm volatile("{ .reg .b64 s; mbarrier.arrive.shared.b64 s, [%0]; }" ::"r"(ADDRESS(b)) : "memory")
#define mbar_arrive_n(b, n) \
	asm volatile("{ .reg .b64 s; mbarrier.arrive.release.cta.shared.b64 s, [%0], %1; }" ::"r"(ADDRESS(b)), "r"(n) : "memory")
#define mbar_expect(b, n) \
	asm volatile("{ .reg .b64 s; mbarrier.arrive.expect_tx.shared.b64 s, [%0], %1; }" ::"r"(ADDRESS(b)), "r"(n) : "memory")
#define mbar_wait(b, parity) \
	asm volatile("{ .reg .pred p; L%=: mbarrier.try_wait.parity.shared.b64 p, [%0], %1; @!p bra L%=; }" \
		     ::"r"(ADDRESS(b)), "r"(parity) : "memory")

KERNEL bad_mbar_init_twice(int *out)
{
	__shared__ u64 b;

	if (threadIdx.x == 0) {
		mbar_init(&b, 64); // bad_mbar_init_twice second
		mbar_init(&b, 32); // bad_mbar_init_twice first
	}
	out[threadIdx.x] = 1;
}

KERNEL bad_mbar_all_init(int *out)
{
	__shared__ u64 b;

	mbar_init(&b, 64); // bad_mbar_all_init first
	out[threadIdx.x] = 1;
}

KERNEL bad_mbar_no_init(int *out)
{
	__shared__ u64 b;

	mbar_arrive(&b); // bad_mbar_no_init first
	out[threadIdx.x] = 1;
}

KERNEL bad_mbar_count_zero(int *out)
{
	__shared__ u64 b;

	if (threadIdx.x == 0)
		mbar_init(&b, out[200]); // bad_mbar_count_zero first
}

KERNEL bad_mbar_too_many(int *out)
{
	__shared__ u64 b;

	if (threadIdx.x == 0)
		mbar_init(&b, 48);
	__syncthreads();
	mbar_arrive(&b);
	out[threadIdx.x] = 1;
	__syncthreads();
	if (threadIdx.x == 0)
		mbar_arrive_n(&b, 60); // bad_mbar_too_many first
}

KERNEL bad_mbar_arrive_much(int *out)
{
	__shared__ u64 b;

	if (threadIdx.x == 0) {
		mbar_init(&b, 4);
		mbar_arrive_n(&b, 5 + out[200]); // bad_mbar_arrive_much first
	}
}

KERNEL bad_mbar_after_inval(int *out)
{
	__shared__ u64 b;

	if (threadIdx.x == 0) {
		mbar_init(&b, 1);
		mbar_inval(&b);  // bad_mbar_after_inval second
		mbar_arrive(&b); // bad_mbar_after_inval first
	}
	out[threadIdx.x] = 1;
}

KERNEL bad_mbar_expects_too_much(int *out)
{
	__shared__ u64 b;

	if (threadIdx.x == 0) {
		mbar_init(&b, 1);
		mbar_expect(&b, 0x100000 + out[200]); // bad_mbar_expects_too_much first
	}
}

KERNEL bad_mbar_misaligned(int *out)
{
	__shared__ u64 b[2];

	if (threadIdx.x == 0)
		mbar_init((char *)b + 4 + out[200], 1); // bad_mbar_misaligned first
}

KERNEL bad_mbar_livelock(int *out)
{
	__shared__ u64 b;

	if (threadIdx.x == 0)
		mbar_init(&b, 1);
	__syncthreads();
	mbar_wait(&b, 0); // bad_mbar_livelock first
	out[threadIdx.x] = 1;
}

KERNEL bad_mbar_parity(int *out)
{
	__shared__ u64 b;

	if (threadIdx.x == 0)
		mbar_init(&b, 64);
	__syncthreads();
	mbar_arrive(&b);
	mbar_wait(&b, 0);
	mbar_wait(&b, 1); // bad_mbar_parity first
	out[threadIdx.x] = 1;
}

KERNEL fine_mbar(int *out)
{
	__shared__ u64 b;

	for (int round = 0; round < 2; round++) {
		if (threadIdx.x == 0)
			mbar_init(&b, 64);
		__syncthreads();
		for (int i = 0; i < 4; i++) {
			mbar_arrive(&b);
			mbar_wait(&b, i & 1);
		}
		__syncthreads();
		if (threadIdx.x == 0)
			mbar_inval(&b);
		__syncthreads();
	}
	out[threadIdx.x] = 1;
}

// ---- asynchronous copies ----

#define copy_word(to, from) asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(ADDRESS(to)), "l"(from) : "memory")
#define copy_commit() asm volatile("cp.async.commit_group;" ::: "memory")
#define copy_wait(n) asm volatile("cp.async.wait_group %0;" ::"n"(n) : "memory")
#define copy_bulk(to, from, bytes, b) \
	asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" \
		     ::"r"(ADDRESS(to)), "l"(from), "r"(bytes), "r"(ADDRESS(b)) : "memory")

KERNEL bad_copy_not_waited(int *out)
{
	__shared__ int s[64];

	copy_word(&s[threadIdx.x], &out[threadIdx.x + 64]); // bad_copy_not_waited second
	copy_commit();
	out[threadIdx.x] = s[threadIdx.x] + 1; // bad_copy_not_waited first
}

KERNEL bad_copy_wait_too_few(int *out)
{
	__shared__ int s[2][64];

	for (int i = 0; i < 2; i++) {
		copy_word(&s[i][threadIdx.x], &out[threadIdx.x + 64]); // bad_copy_wait_too_few second
		copy_commit();
	}
	copy_wait(1);
	__syncthreads();
	out[threadIdx.x] = s[0][threadIdx.x];
	out[threadIdx.x] += s[1][63 - threadIdx.x]; // bad_copy_wait_too_few first
}

KERNEL bad_copy_other_did_not_wait(int *out)
{
	__shared__ int s[64];

	copy_word(&s[threadIdx.x], &out[threadIdx.x + 64]);
	copy_commit();
	__syncthreads();
	out[threadIdx.x] = s[63 - threadIdx.x]; // bad_copy_other_did_not_wait first
}

KERNEL bad_copy_bulk(int *out)
{
	__shared__ __attribute__((aligned(16))) int s[64];
	__shared__ u64 b;

	if (threadIdx.x == 0)
		mbar_init(&b, 1);
	__syncthreads();
	if (threadIdx.x == 0) {
		mbar_expect(&b, 256);
		copy_bulk(s, out + 64, 256, &b); // bad_copy_bulk second
	}
	__syncthreads();
	out[threadIdx.x] = s[threadIdx.x]; // bad_copy_bulk first
}

KERNEL fine_copy_stages(int *out)
{
	__shared__ int s[2][64];
	int sum = 0;

	copy_word(&s[0][threadIdx.x], &out[threadIdx.x + 64]);
	copy_commit();
	for (int i = 0; i < 4; i++) {
		copy_word(&s[(i + 1) % 2][threadIdx.x], &out[threadIdx.x + 64]);
		copy_commit();
		copy_wait(1);
		__syncthreads();
		sum += s[i % 2][63 - threadIdx.x];
		__syncthreads();
	}
	out[threadIdx.x] = sum;
}

KERNEL fine_copy_mbar(int *out)
{
	__shared__ int s[64];
	__shared__ u64 b;

	if (threadIdx.x == 0)
		mbar_init(&b, 64);
	__syncthreads();
	copy_word(&s[threadIdx.x], &out[threadIdx.x + 64]);
	asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(ADDRESS(&b)) : "memory");
	mbar_wait(&b, 0);
	out[threadIdx.x] = s[63 - threadIdx.x];
}

KERNEL fine_copy_bulk(int *out)
{
	__shared__ __attribute__((aligned(16))) int s[2][64];
	__shared__ u64 b[2];

	if (threadIdx.x < 2)
		mbar_init(&b[threadIdx.x], 1);
	__syncthreads();
	for (int i = 0; i < 4; i++) {
		if (threadIdx.x == 0) {
			mbar_expect(&b[i % 2], 256);
			copy_bulk(s[i % 2], out + 64, 256, &b[i % 2]);
		}
		mbar_wait(&b[i % 2], i / 2 & 1);
		out[threadIdx.x] = s[i % 2][threadIdx.x];
		__syncthreads();
	}
}

// ---- clusters ----

#define cluster_arrive() asm volatile("barrier.cluster.arrive;" ::: "memory")
#define cluster_wait() asm volatile("barrier.cluster.wait;" ::: "memory")
#define load_other(v, p) \
	asm volatile("{ .reg .b32 a, r; mov.u32 r, %%cluster_ctarank; xor.b32 r, r, 1; mapa.shared::cluster.u32 a, %1, r;" \
		     "ld.shared::cluster.u32 %0, [a]; }" : "=r"(v) : "r"(ADDRESS(p)) : "memory")

KERNEL bad_cluster_arrives_twice(int *out)
{
	cluster_arrive();
	cluster_arrive(); // bad_cluster_arrives_twice first
	cluster_wait();
	out[threadIdx.x] = 1;
}

KERNEL bad_cluster_waits_alone(int *out)
{
	cluster_wait(); // bad_cluster_waits_alone first
	out[threadIdx.x] = 1;
}

KERNEL bad_cluster_leaves(int *out)
{
	__shared__ int s[64];
	int v;

	s[threadIdx.x] = threadIdx.x;
	cluster_arrive();
	cluster_wait();
	load_other(v, &s[threadIdx.x]); // bad_cluster_leaves first
	out[threadIdx.x] = v;
}

KERNEL bad_cluster_reads_the_gone(int *out)
{
	__shared__ int s[64];
	int v = 0;

	s[threadIdx.x] = threadIdx.x;
	cluster_arrive();
	cluster_wait();
	if (blockIdx.x == 1) {
		for (int i = 0; i < 100; i++)
			v += out[i];
		load_other(v, &s[threadIdx.x]); // bad_cluster_reads_the_gone first
	}
	out[threadIdx.x] = v;
}

KERNEL fine_cluster(int *out)
{
	__shared__ int s[64];
	int v, sum = 0;

	for (int i = 0; i < 3; i++) {
		s[threadIdx.x] = threadIdx.x + i;
		cluster_arrive();
		cluster_wait();
		load_other(v, &s[threadIdx.x]);
		sum += v;
		cluster_arrive();
		cluster_wait();
	}
	out[threadIdx.x] = sum;
}

// ---- loops in which nothing changes ----

KERNEL bad_livelock(int *out)
{
	if (threadIdx.x == 0)
		while (((volatile int *)out)[200] == 0) // bad_livelock first
			;
	__syncthreads();
	out[threadIdx.x] = 1;
}

// A loop that reads clocks on its way, as those of libcu++ do.
KERNEL bad_mbar_livelock_with_sleep(int *out)
{
	__shared__ u64 b;

	if (threadIdx.x == 0)
		mbar_init(&b, 65);
	__syncthreads();
	mbar_arrive(&b);
	asm volatile("{ .reg .pred p; .reg .b64 t; L%=: mov.u64 t, %%globaltimer; nanosleep.u32 20;" // bad_mbar_livelock_with_sleep first
		     "mbarrier.try_wait.parity.shared.b64 p, [%0], 0; @!p bra L%=; }" ::"r"(ADDRESS(&b)) : "memory");
	out[threadIdx.x] = 1;
}

KERNEL warning_cluster_block_returns(int *out)
{
	if (blockIdx.x == 1)
		return;
	out[threadIdx.x] = 1;
	cluster_arrive();
	cluster_wait(); // warning_cluster_block_returns first
}

KERNEL fine_cluster_block_goes_first(int *out)
{
	cluster_arrive();
	cluster_wait();
	if (blockIdx.x == 1)
		return;
	out[threadIdx.x] = 1;
}

KERNEL fine_cluster_warp_returns(int *out)
{
	if (threadIdx.x >= 32)
		return;
	out[threadIdx.x] = 1;
	cluster_arrive();
	cluster_wait();
}
