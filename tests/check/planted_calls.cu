// As planted.cu: mistakes inside of what the toolkit's headers have, whose lines are the callers', also as `nvcc -G`
// builds them, where such functions are called; and mistakes of other kinds that compilers hide.
#include <alloca.h>
#include <cstdio>
#include <cstring>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#define K template <bool BAD> __global__ void
#define GO(k, g, b, ...)                                                                                     \
	do {                                                                                                 \
		if (bad)                                                                                     \
			k<true><<<g, b>>>(__VA_ARGS__);                                                      \
		else                                                                                         \
			k<false><<<g, b>>>(__VA_ARGS__);                                                     \
	} while (0)
#ifdef __clang__
#define ALLOCA(n) alloca(32) // version 14 has no others
#else
#define ALLOCA(n) alloca(n)
#endif

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

K shuffle(int *p)
{
	int v = threadIdx.x;

	v += __shfl_xor_sync(0xffffffff, v, 1);
	v += __shfl_xor_sync(0xffffffff, v, 2);
	if (!BAD || threadIdx.x < 16)
		v += __shfl_xor_sync(0xffffffff, v, 4); // !sync_shuffle_again
	p[threadIdx.x] = v;
}

static void sync_shuffle_again(bool bad)
{
	int *p = alloc(32);
	GO(shuffle, 1, 32, p);
	done(p);
}

K source(int *p)
{
	int v = 0;

	if (threadIdx.x < 16)
		v = __shfl_sync(0xffff, threadIdx.x, BAD ? 20 : 3); // !sync_shuffle_source
	p[threadIdx.x] = v;
}

static void sync_shuffle_source(bool bad)
{
	int *p = alloc(32);
	GO(source, 1, 32, p);
	done(p);
}

K load(int *p, int at)
{
	p[0] = __ldg(p + at / 2);
	p[1] = __ldg(p + at); // !mem_load_in_header
}

static void mem_load_in_header(bool bad)
{
	int *p = alloc(64);
	GO(load, 1, 1, p, bad ? 64 : 63);
	done(p);
}

K surface(cudaSurfaceObject_t s, int x)
{
	surf2Dwrite(1, s, 0, threadIdx.x);
	surf2Dwrite(1, s, x * 4, threadIdx.x); // !mem_surface_in_header
}

static void mem_surface_in_header(bool bad)
{
	cudaChannelFormatDesc d = cudaCreateChannelDesc<int>();
	cudaResourceDesc r = {};
	cudaSurfaceObject_t s;
	cudaArray_t a;
	cudaMallocArray(&a, &d, 16, 16, cudaArraySurfaceLoadStore);
	r.resType = cudaResourceTypeArray;
	r.res.array.array = a;
	cudaCreateSurfaceObject(&s, &r);
	GO(surface, 1, 16, s, bad ? 16 : 15);
	cudaDeviceSynchronize();
	cudaDestroySurfaceObject(s);
	cudaFreeArray(a);
}

K scope(int *p)
{
	atomicAdd(p + 1, 1);
	if (BAD)
		atomicAdd_block(p, 1); // !race_scope_in_header
	else
		atomicAdd(p, 1);
}

static void race_scope_in_header(bool bad)
{
	int *p = alloc(64);
	GO(scope, 2, 64, p);
	done(p);
}

K counted(int *p)
{
	__shared__ int c;

	if (!BAD && threadIdx.x == 0)
		c = 0;
	__syncthreads();
	atomicAdd(&c, 1); // !init_atomic_in_header
	__syncthreads();
	p[threadIdx.x] = c;
}

static void init_atomic_in_header(bool bad)
{
	int *p = alloc(32);
	GO(counted, 1, 32, p);
	done(p);
}

K ballot(const int *p, int *o)
{
	unsigned m = __ballot_sync(0xffffffff, p[threadIdx.x] > 0); // !init_ballot

	if (threadIdx.x == 0)
		*o = __popc(m);
}

static void init_ballot(bool bad)
{
	int *p, *o = alloc(1);
	cudaMalloc(&p, 128);
	cudaMemset(p, 0, bad ? 124 : 128);
	GO(ballot, 1, 32, p, o);
	done(p);
	cudaFree(o);
}

// What the undefined lanes say is masked away.
K ballot_masked(const int *p, int *o)
{
	unsigned m = __ballot_sync(0xffffffff, p[threadIdx.x] > 0);

	if (threadIdx.x == 0)
		*o = __popc(m & (BAD ? 0xffffffff : 0x00ffffff));
}

static void init_ballot_masked(bool bad)
{
	int *p, *o = alloc(1);
	cudaMalloc(&p, 128);
	cudaMemset(p, 0, 96);
	GO(ballot_masked, 1, 32, p, o);
	done(p);
	cudaFree(o);
}

K sum(const int *p, int *o, int n)
{
	int s = 0;

	for (int i = 0; i < n; i++)
		s += p[i]; // !init_pinned !init_pinned_copied
	*o = s;
}

static void init_pinned(bool bad)
{
	int *p, *o = alloc(1);
	cudaHostAlloc(&p, 256, cudaHostAllocMapped);
	memset(p, 0, bad ? 252 : 256);
	GO(sum, 1, 1, p, o, 64);
	done(o);
	cudaFreeHost(p);
}

static void init_pinned_copied(bool bad)
{
	int *h, *p, *o = alloc(1);
	cudaMallocHost(&h, 256);
	cudaMalloc(&p, 256);
	memset(h, 0, bad ? 252 : 256);
	cudaMemcpy(p, h, 256, cudaMemcpyHostToDevice);
	GO(sum, 1, 1, p, o, 64);
	done(p);
	cudaFree(o);
	cudaFreeHost(h);
}

K on_stack(int *p, int n)
{
	int *a = (int *)ALLOCA(n * 4), *b = (int *)ALLOCA(n * 4);

	for (int i = 0; i < n + BAD; i++)
		a[i] = p[i]; // !mem_alloca
	for (int i = 0; i < n; i++)
		b[i] = p[i + 1];
	p[0] = a[p[3]] + b[p[4]];
}

static void mem_alloca(bool bad)
{
	int *p = alloc(64);
	GO(on_stack, 1, 1, p, 8);
	done(p);
}

K before_on_stack(int *p, int n)
{
	int *a = (int *)ALLOCA(n * 4), *b = (int *)ALLOCA(n * 4);

	for (int i = 0; i < n; i++)
		a[i] = b[i] = p[i];
	b[p[5] - BAD] = 1; // !mem_alloca_before
	p[0] = a[p[3]] + b[p[4]];
}

static void mem_alloca_before(bool bad)
{
	int *p = alloc(64);
	GO(before_on_stack, 1, 1, p, 8);
	done(p);
}

K lock_twice(int *lock, int *n)
{
	if (threadIdx.x)
		return;
	while (atomicCAS(lock, 0, 1) != 0)
		;
	if (BAD)
		while (atomicCAS(lock, 0, 1) != 0)
			;
	__threadfence();
	++*n;
	__threadfence();
	atomicExch(lock, 0);
}

static void sync_lock_twice(bool bad)
{
	int *p = alloc(2);
	GO(lock_twice, 2, 32, p, p + 1);
	done(p);
}

int main(int argc, char **argv)
{
	bool bad = !strcmp(argv[2], "bad");
#define CASE(n)                                                                                              \
	if (!strcmp(argv[1], #n))                                                                            \
		n(bad);
#include "planted_calls.inc"
	return 0;
}
