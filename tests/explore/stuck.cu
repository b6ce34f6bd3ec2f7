/*
 * Kernels that get stuck in some orders of their warps; by argument. Prints how it ends.
 */
#include <cstdio>
#include <cstring>

/* Two locks in two orders: a warp that has one waits for the other. */
__global__ void cross(int *lock, int *out, bool fixed)
{
	int w = threadIdx.x / 32, a = fixed ? 0 : w, b = fixed ? 1 : 1 - w;

	if (threadIdx.x % 32)
		return;
	while (atomicCAS(lock + a, 0, 1))
		;
	while (atomicCAS(lock + b, 0, 1))
		;
	out[w] = 1;
	atomicExch(lock + b, 0);
	atomicExch(lock + a, 0);
}

/* The same, but a warp that does not get the second lock lets the first go: no order has to last. */
__global__ void polite(int *lock, int *out)
{
	int w = threadIdx.x / 32;

	if (threadIdx.x % 32)
		return;
	for (;;) {
		while (atomicCAS(lock + w, 0, 1))
			;
		if (!atomicCAS(lock + 1 - w, 0, 1))
			break;
		atomicExch(lock + w, 0);
	}
	out[w] = 1;
	atomicExch(lock + 1 - w, 0);
	atomicExch(lock + w, 0);
}

/* A warp that comes late does not find its partner at the barrier. */
__global__ void barrier(volatile int *flag, int *out)
{
	if (threadIdx.x == 32)
		*flag = 1;
	if (threadIdx.x >= 32 || !*flag)
		asm volatile("bar.sync 1, 64;" ::: "memory");
	out[threadIdx.x / 32] = 1;
}

/* Who is last? */
__global__ void last(int *who)
{
	if (threadIdx.x % 32 == 0)
		atomicExch(who, threadIdx.x / 32);
}

static int say_last(int *p)
{
	static const char *const names[] = {"alpha", "beta", "gamma"};
	int who = 0;

	last<<<1, 96>>>(p);
	cudaMemcpy(&who, p, sizeof(who), cudaMemcpyDeviceToHost);
	printf("%s is last\n", names[who]);
	return who != 2;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "cross";
	int *p, out[2] = {0, 0};
	cudaError_t e;

	if (cudaMalloc(&p, 64) || cudaMemset(p, 0, 64))
		return 2;
	if (!strcmp(what, "last"))
		return say_last(p);
	if (!strcmp(what, "polite"))
		polite<<<1, 64>>>(p, p + 4);
	else if (!strcmp(what, "barrier"))
		barrier<<<1, 64>>>(p, p + 4);
	else
		cross<<<1, 64>>>(p, p + 4, argc > 2);
	e = cudaDeviceSynchronize();
	cudaMemcpy(out, p + 4, sizeof(out), cudaMemcpyDeviceToHost);
	printf("%s %d\n", cudaGetErrorName(e), out[0] + out[1]);
	return e != cudaSuccess;
}
