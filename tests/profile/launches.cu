/* Launches of two kernels in two streams, for tests of what profiles say of them. */
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <csignal>

__device__ __forceinline__ float scaled(const float *p, int i)
{
	return p[i] * 2;
}

__global__ void row(const float *in, float *out)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	out[i] = scaled(in, i) + __ldg(in + i); /* of a header */
}

template <int STRIDE> __global__ void apart(const float *in, float *out)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	out[i] = in[i * STRIDE];
}

int main(int argc, char **argv)
{
	float *in, *out;
	cudaStream_t stream;

	cudaMalloc(&in, 1 << 20);
	cudaMalloc(&out, 1 << 20);
	cudaMemset(in, 0, 1 << 20);
	cudaStreamCreate(&stream);
	row<<<4, 64>>>(in, out);
	apart<8><<<4, 64, 0, stream>>>(in, out);
	cudaDeviceSynchronize();
	if (argc > 1 && *argv[1] == 'k')
		raise(SIGKILL);
	row<<<8, 64>>>(in, out);
	apart<8><<<2, 64, 0, stream>>>(in, out);
	printf("done %d\n", (int)cudaDeviceSynchronize());
	return argc > 1 ? atoi(argv[1]) : 0;
}
