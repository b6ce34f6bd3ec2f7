// Races and what is none; the name says which. tests/check/race.ptx is made of it by
//     ptxloom cc --ptx -lineinfo race.cu -o - | sed 's,"[^"]*/\(race.cu\|share/\),"\1,' >race.ptx
// race.sh looks for the lines that are marked: `first` and `second` are the two sides of a race.
#define KERNEL extern "C" __global__ void

// ---- barriers of a CTA ----

KERNEL race_no_barrier(int *out)
{
	__shared__ int s[64];

	s[threadIdx.x] = threadIdx.x;    // race_no_barrier first
	int other = s[63 - threadIdx.x]; // race_no_barrier second
	out[blockIdx.x * 64 + threadIdx.x] = other;
}

KERNEL fine_barrier(int *out)
{
	__shared__ int s[64];

	s[threadIdx.x] = threadIdx.x;
	__syncthreads();
	out[blockIdx.x * 64 + threadIdx.x] = s[63 - threadIdx.x];
}

// Of as many blocks as wanted: their shared memory is each its own.
KERNEL fine_one_block(int *out)
{
	__shared__ int s[64];

	s[threadIdx.x] = threadIdx.x;
	__syncthreads();
	if (s[63 - threadIdx.x] != 63 - (int)threadIdx.x)
		atomicAdd(out, 1);
}

// The second round writes what others may still read.
KERNEL race_one_barrier_in_loop(int *out)
{
	__shared__ int s[64];
	int sum = 0;

	for (int i = 0; i < 3; i++) {
		s[threadIdx.x] = i; // race_one_barrier_in_loop second
		__syncthreads();
		sum += s[63 - threadIdx.x]; // race_one_barrier_in_loop first
	}
	out[blockIdx.x * 64 + threadIdx.x] = sum;
}

// Producers go on, consumers wait: named barriers of both warps.
KERNEL fine_named_barriers(int *out)
{
	__shared__ int s[32];
	int lane = threadIdx.x % 32, sum = 0;

	for (int i = 0; i < 3; i++) {
		if (threadIdx.x < 32) {
			if (i)
				asm volatile("bar.sync 2, 64;" ::: "memory");
			s[lane] = i;
			asm volatile("bar.arrive 1, 64;" ::: "memory");
		} else {
			asm volatile("bar.sync 1, 64;" ::: "memory");
			sum += s[31 - lane];
			if (i < 2)
				asm volatile("bar.arrive 2, 64;" ::: "memory");
		}
	}
	out[blockIdx.x * 64 + threadIdx.x] = sum;
}

// Bytes of a word are different places.
KERNEL fine_bytes(unsigned char *out)
{
	__shared__ unsigned char s[64];

	s[threadIdx.x] = threadIdx.x;
	out[blockIdx.x * 64 + threadIdx.x] = s[threadIdx.x] + 1;
}

// ---- warps ----

KERNEL fine_syncwarp(int *out)
{
	__shared__ int s[64];

	s[threadIdx.x] = threadIdx.x;
	__syncwarp();
	out[blockIdx.x * 64 + threadIdx.x] = s[threadIdx.x ^ 1];
}

KERNEL race_other_lanes_of_warp(int *out)
{
	__shared__ int s[64];

	if (threadIdx.x % 32 < 16)
		s[threadIdx.x] = threadIdx.x; // race_other_lanes_of_warp first
	else
		out[blockIdx.x * 64 + threadIdx.x] =
			s[threadIdx.x - 16]; // race_other_lanes_of_warp second
}

KERNEL fine_half_warps(int *out)
{
	__shared__ int s[64];
	unsigned mask = threadIdx.x % 32 < 16 ? 0xffff : 0xffff0000;

	s[threadIdx.x] = threadIdx.x;
	__syncwarp(mask);
	out[blockIdx.x * 64 + threadIdx.x] = s[threadIdx.x ^ 15];
}

// ---- memory of the device's heap, which one block frees and another gets ----

