/*
 * A matrix of 64 x 64 is transposed through tiles in shared memory. A tile of 32 x 32 puts the
 * elements of a column into one bank; with `fixed` its rows have 33, and there is no conflict.
 */
#include <stdio.h>
#include <string.h>

enum { N = 64, TILE = 32 };

template <int PITCH> __global__ void transpose(const float *in, float *out)
{
	__shared__ float tile[TILE][PITCH];
	int x = threadIdx.x, y = threadIdx.y;

	tile[y][x] = in[(blockIdx.y * TILE + y) * N + blockIdx.x * TILE + x];
	__syncthreads();
	out[(blockIdx.x * TILE + y) * N + blockIdx.y * TILE + x] = tile[x][y];
}

int main(int argc, char **argv)
{
	bool fixed = argc > 1 && !strcmp(argv[1], "fixed");
	static float in[N * N], out[N * N];
	dim3 grid(N / TILE, N / TILE), block(TILE, TILE);
	float *d_in, *d_out;

	for (int i = 0; i < N * N; i++)
		in[i] = i;
	if (cudaMalloc(&d_in, sizeof(in)) || cudaMalloc(&d_out, sizeof(out)) ||
	    cudaMemcpy(d_in, in, sizeof(in), cudaMemcpyHostToDevice))
		return 1;
	if (fixed)
		transpose<TILE + 1><<<grid, block>>>(d_in, d_out);
	else
		transpose<TILE><<<grid, block>>>(d_in, d_out);
	if (cudaMemcpy(out, d_out, sizeof(out), cudaMemcpyDeviceToHost))
		return 1;
	for (int y = 0; y < N; y++)
		for (int x = 0; x < N; x++)
			if (out[x * N + y] != in[y * N + x])
				return 1;
	puts("bank: right");
	return 0;
}
