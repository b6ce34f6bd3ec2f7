// Programs as people write them, each with one mistake, or without it: `planted NAME bad` and `planted NAME good`. The
// name begins with the check that finds it, and the line of the mistake has it behind a `!`. The program is built by
// clang and nvcc: tests/check/planted.sh.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#define K template <bool BAD> __global__ void
#define GO(k, g, b, ...)                                                                                     \
	do {                                                                                                 \
		if (bad)                                                                                     \
			k<true><<<g, b>>>(__VA_ARGS__);                                                      \
		else                                                                                         \
			k<false><<<g, b>>>(__VA_ARGS__);                                                     \
	} while (0)

static int *alloc(int n)
{
	int *p;
	cudaMalloc(&p, n * 4);
	cudaMemset(p, 0, n * 4);
	return p;
}

static void done(int *p)
{
	cudaDeviceSynchronize();
	cudaFree(p);
}

// ---- mem ----
K fetched(cudaTextureObject_t t, int *o)
{
	o[threadIdx.x] = tex1Dfetch<int>(t, threadIdx.x); // !mem_texture_freed
}

static void mem_texture_freed(bool bad)
{
	int *p = alloc(64), *o = alloc(64);
	cudaResourceDesc r = {};
	cudaTextureDesc d = {};
	cudaTextureObject_t t;
	r.resType = cudaResourceTypeLinear;
	r.res.linear.devPtr = p;
	r.res.linear.desc = cudaCreateChannelDesc<int>();
	r.res.linear.sizeInBytes = 256;
	cudaCreateTextureObject(&t, &r, &d, nullptr);
	if (bad)
		cudaFree(p);
	GO(fetched, 1, 64, t, o);
	cudaDeviceSynchronize();
	cudaDestroyTextureObject(t);
	if (!bad)
		cudaFree(p);
	cudaFree(o);
}

K stride(int *p, int n)
{
	for (int i = threadIdx.x; BAD ? i <= n : i < n; i += blockDim.x)
		p[i] = i; // !mem_stride
}

static void mem_stride(bool bad)
{
	int *p = alloc(1000);
	GO(stride, 1, 64, p, 1000);
	done(p);
}

K pitched(char *p, size_t pitch, int h)
{
	int y = threadIdx.x;
	float *row = (float *)(p + y * pitch);
	for (int x = 0; x < 100; x++)
		(BAD ? (float *)p + (y + 1) * pitch / 2 + x : row + x)[0] = x; // !mem_pitch
}

static void mem_pitch(bool bad)
{
	char *p;
	size_t pitch;
	cudaMallocPitch(&p, &pitch, 400, 20);
	GO(pitched, 1, 20, p, pitch, 20);
	cudaDeviceSynchronize();
	cudaFree(p);
}

K plain(int *p)
{
	p[threadIdx.x] = 3; // !mem_freed !mem_host !mem_null !mem_freed_async
}

static void mem_freed(bool bad)
{
	int *p = alloc(64);
	if (bad)
		cudaFree(p);
	GO(plain, 1, 64, p);
	cudaDeviceSynchronize();
	if (!bad)
		cudaFree(p);
}

static void mem_host(bool bad)
{
	int *p = alloc(64), *h = (int *)malloc(256);
	GO(plain, 1, 64, bad ? h : p);
	done(p);
}

static void mem_null(bool bad)
{
	int *p = alloc(64);
	GO(plain, 1, 64, bad ? nullptr : p);
	done(p);
}

static void mem_freed_async(bool bad)
{
	int *p;
	cudaMallocAsync(&p, 256, 0);
	if (bad)
		cudaFreeAsync(p, 0);
	GO(plain, 1, 64, p);
	if (!bad)
		cudaFreeAsync(p, 0);
	cudaDeviceSynchronize();
}

__device__ int table[10], after_table[10];
__constant__ int consts[8];

K global_variable(int n)
{
	table[n] = 1; // !mem_variable
}

static void mem_variable(bool bad)
{
	GO(global_variable, 1, 1, bad ? 10 : 9);
	cudaDeviceSynchronize();
}

K constant(int *p, int n)
{
	p[0] = consts[n]; // !mem_constant
}

