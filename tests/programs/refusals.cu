/*
 * Launches that are refused, and programs that look at it or do not: refusals.sh compares what is said. Its last
 * kernels read past an allocation, where hardware lets them.
 */
#include <cstdio>
#include <cstring>
#include <dlfcn.h>

__global__ void scale(int *p, int n)
{
	if (threadIdx.x < n)
		p[threadIdx.x] = n;
}

__global__ void peek(int *out, const int *p, int n)
{
	for (int i = 0; i < 3; i++)
		out[0] += p[n + i]; /* peek */
	out[1] += p[n]; /* again */
}

/* Calls of the driver interface that go well and that fail. */
static void call_driver()
{
	void *cuda = dlopen("libcuda.so.1", RTLD_LAZY), *out;
	auto init = (int (*)(unsigned))dlsym(cuda, "cuInit");
	auto alloc = (int (*)(void *, size_t))dlsym(cuda, "cuMemAlloc_v2");
	auto function = (int (*)(void *, void *, const char *))dlsym(cuda, "cuModuleGetFunction");

	cudaFree(0);
	init(0);
	alloc(&out, 1000);
	alloc(&out, 0);
	function(&out, NULL, "no\n");
	cudaGetLastError();
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	int *p, *q, n = 4;

	cudaMalloc(&p, 64);
	cudaMalloc(&q, 4000);
	if (!strcmp(how, "block") || !strcmp(how, "checks") || !strcmp(how, "peeks"))
		scale<<<1, 4000>>>(p, n);
	else if (!strcmp(how, "shared"))
		scale<<<1, 32, 1 << 20>>>(p, n);
	else if (!strcmp(how, "grid"))
		scale<<<0, 32>>>(p, n);
	else if (!strcmp(how, "thrice"))
		for (int i = 0; i < 3; i++)
			scale<<<1, 2000>>>(p, n);
	else if (!strcmp(how, "calls")) {
		void *args[] = {&p, &n};

		printf("%d\n", cudaLaunchKernel((const void *)scale, dim3(1), dim3(4000), args, 0, 0));
	} else if (!strcmp(how, "driver")) {
		call_driver();
	} else if (!strcmp(how, "slack")) {
		peek<<<1, 1>>>(p, q, 1000);
		peek<<<1, 1>>>(p, q, 1000);
	} else {
		scale<<<1, 32>>>(p, n);
	}
	if (!strcmp(how, "checks"))
		printf("%s\n", cudaGetErrorName(cudaGetLastError()));
	if (!strcmp(how, "peeks"))
		printf("%s\n", cudaGetErrorName(cudaPeekAtLastError()));
	printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
	return 0;
}
