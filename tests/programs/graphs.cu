// Graphs: capture with a fork and a join, nodes added by hand, clones, updates, children, host and event nodes.
#include "try.h"

#include <string.h>
#include <unistd.h>

// The order of calls shows in the result.
__global__ void step(int *p, int v)
{
	*p = *p * 3 + v;
}

__global__ void clear(int *p)
{
	p[threadIdx.x] = 0;
}

// Two of these only end when both run.
__global__ void meet(volatile int *mine, volatile int *other)
{
	*mine = 1;
	while (!*other)
		;
}

static int calls;

static void count(void *user)
{
	calls += *(int *)user;
}

static int read_back(const int *p)
{
	int v = -1;

	cudaMemcpy(&v, p, sizeof(v), cudaMemcpyDeviceToHost);
	return v;
}

static int captured(int *p)
{
	cudaStream_t a, b;
	cudaEvent_t fork, join;
	cudaGraph_t graph = NULL;
	cudaGraphExec_t exec;
	cudaStreamCaptureStatus state;
	cudaGraphNode_t nodes[16];
	cudaGraphNodeType type;
	size_t n = 16;
	int kinds[16] = {0};

	TRY(cudaStreamCreate(&a));
	TRY(cudaStreamCreate(&b));
	TRY(cudaEventCreateWithFlags(&fork, cudaEventDisableTiming));
	TRY(cudaEventCreateWithFlags(&join, cudaEventDisableTiming));
	TRY(cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal));
	TRY(cudaStreamIsCapturing(a, &state));
	SAME(state, cudaStreamCaptureStatusActive);
	clear<<<1, 16, 0, a>>>(p);
	TRY(cudaEventRecord(fork, a));
	TRY(cudaStreamWaitEvent(b, fork, 0));
	meet<<<1, 1, 0, a>>>(p, p + 1);
	meet<<<1, 1, 0, b>>>(p + 1, p);
	TRY(cudaEventRecord(join, b));
	TRY(cudaStreamWaitEvent(a, join, 0));
	TRY(cudaStreamDestroy(b)); // it has been joined
	step<<<1, 1, 0, a>>>(p, 5);
	TRY(cudaStreamEndCapture(a, &graph));
	TRY(cudaStreamIsCapturing(a, &state));
	SAME(state, cudaStreamCaptureStatusNone);
	TRY(cudaGraphGetNodes(graph, nodes, &n));
	SAME(n, 4);
	for (size_t i = 0; i < n; i++) {
		TRY(cudaGraphNodeGetType(nodes[i], &type));
		kinds[type]++;
	}
	SAME(kinds[cudaGraphNodeTypeKernel], 4);
	TRY(cudaGraphGetRootNodes(graph, NULL, &n));
	SAME(n, 1);
	TRY(cudaGraphInstantiate(&exec, graph, 0));
	TRY(cudaGraphDestroy(graph));
	for (int i = 0; i < 10; i++)
		TRY(cudaGraphLaunch(exec, a));
	TRY(cudaStreamSynchronize(a));
	SAME(read_back(p), 8);
	TRY(cudaGraphExecDestroy(exec));
	TRY(cudaEventDestroy(fork));
	TRY(cudaEventDestroy(join));
	TRY(cudaStreamDestroy(a));
	return 0;
}

