// Three tests in one process, the second of which faults; between them what a test framework does.
#include <dlfcn.h>
#include <stdio.h>

__global__ void store(int *p, size_t i)
{
	p[i] = 1;
}

static int test(int number, size_t i)
{
	int *p, status = cudaMalloc(&p, sizeof(int));

	if (!status) {
		store<<<1, 1>>>(p, i);
		status = cudaDeviceSynchronize();
	}
	if (!status)
		status = cudaFree(p);
	printf("%d: %d\n", number, status);
	return status;
}

int main()
{
	void *library = dlopen("libptxloom-runtime.so", RTLD_LAZY | RTLD_NOLOAD);
	int (*after_test)(void) = library ? (int (*)(void))dlsym(library, "plrt_after_test") : NULL;
	int failed = 0;

	setvbuf(stdout, NULL, _IOLBF, 0);
	for (int i = 1; i <= 3; i++) {
		failed |= test(i, i == 2 ? (size_t)1 << 40 : 0) != 0;
		if (after_test)
			after_test();
	}
	return failed;
}
