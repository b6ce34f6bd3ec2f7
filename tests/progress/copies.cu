/*
 * As kernels.cu, for what is asynchronous:
 *
 *     ptxloom cc -arch=sm_80 -O2 -ptx tests/progress/copies.cu -o tests/progress/copies.ptx
 */
#define TABLE 4096
#define KERNEL extern "C" __global__ void

typedef unsigned u32;

/* The first warp waits for its copy; the others meet until it has come. */
KERNEL copy_beside(u32 *m, u32 rounds)
{
	__shared__ u32 x[32];
	__shared__ volatile u32 flag;
	u32 others = blockDim.x / 32 * 32 - 32;

	if (!threadIdx.x)
		flag = 0;
	__syncthreads();
	if (threadIdx.x < 32) {
		for (u32 i = 0; i < rounds; i++) {
			asm volatile("{ .reg .u64 s; cvta.to.shared.u64 s, %0; .reg .u32 t; cvt.u32.u64 t, s;\n"
				     "cp.async.ca.shared.global [t], [%1], 4; cp.async.commit_group;\n"
				     "cp.async.wait_group 0; }"
				     : : "l"(&x[threadIdx.x]), "l"(m + TABLE + blockIdx.x * blockDim.x + threadIdx.x) : "memory");
		}
		__syncwarp();
		if (!threadIdx.x)
			flag = 1;
	} else if (threadIdx.x < 32 + others) {
		u32 seen;

		do
			asm volatile("{ .reg .pred p; setp.ne.u32 p, %1, 0; bar.red.or.pred p, 1, %2, p;\n"
				     "selp.u32 %0, 1, 0, p; }" : "=r"(seen) : "r"(flag), "r"(others) : "memory");
		while (!seen);
	}
	__syncthreads();
	atomicAdd(m, 1);
}
