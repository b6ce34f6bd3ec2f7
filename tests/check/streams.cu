// Work of streams that touches the same bytes, one function each: race_ without order, fine_ with it.
// `streams` alone lists them; `streams NAME` runs one.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

#define N 256
#define BYTES (N * sizeof(int))

__global__ void put(int *p, int v)
{
	p[blockIdx.x * blockDim.x + threadIdx.x] = v; // put
}

__global__ void get(const int *p, int *out)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	out[i] = p[i]; // get
}

__global__ void put_byte(char *p, int first)
{
	p[2 * threadIdx.x + first] = (char)threadIdx.x;
}

__global__ void count(int *p)
{
	atomicAdd(p, 1);
}

__global__ void count_block(int *p)
{
	atomicAdd_block(p, 1);
}

__device__ int word[N];

__global__ void put_word(int v)
{
	word[threadIdx.x] = v;
}

__global__ void send(int *data, int *flag)
{
	data[0] = 1;
	__threadfence();
	atomicExch(flag, 1);
}

__global__ void receive(int *data, int *flag, int *out)
{
	if (atomicAdd(flag, 0)) {
		__threadfence();
		out[0] = data[0];
	}
}

__global__ void publish(int *data, volatile int *flag)
{
	data[0] = 1;
	__threadfence_system();
	*flag = 1;
}

#define CASE(name) __attribute__((noinline)) static void name()

static cudaStream_t a, b;
static int *p, *q, *r;
static int *pinned;
static int pageable[N];
static cudaEvent_t event;

#define PUT(s, at, v) put<<<4, 64, 0, s>>>(at, v)
#define GET(s, at, to) get<<<4, 64, 0, s>>>(at, to)

// ---- two launches ----

CASE(race_two_writes)
{
	PUT(a, p, 1);
	PUT(b, p, 2);
}

CASE(race_write_read)
{
	PUT(a, p, 1);
	GET(b, p, q);
}

CASE(race_read_write)
{
	GET(a, p, q);
	PUT(b, p, 1);
}

CASE(fine_two_reads)
{
	GET(a, p, q);
	GET(b, p, r);
}

CASE(fine_one_stream)
{
	PUT(a, p, 1);
	GET(a, p, q);
	PUT(a, p, 2);
}

CASE(fine_apart)
{
	put<<<2, 64, 0, a>>>(p, 1);
	put<<<2, 64, 0, b>>>(p + 128, 1);
}

CASE(race_overlap)
{
	put<<<2, 64, 0, a>>>(p, 1);
	put<<<2, 64, 0, b>>>(p + 127, 1);
}

CASE(fine_bytes_between)
{
	put_byte<<<1, 64, 0, a>>>((char *)p, 0);
	put_byte<<<1, 64, 0, b>>>((char *)p, 1);
}

CASE(race_bytes)
{
	put_byte<<<1, 64, 0, a>>>((char *)p, 0);
	put_byte<<<1, 64, 0, b>>>((char *)p, 2);
}

CASE(fine_atomics)
{
	count<<<4, 64, 0, a>>>(p);
	count<<<4, 64, 0, b>>>(p);
}

CASE(race_atomic_write)
{
	count<<<4, 64, 0, a>>>(p);
	PUT(b, p, 0);
}

CASE(race_atomic_block)
{
	count_block<<<1, 64, 0, a>>>(p);
	count_block<<<1, 64, 0, b>>>(p);
}

CASE(race_variable)
{
	put_word<<<1, 64, 0, a>>>(1);
	put_word<<<1, 64, 0, b>>>(2);
}

CASE(fine_flag)
{
	send<<<1, 1, 0, a>>>(p, q);
	receive<<<1, 1, 0, b>>>(p, q, r);
}

CASE(fine_flag_of_host)
{
	volatile int *flag = pinned;

	*flag = 0;
	publish<<<1, 1, 0, a>>>(p, pinned);
	while (!*flag)
		;
	GET(b, p, q);
}

CASE(race_third)
{
	PUT(a, p, 1);
	PUT(a, q, 1);
	PUT(a, r, 1);
	GET(b, p, p + N);
}

// ---- default streams ----

CASE(fine_default)
{
	PUT(a, p, 1);
	PUT(0, p, 2);
	PUT(b, p, 3);
}

static cudaStream_t non_blocking()
{
	cudaStream_t s;

	cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
	return s;
}

CASE(race_non_blocking)
{
	PUT(0, p, 1);
	PUT(non_blocking(), p, 2);
}

