// Names of every kind: scoped enumerators, members of base classes, static ones, functions and pointers to them.
#include <cstdio>
enum class Color : int { red, green = 5, blue };
enum Plain { north, south = 4 };
namespace outer { namespace inner { __device__ int depth = 12; enum class Shade { dark, light }; struct Deep { int q; }; } }
static __device__ int hidden = 77;
struct Base { int id; int same; static const int limit = 9; __device__ virtual int f(int x) { return x + id; } };
struct Other { int same; float w; };
struct Derived : Base, Other {
	int own : 5; unsigned flag : 1; long wide : 40;
	union { int as_int; float as_float; };
	struct { short lo, hi; } parts;
	char text[8];
	__device__ int f(int x) override { int r = x * 2 + own; return r; }
};
template <int N, typename T> struct Ring { T at[N]; static const int size = N; __device__ T sum() { T s = 0; for (int i = 0; i < N; i++) s += at[i]; return s; } };
__device__ int twice(int x) { return 2 * x; }
__device__ int thrice(int x) { return 3 * x; }
__device__ int table[8] = {1, 2, 3, 4};
typedef int (*Fn)(int);
__device__ Fn fns[2] = {twice, thrice};
union Num { int i; float f; };
__device__ __noinline__ int counted(int x)
{
	__shared__ int calls;
	if (threadIdx.x == 0)
		calls = x;
	__syncthreads();
	int local = x + calls;
	return local;
}
template <int N, typename T> __device__ __noinline__ T scaled(T x)
{
	T y = x * N;
	return y;
}
__global__ void symbols(int *out, int n)
{
	Derived d;
	Base *b = &d;
	Color c = Color::green;
	Plain p = south;
	outer::inner::Shade sh = outer::inner::Shade::light;
	outer::inner::Deep deep = {3};
	Ring<3, float> ring;
	Num num; num.f = 1.5f;
	int &ref = n;
	Fn fn = fns[n & 1];
	int *into = &table[2];
	int Derived::*mp = &Derived::as_int;
	int (Base::*mf)(int) = &Base::f;
	const char *s = "hello";
	for (int i = 0; i < 3; i++) ring.at[i] = i + 0.5f;
	d.id = 4; d.Base::same = 11; d.Other::same = 22; d.w = 2.5f; d.own = -3; d.flag = 1; d.wide = 1l << 33; d.as_float = 1.0f; d.parts.lo = 1; d.parts.hi = 2;
	for (int i = 0; i < 8; i++) d.text[i] = "abcdefg"[i];
	int r = b->f(n) + fn(n) + counted(n) + scaled<7, int>(n) + outer::inner::depth + hidden;
	out[threadIdx.x] = r + (int)c + (int)p + (int)sh + deep.q + (int)ring.sum() + num.i + ref + *into + d.*mp + (d.*mf)(2) + s[0];
}
int main() { int *o; cudaMalloc(&o, 4096); symbols<<<1, 32>>>(o, 3); printf("%d\n", cudaDeviceSynchronize()); }
