// Kernels that go wrong in memory, and right ones beside them: mem_ and fine_. Compiled by
//   ptxloom cc --ptx -O1 -lineinfo
// The line that is wrong says so.
#define KERNEL extern "C" __global__ void

#define HIDE(x) asm volatile("" : "+r"(x))

// ---- the device's heap ----

KERNEL fine_heap(int *o)
{
	int *p = (int *)malloc(40), *q = (int *)malloc(40);

	for (int i = 0; i < 10; i++)
		p[i] = q[i] = i;
	o[threadIdx.x] = p[9] + q[3];
	free(p);
	free(q);
	free(nullptr);
	p = (int *)malloc(4000);
	p[999] = 1;
	free(p);
}

KERNEL fine_heap_full(int *o)
{
	void *p = malloc(64 << 20); // more than there is

	o[threadIdx.x] = p == nullptr;
	free(p);
}

KERNEL fine_heap_handed_on(int *o)
{
	__shared__ int *p;

	if (threadIdx.x == 0)
		p = (int *)malloc(blockDim.x * 4);
	__syncthreads();
	p[threadIdx.x] = threadIdx.x;
	__syncthreads();
	o[threadIdx.x] = p[blockDim.x - 1 - threadIdx.x];
	__syncthreads();
	if (threadIdx.x == 0)
		free(p);
}

KERNEL mem_heap_overflow(int *o)
{
	int n = 10;
	int *volatile p = (int *)malloc(40);

	HIDE(n);
	p[n] = 1; // mem_heap_overflow
	o[0] = p[0];
	free(p);
}

KERNEL mem_heap_byte(int *o)
{
	int n = 13;
	char *volatile p = (char *)malloc(13);

	HIDE(n);
	p[n] = 1; // mem_heap_byte
	free(p);
}

KERNEL mem_heap_before(int *o)
{
	int n = -1;
	int *volatile p = (int *)malloc(40);

	HIDE(n);
	o[0] = p[n]; // mem_heap_before
	free(p);
}

KERNEL mem_heap_neighbour(int *o)
{
	int n = 16;
	int *volatile p = (int *)malloc(64), *volatile q = (int *)malloc(64);

	HIDE(n);
	p[n] = 1; // mem_heap_neighbour
	o[0] = q[0];
	free(p);
	free(q);
}

KERNEL mem_heap_freed(int *o)
{
	int *volatile keep = (int *)malloc(40);

	free(keep);
	o[0] = *keep; // mem_heap_freed
}

KERNEL mem_heap_freed_reused(int *o)
{
	int *volatile keep = (int *)malloc(40);
	int *volatile other;

	free(keep);
	other = (int *)malloc(40);
	*keep = 1; // mem_heap_freed_reused
	free(other);
}

KERNEL mem_heap_freed_in_loop(int *o)
{
	int *volatile keep = (int *)malloc(40);

#pragma unroll 1
	for (int i = 0; i < 2; i++) {
		*keep = i; // mem_heap_freed_in_loop
		if (i == 0)
			free(keep);
	}
}

KERNEL mem_heap_free_twice(int *o)
{
	int *volatile keep = (int *)malloc(40);

	free(keep);
	free(keep); // mem_heap_free_twice
}

KERNEL mem_heap_free_inside(int *o)
{
	int *volatile keep = (int *)malloc(40);

	free(keep + 4); // mem_heap_free_inside
}

KERNEL mem_heap_free_global(int *o)
{
	free(o); // mem_heap_free_global
}

KERNEL mem_heap_free_shared(int *o)
{
	__shared__ int s[4];

	s[0] = 1;
	free(s); // mem_heap_free_shared
}

KERNEL mem_heap_null(int *o)
{
	int *volatile p = (int *)malloc(64 << 20);

	*p = 1; // mem_heap_null
}

// ---- shared memory ----

KERNEL fine_shared(int *o)
{
	__shared__ int a[32];
	__shared__ int b[32];
	__shared__ double c;
	int n = threadIdx.x % 32;

	a[n] = n;
	b[n] = n;
	c = 1;
	__syncthreads();
	o[threadIdx.x] = a[31 - n] + b[31 - n] + (int)c;
}

KERNEL fine_shared_full(int *o)
{
	__shared__ int a[6 * 1024];
	__shared__ int b[6 * 1024]; // together all that there is

	a[threadIdx.x + 6000] = 1;
	b[threadIdx.x] = 2;
	o[threadIdx.x] = a[threadIdx.x + 6000] + b[threadIdx.x];
}

