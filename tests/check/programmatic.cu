// Kernels for programmatic launches, by programmatic.c. tests/check/programmatic.ptx is made of it by
//     ptxloom cc --ptx -lineinfo programmatic.cu -o - | sed -e 's,"[^"]*/\(programmatic.cu\|share/\),"\1,' \
//         -e "s/^\.version.*/.version 7.8/" -e "s/^\.target.*/.target sm_90/" >programmatic.ptx
#define KERNEL extern "C" __global__ void

__device__ __forceinline__ void let_go()
{
	asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}

__device__ __forceinline__ void wait()
{
	asm volatile("griddepcontrol.wait;" ::: "memory");
}

KERNEL put(int *data, int *)
{
	let_go();
	data[blockIdx.x * blockDim.x + threadIdx.x] = 1; // put
}

// Those after it begin when it has ended.
KERNEL put_alone(int *data, int *)
{
	data[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}

KERNEL get(int *data, int *out)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	wait();
	out[i] = data[i];
}

KERNEL get_by_block(int *data, int *out)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (threadIdx.x == 0)
		wait();
	__syncthreads();
	out[i] = data[i];
}

KERNEL get_early(int *data, int *out)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x, x = data[i]; // get_early

	wait();
	out[i] = x;
}

KERNEL get_at_once(int *data, int *out)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	out[i] = data[i]; // get_at_once
}

// No barrier tells the others that thread 0 has waited.
KERNEL get_by_one(int *data, int *out)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (threadIdx.x == 0)
		wait();
	out[i] = data[i]; // get_by_one
}

KERNEL get_by_warp(int *data, int *out)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (threadIdx.x % 32 == 0)
		wait();
	__syncwarp();
	out[i] = data[i];
}

// A barrier of another warp alone.
KERNEL get_by_other_warp(int *data, int *out)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (threadIdx.x < 32) {
		if (threadIdx.x == 0)
			wait();
		__syncwarp();
	}
	out[i] = data[i]; // get_by_other_warp
}

// What was read before the barrier is early, whoever has waited by then.
KERNEL get_before_barrier(int *data, int *out)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x, x = 0;

	if (threadIdx.x == 0)
		wait();
	if (threadIdx.x >= 32)
		x = data[i]; // get_before_barrier
	__syncthreads();
	out[i] = x;
}

// Thread 0 waits, and the others for it.
KERNEL get_by_mbarrier(int *data, int *out)
{
	__shared__ unsigned long long barrier;
	int i = blockIdx.x * blockDim.x + threadIdx.x, done = 0;
	unsigned at = (unsigned)__cvta_generic_to_shared(&barrier);

	if (threadIdx.x == 0)
		asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(at) : "memory");
	__syncthreads();
	if (threadIdx.x == 0) {
		wait();
		asm volatile(
			"{\n\t.reg .b64 s;\n\tmbarrier.arrive.shared.b64 s, [%0];\n\t}" ::"r"(at)
			: "memory");
	}
	while (!done)
		asm volatile("{\n\t.reg .pred p;\n\t"
			     "mbarrier.try_wait.parity.shared.b64 p, [%1], 0;\n\t"
			     "selp.u32 %0, 1, 0, p;\n\t}"
			     : "=r"(done)
			     : "r"(at)
			     : "memory");
	out[i] = data[i];
}
