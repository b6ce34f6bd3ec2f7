#include <cstdio>
#include <cstdlib>
#include <cuda.h>
#include <vector>

int scale_all(float *x, float factor, int n);

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 10, devices = 0, status;
	std::vector<float> x(n, 3.0f);

	if (cuInit(0) || cuDeviceGetCount(&devices) || devices < 1)
		return 1;
	status = scale_all(x.data(), 2.0f, n);
	for (float v : x)
		status |= v != 6.0f;
	size_t bytes = 0;
	cuDeviceTotalMem(&bytes, 0);
	printf("%s, of %zu bytes\n", status ? "wrong" : "all right", bytes);
	return status != 0;
}
