/*
 * Data that is kept in the second cache while other data streams by: windows of streams, launches
 * and nodes of graphs. Each step reads the kept data, streams, and reads it again.
 */
#include <cuda.h>
#include <cuda_runtime.h>

#include <cmath>
#include <cstdio>
#include <cstring>

#define CHECK(call)                                                                                \
	do {                                                                                       \
		int e = (int)(call);                                                               \
		if (e)                                                                             \
			printf("line %d: %s is %d\n", __LINE__, #call, e);                         \
	} while (0)

__global__ void touch(const int4 *at, int *out)
{
	const int4 v = __ldcg(&at[blockIdx.x * blockDim.x + threadIdx.x]);

	if (v.x == 1)
		*out = 1;
}

/* The same, by a name of its own. */
__global__ void look(const int4 *at, int *out)
{
	const int4 v = __ldcg(&at[blockIdx.x * blockDim.x + threadIdx.x]);

	if (v.x == 1)
		*out = 1;
}

/* The best practices guide's: a little data that is used again and again, and much that is not. */
__global__ void both(int *kept, int *streamed, int kept_len, int streamed_len)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	kept[i % kept_len] = 2 * kept[i % kept_len];
	streamed[i % streamed_len] = 2 * streamed[i % streamed_len];
}

static const size_t keep_bytes = 512 << 10, stream_bytes = 8 << 20;
static int4 *kept, *streamed;
static int *out;
static cudaStream_t stream;

static cudaLaunchAttribute window(float ratio, cudaAccessProperty hit, cudaAccessProperty miss)
{
	cudaLaunchAttribute a;

	memset(&a, 0, sizeof(a));
	a.id = cudaLaunchAttributeAccessPolicyWindow;
	a.val.accessPolicyWindow.base_ptr = kept;
	a.val.accessPolicyWindow.num_bytes = keep_bytes;
	a.val.accessPolicyWindow.hitRatio = ratio;
	a.val.accessPolicyWindow.hitProp = hit;
	a.val.accessPolicyWindow.missProp = miss;
	return a;
}

static int set(const cudaLaunchAttribute &a)
{
	int e = (int)cudaStreamSetAttribute(stream, cudaStreamAttributeAccessPolicyWindow, &a.val);

	cudaGetLastError();
	return e;
}

static void none()
{
	cudaLaunchAttribute a;

	memset(&a, 0, sizeof(a));
	CHECK(set(a));
}

static void read_kept()
{
	touch<<<keep_bytes / 4096, 256, 0, stream>>>(kept, out);
}

static void flow()
{
	touch<<<stream_bytes / 4096, 256, 0, stream>>>(streamed, out);
}

/* What the last read of the kept data finds is looked at. */
static void again(const char *what)
{
	none();
	flow();
	look<<<keep_bytes / 4096, 256, 0, stream>>>(kept, out);
	CHECK(cudaStreamSynchronize(stream));
	CHECK(cudaCtxResetPersistingL2Cache());
	flow();
	flow();
	CHECK(cudaStreamSynchronize(stream));
	puts(what);
}

static int launch_with(cudaLaunchAttribute a)
{
	cudaLaunchConfig_t c = {};
	int e;

	c.gridDim = keep_bytes / 4096;
	c.blockDim = 256;
	c.stream = stream;
	c.attrs = &a;
	c.numAttrs = 1;
	e = (int)cudaLaunchKernelEx(&c, touch, (const int4 *)kept, out);
	cudaGetLastError();
	return e;
}

static int node_with(cudaLaunchAttribute a, bool run)
{
	cudaGraph_t graph;
	cudaGraphExec_t exec;
	cudaGraphNode_t node;
	cudaKernelNodeParams p = {};
	cudaKernelNodeAttrValue got;
	void *args[] = {&kept, &out};
	int e;

	CHECK(cudaGraphCreate(&graph, 0));
	p.func = (void *)touch;
	p.gridDim = keep_bytes / 4096;
	p.blockDim = 256;
	p.kernelParams = args;
	CHECK(cudaGraphAddKernelNode(&node, graph, NULL, 0, &p));
	e = (int)cudaGraphKernelNodeSetAttribute(node, cudaKernelNodeAttributeAccessPolicyWindow, &a.val);
	cudaGetLastError();
	if (run) {
		CHECK(cudaGraphKernelNodeGetAttribute(
			node, cudaKernelNodeAttributeAccessPolicyWindow, &got));
		if (got.accessPolicyWindow.base_ptr != kept ||
		    got.accessPolicyWindow.num_bytes != keep_bytes ||
		    got.accessPolicyWindow.hitRatio != a.val.accessPolicyWindow.hitRatio ||
		    got.accessPolicyWindow.hitProp != cudaAccessPropertyPersisting)
			puts("the node has another window");
		CHECK(cudaGraphInstantiate(&exec, graph, 0));
		CHECK(cudaGraphLaunch(exec, stream));
		CHECK(cudaStreamSynchronize(stream));
		CHECK(cudaGraphExecDestroy(exec));
	}
	CHECK(cudaGraphDestroy(graph));
	return e;
}

