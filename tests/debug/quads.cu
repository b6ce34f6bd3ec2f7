// mma of m8n8k4: each of four products has 8 lanes. Elements say where they belong, by the formulas of the PTX ISA.
#include <cstdio>
#include <cuda_fp16.h>
static __device__ unsigned pair(int low, int high)
{
	return __half_as_ushort(__float2half((float)low)) | (unsigned)__half_as_ushort(__float2half((float)high)) << 16;
}
__global__ void quads(float *out)
{
	int lane = threadIdx.x, far = lane < 16 ? 0 : 4, row = lane % 4 + far;
	unsigned a0 = pair(10 * row, 10 * row + 1), a1 = pair(10 * row + 2, 10 * row + 3);
	unsigned b0 = pair(10 * (lane % 4) + far, 10 * (lane % 4) + far + 1);
	unsigned b1 = pair(10 * (lane % 4) + far + 2, 10 * (lane % 4) + far + 3);
	float c[8], d[8];
	for (int i = 0; i < 8; i++)
		c[i] = 10 * ((lane & 1) + (i & 2) + far) + (i & 4) + (lane & 2) + (i & 1);
	asm volatile("mma.sync.aligned.m8n8k4.row.row.f32.f16.f16.f32 {%0,%1,%2,%3,%4,%5,%6,%7}, {%8,%9}, {%10,%11}, "
		     "{%12,%13,%14,%15,%16,%17,%18,%19};"
		     : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3]), "=f"(d[4]), "=f"(d[5]), "=f"(d[6]), "=f"(d[7])
		     : "r"(a0), "r"(a1), "r"(b0), "r"(b1), "f"(c[0]), "f"(c[1]), "f"(c[2]), "f"(c[3]), "f"(c[4]),
		       "f"(c[5]), "f"(c[6]), "f"(c[7]));
	for (int i = 0; i < 8; i++)
		out[lane * 8 + i] = d[i];
}
int main()
{
	float *out;
	cudaMalloc(&out, 1024);
	quads<<<1, 32>>>(out);
	printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
	return 0;
}
