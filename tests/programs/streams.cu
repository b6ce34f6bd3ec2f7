// Streams and events: kernels at the same time, flags from the host, order with the default stream, host
// functions, callbacks, queries, attributes, launches with attributes, what is refused.
#include "try.h"

#include <string.h>

__global__ void step(int *p, int v)
{
	*p = *p * 3 + v;
}

__global__ void wait_for(volatile int *flag)
{
	while (!*flag)
		;
}

__global__ void meet(volatile int *mine, volatile int *other)
{
	*mine = 1;
	while (!*other)
		;
}

static volatile int *flag; // which the host sets while kernels wait
static int *p;

struct note {
	int calls, status;
	cudaError_t inner;
};

static void host_function(void *user)
{
	note *n = (note *)user;

	n->calls = n->calls * 2 + 1;
	n->inner = cudaStreamSynchronize(0); // must not be called here
}

static void callback(cudaStream_t, cudaError_t status, void *user)
{
	note *n = (note *)user;

	n->calls = n->calls * 2;
	n->status = status;
}

static int concurrent()
{
	cudaStream_t a, b;

	p[0] = p[1] = 0;
	TRY(cudaStreamCreate(&a));
	TRY(cudaStreamCreate(&b));
	meet<<<1, 1, 0, a>>>(p, p + 1);
	meet<<<1, 1, 0, b>>>(p + 1, p);
	TRY(cudaStreamSynchronize(a));
	TRY(cudaStreamSynchronize(b));
	TRY(cudaStreamDestroy(a));
	TRY(cudaStreamDestroy(b));
	REFUSED(cudaErrorInvalidResourceHandle, cudaStreamDestroy(0));
	return 0;
}

static int order()
{
	cudaStream_t a, free;
	cudaEvent_t start, end, plain;
	note n = {};
	float ms = -1;

	TRY(cudaStreamCreate(&a));
	TRY(cudaStreamCreateWithFlags(&free, cudaStreamNonBlocking));
	TRY(cudaEventCreate(&start));
	TRY(cudaEventCreate(&end));
	TRY(cudaEventCreateWithFlags(&plain, cudaEventDisableTiming | cudaEventBlockingSync));
	REFUSED(cudaErrorInvalidResourceHandle, cudaEventElapsedTime(&ms, start, end));
	TRY(cudaEventQuery(start));
	p[0] = p[1] = *flag = 0;
	TRY(cudaEventRecord(start, a));
	wait_for<<<1, 1, 0, a>>>((int *)flag);
	step<<<1, 1, 0, a>>>(p, 1);
	step<<<1, 1>>>(p, 2);             // the default stream waits for a
	step<<<1, 1, 0, a>>>(p, 1);       // and a for it
	step<<<1, 1, 0, free>>>(p + 1, 7); // but not this one
	TRY(cudaLaunchHostFunc(a, host_function, &n));
	TRY(cudaStreamAddCallback(a, callback, &n, 0));
	TRY(cudaLaunchHostFunc(a, host_function, &n));
	TRY(cudaEventRecord(end, a));
	TRY(cudaEventRecord(plain, a));
	TRY(cudaStreamWaitEvent(free, end, 0));
	step<<<1, 1, 0, free>>>(p, 2);
	REFUSED(cudaErrorNotReady, cudaStreamQuery(a));
	REFUSED(cudaErrorNotReady, cudaStreamQuery(free));
	REFUSED(cudaErrorNotReady, cudaEventQuery(end));
	REFUSED(cudaErrorNotReady, cudaEventElapsedTime(&ms, start, end));
	SAME(cudaPeekAtLastError(), cudaSuccess);
	SAME(p[0], 0);
	*flag = 1;
	TRY(cudaEventSynchronize(plain));
	TRY(cudaStreamSynchronize(free));
	SAME(p[0], ((1 * 3 + 2) * 3 + 1) * 3 + 2);
	SAME(p[1], 7);
	SAME(n.calls, 5);
	SAME(n.inner, cudaErrorNotPermitted);
	TRY(cudaEventElapsedTime(&ms, start, end));
	SAME(ms > 0 && ms < 60000, 1);
	REFUSED(cudaErrorInvalidResourceHandle, cudaEventElapsedTime(&ms, start, plain));
	REFUSED(cudaErrorInvalidValue, cudaEventCreateWithFlags(&plain, 99));
	// Destroyed while there is work to do.
	*flag = 0;
	wait_for<<<1, 1, 0, a>>>((int *)flag);
	step<<<1, 1, 0, a>>>(p, 0);
	TRY(cudaEventRecord(end, a));
	TRY(cudaStreamDestroy(a));
	TRY(cudaEventDestroy(end));
	*flag = 1;
	TRY(cudaDeviceSynchronize());
	SAME(p[0], (((1 * 3 + 2) * 3 + 1) * 3 + 2) * 3);
	TRY(cudaEventDestroy(start));
	TRY(cudaStreamDestroy(free));
	return 0;
}