CASE(race_non_blocking_before)
{
	PUT(non_blocking(), p, 2);
	PUT(0, p, 1);
}

CASE(race_memset_non_blocking)
{
	cudaMemset(p, 0, BYTES);
	PUT(non_blocking(), p, 2);
}

CASE(fine_memset_blocking)
{
	cudaMemset(p, 0, BYTES);
	PUT(a, p, 2);
}

CASE(race_through_default)
{
	cudaStream_t s = non_blocking();

	PUT(a, p, 1);
	PUT(0, q, 2);
	PUT(s, p, 3);
}

CASE(fine_through_default)
{
	PUT(a, p, 1);
	PUT(0, q, 2);
	PUT(b, p, 3);
}

CASE(race_per_thread)
{
	PUT(cudaStreamPerThread, p, 1);
	std::thread([] { PUT(cudaStreamPerThread, p, 2); cudaStreamSynchronize(cudaStreamPerThread); }).join();
}

CASE(fine_per_thread)
{
	PUT(cudaStreamPerThread, p, 1);
	PUT(cudaStreamPerThread, p, 2);
}

// ---- the host waits ----

CASE(fine_stream_synchronize)
{
	PUT(a, p, 1);
	cudaStreamSynchronize(a);
	PUT(b, p, 2);
}

CASE(race_other_stream_synchronize)
{
	PUT(a, p, 1);
	cudaStreamSynchronize(b);
	PUT(b, p, 2);
}

CASE(race_synchronize_late)
{
	PUT(a, p, 1);
	PUT(b, p, 2);
	cudaStreamSynchronize(a);
}

CASE(fine_device_synchronize)
{
	PUT(a, p, 1);
	cudaDeviceSynchronize();
	PUT(b, p, 2);
}

CASE(fine_event_synchronize)
{
	PUT(a, p, 1);
	cudaEventRecord(event, a);
	cudaEventSynchronize(event);
	PUT(b, p, 2);
}

CASE(race_event_too_early)
{
	cudaEventRecord(event, a);
	PUT(a, p, 1);
	cudaEventSynchronize(event);
	PUT(b, p, 2);
}

CASE(fine_event_query)
{
	PUT(a, p, 1);
	cudaEventRecord(event, a);
	while (cudaEventQuery(event) == cudaErrorNotReady)
		;
	PUT(b, p, 2);
}

CASE(fine_stream_query)
{
	PUT(a, p, 1);
	while (cudaStreamQuery(a) == cudaErrorNotReady)
		;
	PUT(b, p, 2);
}

CASE(race_query_unheeded)
{
	PUT(a, p, 1);
	cudaStreamQuery(b);
	PUT(b, p, 2);
}

CASE(fine_thread_waits)
{
	PUT(a, p, 1);
	std::thread([] { cudaStreamSynchronize(a); }).join();
	PUT(b, p, 2);
}

CASE(fine_stream_destroyed)
{
	cudaStream_t s;

	cudaStreamCreate(&s);
	PUT(s, p, 1);
	cudaStreamDestroy(s);
	cudaDeviceSynchronize();
	PUT(b, p, 2);
}

CASE(race_stream_destroyed)
{
	cudaStream_t s;

	cudaStreamCreate(&s);
	PUT(s, p, 1);
	cudaStreamDestroy(s);
	PUT(b, p, 2);
}

// ---- events ----

CASE(fine_wait_event)
{
	PUT(a, p, 1);
	cudaEventRecord(event, a);
	cudaStreamWaitEvent(b, event, 0);
	PUT(b, p, 2);
}

CASE(race_wait_late)
{
	PUT(a, p, 1);
	cudaEventRecord(event, a);
	PUT(b, p, 2);
	cudaStreamWaitEvent(b, event, 0);
}

CASE(race_record_early)
{
	cudaEventRecord(event, a);
	PUT(a, p, 1);
	cudaStreamWaitEvent(b, event, 0);
	PUT(b, p, 2);
}

CASE(race_record_in_other)
{
	PUT(a, p, 1);
	cudaEventRecord(event, b);
	cudaStreamWaitEvent(b, event, 0);
	PUT(b, p, 2);
}

CASE(race_never_recorded)
{
	PUT(a, p, 1);
	cudaStreamWaitEvent(b, event, 0);
	PUT(b, p, 2);
}

