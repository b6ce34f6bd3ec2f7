/*
 * What issuing work costs, through the runtime interface as programs use it: empty kernels in the
 * default stream, in several streams, waited for one by one, between events, in graphs, and from
 * several threads at once. Milliseconds for 100,000 launches, wall clock and processor time of the
 * process, least of several runs. The goal is 100 ms.
 *
 * usage: launch DIRECTORY     where libcudart.so.13 and libcuda.so.1 are
 */
#include "src/base/base.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define LAUNCHES 100000
#define RUNS 5
#define STREAMS 4
#define THREADS 8
#define GRAPH_NODES 100

struct dim {
	unsigned x, y, z;
};

/* The functions that are measured, by name. */
#define FUNCTIONS(X)                                                                               \
	X(runtime, cudaLaunchKernel,                                                               \
	  (const void *, struct dim, struct dim, void **, size_t, void *))                         \
	X(runtime, cudaDeviceSynchronize, (void))                                                  \
	X(runtime, cudaStreamCreateWithFlags, (void **, unsigned))                                 \
	X(runtime, cudaStreamSynchronize, (void *))                                                \
	X(runtime, cudaEventCreate, (void **))                                                     \
	X(runtime, cudaEventRecord, (void *, void *))                                              \
	X(runtime, cudaStreamBeginCapture, (void *, int))                                          \
	X(runtime, cudaStreamEndCapture, (void *, void **))                                        \
	X(runtime, cudaGraphInstantiate, (void **, void *, u64))                                   \
	X(runtime, cudaGraphLaunch, (void *, void *))                                              \
	X(runtime, cudaSetDevice, (int))                                                           \
	X(driver, cuInit, (unsigned))                                                              \
	X(driver, cuModuleLoadData, (void **, const void *))                                       \
	X(driver, cuModuleGetFunction, (void **, void *, const char *))

#define DECLARE(library, name, params) static int(*name) params;
FUNCTIONS(DECLARE)

static const char text[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
			   ".visible .entry empty() { ret; }\n";

static void *kernel, *stream[STREAMS], *event, *graph;

static void *open_library(const char *directory, const char *name)
{
	char path[4096];
	void *p;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	p = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
	if (!p) {
		fprintf(stderr, "%s\n", dlerror());
		exit(2);
	}
	return p;
}

static void *find(void *library, const char *name)
{
	void *p = dlsym(library, name);

	if (!p) {
		fprintf(stderr, "%s is missing\n", name);
		exit(2);
	}
	return p;
}

static void need(int status, const char *what)
{
	if (!status)
		return;
	fprintf(stderr, "%s: error %d\n", what, status);
	exit(1);
}

static double now_ms(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void launch(void *s)
{
	need(cudaLaunchKernel(kernel, (struct dim){1, 1, 1}, (struct dim){32, 1, 1}, NULL, 0, s),
	     "cudaLaunchKernel");
}

static void in_default(void)
{
	for (u32 i = 0; i < LAUNCHES; i++)
		launch(NULL);
}

static void in_streams(void)
{
	for (u32 i = 0; i < LAUNCHES; i++)
		launch(stream[i % STREAMS]);
}

static void one_by_one(void)
{
	for (u32 i = 0; i < LAUNCHES; i++) {
		launch(stream[0]);
		cudaStreamSynchronize(stream[0]);
	}
}

static void with_events(void)
{
	for (u32 i = 0; i < LAUNCHES; i++) {
		launch(stream[0]);
		cudaEventRecord(event, stream[0]);
	}
}

static void in_graphs(void)
{
	for (u32 i = 0; i < LAUNCHES / GRAPH_NODES; i++)
		need(cudaGraphLaunch(graph, stream[0]), "cudaGraphLaunch");
}

static void *one_thread(void *s)
{
	cudaSetDevice(0);
	for (u32 i = 0; i < LAUNCHES / THREADS; i++)
		launch(s);
	return NULL;
}

static void in_threads(void)
{
	pthread_t t[THREADS];

	for (u32 i = 0; i < THREADS; i++)
		pthread_create(&t[i], NULL, one_thread, stream[i % STREAMS]);
	for (u32 i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
}

static void measure(const char *name, void (*fn)(void))
{
	double wall = 1e9, cpu = 1e9;

	for (u32 r = 0; r < RUNS; r++) {
		double w = now_ms(CLOCK_MONOTONIC), c = now_ms(CLOCK_PROCESS_CPUTIME_ID);

		fn();
		need(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
		w = now_ms(CLOCK_MONOTONIC) - w;
		c = now_ms(CLOCK_PROCESS_CPUTIME_ID) - c;
		wall = w < wall ? w : wall;
		cpu = c < cpu ? c : cpu;
	}
	printf("%-28s %8.1f ms %8.1f ms of processor time\n", name, wall, cpu);
}

static void set_up(void)
{
	void *module, *g;

	need(cuInit(0), "cuInit");
	need(cudaSetDevice(0), "cudaSetDevice");
	need(cuModuleLoadData(&module, text), "cuModuleLoadData");
	need(cuModuleGetFunction(&kernel, module, "empty"), "cuModuleGetFunction");
	for (u32 i = 0; i < STREAMS; i++)
		need(cudaStreamCreateWithFlags(&stream[i], 1), "cudaStreamCreateWithFlags");
	need(cudaEventCreate(&event), "cudaEventCreate");
	need(cudaStreamBeginCapture(stream[0], 2), "cudaStreamBeginCapture");
	for (u32 i = 0; i < GRAPH_NODES; i++)
		launch(stream[0]);
	need(cudaStreamEndCapture(stream[0], &g), "cudaStreamEndCapture");
	need(cudaGraphInstantiate(&graph, g, 0), "cudaGraphInstantiate");
}

int main(int argc, char **argv)
{
	void *runtime, *driver;

	if (argc != 2) {
		fputs("usage: launch DIRECTORY\n", stderr);
		return 2;
	}
	runtime = open_library(argv[1], "libcudart.so.13");
	driver = open_library(argv[1], "libcuda.so.1");
#define LOAD(library, name, params) *(void **)&name = find(library, #name);
	FUNCTIONS(LOAD)
	set_up();
	measure("default stream", in_default);
	measure("four streams", in_streams);
	measure("each waited for", one_by_one);
	measure("each with an event", with_events);
	measure("graphs of a hundred", in_graphs);
	measure("eight threads", in_threads);
	return 0;
}