static int spoiled(int *p)
{
	cudaStream_t a, b;
	cudaEvent_t e;
	cudaGraph_t graph;
	cudaStreamCaptureStatus state;

	TRY(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking));
	TRY(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
	TRY(cudaEventCreateWithFlags(&e, cudaEventDisableTiming));
	REFUSED(cudaErrorIllegalState, cudaStreamEndCapture(a, &graph));
	REFUSED(cudaErrorStreamCaptureUnsupported,
			cudaStreamBeginCapture(0, cudaStreamCaptureModeGlobal));
	// Waiting for a stream that captures.
	TRY(cudaStreamBeginCapture(a, cudaStreamCaptureModeRelaxed));
	REFUSED(cudaErrorIllegalState, cudaStreamBeginCapture(a, cudaStreamCaptureModeRelaxed));
	REFUSED(cudaErrorStreamCaptureUnsupported, cudaStreamSynchronize(a));
	TRY(cudaStreamIsCapturing(a, &state));
	SAME(state, cudaStreamCaptureStatusInvalidated);
	step<<<1, 1, 0, a>>>(p, 1);
	REFUSED(cudaErrorStreamCaptureInvalidated, cudaGetLastError());
	REFUSED(cudaErrorStreamCaptureInvalidated, cudaStreamEndCapture(a, &graph));
	SAME(graph == NULL, 1);
	// Allocation is forbidden to all threads while a capture is global, but to nobody when it is relaxed.
	int *more;
	TRY(cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal));
	REFUSED(cudaErrorStreamCaptureUnsupported, cudaMalloc(&more, 64));
	REFUSED(cudaErrorStreamCaptureInvalidated, cudaStreamEndCapture(a, &graph));
	TRY(cudaStreamBeginCapture(a, cudaStreamCaptureModeRelaxed));
	TRY(cudaMalloc(&more, 64));
	TRY(cudaMemsetAsync(more, 0, 64, a));
	TRY(cudaStreamEndCapture(a, &graph));
	TRY(cudaGraphDestroy(graph));
	TRY(cudaFree(more));
	// A fork without a join.
	TRY(cudaStreamBeginCapture(a, cudaStreamCaptureModeRelaxed));
	TRY(cudaEventRecord(e, a));
	TRY(cudaStreamWaitEvent(b, e, 0));
	step<<<1, 1, 0, b>>>(p, 1);
	REFUSED(cudaErrorStreamCaptureUnjoined, cudaStreamEndCapture(a, &graph));
	// Ended in the wrong stream.
	TRY(cudaStreamBeginCapture(a, cudaStreamCaptureModeRelaxed));
	TRY(cudaEventRecord(e, a));
	TRY(cudaStreamWaitEvent(b, e, 0));
	REFUSED(cudaErrorStreamCaptureUnmatched, cudaStreamEndCapture(b, &graph));
	REFUSED(cudaErrorStreamCaptureInvalidated, cudaStreamEndCapture(a, &graph));
	// An event of work that is not captured; asking about an event that is.
	TRY(cudaEventRecord(e, b));
	TRY(cudaStreamBeginCapture(a, cudaStreamCaptureModeRelaxed));
	REFUSED(cudaErrorStreamCaptureIsolation, cudaStreamWaitEvent(a, e, 0));
	REFUSED(cudaErrorStreamCaptureInvalidated, cudaStreamEndCapture(a, &graph));
	TRY(cudaStreamBeginCapture(a, cudaStreamCaptureModeRelaxed));
	TRY(cudaEventRecord(e, a));
	REFUSED(cudaErrorCapturedEvent, cudaEventQuery(e));
	REFUSED(cudaErrorStreamCaptureInvalidated, cudaStreamEndCapture(a, &graph));
	// Two captures cannot become one.
	TRY(cudaStreamBeginCapture(a, cudaStreamCaptureModeRelaxed));
	TRY(cudaStreamBeginCapture(b, cudaStreamCaptureModeRelaxed));
	TRY(cudaEventRecord(e, a));
	REFUSED(cudaErrorStreamCaptureMerge, cudaStreamWaitEvent(b, e, 0));
	REFUSED(cudaErrorStreamCaptureInvalidated, cudaStreamEndCapture(a, &graph));
	REFUSED(cudaErrorStreamCaptureInvalidated, cudaStreamEndCapture(b, &graph));
	TRY(cudaStreamDestroy(a));
	TRY(cudaStreamDestroy(b));
	// The default stream waits for blocking ones, which a capture cannot allow.
	TRY(cudaStreamCreate(&a));
	TRY(cudaStreamBeginCapture(a, cudaStreamCaptureModeRelaxed));
	step<<<1, 1>>>(p, 1);
	REFUSED(cudaErrorStreamCaptureImplicit, cudaGetLastError());
	REFUSED(cudaErrorStreamCaptureInvalidated, cudaStreamEndCapture(a, &graph));
	TRY(cudaStreamDestroy(a));
	TRY(cudaEventDestroy(e));
	TRY(cudaDeviceSynchronize());
	return 0;
}

