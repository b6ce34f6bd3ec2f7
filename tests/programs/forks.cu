/*
 * A process that has used CUDA makes a child by fork, which uses it, too. Argument `fault`: a
 * kernel of the parent faults first; `grand`: the child has a child, as well.
 */
#include <cstdio>
#include <cstring>
#include <sys/wait.h>
#include <unistd.h>

__device__ int counter = 40;

__global__ void count(int *sum, int *managed, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		atomicAdd(sum, 1);
	if (i == 0) {
		counter++;
		(*managed)++;
	}
}

__global__ void fault(int *p)
{
	p[0] = 1;
}

/* Launches on a device of its own; returns how many results are wrong. */
static int use(const char *who)
{
	int *sum, *managed, got = 0, left = 0, wrong;

	if (cudaMalloc(&sum, sizeof(int)) || cudaMallocManaged(&managed, sizeof(int)) || cudaMemset(sum, 0, sizeof(int))) {
		printf("%s: %s\n", who, cudaGetErrorName(cudaGetLastError()));
		return 1;
	}
	*managed = 7;
	count<<<4, 64>>>(sum, managed, 200);
	cudaMemcpy(&got, sum, sizeof(int), cudaMemcpyDeviceToHost);
	cudaMemcpyFromSymbol(&left, counter, sizeof(int));
	cudaDeviceSynchronize();
	wrong = got != 200 || left != 41 || *managed != 8 || cudaFree(sum);
	printf("%s: %d of 200, counter %d, managed %d\n", who, got, left, *managed);
	return wrong | (cudaFree(managed) != cudaSuccess);
}

static int wait_for(pid_t pid)
{
	int status = -1;

	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 100;
}

int main(int argc, char **argv)
{
	bool faults = argc > 1 && !strcmp(argv[1], "fault"), grand = argc > 1 && !strcmp(argv[1], "grand");
	int status = use("parent"), n = 0;
	cudaStream_t stream;
	pid_t pid;

	cudaStreamCreate(&stream);
	if (faults) {
		fault<<<1, 1>>>(nullptr);
		cudaDeviceSynchronize();
	}
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		if (cudaGetDeviceCount(&n) || n < 1)
			printf("child: %s\n", cudaGetErrorName(cudaGetLastError()));
		else if (cudaStreamSynchronize(stream) != cudaErrorContextIsDestroyed &&
			 cudaStreamSynchronize(stream) != cudaErrorInvalidResourceHandle)
			printf("child: the parent's stream is there\n");
		status = use("child");
		fflush(stdout);
		if (grand && fork() == 0) {
			status = use("grandchild");
			fflush(stdout);
			return status;
		}
		if (grand)
			status |= wait_for(-1);
		return status;
	}
	cudaStreamDestroy(stream);
	return status | wait_for(pid);
}
