// Functions that are always inlined: templates, members, one in the other; and one that never is.
#include <cstdio>
namespace la {
template <typename T> __device__ __forceinline__ T clampv(T v, T lo, T hi)
{
	T r = v;
	if (r < lo)
		r = lo;
	if (r > hi)
		r = hi;
	return r;
}
struct V {
	float x, y;
	__device__ __forceinline__ float dot(const V &o) const
	{
		float d = x * o.x;
		d += y * o.y;
		return d;
	}
};
}
__device__ __forceinline__ int twice(int v)
{
	int w = la::clampv(v, 0, 20);
	return 2 * w;
}
__device__ __noinline__ float weigh(float d, int t)
{
	float w = d * t;
	return w + 0.5f;
}
__global__ void use(int *out, float *f)
{
	int t = threadIdx.x;
	la::V a = {(float)t, 1.0f}, b = {2.0f, 3.0f};
	float d = a.dot(b);
	d = la::clampv(d, 4.0f, 30.0f);
	d = weigh(d, t);
	int s = 0;
	for (int k = 0; k < 3; k++)
		s += twice(t + k);
	out[t] = s;
	f[t] = d;
}
int main()
{
	int *d, h[32];
	float *f, g[32];
	cudaMalloc(&d, 128);
	cudaMalloc(&f, 128);
	use<<<1, 32>>>(d, f);
	cudaMemcpy(h, d, 128, cudaMemcpyDeviceToHost);
	cudaMemcpy(g, f, 128, cudaMemcpyDeviceToHost);
	printf("%d %d %g %g\n", h[0], h[31], g[0], g[31]);
	return 0;
}
