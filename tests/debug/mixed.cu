// Kernels of several kinds, one for each argument: templates, bit-fields, an unnamed namespace, assertions, CTAs that wait.
#include <cassert>
#include <cstdio>
#include <cstdlib>
#define BINS 16
template <typename T, int Step> __global__ void histogram(const T *data, int n, unsigned *bins)
{
	__shared__ unsigned local[BINS];
	int t = threadIdx.x;
	if (t < BINS)
		local[t] = 0;
	__syncthreads();
	for (int i = t; i < n; i += Step) {
		T v = data[i];
		atomicAdd(&local[v % BINS], 1u);
	}
	__syncthreads();
	if (t < BINS)
		atomicAdd(&bins[t], local[t]);
}
struct Cell {
	unsigned flags : 4, kind : 12;
	float weight;
};
__device__ Cell cells[8];
__global__ void mark(Cell *all, int turn)
{
	int t = threadIdx.x;
	all[t].flags = turn;
	all[t].kind = 100 + t;
	all[t].weight = all[t].weight + turn * 0.5f;
}
namespace {
template <int N> __global__ void hidden(int *out)
{
	int t = threadIdx.x;
	out[t] = t * N;
}
}
__global__ void checked(const int *p, int n)
{
	int t = threadIdx.x;
	int v = p[t];
	assert(v < n);
}
__global__ void wait_for_each_other(volatile int *flag)
{
	int b = blockIdx.x;
	while (flag[b] == 0)
		;
	flag[1 - b] = 1;
}
extern __shared__ int sums[];
__global__ void dynamic(int *out)
{
	int t = threadIdx.x;
	sums[t] = t * 16;
	__syncthreads();
	int i = (t + 1) % 32;
	atomicAdd(&sums[i], 1);
	out[t] = sums[t];
}
int main(int argc, char **argv)
{
	int h[64], *d;
	Cell *c;
	for (int i = 0; i < 64; i++)
		h[i] = i * i % 23;
	cudaMalloc(&d, sizeof(h));
	cudaMemcpy(d, h, sizeof(h), cudaMemcpyHostToDevice);
	cudaGetSymbolAddress((void **)&c, cells);
	switch (argc > 1 ? atoi(argv[1]) : 0) {
	case 0:
		histogram<int, 32><<<1, 32>>>(d, 64, (unsigned *)d);
		histogram<short, 16><<<1, 16>>>((short *)d, 64, (unsigned *)d);
		break;
	case 1:
		mark<<<1, 8>>>(c, 1);
		mark<<<1, 8>>>(c, 2);
		break;
	case 2: hidden<3><<<1, 32>>>(d); break;
	case 3: checked<<<1, 4>>>(d, 5); break;
	case 5: dynamic<<<1, 32, 128>>>(d); break;
	case 4:
		cudaMemset(d, 0, sizeof(h));
		wait_for_each_other<<<2, 1>>>(d);
		break;
	}
	printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
	return 0;
}