KERNEL fine_heap(int *out)
{
	int *p = (int *)malloc(64);

	for (int i = 0; i < 16; i++)
		p[i] = i + threadIdx.x + 64 * blockIdx.x;
	out[blockIdx.x * 64 + threadIdx.x] = p[5];
	free(p);
}

// The counter's first value may come behind other threads' additions.
KERNEL race_reset_of_counter(int *out)
{
	__shared__ int n;

	if (threadIdx.x == 0)
		n = 7;
	atomicAdd(&n, threadIdx.x);
	__syncthreads();
	out[threadIdx.x] = n;
}

// Lane 0 and its own warp only: what is shown of the pair is what warps do to each other.
KERNEL race_increment_by_warps(int *out)
{
	__shared__ int n;

	if (threadIdx.x == 0)
		n = 0;
	__syncthreads();
	n++;
	__syncthreads();
	out[threadIdx.x] = n;
}

KERNEL race_guarded_max(int *out)
{
	if (out[0] < (int)threadIdx.x)
		atomicMax(out, threadIdx.x);
}

// ---- between CTAs ----

KERNEL race_sum(int *out)
{
	*out += threadIdx.x; // race_sum first second
}

KERNEL fine_atomic_sum(int *out)
{
	atomicAdd(out, threadIdx.x);
}

KERNEL race_scope_of_atomic(int *out)
{
	if (!threadIdx.x)
		atomicAdd_block(out, 1); // race_scope_of_atomic first second
}

template <typename Fence> __device__ void pass(int *out, Fence fence)
{
	if (threadIdx.x)
		return;
	if (!blockIdx.x) {
		out[1] = 7;
		fence();
		atomicExch(out, 1);
	} else {
		while (!atomicAdd(out, 0))
			;
		__threadfence();
		out[2 + blockIdx.x] = out[1];
	}
}

KERNEL fine_flag(int *out)
{
	pass(out, [] { __threadfence(); });
}

KERNEL race_flag_without_fence(int *out)
{
	pass(out, [] {});
}

KERNEL race_flag_with_fence_of_block(int *out)
{
	pass(out, [] { __threadfence_block(); });
}

KERNEL fine_release_acquire(int *out)
{
	int seen = 0;

	if (threadIdx.x)
		return;
	if (!blockIdx.x) {
		out[1] = 7;
		asm volatile("st.release.gpu.global.s32 [%0], 1;" ::"l"(out) : "memory");
	} else {
		while (!seen)
			asm volatile("ld.acquire.gpu.global.s32 %0, [%1];"
				     : "=r"(seen)
				     : "l"(out)
				     : "memory");
		out[2 + blockIdx.x] = out[1];
	}
}

KERNEL fine_lock(int *out)
{
	if (threadIdx.x)
		return;
	while (atomicCAS(out, 0, 1))
		;
	__threadfence();
	out[1]++;
	__threadfence();
	atomicExch(out, 0);
}

KERNEL race_lock_without_fences(int *out)
{
	if (threadIdx.x)
		return;
	while (atomicCAS(out, 0, 1))
		;
	out[1]++; // race_lock_without_fences first second
	atomicExch(out, 0);
}

// The last CTA adds what all have left.
KERNEL fine_last_block(int *out)
{
	__shared__ bool last;

	out[8 + blockIdx.x * 64 + threadIdx.x] = threadIdx.x;
	__threadfence();
	__syncthreads();
	if (!threadIdx.x)
		last = atomicAdd(out, 1) == gridDim.x - 1;
	__syncthreads();
	for (unsigned i = threadIdx.x; last && i < 64 * gridDim.x; i += 64)
		atomicAdd(out + 1, out[8 + i]);
}

KERNEL race_last_block_without_fence(int *out)
{
	__shared__ bool last;

	out[8 + blockIdx.x * 64 + threadIdx.x] = threadIdx.x; // race_last_block_without_fence first
	__syncthreads();
	if (!threadIdx.x)
		last = atomicAdd(out, 1) == gridDim.x - 1;
	__syncthreads();
	for (unsigned i = threadIdx.x; last && i < 64 * gridDim.x; i += 64)
		atomicAdd(out + 1, out[8 + i]); // race_last_block_without_fence second
}