static int attributes()
{
	cudaStream_t s, t;
	cudaLaunchAttributeValue v = {}, w = {};
	cudaLaunchAttribute list[2] = {};
	cudaLaunchConfig_t c = {};
	cudaEvent_t e;
	unsigned flags = 9;
	int least = 9, most = 9, priority = 9, device = 9;
	unsigned long long id = 0, other = 0;

	TRY(cudaDeviceGetStreamPriorityRange(&least, &most));
	SAME(least, 0);
	SAME(most < 0, 1);
	TRY(cudaStreamCreateWithPriority(&s, cudaStreamNonBlocking, most - 3));
	TRY(cudaStreamCreate(&t));
	TRY(cudaStreamGetPriority(s, &priority));
	SAME(priority, most);
	TRY(cudaStreamGetFlags(s, &flags));
	SAME(flags, cudaStreamNonBlocking);
	TRY(cudaStreamGetId(s, &id));
	TRY(cudaStreamGetId(t, &other));
	SAME(id != other, 1);
	TRY(cudaStreamGetDevice(s, &device));
	SAME(device, 0);
	v.syncPolicy = cudaSyncPolicyYield;
	TRY(cudaStreamSetAttribute(s, cudaLaunchAttributeSynchronizationPolicy, &v));
	TRY(cudaStreamCopyAttributes(t, s));
	TRY(cudaStreamGetAttribute(t, cudaLaunchAttributeSynchronizationPolicy, &w));
	SAME(w.syncPolicy, cudaSyncPolicyYield);
	REFUSED(cudaErrorInvalidValue, cudaStreamSetAttribute(s, cudaLaunchAttributeCooperative, &v));
	// Launches.
	TRY(cudaEventCreateWithFlags(&e, cudaEventDisableTiming));
	p[0] = 2;
	c.gridDim = dim3(1);
	c.blockDim = dim3(1);
	c.stream = s;
	c.attrs = list;
	c.numAttrs = 2;
	list[0].id = cudaLaunchAttributeProgrammaticStreamSerialization;
	list[0].val.programmaticStreamSerializationAllowed = 1;
	list[1].id = cudaLaunchAttributeLaunchCompletionEvent;
	list[1].val.launchCompletionEvent.event = e;
	TRY(cudaLaunchKernelEx(&c, step, p, 4));
	TRY(cudaEventSynchronize(e));
	TRY(cudaStreamSynchronize(s));
	SAME(p[0], 10);
	list[1].id = cudaLaunchAttributePriority;
	list[1].val.priority = 77; // as much as there is
	TRY(cudaLaunchKernelEx(&c, step, p, 4));
	TRY(cudaStreamSynchronize(s));
	c.numAttrs = 0;
	c.blockDim = dim3(2048);
	REFUSED(cudaErrorInvalidValue, cudaLaunchKernelEx(&c, step, p, 4));
	TRY(cudaEventDestroy(e));
	TRY(cudaStreamDestroy(s));
	TRY(cudaStreamDestroy(t));
	return 0;
}

int main()
{
	int *mapped;

	TRY(cudaMallocManaged(&p, 64 * sizeof(int)));
	TRY(cudaMallocHost(&mapped, sizeof(int)));
	flag = mapped;
	if (concurrent() || order() || attributes())
		return 1;
	TRY(cudaFreeHost(mapped));
	TRY(cudaFree(p));
	puts("all right");
	return 0;
}
