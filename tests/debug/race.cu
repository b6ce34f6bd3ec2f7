// A sum of 64 numbers by a tree in shared memory. One barrier is missing.
#include <cstdio>
__global__ void sum(const int *in, int *out)
{
	__shared__ int part[64];
	int t = threadIdx.x;
	part[t] = in[t];
	for (int half = 32; half > 0; half /= 2) {
		if (t < half)
			part[t] += part[t + half];
		__syncthreads();
	}
	if (t == 0)
		*out = part[0];
}
int main()
{
	int in[64], total, *din, *dout;
	for (int i = 0; i < 64; i++)
		in[i] = i;
	cudaMalloc(&din, sizeof(in));
	cudaMalloc(&dout, sizeof(int));
	cudaMemcpy(din, in, sizeof(in), cudaMemcpyHostToDevice);
	sum<<<1, 64>>>(din, dout);
	cudaMemcpy(&total, dout, sizeof(total), cudaMemcpyDeviceToHost);
	printf("%d, and it should be %d\n", total, 63 * 64 / 2);
	return total != 63 * 64 / 2;
}