// ---- meant as it is, perhaps: warnings ----

KERNEL warning_same_value(int *out)
{
	*out = 1;
}

KERNEL warning_lanes_together(int *out)
{
	__shared__ int s[64];

	s[threadIdx.x] = threadIdx.x;
	out[blockIdx.x * 64 + threadIdx.x] = s[threadIdx.x ^ 1];
}

KERNEL warning_first_try(int *out)
{
	for (int seen = *out, old; (old = atomicCAS(out, seen, seen + 1)) != seen;)
		seen = old;
}

// ---- many intervals between barriers, and much in one ----

KERNEL race_after_many_barriers(int *out)
{
	__shared__ int s[64];
	int sum = 0;

	s[threadIdx.x] = 0;
	for (int i = 0; i < 33000; i++) {
		__syncthreads();
		sum += s[threadIdx.x ^ 32];
		__syncthreads();
		s[threadIdx.x] = i; // race_after_many_barriers first
	}
	sum += s[threadIdx.x ^ 32]; // race_after_many_barriers second
	out[blockIdx.x * 64 + threadIdx.x] = sum;
}

KERNEL fine_many_barriers(int *out)
{
	__shared__ int s[64];
	int sum = 0;

	for (int i = 0; i < 33000; i++) {
		s[threadIdx.x] = i;
		__syncthreads();
		sum += s[threadIdx.x ^ 32];
		__syncthreads();
	}
	out[blockIdx.x * 64 + threadIdx.x] = sum;
}

KERNEL race_after_many_reads(int *out)
{
	__shared__ int s[64];
	int sum = 0;

	s[threadIdx.x] = threadIdx.x;
	__syncthreads();
	for (int i = 0; i < 9000; i++)
		sum += *(s + (threadIdx.x * 7 + i) % 64); // race_after_many_reads first
	s[threadIdx.x] = sum;                             // race_after_many_reads second
	out[blockIdx.x * 64 + threadIdx.x] = s[threadIdx.x];
}

KERNEL race_bytes_shared(int *out)
{
	__shared__ unsigned char s[68];

	s[threadIdx.x + 1] = threadIdx.x;                         // race_bytes_shared first
	out[blockIdx.x * 64 + threadIdx.x] = s[threadIdx.x ^ 32]; // race_bytes_shared second
}

KERNEL fine_bytes_shared(int *out)
{
	__shared__ unsigned char s[68];

	s[threadIdx.x + 1] = threadIdx.x;
	out[blockIdx.x * 64 + threadIdx.x] = s[threadIdx.x + 1];
}

// ---- updates in place ----

// Lanes that run together read the same and write the same: all updates but one are lost.
KERNEL race_lost_update(int *out)
{
	out[(blockIdx.x * 64 + threadIdx.x) / 32]++; // race_lost_update first, second
}

// The value stays; with others the outcome would depend on the order.
KERNEL race_lost_maximum(int *out)
{
	int *most = &out[(blockIdx.x * 64 + threadIdx.x) / 32];

	*most = max(*most, out[128 + threadIdx.x]); // race_lost_maximum first, second
}

// Each stores the same, whatever was there.
KERNEL warning_mark_visited(int *out)
{
	int *visited = &out[(blockIdx.x * 64 + threadIdx.x) / 32];

	if (*visited != 3)
		*visited = 3;
}

// Of a plain read that only says whether to try: more threads than meant may pass.
KERNEL race_guarded_add(int *out)
{
	if (out[0] < 5)                // race_guarded_add first
		atomicAdd(&out[0], 1); // race_guarded_add second
}

KERNEL fine_guarded_add(int *out)
{
	if (*(volatile int *)out < 5)
		atomicAdd(out, 1);
}

// ---- in place, each block behind the one before: flags without a fence ----

__device__ volatile int place_flag[8];

