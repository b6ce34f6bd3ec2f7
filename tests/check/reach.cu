// Work of streams that reaches memory by other ways than pointers of a kernel, one function each:
// textures, surfaces, arrays, registered memory, kernels that kernels launch. As streams.cu;
// `reach NAME PTX`, PTX: tests/debug/family.ptx.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#define W 64
#define H 16
#define BYTES (W * H * sizeof(float))
#define MANY 4 // of these are registered

__global__ void put(float *p, float v)
{
	p[blockIdx.x * W + threadIdx.x] = v; // put
}

__global__ void fetch(cudaTextureObject_t t, float *out)
{
	int i = blockIdx.x * W + threadIdx.x;

	out[i] = tex1Dfetch<float>(t, i); // fetch
}

__global__ void fetch_2d(cudaTextureObject_t t, float *out, int first)
{
	int y = first + blockIdx.x;

	out[y * W + threadIdx.x] = tex2D<float>(t, threadIdx.x + 0.5f, y + 0.5f); // fetch_2d
}

__global__ void surface_put(cudaSurfaceObject_t s, float v)
{
	surf2Dwrite(v, s, threadIdx.x * 4, blockIdx.x); // surface_put
}

__global__ void surface_get(cudaSurfaceObject_t s, float *out)
{
	float v;

	surf2Dread(&v, s, threadIdx.x * 4, blockIdx.x);
	out[blockIdx.x * W + threadIdx.x] = v;
}

#define CASE(name) __attribute__((noinline)) static void name()

static cudaStream_t a, b;
static cudaEvent_t event;
static float *p, *q, *host, *registered;
static cudaArray_t array;
static cudaTextureObject_t linear, image;
static cudaSurfaceObject_t surface;
static const char *ptx;

static void order()
{
	cudaEventRecord(event, a);
	cudaStreamWaitEvent(b, event, 0);
}

static void to_array(int y, int rows)
{
	cudaMemcpy2DToArrayAsync(array, 0, y, host, W * 4, W * 4, rows, cudaMemcpyHostToDevice, a);
}

// ---- textures, surfaces, arrays ----

CASE(race_linear)
{
	put<<<H, W, 0, a>>>(p, 1);
	fetch<<<H, W, 0, b>>>(linear, q);
}

CASE(fine_linear)
{
	put<<<H, W, 0, a>>>(p, 1);
	order();
	fetch<<<H, W, 0, b>>>(linear, q);
}

CASE(fine_two_fetches)
{
	fetch<<<H, W, 0, a>>>(linear, q);
	fetch_2d<<<H, W, 0, b>>>(image, q + W * H, 0);
}

CASE(race_image)
{
	surface_put<<<H, W, 0, a>>>(surface, 1);
	fetch_2d<<<H, W, 0, b>>>(image, q, 0);
}

CASE(fine_image)
{
	surface_put<<<H, W, 0, a>>>(surface, 1);
	order();
	fetch_2d<<<H, W, 0, b>>>(image, q, 0);
}

CASE(race_surfaces)
{
	surface_get<<<H, W, 0, a>>>(surface, q);
	surface_put<<<H, W, 0, b>>>(surface, 1);
}

CASE(fine_surfaces)
{
	surface_get<<<H, W, 0, a>>>(surface, q);
	surface_get<<<H, W, 0, b>>>(surface, q + W * H);
}

CASE(race_array_copy)
{
	to_array(0, H);
	fetch_2d<<<H, W, 0, b>>>(image, q, 0);
}

CASE(race_array_rows)
{
	to_array(3, 2);
	fetch_2d<<<2, W, 0, b>>>(image, q, 4);
}

CASE(fine_array_rows)
{
	to_array(3, 2);
	fetch_2d<<<2, W, 0, b>>>(image, q, 5);
}

CASE(fine_array_copy)
{
	to_array(0, H);
	order();
	fetch_2d<<<H, W, 0, b>>>(image, q, 0);
}

CASE(race_array_back)
{
	surface_put<<<H, W, 0, a>>>(surface, 1);
	cudaMemcpy2DFromArrayAsync(p, W * 4, array, 0, 0, W * 4, H, cudaMemcpyDeviceToDevice, b);
}

CASE(race_two_array_copies)
{
	to_array(0, H);
	cudaMemcpy2DToArrayAsync(array, 0, 0, p, W * 4, W * 4, H, cudaMemcpyDeviceToDevice, b);
}

CASE(race_array_reset)
{
	fetch_2d<<<H, W, 0, b>>>(image, q, 0);
	to_array(0, H);
}

// ---- registered memory: the program's own, which begins and ends within pages ----

CASE(race_registered_written)
{
	put<<<MANY * H, W, 0, a>>>(registered, 1);
	registered[2500] = 2;
}

CASE(race_registered_read)
{
	put<<<MANY * H, W, 0, a>>>(registered, 1);
	if (registered[2500] != 1)
		puts("early");
}

CASE(race_registered_copied)
{
	cudaMemcpyAsync(p, registered, MANY * BYTES, cudaMemcpyHostToDevice, a);
	registered[2500] = 2;
}

CASE(race_registered_streams)
{
	put<<<MANY * H, W, 0, a>>>(registered, 1);
	cudaMemcpyAsync(p, registered, MANY * BYTES, cudaMemcpyHostToDevice, b);
}

