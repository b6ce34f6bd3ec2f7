/* Source of the binaries in this folder: two kernels and, for the linked ones, a function of the other file. */
struct pair {
	int first;
	double second;
};

__device__ int launches;

#ifdef SEPARATE
__device__ int square(int x);
#else
static __device__ int square(int x)
{
	return x * x;
}
#endif

__global__ void scale(int n, float factor, float *x)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		x[i] *= factor;
}

extern "C" __global__ void fill(int *out, struct pair p)
{
	out[threadIdx.x] = square(p.first);
	atomicAdd(&launches, 1);
}

#ifndef NO_MAIN
int main()
{
	scale<<<1, 32>>>(0, 1.0f, 0);
	return 0;
}
#endif
