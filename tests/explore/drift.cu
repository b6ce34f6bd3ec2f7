// A program whose launches depend on the environment (DRIFT: kernel, grid, more); ends with 1 if an addition is lost.
#include <cstdio>
#include <cstdlib>
#include <cstring>

__global__ void scale(int *x)
{
	int y = *x;

	*x = y + 1;
}

__global__ void reduce(int *x)
{
	*x += 2;
}

int main()
{
	const char *drift = getenv("DRIFT");
	int *d, x = 0, wanted;

	if (cudaMalloc(&d, sizeof(x)) || cudaMemset(d, 0, sizeof(x)))
		return 2;
	if (drift && !strcmp(drift, "kernel"))
		reduce<<<2, 1>>>(d);
	else if (drift && !strcmp(drift, "grid"))
		scale<<<3, 1>>>(d);
	else
		scale<<<2, 1>>>(d);
	wanted = drift ? 3 : 2;
	if (drift && !strcmp(drift, "more"))
		scale<<<1, 1>>>(d);
	if (cudaMemcpy(&x, d, sizeof(x), cudaMemcpyDeviceToHost) || cudaFree(d))
		return 2;
	printf("%d\n", x);
	return x < wanted;
}
