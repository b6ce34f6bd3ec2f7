/*
 * A little of everything of both interfaces: a registered kernel, a module, a stream, an event, a
 * texture, copies, a graph. With an argument it loses some memory of its own.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

void **__cudaRegisterFatBinary(const void *);
void __cudaRegisterFatBinaryEnd(void **);
void __cudaUnregisterFatBinary(void **);
void __cudaRegisterFunction(void **, const void *, char *, const char *, int, void *, void *,
			    void *, void *, int *);
int cudaMalloc(void **, size_t);
int cudaFree(void *);
int cudaMemcpyAsync(void *, const void *, size_t, int, void *);
int cudaStreamCreate(void **);
int cudaStreamSynchronize(void *);
int cudaStreamBeginCapture(void *, int);
int cudaStreamEndCapture(void *, void **);
int cudaGraphInstantiateWithFlags(void **, void *, unsigned long long);
int cudaGraphLaunch(void *, void *);
int cudaEventCreate(void **);
int cudaEventRecord(void *, void *);
int cudaLaunchKernel(const void *, uint64_t, uint32_t, uint64_t, uint32_t, void **, size_t, void *);
int cuModuleLoadData(void **, const void *);
int cuModuleGetFunction(void **, void *, const char *);
int cuLaunchKernel(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
		   void *, void **, void **);

static const char text[] =
	".version 7.0\n.target sm_70\n.address_size 64\n"
	".visible .entry count(.param .u64 to) {\n .reg .u64 %t; .reg .u32 %old;\n"
	" ld.param.u64 %t, [to]; atom.global.add.u32 %old, [%t], 1; ret;\n}\n";

static void count(void)
{
}

static int expect(int status, const char *what)
{
	if (status)
		printf("%s: error %d\n", what, status);
	return !status;
}

__attribute__((noinline)) static void lose_some(void)
{
	void *volatile p = malloc(1234);

	p = NULL;
	(void)p;
}

static int run(void *memory, uint32_t *seen)
{
	void *params[] = {&memory}, *stream, *event, *module, *function, *graph, *exec;
	const void *stub = (const void *)(uintptr_t)count;

	return expect(cudaStreamCreate(&stream), "a stream") &&
	       expect(cudaEventCreate(&event), "an event") &&
	       expect(cudaLaunchKernel(stub, 1ull << 32 | 4, 1, 1ull << 32 | 32, 1, params, 0,
				       stream),
		      "a launch") &&
	       expect(cudaEventRecord(event, stream), "a record") &&
	       expect(cuModuleLoadData(&module, text), "a module") &&
	       expect(cuModuleGetFunction(&function, module, "count"), "a function") &&
	       expect(cuLaunchKernel(function, 4, 1, 1, 32, 1, 1, 0, stream, params, NULL),
		      "another launch") &&
	       expect(cudaStreamBeginCapture(stream, 0), "a capture") &&
	       expect(cudaLaunchKernel(stub, 1ull << 32 | 4, 1, 1ull << 32 | 32, 1, params, 0,
				       stream),
		      "a node") &&
	       expect(cudaStreamEndCapture(stream, &graph), "a graph") &&
	       expect(cudaGraphInstantiateWithFlags(&exec, graph, 0), "a graph that can run") &&
	       expect(cudaGraphLaunch(exec, stream), "its run") &&
	       expect(cudaMemcpyAsync(seen, memory, 4, 2, stream), "a copy") &&
	       expect(cudaStreamSynchronize(stream), "the end");
}

int main(int argc, char **argv)
{
	void **image = __cudaRegisterFatBinary(text), *memory;
	uint32_t seen = 0, zero = 0;
	int ok;

	(void)argv;
	__cudaRegisterFunction(image, (void *)(uintptr_t)count, NULL, "count", -1, NULL, NULL, NULL,
			       NULL, NULL);
	__cudaRegisterFatBinaryEnd(image);
	ok = expect(cudaMalloc(&memory, 1 << 20), "memory") &&
	     expect(cudaMemcpyAsync(memory, &zero, 4, 1, NULL), "a copy") && run(memory, &seen) &&
	     expect(cudaFree(memory), "its end") && seen == 3 * 128;
	if (argc > 1)
		lose_some();
	if (ok)
		puts("all right");
	__cudaUnregisterFatBinary(image);
	return !ok;
}
