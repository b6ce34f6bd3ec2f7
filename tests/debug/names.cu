// Names: static functions, namespaces, variables of functions, shadowed variables.
#include <cstdio>
static __device__ int counter = 3;
__device__ float table[2][2] = {{1.5f, 2.5f}, {-1.0f, 0.0f}};
namespace {
__device__ int hidden = 4;
__device__ __noinline__ int secret(int v)
{
	hidden += v;
	return hidden;
}
}
namespace math {
__device__ long total = 5;
struct Acc {
	double sum;
	int n;
	__device__ Acc() : sum(0), n(0)
	{
	}
	__device__ __noinline__ void add(double v)
	{
		sum += v;
		n++;
	}
	__device__ double mean() const
	{
		return n ? sum / n : 0;
	}
};
static __device__ __noinline__ bool odd(unsigned v)
{
	bool is = v & 1;
	return is;
}
__device__ __noinline__ double half_of(double v)
{
	double h = v / 2;
	return h;
}
__device__ __noinline__ char letter(int v)
{
	return (char)('A' + v);
}
__device__ __noinline__ int minus(int v)
{
	return -v;
}
__device__ __noinline__ int *place(int *p, int v)
{
	return p + v;
}
__device__ __noinline__ long long wide(int v)
{
	return -1LL - v;
}
struct Two {
	int a, b;
};
__device__ __noinline__ Two two(int v)
{
	Two t = {v, v * v};
	return t;
}
}
static __device__ __noinline__ int helper(int v)
{
	static __device__ int calls = 10;
	calls += v;
	return calls;
}
__global__ void names(int *out, float f, char c, bool flag)
{
	int t = threadIdx.x;
	int v = t;
	{
		int v = t * 10;
		out[t] = v;
		{
			int v = -t;
			out[t] += v;
		}
	}
	for (int i = 0; i < 2; i++) {
		int v = i + 100;
		out[t] += v;
	}
	math::Acc acc;
	acc.add(t + 0.5);
	acc.add(2);
	double m = acc.mean();
	bool odd = math::odd(t);
	double h = math::half_of(m);
	char l = math::letter(t);
	int neg = math::minus(t + 5);
	int *p = math::place(out, t);
	long long w = math::wide(t);
	math::Two two = math::two(t + 2);
	int s = helper(t) + secret(v);
	out[t] += s + odd + l + neg + *p + (int)w + (int)h + two.b + counter + (int)f + c + flag + (int)math::total + (int)table[0][1];
}
int main()
{
	int *d;
	cudaMalloc(&d, 128);
	names<<<1, 4>>>(d, 2.25f, 'q', true);
	printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
	return 0;
}
