// Reverses an array in shared memory. Between the stores and the loads of other threads a barrier is missing; with the
// argument `fixed` it is there:  race THREADS [fixed]
#include <cstdio>
#include <cstdlib>
#include <cstring>

__global__ void reverse(int *x, int n, bool fixed)
{
	__shared__ int s[1024];
	int t = threadIdx.x;

	s[t] = x[t];
	if (fixed)
		__syncthreads();
	x[t] = s[n - 1 - t];
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 256, wrong = 0;
	bool fixed = argc > 2 && !strcmp(argv[2], "fixed");
	static int x[1024];
	int *d;

	if (n < 1 || n > 1024)
		return 2;
	for (int i = 0; i < n; i++)
		x[i] = i;
	if (cudaMalloc(&d, sizeof(x)) || cudaMemcpy(d, x, sizeof(x), cudaMemcpyHostToDevice))
		return 2;
	reverse<<<1, n>>>(d, n, fixed);
	if (cudaMemcpy(x, d, sizeof(x), cudaMemcpyDeviceToHost) || cudaFree(d))
		return 2;
	for (int i = 0; i < n; i++)
		wrong += x[i] != n - 1 - i;
	printf("%d of %d elements are wrong\n", wrong, n);
	return wrong != 0;
}