static void mem_constant(bool bad)
{
	int *p = alloc(1);
	GO(constant, 1, 1, p, bad ? 8 : 7);
	done(p);
}

K dynamic(int *p)
{
	extern __shared__ int d[];
	d[threadIdx.x] = threadIdx.x; // !mem_dynamic
	__syncthreads();
	p[threadIdx.x] = d[63 - threadIdx.x];
}

static void mem_dynamic(bool bad)
{
	int *p = alloc(64);
	if (bad)
		dynamic<true><<<1, 64, 63 * 4>>>(p);
	else
		dynamic<false><<<1, 64, 256>>>(p);
	done(p);
}

K local(int *p, int n)
{
	int a[8];
	for (int i = 0; i < 8; i++)
		a[i] = p[i];
	a[n] = 1; // !mem_local
	p[0] = a[p[3]];
}

static void mem_local(bool bad)
{
	int *p = alloc(64);
	GO(local, 1, 1, p, bad ? 5000000 : 7);
	done(p);
}

// Two arrays that lie side by side.
K local_arrays(int *p, int n)
{
	int a[8], b[8];
	for (int i = 0; i < 8; i++) {
		a[i] = p[i];
		b[i] = p[i + 8];
	}
	a[n] = 1; // !mem_local_object
	b[p[3]] = 2;
	p[0] = a[p[3]] + b[p[4]];
}

static void mem_local_object(bool bad)
{
	int *p = alloc(64);
	GO(local_arrays, 1, 1, p, bad ? 9 : 7);
	done(p);
}

// The frame of a function, below that of its caller.
template <bool BAD> __device__ __noinline__ int sum_of(const int *p, int n)
{
	int a[8], s = 0;
	for (int i = 0; i < 8; i++)
		a[i] = p[i];
	a[p[n]] = 3;
	for (int i = 0; i < n; i++)
		s += a[i]; // !mem_local_frame
	return s;
}

K local_frame(int *p, int n)
{
	int a[16];
	for (int i = 0; i < 16; i++)
		a[i] = p[i];
	a[p[3]] = sum_of<BAD>(p, n);
	p[0] = a[p[4]] + sum_of<BAD>(p, 2);
}

static void mem_local_frame(bool bad)
{
	int *p = alloc(64);
	GO(local_frame, 1, 1, p, bad ? 9 : 8);
	done(p);
}

K vector(int *p)
{
	*(double *)(p + (BAD ? 1 : 4)) = 1; // !mem_vector
}

static void mem_vector(bool bad)
{
	int *p = alloc(64);
	GO(vector, 1, 1, p);
	done(p);
}

K before(int *p)
{
	p[(int)threadIdx.x - BAD] = 1; // !mem_before
}

static void mem_before(bool bad)
{
	int *p = alloc(64);
	GO(before, 1, 64, p);
	done(p);
}

K atomics(int *p)
{
	atomicAdd(&p[threadIdx.x / 2 + (BAD ? 40 : 0)], 1); // !mem_atomic
}

static void mem_atomic(bool bad)
{
	int *p = alloc(64);
	GO(atomics, 1, 64, p);
	done(p);
}

K rows(int *p)
{
	__shared__ int a[4][8], b[4][8];
	int t = threadIdx.x;
	a[t / 8][t % 8] = b[t / 8][t % 8] = t;
	__syncthreads();
	p[t] = b[3 - t / 8][7 - t % 8] + a[(t / 8 + BAD)][t % 8]; // !mem_rows
}

static void mem_rows(bool bad)
{
	int *p = alloc(64);
	GO(rows, 1, 32, p);
	done(p);
}

K copies(char *p, int n)
{
	char buffer[16] = "0123456789abcde";
	memcpy(p, buffer, n); // !mem_memcpy
}

static void mem_memcpy(bool bad)
{
	char *p;
	cudaMalloc(&p, 10);
	GO(copies, 1, 1, p, bad ? 11 : 10);
	cudaDeviceSynchronize();
	cudaFree(p);
}

static void mem_copy(bool bad)
{
	int *p = alloc(64), h[80];
	memset(h, 0, sizeof h);
	cudaMemcpy(p, h, bad ? 260 : 256, cudaMemcpyHostToDevice); // !mem_copy
	done(p);
}

