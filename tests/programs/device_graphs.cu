/*
 * Graphs that kernels launch and change: what they fire, their tails and siblings, a graph that launches
 * itself; nodes whose parameters, grid and state a kernel sets; and what is refused. Every number was
 * measured on an H200.
 */
#include "try.h"

struct shared {
	cudaGraphExec_t child, other;
	cudaGraphDeviceNode_t node[3];
	int depth;
	int code[8], count[4];
	int order[16], orders;
};

static __device__ void put(shared *s, int what)
{
	s->order[atomicAdd(&s->orders, 1)] = what;
}

__global__ void child(shared *s, int which)
{
	atomicAdd(&s->count[which], 1);
	put(s, 100 + which);
}

__global__ void last(shared *s, int what)
{
	put(s, what);
}

__global__ void fire(shared *s)
{
	s->code[0] = (int)cudaGraphLaunch(s->child, cudaStreamGraphFireAndForget);
	s->code[1] = (int)cudaGraphLaunch(s->other, cudaStreamGraphFireAndForgetAsSibling);
}

__global__ void tails(shared *s)
{
	put(s, 2);
	s->code[0] = (int)cudaGraphLaunch(s->child, cudaStreamGraphTailLaunch);
	s->code[1] = (int)cudaGraphLaunch(s->child, cudaStreamGraphTailLaunch); /* it waits already */
	s->code[2] = (int)cudaGraphLaunch(s->other, cudaStreamGraphTailLaunch);
	s->code[3] = (int)cudaGraphLaunch(0, cudaStreamGraphTailLaunch);
	s->code[4] = (int)cudaGraphLaunch(s->child, 0);
	s->code[5] = cudaGetCurrentGraphExec() != 0;
	put(s, 3);
}

__global__ void again(shared *s)
{
	put(s, 4);
	if (--s->depth > 0)
		s->code[s->depth] = (int)cudaGraphLaunch(cudaGetCurrentGraphExec(), cudaStreamGraphTailLaunch);
}

__global__ void work(shared *s, int which, int times)
{
	atomicAdd(&s->count[which], times);
}

__global__ void change(shared *s)
{
	int seven = 7;

	s->code[0] = (int)cudaGraphKernelNodeSetParam(s->node[0], 12, &seven, 4);
	s->code[1] = (int)cudaGraphKernelNodeSetEnabled(s->node[1], false);
	s->code[2] = (int)cudaGraphKernelNodeSetGridDim(s->node[2], dim3(5, 1, 1));
	s->code[3] = (int)cudaGraphKernelNodeSetParam(s->node[0], 400, &seven, 4);
	s->code[4] = (int)cudaGraphKernelNodeSetParam((cudaGraphDeviceNode_t)0, 8, &seven, 4);
	s->code[5] = (int)cudaGraphKernelNodeSetGridDim(s->node[2], dim3(0, 1, 1));
}

__global__ void change_at_once(shared *s)
{
	__align__(16) char room[2 * sizeof(cudaGraphKernelNodeUpdate)];
	cudaGraphKernelNodeUpdate *u = (cudaGraphKernelNodeUpdate *)room;

	u[0].node = s->node[1];
	u[0].field = cudaGraphKernelNodeFieldEnabled;
	u[0].updateData.isEnabled = true;
	u[1].node = s->node[2];
	u[1].field = cudaGraphKernelNodeFieldGridDim;
	u[1].updateData.gridDim.x = 2;
	u[1].updateData.gridDim.y = u[1].updateData.gridDim.z = 1;
	s->code[0] = (int)cudaGraphKernelNodeUpdatesApply(u, 2);
}

static shared *s;
static cudaStream_t stream;

static void clear()
{
	for (int i = 0; i < 8; i++)
		s->code[i] = -1;
	for (int i = 0; i < 16; i++)
		s->order[i] = s->count[i & 3] = 0;
	s->orders = 0;
}

template <typename... A>
static cudaGraphNode_t add(cudaGraph_t g, cudaGraphNode_t after, void (*f)(A...), A... a)
{
	void *params[] = {&a...};
	cudaKernelNodeParams p = {};
	cudaGraphNode_t n = NULL;

	p.func = (void *)f;
	p.gridDim = dim3(1);
	p.blockDim = dim3(1);
	p.kernelParams = params;
	if (cudaGraphAddKernelNode(&n, g, after ? &after : NULL, after ? 1 : 0, &p) != cudaSuccess)
		printf("a node could not be added\n");
	return n;
}

static int run(cudaGraph_t g)
{
	cudaGraphExec_t x;

	clear();
	TRY(cudaGraphInstantiate(&x, g, 0));
	TRY(cudaGraphLaunch(x, stream));
	TRY(cudaStreamSynchronize(stream));
	TRY(cudaGraphExecDestroy(x));
	TRY(cudaGraphDestroy(g));
	return 0;
}

static int device_exec(cudaGraphExec_t *x, cudaGraph_t g)
{
	TRY(cudaGraphInstantiateWithFlags(
		x, g, cudaGraphInstantiateFlagDeviceLaunch | cudaGraphInstantiateFlagUpload));
	return 0;
}

