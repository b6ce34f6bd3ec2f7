// Shared memory of the launch's size, as programs declare it: its elements are told by accesses, or not at all.
#include <cstdio>
struct Pair { float a; int b; };
struct __nv_fp8_e4m3 { unsigned char __x; }; // as the toolkit has them
struct __nv_fp8_e5m2 { unsigned char __x; };
__device__ __nv_fp8_e4m3 small = {0x3c};
__device__ __nv_fp8_e5m2 wide[2] = {{0x41}, {0xfc}};
extern __shared__ double numbers[];
extern __shared__ __align__(16) unsigned char raw[];
extern __shared__ Pair pairs[];
__global__ void beside_static(double *out)
{
	__shared__ int own[32];
	int t = threadIdx.x;
	own[t] = t + 7;
	numbers[t] = t * 1.5;
	__syncthreads();
	out[t] = numbers[31 - t] + own[t];
}
__global__ void two_arrays(double *out)
{
	float *floats = (float *)raw;
	int t = threadIdx.x;
	numbers[t] = t * 2.5;
	floats[64 + t] = t * 0.25f;
	__syncthreads();
	out[t] = numbers[31 - t] + floats[64 + 31 - t];
}
/* The same array with other types: what another kernel does with it does not count. */
__global__ void as_integers(double *out)
{
	int t = threadIdx.x;
	((int *)numbers)[t] = t * 3;
	__syncthreads();
	out[t] = ((int *)numbers)[31 - t];
}
__global__ void structures(double *out)
{
	int t = threadIdx.x;
	pairs[t].a = t * 0.5f;
	pairs[t].b = t + 1;
	__syncthreads();
	out[t] = pairs[31 - t].a + pairs[31 - t].b + small.__x + wide[t & 1].__x;
}
int main()
{
	double *o;
	cudaMalloc(&o, 4096);
	beside_static<<<1, 32, 4096>>>(o);
	two_arrays<<<1, 32, 4096>>>(o);
	as_integers<<<1, 32, 4096>>>(o);
	structures<<<1, 32, 4096>>>(o);
	printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
	return 0;
}
