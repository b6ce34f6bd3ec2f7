// Copies that units beside the threads make, and surfaces: what goes wrong in each, by the check that finds it (mem_,
// init_, sync_, race_), and right ones beside them, fine_. The program runs the kernel that it is given; the line that is
// wrong names its kernel.
#include <cstdio>
#include <cstring>
#include <cuda.h>

#define KERNEL __global__ void
#define ARGUMENTS const CUtensorMap *map, cudaSurfaceObject_t surface, int *o, int *raw
#define AT(p) "r"((unsigned)__cvta_generic_to_shared(p))
#define TILE 64 // words: 16 by 4
typedef unsigned long long mbarrier;

__device__ inline void begin(mbarrier *b)
{
	if (threadIdx.x == 0)
		asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::AT(b) : "memory");
	__syncthreads();
}

__device__ inline void expect(mbarrier *b, int bytes)
{
	asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::AT(b), "r"(bytes) : "memory");
}

__device__ inline void wait(mbarrier *b, int parity)
{
	int done = 0;

	while (!done)
		asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2; selp.b32 %0, 1, 0, p; }"
			     : "=r"(done) : AT(b), "r"(parity) : "memory");
}

#define LOAD(to, from, bytes, b) \
	asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" \
		     ::AT(to), "l"(from), "r"(bytes), AT(b) : "memory")
#define STORE(to, from, bytes) \
	asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to), AT(from), "r"(bytes) \
		     : "memory")
#define LOAD_TILE(to, x, y, b) \
	asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], " \
		     "[%1, {%2, %3}], [%4];" ::AT(to), "l"(map), "r"(x), "r"(y), AT(b) : "memory")
#define STORE_TILE(from, x, y) \
	asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];" \
		     ::"l"(map), "r"(x), "r"(y), AT(from) : "memory")
#define COMMIT asm volatile("cp.async.bulk.commit_group;" ::: "memory")
#define WAIT(n) asm volatile("cp.async.bulk.wait_group %0;" ::"n"(n) : "memory")
#define FENCE asm volatile("fence.proxy.async.shared::cta;" ::: "memory")
#define IN __shared__ __align__(128) int

// ---- bulk copies ----

KERNEL fine_load(ARGUMENTS)
{
	IN s[64];
	__shared__ mbarrier b;

	begin(&b);
	if (threadIdx.x == 0) {
		expect(&b, 256);
		LOAD(s, o + 192, 256, &b);
	}
	wait(&b, 0);
	o[threadIdx.x] = s[63 - threadIdx.x] + 1;
}

KERNEL fine_store(ARGUMENTS)
{
	IN s[64];

	s[threadIdx.x] = threadIdx.x;
	FENCE;
	__syncthreads();
	if (threadIdx.x == 0) {
		STORE(raw, s, 256);
		COMMIT;
		WAIT(0);
	}
	__syncthreads();
	o[threadIdx.x] = raw[threadIdx.x] + 1;
}

KERNEL mem_load_source(ARGUMENTS)
{
	IN s[64];
	__shared__ mbarrier b;

	begin(&b);
	if (threadIdx.x == 0) {
		expect(&b, 256);
		LOAD(s, o + 196, 256, &b); // mem_load_source
	}
	wait(&b, 0);
}

KERNEL mem_load_destination(ARGUMENTS)
{
	IN s[64];
	IN next[64];
	__shared__ mbarrier b;

	next[threadIdx.x] = 0;
	begin(&b);
	if (threadIdx.x == 0) {
		expect(&b, 256);
		LOAD(s + 4, o, 256, &b); // mem_load_destination
	}
	wait(&b, 0);
	o[threadIdx.x] = s[threadIdx.x / 32 + 4] + next[63 - threadIdx.x];
}

KERNEL mem_store_source(ARGUMENTS)
{
	IN s[64];
	IN next[64];

	s[threadIdx.x] = next[threadIdx.x] = threadIdx.x;
	FENCE;
	__syncthreads();
	if (threadIdx.x == 0) {
		STORE(o, s + 4, 256); // mem_store_source
		COMMIT;
		WAIT(0);
	}
}

KERNEL mem_store_destination(ARGUMENTS)
{
	IN s[64];

	s[threadIdx.x] = threadIdx.x;
	FENCE;
	__syncthreads();
	if (threadIdx.x == 0) {
		STORE(o + 196, s, 256); // mem_store_destination
		COMMIT;
		WAIT(0);
	}
}

KERNEL init_load(ARGUMENTS)
{
	IN s[64];
	__shared__ mbarrier b;

	begin(&b);
	if (threadIdx.x == 0) {
		expect(&b, 256);
		LOAD(s, raw, 256, &b);
	}
	wait(&b, 0);
	o[threadIdx.x] = s[threadIdx.x] + 1; // init_load
}

