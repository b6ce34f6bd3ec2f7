/*
 * A kernel that waits for what somebody writes late, while every thread of the process waits for the kernel.
 *
 *     writers WHO     nobody, handler, late_handler, process, host_function
 *
 * Prints the error of the wait, and what the kernel saw. The device's memory that it waits for is written by a handler
 * of SIGINT, set before CUDA is used or after; by another process that shares it; by a kernel behind a host function;
 * or by nobody, while a handler is set that cannot reach it.
 */
#include <csignal>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <unistd.h>

__global__ void wait_for(volatile int *flag)
{
	while (!*flag)
		;
	flag[1] = 7;
}

__global__ void set_flag(int *flag) { atomicExch(flag, 1); }

static int *flag;

static void rest(long ms)
{
	timespec t = {ms / 1000, ms % 1000 * 1000000};

	while (nanosleep(&t, &t))
		;
}

static void on_signal(int) { *(volatile int *)flag = 1; }

static void interrupt_later()
{
	if (fork())
		return;
	rest(1500);
	kill(getppid(), SIGINT);
	_exit(0);
}

/* The child owns the memory; it writes when the parent has long been waiting. */
static void share()
{
	cudaIpcMemHandle_t handle;
	int ends[2];

	if (pipe(ends))
		_exit(2);
	if (!fork()) {
		cudaMalloc(&flag, 8);
		cudaMemset(flag, 0, 8);
		cudaIpcGetMemHandle(&handle, flag);
		if (write(ends[1], &handle, sizeof(handle)) < 0)
			_exit(2);
		rest(2500);
		set_flag<<<1, 1>>>(flag);
		cudaDeviceSynchronize();
		rest(1000);
		_exit(0);
	}
	if (read(ends[0], &handle, sizeof(handle)) != sizeof(handle))
		_exit(2);
	cudaIpcOpenMemHandle((void **)&flag, handle, cudaIpcMemLazyEnablePeerAccess);
}

int main(int argc, char **argv)
{
	const char *who = argc > 1 ? argv[1] : "";
	bool late = !strcmp(who, "late_handler"), handler = late || !strcmp(who, "handler"), nobody = !strcmp(who, "nobody");
	cudaStream_t other;
	cudaError_t e;
	int seen[2] = {0, 0};

	if ((handler && !late) || nobody)
		signal(SIGINT, on_signal);
	if (!strcmp(who, "process"))
		share();
	else if (handler)
		cudaMallocManaged(&flag, 8);
	else
		cudaMalloc(&flag, 8);
	if (strcmp(who, "process"))
		cudaMemset(flag, 0, 8);
	cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
	cudaDeviceSynchronize();
	if (late)
		signal(SIGINT, on_signal);
	if (handler)
		interrupt_later();
	wait_for<<<2, 64>>>(flag);
	if (!strcmp(who, "host_function")) {
		cudaLaunchHostFunc(other, [](void *) { rest(1500); }, nullptr);
		set_flag<<<1, 1, 0, other>>>(flag);
	}
	e = cudaDeviceSynchronize();
	if (!e)
		cudaMemcpy(seen, flag, 8, cudaMemcpyDefault);
	printf("%s: %s, %d %d\n", who, cudaGetErrorName(e), seen[0], seen[1]);
	fflush(stdout);
	return 0;
}
