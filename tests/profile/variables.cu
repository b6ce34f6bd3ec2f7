/* Variables, two allocations and local memory, each accessed in a way of its own. */
#include <cuda_runtime.h>

__device__ int table[1024];

__global__ void use(const int *in, int *out)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	volatile int own[4];

	own[i & 3] = in[i];
	out[i] = table[i] + table[i ^ 1] + own[i & 3];
}

/* Rows are read by columns of one, and of one with a word between rows. */
__global__ void turn(int *out)
{
	__shared__ int tile[32][32];
	__shared__ int padded[32][33];
	extern __shared__ int more[];
	int x = threadIdx.x, y = threadIdx.y;

	tile[y][x] = x;
	padded[y][x] = y;
	more[y * 32 + x] = x;
	__syncthreads();
	out[y * 32 + x] = tile[x][y] + padded[x][y] + more[y * 32 + x];
}

int main()
{
	int *in, *out, *unused;

	cudaMalloc(&in, 4096);
	cudaMalloc(&unused, 4096);
	cudaMalloc(&out, 8192);
	use<<<4, 256>>>(in, out);
	turn<<<1, dim3(32, 32), 4096>>>(out);
	return cudaDeviceSynchronize();
}