static void mem_set(bool bad)
{
	int *p = alloc(64);
	cudaMemset(p + 1, 0, bad ? 256 : 252); // !mem_set
	done(p);
}

static void mem_copy2d(bool bad)
{
	int *p = alloc(64), h[64];
	cudaMemcpy2D(h, 32, p, bad ? 36 : 32, 32, 8, cudaMemcpyDeviceToHost); // !mem_copy2d
	done(p);
}

static void mem_free_inside(bool bad)
{
	int *p = alloc(64);
	cudaFree(bad ? p + 4 : p); // !mem_free_inside
	if (bad)
		cudaFree(p);
}

static void mem_free_twice(bool bad)
{
	int *p = alloc(64);
	cudaFree(p);
	if (bad)
		cudaFree(p); // !mem_free_twice
}

static void mem_free_host(bool bad)
{
	int *p;
	cudaMallocHost(&p, 64);
	if (bad)
		cudaFree(p); // !mem_free_host
	cudaFreeHost(p);
}

static void mem_symbol(bool bad)
{
	int h[16] = {};
	cudaMemcpyToSymbol(table, h, 40, bad ? 4 : 0); // !mem_symbol
}

K heap()
{
	int *volatile p = (int *)malloc(20);
	p[BAD ? 5 : 4] = 1; // !mem_heap
	free(p);
}

static void mem_heap(bool bad)
{
	GO(heap, 1, 2);
	cudaDeviceSynchronize();
}

K heap_twice()
{
	int *volatile p = (int *)malloc(20);
	free(p);
	if (BAD)
		free(p); // !mem_heap_twice
}

static void mem_heap_twice(bool bad)
{
	GO(heap_twice, 1, 1);
	cudaDeviceSynchronize();
}

__device__ void inner(int *p, int i)
{
	p[i] = i; // !mem_inner
}

K calls(int *p)
{
	inner(p, threadIdx.x + (BAD ? 1 : 0));
}

static void mem_inner(bool bad)
{
	int *p = alloc(64);
	GO(calls, 1, 64, p);
	done(p);
}

// ---- init ----
K sum(int *in, int *out, int n)
{
	int s = 0;
	for (int i = 0; i < n; i++)
		s += in[i]; // !init_partly !init_async !init_device_copy !init_managed
	out[0] = s;
}

static void init_partly(bool bad)
{
	int *p, *o = alloc(1);
	cudaMalloc(&p, 400);
	cudaMemset(p, 0, bad ? 396 : 400);
	GO(sum, 1, 1, p, o, 100);
	done(p);
	cudaFree(o);
}

static void init_async(bool bad)
{
	int *p, *o = alloc(1);
	cudaMallocAsync(&p, 400, 0);
	if (!bad)
		cudaMemsetAsync(p, 0, 400, 0);
	GO(sum, 1, 1, p, o, 100);
	cudaFreeAsync(p, 0);
	cudaDeviceSynchronize();
	cudaFree(o);
}

static void init_back(bool bad)
{
	int *p, h[64];
	cudaMalloc(&p, 256);
	if (!bad)
		cudaMemset(p, 0, 256);
	cudaMemcpy(h, p, 256, cudaMemcpyDeviceToHost);
	cudaFree(p);
}

static void init_device_copy(bool bad)
{
	int *p, *q, *o = alloc(1);
	cudaMalloc(&p, 400);
	cudaMalloc(&q, 400);
	if (!bad)
		cudaMemset(q, 0, 400);
	cudaMemcpy(p, q, 400, cudaMemcpyDeviceToDevice);
	GO(sum, 1, 1, p, o, 100);
	done(p);
	cudaFree(q);
	cudaFree(o);
}

static void init_managed(bool bad)
{
	int *p, *o = alloc(1);
	cudaMallocManaged(&p, 400);
	for (int i = 0; i < (bad ? 99 : 100); i++)
		p[i] = i;
	GO(sum, 1, 1, p, o, 100);
	done(p);
	cudaFree(o);
}

K shared_part(int *o)
{
	__shared__ int s[64];
	if (!BAD || threadIdx.x < 63)
		s[threadIdx.x] = threadIdx.x;
	__syncthreads();
	o[threadIdx.x] = s[63 - threadIdx.x] * 2; // !init_shared
}

