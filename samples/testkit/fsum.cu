/*
 * 512 CTAs add 100,000 floats to one. The sum depends on their order, which `ptxloom run --stable`
 * sets. Prints its bits.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

__global__ void sum(const float *x, int n, float *total)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		atomicAdd(total, x[i]);
}

int main()
{
	const int n = 100000, block = 196;
	static float x[n];
	float *dx, *dtotal, total;
	uint32_t bits, state = 1;

	for (float &v : x) {
		state = state * 1664525u + 1013904223u;
		v = (float)(state >> 8) / 16777216.0f - 0.25f;
	}
	if (cudaMalloc(&dx, sizeof(x)) || cudaMalloc(&dtotal, sizeof(float)) ||
	    cudaMemcpy(dx, x, sizeof(x), cudaMemcpyHostToDevice) ||
	    cudaMemset(dtotal, 0, sizeof(float)))
		return 1;
	sum<<<512, block>>>(dx, n, dtotal);
	if (cudaMemcpy(&total, dtotal, sizeof(total), cudaMemcpyDeviceToHost))
		return 1;
	memcpy(&bits, &total, sizeof(bits));
	printf("%08x\n", bits);
	return total > 24000 && total < 26000 ? 0 : 1;
}