KERNEL mem_shared_neighbour(int *o)
{
	__shared__ int a[32];
	__shared__ int b[32];
	int n = threadIdx.x;

	HIDE(n);
	b[n % 32] = 2;
	a[n] = 1; // mem_shared_neighbour
	__syncthreads();
	o[n] = a[n % 32] + b[n % 32];
}

KERNEL mem_shared_neighbour_read(int *o)
{
	__shared__ int a[32];
	__shared__ int b[32];
	int n = threadIdx.x % 32;

	HIDE(n);
	a[n] = 1;
	b[n] = 2;
	__syncthreads();
	o[n] = a[n + 1] + b[31 - n]; // mem_shared_neighbour_read
}

KERNEL mem_shared_before(int *o)
{
	__shared__ int a[32];
	__shared__ int b[32];
	int n = threadIdx.x % 32;

	HIDE(n);
	a[n] = 1;
	b[n - 1] = 2; // mem_shared_before
	a[n - 1] = 3;
	__syncthreads();
	o[n] = a[n] + b[n];
}

KERNEL fine_shared_selected(int *o)
{
	__shared__ int a[32];
	__shared__ int b[32];
	int n = threadIdx.x;
	int *p = n & 1 ? a : b, *end = p + 32; // one past the end

	HIDE(n);
	for (int *q = p + n % 32; q != end; q += 32 - n % 32)
		*q = n;
	__syncthreads();
	o[n] = p[n % 32];
}

KERNEL fine_shared_carved(int *o)
{
	extern __shared__ int d[];
	__shared__ int a[4];
	int n = threadIdx.x % 16;
	float *f = (float *)d;
	short *h = (short *)(f + 16);

	a[n % 4] = n;
	f[n] = n;
	h[2 * n + 1] = n;
	h[2 * n] = n;
	__syncthreads();
	o[threadIdx.x] = f[15 - n] + h[n] + a[n % 4];
}

__device__ __noinline__ void put_anywhere(volatile int *p, int n)
{
	p[n] = n; // mem_shared_generic
}

KERNEL fine_shared_generic(int *o)
{
	__shared__ int a[64];
	__shared__ int b[64];

	put_anywhere(threadIdx.x & 1 ? a : b, threadIdx.x);
	put_anywhere(o, threadIdx.x);
	__syncthreads();
	atomicAdd(&a[threadIdx.x], 1);
}

KERNEL mem_shared_generic(int *o)
{
	__shared__ int a[32];
	__shared__ int b[32];

	put_anywhere(b, threadIdx.x % 32);
	put_anywhere(a, threadIdx.x);
	__syncthreads();
	o[threadIdx.x] = a[threadIdx.x % 32] + b[threadIdx.x % 32];
}

KERNEL mem_shared_atomic(int *o)
{
	__shared__ int a[32];
	__shared__ int b[32];
	int n = threadIdx.x;

	HIDE(n);
	b[n % 32] = 0;
	a[n % 32] = 0;
	__syncthreads();
	atomicAdd(&a[n], 1); // mem_shared_atomic
	__syncthreads();
	o[n] = a[n % 32] + b[n % 32];
}

// Some lanes of each warp alone come to it, in a loop as often as they have bits.
KERNEL mem_shared_diverged(int *o)
{
	__shared__ int a[32];
	__shared__ int b[32];
	int n = threadIdx.x;

	HIDE(n);
	b[n % 32] = a[n % 32] = 0;
	__syncthreads();
	for (int i = n; i; i &= i - 1)
		if (i == 48)
			a[i] = 1; // mem_shared_diverged
	__syncthreads();
	o[n] = a[n % 32] + b[n % 32];
}

KERNEL mem_shared_vector(int *o)
{
	__shared__ int4 a[8];
	__shared__ int4 b[8];
	int n = threadIdx.x % 16;

	HIDE(n);
	b[n % 8] = int4{n};
	a[n] = int4{n}; // mem_shared_vector
	__syncthreads();
	o[threadIdx.x] = a[n % 8].x + b[n % 8].x;
}

// The same place for every block: it is looked at once.
KERNEL mem_shared_fixed(int *o)
{
	__shared__ int a[60];
	__shared__ int b[64];
	int n = threadIdx.x;

	b[n] = n;
	if (n < 60)
		a[n] = n;
	__syncthreads();
	o[n] = a[n] + b[n]; // mem_shared_fixed
}

