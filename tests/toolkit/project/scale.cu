#include <cuda_runtime.h>

__global__ void scale(float *x, float factor, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		x[i] *= factor;
}

/* Returns an error of CUDA. */
int scale_all(float *x, float factor, int n)
{
	float *on_device;

	if (cudaMalloc(&on_device, n * sizeof(*x)))
		return cudaGetLastError();
	cudaMemcpy(on_device, x, n * sizeof(*x), cudaMemcpyHostToDevice);
	scale<<<(n + 63) / 64, 64>>>(on_device, factor, n);
	cudaMemcpy(x, on_device, n * sizeof(*x), cudaMemcpyDeviceToHost);
	cudaFree(on_device);
	return cudaGetLastError();
}
