/*
 * Batches of copies, boxes, prefetches and discards through both interfaces: what arrives, in which
 * order sources are read, and mistakes, which leave everything undone.
 */
#include "tests/check.h"

#include <stddef.h>
#include <stdint.h>

struct location {
	int type, id;
};

struct attributes {
	int order;
	struct location src, dst;
	unsigned flags;
};

struct operand {
	int type;
	union {
		struct {
			void *at;
			size_t row, height;
			struct location hint;
		} pointer;
		struct {
			void *array;
			size_t x, y, z;
		} array;
	} u;
};

struct box {
	struct operand src, dst;
	size_t width, height, depth;
	int order;
	unsigned flags;
};

struct format {
	int x, y, z, w, kind;
};

int cudaMalloc(void **, size_t);
int cudaMallocHost(void **, size_t);
int cudaMallocManaged(void **, size_t, unsigned);
int cudaMallocArray(void **, const struct format *, size_t, size_t, unsigned);
int cudaMemcpy(void *, const void *, size_t, int);
int cudaMemset(void *, int, size_t);
int cudaMemRangeGetAttribute(void *, size_t, int, const void *, size_t);
int cudaStreamCreate(void **);
int cudaStreamSynchronize(void *);
int cudaMemcpyBatchAsync(void **, void **, size_t *, size_t, struct attributes *, size_t *, size_t,
			 void *);
int cuMemcpyBatchAsync(void **, void **, size_t *, size_t, struct attributes *, size_t *, size_t,
		       size_t *, void *);
int cudaMemcpy3DBatchAsync(size_t, struct box *, unsigned long long, void *);
int cuMemcpy3DBatchAsync_v2(size_t, struct box *, unsigned long long, void *);
int cudaMemPrefetchBatchAsync(void **, size_t *, size_t, struct location *, size_t *, size_t,
			      unsigned long long, void *);
int cuMemDiscardBatchAsync(void **, size_t *, size_t, unsigned long long, void *);
int cuMemDiscardAndPrefetchBatchAsync(void **, size_t *, size_t, struct location *, size_t *,
				      size_t, unsigned long long, void *);
int cuStreamWaitValue32_v2(void *, void *, uint32_t, unsigned);

enum { TO_DEVICE = 1, TO_HOST = 2, INVALID = 1 };
enum { IN_STREAM = 1, DURING_CALL };

static void *stream;

static void test_linear(void)
{
	char *device, *pinned, back[64];
	void *dst[2], *src[2];
	size_t sizes[2] = {16, 32}, at[2] = {0, 1}, failed = 7;
	struct attributes attributes[2] = {{.order = IN_STREAM}, {.order = DURING_CALL}};

	cudaMalloc((void **)&device, 64);
	cudaMallocHost((void **)&pinned, 64);
	cudaMemset(device, 0, 64);
	memset(pinned, 'a', 64);
	dst[0] = device;
	dst[1] = device + 16;
	src[0] = pinned;
	src[1] = pinned + 16;
	CHECK_EQ(cudaMemcpyBatchAsync(dst, src, sizes, 2, attributes, at, 2, stream), 0);
	CHECK_EQ(cudaStreamSynchronize(stream), 0);
	CHECK_EQ(cudaMemcpy(back, device, 64, TO_HOST), 0);
	CHECK(back[0] == 'a' && back[47] == 'a' && !back[48]);

	/* A mistake in the second copy: the first one is not made either. */
	memset(pinned, 'b', 64);
	sizes[1] = 64;
	CHECK_EQ(cuMemcpyBatchAsync(dst, src, sizes, 2, attributes, at, 2, &failed, stream),
		 INVALID);
	CHECK(failed == SIZE_MAX);
	sizes[1] = 32;
	at[1] = 2;
	CHECK_EQ(cudaMemcpyBatchAsync(dst, src, sizes, 2, attributes, at, 2, stream), INVALID);
	at[1] = 1;
	attributes[1].order = 4;
	CHECK_EQ(cudaMemcpyBatchAsync(dst, src, sizes, 2, attributes, at, 2, stream), INVALID);
	cudaStreamSynchronize(stream);
	cudaMemcpy(back, device, 64, TO_HOST);
	CHECK(back[0] == 'a');
}

/*
 * While the stream waits, one source is changed: it was read before, the other one is read after.
 */