CASE(fine_wait_chain)
{
	cudaStream_t s = non_blocking();
	cudaEvent_t second;

	cudaEventCreate(&second);
	PUT(a, p, 1);
	cudaEventRecord(event, a);
	cudaStreamWaitEvent(s, event, 0);
	cudaEventRecord(second, s);
	cudaStreamWaitEvent(b, second, 0);
	PUT(b, p, 2);
}

CASE(race_reverse)
{
	GET(a, p, q);
	cudaEventRecord(event, a);
	cudaStreamWaitEvent(b, event, 0);
	PUT(b, p, 2);
	GET(a, p, r); // nothing waits for b
}

// ---- copies and fills ----

CASE(race_copy_async)
{
	cudaMemcpyAsync(p, pinned, BYTES, cudaMemcpyHostToDevice, a);
	GET(b, p, q);
}

CASE(race_copy_pageable)
{
	cudaMemcpyAsync(p, pageable, BYTES, cudaMemcpyHostToDevice, a);
	GET(b, p, q);
}

CASE(fine_copy_async)
{
	cudaMemcpyAsync(p, pinned, BYTES, cudaMemcpyHostToDevice, a);
	GET(a, p, q);
	cudaMemcpyAsync(pinned, q, BYTES, cudaMemcpyDeviceToHost, a);
}

CASE(fine_copy_back)
{
	PUT(a, p, 1);
	cudaMemcpy(pageable, p, BYTES, cudaMemcpyDeviceToHost);
	PUT(b, p, 2);
}

CASE(race_copy_back)
{
	cudaStream_t s = non_blocking();

	PUT(s, p, 1);
	cudaMemcpy(pageable, p, BYTES, cudaMemcpyDeviceToHost);
}

CASE(fine_copy_pageable_back)
{
	cudaMemcpyAsync(pageable, p, BYTES, cudaMemcpyDeviceToHost, a);
	PUT(b, p, 2);
}

CASE(race_copies)
{
	cudaMemcpyAsync(p, q, BYTES, cudaMemcpyDeviceToDevice, a);
	cudaMemcpyAsync(p + N / 2, r, BYTES / 2, cudaMemcpyDeviceToDevice, b);
}

CASE(fine_copies)
{
	cudaMemcpyAsync(p, q, BYTES / 2, cudaMemcpyDeviceToDevice, a);
	cudaMemcpyAsync(p + N / 2, q, BYTES / 2, cudaMemcpyDeviceToDevice, b);
}

CASE(race_pinned_twice)
{
	cudaMemcpyAsync(pinned, p, BYTES, cudaMemcpyDeviceToHost, a);
	cudaMemcpyAsync(q, pinned, BYTES, cudaMemcpyHostToDevice, b);
}

CASE(race_memset_async)
{
	cudaMemsetAsync(p, 0, BYTES, a);
	PUT(b, p, 1);
}

CASE(fine_memset_async)
{
	cudaMemsetAsync(p, 0, BYTES, a);
	PUT(a, p, 1);
}

CASE(fine_columns)
{
	cudaMemset2DAsync(p, 64, 0, 32, 16, a);
	cudaMemset2DAsync(p + 8, 64, 1, 32, 16, b);
}

CASE(race_columns)
{
	cudaMemset2DAsync(p, 64, 0, 36, 16, a);
	cudaMemset2DAsync(p + 8, 64, 1, 32, 16, b);
}

CASE(race_symbol)
{
	cudaMemcpyToSymbolAsync(word, pinned, 64, 0, cudaMemcpyHostToDevice, a);
	put_word<<<1, 64, 0, b>>>(1);
}

CASE(fine_symbol)
{
	cudaMemcpyToSymbolAsync(word, pinned, 64, 0, cudaMemcpyHostToDevice, a);
	put_word<<<1, 64, 0, a>>>(1);
}

// ---- memory of streams ----

CASE(fine_pool)
{
	int *x, *y;

	cudaMallocAsync(&x, BYTES, a);
	PUT(a, x, 1);
	cudaFreeAsync(x, a);
	cudaMallocAsync(&y, BYTES, b);
	PUT(b, y, 1);
	cudaFreeAsync(y, b);
}

CASE(race_free_async)
{
	int *x;

	cudaMallocAsync(&x, BYTES, a);
	cudaStreamSynchronize(a);
	PUT(b, x, 1);
	cudaFreeAsync(x, a);
}

CASE(fine_free_async)
{
	int *x;

	cudaMallocAsync(&x, BYTES, a);
	PUT(a, x, 1);
	cudaEventRecord(event, a);
	cudaStreamWaitEvent(b, event, 0);
	cudaFreeAsync(x, b);
}

