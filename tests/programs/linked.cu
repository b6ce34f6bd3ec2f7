/*
 * Two units, linked as device code: the kernel is in one (-DUNIT=1), functions, a constant and variables that it uses
 * in the other. Tables of functions are declared as bytes where they are used and as addresses where they are defined;
 * both units have static functions and variables of the same names, and share what a template has.
 */
#include <cstdio>

typedef int (*operation)(int);

struct shape {
	__device__ virtual int area(int side) const = 0;
};

template <class T> __device__ T next_number()
{
	static __device__ T last = 40;

	return ++last;
}

#if UNIT == 1

extern __constant__ int factor[2];
extern __constant__ operation chosen[2];
extern __device__ int count;
extern __device__ operation others[2];
extern __device__ int times(int x, int y);
extern __device__ int area_of(const struct shape *s, int side);
extern __device__ int next_there(void);

static __device__ int hidden = 1000;

static __device__ int change(int x)
{
	return x + hidden;
}

__device__ operation own[2] = {change, change};

struct square : shape {
	__device__ int area(int side) const override
	{
		return side * side;
	}
};

__global__ void work(int *out)
{
	out[threadIdx.x] = times(threadIdx.x, factor[threadIdx.x & 1]);
	if (out[threadIdx.x] > 50)
		atomicAdd(&count, 1);
}

__global__ void shared_names(int *out)
{
	square s;

	out[0] = own[out[0]](1);
	out[1] = others[out[1]](1);
	out[2] = others[out[2] + 1](1);
	out[3] = chosen[out[3]](1);
	out[4] = area_of(&s, 7);
	out[5] = next_number<int>();
	out[6] = next_there();
}

static int test_shared_names(int *out)
{
	static const int want[7] = {1001, 2001, -1, -1, 49, 41, 42};
	int got[7] = {}, value = 0, bad = 0;
	void *at = NULL;

	if (cudaMemset(out, 0, sizeof(got)))
		return 1;
	shared_names<<<1, 1>>>(out);
	if (cudaMemcpy(got, out, sizeof(got), cudaMemcpyDeviceToHost) ||
	    cudaMemcpyFromSymbol(&value, hidden, sizeof(value)) || cudaGetSymbolAddress(&at, others))
		return 1;
	for (int i = 0; i < 7; i++)
		bad += got[i] != want[i];
	return bad + (value != 1000) + !at;
}

int main()
{
	int *out, got[32], counted = 0, bad = 0;

	if (cudaMalloc(&out, sizeof(got)))
		return 1;
	work<<<1, 32>>>(out);
	if (cudaMemcpy(got, out, sizeof(got), cudaMemcpyDeviceToHost) ||
	    cudaMemcpyFromSymbol(&counted, count, sizeof(counted)))
		return 1;
	for (int i = 0; i < 32; i++) {
		bad += got[i] != i * (i & 1 ? 5 : 3);
		counted -= i * (i & 1 ? 5 : 3) > 50;
	}
	bad += test_shared_names(out);
	printf(bad || counted ? "wrong\n" : "all right\n");
	return bad || counted;
}

#else

__constant__ int factor[2] = {3, 5};
__device__ int count;

static __device__ int hidden = 2000;

static __device__ int change(int x)
{
	return x + hidden;
}

static __device__ int negate(int x)
{
	return -x;
}

__device__ operation others[2] = {change, negate};
__constant__ operation chosen[2] = {negate, change};

__device__ int times(int x, int y)
{
	return x * y;
}

__device__ int area_of(const struct shape *s, int side)
{
	return s->area(side);
}

__device__ int next_there(void)
{
	return next_number<int>();
}

#endif
