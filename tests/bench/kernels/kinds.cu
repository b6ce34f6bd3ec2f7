/*
 * Kinds of kernels that are compared with C and with OpenCL. kinds.ptx beside this file is made by:
 *     nvcc -ptx -arch=compute_80 -o kinds.ptx kinds.cu
 */
typedef unsigned char u8;

extern "C" __global__ void axpy(const float *x, const float *y, float *out, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		out[i] = 2.5f * x[i] + y[i];
}

/* Several operations on what is loaded once. */
extern "C" __global__ void chain(const float *x, const float *y, float *out, int n)
{
	size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;

	if (i < n) {
		float a = x[i], b = y[i], s = a * b + 0.5f, d = a - b;

		s = s * d + a;
		d = fmaxf(d, s) * 0.25f;
		out[i] = sqrtf(fabsf(s + d)) + b;
	}
}

/* Five points, single precision. */
extern "C" __global__ void jacobi(const float *in, float *out, int n)
{
	int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;

	if (x > 0 && y > 0 && x < n - 1 && y < n - 1)
		out[y * n + x] = 0.2f * (in[y * n + x] + in[y * n + x - 1] + in[y * n + x + 1] +
					 in[(y - 1) * n + x] + in[(y + 1) * n + x]);
}

/* Seven points of a cube, double precision, marching along z. */
extern "C" __global__ void heat(const double *in, double *out, int n)
{
	int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, plane = n * n;

	if (x < 1 || y < 1 || x >= n - 1 || y >= n - 1)
		return;
	for (int z = 1; z < n - 1; z++) {
		int i = z * plane + y * n + x;

		out[i] = 0.4 * in[i] + 0.1 * (in[i - 1] + in[i + 1] + in[i - n] + in[i + n] + in[i - plane] + in[i + plane]);
	}
}

/* Sparse matrix (compressed rows) times vector, a row per thread. */
extern "C" __global__ void csr(const int *begin, const int *column, const float *value, const float *x, float *out,
			       int n)
{
	int row = blockIdx.x * blockDim.x + threadIdx.x;

	if (row < n) {
		float sum = 0;

		for (int k = begin[row]; k < begin[row + 1]; k++)
			sum += value[k] * x[column[k]];
		out[row] = sum;
	}
}

/* Bytes into 256 counters of the block, then those of the grid. */
extern "C" __global__ void histogram(const u8 *in, unsigned *out, int n)
{
	__shared__ unsigned count[256];

	for (int i = threadIdx.x; i < 256; i += blockDim.x)
		count[i] = 0;
	__syncthreads();
	for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
		atomicAdd(&count[in[i]], 1);
	__syncthreads();
	for (int i = threadIdx.x; i < 256; i += blockDim.x)
		atomicAdd(&out[i], count[i]);
}

/* Atomics of all blocks on a few words. */
extern "C" __global__ void crowd(const unsigned *in, unsigned *out, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		atomicAdd(&out[in[i] & 63], in[i] >> 16);
}

/* Vectors of four by index, vectors of two by another. */
extern "C" __global__ void gather(const float4 *a, const float2 *b, const int *index, float *out, int n, int mask)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n) {
		float4 v = a[index[i] & mask];
		float2 w = b[index[i] >> 8 & mask];

		out[i] = v.x * w.x + v.y * w.y + v.z - v.w;
	}
}

/* Sums of rows by pointers that move, as the standard library's algorithms do. */
extern "C" __global__ void walk(const float *in, float *out, long n, long rows)
{
	long r = blockIdx.x * (long)blockDim.x + threadIdx.x;

	if (r < rows) {
		float sum = 0;

#pragma unroll 1
		for (const float *p = in + r, *end = p + n * rows; p != end; p += rows)
			sum += *p;
		out[r] = sum;
	}
}

extern "C" __global__ void nbody(const float4 *body, float4 *force, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	__shared__ float4 tile[128];
	float4 me = body[i];
	float x = 0, y = 0, z = 0;

	for (int t = 0; t < n; t += 128) {
		tile[threadIdx.x] = body[t + threadIdx.x];
		__syncthreads();
		for (int k = 0; k < 128; k++) {
			float dx = tile[k].x - me.x, dy = tile[k].y - me.y, dz = tile[k].z - me.z;
			float r = rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f), s = tile[k].w * r * r * r;

			x += dx * s;
			y += dy * s;
			z += dz * s;
		}
		__syncthreads();
	}
	force[i] = make_float4(x, y, z, 0);
}

/* Blocks of 512 keys sorted in shared memory. */
extern "C" __global__ void bitonic(const unsigned *in, unsigned *out, int n)
{
	__shared__ unsigned s[512];
	int t = threadIdx.x;

	s[t] = in[blockIdx.x * 512 + t];
	for (int k = 2; k <= 512; k *= 2)
		for (int j = k / 2; j > 0; j /= 2) {
			int p = t ^ j;

			__syncthreads();
			if (p > t && (s[t] > s[p]) == ((t & k) == 0)) {
				unsigned v = s[t];

				s[t] = s[p];
				s[p] = v;
			}
		}
	__syncthreads();
	out[blockIdx.x * 512 + t] = s[t];
}

__constant__ float weight[25] = {1, 2, 3, 2, 1, 2, 4, 6, 4, 2, 3, 6, 9, 6, 3, 2, 4, 6, 4, 2, 1, 2, 3, 2, 1};

/* Five by five, clamped at the edges. */
extern "C" __global__ void convolve(const float *in, float *out, int w, int h)
{
	int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
	float sum = 0;

	if (x >= w || y >= h)
		return;
	for (int j = -2; j <= 2; j++)
		for (int i = -2; i <= 2; i++) {
			int sx = min(max(x + i, 0), w - 1), sy = min(max(y + j, 0), h - 1);

			sum += weight[(j + 2) * 5 + i + 2] * in[sy * w + sx];
		}
	out[y * w + x] = sum;
}

/* Loops that end at another time in each lane. */
extern "C" __global__ void collatz(int *out, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x, steps = 0;

	if (i < n) {
		for (unsigned x = i + 1; x != 1; steps++)
			x = x & 1 ? 3 * x + 1 : x / 2;
		out[i] = steps;
	}
}

/* Tiles of a matrix turned in shared memory. */
extern "C" __global__ void transpose(const float *in, float *out, int n)
{
	__shared__ float tile[32][33];
	int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;

	for (int j = 0; j < 32; j += 8)
		tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * n + x];
	__syncthreads();
	x = blockIdx.y * 32 + threadIdx.x;
	y = blockIdx.x * 32 + threadIdx.y;
	for (int j = 0; j < 32; j += 8)
		out[(y + j) * n + x] = tile[threadIdx.x][threadIdx.y + j];
}
