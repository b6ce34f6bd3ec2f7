/*
 * Kernels of `make bench`. bench.ptx beside this file is made by:
 *     nvcc -ptx -arch=compute_80 -o bench.ptx bench.cu
 */
extern "C" __global__ void vadd(const float *a, const float *b, float *c, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		c[i] = a[i] + b[i];
}

/* Shared-memory tiles of 16 x 16; n is a multiple of 16. */
extern "C" __global__ void sgemm(const float *a, const float *b, float *c, int n)
{
	__shared__ float as[16][16], bs[16][16];
	int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 16 + ty, col = blockIdx.x * 16 + tx;
	float sum = 0;

	for (int t = 0; t < n; t += 16) {
		as[ty][tx] = a[row * n + t + tx];
		bs[ty][tx] = b[(t + ty) * n + col];
		__syncthreads();
#pragma unroll
		for (int k = 0; k < 16; k++)
			sum += as[ty][k] * bs[k][tx];
		__syncthreads();
	}
	c[row * n + col] = sum;
}

extern "C" __global__ void mandel(int *out, int w, int h, int limit)
{
	int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, i = 0;
	float cr = -2.2f + 3.0f * x / w, ci = -1.5f + 3.0f * y / h, zr = 0, zi = 0;

	if (x >= w || y >= h)
		return;
	while (i < limit && zr * zr + zi * zi < 4.0f) {
		float t = zr * zr - zi * zi + cr;

		zi = 2 * zr * zi + ci;
		zr = t;
		i++;
	}
	out[y * w + x] = i;
}

/* 64 rounds of xorshift and a linear congruence, then a warp sum. */
extern "C" __global__ void hash(unsigned *out, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	unsigned x = i * 2654435761u + 12345u;

	if (i >= n)
		return;
	for (int k = 0; k < 64; k++) {
		x ^= x << 13;
		x ^= x >> 17;
		x ^= x << 5;
		x = x * 1664525u + 1013904223u;
	}
	for (int o = 16; o; o >>= 1)
		x += __shfl_down_sync(0xffffffffu, x, o);
	if ((i & 31) == 0)
		atomicAdd(out, x);
}

/* Five-point stencil in double precision over an n x n grid. */
extern "C" __global__ void stencil(const double *in, double *out, int n)
{
	int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;

	if (x < 1 || y < 1 || x >= n - 1 || y >= n - 1)
		return;
	out[y * n + x] = 0.5 * in[y * n + x] +
			 0.125 * (in[y * n + x - 1] + in[y * n + x + 1] + in[(y - 1) * n + x] + in[(y + 1) * n + x]);
}

/* Sum of n numbers: shared memory tree, one atomic per block. */
extern "C" __global__ void reduce(const unsigned *in, unsigned *out, int n)
{
	__shared__ unsigned s[256];
	unsigned sum = 0;

	for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
		sum += in[i];
	s[threadIdx.x] = sum;
	__syncthreads();
	for (int o = 128; o; o >>= 1) {
		if (threadIdx.x < o)
			s[threadIdx.x] += s[threadIdx.x + o];
		__syncthreads();
	}
	if (threadIdx.x == 0)
		atomicAdd(out, s[0]);
}
