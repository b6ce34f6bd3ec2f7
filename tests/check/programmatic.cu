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
