/* The kernels of kinds.cu in OpenCL C. */
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

__kernel void axpy(__global const float *x, __global const float *y, __global float *out, int n)
{
	int i = get_global_id(0);

	if (i < n)
		out[i] = 2.5f * x[i] + y[i];
}

/* Several operations on what is loaded once. */
__kernel void chain(__global const float *x, __global const float *y, __global float *out, int n)
{
	size_t i = get_global_id(0);

	if (i < n) {
		float a = x[i], b = y[i], s = a * b + 0.5f, d = a - b;

		s = s * d + a;
		d = fmax(d, s) * 0.25f;
		out[i] = sqrt(fabs(s + d)) + b;
	}
}

/* Five points, single precision. */
__kernel void jacobi(__global const float *in, __global float *out, int n)
{
	int x = get_global_id(0), y = get_global_id(1);

	if (x > 0 && y > 0 && x < n - 1 && y < n - 1)
		out[y * n + x] = 0.2f * (in[y * n + x] + in[y * n + x - 1] + in[y * n + x + 1] +
					 in[(y - 1) * n + x] + in[(y + 1) * n + x]);
}

/* Seven points of a cube, double precision, marching along z. */
__kernel void heat(__global const double *in, __global double *out, int n)
{
	int x = get_global_id(0), y = get_global_id(1), plane = n * n;

	if (x < 1 || y < 1 || x >= n - 1 || y >= n - 1)
		return;
	for (int z = 1; z < n - 1; z++) {
		int i = z * plane + y * n + x;

		out[i] = 0.4 * in[i] + 0.1 * (in[i - 1] + in[i + 1] + in[i - n] + in[i + n] + in[i - plane] + in[i + plane]);
	}
}

/* Sparse matrix (compressed rows) times vector, a row per thread. */
__kernel void csr(__global const int *begin, __global const int *column, __global const float *value, __global const float *x, __global float *out,
			       int n)
{
	int row = get_global_id(0);

	if (row < n) {
		float sum = 0;

		for (int k = begin[row]; k < begin[row + 1]; k++)
			sum += value[k] * x[column[k]];
		out[row] = sum;
	}
}

/* Bytes into 256 counters of the block, then those of the grid. */
__kernel void histogram(__global const uchar *in, __global unsigned *out, int n)
{
	__local unsigned count[256];

	for (int i = get_local_id(0); i < 256; i += get_local_size(0))
		count[i] = 0;
	barrier(CLK_LOCAL_MEM_FENCE);
	for (int i = get_global_id(0); i < n; i += get_num_groups(0) * get_local_size(0))
		atomic_add(&count[in[i]], 1);
	barrier(CLK_LOCAL_MEM_FENCE);
	for (int i = get_local_id(0); i < 256; i += get_local_size(0))
		atomic_add(&out[i], count[i]);
}

/* Atomics of all blocks on a few words. */
__kernel void crowd(__global const unsigned *in, __global unsigned *out, int n)
{
	int i = get_global_id(0);

	if (i < n)
		atomic_add(&out[in[i] & 63], in[i] >> 16);
}

/* Vectors of four by index, vectors of two by another. */
__kernel void gather(__global const float4 *a, __global const float2 *b, __global const int *index, __global float *out, int n, int mask)
{
	int i = get_global_id(0);

	if (i < n) {
		float4 v = a[index[i] & mask];
		float2 w = b[index[i] >> 8 & mask];

		out[i] = v.x * w.x + v.y * w.y + v.z - v.w;
	}
}

/* Sums of rows by pointers that move, as the standard library's algorithms do. */
__kernel void walk(__global const float *in, __global float *out, long n, long rows)
{
	long r = get_global_id(0);

	if (r < rows) {
		float sum = 0;

		for (__global const float *p = in + r, *end = p + n * rows; p != end; p += rows)
			sum += *p;
		out[r] = sum;
	}
}

__kernel void nbody(__global const float4 *body, __global float4 *force, int n)
{
	int i = get_global_id(0);
	__local float4 tile[128];
	float4 me = body[i];
	float x = 0, y = 0, z = 0;

	for (int t = 0; t < n; t += 128) {
		tile[get_local_id(0)] = body[t + get_local_id(0)];
		barrier(CLK_LOCAL_MEM_FENCE);
		for (int k = 0; k < 128; k++) {
			float dx = tile[k].x - me.x, dy = tile[k].y - me.y, dz = tile[k].z - me.z;
			float r = rsqrt(dx * dx + dy * dy + dz * dz + 0.01f), s = tile[k].w * r * r * r;

			x += dx * s;
			y += dy * s;
			z += dz * s;
		}
		barrier(CLK_LOCAL_MEM_FENCE);
	}
	force[i] = (float4)(x, y, z, 0);
}

/* Blocks of 512 keys sorted in shared memory. */
__kernel void bitonic(__global const unsigned *in, __global unsigned *out, int n)
{
	__local unsigned s[512];
	int t = get_local_id(0);

	s[t] = in[get_group_id(0) * 512 + t];
	for (int k = 2; k <= 512; k *= 2)
		for (int j = k / 2; j > 0; j /= 2) {
			int p = t ^ j;

			barrier(CLK_LOCAL_MEM_FENCE);
			if (p > t && (s[t] > s[p]) == ((t & k) == 0)) {
				unsigned v = s[t];

				s[t] = s[p];
				s[p] = v;
			}
		}
	barrier(CLK_LOCAL_MEM_FENCE);
	out[get_group_id(0) * 512 + t] = s[t];
}

__constant float weight[25] = {1, 2, 3, 2, 1, 2, 4, 6, 4, 2, 3, 6, 9, 6, 3, 2, 4, 6, 4, 2, 1, 2, 3, 2, 1};

/* Five by five, clamped at the edges. */
__kernel void convolve(__global const float *in, __global float *out, int w, int h)
{
	int x = get_global_id(0), y = get_global_id(1);
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
__kernel void collatz(__global int *out, int n)
{
	int i = get_global_id(0), steps = 0;

	if (i < n) {
		for (unsigned x = i + 1; x != 1; steps++)
			x = x & 1 ? 3 * x + 1 : x / 2;
		out[i] = steps;
	}
}

/* Tiles of a matrix turned in shared memory. */
__kernel void transpose(__global const float *in, __global float *out, int n)
{
	__local float tile[32][33];
	int x = get_group_id(0) * 32 + get_local_id(0), y = get_group_id(1) * 32 + get_local_id(1);

	for (int j = 0; j < 32; j += 8)
		tile[get_local_id(1) + j][get_local_id(0)] = in[(y + j) * n + x];
	barrier(CLK_LOCAL_MEM_FENCE);
	x = get_group_id(1) * 32 + get_local_id(0);
	y = get_group_id(0) * 32 + get_local_id(1);
	for (int j = 0; j < 32; j += 8)
		out[(y + j) * n + x] = tile[get_local_id(0)][get_local_id(1) + j];
}
