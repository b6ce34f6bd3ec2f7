// Classes, templates, references, lambdas, and members of every kind of type.
#include <cstdio>
#include <cuda_fp16.h>
enum Colour { RED, GREEN = 5, BLUE };
enum class Mode : unsigned char { Idle = 1, Busy = 2 };
struct Flags {
	unsigned low : 3;
	int mid : 5;
	unsigned high : 8;
};
union Bits {
	float f;
	unsigned u;
	unsigned char b[4];
};
struct Base {
	int id;
	Colour colour;
};
template <typename T, int N> struct Box : Base {
	T item[N];
	Flags flags;
	__device__ T sum() const
	{
		T s = 0;
		for (int i = 0; i < N; i++)
			s += item[i];
		return s;
	}
};
struct Pair {
	short a;
	char c;
	bool ok;
	double d;
	long long big;
	Mode mode;
};
template <typename F> __device__ int apply(F f, int v)
{
	int r = f(v);
	return r;
}
__device__ void bump(int &x, const Pair &p)
{
	x += p.a;
}
__global__ void shapes(float *out, double scale)
{
	int t = threadIdx.x;
	Box<float, 3> box;
	box.id = t;
	box.colour = t % 2 ? GREEN : BLUE;
	for (int i = 0; i < 3; i++)
		box.item[i] = t + i * 0.5f;
	box.flags.low = t;
	box.flags.mid = -t;
	box.flags.high = 200;
	Pair pair = {(short)(t - 3), (char)('a' + t), t > 1, t * scale, 1LL << (t + 32), Mode::Busy};
	Bits bits;
	bits.f = 1.0f + t;
	__half h = __float2half(0.25f * t);
	int x = 10;
	int *px = &x;
	int **ppx = &px;
	bump(**ppx, pair);
	int l = apply([=](int v) { return v + x; }, t);
	float s = box.sum();
	out[t] = s + l + (float)pair.d + bits.u % 2 + __half2float(h) + box.flags.low + pair.c + (float)pair.big;
}
int main()
{
	float out[4], *d;
	cudaMalloc(&d, sizeof(out));
	shapes<<<1, 4>>>(d, 1.5);
	cudaMemcpy(out, d, sizeof(out), cudaMemcpyDeviceToHost);
	printf("%g %g\n", out[0], out[3]);
	return 0;
}