static void init_shared(bool bad)
{
	int *p = alloc(64);
	GO(shared_part, 1, 64, p);
	done(p);
}

K local_part(int *o)
{
	int a[4];
	for (int i = 0; i < (BAD ? 3 : 4); i++)
		a[i] = o[i];
	o[0] = a[o[5] + 3] + 1; // !init_local
}

static void init_local(bool bad)
{
	int *p = alloc(64);
	GO(local_part, 1, 1, p);
	done(p);
}

struct Item {
	int kind;
	float value;
};

K fields(Item *in, float *o)
{
	Item x = in[threadIdx.x];
	if (x.kind == 1) // !init_field
		o[threadIdx.x] = x.value;
}

K fill_items(Item *in)
{
	in[threadIdx.x].value = 1;
	if (!BAD)
		in[threadIdx.x].kind = 1;
}

static void init_field(bool bad)
{
	Item *p;
	float *o = (float *)alloc(64);
	cudaMalloc(&p, 64 * sizeof *p);
	GO(fill_items, 1, 64, p);
	GO(fields, 1, 64, p, o);
	cudaDeviceSynchronize();
	cudaFree(p);
	cudaFree(o);
}

K heap_read(int *o)
{
	int *p = (int *)malloc(16);
	for (int i = 0; i < (BAD ? 2 : 4); i++)
		p[i] = 1;
	o[0] = p[o[1] + 3] + 1; // !init_heap
	free(p);
}

static void init_heap(bool bad)
{
	int *p = alloc(64);
	GO(heap_read, 1, 1, p);
	done(p);
}

K counters(int *c)
{
	atomicAdd(&c[threadIdx.x % 8], 1); // !init_atomic
}

static void init_atomic(bool bad)
{
	int *p;
	cudaMalloc(&p, 32);
	if (!bad)
		cudaMemset(p, 0, 32);
	GO(counters, 1, 64, p);
	done(p);
}

K quads(float4 *in, float *o)
{
	float4 v = in[threadIdx.x]; // !init_vector
	o[threadIdx.x] = v.x + v.w;
}

static void init_vector(bool bad)
{
	float4 *p;
	float *o = (float *)alloc(64);
	cudaMalloc(&p, 64 * 16);
	cudaMemset(p, 0, bad ? 64 * 16 - 4 : 64 * 16);
	GO(quads, 1, 64, p, o);
	cudaDeviceSynchronize();
	cudaFree(p);
	cudaFree(o);
}

K index_use(int *in, int *o)
{
	int i = in[threadIdx.x]; // !init_index
	o[i & 63] = 1;
}

static void init_index(bool bad)
{
	int *p, *o = alloc(64);
	cudaMalloc(&p, 256);
	if (!bad)
		cudaMemset(p, 0, 256);
	GO(index_use, 1, 1, p, o);
	done(p);
	cudaFree(o);
}

// ---- race ----
K reduce(int *o)
{
	__shared__ int s[128];
	int t = threadIdx.x;
	s[t] = t;
	__syncthreads();
	for (int n = 64; n; n >>= 1) {
		if (t < n)
			s[t] += s[t + n]; // !race_reduce
		if (!BAD)
			__syncthreads();
	}
	__syncthreads();
	if (!t)
		o[0] = s[0];
}

static void race_reduce(bool bad)
{
	int *p = alloc(64);
	GO(reduce, 1, 128, p);
	done(p);
}

K loop_war(int *o)
{
	__shared__ int s[64];
	int t = threadIdx.x, v = 0;
	for (int i = 0; i < 3; i++) {
		s[t] = i + t; // !race_loop
		__syncthreads();
		v += s[63 - t];
		if (!BAD)
			__syncthreads();
	}
	o[t] = v;
}

static void race_loop(bool bad)
{
	int *p = alloc(64);
	GO(loop_war, 1, 64, p);
	done(p);
}

K blocks(int *o)
{
	if (threadIdx.x == 0) {
		if (BAD)
			o[0] += 1; // !race_blocks
		else
			atomicAdd(o, 1);
	}
}

static void race_blocks(bool bad)
{
	int *p = alloc(1);
	GO(blocks, 8, 32, p);
	done(p);
}

