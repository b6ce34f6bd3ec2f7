/*
 * Five allocations and what becomes of their errors: `oom` looks at each, `oom bug` not at the fourth.
 *
 *     ptxloom cc samples/testkit/oom.cu -o oom
 *     ptxloom run --inject 'call=cudaMalloc nth=3 -> error 2' ./oom
 *     ptxloom inject --sweep 'cudaMalloc*' -- ./oom
 */
#include <assert.h>
#include <stdio.h>
#include <string.h>

enum { BUFFERS = 5, LEN = 1024 };

__global__ void add_up(float *a, float *b, float *c, float *d, float *sum)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	a[i] = i;
	b[i] = 2 * i;
	c[i] = 3 * i;
	d[i] = 4 * i;
	sum[i] = a[i] + b[i] + c[i] + d[i];
}

int main(int argc, char **argv)
{
	bool bug = argc > 1 && !strcmp(argv[1], "bug");
	float *buffer[BUFFERS] = {}, sum[LEN];
	int status = 1;

	for (int i = 0; i < BUFFERS; i++) {
		cudaError_t error = cudaMalloc(&buffer[i], LEN * sizeof(float));

		if (error != cudaSuccess && !(bug && i == 3)) {
			printf("oom: buffer %d: %s\n", i + 1, cudaGetErrorString(error));
			goto end;
		}
	}
	add_up<<<LEN / 256, 256>>>(buffer[0], buffer[1], buffer[2], buffer[3], buffer[4]);
	assert(cudaGetLastError() == cudaSuccess);
	assert(cudaMemcpy(sum, buffer[4], sizeof(sum), cudaMemcpyDeviceToHost) == cudaSuccess);
	status = 0;
	for (int i = 0; i < LEN; i++)
		status |= sum[i] != 10 * i;
	puts(status ? "oom: wrong" : "oom: right");
end:
	for (int i = 0; i < BUFFERS; i++)
		cudaFree(buffer[i]);
	return status;
}