// What a block has read before a barrier is read when others see what it then says.
KERNEL fine_read_before_flag(int *out)
{
	int mine = out[(blockIdx.x + 1) * 64 + threadIdx.x];

	__syncthreads();
	if (threadIdx.x == 0) {
		while (blockIdx.x && !place_flag[blockIdx.x - 1])
			;
		place_flag[blockIdx.x] = 1;
	}
	__syncthreads();
	out[blockIdx.x * 64 + threadIdx.x] = mine + 1;
}

// Also what blocks further back have read.
KERNEL fine_read_two_back(int *out)
{
	int mine = out[blockIdx.x * 64 + threadIdx.x];

	__syncthreads();
	if (threadIdx.x == 0) {
		while (blockIdx.x && !place_flag[blockIdx.x - 1])
			;
		place_flag[blockIdx.x] = 1;
	}
	__syncthreads();
	if (blockIdx.x == 2)
		out[threadIdx.x] = mine + 1;
}

KERNEL race_read_beside_flag(int *out)
{
	int mine = 0;

	if (blockIdx.x == 0 && threadIdx.x < 32)
		mine = out[64 + threadIdx.x]; // race_read_beside_flag first
	if (threadIdx.x == 0) {
		while (blockIdx.x && !place_flag[blockIdx.x - 1])
			;
		place_flag[blockIdx.x] = 1;
	}
	__syncthreads();
	if (blockIdx.x)
		out[blockIdx.x * 64 + threadIdx.x] = mine + 1; // race_read_beside_flag second
}

// What it has written others see by a fence only.
KERNEL race_write_before_flag(int *out)
{
	out[blockIdx.x * 64 + threadIdx.x] = threadIdx.x; // race_write_before_flag first
	__syncthreads();
	if (threadIdx.x == 0) {
		while (blockIdx.x && !place_flag[blockIdx.x - 1])
			;
		place_flag[blockIdx.x] = 1;
	}
	__syncthreads();
	if (blockIdx.x)
		out[192 + threadIdx.x] =
			out[(blockIdx.x - 1) * 64 + threadIdx.x]; // race_write_before_flag second
}

// Lanes that read every other word, and rows of 24 bytes.
KERNEL fine_strides(int *out)
{
	__shared__ int s[128];
	__shared__ double3 wide[64];

	s[threadIdx.x] = threadIdx.x;
	s[threadIdx.x + 64] = threadIdx.x;
	wide[threadIdx.x] = make_double3(threadIdx.x, 1, 2);
	__syncthreads();
	double3 w = wide[63 - threadIdx.x];
	out[blockIdx.x * 64 + threadIdx.x] =
		s[2 * threadIdx.x] + s[2 * threadIdx.x + 1] + (int)(w.x + w.y + w.z);
}

KERNEL race_strides(int *out)
{
	__shared__ int s[128];

	s[threadIdx.x] = threadIdx.x;
	s[threadIdx.x + 64] = threadIdx.x;
	__syncthreads();
	int v = s[2 * threadIdx.x];               // race_strides first
	s[(2 * threadIdx.x + 64) % 128] = v + 64; // race_strides second
	out[blockIdx.x * 64 + threadIdx.x] = v;
}

// ---- warp instructions ----

// What all lanes have read goes into the value that is stored.
KERNEL fine_read_before_shuffle(int *out)
{
	__shared__ int s[64];

	s[threadIdx.x] = threadIdx.x;
	__syncthreads();
	int v = s[threadIdx.x & ~31];
	v += __shfl_xor_sync(~0u, v, 1);
	if (threadIdx.x % 32 == 31)
		s[threadIdx.x & ~31] = v;
	out[blockIdx.x * 64 + threadIdx.x] = v;
}

KERNEL race_write_before_shuffle(int *out)
{
	__shared__ int s[64];
	int v = threadIdx.x;

	if (threadIdx.x % 32 == 0)
		s[threadIdx.x] = v + 1; // race_write_before_shuffle first
	v = __shfl_xor_sync(~0u, v, 1);
	if (threadIdx.x % 32 == 31)
		v += s[threadIdx.x & ~31]; // race_write_before_shuffle second
	out[blockIdx.x * 64 + threadIdx.x] = v;
}