K scope(int *o)
{
	if (BAD)
		atomicAdd_block(o, 1); // !race_scope
	else
		atomicAdd(o, 1);
}

static void race_scope(bool bad)
{
	int *p = alloc(1);
	GO(scope, 8, 32, p);
	done(p);
}

K flagged(int *o)
{
	if (blockIdx.x == 0) {
		if (threadIdx.x == 0) {
			o[0] = 42;
			if (!BAD)
				__threadfence();
			atomicExch(o + 1, 1);
		}
	} else if (threadIdx.x == 0) {
		while (atomicAdd(o + 1, 0) == 0)
			;
		if (!BAD)
			__threadfence();
		o[2] = o[0]; // !race_flag
	}
}

static void race_flag(bool bad)
{
	int *p = alloc(4);
	GO(flagged, 2, 32, p);
	done(p);
}

K histogram(int *in, int *o)
{
	__shared__ int h[16];
	int t = threadIdx.x;
	if (t < 16)
		h[t] = 0;
	__syncthreads();
	if (BAD)
		h[in[t] % 16]++; // !race_histogram
	else
		atomicAdd(&h[in[t] % 16], 1);
	__syncthreads();
	if (t < 16)
		o[t] = h[t];
}

static void race_histogram(bool bad)
{
	int *p = alloc(256);
	GO(histogram, 1, 256, p, p);
	done(p);
}

K last_block(int *in, int *o, unsigned *count)
{
	__shared__ bool last;
	int t = threadIdx.x;
	if (!t) {
		o[1 + blockIdx.x] = in[blockIdx.x];
		if (!BAD)
			__threadfence();
		last = atomicAdd(count, 1) == gridDim.x - 1;
	}
	__syncthreads();
	if (last && !t) {
		if (!BAD)
			__threadfence();
		int s = 0;
		for (unsigned i = 0; i < gridDim.x; i++)
			s += o[1 + i]; // !race_last
		o[0] = s;
	}
}

static void race_last(bool bad)
{
	int *p = alloc(64), *q = alloc(64);
	cudaMemset(p, 1, 128);
	GO(last_block, 8, 32, p, q, (unsigned *)p + 60);
	done(p);
	cudaFree(q);
}

K writes(int *p, int v)
{
	p[threadIdx.x] = v; // !race_streams
}

static void race_streams(bool bad)
{
	int *p = alloc(64);
	cudaStream_t a, b;
	cudaStreamCreate(&a);
	cudaStreamCreate(&b);
	cudaDeviceSynchronize();
	writes<true><<<1, 64, 0, a>>>(p, 1);
	if (!bad)
		cudaStreamSynchronize(a);
	writes<true><<<1, 64, 0, b>>>(p, 2);
	done(p);
	cudaStreamDestroy(a);
	cudaStreamDestroy(b);
}

/* Memory of a stream that another one uses without waiting for it. */
static void race_handed(bool bad)
{
	int *p;
	cudaStream_t a, b;
	cudaEvent_t e;
	cudaStreamCreate(&a);
	cudaStreamCreate(&b);
	cudaEventCreate(&e);
	cudaMallocAsync(&p, 256, a); // !race_handed
	cudaEventRecord(e, a);
	if (!bad)
		cudaStreamWaitEvent(b, e, 0);
	writes<true><<<1, 64, 0, b>>>(p, 2);
	cudaStreamSynchronize(b);
	cudaFreeAsync(p, a);
	cudaStreamSynchronize(a);
	cudaEventDestroy(e);
	cudaStreamDestroy(a);
	cudaStreamDestroy(b);
}

static void race_managed(bool bad)
{
	int *p;
	cudaMallocManaged(&p, 256);
	writes<true><<<1, 64>>>(p, 1);
	if (!bad)
		cudaDeviceSynchronize();
	volatile int v = p[3]; // !race_managed
	(void)v;
	done(p);
}

static void race_pinned(bool bad)
{
	int *p = alloc(64), *h;
	cudaMallocHost(&h, 256);
	cudaStream_t s;
	cudaStreamCreate(&s);
	cudaDeviceSynchronize();
	cudaMemcpyAsync(h, p, 256, cudaMemcpyDeviceToHost, s);
	if (!bad)
		cudaStreamSynchronize(s);
	volatile int v = h[3]; // !race_pinned
	(void)v;
	done(p);
	cudaStreamDestroy(s);
	cudaFreeHost(h);
}

