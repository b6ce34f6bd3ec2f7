// A barrier as <cuda/barrier> declares it, among the variables of a kernel.
#include "truth.h"
namespace cuda {
enum thread_scope { thread_scope_system, thread_scope_device, thread_scope_block };
template <thread_scope Scope> struct barrier {
	unsigned long long word;
};
}
__global__ void arrive(int *out)
{
	__shared__ cuda::barrier<cuda::thread_scope_block> full, stage[2];
	if (threadIdx.x == 0) {
		asm volatile("mbarrier.init.shared.b64 [%0], 32;" ::"r"((unsigned)__cvta_generic_to_shared(&full)));
		asm volatile("mbarrier.init.shared.b64 [%0], 3;" ::"r"((unsigned)__cvta_generic_to_shared(&stage[1])));
	}
	__syncthreads();
	out[threadIdx.x] = 1;
}
int main()
{
	int *out;
	cudaMalloc(&out, 32 * sizeof(*out));
	arrive<<<1, 32>>>(out);
	return cudaDeviceSynchronize();
}
