/*
 * Sizes, pitches and positions whose sums or products do not fit 64 bits are refused, and touch
 * nothing; and what the numbers of box copies count. tests/oracle/api/sizes.api has every function
 * in turn.
 */
#include "tests/api/memory.h"

#define TWO(n) ((size_t)1 << (n))

enum { BYTES = 4096, WIDTH = 16, HEIGHT = 8, DEPTH = 4, ELEMENT = 16 };

int cudaMalloc3DArray(void *, const void *, struct extent, unsigned);
int cudaMemcpy3DAsync(const struct copy_3d *, void *);
int cudaMemcpy3DPeer(const void *);
int cudaGraphCreate(void *, unsigned);
int cudaGraphAddMemcpyNode(void *, void *, const void *, size_t, const struct copy_3d *);
int cudaGraphAddMemsetNode(void *, void *, const void *, size_t, const void *);
int cudaGraphInstantiate(void *, void *, unsigned long long);
int cudaGraphLaunch(void *, void *);
int cudaCreateTextureObject(void *, const void *, const void *, const void *);
int cudaDeviceSetLimit(int, size_t);
int cuDeviceGetDevResource(int, void *, int);
int cuDevSmResourceSplitByCount(void *, unsigned *, const void *, void *, unsigned, unsigned);

static unsigned char host[BYTES], back[BYTES];
static unsigned char *device;
static void *array;

static const struct {
	int bits[4], kind;
} float4 = {{32, 32, 32, 32}, 2};

/* Is all of the device's memory still what it was? */
static bool is_untouched(void)
{
	cudaMemcpy(back, device, BYTES, TO_HOST);
	for (size_t i = 0; i < BYTES; i++)
		if (back[i] != 0xa5)
			return false;
	return true;
}

static void planes(void)
{
	CHECK_EQ(cudaMemset2D(device, TWO(30), 0, 4, TWO(34) + 1), 1);
	CHECK_EQ(cudaMemset2D(device, TWO(32), 0, 4, TWO(32)), 1);
	CHECK_EQ(cudaMemcpy2D(device, TWO(30), host, TWO(30), 4, TWO(34) + 1, TO_DEVICE), 1);
	CHECK_EQ(cudaMemcpy2D(host, TWO(30), device, TWO(30), 4, TWO(34) + 1, TO_HOST), 1);
	CHECK_EQ(cudaMemcpy2D(device, TWO(30), device, TWO(30), 4, TWO(34) + 1, ON_DEVICE), 1);
	CHECK_EQ(cudaMemset3D((struct pitched){device, 64, 64, TWO(60)}, 0,
			      (struct extent){4, 1, 2}),
		 1);
	CHECK_EQ(cuMemsetD2D32_v2((uintptr_t)device, TWO(30), 0, 4, TWO(34) + 1), 1);
	CHECK_EQ(cuMemsetD16_v2((uintptr_t)device, 0, TWO(63)), 1);
	CHECK_EQ(cuMemsetD16_v2((uintptr_t)device, 0, TWO(63) + 1), 1);
	CHECK(is_untouched());
}

static struct copy_3d to_array(struct pos at, struct extent extent)
{
	return (struct copy_3d){.src = {host, 256, 256, HEIGHT},
				.dst_array = array,
				.dst_pos = at,
				.extent = extent,
				.kind = TO_DEVICE};
}

/* The first row of the array as it is now. */
static const unsigned char *row(void)
{
	memset(back, 0, sizeof(back));
	cudaMemcpy2DFromArray(back, 256, array, 0, 0, 256, 1, TO_HOST);
	return back;
}

static void boxes_of_arrays(void)
{
	struct copy_3d c = to_array((struct pos){0}, (struct extent){TWO(60), 1, 1});

	CHECK_EQ(cudaMemcpy3D(&c), 1);
	c.extent = (struct extent){TWO(60), 2, 1};
	CHECK_EQ(cudaMemcpy3D(&c), 12);
	c.extent = (struct extent){1, HEIGHT + 1, 2};
	CHECK_EQ(cudaMemcpy3D(&c), 12);
	c.extent = (struct extent){1, HEIGHT, 2};
	c.src_pos.y = 1;
	CHECK_EQ(cudaMemcpy3D(&c), 1);
	c = to_array((struct pos){TWO(60), 0, 0}, (struct extent){1, 1, 1});
	CHECK_EQ(cudaMemcpy3D(&c), 1);
	c = to_array((struct pos){0, TWO(60), 0}, (struct extent){1, 1, 1});
	CHECK_EQ(cudaMemcpy3D(&c), 1);
	c = to_array((struct pos){0}, (struct extent){1, TWO(60), TWO(60)});
	CHECK_EQ(cudaMemcpy3D(&c), 12);
	c = to_array((struct pos){0}, (struct extent){1, 1, 1});
	c.src_pos.x = TWO(60);
	CHECK_EQ(cudaMemcpy3D(&c), 1);
	for (size_t i = 0; i < WIDTH * ELEMENT; i++)
		if (row()[i]) {
			CHECK_MSG(false, "a refused copy changes nothing");
			return;
		}
	CHECK_MSG(true, "a refused copy changes nothing");
}

