/*
 * Generators of cuRAND for devices, which the library's generators for the host stand for: in the
 * order of streams, in graphs, and with the library's statuses. The library counts (standin.c).
 */
#include "tests/hostlibs/device.h"

#include <unistd.h>

#define XORWOW 101
#define SOBOL32 201
#define SOBOL64 203
#define THREAD_LOCAL 1 /* cudaStreamCaptureModeThreadLocal */

static void *new_one(int type)
{
	void *g = NULL;
	int status = named("curandCreateGenerator")(&g, type);

	if (status) {
		printf("Bail out! there is no generator: %d\n", status);
		exit(1);
	}
	return g;
}

/* The word at this place, after all work. */
static unsigned word_at(const unsigned *device, size_t i)
{
	unsigned x = 0;

	CHECK_EQ(named("cudaDeviceSynchronize")(), 0);
	CHECK_EQ(named("cudaMemcpy")(&x, device + i, sizeof(x), 2), 0);
	return x;
}

static void test_order(unsigned *d)
{
	any_fn *draw = named("curandGenerate");
	void *g = new_one(XORWOW), *stream = NULL;

	CHECK_EQ(named("cudaStreamCreate")(&stream), 0);
	CHECK_EQ(named("curandSetStream")(g, stream), 0);
	CHECK_EQ(named("curandSetPseudoRandomGeneratorSeed")(g, 100ull), 0);
	CHECK_EQ(draw(g, d, (size_t)10), 0);
	CHECK_EQ(named("cudaMemsetAsync")(d + 4, 0, (size_t)4, stream), 0);
	CHECK_EQ(draw(g, d + 6, (size_t)2), 0);
	CHECK_EQ(word_at(d, 3), 103);
	CHECK_EQ(word_at(d, 4), 0);
	CHECK_EQ(word_at(d, 7), 111);
	/* A seed is for what comes, not for what has been issued. */
	CHECK_EQ(draw(g, d, (size_t)1), 0);
	CHECK_EQ(named("curandSetPseudoRandomGeneratorSeed")(g, 500ull), 0);
	CHECK_EQ(draw(g, d + 1, (size_t)1), 0);
	CHECK_EQ(word_at(d, 0), 112);
	CHECK_EQ(word_at(d, 1), 500);
	CHECK_EQ(named("curandDestroyGenerator")(g), 0);
	CHECK_EQ(named("cudaStreamDestroy")(stream), 0);
}

static void take_time(void *unused)
{
	(void)unused;
	usleep(200000);
}

/* The seed waits for the generator's device, not for the current one. */
static void test_devices(unsigned *d)
{
	void *g = new_one(XORWOW), *stream = NULL;

	CHECK_EQ(named("cudaStreamCreate")(&stream), 0);
	CHECK_EQ(named("curandSetStream")(g, stream), 0);
	CHECK_EQ(named("cudaLaunchHostFunc")(stream, take_time, NULL), 0);
	CHECK_EQ(named("curandGenerate")(g, d, (size_t)4), 0);
	CHECK_EQ(named("cudaSetDevice")(1), 0);
	CHECK_EQ(named("curandSetPseudoRandomGeneratorSeed")(g, 100ull), 0);
	CHECK_EQ(named("cudaSetDevice")(0), 0);
	CHECK_EQ(word_at(d, 3), 3);
	CHECK_EQ(named("curandDestroyGenerator")(g), 0);
	CHECK_EQ(named("cudaStreamDestroy")(stream), 0);
}

static void test_arguments(unsigned *d)
{
	any_fn *normal = named("curandGenerateNormal"), *counts = named("curandGeneratePoisson");
	void *g = new_one(XORWOW);
	float x = 0;

	CHECK_EQ(((int (*)(void *, void *, size_t, float, float))(uintptr_t)normal)(g, d, 4, 10.0f,
										    0.5f),
		 0);
	word_at(d, 0);
	CHECK_EQ(named("cudaMemcpy")(&x, d + 3, sizeof(x), 2), 0);
	CHECK_MSG(x == 11.5f, "mean and deviation");
	CHECK_EQ(((int (*)(void *, void *, size_t, double))(uintptr_t)counts)(g, d, 1, 30.0), 0);
	CHECK_EQ(word_at(d, 0), 64);
	CHECK_EQ(named("curandDestroyGenerator")(g), 0);
}

/* Each launch of a graph goes on with the sequence. */
static void test_graph(unsigned *d)
{
	void *g = new_one(XORWOW), *stream = NULL, *graph = NULL, *exec = NULL;

	CHECK_EQ(named("cudaStreamCreate")(&stream), 0);
	CHECK_EQ(named("curandSetStream")(g, stream), 0);
	CHECK_EQ(named("cudaStreamBeginCapture")(stream, THREAD_LOCAL), 0);
	CHECK_EQ(named("curandGenerate")(g, d, (size_t)5), 0);
	CHECK_EQ(named("cudaStreamEndCapture")(stream, &graph), 0);
	CHECK_EQ(named("cudaGraphInstantiate")(&exec, graph, 0ull), 0);
	CHECK_EQ(named("cudaGraphLaunch")(exec, stream), 0);
	CHECK_EQ(named("cudaGraphLaunch")(exec, stream), 0);
	CHECK_EQ(word_at(d, 4), 9);
	CHECK_EQ(named("curandDestroyGenerator")(g), 0);
	CHECK_EQ(named("cudaGraphExecDestroy")(exec), 0);
	CHECK_EQ(named("cudaGraphDestroy")(graph), 0);
	CHECK_EQ(named("cudaStreamDestroy")(stream), 0);
}

static void test_statuses(unsigned *d)
{
	any_fn *normal = named("curandGenerateNormal"), *draw = named("curandGenerate");
	void *g = new_one(XORWOW), *quasi = new_one(SOBOL32), *wide = new_one(SOBOL64), *none;

	CHECK_EQ(named("curandCreateGenerator")(&none, 5), 103);
	CHECK_EQ(((int (*)(void *, void *, size_t, float, float))(uintptr_t)normal)(g, d, 3, 0, 1),
		 105);
	CHECK_EQ(named("curandSetQuasiRandomGeneratorDimensions")(quasi, 3), 0);
	CHECK_EQ(draw(quasi, d, (size_t)4), 105);
	CHECK_EQ(draw(quasi, d, (size_t)6), 0);
	CHECK_EQ(draw(wide, d, (size_t)6), 103);
	CHECK_EQ(draw(g, d, (size_t)0), 0);
	CHECK_EQ(named("curandSetGeneratorOrdering")(g, 104), 0);
	CHECK_EQ(named("curandSetGeneratorOrdering")(g, 201), 104);
	CHECK_EQ(named("curandDestroyGenerator")(quasi), 0);
	CHECK_EQ(named("curandDestroyGenerator")(wide), 0);
	/* Memory that is none of the device's. */
	CHECK_EQ(draw(g, (void *)16, (size_t)2), 0);
	CHECK_EQ(named("cudaDeviceSynchronize")(), 700);
	CHECK_EQ(named("curandDestroyGenerator")(g), 0);
}

int main(void)
{
	unsigned *d = device_new(64 * sizeof(unsigned));

	test_order(d);
	test_devices(d);
	test_arguments(d);
	test_graph(d);
	test_statuses(d);
	return check_done();
}
