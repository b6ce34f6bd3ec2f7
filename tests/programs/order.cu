/*
 * What depends on the order of CTAs and streams: float sums and places in a queue by kernels of four
 * streams, output, a kernel that waits for one of another stream, host functions, times of events.
 * Prints all of it; with one order of everything it is the same every time.
 */
#include <cuda_runtime.h>
#include <stdio.h>
#include <string.h>

#define STREAMS 4
#define LAUNCHES 5
#define CTAS 40

struct shared {
	float sum;
	unsigned next;
	unsigned who[STREAMS * LAUNCHES * CTAS];
	volatile int flag;
	unsigned long long timer;
};

static int calls, order[64];

__global__ void join(struct shared *s, int launch)
{
	if (threadIdx.x)
		return;
	atomicAdd(&s->sum, 1.0f / (3 + blockIdx.x + 1000 * launch));
	s->who[atomicAdd(&s->next, 1u)] = launch * CTAS + blockIdx.x;
	if (blockIdx.x % 16 == 0)
		printf("launch %d, block %u\n", launch, blockIdx.x);
}

__global__ void wait_for(struct shared *s)
{
	while (!s->flag)
		;
	atomicAdd(&s->sum, 0.1f);
}

__global__ void let_go(struct shared *s)
{
	s->flag = 1;
}

__global__ void spend(struct shared *s, long long cycles)
{
	long long from = clock64();

	while (clock64() - from < cycles)
		;
	s->timer = clock64() - from;
}

static void CUDART_CB host(void *number)
{
	order[calls++] = (int)(size_t)number;
}

int main()
{
	struct shared *s, *h = new struct shared;
	cudaStream_t stream[STREAMS];
	cudaEvent_t from, to;
	unsigned long hash = 5381;
	float ms;

	cudaMalloc(&s, sizeof(*s));
	cudaMemset(s, 0, sizeof(*s));
	cudaEventCreate(&from);
	cudaEventCreate(&to);
	for (int i = 0; i < STREAMS; i++)
		cudaStreamCreateWithFlags(&stream[i], cudaStreamNonBlocking);
	cudaDeviceSynchronize();
	cudaEventRecord(from, stream[0]);
	for (int k = 0; k < LAUNCHES; k++)
		for (int i = 0; i < STREAMS; i++) {
			join<<<CTAS, 32, 0, stream[i]>>>(s, k * STREAMS + i);
			if (k == 2)
				cudaLaunchHostFunc(stream[i], host, (void *)(size_t)i);
		}
	wait_for<<<1, 1, 0, stream[1]>>>(s);
	let_go<<<1, 1, 0, stream[2]>>>(s);
	spend<<<3, 64, 0, stream[0]>>>(s, 100000000);
	cudaEventRecord(to, stream[0]);
	while (cudaStreamQuery(stream[0]) == cudaErrorNotReady)
		calls += 0;
	if (cudaDeviceSynchronize()) {
		printf("failed: %s\n", cudaGetErrorString(cudaGetLastError()));
		return 1;
	}
	cudaMemcpy(h, s, sizeof(*h), cudaMemcpyDeviceToHost);
	for (unsigned i = 0; i < h->next; i++)
		hash = hash * 33 + h->who[i];
	cudaEventElapsedTime(&ms, from, to);
	printf("sum %a, %u in the queue, order %lx, waited %llu cycles, %.6f ms, host", h->sum, h->next,
	       hash, h->timer, ms);
	for (int i = 0; i < calls; i++)
		printf(" %d", order[i]);
	printf("\n");
	/* 10^8 cycles of an A100 are 71 ms: events cannot say less. */
	return ms < 70 || h->timer < 100000000 || h->next != STREAMS * LAUNCHES * CTAS;
}
