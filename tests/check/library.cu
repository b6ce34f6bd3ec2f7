// Algorithms of CUB and Thrust in which lanes without an element compute as well, and functions of the user's in them.
#include <cstdio>
#include <cub/cub.cuh>
#include <thrust/device_vector.h>
#include <thrust/sequence.h>
#include <thrust/set_operations.h>
#include <vector>

struct larger {
	template <class T> __host__ __device__ T operator()(T a, T b) const
	{
		return a > b ? a : b;
	}
};

static int *numbers(int n)
{
	std::vector<int> h(n);
	int *p;

	for (int i = 0; i < n; i++)
		h[i] = i * 7919 % 97;
	cudaMalloc(&p, n * sizeof(int));
	cudaMemcpy(p, h.data(), n * sizeof(int), cudaMemcpyHostToDevice);
	return p;
}

static void by_key(int n)
{
	int *in = numbers(n), *key = numbers(n), *out = numbers(n), *unique = numbers(n), *count = numbers(1);
	size_t bytes = 0;
	void *t = nullptr;

	for (int i = 0; i < 2; i++) {
		cub::DeviceReduce::ReduceByKey(t, bytes, key, unique, in, out, count, larger(), n);
		if (!i)
			cudaMalloc(&t, bytes);
	}
	cudaDeviceSynchronize();
	for (void *p : {(void *)in, (void *)key, (void *)out, (void *)unique, (void *)count, t})
		cudaFree(p);
}

int main()
{
	for (int n : {3, 33, 777}) {
		thrust::device_vector<int> a(n), b(n), c(2 * n);

		by_key(n);
		thrust::sequence(a.begin(), a.end());
		thrust::sequence(b.begin(), b.end(), 2);
		thrust::set_intersection(a.begin(), a.end(), b.begin(), b.end(), c.begin());
	}
	puts(cudaGetErrorName(cudaDeviceSynchronize()));
	return 0;
}
