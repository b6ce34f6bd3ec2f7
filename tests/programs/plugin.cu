/*
 * A library with the static CUDA runtime, to be loaded by a program that knows nothing of CUDA. Its
 * constructor calls the runtime before dlopen returns.
 */
#include <cstdio>

__global__ void set(int *p)
{
	*p = 42;
}

__managed__ int shared_value = 3;

struct at_load {
	int devices;
	at_load() : devices(0)
	{
		cudaGetDeviceCount(&devices);
	}
};

static at_load seen;

extern "C" int plugin_run()
{
	int *d = nullptr, h = 0;

	if (seen.devices < 1 || shared_value != 3 || cudaMalloc(&d, sizeof(h)))
		return 1;
	set<<<1, 1>>>(d);
	if (cudaMemcpy(&h, d, sizeof(h), cudaMemcpyDefault) || cudaFree(d))
		return 2;
	return h == 42 ? 0 : 3;
}
