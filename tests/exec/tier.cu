/*
 * Kernels for tier.sh. tier.ptx beside this file is made by:
 *     nvcc -ptx -arch=compute_80 -o tier.ptx tier.cu
 */

/* Each lane's own element. */
extern "C" __global__ void own(float *x, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		x[i] = 1.5f * x[i] + 0.25f;
}

/* What other warps of the block store at the same time: a race, but one with a known end here. */
extern "C" __global__ void shift(float *x, int n, int by)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i + by < n && i + by >= 0)
		x[i] = x[i + by] * 2.0f + 1.0f;
}

/* The same by indices that are loaded, several lanes with one index. */
extern "C" __global__ void mix(unsigned *x, const unsigned *index, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	for (int k = 0; i < n && k < 3; k++)
		x[index[i] % (n / 4) + k] = x[index[i] % n] * 2654435761u + i;
}

/* Numbers that are none, and infinite ones. */
extern "C" __global__ void numbers(const double *a, const float *b, double *d, float *f, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n) {
		d[i] = sqrt(a[i]) * a[(i * 7) % n] + a[(i * 3) % n] / a[i];
		f[i] = fminf(sqrtf(b[i]), b[(i * 5) % n]) + fmaxf(b[i] / b[(i * 3) % n], -b[i]);
	}
}

/* Rows of different lengths. */
extern "C" __global__ void rows(const int *begin, const float *x, float *out, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	float sum = 0;

	if (i < n) {
		for (int k = begin[i]; k < begin[i + 1]; k++)
			sum = sum * 0.5f + x[(k * 17) & 1023];
		out[i] = sum;
	}
}

/* Beyond the end for one lane, in the second warp of a block. */
extern "C" __global__ void beyond(const float *x, float *out, int n, int far)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x, k = i == 300 ? far : i;

	if (i < n)
		out[i] = x[k] * 3.0f + x[i];
}

/* Several warps of a block at the same element, by an index that is loaded. */
extern "C" __global__ void collide(unsigned *x, const unsigned *index, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		x[index[i]] = x[index[i]] * 2654435761u + 12345u;
}