CASE(fine_registered)
{
	put<<<MANY * H, W, 0, a>>>(registered, 1);
	cudaStreamSynchronize(a);
	registered[2500] += 2;
	put<<<MANY * H, W, 0, a>>>(registered, 1);
}

CASE(fine_registered_read)
{
	cudaMemcpyAsync(p, registered, MANY * BYTES, cudaMemcpyHostToDevice, a);
	if (registered[2500])
		puts("changed");
}

CASE(fine_unregistered)
{
	put<<<MANY * H, W, 0, a>>>(registered, 1);
	cudaHostUnregister(registered);
	registered[2500] += 2;
	cudaHostRegister(registered, MANY * BYTES, 0);
}

CASE(race_registered_again)
{
	for (int i = 0; i < 100; i++) {
		cudaHostUnregister(registered);
		cudaHostRegister(registered, MANY * BYTES, 0);
		put<<<MANY * H, W, 0, a>>>(registered, 1);
		cudaStreamSynchronize(a);
	}
	race_registered_written();
}

// A stack is left alone: what is called later lies there, too.
CASE(fine_registered_stack)
{
	float stack[4 * W * H];

	cudaHostRegister(stack, sizeof(stack), 0);
	put<<<H, W, 0, a>>>(stack + W * H, 1);
	stack[W * H + 500] = 2;
	cudaStreamSynchronize(a);
	cudaHostUnregister(stack);
}

// ---- what kernels launch ----

static cudaKernel_t family()
{
	cudaLibrary_t library;
	cudaKernel_t k = NULL;

	cudaLibraryLoadFromFile(&library, ptx, NULL, NULL, 0, NULL, NULL, 0);
	cudaLibraryGetKernel(&k, library, "parent");
	return k;
}

static void launch(cudaKernel_t k, float *at, cudaStream_t s)
{
	void *args[] = {&at};

	cudaLaunchKernel((void *)k, 1, 32, args, 0, s);
}

CASE(race_child)
{
	launch(family(), p, a);
	put<<<1, 1, 0, b>>>(p, 1);
}

CASE(race_before_child)
{
	cudaKernel_t k = family();

	put<<<1, 1, 0, b>>>(p, 1);
	launch(k, p, a);
}

CASE(race_fill_child)
{
	launch(family(), p, a);
	cudaMemsetAsync(p, 0, 4, b);
}

CASE(fine_child)
{
	cudaKernel_t k = family();

	launch(k, p, a);
	launch(k, p + 2, b);
	order();
	put<<<1, 1, 0, b>>>(p, 1);
}

struct test {
	const char *name;
	void (*run)();
};

#define ROW(name) {#name, name}
static const test tests[] = {
	ROW(race_linear),
	ROW(fine_linear),
	ROW(fine_two_fetches),
	ROW(race_image),
	ROW(fine_image),
	ROW(race_surfaces),
	ROW(fine_surfaces),
	ROW(race_array_copy),
	ROW(race_array_rows),
	ROW(fine_array_rows),
	ROW(fine_array_copy),
	ROW(race_array_back),
	ROW(race_two_array_copies),
	ROW(race_array_reset),
	ROW(race_registered_written),
	ROW(race_registered_read),
	ROW(race_registered_copied),
	ROW(race_registered_streams),
	ROW(fine_registered),
	ROW(fine_registered_read),
	ROW(fine_unregistered),
	ROW(race_registered_again),
	ROW(fine_registered_stack),
	ROW(race_child),
	ROW(race_before_child),
	ROW(race_fill_child),
	ROW(fine_child),
};

static void prepare()
{
	cudaChannelFormatDesc format = cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindFloat);
	cudaResourceDesc r = {};
	cudaTextureDesc how = {};

	cudaStreamCreate(&a);
	cudaStreamCreate(&b);
	cudaEventCreate(&event);
	cudaMalloc(&p, MANY * BYTES);
	cudaMalloc(&q, 2 * BYTES);
	cudaMemset(p, 0, BYTES);
	cudaMallocHost(&host, BYTES);
	memset(host, 0, BYTES);
	registered = (float *)calloc(1, MANY * BYTES + 40) + 10;
	cudaHostRegister(registered, MANY * BYTES, 0);
	cudaMallocArray(&array, &format, W, H, cudaArraySurfaceLoadStore);
	cudaMemcpy2DToArray(array, 0, 0, host, W * 4, W * 4, H, cudaMemcpyHostToDevice);
	r.resType = cudaResourceTypeLinear;
	r.res.linear.devPtr = p;
	r.res.linear.desc = format;
	r.res.linear.sizeInBytes = BYTES;
	cudaCreateTextureObject(&linear, &r, &how, NULL);
	r.resType = cudaResourceTypeArray;
	r.res.array.array = array;
	cudaCreateTextureObject(&image, &r, &how, NULL);
	cudaCreateSurfaceObject(&surface, &r);
	cudaDeviceSynchronize();
}

int main(int argc, char **argv)
{
	ptx = argc > 2 ? argv[2] : "";
	for (const test &t : tests) {
		if (argc < 2) {
			puts(t.name);
			continue;
		}
		if (strcmp(argv[1], t.name))
			continue;
		prepare();
		t.run();
		cudaDeviceSynchronize();
		printf("%s\n", cudaGetErrorName(cudaGetLastError()));
	}
	return 0;
}
