// Races of several kinds, each of which passes in the natural order:  shapes KIND [fixed]; ends with 1 if it is wrong.
//   late     the third of many barriers is missing
//   ctas     a flag between CTAs is tested and set by two accesses
//   output   the order of warps decides what the host gets, though nothing looks at it
#include <cstdio>
#include <cstring>

__global__ void late(int *x, bool fixed)
{
	__shared__ int s[128];
	int t = threadIdx.x, v = t;

	for (int i = 0; i < 6; i++) {
		s[t] = v;
		__syncthreads();
		v = s[(t + 32) % 128] + 1;
		if (fixed || i != 3)
			__syncthreads();
	}
	x[t] = v;
}

__global__ void ctas(int *x, bool fixed)
{
	if (fixed) {
		if (!atomicExch(&x[0], 1))
			atomicAdd(&x[1], 1);
	} else if (!*(volatile int *)x) {
		*(volatile int *)x = 1;
		atomicAdd(&x[1], 1);
	}
}

__global__ void output(int *x, bool fixed)
{
	if (threadIdx.x % 32 == 0)
		x[fixed ? threadIdx.x / 32 : 0] = threadIdx.x;
}

static int wrong(const char *kind, const int *x)
{
	int n = 0;

	if (!strcmp(kind, "late"))
		for (int i = 0; i < 128; i++)
			n += x[i] != (i + 6 * 32) % 128 + 6;
	if (!strcmp(kind, "ctas"))
		n = x[1] != 1;
	return n;
}

int main(int argc, char **argv)
{
	const char *kind = argc > 1 ? argv[1] : "";
	bool fixed = argc > 2 && !strcmp(argv[2], "fixed");
	int x[128], *d;

	if (cudaMalloc(&d, sizeof(x)) || cudaMemset(d, 0, sizeof(x)))
		return 2;
	if (!strcmp(kind, "late"))
		late<<<1, 128>>>(d, fixed);
	else if (!strcmp(kind, "ctas"))
		ctas<<<2, 1>>>(d, fixed);
	else
		output<<<1, 64>>>(d, fixed);
	if (cudaMemcpy(x, d, sizeof(x), cudaMemcpyDeviceToHost) || cudaFree(d))
		return 3;
	return wrong(kind, x) != 0;
}
