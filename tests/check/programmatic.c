/*
 * programmatic FILE.ptx FIRST SECOND HOW: two kernels of programmatic.cu in one stream, the second
 * one launched so that it may begin before the first one has ended. HOW: with nothing between them
 * (stream), a wait of the host (wait), an event (event), without the attribute (plain), captured
 * into a graph (capture), or as nodes of a graph with an edge of that type (edge) or a full one
 * (full).
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int function();

/* As in cuda.h. */
enum { ATTRIBUTE_PROGRAMMATIC = 6 };

struct attribute {
	int id;
	char pad[4];
	union {
		int number;
		char bytes[64];
	} value;
};

struct config {
	unsigned grid[3], block[3], shared;
	void *stream;
	struct attribute *attributes;
	unsigned count;
};

struct node {
	void *kernel;
	unsigned grid[3], block[3], shared;
	void **params, **extra, *library, *context;
};

struct edge {
	unsigned char from_port, to_port, type, reserved[5];
};

static void *library, *kernel[2], *stream;
static unsigned long long buffer[2];
static void *params[] = {&buffer[0], &buffer[1]};

static function *find(const char *name)
{
	function *f = (function *)dlsym(library, name);

	if (!f) {
		fprintf(stderr, "%s is missing\n", name);
		exit(2);
	}
	return f;
}

/* What it returns must be 0. */
#define CALL(name, ...)                                                                            \
	do {                                                                                       \
		int e_ = find(name)(__VA_ARGS__);                                                  \
		if (e_) {                                                                          \
			printf("%s: %d\n", name, e_);                                              \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

static void launch(int which, int programmatic)
{
	struct attribute early = {.id = ATTRIBUTE_PROGRAMMATIC, .value.number = 1};
	struct config c = {.grid = {2, 1, 1},
			   .block = {64, 1, 1},
			   .stream = stream,
			   .attributes = &early,
			   .count = (unsigned)programmatic};

	CALL("cuLaunchKernelEx", &c, kernel[which], params, NULL);
}

static void launch_graph(void *graph)
{
	void *exec;

	CALL("cuGraphInstantiateWithFlags", &exec, graph, 0ull);
	CALL("cuGraphLaunch", exec, stream);
	CALL("cuStreamSynchronize", stream);
	CALL("cuGraphExecDestroy", exec);
	CALL("cuGraphDestroy", graph);
}

static void capture(void)
{
	void *graph;

	CALL("cuStreamBeginCapture_v2", stream, 0);
	launch(0, 0);
	launch(1, 1);
	CALL("cuStreamEndCapture", stream, &graph);
	launch_graph(graph);
}

static void build(int programmatic)
{
	struct edge edge = {.from_port = (unsigned char)programmatic,
			    .type = (unsigned char)programmatic};
	void *graph, *made[2];

	CALL("cuGraphCreate", &graph, 0);
	for (int i = 0; i < 2; i++) {
		struct node n = {.kernel = kernel[i],
				 .grid = {2, 1, 1},
				 .block = {64, 1, 1},
				 .params = params};

		CALL("cuGraphAddKernelNode_v2", &made[i], graph, NULL, (size_t)0, &n);
	}
	CALL("cuGraphAddDependencies_v2", graph, &made[0], &made[1], &edge, (size_t)1);
	launch_graph(graph);
}

static void run(const char *how)
{
	void *event;

	if (!strcmp(how, "capture")) {
		capture();
		return;
	}
	if (!strcmp(how, "edge") || !strcmp(how, "full")) {
		build(!strcmp(how, "edge"));
		return;
	}
	launch(0, 0);
	if (!strcmp(how, "wait"))
		CALL("cuStreamSynchronize", stream);
	if (!strcmp(how, "event")) {
		CALL("cuEventCreate", &event, 2);
		CALL("cuEventRecord", event, stream);
		CALL("cuStreamWaitEvent", stream, event, 0);
	}
	launch(1, strcmp(how, "plain") != 0);
}

int main(int argc, char **argv)
{
	void *context, *module;
	int device;

	library = dlopen("libcuda.so.1", RTLD_NOW);
	if (argc != 5 || !library)
		return 2;
	CALL("cuInit", 0);
	CALL("cuDeviceGet", &device, 0);
	CALL("cuCtxCreate_v2", &context, 0, device);
	CALL("cuModuleLoad", &module, argv[1]);
	CALL("cuStreamCreate", &stream, 1);
	for (int i = 0; i < 2; i++) {
		CALL("cuModuleGetFunction", &kernel[i], module, argv[2 + i]);
		CALL("cuMemAlloc_v2", &buffer[i], (size_t)512);
	}
	run(argv[4]);
	CALL("cuCtxSynchronize");
	return 0;
}