// Only of lanes that take part.
KERNEL race_read_before_shuffle_of_others(int *out)
{
	__shared__ int s[64];

	s[threadIdx.x] = threadIdx.x;
	__syncthreads();
	int v = 0;
	if (threadIdx.x % 32 < 16)
		v = s[threadIdx.x & ~31]; // race_read_before_shuffle_of_others first
	else
		v = __shfl_xor_sync(0xffff0000, (int)threadIdx.x, 1);
	if (threadIdx.x % 32 == 31)
		s[threadIdx.x & ~31] = v; // race_read_before_shuffle_of_others second
	out[blockIdx.x * 64 + threadIdx.x] = v;
}

// ---- loops that do in a late turn what they did not do before ----

KERNEL race_read_in_late_turn(int *out)
{
	__shared__ int s[64];
	int t = threadIdx.x, sum = 0;

	for (int i = 0; i < 12; i++) {
		s[t] = i; // race_read_in_late_turn first
		if (i == 9 && blockIdx.x == 1)
			sum += s[t ^ 32]; // race_read_in_late_turn second
		__syncthreads();
		sum += s[63 - t];
		__syncthreads();
	}
	out[blockIdx.x * 64 + t] = sum;
}

KERNEL race_address_in_late_turn(int *out)
{
	__shared__ int s[128];
	int t = threadIdx.x, sum = 0;

#pragma unroll 1
	for (int i = 0; i < 12; i++) {
		s[i == 10 ? t ^ 33 : t] = i; // race_address_in_late_turn first
		sum += s[t];                 // race_address_in_late_turn second
		__syncthreads();
	}
	out[blockIdx.x * 64 + t] = sum;
}

KERNEL fine_other_turns(int *out)
{
	__shared__ int s[64];
	int t = threadIdx.x, sum = 0;

#pragma unroll 1
	for (int i = 0; i < 40; i++) {
		s[t ^ (i & 3)] = i;
		if (i % 7 == 3)
			sum += s[t ^ (i & 3)];
		__syncthreads();
		sum += s[(t + i * i) & 63];
		__syncthreads();
	}
	out[blockIdx.x * 64 + t] = sum;
}

KERNEL race_barrier_left_out(int *out)
{
	__shared__ int s[64];
	int t = threadIdx.x, sum = 0;

#pragma unroll 1
	for (int i = 0; i < 20; i++) {
		s[t] = i; // race_barrier_left_out second
		__syncthreads();
		sum += s[63 - t]; // race_barrier_left_out first
		if (i != 15)
			__syncthreads();
	}
	out[blockIdx.x * 64 + t] = sum;
}

// ---- runs of accesses to global memory ----

// Each thread has its own words.
KERNEL fine_in_place(int *out)
{
	int at = blockIdx.x * 64 + threadIdx.x;

#pragma unroll 1
	for (int i = 0; i < 100; i++)
		out[at] += i;
}

KERNEL fine_own_by_barriers(int *out)
{
	int first = blockIdx.x * 64, t = threadIdx.x;

#pragma unroll 1
	for (int i = 0; i < 30; i++) {
		int v = out[first + (t ^ (1 << i % 6))];

		__syncthreads();
		out[first + t] = v + i;
		__syncthreads();
	}
}

// All blocks read all of it, and the last one writes a word.
KERNEL race_write_of_what_all_read(int *out)
{
	int sum = 0;

#pragma unroll 1
	for (int i = 0; i < 256; i += 64)
		sum += out[i + threadIdx.x]; // race_write_of_what_all_read first
	if (blockIdx.x == 2 && threadIdx.x == 40)
		out[101] = sum + 1; // race_write_of_what_all_read second
}

KERNEL race_neighbour_in_late_turn(int *out)
{
	int at = blockIdx.x * 64 + threadIdx.x;

#pragma unroll 1
	for (int i = 0; i < 30; i++) {
		int v = out[i == 25 ? at ^ 32 : at]; // race_neighbour_in_late_turn second

		out[at] = v + i; // race_neighbour_in_late_turn first
	}
}