static int launches()
{
	static const int order[] = {2, 3, 9, 100, 101}, chain[] = {4, 8, 4, 8, 4, 8};
	cudaGraph_t g;
	cudaGraphExec_t x;

	TRY(cudaGraphCreate(&g, 0));
	add(g, NULL, fire, s);
	if (run(g))
		return 1;
	SAME(s->code[0], 0);
	SAME(s->code[1], 0);
	SAME(s->count[0], 1);
	SAME(s->count[1], 1);
	/* Tails come after the whole graph, one after the other. */
	TRY(cudaGraphCreate(&g, 0));
	add(g, add(g, NULL, tails, s), last, s, 9);
	if (run(g))
		return 1;
	for (int i = 0; i < 5; i++)
		SAME(s->order[i], order[i]);
	SAME(s->code[0], 0);
	SAME(s->code[1], cudaErrorInvalidValue);
	SAME(s->code[2], 0);
	SAME(s->code[3], cudaErrorInvalidValue);
	SAME(s->code[4], cudaErrorInvalidValue);
	SAME(s->code[5], 0); /* of a graph that only the host launches */
	/* A graph that launches itself. */
	TRY(cudaGraphCreate(&g, 0));
	add(g, add(g, NULL, again, s), last, s, 8);
	clear();
	s->depth = 3;
	if (device_exec(&x, g))
		return 1;
	TRY(cudaGraphLaunch(x, stream));
	TRY(cudaStreamSynchronize(stream));
	SAME(s->orders, 6);
	for (int i = 0; i < 6; i++)
		SAME(s->order[i], chain[i]);
	SAME(s->code[1], 0);
	SAME(s->code[2], 0);
	TRY(cudaGraphExecDestroy(x));
	TRY(cudaGraphDestroy(g));
	/* Such a kernel is launched in graphs only. */
	fire<<<1, 1, 0, stream>>>(s);
	SAME(cudaGetLastError(), cudaErrorNotSupported);
	return 0;
}

static int changes()
{
	cudaGraph_t g, clone;
	cudaGraphExec_t x;
	cudaGraphNode_t n, first = NULL;
	cudaKernelNodeAttrValue v;

	TRY(cudaGraphCreate(&g, 0));
	n = add(g, NULL, change, s);
	for (int i = 0; i < 3; i++) {
		n = add(g, n, work, s, i, 1);
		first = first ? first : n;
		v = cudaKernelNodeAttrValue();
		v.deviceUpdatableKernelNode.deviceUpdatable = 1;
		TRY(cudaGraphKernelNodeSetAttribute(n, cudaLaunchAttributeDeviceUpdatableKernelNode, &v));
		TRY(cudaGraphKernelNodeGetAttribute(n, cudaLaunchAttributeDeviceUpdatableKernelNode, &v));
		SAME(v.deviceUpdatableKernelNode.deviceUpdatable, 1);
		s->node[i] = v.deviceUpdatableKernelNode.devNode;
	}
	v = cudaKernelNodeAttrValue();
	SAME(cudaGraphKernelNodeSetAttribute(first, cudaLaunchAttributeDeviceUpdatableKernelNode, &v),
	     cudaErrorNotSupported);
	SAME(cudaGraphClone(&clone, g), cudaErrorNotSupported);
	clear();
	TRY(cudaGraphInstantiate(&x, g, 0));
	TRY(cudaGraphLaunch(x, stream));
	TRY(cudaStreamSynchronize(stream));
	for (int i = 0; i < 6; i++)
		SAME(s->code[i], i < 3 ? cudaSuccess : cudaErrorInvalidValue);
	SAME(s->count[0], 7);
	SAME(s->count[1], 0);
	SAME(s->count[2], 5);
	/* From outside, for what is launched then; the first node sets them again. */
	clear();
	change_at_once<<<1, 1, 0, stream>>>(s);
	TRY(cudaStreamSynchronize(stream));
	SAME(s->code[0], 0);
	TRY(cudaGraphDestroy(g));
	TRY(cudaGraphLaunch(x, stream));
	TRY(cudaStreamSynchronize(stream));
	SAME(s->count[0], 7);
	SAME(s->count[2], 5);
	TRY(cudaGraphExecDestroy(x));
	return 0;
}

static void CUDART_CB nothing(void *) {}

/* Kernels launch graphs of kernels, copies and fills. */
static int refusals()
{
	cudaGraph_t g;
	cudaGraphNode_t n;
	cudaHostNodeParams host = {nothing, NULL};
	cudaGraphInstantiateParams p = {};
	cudaGraphExec_t x;

	p.flags = cudaGraphInstantiateFlagDeviceLaunch;
	TRY(cudaGraphCreate(&g, 0));
	SAME(cudaGraphInstantiateWithParams(&x, g, &p), cudaErrorInvalidValue);
	SAME(p.result_out, cudaGraphInstantiateError);
	TRY(cudaGraphAddHostNode(&n, g, NULL, 0, &host));
	SAME(cudaGraphInstantiateWithParams(&x, g, &p), cudaErrorInvalidValue);
	SAME(p.result_out, cudaGraphInstantiateNodeOperationNotSupported);
	TRY(cudaGraphDestroy(g));
	return 0;
}

int main()
{
	cudaGraph_t g[2];

	TRY(cudaStreamCreate(&stream));
	TRY(cudaHostAlloc(&s, sizeof(*s), cudaHostAllocMapped));
	for (int i = 0; i < 2; i++) {
		TRY(cudaGraphCreate(&g[i], 0));
		add(g[i], NULL, child, s, i);
		if (device_exec(i ? &s->other : &s->child, g[i]))
			return 1;
	}
	TRY(cudaStreamSynchronize(stream));
	if (launches() || changes() || refusals())
		return 1;
	printf("all right\n");
	return 0;
}
