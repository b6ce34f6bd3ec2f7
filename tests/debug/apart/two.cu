enum Mode { slow = 4, fast = 9 };
namespace beta { struct Info { int a; float b; }; __device__ Info info = {1, 2.5f}; __device__ Mode mode = fast; }
static __device__ int hidden = 22;
__device__ double only_two = 6.25;
__device__ __noinline__ int helper(int x)
{
	int y = x * 2 + hidden;
	return y + (int)beta::info.b + beta::info.a + (int)only_two + beta::mode;
}
__global__ void second(int *out)
{
	int t = threadIdx.x;
	out[t] = helper(t);
}
void launch_two(int *out)
{
	second<<<1, 32>>>(out);
}