CASE(fine_free)
{
	int *x, *y;

	cudaMalloc(&x, BYTES);
	PUT(a, x, 1);
	cudaFree(x);
	cudaMalloc(&y, BYTES);
	PUT(b, y, 1);
}

// ---- functions of the host ----

static void nothing(void *)
{
}

static std::atomic<int> reached;

static void reach(void *)
{
	reached = 1;
}

CASE(fine_host_function)
{
	reached = 0;
	PUT(a, p, 1);
	cudaLaunchHostFunc(a, reach, nullptr);
	while (!reached)
		;
	PUT(b, p, 2);
}

CASE(race_host_function)
{
	PUT(b, p, 1);
	PUT(a, p, 2);
	cudaLaunchHostFunc(a, nothing, nullptr);
}

// ---- graphs ----

static void launch_graph(cudaGraph_t g, cudaStream_t s)
{
	cudaGraphExec_t x;

	cudaGraphInstantiate(&x, g, 0);
	cudaGraphLaunch(x, s);
}

static cudaGraphNode_t add_put(cudaGraph_t g, const cudaGraphNode_t *after, size_t n, int *at)
{
	int v = 1;
	void *args[] = {&at, &v};
	cudaKernelNodeParams k = {};
	cudaGraphNode_t node;

	k.func = (void *)put;
	k.gridDim = 4;
	k.blockDim = 64;
	k.kernelParams = args;
	cudaGraphAddKernelNode(&node, g, after, n, &k);
	return node;
}

CASE(race_graph)
{
	cudaGraph_t g;

	cudaGraphCreate(&g, 0);
	add_put(g, nullptr, 0, p);
	add_put(g, nullptr, 0, p);
	launch_graph(g, a);
}

CASE(fine_graph)
{
	cudaGraph_t g;
	cudaGraphNode_t first;

	cudaGraphCreate(&g, 0);
	first = add_put(g, nullptr, 0, p);
	first = add_put(g, &first, 1, q);
	add_put(g, &first, 1, p);
	launch_graph(g, a);
	PUT(a, p, 2);
}

CASE(race_graph_other_stream)
{
	cudaGraph_t g;

	cudaGraphCreate(&g, 0);
	add_put(g, nullptr, 0, p);
	launch_graph(g, a);
	PUT(b, p, 2);
}

CASE(fine_graph_twice)
{
	cudaGraph_t g;
	cudaGraphExec_t x;

	cudaGraphCreate(&g, 0);
	add_put(g, nullptr, 0, p);
	cudaGraphInstantiate(&x, g, 0);
	cudaGraphLaunch(x, a);
	cudaGraphLaunch(x, b); // a graph does not run beside itself
}

CASE(race_two_graphs)
{
	cudaGraph_t g;

	cudaGraphCreate(&g, 0);
	add_put(g, nullptr, 0, p);
	launch_graph(g, a);
	launch_graph(g, b);
}

CASE(race_graph_fill)
{
	cudaGraph_t g;
	cudaGraphNode_t node;
	cudaMemsetParams m = {};

	m.dst = p;
	m.elementSize = 4;
	m.width = N;
	m.height = 1;
	cudaGraphCreate(&g, 0);
	cudaGraphAddMemsetNode(&node, g, nullptr, 0, &m);
	add_put(g, nullptr, 0, p);
	launch_graph(g, a);
}

CASE(fine_graph_fill)
{
	cudaGraph_t g;
	cudaGraphNode_t node;
	cudaMemsetParams m = {};

	m.dst = p;
	m.elementSize = 4;
	m.width = N;
	m.height = 1;
	cudaGraphCreate(&g, 0);
	cudaGraphAddMemsetNode(&node, g, nullptr, 0, &m);
	add_put(g, &node, 1, p);
	launch_graph(g, a);
}

CASE(race_graph_child)
{
	cudaGraph_t g, child;
	cudaGraphNode_t node;

	cudaGraphCreate(&g, 0);
	cudaGraphCreate(&child, 0);
	add_put(child, nullptr, 0, p);
	cudaGraphAddChildGraphNode(&node, g, nullptr, 0, child);
	add_put(g, nullptr, 0, p);
	launch_graph(g, a);
}

CASE(fine_graph_child)
{
	cudaGraph_t g, child;
	cudaGraphNode_t node;

	cudaGraphCreate(&g, 0);
	cudaGraphCreate(&child, 0);
	add_put(child, nullptr, 0, p);
	cudaGraphAddChildGraphNode(&node, g, nullptr, 0, child);
	add_put(g, &node, 1, p);
	launch_graph(g, a);
}

