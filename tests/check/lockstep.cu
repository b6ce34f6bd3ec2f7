// Code that relies on lanes of a warp running in lockstep, for devices that have one program counter for each warp, and
// what is a race there, too; the name says which. tests/check/lockstep.ptx is made of it by
//     ptxloom cc --ptx -arch=sm_60 -lineinfo lockstep.cu -o - |
//             sed 's,"[^"]*/\(lockstep.cu\|share/\),"\1,' >lockstep.ptx
// race.sh looks for the lines that are marked: `first` and `second` are the two sides of a race.
#define KERNEL extern "C" __global__ void

// The end of the reductions of old samples.
KERNEL fine_reduction(int *out)
{
	__shared__ volatile int s[128];
	int i = threadIdx.x;

	s[i] = i;
	__syncthreads();
	if (i < 32)
		for (int d = 32; d; d /= 2)
			s[i] = s[i] + s[i + d];
	if (i == 0)
		out[blockIdx.x] = s[0];
}

KERNEL fine_plain_exchange(int *out)
{
	__shared__ int s[64];

	s[threadIdx.x] = threadIdx.x;
	asm volatile("" ::: "memory");
	out[blockIdx.x * 64 + threadIdx.x] = s[threadIdx.x ^ 1];
}

// Turn after turn by the same two instructions.
KERNEL fine_turns(int *out)
{
	__shared__ int s[64];
	int lane = threadIdx.x % 32, *mine = s + threadIdx.x - lane, sum = 0;

	for (int i = 0; i < 4; i++) {
		mine[(lane + i) % 32] = lane + i;
		asm volatile("" ::: "memory");
		sum += mine[31 - lane];
		asm volatile("" ::: "memory");
	}
	out[blockIdx.x * 64 + threadIdx.x] = sum;
}

// What one lane writes in a branch all read behind it, in one of a later branch, too.
KERNEL fine_leader(int *out)
{
	__shared__ int s[2];
	int warp = threadIdx.x / 32, lane = threadIdx.x % 32;

	if (lane == 5)
		s[warp] = 7;
	asm volatile("" ::: "memory");
	out[blockIdx.x * 64 + threadIdx.x] = 1;
	if (lane == 9)
		out[blockIdx.x * 64 + threadIdx.x] = s[warp];
}

KERNEL fine_global_exchange(int *out)
{
	int *mine = out + blockIdx.x * 64;

	mine[threadIdx.x] = threadIdx.x;
	asm volatile("" ::: "memory");
	int other = mine[threadIdx.x ^ 1];
	asm volatile("" ::: "memory");
	mine[threadIdx.x] = other;
}

// Two sides of a branch run one behind the other, but which is first?
KERNEL race_two_sides(int *out)
{
	__shared__ int s[64];

	if (threadIdx.x % 32 < 16)
		s[threadIdx.x] = threadIdx.x; // race_two_sides first
	else
		out[blockIdx.x * 64 + threadIdx.x] = s[threadIdx.x - 16]; // race_two_sides second
}

KERNEL race_other_warp(int *out)
{
	__shared__ int s[64];

	s[threadIdx.x] = threadIdx.x; // race_other_warp first
	asm volatile("" ::: "memory");
	out[blockIdx.x * 64 + threadIdx.x] = s[threadIdx.x ^ 32]; // race_other_warp second
}

// One instruction of all lanes writes one place.
KERNEL race_one_place(int *out)
{
	__shared__ int s[2];

	s[threadIdx.x / 32] = threadIdx.x; // race_one_place first
	asm volatile("" ::: "memory");
	out[blockIdx.x * 64 + threadIdx.x] = s[threadIdx.x / 32];
}

KERNEL race_increment(int *out)
{
	__shared__ int n;

	if (threadIdx.x == 0)
		n = 0;
	__syncthreads();
	if (threadIdx.x < 32)
		n++; // race_increment first
	__syncthreads();
	out[threadIdx.x] = n;
}
