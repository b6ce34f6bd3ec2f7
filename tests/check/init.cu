// Reads of what was never written, and what is none; the name says which. A program: the test builds it
//     ptxloom cc -lineinfo init.cu -o init
// and runs it with the name of a kernel. `read` marks the line that a report names.
#include <cstdio>
#include <cstring>
#define KERNEL extern "C" __global__ void

struct padded {
	char tag;
	int value;
	char end;
};

// ---- global memory ----
// `in`: 256 words of cudaMalloc, of which the first half is set; `out`: 256 words, set.

KERNEL init_sum(int *in, int *out)
{
	out[threadIdx.x] = in[threadIdx.x * 4] + 1; // init_sum read
}

KERNEL fine_sum(int *in, int *out)
{
	out[threadIdx.x] = in[threadIdx.x] + 1;
}

KERNEL init_copy(int *in, int *out)
{
	out[threadIdx.x] = in[threadIdx.x + 128]; // init_copy read
}

KERNEL init_branch(int *in, int *out)
{
	if (in[threadIdx.x + 128] > 3) // init_branch read
		out[threadIdx.x] = 1;
}

KERNEL init_index(int *in, int *out)
{
	out[in[threadIdx.x + 128] & 15] = 1; // init_index read
}

KERNEL init_atomic(int *in, int *out)
{
	atomicAdd(&in[200], 1); // init_atomic read
}

KERNEL fine_atomic(int *in, int *out)
{
	atomicAdd(&in[20], 1);
}

KERNEL fine_exchange(int *in, int *out)
{
	atomicExch(&in[200 + threadIdx.x % 8], 1);
	__syncthreads();
	out[threadIdx.x] = in[200 + threadIdx.x % 8];
}

KERNEL init_last(int *in, int *out)
{
	int sum = 0;

	for (int i = 0; i <= 128; i++)
		sum += in[i]; // init_last read
	out[threadIdx.x] = sum;
}

KERNEL init_byte(int *in, int *out)
{
	((char *)in)[600] = 1;
	out[threadIdx.x] = in[150] + 1; // init_byte read
}

KERNEL fine_byte(int *in, int *out)
{
	((char *)in)[600] = 1;
	out[threadIdx.x] = ((char *)in)[600];
}

KERNEL init_written_later(int *in, int *out)
{
	int x = in[threadIdx.x + 128]; // init_written_later read

	in[threadIdx.x + 128] = 5;
	out[threadIdx.x] = x * 2;
}

KERNEL fine_written_before(int *in, int *out)
{
	in[threadIdx.x + 128] = 5;
	out[threadIdx.x] = in[threadIdx.x + 128] * 2;
}

KERNEL fine_unused(int *in, int *out)
{
	volatile int *v = in;
	int x = v[threadIdx.x + 128];

	out[threadIdx.x] = threadIdx.x < 1000 ? 7 : x;
}

KERNEL fine_struct_copy(int *in, int *out)
{
	padded *p = (padded *)(in + 128), *q = (padded *)out;

	p[threadIdx.x % 8].tag = 1;
	p[threadIdx.x % 8].value = 2;
	p[threadIdx.x % 8].end = 3;
	__syncthreads();
	memcpy(&q[threadIdx.x % 8], &p[threadIdx.x % 8], sizeof(padded));
}

KERNEL fine_vector_part(int *in, int *out)
{
	int4 *v = (int4 *)(in + 128);

	v[threadIdx.x].x = threadIdx.x;
	int4 x = v[threadIdx.x];
	out[threadIdx.x] = x.x;
}

KERNEL init_vector_part(int *in, int *out)
{
	int4 *v = (int4 *)(in + 128);

	if (threadIdx.x >= 32)
		return;
	v[threadIdx.x].x = threadIdx.x;
	int4 x = v[threadIdx.x]; // init_vector_part read
	out[threadIdx.x] = x.x + x.w;
}

KERNEL fine_vector_copy(int *in, int *out)
{
	int4 *v = (int4 *)(in + 128);

	if (threadIdx.x >= 32)
		return;
	v[threadIdx.x].x = threadIdx.x;
	((int4 *)out)[threadIdx.x] = v[threadIdx.x];
}

// What a copy takes along is used later: the line is that of the first read.
KERNEL init_copied_vector(int *in, int *out)
{
	int4 *v = (int4 *)(in + 128), *w = (int4 *)out;

	if (threadIdx.x >= 32)
		return;
	v[threadIdx.x].x = threadIdx.x;
	w[threadIdx.x] = v[threadIdx.x]; // init_copied_vector read
	__syncwarp();
	out[threadIdx.x + 200] = w[31 - threadIdx.x].y * 3;
}

KERNEL fine_copied_vector(int *in, int *out)
{
	int4 *v = (int4 *)(in + 128), *w = (int4 *)out;

	if (threadIdx.x >= 32)
		return;
	v[threadIdx.x].x = threadIdx.x;
	w[threadIdx.x] = v[threadIdx.x];
	__syncwarp();
	out[threadIdx.x + 200] = w[31 - threadIdx.x].x * 3;
}

// ---- shared memory ----

KERNEL init_shared_half(int *in, int *out)
{
	__shared__ int s[128];

	s[threadIdx.x] = threadIdx.x;
	__syncthreads();
	out[threadIdx.x] = s[threadIdx.x * 2]; // init_shared_half read
}

