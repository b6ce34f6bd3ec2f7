/*
 * A program that launches a kernel, and then is killed, or becomes two: ends killed|forked. ends never: it does nothing.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

__global__ void k(int *x) { x[threadIdx.x] = threadIdx.x; }

int main(int argc, char **argv)
{
	const char *way = argc > 1 ? argv[1] : "";
	int *x;

	if (!strcmp(way, "never"))
		return 0;
	if (cudaMalloc(&x, 64 * sizeof(int)) != cudaSuccess)
		return 1;
	k<<<1, 64>>>(x);
	if (cudaDeviceSynchronize() != cudaSuccess)
		return 1;
	if (!strcmp(way, "killed"))
		kill(getpid(), SIGKILL);
	if (!fork())
		return 0;
	wait(NULL);
	return 0;
}
