// Kernels whose code, parameters and constants differ; what a launch reads for them.
#include <cstdio>
struct Many { int v[100]; };
struct Most { int v[1000]; };
__constant__ int table[2048];
__global__ void none() {}
__global__ void one(int *p) { p[threadIdx.x] = 1; }
__global__ void add(const float *a, const float *b, float *c, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) c[i] = a[i] + b[i]; }
__global__ void many(int *p, Many m) { int s = 0; for (int i = 0; i < 100; i++) s += m.v[i]; p[threadIdx.x] = s; }
__global__ void most(int *p, Most m) { int s = 0; for (int i = 0; i < 1000; i += 7) s += m.v[i]; p[threadIdx.x] = s; }
__global__ void indexed(int *p, Many m, int k) { p[threadIdx.x] = m.v[(threadIdx.x + k) % 100]; }
__global__ void constants(int *p, int k) { p[threadIdx.x] = table[(threadIdx.x * k) & 2047]; }
__global__ void divide(double *p, double x) { p[threadIdx.x] = x / (threadIdx.x + 1.0); }
template<int N> __global__ void unrolled(float *p, float x)
{
	float s = p[threadIdx.x];
#pragma unroll
	for (int i = 0; i < N; i++) s = s * x + (float)i;
	p[threadIdx.x] = s;
}
template<int N> __global__ void skipped(float *p, float x, int never)
{
	float s = 1;
	if (never) {
		s = p[threadIdx.x];
#pragma unroll
		for (int i = 0; i < N; i++) s = s * x + (float)i * never;
	}
	p[threadIdx.x] = s;
}
__global__ void stack(int *p, int k) { int a[32]; for (int i = 0; i < 32; i++) a[i] = i * k; p[threadIdx.x] = a[(threadIdx.x + k) & 31]; }
__global__ void shared_(int *p) { __shared__ int s[256]; s[threadIdx.x] = threadIdx.x; __syncthreads(); p[threadIdx.x] = s[threadIdx.x ^ 1]; }
__global__ void loop(float *p, int n) { float s = 0; for (int i = 0; i < n; i++) s += p[i * 32 + threadIdx.x]; p[threadIdx.x] = s; }
int main()
{
	char *m; Many a{}; Most b{};
	cudaMalloc(&m, 64 << 20); cudaMemset(m, 0, 64 << 20);
	int *p = (int *)m; float *f = (float *)m;
	none<<<1, 32>>>(); one<<<1, 32>>>(p); one<<<1, 256>>>(p); one<<<1, 512>>>(p); one<<<1, 1024>>>(p); one<<<132, 256>>>(p); one<<<1056, 256>>>(p);
	add<<<1, 32>>>(f, f, f, 32); add<<<1, 64>>>(f, f, f, 64); add<<<1, 128>>>(f, f, f, 128); add<<<1, 256>>>(f, f, f, 256); add<<<1, 512>>>(f, f, f, 512); add<<<1, 1024>>>(f, f, f, 1024);
	add<<<132, 256>>>(f, f, f, 33792); add<<<264, 256>>>(f, f, f, 67584); add<<<4096, 256>>>(f, f, f, 1048576); add<<<132, 1024>>>(f, f, f, 135168);
	many<<<1, 32>>>(p, a); most<<<1, 32>>>(p, b); indexed<<<1, 32>>>(p, a, 3); constants<<<1, 32>>>(p, 1); constants<<<1, 32>>>(p, 64); constants<<<132, 256>>>(p, 8);
	divide<<<1, 32>>>((double *)m, 3.0); unrolled<100><<<1, 32>>>(f, 2);
	skipped<100><<<1, 32>>>(f, 2, 0);
	stack<<<1, 32>>>(p, 3); stack<<<132, 256>>>(p, 3); shared_<<<1, 256>>>(p); shared_<<<132, 256>>>(p); loop<<<1, 32>>>(f, 100); loop<<<1, 256>>>(f, 1000);
	cudaError_t e = cudaDeviceSynchronize();
	printf("%s\n", cudaGetErrorString(e));
	return e != cudaSuccess;
}