KERNEL init_store(ARGUMENTS)
{
	IN s[64];

	if (threadIdx.x < 32)
		s[threadIdx.x] = threadIdx.x;
	FENCE;
	__syncthreads();
	if (threadIdx.x == 0) {
		STORE(raw, s, 256);
		COMMIT;
		WAIT(0);
	}
	__syncthreads();
	o[threadIdx.x] = raw[threadIdx.x] + 1; // init_store
}

KERNEL sync_load(ARGUMENTS)
{
	IN s[64];
	__shared__ mbarrier b;

	begin(&b);
	if (threadIdx.x == 0) {
		expect(&b, 256);
		LOAD(s, o, 256, &b);
	}
	__syncthreads();
	raw[threadIdx.x] = s[threadIdx.x] + 1; // sync_load
}

KERNEL race_store(ARGUMENTS)
{
	IN s[64];

	s[threadIdx.x] = threadIdx.x;
	FENCE;
	__syncthreads();
	if (threadIdx.x == 0) {
		STORE(raw, s, 256);
		COMMIT;
		o[0] = raw[1] + 1; // race_store
	}
}

KERNEL race_store_overwritten(ARGUMENTS)
{
	IN s[64];

	s[threadIdx.x] = threadIdx.x;
	FENCE;
	__syncthreads();
	if (threadIdx.x == 0) {
		STORE(raw, s, 256);
		COMMIT;
		s[3] = 7; // race_store_overwritten
		WAIT(0);
	}
}

KERNEL fine_store_overwritten(ARGUMENTS)
{
	IN s[64];

	s[threadIdx.x] = threadIdx.x;
	FENCE;
	__syncthreads();
	if (threadIdx.x == 0) {
		STORE(raw, s, 256);
		COMMIT;
		asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
		s[3] = 7;
		WAIT(0);
	}
}

// ---- tensor copies ----

KERNEL fine_tile(ARGUMENTS)
{
	IN s[TILE];
	__shared__ mbarrier b;

	begin(&b);
	if (threadIdx.x == 0) {
		expect(&b, TILE * 4);
		LOAD_TILE(s, 0, 4, &b);
	}
	wait(&b, 0);
	s[threadIdx.x] += threadIdx.x;
	FENCE;
	__syncthreads();
	if (threadIdx.x == 0) {
		STORE_TILE(s, 0, 8);
		COMMIT;
		WAIT(0);
	}
	__syncthreads();
	o[threadIdx.x] = o[128 + threadIdx.x] + 1;
}

// What is outside of the tensor reads as zeros, and is not written.
KERNEL fine_tile_border(ARGUMENTS)
{
	IN s[TILE];
	__shared__ mbarrier b;

	begin(&b);
	if (threadIdx.x == 0) {
		expect(&b, TILE * 4);
		LOAD_TILE(s, 4, 14, &b);
	}
	wait(&b, 0);
	o[threadIdx.x] = s[threadIdx.x] + 1;
	FENCE;
	__syncthreads();
	if (threadIdx.x == 0) {
		STORE_TILE(s, -4, 14);
		COMMIT;
		WAIT(0);
	}
}

KERNEL mem_tile_destination(ARGUMENTS)
{
	IN s[32];
	IN next[64];
	__shared__ mbarrier b;

	next[threadIdx.x] = 0;
	begin(&b);
	if (threadIdx.x == 0) {
		expect(&b, TILE * 4);
		LOAD_TILE(s, 0, 0, &b); // mem_tile_destination
	}
	wait(&b, 0);
	o[threadIdx.x] = s[threadIdx.x / 2] + next[63 - threadIdx.x];
}

KERNEL mem_tile_source(ARGUMENTS)
{
	IN s[32];
	IN next[64];

	s[threadIdx.x / 2] = next[threadIdx.x] = 0;
	FENCE;
	__syncthreads();
	if (threadIdx.x == 0) {
		STORE_TILE(s, 0, 0); // mem_tile_source
		COMMIT;
		WAIT(0);
	}
}

KERNEL mem_tile_map(ARGUMENTS) // of memory that is freed
{
	IN s[TILE];
	__shared__ mbarrier b;

	begin(&b);
	if (threadIdx.x == 0) {
		expect(&b, TILE * 4);
		LOAD_TILE(s, 0, 0, &b); // mem_tile_map
	}
	wait(&b, 0);
}

KERNEL init_tile(ARGUMENTS)
{
	IN s[TILE];

	if (threadIdx.x < 48)
		s[threadIdx.x] = threadIdx.x;
	FENCE;
	__syncthreads();
	if (threadIdx.x == 0) {
		STORE_TILE(s, 0, 4);
		COMMIT;
		WAIT(0);
	}
	__syncthreads();
	o[threadIdx.x] = o[64 + threadIdx.x] + 1; // init_tile
}

