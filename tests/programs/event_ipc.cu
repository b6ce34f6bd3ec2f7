// An event shared by two processes: the child waits, in a stream and by itself, for what the parent records.
#include "try.h"

#include <sys/wait.h>
#include <unistd.h>

__global__ void wait_for(volatile int *flag)
{
	while (!*flag)
		;
}

__global__ void set(int *p)
{
	*p = 1;
}

// The child: opens the event while it is not reached, then says so, then waits.
static int child(int in, int out)
{
	cudaIpcEventHandle_t handle;
	cudaEvent_t event;
	cudaStream_t s;
	int *p;

	if (read(in, &handle, sizeof(handle)) != sizeof(handle))
		return 1;
	TRY(cudaIpcOpenEventHandle(&event, handle));
	TRY(cudaStreamCreate(&s));
	TRY(cudaMallocManaged(&p, sizeof(*p)));
	// Its code is loaded at the first launch, which waits for what is under way.
	set<<<1, 1>>>(p);
	TRY(cudaDeviceSynchronize());
	*p = 0;
	if (cudaEventQuery(event) != cudaErrorNotReady)
		return 2;
	TRY(cudaStreamWaitEvent(s, event, 0));
	set<<<1, 1, 0, s>>>(p);
	if (cudaStreamQuery(s) != cudaErrorNotReady || *(volatile int *)p)
		return 3;
	if (write(out, "x", 1) != 1)
		return 4;
	TRY(cudaEventSynchronize(event));
	TRY(cudaStreamSynchronize(s));
	TRY(cudaEventDestroy(event));
	return *p == 1 ? 0 : 5;
}

static int parent(int out, int in)
{
	cudaIpcEventHandle_t handle;
	cudaEvent_t event, plain;
	cudaStream_t s;
	int *flag;
	char c;

	TRY(cudaEventCreate(&plain));
	if (cudaIpcGetEventHandle(&handle, plain) != cudaErrorInvalidResourceHandle)
		return 1;
	cudaGetLastError();
	TRY(cudaStreamCreate(&s));
	TRY(cudaMallocManaged(&flag, sizeof(*flag)));
	*flag = 0;
	TRY(cudaEventCreateWithFlags(&event, cudaEventDisableTiming | cudaEventInterprocess));
	TRY(cudaIpcGetEventHandle(&handle, event));
	if (cudaIpcOpenEventHandle(&plain, handle) == cudaSuccess)
		return 2;
	cudaGetLastError();
	wait_for<<<1, 1, 0, s>>>(flag);
	TRY(cudaEventRecord(event, s));
	if (write(out, &handle, sizeof(handle)) != sizeof(handle) || read(in, &c, 1) != 1)
		return 3;
	usleep(20000);
	*(volatile int *)flag = 1;
	TRY(cudaStreamSynchronize(s));
	return 0;
}

int main()
{
	int to[2], from[2], status = 1, bad;
	pid_t pid;

	if (pipe(to) || pipe(from))
		return 1;
	pid = fork(); // before CUDA
	if (!pid) {
		close(to[1]);
		status = child(to[0], from[1]);
		fflush(stdout);
		_exit(status);
	}
	close(from[1]);
	bad = parent(to[1], from[0]);
	close(to[1]);
	waitpid(pid, &status, 0);
	if (bad || !WIFEXITED(status) || WEXITSTATUS(status)) {
		printf("parent %d, child %d\n", bad, WEXITSTATUS(status));
		return 1;
	}
	puts("all right");
	return 0;
}
