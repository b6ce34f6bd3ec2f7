// Misuse of synchronisation and what is none; the name says which. tests/check/sync.ptx is made of it by
//     ptxloom cc --ptx -lineinfo -arch=sm_90 sync.cu -o - | sed 's,"[^"]*/\(sync.cu\|share/\),"\1,' >sync.ptx
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
