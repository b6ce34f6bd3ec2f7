// Fragments of wmma: of each matrix, element (row, column) is 32 row + column. However the part lays the fragments out,
// they show the matrix.
#include <cstdio>
#include <cuda_fp16.h>
namespace nvcuda
{
namespace wmma
{
struct matrix_a {
};
struct matrix_b {
};
struct accumulator {
};
struct row_major {
};
struct col_major {
};
template <typename Use, int m, int n, int k, typename T, typename Layout = void> struct fragment {
	T x[sizeof(T) == 4 ? 8 : 16];
};
template <int m, int n, int k> struct fragment<accumulator, m, n, k, __half, void> {
	__half x[8];
};
} // namespace wmma
} // namespace nvcuda
using namespace nvcuda;
#define EIGHT(x) "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3]), "=r"(x[4]), "=r"(x[5]), "=r"(x[6]), "=r"(x[7])
#define LIST "{%0,%1,%2,%3,%4,%5,%6,%7}"
#define PARAMETERS const __half *from_a, const __half *from_b, const float *from_c, const __half *from_h, float *out
#define FRAGMENTS(m, n, left, right)                                                                                   \
	wmma::fragment<wmma::matrix_a, m, n, 16, __half, wmma::left##_major> a;                                        \
	wmma::fragment<wmma::matrix_b, m, n, 16, __half, wmma::right##_major> b;                                       \
	wmma::fragment<wmma::accumulator, m, n, 16, float> c;                                                          \
	wmma::fragment<wmma::accumulator, m, n, 16, __half> h;                                                         \
	unsigned *ra = (unsigned *)a.x, *rb = (unsigned *)b.x, *rh = (unsigned *)h.x, *rc = (unsigned *)c.x;
#define LOAD(shape, left, right, lda, ldb, ldc)                                                                        \
	asm volatile("wmma.load.a.sync.aligned." #left "." shape ".f16 " LIST ", [%8], %9;"                            \
		     : EIGHT(ra)                                                                                       \
		     : "l"(from_a), "r"(lda));                                                                         \
	asm volatile("wmma.load.b.sync.aligned." #right "." shape ".f16 " LIST ", [%8], %9;"                           \
		     : EIGHT(rb)                                                                                       \
		     : "l"(from_b), "r"(ldb));                                                                         \
	asm volatile("wmma.load.c.sync.aligned.row." shape ".f32 " LIST ", [%8], %9;"                                  \
		     : EIGHT(rc)                                                                                       \
		     : "l"(from_c), "r"(ldc));                                                                         \
	asm volatile("wmma.load.c.sync.aligned.row." shape ".f16 {%0,%1,%2,%3}, [%4], %5;"                             \
		     : "=r"(rh[0]), "=r"(rh[1]), "=r"(rh[2]), "=r"(rh[3])                                              \
		     : "l"(from_h), "r"(ldc));
__global__ void square(PARAMETERS)
{
	FRAGMENTS(16, 16, row, col)
	LOAD("m16n16k16", row, col, 16, 16, 16)
	out[threadIdx.x] = ra[0] + rb[0] + rc[0] + rh[0];
}
__global__ void turned(PARAMETERS)
{
	FRAGMENTS(16, 16, col, row)
	LOAD("m16n16k16", col, row, 16, 16, 16)
	out[threadIdx.x] = ra[0] + rb[0] + rc[0] + rh[0];
}
__global__ void tall(PARAMETERS)
{
	FRAGMENTS(32, 8, row, row)
	LOAD("m32n8k16", row, row, 16, 8, 8)
	out[threadIdx.x] = ra[0] + rb[0] + rc[0] + rh[0];
}
__global__ void wide(PARAMETERS)
{
	FRAGMENTS(8, 32, col, col)
	LOAD("m8n32k16", col, col, 8, 16, 32)
	out[threadIdx.x] = ra[0] + rb[0] + rc[0] + rh[0];
}
template <typename T> static T *matrix(int rows, int columns, bool column)
{
	T *p;
	cudaMallocManaged(&p, rows * columns * sizeof(T));
	for (int r = 0; r < rows; r++)
		for (int c = 0; c < columns; c++)
			p[column ? c * rows + r : r * columns + c] = (T)(float)(32 * r + c);
	return p;
}
int main()
{
	float *out;
	cudaMalloc(&out, 128);
	square<<<1, 32>>>(matrix<__half>(16, 16, false), matrix<__half>(16, 16, true), matrix<float>(16, 16, false),
			  matrix<__half>(16, 16, false), out);
	turned<<<1, 32>>>(matrix<__half>(16, 16, true), matrix<__half>(16, 16, false), matrix<float>(16, 16, false),
			  matrix<__half>(16, 16, false), out);
	tall<<<1, 32>>>(matrix<__half>(32, 16, false), matrix<__half>(16, 8, false), matrix<float>(32, 8, false),
			matrix<__half>(32, 8, false), out);
	wide<<<1, 32>>>(matrix<__half>(8, 16, true), matrix<__half>(16, 32, true), matrix<float>(8, 32, false),
			matrix<__half>(8, 32, false), out);
	printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
	return 0;
}
