/*
 * Two units, linked as device code: the kernel is in one (-DUNIT=1), a function, a constant and a
 * variable that it uses in the other.
 */
#include <cstdio>

#if UNIT == 1

extern __constant__ int factor[2];
extern __device__ int count;
extern __device__ int times(int x, int y);

__global__ void work(int *out)
{
	out[threadIdx.x] = times(threadIdx.x, factor[threadIdx.x & 1]);
	if (out[threadIdx.x] > 50)
		atomicAdd(&count, 1);
}

int main()
{
	int *out, got[32], counted = 0, bad = 0;

	if (cudaMalloc(&out, sizeof(got)))
		return 1;
	work<<<1, 32>>>(out);
	if (cudaMemcpy(got, out, sizeof(got), cudaMemcpyDeviceToHost) ||
	    cudaMemcpyFromSymbol(&counted, count, sizeof(counted)))
		return 1;
	for (int i = 0; i < 32; i++) {
		bad += got[i] != i * (i & 1 ? 5 : 3);
		counted -= i * (i & 1 ? 5 : 3) > 50;
	}
	printf(bad || counted ? "wrong\n" : "all right\n");
	return bad || counted;
}

#else

__constant__ int factor[2] = {3, 5};
__device__ int count;

__device__ int times(int x, int y)
{
	return x * y;
}

#endif