static void capture(bool joined)
{
	cudaGraph_t g;
	cudaEvent_t back;

	cudaEventCreate(&back);
	cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal);
	if (joined)
		PUT(a, p, 1);
	cudaEventRecord(event, a);
	if (!joined)
		PUT(a, p, 1);
	cudaStreamWaitEvent(b, event, 0);
	PUT(b, p, 2);
	cudaEventRecord(back, b);
	cudaStreamWaitEvent(a, back, 0);
	cudaStreamEndCapture(a, &g);
	launch_graph(g, a);
}

CASE(race_capture)
{
	capture(false);
}

CASE(fine_capture)
{
	capture(true);
}

// ---- the host ----

static int *managed()
{
	int *m;

	cudaMallocManaged(&m, BYTES);
	memset(m, 0, BYTES);
	return m;
}

static volatile int sink;

CASE(race_host_reads)
{
	int *m = managed();

	PUT(a, m, 1);
	sink = m[7]; // host reads
}

CASE(race_host_writes)
{
	int *m = managed();

	PUT(a, m, 1);
	m[7] = 1;
}

CASE(race_host_writes_input)
{
	int *m = managed();

	GET(a, m, p);
	m[7] = 1;
}

CASE(race_host_default_stream)
{
	int *m = managed();

	put<<<4, 64>>>(m, 1);
	sink = m[7];
}

CASE(race_host_waits_for_other)
{
	int *m = managed();

	PUT(a, m, 1);
	PUT(b, p, 1);
	cudaStreamSynchronize(b);
	sink = m[7];
}

CASE(race_host_then_reset)
{
	int *m = managed();

	PUT(a, m, 1);
	sink = m[7];
	cudaDeviceReset(); // the program of the kernel goes
}

CASE(fine_host_reads_input)
{
	int *m = managed();

	GET(a, m, p);
	sink = m[7];
}

CASE(fine_host_waits)
{
	int *m = managed();

	m[7] = 3;
	PUT(a, m, 1);
	cudaStreamSynchronize(a);
	sink = m[7];
	m[7] = 3;
	GET(b, m, p);
	cudaDeviceSynchronize();
	m[7] = 4;
	cudaFree(m);
}

CASE(fine_host_waits_for_one)
{
	int *m = managed(), *n = managed();

	PUT(a, m, 1);
	PUT(b, n, 1);
	cudaStreamSynchronize(a);
	sink = m[7];
	m[8] = 1;
}

CASE(fine_host_waits_by_event)
{
	int *m = managed();

	PUT(a, m, 1);
	cudaEventRecord(event, a);
	cudaEventSynchronize(event);
	sink = m[7];
}

CASE(fine_host_other_part)
{
	int *m = managed();

	put<<<1, 64, 0, a>>>(m, 1);
	sink = m[64];
	m[65] = 2;
}

CASE(race_pinned_changed)
{
	cudaMemcpyAsync(p, pinned, BYTES, cudaMemcpyHostToDevice, a);
	pinned[5] = 1;
}

CASE(race_pinned_read)
{
	cudaMemcpyAsync(pinned, p, BYTES, cudaMemcpyDeviceToHost, a);
	sink = pinned[5];
}

CASE(fine_pinned)
{
	pinned[5] = 1;
	cudaMemcpyAsync(p, pinned, BYTES, cudaMemcpyHostToDevice, a);
	sink = pinned[5];
	cudaStreamSynchronize(a);
	pinned[5] = 2;
	cudaMemcpyAsync(pinned, p, BYTES, cudaMemcpyDeviceToHost, a);
	cudaStreamSynchronize(a);
	sink = pinned[5];
}

CASE(fine_host_polls)
{
	int *m = managed();
	volatile int *flag = pinned;

	*flag = 0;
	publish<<<1, 1, 0, a>>>(m, pinned);
	while (!*flag)
		;
	sink = m[0];
}

// ---- much work ----

CASE(fine_many)
{
	for (int i = 0; i < 2000; i++) {
		put<<<1, 64, 0, a>>>(p, i);
		put<<<1, 64, 0, b>>>(q, i);
		if (i % 8 == 0) {
			cudaEventRecord(event, a);
			cudaStreamWaitEvent(b, event, 0);
			get<<<1, 64, 0, b>>>(p, r);
			cudaEventRecord(event, b);
			cudaStreamWaitEvent(a, event, 0);
		}
	}
}

