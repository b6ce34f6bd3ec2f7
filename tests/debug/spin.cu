// A kernel that waits for a flag that only a debugger sets.
#include <cstdio>
__global__ void spin(volatile int *stop, int *out)
{
	int turns = 0;
	while (!*stop)
		turns++;
	*out = turns;
}
int main()
{
	int *stop, *out;
	cudaMalloc(&stop, 4);
	cudaMalloc(&out, 4);
	cudaMemset(stop, 0, 4);
	printf("launching\n");
	fflush(stdout);
	spin<<<1, 64>>>(stop, out);
	printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
}
