// A program that uses CUDA in two processes; with an argument in the parent alone, before and after a fork.
#include <cstdio>
#include <sys/wait.h>
#include <unistd.h>
__global__ void one(int *p)
{
	*p = threadIdx.x;
}
static int use()
{
	int *p;
	cudaMalloc(&p, 4);
	one<<<1, 1>>>(p);
	return cudaDeviceSynchronize();
}
int main(int argc, char **)
{
	int status = 0;
	if (argc > 1)
		use();
	if (!fork()) {
		int e = argc > 1 ? 0 : use();
		printf("child %d\n", e);
		fflush(stdout);
		_exit(0);
	}
	wait(&status);
	printf("parent %d %d\n", status, use());
}
