// Memory that graphs allocate: nodes that allocate and free, relaunches, what is in use.
#include "try.h"

__global__ void set(int *p, int v)
{
	p[threadIdx.x] = v + threadIdx.x;
}

static cudaError_t allocate(cudaGraphNode_t *node, cudaGraph_t graph, size_t bytes, int **out)
{
	cudaMemAllocNodeParams a = {};
	cudaError_t e;

	a.poolProps.allocType = cudaMemAllocationTypePinned;
	a.poolProps.location.type = cudaMemLocationTypeDevice;
	a.bytesize = bytes;
	e = cudaGraphAddMemAllocNode(node, graph, NULL, 0, &a);
	*out = (int *)a.dptr;
	return e;
}

static cudaError_t work(cudaGraphNode_t *node, cudaGraph_t graph, cudaGraphNode_t *after, int *p, int v)
{
	void *args[] = {&p, &v};
	cudaKernelNodeParams k = {};

	k.func = (void *)set;
	k.gridDim = dim3(1);
	k.blockDim = dim3(32);
	k.kernelParams = args;
	return cudaGraphAddKernelNode(node, graph, after, 1, &k);
}

static size_t in_use(cudaGraphMemAttributeType which)
{
	size_t n = 12345;

	cudaDeviceGetGraphMemAttribute(0, which, &n);
	return n;
}

// Allocated and freed within the graph.
static int closed(cudaStream_t s)
{
	cudaGraph_t graph, copy;
	cudaGraphNode_t alloc, fill, back, release;
	cudaGraphExec_t exec;
	int *p, h[32];

	TRY(cudaGraphCreate(&graph, 0));
	TRY(allocate(&alloc, graph, 32 * sizeof(int), &p));
	TRY(work(&fill, graph, &alloc, p, 5));
	TRY(cudaGraphAddMemcpyNode1D(&back, graph, &fill, 1, h, p, sizeof(h), cudaMemcpyDeviceToHost));
	TRY(cudaGraphAddMemFreeNode(&release, graph, &back, 1, p));
	REFUSED(cudaErrorInvalidValue, cudaGraphAddMemFreeNode(&release, graph, &back, 1, p));
	REFUSED(cudaErrorNotSupported, cudaGraphClone(&copy, graph));
	TRY(cudaGraphInstantiate(&exec, graph, 0));
	for (int i = 0; i < 3; i++) {
		h[31] = 0;
		TRY(cudaGraphLaunch(exec, s));
		TRY(cudaStreamSynchronize(s));
		SAME(h[31], 36);
		SAME(in_use(cudaGraphMemAttrUsedMemCurrent), 32 << 20);
	}
	SAME(in_use(cudaGraphMemAttrUsedMemHigh) >= sizeof(h), 1);
	TRY(cudaGraphExecDestroy(exec));
	TRY(cudaGraphDestroy(graph));
	SAME(in_use(cudaGraphMemAttrUsedMemCurrent), 0);
	TRY(cudaDeviceGraphMemTrim(0));
	SAME(in_use(cudaGraphMemAttrReservedMemCurrent), 0);
	return 0;
}

// Freed by another graph.
static int open(cudaStream_t s)
{
	cudaGraph_t graph, other;
	cudaGraphNode_t alloc, fill, release;
	cudaGraphExec_t exec, free_it;
	int *p, h[32];

	TRY(cudaGraphCreate(&graph, 0));
	TRY(allocate(&alloc, graph, 32 * sizeof(int), &p));
	TRY(work(&fill, graph, &alloc, p, 7));
	TRY(cudaGraphCreate(&other, 0));
	TRY(cudaGraphAddMemFreeNode(&release, other, NULL, 0, p));
	TRY(cudaGraphInstantiate(&exec, graph, 0));
	TRY(cudaGraphInstantiate(&free_it, other, 0));
	for (int i = 0; i < 2; i++) {
		TRY(cudaGraphLaunch(exec, s));
		TRY(cudaMemcpyAsync(h, p, sizeof(h), cudaMemcpyDeviceToHost, s));
		TRY(cudaStreamSynchronize(s));
		SAME(h[1], 8);
		SAME(in_use(cudaGraphMemAttrUsedMemCurrent) >= sizeof(h), 1);
		REFUSED(cudaErrorInvalidValue, cudaGraphLaunch(exec, s));
		TRY(cudaGraphLaunch(free_it, s));
	}
	TRY(cudaStreamSynchronize(s));
	TRY(cudaGraphExecDestroy(exec));
	// One that frees what is left of its last launch by itself.
	TRY(cudaGraphInstantiate(&exec, graph, cudaGraphInstantiateFlagAutoFreeOnLaunch));
	TRY(cudaGraphLaunch(exec, s));
	TRY(cudaGraphLaunch(exec, s));
	TRY(cudaGraphLaunch(free_it, s));
	TRY(cudaStreamSynchronize(s));
	TRY(cudaGraphExecDestroy(exec));
	TRY(cudaGraphExecDestroy(free_it));
	TRY(cudaGraphDestroy(graph));
	TRY(cudaGraphDestroy(other));
	return 0;
}

static cudaError_t allocate_after(cudaGraphNode_t *node, cudaGraph_t graph, cudaGraphNode_t *after, int **out)
{
	cudaMemAllocNodeParams a = {};
	cudaError_t e;

	a.poolProps.allocType = cudaMemAllocationTypePinned;
	a.poolProps.location.type = cudaMemLocationTypeDevice;
	a.bytesize = 128;
	e = cudaGraphAddMemAllocNode(node, graph, after, 1, &a);
	*out = (int *)a.dptr;
	return e;
}

// What has been freed before is taken again, once; what is freed beside is not.
static int again()
{
	cudaGraph_t graph;
	cudaGraphNode_t first, given, second, third;
	int *p, *q, *r;

	TRY(cudaGraphCreate(&graph, 0));
	TRY(allocate(&first, graph, 128, &p));
	TRY(cudaGraphAddMemFreeNode(&given, graph, &first, 1, p));
	TRY(allocate_after(&second, graph, &given, &q));
	SAME(p == q, 1);
	TRY(allocate_after(&third, graph, &given, &r));
	SAME(p == r, 0);
	TRY(allocate_after(&third, graph, &first, &r));
	SAME(p == r, 0);
	TRY(cudaGraphAddMemFreeNode(&third, graph, &second, 1, q));
	REFUSED(cudaErrorInvalidValue, cudaGraphAddMemFreeNode(&third, graph, &second, 1, q));
	TRY(cudaGraphDestroy(graph));
	return 0;
}

// What allocates is no child.
static int no_child()
{
	cudaGraph_t graph, parent;
	cudaGraphNode_t alloc, child;
	int *p;

	TRY(cudaGraphCreate(&graph, 0));
	TRY(cudaGraphCreate(&parent, 0));
	TRY(allocate(&alloc, graph, 32 * sizeof(int), &p));
	REFUSED(cudaErrorNotSupported, cudaGraphAddChildGraphNode(&child, parent, NULL, 0, graph));
	TRY(cudaGraphDestroy(parent));
	TRY(cudaGraphDestroy(graph));
	return 0;
}

int main()
{
	cudaStream_t s;

	TRY(cudaStreamCreate(&s));
	if (closed(s) || open(s) || again() || no_child())
		return 1;
	TRY(cudaStreamDestroy(s));
	puts("all right");
	return 0;
}
