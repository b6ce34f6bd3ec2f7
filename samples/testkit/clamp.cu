/*
 * Device coverage: the last, partial warp of f<float> runs the store with some of its lanes, the
 * body of `n < 0` is never run, and f<int> is never launched. clamp [N]
 */
#include <stdio.h>
#include <stdlib.h>

template <typename T> __device__ T clampv(T v, T low, T high)
{
	if (v < low)
		return low;
	if (v > high)
		return high;
	return v;
}

template <typename T> __global__ void f(T *x, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		x[i] = clampv(x[i], T(-1), T(1));
	else if (n < 0)
		x[0] = -1;
}

template __global__ void f<int>(int *x, int n);

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 100;
	float *x, *host = (float *)calloc(n > 0 ? n : 1, sizeof(float));

	if (n < 1 || !host)
		return 2;
	for (int i = 0; i < n; i++)
		host[i] = i - n / 2;
	if (cudaMalloc(&x, n * sizeof(float)) ||
	    cudaMemcpy(x, host, n * sizeof(float), cudaMemcpyHostToDevice))
		return 1;
	f<float><<<(n + 127) / 128, 128>>>(x, n);
	if (cudaMemcpy(host, x, n * sizeof(float), cudaMemcpyDeviceToHost))
		return 1;
	for (int i = 0; i < n; i++) {
		float v = i - n / 2, want = v < -1 ? -1 : v > 1 ? 1 : v;

		if (host[i] != want)
			return 1;
	}
	puts("clamp: right");
	free(host);
	return 0;
}
