// Calls in helpers, in methods, in an inlined function and behind the toolkit's wrappers: whose lines are named.
// `host_places NAME` runs one function.
#include <cstring>

__global__ void put(int *p, int i)
{
	p[threadIdx.x + i] = 1; // put
}

static inline int *make(size_t bytes)
{
	int *p;

	cudaMalloc(&p, bytes); // make
	return p;
}

struct owner {
	int *p;

	explicit owner(size_t bytes) : p(make(bytes)) {}
	~owner()
	{
		cudaFree(p); // destroy
	}
};

__attribute__((noinline)) static void launch(int *p, int i)
{
	put<<<1, 32>>>(p, i); // launch
	cudaDeviceSynchronize();
}

static void fault()
{
	launch(make(64), 64); // calls launch
}

static void refused()
{
	put<<<1, 4000>>>(nullptr, 0); // too many
}

static void by_function()
{
	int *p = nullptr, i = 0;
	void *args[] = {&p, &i};

	cudaLaunchKernel(put, dim3(1), dim3(4000), args, 0, nullptr); // by function
}

static void twice()
{
	owner x(32);

	cudaFree(x.p); // once
}

static void leaks()
{
	make(100);
	make(100);
}

__global__ void turn(int *out, bool waits)
{
	__shared__ int a[64];

	a[threadIdx.x] = out[threadIdx.x];
	if (waits)
		__syncthreads();
	out[threadIdx.x] = a[63 - threadIdx.x];
}

__global__ void apart(int *out)
{
	if (threadIdx.x < 32)
		__syncthreads();
	out[threadIdx.x] = 1;
}

__global__ void beyond(int *out, int i)
{
	__shared__ int a[64], b[64];

	a[threadIdx.x + i] = b[threadIdx.x] = 1;
	__syncthreads();
	out[threadIdx.x] = a[threadIdx.x] + b[threadIdx.x];
}

static void turned(bool waits)
{
	int *p = make(256);

	cudaMemset(p, 0, 256);
	turn<<<1, 64>>>(p, waits); // turned
	cudaDeviceSynchronize();
	cudaFree(p);
}

static void race()
{
	turned(false);
}

static void ordered()
{
	turned(true);
}

static void unsync()
{
	apart<<<1, 64>>>(make(256)); // unsync
	cudaDeviceSynchronize();
}

static void uninit()
{
	turn<<<1, 64>>>(make(256), true); // uninit
	cudaDeviceSynchronize();
}

static void neighbour()
{
	beyond<<<1, 64>>>(make(256), 1); // neighbour
	cudaDeviceSynchronize();
}

static void device()
{
	for (int i = 0; i < 3; i++)
		cudaSetDevice(77); // no such device
}

int main(int argc, char **argv)
{
	const struct {
		const char *name;
		void (*run)();
	} rows[] = {{"fault", fault},   {"refused", refused},    {"by_function", by_function},
		    {"twice", twice},   {"leaks", leaks},        {"device", device},
		    {"race", race},     {"ordered", ordered},    {"unsync", unsync},
		    {"uninit", uninit}, {"neighbour", neighbour}};

	for (auto &row : rows)
		if (argc > 1 && !strcmp(argv[1], row.name))
			row.run();
	return 0;
}
