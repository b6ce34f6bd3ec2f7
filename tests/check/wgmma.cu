// Products of warpgroups and numbers of registers, used as they may be and as they may not; the name says which.
// tests/check/wgmma.ptx is made of it by
//     ptxloom cc --ptx -lineinfo wgmma.cu -o - | sed -e 's,"[^"]*/\(wgmma.cu\|share/\),"\1,' \
//         -e "s/^\.version.*/.version 8.0/" -e "s/^\.target.*/.target sm_90a/" >wgmma.ptx
// As sync.cu, but in one block of 256 threads: two warpgroups.
#define KERNEL extern "C" __global__ __launch_bounds__(256, 1) void

typedef unsigned long long u64;

__device__ __forceinline__ void fence()
{
	asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

__device__ __forceinline__ void commit()
{
	asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

template <int N> __device__ __forceinline__ void wait()
{
	asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(N) : "memory");
}

// Written by the thread here, whatever the compiler knows of it.
__device__ __forceinline__ void touch(float &x)
{
	asm volatile("add.f32 %0, %0, 0f00000000;" : "+f"(x)::"memory");
}

// One row of two core matrices of 8 x 16 bytes, no swizzle.
__device__ __forceinline__ u64 describe(const void *b)
{
	u64 a = (u64)__cvta_generic_to_shared(b);

	return (a & 0x3ffff) >> 4 | 0x1000080000ull;
}

#define product(d, a, b)                                                                                    \
	asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, "                 \
		     "{%4, %5, %6, %7}, %8, 1, 1, 1, 0;"                                                    \
		     : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])                                       \
		     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b)                                   \
		     : "memory")

// Factors and sums, all written before the first fence.
#define PREPARE()                                                                                           \
	__shared__ __align__(128) unsigned short b[256];                                                    \
	unsigned a[4] = {0x3c003c00, 0x3c003c00, 0x3c003c00, 0x3c003c00};                                   \
	float d[4] = {0, 0, 0, 0};                                                                          \
	u64 desc = describe(b);                                                                             \
	b[threadIdx.x] = 0x3c00;                                                                            \
	asm volatile("fence.proxy.async.shared::cta;" ::: "memory");                                        \
	__syncthreads()

#define STORE(out) out[threadIdx.x] = (int)(d[0] + d[1] + d[2] + d[3])

// ---- accumulators ----

KERNEL fine_waited(int *out)
{
	PREPARE();
	fence();
	product(d, a, desc);
	commit();
	wait<0>();
	STORE(out);
}

KERNEL bad_no_wait(int *out)
{
	PREPARE();
	fence();
	product(d, a, desc); // bad_no_wait second
	commit();
	STORE(out); // bad_no_wait first
	wait<0>();
}

KERNEL bad_wait_leaves_one(int *out)
{
	PREPARE();
	fence();
	product(d, a, desc); // bad_wait_leaves_one second
	commit();
	wait<1>();
	STORE(out); // bad_wait_leaves_one first
	wait<0>();
}

KERNEL fine_pipeline(int *out)
{
	PREPARE();
	float e[4] = {0, 0, 0, 0};

	for (int i = 0; i < 4 + out[400]; i++) {
		fence();
		product(d, a, desc);
		commit();
		fence();
		product(e, a, desc);
		commit();
		wait<1>();
		touch(d[0]);
		wait<0>();
		touch(e[0]);
	}
	d[0] += e[0];
	STORE(out);
}

// Sums go on from product to product through registers that the compiler renames.
KERNEL fine_chain(int *out)
{
	PREPARE();
	fence();
	for (int i = 0; i < 4 + out[400]; i++) {
		product(d, a, desc);
		product(d, a, desc);
		commit();
		wait<1>();
	}
	wait<0>();
	STORE(out);
}

KERNEL bad_chain(int *out)
{
	PREPARE();
	fence();
	for (int i = 0; i < 4 + out[400]; i++) {
		product(d, a, desc); // bad_chain second
		commit();
		wait<1>();
	}
	STORE(out);
	wait<0>();
}

KERNEL bad_no_commit(int *out)
{
	PREPARE();
	fence();
	product(d, a, desc); // bad_no_commit second
	wait<0>();
	STORE(out); // bad_no_commit first
}

// What compilers do between two products.
__device__ __forceinline__ void rename(float (&to)[4], float (&from)[4])
{
	for (int i = 0; i < 4; i++)
		asm volatile("mov.f32 %0, %1;" : "=f"(to[i]) : "f"(from[i]));
}

KERNEL fine_renamed(int *out)
{
	PREPARE();
	float e[4];

	fence();
	for (int i = 0; i < 4 + out[400]; i++) {
		product(d, a, desc);
		rename(e, d);
		product(e, a, desc);
		rename(d, e);
		commit();
		wait<1>();
	}
	wait<0>();
	STORE(out);
}

KERNEL bad_renamed(int *out)
{
	PREPARE();
	float e[4];

	fence();
	product(d, a, desc); // bad_renamed second
	rename(e, d);
	commit();
	out[threadIdx.x] = (int)(e[0] + e[1] + e[2] + e[3]); // bad_renamed first
	wait<0>();
}

// ---- fences ----

KERNEL bad_no_fence(int *out)
{
	PREPARE();
	product(d, a, desc); // bad_no_fence first
	commit();
	wait<0>();
	STORE(out);
}

KERNEL bad_no_second_fence(int *out)
{
	PREPARE();
	fence();
	product(d, a, desc);
	commit();
	wait<0>();
	touch(d[1]);
	product(d, a, desc); // bad_no_second_fence first
	commit();
	wait<0>();
	STORE(out);
}

KERNEL fine_second_fence(int *out)
{
	PREPARE();
	fence();
	product(d, a, desc);
	commit();
	wait<0>();
	touch(d[1]);
	fence();
	product(d, a, desc);
	commit();
	wait<0>();
	STORE(out);
}

KERNEL fine_no_second_fence(int *out)
{
	PREPARE();
	fence();
	product(d, a, desc);
	commit();
	wait<0>();
	product(d, a, desc);
	commit();
	wait<0>();
	STORE(out);
}

// ---- factors ----

KERNEL bad_factor_overwritten(int *out)
{
	PREPARE();
	fence();
	for (int i = 0; i < 2 + out[400]; i++) {
		fence();
		// A register of its own, by name: the compiler would take another one.
		asm volatile("{ .reg .b32 f; mov.b32 f, %4; or.b32 f, f, 0;\n" // bad_factor_overwritten first
			     "wgmma.fence.sync.aligned;\n"
			     "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, "
			     "{f, f, f, f}, %5, 1, 1, 1, 0;\n"
			     "wgmma.commit_group.sync.aligned;\n"
			     "xor.b32 f, f, 1; }"
			     : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
			     : "r"(a[0]), "l"(desc)
			     : "memory");
		wait<0>();
	}
	STORE(out);
}

KERNEL bad_shared_overwritten(int *out)
{
	PREPARE();
	fence();
	product(d, a, desc); // bad_shared_overwritten second
	commit();
	__syncthreads();
	b[threadIdx.x] = 0; // bad_shared_overwritten first
	wait<0>();
	STORE(out);
}

KERNEL fine_shared_overwritten(int *out)
{
	PREPARE();
	fence();
	product(d, a, desc);
	commit();
	wait<0>();
	__syncthreads();
	b[threadIdx.x] = 0;
	STORE(out);
}

// One warpgroup has waited, the other one has not.
KERNEL bad_shared_of_others(int *out)
{
	PREPARE();
	fence();
	product(d, a, desc);
	commit();
	if (threadIdx.x < 128)
		wait<0>();
	__syncthreads();
	if (threadIdx.x < 128)
		b[threadIdx.x] = 0; // bad_shared_of_others first
	__syncthreads();
	wait<0>();
	STORE(out);
}

// A wait of one warp is one for the product of all four: it may overwrite what the others, who are late, have not
// waited for.
KERNEL fine_shared_of_group(int *out)
{
	PREPARE();
	if (threadIdx.x < 128) {
		fence();
		product(d, a, desc);
		commit();
		if (threadIdx.x >= 32)
			for (int i = 0; i < 400 + out[400]; i++)
				asm volatile("" ::: "memory");
		wait<0>();
		if (threadIdx.x < 32)
			b[threadIdx.x] = 0;
	}
	STORE(out);
}

KERNEL bad_shared_of_group(int *out)
{
	PREPARE();
	if (threadIdx.x < 128) {
		fence();
		product(d, a, desc); // bad_shared_of_group second
		commit();
		if (threadIdx.x >= 32)
			for (int i = 0; i < 400 + out[400]; i++)
				asm volatile("" ::: "memory");
		if (threadIdx.x < 32)
			b[threadIdx.x] = 0; // bad_shared_of_group first
		wait<0>();
	}
	STORE(out);
}

// ---- numbers of registers ----

#define registers(what, n) asm volatile("setmaxnreg." #what ".sync.aligned.u32 " #n ";" ::: "memory")

KERNEL fine_registers(int *out)
{
	if (threadIdx.x < 128)
		registers(dec, 40);
	else
		registers(inc, 232);
	__syncthreads();
	if (threadIdx.x < 128)
		registers(inc, 96);
	out[threadIdx.x] = 1;
}

KERNEL bad_registers_of_one_warp(int *out)
{
	if (threadIdx.x / 32 == 1)
		registers(dec, 40); // bad_registers_of_one_warp first
	out[threadIdx.x] = 1;
}

KERNEL bad_registers_of_lanes(int *out)
{
	if (threadIdx.x % 32 < 16)
		registers(dec, 40); // bad_registers_of_lanes first
	out[threadIdx.x] = 1;
}

KERNEL bad_registers_differ(int *out)
{
	if (threadIdx.x / 32 % 2) {
		registers(dec, 40); // bad_registers_differ first
		out[threadIdx.x] = 1;
	} else {
		registers(dec, 48); // bad_registers_differ second
		out[threadIdx.x] = 2;
	}
}

KERNEL bad_registers_direction(int *out)
{
	registers(dec, 40);
	__syncthreads();
	registers(dec, 96); // bad_registers_direction first
	out[threadIdx.x] = 1;
}

KERNEL bad_registers_no_barrier(int *out)
{
	registers(dec, 40);
	out[threadIdx.x] = 1;
	registers(inc, 96); // bad_registers_no_barrier first
	out[threadIdx.x] += 1;
}

#define KERNEL_OF_ANY_NUMBER extern "C" __global__ __launch_bounds__(256) void
KERNEL_OF_ANY_NUMBER warning_registers_not_fixed(int *out)
{
	registers(dec, 40); // warning_registers_not_fixed first
	out[threadIdx.x] = 1;
}