static void keeps()
{
	const cudaAccessProperty persisting = cudaAccessPropertyPersisting,
				 streaming = cudaAccessPropertyStreaming,
				 normal = cudaAccessPropertyNormal;

	read_kept();
	again("without a window");
	CHECK(set(window(1, persisting, streaming)));
	read_kept();
	again("with one of the stream");
	CHECK(set(window(0.5, persisting, streaming)));
	read_kept();
	again("half of it");
	CHECK(launch_with(window(1, persisting, streaming)));
	again("of a launch");
	CHECK(node_with(window(1, persisting, streaming), true));
	again("of a node");
	CHECK(set(window(1, persisting, streaming)));
	CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
	read_kept();
	cudaGraph_t graph;
	cudaGraphExec_t exec;
	CHECK(cudaStreamEndCapture(stream, &graph));
	none();
	CHECK(cudaGraphInstantiate(&exec, graph, 0));
	CHECK(cudaGraphLaunch(exec, stream));
	again("of a stream that was captured");
	CHECK(set(window(1, persisting, streaming)));
	read_kept();
	none();
	CHECK(cudaCtxResetPersistingL2Cache());
	again("reset");
	CHECK(set(window(1, persisting, streaming)));
	read_kept();
	CHECK(set(window(1, normal, normal)));
	read_kept();
	again("normal again");
	CHECK(set(window(1, persisting, streaming)));
	read_kept();
	CHECK(set(window(1, streaming, streaming)));
	read_kept();
	again("streaming hits leave it");
}

/* One launch, with a window or without: 2 MiB that are used by 8 MiB of threads. */
static void guide(bool with)
{
	cudaLaunchAttribute a = window(1, cudaAccessPropertyPersisting, cudaAccessPropertyStreaming);
	const size_t bytes = 2 << 20;

	a.val.accessPolicyWindow.num_bytes = bytes;
	CHECK(cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, 5 << 19));
	if (with)
		CHECK(set(a));
	both<<<stream_bytes / 4 / 1024, 1024, 0, stream>>>((int *)kept, (int *)streamed, bytes / 4,
							   stream_bytes / 4);
	CHECK(cudaStreamSynchronize(stream));
}

/* What an H200 answers: stream, launch, node. */
static void tell(const char *what, const cudaLaunchAttribute &a)
{
	int s = set(a), l = launch_with(a), n = node_with(a, false);

	printf("%s: %d %d %d\n", what, s, l, n);
}

static void rules()
{
	cudaDeviceProp p;
	cudaLaunchAttribute a;
	size_t limit;

	CHECK(cudaGetDeviceProperties(&p, 0));
	CHECK(cudaDeviceGetLimit(&limit, cudaLimitPersistingL2CacheSize));
	printf("%d %d %zu\n", p.persistingL2CacheMaxSize, p.accessPolicyMaxWindowSize, limit);
	tell("right", window(1, cudaAccessPropertyPersisting, cudaAccessPropertyNormal));
	tell("miss", window(1, cudaAccessPropertyPersisting, cudaAccessPropertyPersisting));
	tell("miss 3", window(1, cudaAccessPropertyPersisting, (cudaAccessProperty)3));
	tell("hit 3", window(1, (cudaAccessProperty)3, cudaAccessPropertyNormal));
	tell("over", window(1.5, cudaAccessPropertyPersisting, cudaAccessPropertyNormal));
	tell("below", window(-.1, cudaAccessPropertyPersisting, cudaAccessPropertyNormal));
	tell("nan", window(NAN, cudaAccessPropertyPersisting, cudaAccessPropertyNormal));
	a = window(1, cudaAccessPropertyPersisting, cudaAccessPropertyNormal);
	a.val.accessPolicyWindow.num_bytes = p.accessPolicyMaxWindowSize;
	tell("most", a);
	a.val.accessPolicyWindow.num_bytes++;
	tell("more", a);
	static const size_t sizes[] = {0, 1, 3932161, 39321600, 39321601};

	for (size_t x : sizes) {
		int e = (int)cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, x);

		cudaGetLastError();
		CHECK(cudaDeviceGetLimit(&limit, cudaLimitPersistingL2CacheSize));
		printf("limit %zu: %d %zu\n", x, e, limit);
	}
	CHECK(cuCtxResetPersistingL2Cache());
}

int main(int argc, char **argv)
{
	CHECK(cudaMalloc(&kept, 2 << 20));
	CHECK(cudaMalloc(&streamed, stream_bytes));
	CHECK(cudaMalloc(&out, 4));
	CHECK(cudaMemset(kept, 0, keep_bytes));
	CHECK(cudaMemset(streamed, 0, stream_bytes));
	CHECK(cudaStreamCreate(&stream));
	if (argc > 1 && !strcmp(argv[1], "guide"))
		guide(argc > 2);
	else if (argc > 1)
		rules();
	else
		keeps();
	return 0;
}
