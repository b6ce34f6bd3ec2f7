/*
 * Kernels that never end, for signals and limits. hang: waits for one; hang handler: with a handler
 * for SIGINT; hang late-handler: one that is set while CUDA is in use; hang host: in the host's part;
 * hang long: one whose last CTA takes some seconds; hang slow: with a handler, and a kernel that ends;
 * hang files: none, the program closes all files and uses their numbers while a kernel runs;
 * hang writer: until a handler of the program lets the kernel go on; hang cancelled: until the program does, which
 * has cancelled a thread that waits for the kernel;
 * hang asked: with a handler for SIGUSR1.
 */
#include <cuda_runtime.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Counts its turns: a loop that leaves everything as it was would be reported as a livelock. */
__global__ void hang_here(volatile int *flag)
{
	__shared__ volatile unsigned turns;

	if (blockIdx.x == 0 && threadIdx.x == 0)
		printf("begins\n");
	if (threadIdx.x & 1)
		while (!*flag)
			turns = turns + 1;
}

__global__ void last_waits(volatile int *flag)
{
	if (blockIdx.x == gridDim.x - 1)
		while (!*flag)
			;
}

__global__ void work(unsigned *out, unsigned rounds)
{
	unsigned x = threadIdx.x;

	for (unsigned i = 0; i < rounds; i++)
		x = x * 1664525 + 1013904223 + (x >> 7);
	out[threadIdx.x] = x;
}

static void on_interrupt(int)
{
	static const char text[] = "handled\n";

	if (write(1, text, sizeof(text) - 1) < 0)
		_exit(9);
}

/* For the test: from now on signals find what they are to find. */
static void be_ready()
{
	const char *path = getenv("HANG_READY");
	FILE *f = path ? fopen(path, "w") : NULL;

	if (f) {
		fprintf(f, "%d\n", (int)getpid());
		fclose(f);
	}
}

static int be_long()
{
	volatile int *flag;

	cudaHostAlloc((void **)&flag, sizeof(*flag), cudaHostAllocMapped);
	*flag = 0;
	last_waits<<<2000, 64>>>(flag);
	be_ready();
	/* Signals end a sleep. */
	for (time_t end = time(NULL) + 4; time(NULL) < end;)
		usleep(50000);
	*flag = 1;
	return cudaDeviceSynchronize() != cudaSuccess;
}

static volatile int *written;

static void on_request(int)
{
	*written = 1;
}

static int wait_for_handler()
{
	cudaHostAlloc((void **)&written, sizeof(*written), cudaHostAllocMapped);
	*written = 0;
	signal(SIGINT, on_request);
	signal(SIGTERM, on_request);
	last_waits<<<1, 32>>>(written);
	be_ready();
	return cudaDeviceSynchronize() != cudaSuccess;
}

static void *synchronize(void *)
{
	cudaDeviceSynchronize();
	pthread_testcancel();
	return NULL;
}

static int cancel_waiting()
{
	pthread_t thread;
	void *result;

	cudaHostAlloc((void **)&written, sizeof(*written), cudaHostAllocMapped);
	*written = 0;
	last_waits<<<1, 32>>>(written);
	pthread_create(&thread, NULL, synchronize, NULL);
	usleep(200000);
	pthread_cancel(thread);
	usleep(200000);
	*written = 1;
	pthread_join(thread, &result);
	return cudaDeviceSynchronize() != cudaSuccess || result != PTHREAD_CANCELED;
}

/* What goes through its new files looks like the numbers of signals. */
static int use_files()
{
	volatile int *flag;
	clock_t used;
	int ends[2];
	char back[4];

	cudaHostAlloc((void **)&flag, sizeof(*flag), cudaHostAllocMapped);
	*flag = 0;
	for (int i = 3; i < 1024; i++)
		close(i);
	used = clock();
	usleep(500000);
	used = clock() - used;
	if (pipe(ends))
		return 1;
	last_waits<<<1, 32>>>(flag);
	if (write(ends[1], "\2\2\2\2", 4) != 4)
		return 1;
	usleep(500000);
	if (read(ends[0], back, 4) != 4)
		return 1;
	*flag = 1;
	return cudaDeviceSynchronize() != cudaSuccess || used > CLOCKS_PER_SEC / 4;
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	volatile int *flag;
	cudaError_t e;

	if (!strcmp(how, "handler") || !strcmp(how, "slow"))
		signal(SIGINT, on_interrupt);
	if (!strcmp(how, "asked"))
		signal(SIGUSR1, on_interrupt);
	cudaMalloc((void **)&flag, 1024);
	cudaMemset((void *)flag, 0, 1024);
	cudaDeviceSynchronize();
	if (!strcmp(how, "late-handler"))
		signal(SIGINT, on_interrupt);
	if (!strcmp(how, "host")) {
		be_ready();
		for (;;)
			pause();
	}
	if (!strcmp(how, "writer"))
		return wait_for_handler();
	if (!strcmp(how, "cancelled"))
		return cancel_waiting();
	if (!strcmp(how, "files"))
		return use_files();
	if (!strcmp(how, "long"))
		return be_long();
	else if (!strcmp(how, "slow"))
		work<<<8, 64>>>((unsigned *)flag, 40000);
	else
		hang_here<<<3, 64>>>(flag);
	be_ready();
	e = cudaDeviceSynchronize();
	printf("%s\n", cudaGetErrorName(e));
	return e == cudaSuccess ? 0 : 3;
}
