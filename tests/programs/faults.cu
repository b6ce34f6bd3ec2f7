/*
 * Kernels that go wrong, one for each argument: what is said of them is compared by faults.sh.
 */
#include <cassert>
#include <cstdio>
#include <cstdlib>
#include <cstring>

__device__ int table[10];

__device__ __noinline__ void put(int *p, int i)
{
	p[i] = i; /* put */
}

__global__ void write(int *p, int i)
{
	put(p, i); /* write */
}

__global__ void add(int *p)
{
	atomicAdd(p, 1); /* add */
}

__global__ void shared(int i)
{
	__shared__ int s[8];
	volatile int *v = s;

	v[i] = i; /* shared */
}

__global__ void check(int n)
{
	assert(n < 5); /* check */
}

__global__ void misaligned(char *p)
{
	*(volatile double *)p = 1; /* misaligned */
}

__global__ void variable(int i)
{
	((volatile int *)table)[i] = i; /* variable */
}

static void start(const char *how)
{
	static int fixed;
	int *p = nullptr, *q, local = 0;

	cudaMalloc(&p, 64);
	cudaMalloc(&q, 4000);
	if (!strcmp(how, "null"))
		write<<<1, 1>>>(nullptr, 0);
	else if (!strcmp(how, "offset"))
		write<<<1, 1>>>(nullptr, 3);
	else if (!strcmp(how, "heap"))
		write<<<1, 1>>>((int *)malloc(64), 1);
	else if (!strcmp(how, "stack"))
		write<<<1, 1>>>(&local, 0);
	else if (!strcmp(how, "static"))
		write<<<1, 1>>>(&fixed, 0);
	else if (!strcmp(how, "after"))
		write<<<1, 1>>>(q, 1003);
	else if (!strcmp(how, "before"))
		write<<<1, 1>>>(p, -1);
	else if (!strcmp(how, "add"))
		add<<<1, 1>>>(nullptr);
	else if (!strcmp(how, "freed"))
		cudaFree(p), write<<<1, 1>>>(p, 2);
	else if (!strcmp(how, "shared"))
		shared<<<1, 1>>>(1 << 20);
	else if (!strcmp(how, "misaligned"))
		misaligned<<<1, 1>>>((char *)p + 4);
	else if (!strcmp(how, "variable"))
		variable<<<1, 1>>>(10);
	else if (!strcmp(how, "check"))
		check<<<dim3(2, 1, 1), 8>>>(7);
}

int main(int argc, char **argv)
{
	start(argc > 1 ? argv[1] : "");
	printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
	return 0;
}
