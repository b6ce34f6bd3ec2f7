// Races of asynchronous copies, mbarriers and matrices, and what is none; the name says which.
// tests/check/copies.ptx is made of it by
//     ptxloom cc --ptx -lineinfo -arch=sm_80 copies.cu -o - | sed 's,"[^"]*/\(copies.cu\|share/\),"\1,
//         s/^.version.*/.version 8.0/; s/^.target sm_80/.target sm_90/' >copies.ptx
#define KERNEL extern "C" __global__ void
#define AT(p) "r"((unsigned)(unsigned long long)(__attribute__((address_space(3))) const void *)(p))
#define COPY(to, from) asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::AT(to), "l"(from) : "memory")
#define COMMIT asm volatile("cp.async.commit_group;" ::: "memory")
#define WAIT(n) asm volatile("cp.async.wait_group %0;" ::"n"(n) : "memory")
#define WAIT_ALL asm volatile("cp.async.wait_all;" ::: "memory")
typedef unsigned long long mbarrier;

__device__ static void init(mbarrier *b, int n)
{
	asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::AT(b), "r"(n) : "memory");
}

__device__ static mbarrier arrive(mbarrier *b)
{
	mbarrier state;

	asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(state) : AT(b) : "memory");
	return state;
}

__device__ static mbarrier arrive_expect(mbarrier *b, int bytes)
{
	mbarrier state;

	asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 %0, [%1], %2;" : "=l"(state) : AT(b), "r"(bytes) : "memory");
	return state;
}

__device__ static void wait(mbarrier *b, mbarrier state)
{
	int done = 0;

	while (!done)
		asm volatile("{ .reg .pred p; mbarrier.try_wait.shared.b64 p, [%1], %2; selp.b32 %0, 1, 0, p; }"
			     : "=r"(done) : AT(b), "l"(state) : "memory");
}

// ---- groups of cp.async ----

KERNEL fine_copy(int *out)
{
	__shared__ int s[2][64];
	int *p = out + blockIdx.x * 64;

	p[threadIdx.x] = threadIdx.x;
	COPY(&s[0][threadIdx.x], p + threadIdx.x);
	COMMIT;
	COPY(&s[1][threadIdx.x], p + threadIdx.x);
	COMMIT;
	WAIT(1);
	__syncthreads();
	int a = s[0][63 - threadIdx.x];
	WAIT_ALL;
	__syncthreads();
	p[threadIdx.x] = a + s[1][63 - threadIdx.x];
}

KERNEL race_copy_without_wait(int *out)
{
	__shared__ int s[64];

	COPY(&s[threadIdx.x], out + threadIdx.x);
	COMMIT;
	__syncthreads();
	out[64 * blockIdx.x + 64 + threadIdx.x] = s[63 - threadIdx.x];
}

KERNEL race_copy_of_last_group(int *out)
{
	__shared__ int s[2][64];

	COPY(&s[0][threadIdx.x], out + threadIdx.x);
	COMMIT;
	COPY(&s[1][threadIdx.x], out + threadIdx.x);
	COMMIT;
	WAIT(1);
	__syncthreads();
	out[64 * blockIdx.x + 64 + threadIdx.x] = s[1][63 - threadIdx.x];
}

KERNEL race_own_copy_without_wait(int *out)
{
	__shared__ int s[64];

	COPY(&s[threadIdx.x], out + threadIdx.x);
	COMMIT;
	out[64 * blockIdx.x + 64 + threadIdx.x] = s[threadIdx.x];
}

KERNEL race_copy_that_others_wait_for(int *out)
{
	__shared__ int s[64];

	COPY(&s[threadIdx.x], out + threadIdx.x);
	COMMIT;
	WAIT(0);
	out[64 * blockIdx.x + 64 + threadIdx.x] = s[63 - threadIdx.x];
}

KERNEL race_copy_source_overwritten(int *out)
{
	__shared__ int s[64];
	int *p = out + blockIdx.x * 64;

	COPY(&s[threadIdx.x], p + threadIdx.x);
	COMMIT;
	p[threadIdx.x] = 5;
	WAIT(0);
}

// ---- mbarriers ----

KERNEL fine_mbarrier(int *out)
{
	__shared__ int s[64];
	__shared__ mbarrier b;

	if (threadIdx.x == 0)
		init(&b, 64);
	__syncthreads();
	s[threadIdx.x] = threadIdx.x;
	wait(&b, arrive(&b));
	out[blockIdx.x * 64 + threadIdx.x] = s[63 - threadIdx.x];
}

KERNEL race_mbarrier_arrival_is_no_wait(int *out)
{
	__shared__ int s[64];
	__shared__ mbarrier b;

	if (threadIdx.x == 0)
		init(&b, 64);
	__syncthreads();
	s[threadIdx.x] = threadIdx.x;
	mbarrier state = arrive(&b);
	out[blockIdx.x * 64 + threadIdx.x] = s[63 - threadIdx.x];
	wait(&b, state);
}

KERNEL race_mbarrier_used_before_init(int *out)
{
	__shared__ mbarrier b;

	if (threadIdx.x == 0)
		init(&b, 64);
	wait(&b, arrive(&b));
	out[blockIdx.x * 64 + threadIdx.x] = 1;
}

