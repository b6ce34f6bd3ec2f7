/*
 * How far a CTA reaches in shared memory, and the sizes that it reads: whole units of 128 bytes, what an H200 gave.
 * Without an argument all that goes well; with sizes, one access that does not.
 */
#include <cstdio>
#include <cstdlib>

extern __shared__ char dynamic[];

__global__ void sizes(unsigned *out)
{
	__shared__ char plain[100];

	plain[threadIdx.x] = 1;
	asm volatile("mov.u32 %0, %%total_smem_size;" : "=r"(out[0]));
	asm volatile("mov.u32 %0, %%dynamic_smem_size;" : "=r"(out[1]));
	asm volatile("mov.u32 %0, %%aggr_smem_size;" : "=r"(out[2]));
	out[3] = plain[threadIdx.x];
}

__global__ void touch(unsigned offset)
{
	unsigned base = (unsigned)__cvta_generic_to_shared(dynamic);

	asm volatile("st.shared.u32 [%0], %0;" ::"r"(base + offset));
}

int main(int argc, char **argv)
{
	static const unsigned want[][4] = {{0, 128, 0, 1136},	   {1, 128, 1, 1137},	    {100, 256, 100, 1236},
					   {255, 384, 255, 1391}, {1025, 1152, 1025, 2161}};
	unsigned *out;
	int bad = 0;

	if (argc > 2) {
		touch<<<1, 1, atoi(argv[1])>>>(atoi(argv[2]));
		printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
		return 0;
	}
	cudaMallocManaged(&out, 16);
	for (auto w : want) {
		sizes<<<1, 1, w[0]>>>(out);
		cudaDeviceSynchronize();
		for (int i = 0; i < 3; i++)
			bad += out[i] != w[i + 1];
	}
	static const unsigned fits[][2] = {{1, 0}, {4, 124}, {128, 124}, {132, 252}, {1024, 1020}};
	for (auto f : fits) {
		touch<<<1, 1, f[0]>>>(f[1]);
		bad += cudaDeviceSynchronize() != cudaSuccess;
	}
	printf("%s\n", bad ? "wrong" : "all right");
	return bad != 0;
}
