/*
 * c = a + b on the device, checked on the host. Builds with nvcc, and without it: ptxloom cc samples/vector_add.cu -o vector_add
 */
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

__global__ void vector_add(const float *a, const float *b, float *c, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		c[i] = a[i] + b[i];
}

static void check(cudaError_t e)
{
	if (e == cudaSuccess)
		return;
	fprintf(stderr, "%s: %s\n", cudaGetErrorName(e), cudaGetErrorString(e));
	exit(1);
}

int main()
{
	const int n = 50000;
	size_t bytes = n * sizeof(float);
	float *a = (float *)malloc(bytes), *b = (float *)malloc(bytes), *c = (float *)malloc(bytes), *da, *db, *dc;

	for (int i = 0; i < n; i++) {
		a[i] = 0.5f * i;
		b[i] = 100.0f - i;
	}
	check(cudaMalloc(&da, bytes));
	check(cudaMalloc(&db, bytes));
	check(cudaMalloc(&dc, bytes));
	check(cudaMemcpy(da, a, bytes, cudaMemcpyHostToDevice));
	check(cudaMemcpy(db, b, bytes, cudaMemcpyHostToDevice));
	vector_add<<<(n + 255) / 256, 256>>>(da, db, dc, n);
	check(cudaGetLastError());
	check(cudaMemcpy(c, dc, bytes, cudaMemcpyDeviceToHost));
	for (int i = 0; i < n; i++)
		if (c[i] != a[i] + b[i]) {
			fprintf(stderr, "element %d is %g, expected %g\n", i, c[i], a[i] + b[i]);
			return 1;
		}
	cudaFree(da);
	cudaFree(db);
	cudaFree(dc);
	free(a);
	free(b);
	free(c);
	printf("vector_add: %d elements, all right\n", n);
	return 0;
}
