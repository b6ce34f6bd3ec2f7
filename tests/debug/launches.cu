// Three launches, with what the host writes between them.
#include <cstdio>
__device__ int total;
__global__ void add(int *at, int n)
{
	int t = threadIdx.x;
	at[t] += n;
	if (t == 0)
		total += n;
}
__global__ void twice(int *at)
{
	int t = threadIdx.x;
	at[t] *= 2;
	if (t == 3)
		total = at[t];
}
int main(int argc, char **)
{
	int *at, *other, host[32] = {0}, sum;
	cudaMalloc(&at, sizeof(host));
	cudaMalloc(&other, 1 << 20);
	cudaMemset(at, 0, sizeof(host));
	add<<<1, 32>>>(at, 5);
	cudaMemcpy(host, at, sizeof(host), cudaMemcpyDeviceToHost);
	host[1] = 100;
	cudaMemcpy(at, host, sizeof(host), cudaMemcpyHostToDevice);
	twice<<<1, 32>>>(at);
	if (argc > 1)
		cudaFree(other);
	add<<<2, 32>>>(at, 1);
	cudaMemcpyFromSymbol(&sum, total, sizeof(sum));
	cudaMemcpy(host, at, sizeof(host), cudaMemcpyDeviceToHost);
	printf("%d %d %d\n", host[0], host[1], sum);
	cudaFree(at);
}
