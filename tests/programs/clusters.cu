// Clusters: a histogram in the shared memory of all CTAs of a cluster, dimensions from the kernel, from a launch
// attribute and with grids counted in clusters; what is refused; occupancy. Programmatic dependent launches.
#include "try.h"

#include <cooperative_groups.h>

namespace cg = cooperative_groups;

constexpr int bins = 256, words = 50000;

// Every CTA keeps a part of the bins.
__global__ void __cluster_dims__(4, 1, 1) histogram(const unsigned *in, unsigned *out)
{
	extern __shared__ unsigned part[];
	cg::cluster_group cluster = cg::this_cluster();
	unsigned per = bins / cluster.num_blocks();

	for (unsigned i = threadIdx.x; i < per; i += blockDim.x)
		part[i] = 0;
	cluster.sync();
	for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < words; i += gridDim.x * blockDim.x) {
		unsigned bin = in[i] % bins;

		atomicAdd(cluster.map_shared_rank(part, bin / per) + bin % per, 1u);
	}
	cluster.sync();
	for (unsigned i = threadIdx.x; i < per; i += blockDim.x)
		atomicAdd(out + cluster.block_rank() * per + i, part[i]);
}

__global__ void ranks(unsigned *out)
{
	cg::cluster_group cluster = cg::this_cluster();

	if (threadIdx.x == 0)
		out[blockIdx.x] = cluster.num_blocks() * 100 + cluster.block_rank();
}

__global__ void __block_size__((32, 1, 1), (2, 1, 1)) counted(unsigned *out)
{
	if (threadIdx.x == 0)
		out[blockIdx.x] = gridDim.x * 100 + blockDim.x;
}

static int test_attribute(unsigned *out)
{
	cudaLaunchAttribute attribute = {};
	cudaLaunchConfig_t config = {};
	int n;

	attribute.id = cudaLaunchAttributeClusterDimension;
	attribute.val.clusterDim = {3, 1, 1};
	config.gridDim = 12;
	config.blockDim = 32;
	config.attrs = &attribute;
	config.numAttrs = 1;
	TRY(cudaLaunchKernelEx(&config, ranks, out));
	TRY(cudaDeviceSynchronize());
	for (unsigned i = 0; i < 12; i++)
		RIGHT(out[i] == 300 + i % 3);
	TRY(cudaOccupancyMaxActiveClusters(&n, ranks, &config));
	RIGHT(n > 0);
	TRY(cudaOccupancyMaxPotentialClusterSize(&n, ranks, &config));
	RIGHT(n == 8);
	attribute.val.clusterDim.x = 5;
	RIGHT(cudaLaunchKernelEx(&config, ranks, out) == cudaErrorInvalidClusterSize);
	attribute.val.clusterDim.x = 12;
	RIGHT(cudaLaunchKernelEx(&config, ranks, out) == cudaErrorInvalidClusterSize);
	cudaGetLastError();
	TRY(cudaFuncSetAttribute(ranks, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
	TRY(cudaLaunchKernelEx(&config, ranks, out));
	TRY(cudaDeviceSynchronize());
	RIGHT(out[11] == 1211);
	return 0;
}

// The second kernel may be launched before the first has ended, and waits for what it writes.
__global__ void first(unsigned *out)
{
	for (int i = 0; i < 100; i++)
		out[blockIdx.x * blockDim.x + threadIdx.x]++;
	cudaTriggerProgrammaticLaunchCompletion();
	out[blockIdx.x * blockDim.x + threadIdx.x]++;
}

__global__ void second(const unsigned *in, unsigned *out)
{
	cudaGridDependencySynchronize();
	out[blockIdx.x * blockDim.x + threadIdx.x] = in[blockIdx.x * blockDim.x + threadIdx.x];
}

static int test_programmatic(unsigned *in, unsigned *out)
{
	cudaLaunchAttribute attribute = {};
	cudaLaunchConfig_t config = {};
	cudaStream_t stream;

	TRY(cudaStreamCreate(&stream));
	TRY(cudaMemsetAsync(in, 0, bins * sizeof(unsigned), stream));
	attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
	attribute.val.programmaticStreamSerializationAllowed = 1;
	config.gridDim = 4;
	config.blockDim = bins / 4;
	config.stream = stream;
	config.attrs = &attribute;
	config.numAttrs = 1;
	first<<<4, bins / 4, 0, stream>>>(in);
	TRY(cudaLaunchKernelEx(&config, second, (const unsigned *)in, out));
	TRY(cudaStreamSynchronize(stream));
	for (int i = 0; i < bins; i++)
		RIGHT(out[i] == 101);
	TRY(cudaStreamDestroy(stream));
	return 0;
}

int main()
{
	unsigned *in, *out, want[bins] = {0}, x = 3;

	TRY(cudaMallocManaged(&in, words * sizeof(unsigned)));
	TRY(cudaMallocManaged(&out, bins * sizeof(unsigned)));
	for (int i = 0; i < words; i++) {
		x = x * 1664525u + 1013904223u;
		in[i] = x >> 9;
		want[in[i] % bins]++;
	}
	TRY(cudaMemset(out, 0, bins * sizeof(unsigned)));
	histogram<<<8, 128, bins>>>(in, out);
	TRY(cudaGetLastError());
	TRY(cudaDeviceSynchronize());
	for (int i = 0; i < bins; i++)
		RIGHT(out[i] == want[i]);
	if (test_attribute(out))
		return 1;
	counted<<<4, 1>>>(out);
	TRY(cudaGetLastError());
	TRY(cudaDeviceSynchronize());
	RIGHT(out[7] == 832);
	if (test_programmatic(in, out))
		return 1;
	printf("all right\n");
	return 0;
}