K rotate(int *o)
{
	int t = threadIdx.x, v = o[(t + 1) % 64];
	if (!BAD)
		__syncthreads();
	o[t] = v; // !race_rotate
}

static void race_rotate(bool bad)
{
	int *p = alloc(64), h[64];
	for (int i = 0; i < 64; i++)
		h[i] = i;
	cudaMemcpy(p, h, 256, cudaMemcpyHostToDevice);
	GO(rotate, 1, 64, p);
	done(p);
}

// The values are the same, as it happens.
K stencil(int *o)
{
	int t = threadIdx.x, v = o[t] + o[(t + 1) % 64];
	if (!BAD)
		__syncthreads();
	o[t] = v; // !race_zeros
}

// What a branch that all take chooses is no value that all threads know.
K chosen(int *o)
{
	int t = threadIdx.x, v = 0;
	if (o[t])
		v = t;
	if (!BAD)
		__syncthreads();
	o[(t + 1) % 64] = v; // !race_chosen
}

static void race_chosen(bool bad)
{
	int *p = alloc(64);
	GO(chosen, 1, 64, p);
	done(p);
}

static void race_zeros(bool bad)
{
	int *p = alloc(64);
	GO(stencil, 1, 64, p);
	done(p);
}

// ---- sync ----
K divergent(int *o)
{
	if (!BAD || threadIdx.x < 40)
		__syncthreads(); // !sync_divergent
	o[threadIdx.x] = 1;
}

static void sync_divergent(bool bad)
{
	int *p = alloc(64);
	GO(divergent, 1, 64, p);
	done(p);
}

K trips(int *o)
{
	for (int i = 0; i < (BAD ? 1 + (int)threadIdx.x / 32 : 2); i++) {
		o[threadIdx.x] += i;
		__syncthreads(); // !sync_trips
	}
	o[threadIdx.x] += 5;
}

static void sync_trips(bool bad)
{
	int *p = alloc(64);
	GO(trips, 1, 64, p);
	done(p);
}

K shuffled(int *o)
{
	int t = threadIdx.x, v = t;
	if (!BAD || t < 16)
		v = __shfl_down_sync(0xffffffffu, v, 1); // !sync_shuffle
	o[t] = v;
}

static void sync_shuffle(bool bad)
{
	int *p = alloc(64);
	GO(shuffled, 1, 32, p);
	done(p);
}

K mask_misses(int *o)
{
	int t = threadIdx.x;
	o[t] = __ballot_sync(BAD ? 0xffff : 0xffffffffu, t & 1); // !sync_mask
}

static void sync_mask(bool bad)
{
	int *p = alloc(64);
	GO(mask_misses, 1, 32, p);
	done(p);
}

K warps(int *o)
{
	int t = threadIdx.x;
	if (t % 2 || !BAD)
		__syncwarp(BAD ? 0x55555555 : 0xffffffff); // !sync_syncwarp
	o[t] = 1;
}

static void sync_syncwarp(bool bad)
{
	int *p = alloc(64);
	GO(warps, 1, 32, p);
	done(p);
}

K counted(int *o)
{
	if (!BAD || threadIdx.x >= 32)
		o[threadIdx.x] = __syncthreads_count(threadIdx.x & 1); // !sync_count
	o[threadIdx.x] += 1;
}

static void sync_count(bool bad)
{
	int *p = alloc(64);
	GO(counted, 1, 64, p);
	done(p);
}

K named(int *o)
{
	if (threadIdx.x < 32)
		asm volatile("bar.sync 1, 64;" ::: "memory");
	else
		asm volatile("bar.sync %0, 64;" ::"n"(BAD ? 2 : 1) : "memory"); // !sync_named
	o[threadIdx.x] = 1;
}

static void sync_named(bool bad)
{
	int *p = alloc(64);
	GO(named, 1, 64, p);
	done(p);
}

K spins(int *o)
{
	if (threadIdx.x == 0) {
		if (BAD) {
			while (((volatile int *)o)[0] == 0) // !sync_spin
				;
		}
	}
	o[1] = 1;
}

