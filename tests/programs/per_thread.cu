// Built with --default-stream per-thread: the default streams of two host threads run at the same time, and
// each waits for work in the legacy stream.
#include <cuda_runtime.h>
#include <pthread.h>
#include <stdio.h>

#define TRY(call)                                                                                  \
	do {                                                                                           \
		cudaError_t e_ = (call);                                                                   \
		if (e_ != cudaSuccess) {                                                                   \
			printf("%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorName(e_));            \
			return (void *)1;                                                                      \
		}                                                                                          \
	} while (0)

__global__ void meet(volatile int *mine, volatile int *other)
{
	*mine = 1;
	while (!*other)
		;
}

__global__ void step(int *p, int v)
{
	*p = *p * 3 + v;
}

__global__ void wait_for(volatile int *flag)
{
	while (!*flag)
		;
}

static int *p;

static void *one(void *arg)
{
	int me = arg != NULL, v = -1;
	unsigned long long id, legacy;

	meet<<<1, 1>>>(p + me, p + 1 - me);
	TRY(cudaGetLastError());
	TRY(cudaStreamSynchronize(0));
	step<<<1, 1>>>(p + 2 + me, 4 + me);
	TRY(cudaStreamSynchronize(0));
	v = p[2 + me];
	if (v != 4 + me) {
		printf("thread %d read %d\n", me, v);
		return (void *)1;
	}
	TRY(cudaStreamGetId(0, &id));
	TRY(cudaStreamGetId(cudaStreamLegacy, &legacy));
	return (void *)(size_t)(id == legacy);
}

static void *order(void *)
{
	int *flag = p + 8;

	step<<<1, 1, 0, cudaStreamLegacy>>>(p + 4, 1);
	wait_for<<<1, 1, 0, cudaStreamLegacy>>>(flag);
	step<<<1, 1>>>(p + 4, 2); // the thread's own stream waits for the legacy one
	if (cudaStreamQuery(0) != cudaErrorNotReady || cudaStreamQuery(cudaStreamPerThread) != cudaErrorNotReady)
		return (void *)1;
	*(volatile int *)flag = 1;
	TRY(cudaStreamSynchronize(cudaStreamPerThread));
	return (void *)(size_t)(p[4] != 5);
}

int main()
{
	pthread_t t[2];
	void *bad[2];

	if (cudaMallocManaged(&p, 64 * sizeof(int)) != cudaSuccess)
		return 1;
	for (int i = 0; i < 64; i++)
		p[i] = 0;
	for (size_t i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, one, (void *)i);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], &bad[i]);
	if (bad[0] || bad[1] || order(NULL))
		return 1;
	puts("all right");
	return 0;
}
