// The same race in two launches, and another in the second one.
#include <cstdio>
__global__ void mix(int *out, int both)
{
	__shared__ int part[64];
	int t = threadIdx.x;
	part[t] = 0;
	__syncthreads();
	part[t] = t;
	out[t] = part[63 - t];
	part[t] = 2 * t;
	__syncthreads();
	if (both)
		part[t] = out[t];
	if (both)
		out[t] = part[t ^ 32];
}
int main()
{
	int *out;
	cudaMalloc(&out, 256);
	mix<<<1, 64>>>(out, 0);
	mix<<<1, 64>>>(out, 1);
	printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
	return 0;
}