static void sync_spin(bool bad)
{
	int *p = alloc(64);
	GO(spins, 1, 1, p);
	done(p);
}

// ---- leak ----
K heap_leak()
{
	int *volatile p = (int *)malloc(24);
	*p = 1;
	if (!BAD)
		free(p);
}

static void leak_heap(bool bad)
{
	GO(heap_leak, 1, 1);
	cudaDeviceSynchronize();
}

static void leak_malloc(bool bad)
{
	int *p;
	cudaMalloc(&p, 64); // !leak_malloc
	if (!bad)
		cudaFree(p);
}

static void leak_pinned(bool bad)
{
	int *p;
	cudaMallocHost(&p, 64); // !leak_pinned
	if (!bad)
		cudaFreeHost(p);
}

static void leak_managed(bool bad)
{
	int *p;
	cudaMallocManaged(&p, 64); // !leak_managed
	if (!bad)
		cudaFree(p);
}

static void leak_async(bool bad)
{
	int *p;
	cudaMallocAsync(&p, 64, 0); // !leak_async
	if (!bad)
		cudaFreeAsync(p, 0);
	cudaDeviceSynchronize();
}

static void leak_array(bool bad)
{
	cudaArray_t a;
	cudaChannelFormatDesc d = cudaCreateChannelDesc<float>();
	cudaMallocArray(&a, &d, 16, 16); // !leak_array
	if (!bad)
		cudaFreeArray(a);
}

static void leak_pitch(bool bad)
{
	void *p;
	size_t n;
	cudaMallocPitch(&p, &n, 100, 4); // !leak_pitch
	if (!bad)
		cudaFree(p);
}

static void leak_registered(bool bad)
{
	static int h[4096];
	cudaHostRegister(h, sizeof h, 0); // !leak_registered
	if (!bad)
		cudaHostUnregister(h);
}

// ---- api ----
static void api_threads(bool bad)
{
	int *p = alloc(2048);
	plain<true><<<1, bad ? 2048 : 1024>>>(p); // !api_threads
	done(p);
}

static void api_shared(bool bad)
{
	int *p = alloc(64);
	plain<true><<<1, 64, bad ? 400000 : 4000>>>(p); // !api_shared
	done(p);
}

static void api_grid(bool bad)
{
	int *p = alloc(64);
	plain<true><<<bad ? 0 : 1, 64>>>(p); // !api_grid
	done(p);
}

static void api_device(bool bad)
{
	cudaSetDevice(bad ? 77 : 0); // !api_device
}

static void api_kind(bool bad)
{
	int *p = alloc(64), h[64];
	cudaMemcpy(h, p, 256, bad ? (cudaMemcpyKind)9 : cudaMemcpyDeviceToHost); // !api_kind
	done(p);
}

static void api_huge(bool bad)
{
	void *p = nullptr;
	cudaMalloc(&p, bad ? (size_t)1 << 50 : 64); // !api_huge
	cudaFree(p);
}

static void api_event(bool bad)
{
	cudaEvent_t a, b;
	float ms;
	cudaEventCreate(&a);
	cudaEventCreate(&b);
	cudaEventRecord(a);
	if (!bad)
		cudaEventRecord(b);
	cudaDeviceSynchronize();
	cudaEventElapsedTime(&ms, a, b); // !api_event
	cudaEventDestroy(a);
	cudaEventDestroy(b);
}

static void api_attribute(bool bad)
{
	auto what = cudaFuncAttributeMaxDynamicSharedMemorySize;

	cudaFuncSetAttribute(plain<true>, what, bad ? 1 << 20 : 40000); // !api_attribute
}

static void api_destroyed(bool bad)
{
	cudaStream_t s;
	cudaStreamCreate(&s);
	cudaStreamDestroy(s);
	if (bad)
		cudaStreamSynchronize((cudaStream_t)0x1234567); // !api_destroyed
}

int main(int argc, char **argv)
{
	bool bad = !strcmp(argv[2], "bad");
#define CASE(n)                                                                                              \
	if (!strcmp(argv[1], #n))                                                                            \
		n(bad);
#include "planted.inc"
	return 0;
}