static int by_hand(int *p)
{
	cudaGraph_t graph, child, clone;
	cudaGraphNode_t set, first, second, host, copy, inner, found;
	cudaGraphExec_t exec;
	cudaMemsetParams m = {};
	cudaKernelNodeParams k = {}, got = {};
	cudaHostNodeParams h = {};
	cudaGraphExecUpdateResultInfo info;
	cudaStream_t s;
	int v = 2, w = 7, three = 3, out = -1;
	void *args[] = {&p, &v}, *other[] = {&p, &w};
	size_t n;
	unsigned on = 9;

	TRY(cudaStreamCreate(&s));
	TRY(cudaGraphCreate(&graph, 0));
	m.dst = p;
	m.value = 1;
	m.elementSize = 4;
	m.width = 1;
	m.height = 1;
	TRY(cudaGraphAddMemsetNode(&set, graph, NULL, 0, &m));
	k.func = (void *)step;
	k.gridDim = dim3(1);
	k.blockDim = dim3(1);
	k.kernelParams = args;
	TRY(cudaGraphAddKernelNode(&first, graph, &set, 1, &k));
	h.fn = count;
	h.userData = &three;
	TRY(cudaGraphAddHostNode(&host, graph, &first, 1, &h));
	TRY(cudaGraphCreate(&child, 0));
	TRY(cudaGraphAddKernelNode(&inner, child, NULL, 0, &k));
	TRY(cudaGraphAddChildGraphNode(&second, graph, &host, 1, child));
	TRY(cudaGraphDestroy(child));
	TRY(cudaGraphAddMemcpyNode1D(&copy, graph, NULL, 0, &out, p, sizeof(out),
								 cudaMemcpyDeviceToHost));
	TRY(cudaGraphAddDependencies(graph, &second, &copy, NULL, 1));
	REFUSED(cudaErrorInvalidValue, cudaGraphAddDependencies(graph, &second, &copy, NULL, 1));
	v = 100; // parameters were copied
	TRY(cudaGraphGetEdges(graph, NULL, NULL, NULL, &n));
	SAME(n, 4);
	TRY(cudaGraphNodeGetDependencies(copy, &found, NULL, &(n = 1)));
	SAME(found == second, 1);
	TRY(cudaGraphKernelNodeGetParams(first, &got));
	SAME(*(int *)got.kernelParams[1], 2);
	SAME(got.gridDim.x, 1);
	TRY(cudaGraphInstantiateWithFlags(&exec, graph, 0));
	TRY(cudaGraphLaunch(exec, s));
	TRY(cudaGraphLaunch(exec, s));
	TRY(cudaStreamSynchronize(s));
	SAME(out, (1 * 3 + 2) * 3 + 2);
	SAME(calls, 6);
	// Another parameter for one node, then one node off.
	k.kernelParams = other;
	TRY(cudaGraphExecKernelNodeSetParams(exec, first, &k));
	TRY(cudaGraphLaunch(exec, s));
	TRY(cudaStreamSynchronize(s));
	SAME(out, (1 * 3 + 7) * 3 + 2);
	TRY(cudaGraphNodeSetEnabled(exec, first, 0));
	TRY(cudaGraphNodeGetEnabled(exec, first, &on));
	SAME(on, 0);
	TRY(cudaGraphLaunch(exec, s));
	TRY(cudaStreamSynchronize(s));
	SAME(out, 1 * 3 + 2);
	// A clone with other parameters is an update.
	TRY(cudaGraphClone(&clone, graph));
	TRY(cudaGraphNodeFindInClone(&found, set, clone));
	m.value = 4;
	TRY(cudaGraphMemsetNodeSetParams(found, &m));
	TRY(cudaGraphNodeSetEnabled(exec, first, 1));
	TRY(cudaGraphExecUpdate(exec, clone, &info));
	SAME(info.result, cudaGraphExecUpdateSuccess);
	TRY(cudaGraphLaunch(exec, s));
	TRY(cudaStreamSynchronize(s));
	SAME(out, (4 * 3 + 2) * 3 + 2);
	TRY(cudaGraphNodeFindInClone(&found, copy, clone));
	TRY(cudaGraphDestroyNode(found));
	REFUSED(cudaErrorGraphExecUpdateFailure, cudaGraphExecUpdate(exec, clone, &info));
	SAME(info.result, cudaGraphExecUpdateErrorTopologyChanged);
	TRY(cudaGraphDestroy(clone));
	TRY(cudaGraphExecDestroy(exec));
	// A cycle.
	TRY(cudaGraphAddDependencies(graph, &copy, &set, NULL, 1));
	REFUSED(cudaErrorInvalidValue, cudaGraphInstantiate(&exec, graph, 0));
	TRY(cudaGraphDestroy(graph));
	REFUSED(cudaErrorInvalidValue, cudaGraphDestroy(graph));
	TRY(cudaStreamDestroy(s));
	return 0;
}

static void gone(void *user)
{
	++*(int *)user;
}

static int others(int *p)
{
	cudaGraph_t graph;
	cudaGraphNode_t work, record;
	cudaGraphExec_t exec;
	cudaKernelNodeParams k = {};
	cudaUserObject_t object;
	cudaEvent_t e;
	cudaStream_t s;
	int v = 1, destroyed = 0;
	void *args[2] = {&p, &v};

	TRY(cudaStreamCreate(&s));
	TRY(cudaEventCreate(&e));
	TRY(cudaGraphCreate(&graph, 0));
	k.func = (void *)step;
	k.gridDim = dim3(1);
	k.blockDim = dim3(1);
	k.kernelParams = args;
	TRY(cudaGraphAddKernelNode(&work, graph, NULL, 0, &k));
	TRY(cudaGraphAddEventRecordNode(&record, graph, &work, 1, e));
	TRY(cudaUserObjectCreate(&object, &destroyed, gone, 1, cudaUserObjectNoDestructorSync));
	TRY(cudaGraphRetainUserObject(graph, object, 1, cudaGraphUserObjectMove));
	TRY(cudaGraphInstantiate(&exec, graph, 0));
	TRY(cudaGraphDestroy(graph));
	SAME(destroyed, 0);
	TRY(cudaGraphLaunch(exec, s));
	TRY(cudaGraphLaunch(exec, s));
	TRY(cudaEventSynchronize(e));
	TRY(cudaGraphExecDestroy(exec));
	TRY(cudaStreamSynchronize(s));
	// By a thread of CUDA's own, some time later.
	for (int i = 0; i < 1000 && !*(volatile int *)&destroyed; i++)
		usleep(1000);
	SAME(destroyed, 1);
	TRY(cudaEventDestroy(e));
	TRY(cudaStreamDestroy(s));
	return 0;
}

int main()
{
	int *p;

	TRY(cudaMalloc(&p, 64 * sizeof(int)));
	if (captured(p) || spoiled(p) || by_hand(p) || others(p))
		return 1;
	TRY(cudaFree(p));
	TRY(cudaDeviceSynchronize());
	puts("all right");
	return 0;
}