/* Element `x` of the array's first row is the host's element `of`. */
static bool is_element(const unsigned char *bytes, size_t x, size_t of)
{
	return !memcmp(bytes + x * ELEMENT, host + of * ELEMENT, ELEMENT);
}

/* cudaMemcpy3DPeerParms */
struct peer_copy {
	void *src_array;
	struct pos src_pos;
	struct pitched src;
	int src_device;
	void *dst_array;
	struct pos dst_pos;
	struct pitched dst;
	int dst_device;
	struct extent extent;
};

/* Where an array is at one end, positions at the other count its elements, too. */
static void units_of_boxes(void)
{
	struct copy_3d c = to_array((struct pos){2, 0, 0}, (struct extent){2, 1, 1});
	struct peer_copy peer;
	void *graph, *node, *exec;

	c.src_pos.x = 1;
	CHECK_EQ(cudaMemcpy3D(&c), 0);
	CHECK(is_element(row(), 2, 1) && is_element(row(), 3, 2) && !is_element(row(), 4, 3));
	c = (struct copy_3d){.src_array = array,
			     .src_pos = {2, 0, 0},
			     .dst = {device, 256, 256, HEIGHT},
			     .dst_pos = {3, 0, 0},
			     .extent = {2, 1, 1},
			     .kind = ON_DEVICE};
	CHECK_EQ(cudaMemcpy3DAsync(&c, NULL), 0);
	cudaMemcpy(back, device, BYTES, TO_HOST);
	CHECK(is_element(back, 3, 1) && is_element(back, 4, 2) && back[2 * ELEMENT] == 0xa5 &&
	      back[5 * ELEMENT] == 0xa5);
	cudaMemset(device, 0xa5, BYTES);
	peer = (struct peer_copy){.src_array = array,
				  .src_pos = c.src_pos,
				  .dst = c.dst,
				  .dst_pos = c.dst_pos,
				  .extent = c.extent};
	CHECK_EQ(cudaMemcpy3DPeer(&peer), 0);
	cudaMemcpy(back, device, BYTES, TO_HOST);
	CHECK(is_element(back, 3, 1) && is_element(back, 4, 2) && back[2 * ELEMENT] == 0xa5);
	cudaMemset(device, 0xa5, BYTES);
	CHECK_EQ(cudaGraphCreate(&graph, 0), 0);
	CHECK_EQ(cudaGraphAddMemcpyNode(&node, graph, NULL, 0, &c), 0);
	CHECK_EQ(cudaGraphInstantiate(&exec, graph, 0), 0);
	CHECK_EQ(cudaGraphLaunch(exec, NULL), 0);
	cudaMemcpy(back, device, BYTES, TO_HOST);
	CHECK(is_element(back, 3, 1) && is_element(back, 4, 2) && back[2 * ELEMENT] == 0xa5);
	cudaMemset(device, 0xa5, BYTES);
}

/* cudaMemsetParams */
struct fill_node {
	void *dst;
	size_t pitch;
	unsigned value, element;
	size_t width, height;
};

static void nodes_of_graphs(void)
{
	struct fill_node fill = {device, TWO(30), 0, 4, 4, TWO(34) + 1};
	struct copy_3d c = to_array((struct pos){0}, (struct extent){TWO(60), 1, 1});
	void *graph, *node;

	CHECK_EQ(cudaGraphCreate(&graph, 0), 0);
	CHECK_EQ(cudaGraphAddMemsetNode(&node, graph, NULL, 0, &fill), 1);
	fill.width = TWO(62);
	fill.height = 1;
	CHECK_EQ(cudaGraphAddMemsetNode(&node, graph, NULL, 0, &fill), 1);
	CHECK_EQ(cudaGraphAddMemcpyNode(&node, graph, NULL, 0, &c), 1);
}

static void memory(void)
{
	struct physical_props props = {.type = 1, .location = {1, 0}};
	struct access access = {{1, 0}, 3};
	struct pitched rows;
	size_t pitch;
	uint64_t at, handle;
	void *p;

	CHECK_EQ(cudaMallocPitch(&p, &pitch, SIZE_MAX, 1), 1);
	CHECK_EQ(cudaMallocPitch(&p, &pitch, TWO(60), 16), 2);
	CHECK_EQ(cudaMalloc3D(&rows, (struct extent){TWO(20), TWO(32), TWO(32)}), 2);
	CHECK_EQ(cudaMalloc(&p, SIZE_MAX), 2);
	CHECK_EQ(cudaHostRegister(host, SIZE_MAX, 0), 1);
	CHECK_EQ(cuMemAddressReserve(&at, TWO(22), TWO(63), 0, 0), 1);
	CHECK_EQ(cuMemAddressReserve(&at, TWO(22), 0, 0, 0), 0);
	CHECK_EQ(cuMemCreate(&handle, TWO(22), &props, 0), 0);
	CHECK_EQ(cuMemMap(at, TWO(22), 0, handle, 0), 0);
	CHECK_EQ(cuMemSetAccess(at, SIZE_MAX - TWO(21) + 1, &access, 1), 1);
	CHECK_EQ(cuMemSetAccess(at, SIZE_MAX, &access, 1), 1);
	CHECK_EQ(cuMemSetAccess(at, TWO(22), &access, 1), 0);
	CHECK_EQ(cuMemUnmap(at, SIZE_MAX - TWO(21) + 1), 1);
	CHECK_EQ(cuMemUnmap(at, TWO(22)), 0);
	CHECK_EQ(cuMemRelease(handle), 0);
	CHECK_EQ(cuMemAddressFree(at, TWO(22)), 0);
	props.location.type = 2;
	CHECK_EQ(cuMemCreate(&handle, TWO(60), &props, 0), 2);
	CHECK_EQ(cudaDeviceSetLimit(1, SIZE_MAX), 1);
	CHECK_EQ(cudaDeviceSetLimit(2, SIZE_MAX), 1);
}

