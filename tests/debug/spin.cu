// A kernel that waits for a flag that only a debugger sets.
#include <cstdio>
__global__ void spin(volatile int *stop, int *out)
{
	int turns = 0;
	while (!*stop)
		turns++;
	*out = turns;
}
// For a debugger that calls it: returns when the flag is set.
__device__ __attribute__((used)) int wait_for(volatile int *flag)
{
	while (!*flag)
		;
	return *flag;
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