KERNEL sync_tile(ARGUMENTS)
{
	IN s[TILE];
	__shared__ mbarrier b;

	begin(&b);
	if (threadIdx.x == 0) {
		expect(&b, TILE * 4);
		LOAD_TILE(s, 0, 0, &b);
	}
	__syncthreads();
	o[threadIdx.x] = s[threadIdx.x] + 1; // sync_tile
}

// The second stage is read behind the first one's barrier.
KERNEL sync_tile_stages(ARGUMENTS)
{
	IN s[2][TILE];
	__shared__ mbarrier b[2];

	begin(&b[0]);
	begin(&b[1]);
	if (threadIdx.x == 0)
		for (int i = 0; i < 2; i++) {
			expect(&b[i], TILE * 4);
			LOAD_TILE(s[i], 0, 4 * i, &b[i]);
		}
	wait(&b[0], 0);
	o[threadIdx.x] = s[0][threadIdx.x];
	o[threadIdx.x] += s[1][threadIdx.x]; // sync_tile_stages
}

KERNEL race_tile_store(ARGUMENTS)
{
	IN s[TILE];

	s[threadIdx.x] = threadIdx.x;
	FENCE;
	__syncthreads();
	if (threadIdx.x == 0) {
		STORE_TILE(s, 0, 4);
		COMMIT;
		raw[0] = o[64] + 1; // race_tile_store
	}
}

// ---- surfaces ----

#define SURFACE_STORE(mode, x, v) \
	asm volatile("sust.b.1d.b32." mode " [%0, {%1}], {%2};" ::"l"(surface), "r"(x), "r"(v) : "memory")

KERNEL fine_surface(ARGUMENTS)
{
	SURFACE_STORE("trap", (int)threadIdx.x * 4, threadIdx.x);
	__syncthreads();
	if (threadIdx.x == 63) {
		SURFACE_STORE("clamp", 256, 1);
		SURFACE_STORE("zero", 260, 1);
	}
}

KERNEL mem_surface_write(ARGUMENTS)
{
	SURFACE_STORE("trap", (int)threadIdx.x * 4 + 4, 1); // mem_surface_write
}

KERNEL mem_surface_read(ARGUMENTS)
{
	int v;

	int at = (int)threadIdx.x * 4 - 4;

	asm volatile("suld.b.1d.b32.trap %0, [%1, {%2}];" : "=r"(v) : "l"(surface), "r"(at)); // mem_surface_read
	o[threadIdx.x] = v;
}

// ---- the host ----

#define RUN(name) \
	else if (!strcmp(argv[1], #name)) \
		name<<<1, 64>>>(map, surface, o, raw);

static void check(int e, int line)
{
	if (e) {
		printf("line %d: %d\n", line, e);
		exit(1);
	}
}
#define CHECK(call) check((int)(call), __LINE__)

int main(int argc, char **argv)
{
	int *o, *raw, *tensor;
	CUtensorMap made, *map;
	cuuint64_t dim[2] = {16, 16}, stride[1] = {64};
	cuuint32_t box[2] = {16, 4}, step[2] = {1, 1};
	decltype(&cuTensorMapEncodeTiled) encode;
	cudaArray_t array;
	cudaSurfaceObject_t surface;
	cudaResourceDesc what = {};
	cudaChannelFormatDesc word = cudaCreateChannelDesc<int>();

	if (argc < 2)
		return 2;
	CHECK(cudaMalloc(&o, 1024));
	CHECK(cudaMalloc(&raw, 1024));
	CHECK(cudaMemset(o, 0, 1024));
	tensor = o;
	if (!strcmp(argv[1], "mem_tile_map")) {
		CHECK(cudaMalloc(&tensor, 1024));
		CHECK(cudaFree(tensor));
	}
	CHECK(cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", (void **)&encode, cudaEnableDefault, nullptr));
	CHECK(encode(&made, CU_TENSOR_MAP_DATA_TYPE_INT32, 2, tensor, dim, stride, box, step,
		     CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE,
		     CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE));
	CHECK(cudaMalloc(&map, sizeof(made)));
	CHECK(cudaMemcpy(map, &made, sizeof(made), cudaMemcpyHostToDevice));
	CHECK(cudaMallocArray(&array, &word, 64, 0, cudaArraySurfaceLoadStore));
	what.resType = cudaResourceTypeArray;
	what.res.array.array = array;
	CHECK(cudaCreateSurfaceObject(&surface, &what));
	if (!strcmp(argv[1], "none"))
		;
#include "engines.inc"
	else
		return 2;
	printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
	cudaDestroySurfaceObject(surface);
	cudaFreeArray(array);
	cudaFree(map);
	cudaFree(o);
	cudaFree(raw);
	return 0;
}
