/*
 * CUDA_LAUNCH_BLOCKING: prints what the calls right behind a launch, a copy and a graph's launch see.
 */
#include <cuda_runtime.h>
#include <stdio.h>

__global__ void late(volatile int *flag)
{
	long long n = 0;

	for (int i = 0; i < 400000; i++)
		n += i ^ n;
	*flag = 1 + (n == 12345);
}

__global__ void fault(int *p)
{
	*p = 1;
}

int main()
{
	volatile int *flag;
	cudaStream_t s;
	cudaGraph_t graph;
	cudaGraphExec_t exec;
	int *to, from = 7, launch, sync;

	cudaHostAlloc((void **)&flag, sizeof(int), cudaHostAllocMapped);
	cudaMalloc(&to, sizeof(int));
	cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
	*flag = 0;
	late<<<8, 64, 0, s>>>(flag);
	printf("launch: %s\n", *flag && cudaStreamQuery(s) == cudaSuccess ? "over" : "under way");
	cudaMemcpyAsync(to, &from, sizeof(int), cudaMemcpyHostToDevice, s);
	printf("copy: %s\n", cudaStreamQuery(s) == cudaSuccess ? "over" : "under way");
	cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
	late<<<8, 64, 0, s>>>(flag);
	cudaStreamEndCapture(s, &graph);
	cudaGraphInstantiate(&exec, graph, 0);
	cudaStreamSynchronize(s);
	*flag = 0;
	cudaGraphLaunch(exec, s);
	printf("graph: %s\n", *flag && cudaStreamQuery(s) == cudaSuccess ? "over" : "under way");
	cudaStreamSynchronize(s);
	late<<<8, 64, 0, s>>>(flag);
	fault<<<1, 1, 0, s>>>((int *)0);
	launch = cudaGetLastError();
	sync = cudaStreamSynchronize(s);
	printf("fault: %s, then %s\n", cudaGetErrorName((cudaError_t)launch),
	       cudaGetErrorName((cudaError_t)sync));
	return 0;
}
