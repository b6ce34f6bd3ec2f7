// Makes nvcc emit several megabytes of PTX: sorts, scans and reductions for many types and functors.
#include <thrust/device_vector.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sort.h>
#include <thrust/transform.h>

template <typename T> struct twice {
	__device__ T operator()(T x) const { return x + x; }
};

template <typename T> T all(int n)
{
	thrust::device_vector<T> v(n), w(n);

	thrust::transform(v.begin(), v.end(), w.begin(), twice<T>());
	thrust::sort(v.begin(), v.end());
	thrust::stable_sort_by_key(v.begin(), v.end(), w.begin(), thrust::greater<T>());
	thrust::inclusive_scan(v.begin(), v.end(), w.begin());
	thrust::exclusive_scan(w.begin(), w.end(), v.begin(), T(1), thrust::plus<T>());
	return thrust::reduce(v.begin(), v.end(), T(0), thrust::maximum<T>());
}

double everything(int n)
{
	return double(all<char>(n)) + double(all<short>(n)) + double(all<int>(n)) + double(all<unsigned>(n)) +
	       double(all<long long>(n)) + double(all<unsigned long long>(n)) + double(all<float>(n)) + all<double>(n);
}
