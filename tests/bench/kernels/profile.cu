/* Kernels of `make bench` for profiles; profile.ptx is this, compiled for sm_80. */

extern "C" __global__ void histogram(const unsigned *in, unsigned *out, unsigned n)
{
	__shared__ unsigned bins[256];
	unsigned t = threadIdx.x;

	bins[t] = 0;
	__syncthreads();
	for (unsigned i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x)
		atomicAdd(&bins[in[i] >> 24], 1u);
	__syncthreads();
	atomicAdd(&out[t], bins[t]);
}

/* n: a power of two, less one */
extern "C" __global__ void gather(const unsigned *at, const float *in, float *out, unsigned n)
{
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x, where = at[i];
	float sum = 0;

	for (int k = 0; k < 8; k++) {
		where = where * 1664525u + 1013904223u;
		sum += in[where >> 8 & n];
	}
	out[i] = sum;
}