static void test_order(void)
{
	char *device, *pinned, back[2];
	uint32_t *flag;
	void *dst[2], *src[2];
	size_t sizes[2] = {1, 1}, at[2] = {0, 1};
	struct attributes attributes[2] = {{.order = IN_STREAM}, {.order = DURING_CALL}};

	cudaMalloc((void **)&device, 2);
	cudaMallocHost((void **)&pinned, 64);
	flag = (uint32_t *)(void *)(pinned + 32);
	*flag = 0;
	pinned[0] = pinned[1] = 'a';
	dst[0] = device;
	dst[1] = device + 1;
	src[0] = pinned;
	src[1] = pinned + 1;
	CHECK_EQ(cuStreamWaitValue32_v2(stream, flag, 1, 1), 0);
	CHECK_EQ(cudaMemcpyBatchAsync(dst, src, sizes, 2, attributes, at, 2, stream), 0);
	pinned[0] = pinned[1] = 'b';
	__atomic_store_n(flag, 1, __ATOMIC_RELEASE);
	CHECK_EQ(cudaStreamSynchronize(stream), 0);
	cudaMemcpy(back, device, 2, TO_HOST);
	CHECK_EQ(back[0], 'b');
	CHECK_EQ(back[1], 'a');
}

/* A plane of an array and back, and a box between two places with other distances. */
static void test_boxes(void)
{
	static int in[4][8], out[4][8];
	struct format format = {32, 0, 0, 0, 0};
	void *array, *device;
	struct box there = {.width = 4, .height = 3, .depth = 1, .order = IN_STREAM}, back = there;

	for (int i = 0; i < 32; i++)
		(&in[0][0])[i] = i;
	cudaMalloc(&device, sizeof(in));
	cudaMemcpy(device, in, sizeof(in), TO_DEVICE);
	CHECK_EQ(cudaMallocArray(&array, &format, 8, 4, 0), 0);
	there.src = (struct operand){.type = 1, .u.pointer = {device, 8, 4, {0, 0}}};
	there.dst = (struct operand){.type = 2, .u.array = {array, 2, 1, 0}};
	back.src = there.dst;
	back.dst = (struct operand){.type = 1, .u.pointer = {&out[0][0], 8, 0, {0, 0}}};
	CHECK_EQ(cudaMemcpy3DBatchAsync(1, &there, 0, stream), 0);
	CHECK_EQ(cuMemcpy3DBatchAsync_v2(1, &back, 0, stream), 0);
	CHECK_EQ(cudaStreamSynchronize(stream), 0);
	CHECK(out[0][3] == 3 && out[2][0] == 16 && out[2][3] == 19 && !out[0][4] && !out[3][0]);
	there.width = 7;
	CHECK_EQ(cudaMemcpy3DBatchAsync(1, &there, 0, stream), INVALID);
	there.width = 0;
	CHECK_EQ(cudaMemcpy3DBatchAsync(1, &there, 0, stream), INVALID);
	CHECK_EQ(cudaMemcpy3DBatchAsync(0, &there, 0, stream), INVALID);
}

static void test_managed(void)
{
	void *managed[2], *device;
	size_t sizes[2] = {4096, 4096}, at[2] = {0, 1};
	struct location places[2] = {{1, 0}, {2, 0}};
	int type = 9;

	cudaMallocManaged(&managed[0], 4096, 1);
	cudaMallocManaged(&managed[1], 4096, 1);
	cudaMalloc(&device, 4096);
	CHECK_EQ(cudaMemPrefetchBatchAsync(managed, sizes, 2, places, at, 2, 0, stream), 0);
	/* cudaMemRangeAttributeLastPrefetchLocation: the device, and -1 for the host. */
	CHECK_EQ(cudaMemRangeGetAttribute(&type, sizeof(type), 4, managed[0], 4096), 0);
	CHECK_EQ(type, 0);
	CHECK_EQ(cudaMemRangeGetAttribute(&type, sizeof(type), 4, managed[1], 4096), 0);
	CHECK_EQ(type, -1);
	CHECK_EQ(cuMemDiscardBatchAsync(managed, sizes, 2, 0, stream), 0);
	CHECK_EQ(cuMemDiscardAndPrefetchBatchAsync(managed, sizes, 2, places, at, 1, 0, stream), 0);
	CHECK_EQ(cudaMemRangeGetAttribute(&type, sizeof(type), 4, managed[1], 4096), 0);
	CHECK_EQ(type, 0);
	CHECK_EQ(cuMemDiscardBatchAsync(&device, sizes, 1, 0, stream), INVALID);
	at[0] = 1;
	CHECK_EQ(cudaMemPrefetchBatchAsync(managed, sizes, 2, places, at, 2, 0, stream), INVALID);
}

int main(void)
{
	cudaStreamCreate(&stream);
	test_linear();
	test_order();
	test_boxes();
	test_managed();
	return check_done();
}
