/*
 * Streams, events, memory operations, captures and the older launches of the driver interface.
 */
#include <cuda.h>
#include <stdio.h>
#include <string.h>

#define TRY(call)                                                                                  \
	do {                                                                                       \
		CUresult e_ = (call);                                                              \
		if (e_ != CUDA_SUCCESS) {                                                          \
			printf("%s:%d: %s: %d\n", __FILE__, __LINE__, #call, (int)e_);             \
			return 1;                                                                  \
		}                                                                                  \
	} while (0)
#define REFUSED(error, call)                                                                       \
	do {                                                                                       \
		CUresult e_ = (call);                                                              \
		if (e_ != (error)) {                                                               \
			printf("%s:%d: %s: %d instead of %d\n", __FILE__, __LINE__, #call,         \
			       (int)e_, (int)(error));                                             \
			return 1;                                                                  \
		}                                                                                  \
	} while (0)
#define SAME(a, b)                                                                                 \
	do {                                                                                       \
		if ((long long)(a) != (long long)(b)) {                                            \
			printf("%s:%d: %s is %lld\n", __FILE__, __LINE__, #a, (long long)(a));     \
			return 1;                                                                  \
		}                                                                                  \
	} while (0)

static const char text[] =
	".version 7.0\n.target sm_70\n.address_size 64\n"
	".visible .entry step(.param .u64 p, .param .u32 v) {\n"
	"	.reg .u64 %p; .reg .u32 %v, %x;\n"
	"	ld.param.u64 %p, [p]; ld.param.u32 %v, [v];\n"
	"	ld.global.u32 %x, [%p]; mad.lo.u32 %x, %x, 3, %v; st.global.u32 [%p], %x; ret;\n}\n";

static CUfunction step;
static unsigned *host; /* pinned, what the device has at p */
static CUdeviceptr p;

static CUresult launch(CUstream s, unsigned v)
{
	void *params[] = {&p, &v};

	return cuLaunchKernel(step, 1, 1, 1, 1, 1, 1, 0, s, params, NULL);
}

static int memory_ops(CUstream a, CUstream b)
{
	CUstreamBatchMemOpParams ops[3];

	memset(host, 0, 64);
	TRY(cuStreamWaitValue32(a, p + 4, 5, CU_STREAM_WAIT_VALUE_EQ));
	TRY(launch(a, 2));
	TRY(cuStreamWriteValue64(a, p + 16, 0x123456789abcdefull, 0));
	REFUSED(CUDA_ERROR_NOT_READY, cuStreamQuery(a));
	TRY(cuStreamWriteValue32(b, p + 4, 5, 0));
	TRY(cuStreamSynchronize(a));
	SAME(host[0], 2);
	SAME(*(unsigned long long *)(host + 4), 0x123456789abcdefull);
	memset(ops, 0, sizeof(ops));
	ops[0].waitValue.operation = CU_STREAM_MEM_OP_WAIT_VALUE_64;
	ops[0].waitValue.address = p + 24;
	ops[0].waitValue.value64 = 3;
	ops[0].waitValue.flags = CU_STREAM_WAIT_VALUE_GEQ;
	ops[1].writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
	ops[1].writeValue.address = p + 8;
	ops[1].writeValue.value = 77;
	TRY(cuStreamBatchMemOp(a, 2, ops, 0));
	REFUSED(CUDA_ERROR_NOT_READY, cuStreamQuery(a));
	SAME(host[2], 0);
	*(volatile unsigned long long *)(host + 6) = 4;
	TRY(cuStreamSynchronize(a));
	SAME(host[2], 77);
	REFUSED(CUDA_ERROR_INVALID_VALUE, cuStreamWaitValue32(a, p + 2, 5, 0));
	REFUSED(CUDA_ERROR_INVALID_VALUE, cuStreamWaitValue32(a, 12, 5, 0));
	TRY(cuStreamBatchMemOp(a, 0, ops, 0));
	return 0;
}

static int launches(CUstream s)
{
	unsigned v = 6;
	struct {
		CUdeviceptr p;
		unsigned v;
	} block = {p, 4};
	size_t bytes = 12;
	void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &block, CU_LAUNCH_PARAM_BUFFER_SIZE,
			 &bytes, CU_LAUNCH_PARAM_END};
	void *params[] = {&p, &v};
	CUlaunchConfig c;
	CUlaunchAttribute attr;

	host[0] = 1;
	TRY(cuLaunchKernel(step, 1, 1, 1, 1, 1, 1, 0, s, NULL, extra));
	TRY(cuLaunchCooperativeKernel(step, 1, 1, 1, 1, 1, 1, 0, s, params));
	memset(&c, 0, sizeof(c));
	memset(&attr, 0, sizeof(attr));
	c.gridDimX = c.gridDimY = c.gridDimZ = c.blockDimX = c.blockDimY = c.blockDimZ = 1;
	c.hStream = s;
	attr.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
	attr.value.programmaticStreamSerializationAllowed = 1;
	c.attrs = &attr;
	c.numAttrs = 1;
	TRY(cuLaunchKernelEx(&c, step, params, NULL));
	TRY(cuStreamSynchronize(s));
	SAME(host[0], ((1 * 3 + 4) * 3 + 6) * 3 + 6);
	REFUSED(CUDA_ERROR_INVALID_VALUE,
		cuLaunchKernel(step, 0, 1, 1, 1, 1, 1, 0, s, params, NULL));
	REFUSED(CUDA_ERROR_INVALID_VALUE,
		cuLaunchKernel(step, 1, 1, 1, 1, 1, 1, 0, s, params, extra));
	/* Block shape and parameters set on the function. */
	host[0] = 2;
	TRY(cuFuncSetBlockShape(step, 1, 1, 1));
	TRY(cuParamSetSize(step, 12));
	TRY(cuParamSetv(step, 0, &p, 8));
	TRY(cuParamSeti(step, 8, 9));
	TRY(cuLaunchGrid(step, 1, 1));
	TRY(cuCtxSynchronize());
	SAME(host[0], 15);
	return 0;
}

static int captures(CUstream s)
{
	CUgraph graph, into;
	CUgraphNode node, memops, deps[4];
	CUgraphExec exec;
	CUDA_KERNEL_NODE_PARAMS k;
	CUDA_BATCH_MEM_OP_NODE_PARAMS m;
	CUstreamBatchMemOpParams op;
	CUstreamCaptureStatus status;
	const CUgraphNode *after;
	cuuint64_t id = 0;
	unsigned v = 1;
	void *params[] = {&p, &v};
	size_t n = 0;

	host[0] = host[3] = 0;
	TRY(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
	TRY(launch(s, 1));
	TRY(cuStreamGetCaptureInfo(s, &status, &id, &graph, &after, NULL, &n));
	SAME(status, CU_STREAM_CAPTURE_STATUS_ACTIVE);
	SAME(n, 1);
	deps[0] = after[0];
	/* A node added by hand in the middle. */
	memset(&k, 0, sizeof(k));
	k.func = step;
	k.gridDimX = k.gridDimY = k.gridDimZ = k.blockDimX = k.blockDimY = k.blockDimZ = 1;
	k.kernelParams = params;
	TRY(cuGraphAddKernelNode(&node, graph, deps, 1, &k));
	TRY(cuStreamUpdateCaptureDependencies(s, &node, NULL, 1,
					      CU_STREAM_SET_CAPTURE_DEPENDENCIES));
	TRY(launch(s, 2));
	TRY(cuStreamEndCapture(s, &graph));
	TRY(cuGraphGetNodes(graph, NULL, &n));
	SAME(n, 3);
	/* A second capture into the same graph, after a memory operation. */
	memset(&m, 0, sizeof(m));
	memset(&op, 0, sizeof(op));
	op.writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
	op.writeValue.address = p + 12;
	op.writeValue.value = 5;
	m.count = 1;
	m.paramArray = &op;
	TRY(cuCtxGetCurrent(&m.ctx));
	TRY(cuGraphAddBatchMemOpNode(&memops, graph, NULL, 0, &m));
	TRY(cuStreamBeginCaptureToGraph(s, graph, &memops, NULL, 1,
					CU_STREAM_CAPTURE_MODE_RELAXED));
	TRY(cuStreamWaitValue32(s, p + 12, 5, CU_STREAM_WAIT_VALUE_EQ));
	TRY(cuStreamEndCapture(s, &into));
	SAME(into == graph, 1);
	TRY(cuGraphGetEdges(graph, NULL, NULL, NULL, &n));
	SAME(n, 3);
	TRY(cuGraphInstantiate(&exec, graph, 0));
	TRY(cuGraphLaunch(exec, s));
	TRY(cuStreamSynchronize(s));
	SAME(host[0], (1 * 3 + 1) * 3 + 2);
	SAME(host[3], 5);
	v = 10;
	TRY(cuGraphExecKernelNodeSetParams(exec, node, &k));
	host[0] = 0;
	TRY(cuGraphLaunch(exec, s));
	TRY(cuStreamSynchronize(s));
	SAME(host[0], (1 * 3 + 10) * 3 + 2);
	TRY(cuGraphExecDestroy(exec));
	TRY(cuGraphDestroy(graph));
	return 0;
}

int main(void)
{
	CUdevice device;
	CUcontext context;
	CUmodule module;
	CUstream a, b;

	TRY(cuInit(0));
	TRY(cuDeviceGet(&device, 0));
	TRY(cuDevicePrimaryCtxRetain(&context, device));
	TRY(cuCtxSetCurrent(context));
	TRY(cuModuleLoadData(&module, text));
	TRY(cuModuleGetFunction(&step, module, "step"));
	/* Not managed memory: streams cannot wait for words of that. */
	TRY(cuMemHostAlloc((void **)&host, 4096, CU_MEMHOSTALLOC_DEVICEMAP));
	TRY(cuMemHostGetDevicePointer(&p, host, 0));
	TRY(cuStreamCreate(&a, CU_STREAM_NON_BLOCKING));
	TRY(cuStreamCreateWithPriority(&b, CU_STREAM_NON_BLOCKING, -1));
	if (memory_ops(a, b) || launches(a) || captures(a))
		return 1;
	TRY(cuStreamDestroy(a));
	TRY(cuStreamDestroy(b));
	TRY(cuMemFreeHost(host));
	TRY(cuDevicePrimaryCtxRelease(device));
	puts("all right");
	return 0;
}
