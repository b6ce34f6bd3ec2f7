// Kernels whose CTAs interact by atomics, in the ways that depend on their order. Prints a hash of what each left.
#include <stdint.h>
#include <stdio.h>

__device__ unsigned counter, lock_word;

// A sum of a CTA, then one atomic: some CTAs return before, others take long.
__global__ void reduce(const float *x, int n, float *total)
{
	__shared__ float part[128];
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (blockIdx.x % 7 == 3)
		return;
	part[threadIdx.x] = i < n ? x[i] : 0;
	for (int k = 0; k < (blockIdx.x % 5) * 200; k++)
		part[threadIdx.x] = part[threadIdx.x] * 1.0001f + 1e-5f;
	for (int half = 64; half; half /= 2) {
		__syncthreads();
		if (threadIdx.x < half)
			part[threadIdx.x] += part[threadIdx.x + half];
	}
	if (!threadIdx.x)
		atomicAdd(total, part[0]);
}

// Places in a queue.
__global__ void append(unsigned *queue, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n && i % 3)
		queue[atomicAdd(&counter, 1u)] = i;
}

// Sums and bits of integers need no order.
__global__ void count(unsigned *bins, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n) {
		atomicAdd(&bins[i * 2654435761u >> 26], 1u);
		atomicOr(&bins[64], 1u << i % 32);
	}
}

// A lock: threads wait for each other.
__global__ void locked(float *total)
{
	if (threadIdx.x)
		return;
	while (atomicCAS(&lock_word, 0u, 1u))
		;
	__threadfence();
	*(volatile float *)total = *(volatile float *)total * 0.75f + blockIdx.x;
	__threadfence();
	atomicExch(&lock_word, 0u);
}

// The last CTA to come adds up what the others left.
__global__ void last(const float *x, float *parts, float *total, int n)
{
	__shared__ bool is_last;
	float sum = 0;

	if (!threadIdx.x) {
		for (int i = blockIdx.x; i < n; i += gridDim.x)
			sum += x[i];
		parts[blockIdx.x] = sum;
		__threadfence();
		is_last = atomicInc(&counter, gridDim.x - 1) == gridDim.x - 1;
	}
	__syncthreads();
	if (is_last && !threadIdx.x)
		for (int i = 0; i < gridDim.x; i++)
			*total += parts[i];
}

// Memory of the device's heap: who gets which address.
__global__ void grow(uint64_t *where)
{
	char *p = (char *)malloc(16 + blockIdx.x % 64);

	where[blockIdx.x] = (uint64_t)p;
	if (blockIdx.x % 2)
		free(p);
}

// Where the heap is, is the host's affair.
__global__ void relate(uint64_t *where, int n)
{
	uint64_t base = where[0];

	for (int i = 0; i < n; i++)
		where[i] -= base;
}

static void show(const char *name, const void *device, size_t bytes)
{
	static unsigned char host[1 << 20];
	uint64_t h = 1469598103934665603u;

	if (cudaMemcpy(host, device, bytes, cudaMemcpyDeviceToHost))
		printf("%s: %s\n", name, cudaGetErrorString(cudaGetLastError()));
	for (size_t i = 0; i < bytes; i++)
		h = (h ^ host[i]) * 1099511628211u;
	printf("%s %016llx\n", name, (unsigned long long)h);
}

int main()
{
	const int n = 20000;
	static float x[n];
	unsigned zero = 0;
	float *dx, *out;

	for (int i = 0; i < n; i++)
		x[i] = (i * 7919 % 1000) / 1000.0f;
	cudaMalloc(&dx, sizeof(x));
	cudaMalloc(&out, 1 << 20);
	cudaMemcpy(dx, x, sizeof(x), cudaMemcpyHostToDevice);
	cudaMemset(out, 0, 1 << 20);
	reduce<<<n / 128 + 40, 128>>>(dx, n, out);
	show("reduce", out, 4);
	append<<<n / 64 + 1, 64>>>((unsigned *)out, n);
	show("append", out, n * 4);
	cudaMemset(out, 0, 1 << 20);
	count<<<n / 64 + 1, 64>>>((unsigned *)out, n);
	show("count", out, 65 * 4);
	locked<<<300, 32>>>(out);
	show("locked", out, 4);
	cudaMemcpyToSymbol(counter, &zero, sizeof(zero));
	last<<<200, 64>>>(dx, out + 1, out, n);
	show("last", out, 4);
	grow<<<500, 1>>>((uint64_t *)out);
	relate<<<1, 1>>>((uint64_t *)out, 500);
	show("grow", out, 500 * 8);
	return 0;
}