KERNEL mem_shared_copy(int *o)
{
	__shared__ int a[32];
	__shared__ int b[32];
	int n = threadIdx.x;

	HIDE(n);
	b[n % 32] = 1;
	asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"((unsigned)__cvta_generic_to_shared(a + n)), "l"(o + n)); // mem_shared_copy
	asm volatile("cp.async.wait_all;");
	__syncthreads();
	o[n] = a[n % 32] + b[n % 32];
}

KERNEL mem_shared_end(int *o)
{
	__shared__ int a[32];
	int n = threadIdx.x;

	HIDE(n);
	a[n] = 1; // mem_shared_end
	__syncthreads();
	o[n] = a[n % 32];
}

KERNEL mem_shared_dynamic(int *o)
{
	extern __shared__ int d[];

	d[threadIdx.x] = 1; // mem_shared_dynamic
	o[threadIdx.x] = d[threadIdx.x];
}

KERNEL mem_shared_into_dynamic(int *o)
{
	extern __shared__ int d[];
	__shared__ int a[32];
	int n = threadIdx.x;

	HIDE(n);
	d[n % 32] = 0;
	a[n] = 1; // mem_shared_into_dynamic
	o[n] = d[n % 32] + a[0];
}

KERNEL mem_shared_misaligned(int *o)
{
	__shared__ int a[32];
	char *p = (char *)a;
	int n = 2;

	HIDE(n);
	*(int *)(p + n) = 1; // mem_shared_misaligned
	o[0] = a[0];
}

// ---- local memory ----

KERNEL fine_local(int *o)
{
	int a[16], n = threadIdx.x;

	for (int i = 0; i < 16; i++)
		a[i] = i;
	HIDE(n);
	o[threadIdx.x] = a[n % 16];
}

KERNEL mem_local_end(int *o)
{
	int a[16], n = 17;

	for (int i = 0; i < 16; i++)
		a[i] = i;
	HIDE(n);
	a[n] = 5; // mem_local_end
	HIDE(n);
	o[threadIdx.x] = a[n & 15];
}

KERNEL mem_local_before(int *o)
{
	int a[16], n = -1;

	for (int i = 0; i < 16; i++)
		a[i] = i;
	HIDE(n);
	a[n] = 5; // mem_local_before
	HIDE(n);
	o[threadIdx.x] = a[n & 15];
}

__device__ __noinline__ int callee(int n)
{
	int a[8];

	for (int i = 0; i < 8; i++)
		a[i] = n;
	a[n] = 5;
	return a[n & 7];
}

KERNEL fine_local_callee(int *o)
{
	int n = 3;

	HIDE(n);
	o[threadIdx.x] = callee(n);
}

// ---- variables ----

__device__ int table[8];
__device__ int after[8];
__constant__ int fixed[8];

KERNEL fine_variable(int *o)
{
	int n = threadIdx.x % 8;

	table[n] = n;
	after[n] = n;
	o[threadIdx.x] = table[n] + after[n] + fixed[n];
}

KERNEL mem_variable(int *o)
{
	int n = 8;

	HIDE(n);
	table[n] = 1; // mem_variable
	o[0] = after[0];
}

KERNEL mem_constant(int *o)
{
	int n = 8;

	HIDE(n);
	o[0] = fixed[n]; // mem_constant
}

// ---- global memory ----

KERNEL mem_global_end(int *o)
{
	o[256 + threadIdx.x] = 1; // mem_global_end
}

KERNEL mem_global_before(int *o)
{
	o[(int)threadIdx.x - 1] = 1; // mem_global_before
}

KERNEL mem_global_null(int *o)
{
	int *volatile p = nullptr;

	*p = 1; // mem_global_null
}

KERNEL mem_global_misaligned(int *o)
{
	*(int *)((char *)o + 2) = 1; // mem_global_misaligned
}

// Hardware notices first that it is misaligned.
KERNEL mem_misaligned_end(int *o)
{
	*(int *)((char *)o + 1022) = 1; // mem_misaligned_end
}

KERNEL mem_misaligned_end_generic(int *o)
{
	asm volatile("st.b64 [%0], %1;" ::"l"((char *)o + 1020), "l"(1ll)); // mem_misaligned_end_generic
}

KERNEL mem_misaligned_outside(int *o)
{
	*(int *)((char *)o + 1026) = 1; // mem_misaligned_outside
}

KERNEL mem_global_atomic(int *o)
{
	atomicAdd(o + 256, 1); // mem_global_atomic
}

KERNEL mem_global_vector(int *o)
{
	((int4 *)o)[64] = int4{}; // mem_global_vector
}
