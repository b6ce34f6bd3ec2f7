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
	} rows[] = {{"fault", fault}, {"refused", refused}, {"by_function", by_function},
		    {"twice", twice}, {"leaks", leaks},     {"device", device}};

	for (auto &row : rows)
		if (argc > 1 && !strcmp(argv[1], row.name))
			row.run();
	return 0;
}