CASE(race_many)
{
	for (int i = 0; i < 1000; i++) {
		put<<<1, 64, 0, a>>>(p, i);
		put<<<1, 64, 0, b>>>(q, i);
	}
	get<<<1, 64, 0, b>>>(p, r);
}

struct test {
	const char *name;
	void (*run)();
};

#define ROW(name) {#name, name}
static const test tests[] = {
	ROW(race_two_writes),
	ROW(race_write_read),
	ROW(race_read_write),
	ROW(fine_two_reads),
	ROW(fine_one_stream),
	ROW(fine_apart),
	ROW(race_overlap),
	ROW(fine_bytes_between),
	ROW(race_bytes),
	ROW(fine_atomics),
	ROW(race_atomic_write),
	ROW(race_atomic_block),
	ROW(race_variable),
	ROW(fine_flag),
	ROW(fine_flag_of_host),
	ROW(race_third),
	ROW(fine_default),
	ROW(race_non_blocking),
	ROW(race_non_blocking_before),
	ROW(race_memset_non_blocking),
	ROW(fine_memset_blocking),
	ROW(race_through_default),
	ROW(fine_through_default),
	ROW(race_per_thread),
	ROW(fine_per_thread),
	ROW(fine_stream_synchronize),
	ROW(race_other_stream_synchronize),
	ROW(race_synchronize_late),
	ROW(fine_device_synchronize),
	ROW(fine_event_synchronize),
	ROW(race_event_too_early),
	ROW(fine_event_query),
	ROW(fine_stream_query),
	ROW(race_query_unheeded),
	ROW(fine_thread_waits),
	ROW(fine_stream_destroyed),
	ROW(race_stream_destroyed),
	ROW(fine_wait_event),
	ROW(race_wait_late),
	ROW(race_record_early),
	ROW(race_record_in_other),
	ROW(race_never_recorded),
	ROW(fine_wait_chain),
	ROW(race_reverse),
	ROW(race_copy_async),
	ROW(race_copy_pageable),
	ROW(fine_copy_async),
	ROW(fine_copy_back),
	ROW(race_copy_back),
	ROW(fine_copy_pageable_back),
	ROW(race_copies),
	ROW(fine_copies),
	ROW(race_pinned_twice),
	ROW(race_memset_async),
	ROW(fine_memset_async),
	ROW(fine_columns),
	ROW(race_columns),
	ROW(race_symbol),
	ROW(fine_symbol),
	ROW(fine_pool),
	ROW(race_free_async),
	ROW(fine_free_async),
	ROW(fine_free),
	ROW(fine_host_function),
	ROW(race_host_function),
	ROW(race_graph),
	ROW(fine_graph),
	ROW(race_graph_other_stream),
	ROW(fine_graph_twice),
	ROW(race_two_graphs),
	ROW(race_graph_fill),
	ROW(fine_graph_fill),
	ROW(race_graph_child),
	ROW(fine_graph_child),
	ROW(race_capture),
	ROW(fine_capture),
	ROW(race_host_reads),
	ROW(race_host_writes),
	ROW(race_host_writes_input),
	ROW(race_host_default_stream),
	ROW(race_host_waits_for_other),
	ROW(race_host_then_reset),
	ROW(fine_host_reads_input),
	ROW(fine_host_waits),
	ROW(fine_host_waits_for_one),
	ROW(fine_host_waits_by_event),
	ROW(fine_host_other_part),
	ROW(race_pinned_changed),
	ROW(race_pinned_read),
	ROW(fine_pinned),
	ROW(fine_host_polls),
	ROW(fine_many),
	ROW(race_many),
};

int main(int argc, char **argv)
{
	for (const test &t : tests) {
		if (argc < 2) {
			puts(t.name);
			continue;
		}
		if (strcmp(argv[1], t.name))
			continue;
		cudaStreamCreate(&a);
		cudaStreamCreate(&b);
		cudaEventCreate(&event);
		cudaMalloc(&p, 2 * BYTES);
		cudaMalloc(&q, BYTES);
		cudaMalloc(&r, BYTES);
		cudaMallocHost(&pinned, BYTES);
		memset(pinned, 0, BYTES);
		cudaMemset(p, 0, 2 * BYTES);
		cudaMemset(q, 0, BYTES);
		cudaMemset(r, 0, BYTES);
		cudaDeviceSynchronize();
		t.run();
		cudaDeviceSynchronize();
		printf("%s\n", cudaGetErrorName(cudaGetLastError()));
	}
	return 0;
}