KERNEL fine_copy_by_mbarrier(int *out)
{
	__shared__ int s[64];
	__shared__ mbarrier b;

	if (threadIdx.x == 0)
		init(&b, 64);
	__syncthreads();
	COPY(&s[threadIdx.x], out + blockIdx.x * 64 + threadIdx.x);
	asm volatile("cp.async.mbarrier.arrive.shared.b64 [%0];" ::AT(&b) : "memory");
	wait(&b, arrive(&b));
	out[blockIdx.x * 64 + threadIdx.x] = s[63 - threadIdx.x];
}

// ---- bulk copies ----

__device__ static void load(int *to, const int *from, mbarrier *b)
{
	asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 256, [%2];" ::AT(to), "l"(from), AT(b) : "memory");
}

#define STORE(to, from) \
	do { \
		asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 256;" ::"l"(to), AT(from) : "memory"); \
		asm volatile("cp.async.bulk.commit_group;" ::: "memory"); \
	} while (0)
#define WAIT_READ asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory")
#define PROXY_FENCE asm volatile("fence.proxy.async.shared::cta;" ::: "memory")

KERNEL fine_bulk_load(int *out)
{
	__shared__ __align__(16) int s[64];
	__shared__ mbarrier b;
	mbarrier state;

	if (threadIdx.x == 0) {
		init(&b, 64);
		PROXY_FENCE;
	}
	__syncthreads();
	if (threadIdx.x == 0) {
		load(s, out + blockIdx.x * 64, &b);
		state = arrive_expect(&b, 256);
	} else {
		state = arrive(&b);
	}
	wait(&b, state);
	out[blockIdx.x * 64 + threadIdx.x] = s[63 - threadIdx.x];
}

KERNEL race_bulk_load_without_wait(int *out)
{
	__shared__ __align__(16) int s[64];
	__shared__ mbarrier b;
	mbarrier state;

	if (threadIdx.x == 0) {
		init(&b, 64);
		PROXY_FENCE;
	}
	__syncthreads();
	if (threadIdx.x == 0) {
		load(s, out, &b);
		state = arrive_expect(&b, 256);
	} else {
		state = arrive(&b);
	}
	out[blockIdx.x * 64 + 64 + threadIdx.x] = s[63 - threadIdx.x];
	wait(&b, state);
}

KERNEL fine_bulk_store(int *out)
{
	__shared__ __align__(16) int s[64];

	s[threadIdx.x] = threadIdx.x;
	PROXY_FENCE;
	__syncthreads();
	if (threadIdx.x == 0) {
		STORE(out + blockIdx.x * 64, s);
		WAIT_READ;
	}
	__syncthreads();
	s[threadIdx.x] = 0;
}

// As CUTLASS does: devices carry out one copy for the warp.
KERNEL fine_bulk_store_by_all_lanes(int *out)
{
	__shared__ __align__(16) int s[64];

	s[threadIdx.x] = threadIdx.x;
	PROXY_FENCE;
	__syncthreads();
	if (threadIdx.x < 32) {
		STORE(out + blockIdx.x * 64, s);
		WAIT_READ;
	}
}

KERNEL race_bulk_store_of_two_sources(int *out)
{
	__shared__ __align__(16) int s[128];

	s[threadIdx.x] = threadIdx.x;
	s[threadIdx.x + 64] = threadIdx.x + 1;
	PROXY_FENCE;
	__syncthreads();
	if (threadIdx.x < 2) {
		STORE(out + blockIdx.x * 64, s + threadIdx.x * 64); // race_bulk_store_of_two_sources first
		WAIT_READ;
	}
}

KERNEL race_bulk_store_of_unfinished(int *out)
{
	__shared__ __align__(16) int s[64];

	s[threadIdx.x] = threadIdx.x;
	PROXY_FENCE;
	if (threadIdx.x == 0) {
		STORE(out + blockIdx.x * 64, s);
		WAIT_READ;
	}
}

KERNEL race_bulk_store_source_reused(int *out)
{
	__shared__ __align__(16) int s[64];

	s[threadIdx.x] = threadIdx.x;
	PROXY_FENCE;
	__syncthreads();
	if (threadIdx.x == 0)
		STORE(out + blockIdx.x * 64, s);
	__syncthreads();
	s[threadIdx.x] = 0;
}

KERNEL race_bulk_store_without_proxy_fence(int *out)
{
	__shared__ __align__(16) int s[64];

	s[threadIdx.x] = threadIdx.x;
	__syncthreads();
	if (threadIdx.x == 0) {
		STORE(out + blockIdx.x * 64, s);
		WAIT_READ;
	}
}

// ---- matrices of a warp ----

__device__ static void store_matrix(float *to)
{
	asm volatile("{ .reg .f32 z; mov.f32 z, 0f3f800000; "
		     "wmma.store.d.sync.aligned.row.m16n16k16.shared.f32 [%0], {z, z, z, z, z, z, z, z}, 16; }" ::AT(to) : "memory");
}

KERNEL fine_matrix(int *out)
{
	__shared__ __align__(32) float s[512];

	store_matrix(s + threadIdx.x / 32 * 256);
	__syncthreads();
	out[blockIdx.x * 64 + threadIdx.x] = s[(threadIdx.x + 256) % 512];
}

KERNEL race_matrix_stored_by_other_warp(int *out)
{
	__shared__ __align__(32) float s[512];

	store_matrix(s + threadIdx.x / 32 * 256);
	out[blockIdx.x * 64 + threadIdx.x] = s[(threadIdx.x / 32 * 256 + threadIdx.x + 256) % 512];
}