KERNEL fine_shared(int *in, int *out)
{
	__shared__ int s[64];

	s[threadIdx.x] = threadIdx.x;
	__syncthreads();
	out[threadIdx.x] = s[63 - threadIdx.x];
}

KERNEL init_shared_dynamic(int *in, int *out)
{
	extern __shared__ int d[];

	if (threadIdx.x)
		d[threadIdx.x] = 1;
	__syncthreads();
	out[threadIdx.x] = d[threadIdx.x] + 1; // init_shared_dynamic read
}

KERNEL init_shared_counter(int *in, int *out)
{
	__shared__ int n;

	atomicAdd(&n, 1); // init_shared_counter read
	__syncthreads();
	out[threadIdx.x] = n;
}

KERNEL fine_shared_counter(int *in, int *out)
{
	__shared__ int n;

	if (!threadIdx.x)
		n = 0;
	__syncthreads();
	atomicAdd(&n, 1);
	__syncthreads();
	out[threadIdx.x] = n;
}

KERNEL init_shared_reduce(int *in, int *out)
{
	__shared__ int s[128];

	s[threadIdx.x] = in[threadIdx.x];
	__syncthreads();
	for (int n = 64; n; n /= 2) {
		if ((int)threadIdx.x < n)
			s[threadIdx.x] += s[threadIdx.x + n]; // init_shared_reduce read
		__syncthreads();
	}
	out[threadIdx.x] = s[0];
}

// Through shared memory: the line is that of the read from global memory.
KERNEL init_staged(int *in, int *out)
{
	__shared__ int s[64];

	s[threadIdx.x] = in[threadIdx.x + 128]; // init_staged read
	__syncthreads();
	out[threadIdx.x] = s[63 - threadIdx.x] + 1;
}

// ---- local memory ----

KERNEL init_local(int *in, int *out)
{
	int a[32];

	for (int i = 0; i < in[0] + 8; i++)
		a[i] = i;
	out[threadIdx.x] = a[(in[1] + threadIdx.x) & 31]; // init_local read
}

KERNEL fine_local(int *in, int *out)
{
	int a[32];

	for (int i = 0; i < in[0] + 32; i++)
		a[i] = i;
	out[threadIdx.x] = a[(in[1] + threadIdx.x) & 31];
}

// ---- lanes of a warp ----

KERNEL init_shuffle(int *in, int *out)
{
	int x = in[threadIdx.x + 96]; // init_shuffle read

	x += __shfl_xor_sync(~0u, x, 1);
	out[threadIdx.x] = x;
}

KERNEL fine_shuffle(int *in, int *out)
{
	int x = threadIdx.x < 8 ? in[threadIdx.x] : 0;

	for (int i = 16; i; i /= 2)
		x += __shfl_down_sync(~0u, x, i);
	out[threadIdx.x] = x;
}

// ---- the heap of the device ----

KERNEL init_heap(int *in, int *out)
{
	int *volatile p = (int *)malloc(64);

	p[0] = 1;
	out[threadIdx.x] = p[0] + p[1]; // init_heap read
	free(p);
}

KERNEL fine_heap(int *in, int *out)
{
	int *volatile p = (int *)malloc(64);

	p[0] = p[1] = 1;
	out[threadIdx.x] = p[0] + p[1];
	free(p);
}

__device__ int variable[64];

KERNEL fine_variable(int *in, int *out)
{
	out[threadIdx.x] = variable[threadIdx.x] + 1;
}

// All bytes of a word but the last one are written.
static __device__ void write_part(int *word)
{
	volatile char *byte = (volatile char *)word;

	byte[0] = byte[1] = byte[2] = 1;
	__syncthreads();
}

KERNEL init_doubled(int *in, int *out)
{
	__shared__ int part[64];

	write_part(&part[threadIdx.x]);
	out[threadIdx.x] = part[threadIdx.x ^ 1] * 2; // init_doubled read
}

KERNEL fine_doubled(int *in, int *out)
{
	__shared__ int part[64];

	write_part(&part[threadIdx.x]);
	out[threadIdx.x] = (part[threadIdx.x ^ 1] & 0xffff) * 2;
}

KERNEL fine_moved_by_bytes(int *in, int *out)
{
	__shared__ int part[64];

	write_part(&part[threadIdx.x]);
	out[threadIdx.x] = part[threadIdx.x ^ 1] << 8;
	out[threadIdx.x + 64] = part[threadIdx.x ^ 1];
}

KERNEL init_print(int *in, int *out)
{
	if (!threadIdx.x)
		printf("%d\n", in[200]); // init_print read
}

KERNEL fine_print(int *in, int *out)
{
	if (!threadIdx.x)
		printf("%d %f\n", in[0], 1.0);
}

#define K(name) {#name, name},
static struct { const char *name; void (*kernel)(int *, int *); } kernels[] = {
#include "init.inc"
};

int main(int argc, char **argv)
{
	int *in, *out, host[256];

	cudaMalloc(&in, 1024);
	cudaMalloc(&out, 1024);
	cudaMemset(in, 0, 512);
	cudaMemset(out, 0, 1024);
	for (auto &k : kernels)
		if (argc > 1 && !strcmp(k.name, argv[1]))
			k.kernel<<<1, 64, 256>>>(in, out);
	cudaMemcpy(host, out, 1024, cudaMemcpyDeviceToHost);
	puts(cudaGetErrorName(cudaGetLastError()));
	return 0;
}
