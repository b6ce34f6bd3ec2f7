/*
 * What a copy that takes longer shows: `order` waits for it, `order early` does not. Also a graph, whose kernel can
 * fail, and two threads.
 */
#include <stdio.h>
#include <string.h>

__global__ void fill(int *x, int value)
{
	x[threadIdx.x] = value;
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	cudaGraphExec_t ready;
	cudaStream_t s;
	cudaGraph_t g;
	int *x, *host;

	cudaStreamCreate(&s);
	cudaMalloc(&x, 64 * sizeof(int));
	cudaMallocHost(&host, 64 * sizeof(int));
	memset(host, 0, 64 * sizeof(int));
	fill<<<1, 64, 0, s>>>(x, 7);
	cudaMemcpyAsync(host, x, 64 * sizeof(int), cudaMemcpyDeviceToHost, s);
	if (strcmp(how, "early") != 0)
		cudaStreamSynchronize(s);
	printf("host %d\n", host[63]);
	cudaStreamSynchronize(s);
	cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
	fill<<<1, 64, 0, s>>>(x, 8);
	cudaStreamEndCapture(s, &g);
	cudaGraphInstantiate(&ready, g, 0);
	printf("graph %d", cudaGraphLaunch(ready, s));
	printf(" %d\n", cudaStreamSynchronize(s));
	return 0;
}
