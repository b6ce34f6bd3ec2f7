// Values of every kind. Built by a host compiler it is a program for gdb, whose answers values.txt has.
#ifdef HOST
#define __global__
#define __device__
#define __noinline__ __attribute__((noinline))
#include <cstdlib>
#else
#include <cstdio>
#endif
enum Plain { north, south = 4, west };
enum class Scoped : short { low = -2, high = 7 };
enum Flags { read_flag = 1, write_flag = 2, run_flag = 4 };
typedef unsigned int word;
typedef struct { int x, y; } Point;
struct Base { int id; static const int limit = 9; };
struct Other { double weight; };
struct Derived : Base, Other { char letter; short small; };
struct Bits { unsigned a : 3; int b : 5; unsigned long c : 40; bool d : 1; };
union Number { int i; float f; unsigned char bytes[4]; };
struct Nested { union { int as_int; float as_float; }; struct { short lo, hi; } parts; Point at[2]; };
struct Node { int value; Node *next; };
template <typename T, int N> struct Array { T items[N]; int used; };
struct Vec { float x, y, z, w; };
struct Empty { };
class Closed { public: int open; private: int shut; public: __device__ Closed() : open(1), shut(2) { } __device__ int sum() const { return open + shut; } };
__device__ int twice(int x) { return 2 * x; }
__device__ int global_int = 42;
__device__ float global_floats[4] = {0.5f, 1.25f, -2, 3e10f};
__device__ int matrix[2][3] = {{1, 2, 3}, {4, 5, 6}};
__device__ const char *const words[2] = {"alpha", "beta"};
namespace space { __device__ long counter = -7; struct Inner { int deep; }; __device__ Inner inner = {5}; }
__device__ __noinline__ int values(int n)
{
	bool yes = true;
	char c = 'x', newline = '\n', text[16] = "hello\tworld";
	signed char sc = -3;
	unsigned char uc = 200;
	short s = -1234;
	unsigned short us = 65535;
	int i = -5, zero = 0;
	unsigned u = 4000000000u;
	long l = -1234567890123;
	unsigned long ul = 18446744073709551615ul;
	float f = 1.5f, tenth = 0.1f;
	double d = -2.75, big = 1e300, third = 1.0 / 3;
	word w = 77;
	Plain plain = south, odd = (Plain)9;
	Scoped scoped = Scoped::high;
	Flags one = write_flag, both = (Flags)(read_flag | run_flag), none = (Flags)0, more = (Flags)9;
	Point p = {3, 4};
	Derived derived;
	Bits bits = {5, -6, 1ul << 39, true};
	Number number;
	Nested nested;
	Node second = {2, nullptr}, first = {1, &second};
	Array<short, 4> array = {{10, 20, 30, 40}, 3};
	Vec vec = {1, 2, 3, 4};
	Empty empty;
	Closed closed;
	int arr[5] = {1, 2, 3, 4, 5}, many[30], *ip = &arr[1], **ipp = &ip;
	const int fixed = 12;
	int &ref = arr[2];
	const Point &pref = p;
	int &&rref = 99;
	void *vp = arr;
	const char *string = "a string";
	int (*fn)(int) = twice;
	int (*rows)[3] = matrix;
	int Point::*member = &Point::y;
	Base *base = &derived;
	float nan = 0.0f / zero, inf = 1.0f / zero;
	auto lambda = [i, &s](int a) { return a + i + s; };
	volatile int vol = 6;
	derived.id = 1; derived.weight = 2.5; derived.letter = 'L'; derived.small = 8;
	number.f = 1.0f;
	nested.as_int = 3; nested.parts.lo = 1; nested.parts.hi = -1; nested.at[0] = p; nested.at[1].x = 7; nested.at[1].y = 8;
	for (int k = 0; k < 30; k++)
		many[k] = k < 20 ? 7 : k;
	{
		int i = 1000, inner_only = 5;
		vol = vol + i + inner_only + lambda(n) + fn(3) + rows[1][2] + closed.sum() + fixed + ref + pref.x + rref + (int)(nan + inf) + p.*member;
	}
	return vol + base->id + first.next->value + (vp != nullptr) + string[0] + **ipp + bits.a + array.used + words[0][0] + global_int + (int)global_floats[0] + (int)space::counter + space::inner.deep + (int)(scoped == Scoped::low) + plain + odd + one + both + none + more + number.i + yes + c + newline + text[0] + sc + uc + us + (int)u + (int)l + (int)ul + (int)f + (int)tenth + (int)d + (int)big + (int)third + (int)w + (int)vec.x + many[0] + (int)sizeof(empty);
}
__global__ void torture(int *out)
{
	out[0] = values(3);
}
#ifdef HOST
int main()
{
	int out;
	torture(&out);
	exit(0);
}
#else
int main()
{
	int *out;
	cudaMalloc(&out, 4);
	torture<<<1, 1>>>(out);
	printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
	return 0;
}
#endif
