// Matrix products by tensor cores, C = A B + C for row-major A (m x k), B (k x n), C (m x n), and an
// attention kernel. Each CTA makes a tile of 32 x 32 with four warps of 16 x 16, its factors in shared
// memory. tensor.ptx is what this makes of it (the types of the kernels need compute_80):
//   nvcc -arch=compute_80 -ptx tensor.cu -o tensor.ptx
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

using namespace nvcuda;

// T: of shared memory; K: of a step; F: what the fragments hold; S: of the sums.
template <typename T, int K, typename F, typename S, typename A, typename B>
__device__ void gemm(const T *a, const T *b, S *c, int n, int k)
{
	__shared__ __align__(32) T sa[32][2 * K], sb[2 * K][32];
	int warp = threadIdx.x / 32, row = blockIdx.y * 32, column = blockIdx.x * 32;
	S *to = c + (row + warp / 2 * 16) * n + column + warp % 2 * 16;
	wmma::fragment<wmma::matrix_a, 16, 16, K, F, A> fa;
	wmma::fragment<wmma::matrix_b, 16, 16, K, F, B> fb;
	wmma::fragment<wmma::accumulator, 16, 16, K, S> sum;

	wmma::load_matrix_sync(sum, to, n, wmma::mem_row_major);
	for (int at = 0; at < k; at += 2 * K) {
		for (int i = threadIdx.x; i < 64 * K; i += blockDim.x) {
			sa[i / (2 * K)][i % (2 * K)] = a[(row + i / (2 * K)) * k + at + i % (2 * K)];
			sb[i / 32][i % 32] = b[(at + i / 32) * n + column + i % 32];
		}
		__syncthreads();
		for (int step = 0; step < 2 * K; step += K) {
			wmma::load_matrix_sync(fa, &sa[warp / 2 * 16][step], 2 * K);
			wmma::load_matrix_sync(fb, &sb[step][warp % 2 * 16], 32);
			wmma::mma_sync(sum, fa, fb, sum);
		}
		__syncthreads();
	}
	wmma::store_matrix_sync(to, sum, n, wmma::mem_row_major);
}

extern "C" __global__ void gemm_f16(const half *a, const half *b, float *c, int n, int k)
{
	gemm<half, 16, half, float, wmma::row_major, wmma::row_major>(a, b, c, n, k);
}

extern "C" __global__ void gemm_f16_f16(const half *a, const half *b, half *c, int n, int k)
{
	gemm<half, 16, half, half, wmma::row_major, wmma::row_major>(a, b, c, n, k);
}

extern "C" __global__ void gemm_bf16(const __nv_bfloat16 *a, const __nv_bfloat16 *b, float *c, int n, int k)
{
	gemm<__nv_bfloat16, 16, __nv_bfloat16, float, wmma::row_major, wmma::row_major>(a, b, c, n, k);
}

extern "C" __global__ void gemm_tf32(const float *a, const float *b, float *c, int n, int k)
{
	gemm<float, 8, wmma::precision::tf32, float, wmma::row_major, wmma::row_major>(a, b, c, n, k);
}

extern "C" __global__ void gemm_s8(const signed char *a, const signed char *b, int *c, int n, int k)
{
	gemm<signed char, 16, signed char, int, wmma::row_major, wmma::row_major>(a, b, c, n, k);
}

// f64 has tiles of 8 x 8: each warp makes one of the CTA's 16 x 16.
extern "C" __global__ void gemm_f64(const double *a, const double *b, double *c, int n, int k)
{
	int warp = threadIdx.x / 32, row = blockIdx.y * 16 + warp / 2 * 8, column = blockIdx.x * 16 + warp % 2 * 8;
	wmma::fragment<wmma::matrix_a, 8, 8, 4, double, wmma::row_major> fa;
	wmma::fragment<wmma::matrix_b, 8, 8, 4, double, wmma::row_major> fb;
	wmma::fragment<wmma::accumulator, 8, 8, 4, double> sum;

	wmma::load_matrix_sync(sum, c + row * n + column, n, wmma::mem_row_major);
	for (int at = 0; at < k; at += 4) {
		wmma::load_matrix_sync(fa, a + row * k + at, k);
		wmma::load_matrix_sync(fb, b + at * n + column, n);
		wmma::mma_sync(sum, fa, fb, sum);
	}
	wmma::store_matrix_sync(c + row * n + column, sum, n, wmma::mem_row_major);
}

// One warp: 16 queries of 64 numbers, keys and values in blocks of 16; the softmax is kept running, so
// that no row of scores is ever whole. q, k, v: length x 64; o likewise.
extern "C" __global__ void attention(const half *q, const half *k, const half *v, float *o, int length)
{
	__shared__ float scores[16][16], out[16][64];
	__shared__ __align__(32) half weights[16][16];
	__shared__ float most[16], total[16], shrink[16];
	int lane = threadIdx.x, row = blockIdx.x * 16;
	wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
	wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> keys;
	wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> values;
	wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;

	for (int i = lane; i < 16 * 64; i += 32)
		out[i / 64][i % 64] = 0;
	if (lane < 16) {
		most[lane] = -INFINITY;
		total[lane] = 0;
	}
	__syncwarp();
	for (int at = 0; at < length; at += 16) {
		wmma::fill_fragment(sum, 0);
		for (int d = 0; d < 64; d += 16) {
			wmma::load_matrix_sync(fa, q + row * 64 + d, 64);
			wmma::load_matrix_sync(keys, k + at * 64 + d, 64);
			wmma::mma_sync(sum, fa, keys, sum);
		}
		wmma::store_matrix_sync(&scores[0][0], sum, 16, wmma::mem_row_major);
		__syncwarp();
		if (lane < 16) {
			float high = most[lane], s = 0;

			for (int j = 0; j < 16; j++)
				high = fmaxf(high, scores[lane][j] * 0.125f);
			shrink[lane] = expf(most[lane] - high);
			for (int j = 0; j < 16; j++) {
				half w = __float2half(expf(scores[lane][j] * 0.125f - high));

				weights[lane][j] = w;
				s += __half2float(w);
			}
			total[lane] = total[lane] * shrink[lane] + s;
			most[lane] = high;
		}
		__syncwarp();
		for (int i = lane; i < 16 * 64; i += 32)
			out[i / 64][i % 64] *= shrink[i / 64];
		__syncwarp();
		wmma::load_matrix_sync(fa, &weights[0][0], 16);
		for (int d = 0; d < 64; d += 16) {
			wmma::load_matrix_sync(values, v + at * 64 + d, 64);
			wmma::load_matrix_sync(sum, &out[0][d], 64, wmma::mem_row_major);
			wmma::mma_sync(sum, fa, values, sum);
			wmma::store_matrix_sync(&out[0][d], sum, 64, wmma::mem_row_major);
		}
		__syncwarp();
	}
	for (int i = lane; i < 16 * 64; i += 32)
		o[(row + i / 64) * 64 + i % 64] = out[i / 64][i % 64] / total[i / 64];
}