/* CUdevResource of streaming multiprocessors. */
struct sms {
	int type;
	char internal[92];
	unsigned count, least, align;
	char rest[36];
};

static void groups_of_sms(void)
{
	struct sms all, group[4], rest;
	unsigned n = 4;

	CHECK_EQ(cuDeviceGetDevResource(0, &all, 1), 0);
	CHECK_EQ(cuDevSmResourceSplitByCount(group, &n, &all, &rest, 0, UINT32_MAX), 915);
	CHECK_EQ(cuDevSmResourceSplitByCount(group, &n, &all, &rest, 0, UINT32_MAX - 16), 915);
	all.align = 0;
	CHECK_EQ(cuDevSmResourceSplitByCount(group, &n, &all, &rest, 0, 8), 915);
}

/*
 * A kernel that writes 7 to where its parameter points; launched with its parameters in a buffer.
 */
static void parameters(void)
{
	static const char text[] =
		".version 7.8\n.target sm_80\n.address_size 64\n"
		".visible .entry seven(.param .u64 p) {\n"
		"	.reg .u64 %p; ld.param.u64 %p, [p]; st.global.u8 [%p], 7; ret;\n"
		"}\n"
		".visible .entry part(.param .align 8 .b8 p[64]) {\n"
		"	.reg .u64 %p; .reg .u32 %r; ld.param.u64 %p, [p]; ld.param.u32 %r, [p+60];\n"
		"	st.global.u8 [%p], %r; ret;\n"
		"}\n";
	uint64_t value = (uintptr_t)device;
	size_t bytes = TWO(32);
	void *extra[] = {(void *)1, &value, (void *)2, &bytes, NULL};
	unsigned char got = 0;
	void *module, *kernel;

	CHECK_EQ(cuModuleLoadData(&module, text), 0);
	CHECK_EQ(cuModuleGetFunction(&kernel, module, "seven"), 0);
	CHECK_EQ(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, extra), 0);
	CHECK_EQ(cudaMemcpy(&got, device, 1, TO_HOST), 0);
	CHECK_EQ(got, 7);
	bytes = TWO(32) + 4;
	CHECK_EQ(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, extra), 0);
	bytes = 4;
	CHECK_EQ(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, extra), 1);
	/* Of a structure the rest is zeros. */
	bytes = 8;
	CHECK_EQ(cuModuleGetFunction(&kernel, module, "part"), 0);
	CHECK_EQ(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, extra), 0);
	CHECK_EQ(cudaMemcpy(&got, device, 1, TO_HOST), 0);
	CHECK_EQ(got, 0);
	CHECK_EQ(cudaMemset(device, 0xa5, 1), 0);
}

static void textures(void)
{
	struct {
		int kind, pad;
		void *at;
		int channels[5];
		size_t width, height, pitch;
		char rest[80];
	} r = {.kind = 3, .at = device, .channels = {32, 0, 0, 0, 2}, .width = 16};
	int settings[18] = {0};
	void *texture;

	r.height = TWO(34) + 1;
	r.pitch = TWO(30);
	CHECK(cudaCreateTextureObject(&texture, &r, settings, NULL) != 0);
	r.height = 4;
	r.width = TWO(62);
	r.pitch = TWO(63);
	CHECK(cudaCreateTextureObject(&texture, &r, settings, NULL) != 0);
}

int main(void)
{
	struct extent e = {WIDTH, HEIGHT, DEPTH};

	for (size_t i = 0; i < sizeof(host); i++)
		host[i] = (unsigned char)(i + 1 + i / 256);
	CHECK_EQ(cudaMalloc(&device, BYTES), 0);
	CHECK_EQ(cudaMemset(device, 0xa5, BYTES), 0);
	CHECK_EQ(cudaMalloc3DArray(&array, &float4, e, 0), 0);
	planes();
	boxes_of_arrays();
	units_of_boxes();
	nodes_of_graphs();
	memory();
	textures();
	groups_of_sms();
	parameters();
	CHECK(is_untouched());
	return check_done();
}
