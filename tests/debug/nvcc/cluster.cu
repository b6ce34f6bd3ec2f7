#include <cooperative_groups.h>
#include <cstdio>
namespace cg = cooperative_groups;

__global__ void __cluster_dims__(2, 1, 1) halves(const int *in, int *out)
{
	__shared__ int part[32];
	cg::cluster_group cluster = cg::this_cluster();
	int t = threadIdx.x;
	unsigned rank = cluster.block_rank();
	part[t] = in[blockIdx.x * 32 + t];
	cluster.sync();
	int *other = cluster.map_shared_rank(part, rank ^ 1);
	int got = other[t];
	cluster.sync();
	if (rank == 1 && t < 4)
		other[t] = got + 100;
	cluster.sync();
	out[blockIdx.x * 32 + t] = part[t] + got;
}

int main()
{
	int *in, *out;
	cudaMallocManaged(&in, 256 * sizeof(int));
	cudaMallocManaged(&out, 256 * sizeof(int));
	for (int i = 0; i < 256; i++)
		in[i] = i;
	halves<<<4, 32>>>(in, out);
	printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
	for (int i = 0; i < 128; i += 33)
		printf("%d\n", out[i]);
}
