// One mistake for each kind of finding that a program can have, to try the checks with: docs/findings.md shows what they
// say about each, and the cure.
//     ptxloom cc -g -lineinfo -arch=sm_80 samples/checks/checks.cu -o checks
//     ptxloom check ./checks race
#include <cuda_runtime.h>

#include <cstdio>
#include <cstring>

static int *zeros(int n)
{
	int *p;

	cudaMalloc(&p, n * sizeof(int));
	cudaMemset(p, 0, n * sizeof(int));
	return p;
}

static void finish(int *p)
{
	cudaDeviceSynchronize();
	cudaFree(p);
}

// ---- memory ----

__global__ void fill(int *p, int n)
{
	for (int i = threadIdx.x; i <= n; i += blockDim.x)
		p[i] = i;
}

static void invalid_access()
{
	int *p = zeros(100);

	fill<<<1, 32>>>(p, 100);
	finish(p);
}

__global__ void get_number(const char *text, int *out)
{
	*out = *(const int *)(text + 1);
}

static void misaligned_access()
{
	int *p = zeros(8);

	get_number<<<1, 1>>>((char *)p, p + 4);
	finish(p);
}

__global__ void decode(const int *code)
{
	if (code[threadIdx.x] != 1)
		__trap();
}

static void fault()
{
	int *p = zeros(32);

	decode<<<1, 32>>>(p);
	finish(p);
}

static void invalid_call()
{
	int *p = zeros(64), host[65] = {0};

	cudaMemcpy(p, host, sizeof(host), cudaMemcpyHostToDevice);
	cudaFree(p);
}

static void leak()
{
	int *p = zeros(64);

	p = zeros(128);
	cudaFree(p);
}

static void api_error()
{
	int *p = zeros(64);

	fill<<<1, 2048>>>(p, 63);
	finish(p);
}

// ---- values ----

__global__ void sum(const int *in, int n, int *out)
{
	int s = 0;

	for (int i = 0; i < n; i++)
		s += in[i];
	*out = s;
}

static void uninitialized()
{
	int *p, *o = zeros(1);

	cudaMalloc(&p, 400);
	cudaMemset(p, 0, 100);
	sum<<<1, 1>>>(p, 100, o);
	finish(p);
	cudaFree(o);
}

static void uninitialized_copy()
{
	int *p, host[64];

	cudaMalloc(&p, sizeof(host));
	cudaMemcpy(host, p, sizeof(host), cudaMemcpyDeviceToHost);
	cudaFree(p);
}

static void unused_memory()
{
	int *p;

	cudaMalloc(&p, 400);
	cudaMemset(p, 0, 100);
	cudaFree(p);
}

// ---- races ----

__global__ void reverse(int *p)
{
	__shared__ int s[64];

	s[threadIdx.x] = p[threadIdx.x];
	p[threadIdx.x] = s[63 - threadIdx.x];
}

static void race()
{
	int *p = zeros(64);

	reverse<<<1, 64>>>(p);
	finish(p);
}

__global__ void put(int *p, int value)
{
	p[threadIdx.x] = value;
}

static void stream_race()
{
	int *p = zeros(64);
	cudaStream_t a, b;

	cudaStreamCreate(&a);
	cudaStreamCreate(&b);
	put<<<1, 64, 0, a>>>(p, 1);
	put<<<1, 64, 0, b>>>(p, 2);
	finish(p);
	cudaStreamDestroy(a);
	cudaStreamDestroy(b);
}

static void host_race()
{
	int *p;

	cudaMallocManaged(&p, 256);
	put<<<1, 64>>>(p, 1);
	printf("%d\n", p[0]);
	finish(p);
}

// ---- synchronisation ----

__global__ void half_a_barrier(int *p)
{
	if (threadIdx.x < 32)
		__syncthreads();
	p[threadIdx.x] = 1;
}

static void barrier_divergence()
{
	int *p = zeros(64);

	half_a_barrier<<<1, 64>>>(p);
	finish(p);
}

__global__ void odd_barrier(int *p, int threads)
{
	asm volatile("bar.sync 1, %0;" ::"r"(threads) : "memory");
	p[threadIdx.x] = 1;
}

static void barrier_argument()
{
	int *p = zeros(64);

	odd_barrier<<<1, 64>>>(p, 40);
	finish(p);
}

__device__ unsigned shared_address(void *p)
{
	return (unsigned)__cvta_generic_to_shared(p);
}

__global__ void init_by_all(int *p)
{
	__shared__ unsigned long long bar;

	asm volatile("mbarrier.init.shared.b64 [%0], 64;" ::"r"(shared_address(&bar)) : "memory");
	__syncthreads();
	p[threadIdx.x] = 1;
}

static void mbarrier()
{
	int *p = zeros(64);

	init_by_all<<<1, 64>>>(p);
	finish(p);
}

__global__ void stage(int *p)
{
	__shared__ int s[64];

	asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(shared_address(s + threadIdx.x)),
		     "l"(p + threadIdx.x)
		     : "memory");
	asm volatile("cp.async.commit_group;" ::: "memory");
	p[64 + threadIdx.x] = s[threadIdx.x];
}

static void async_copy()
{
	int *p = zeros(128);

	stage<<<1, 64>>>(p);
	finish(p);
}

__global__ void shuffle_in_branch(int *p)
{
	if (threadIdx.x < 16)
		p[threadIdx.x] = __shfl_down_sync(0xffffffff, threadIdx.x, 1);
}

static void warp_mask()
{
	int *p = zeros(32);

	shuffle_in_branch<<<1, 32>>>(p);
	finish(p);
}

__global__ void wait_for_later(volatile int *flag)
{
	if (threadIdx.x == 0) {
		while (*flag == 0)
			;
	}
	__syncthreads();
	if (threadIdx.x == 32)
		*flag = 1;
}

static void deadlock()
{
	int *p = zeros(1);

	wait_for_later<<<1, 64>>>(p);
	finish(p);
}

static const struct {
	const char *name;
	void (*run)();
} mistakes[] = {
	{"invalid-access", invalid_access},
	{"misaligned-access", misaligned_access},
	{"fault", fault},
	{"invalid-call", invalid_call},
	{"leak", leak},
	{"api-error", api_error},
	{"uninitialized", uninitialized},
	{"uninitialized-copy", uninitialized_copy},
	{"unused-memory", unused_memory},
	{"race", race},
	{"stream-race", stream_race},
	{"host-race", host_race},
	{"barrier-divergence", barrier_divergence},
	{"barrier-argument", barrier_argument},
	{"mbarrier", mbarrier},
	{"async-copy", async_copy},
	{"warp-mask", warp_mask},
	{"deadlock", deadlock},
};

int main(int argc, char **argv)
{
	for (const auto &m : mistakes)
		if (argc == 2 && !strcmp(argv[1], m.name))
			return m.run(), 0;
	fputs("usage: checks KIND\n", stderr);
	for (const auto &m : mistakes)
		fprintf(stderr, "  %s\n", m.name);
	return 2;
}
