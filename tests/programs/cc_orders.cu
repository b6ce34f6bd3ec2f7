/* Atomic functions with orders and scopes, __nv_atomic_*. Every part counts what is wrong. */
#include <cstdio>

#define IS(bit, what)                                                                      \
	do {                                                                               \
		if (!(what))                                                               \
			atomicOr(out, 1u << (bit));                                        \
	} while (0)
#define RELAXED __NV_ATOMIC_RELAXED
#define BLOCK __NV_THREAD_SCOPE_BLOCK
#define DEVICE __NV_THREAD_SCOPE_DEVICE

__global__ void changes(unsigned *out, int *p, unsigned long long *wide, float *f, double *d)
{
	*p = 7;
	IS(0, __nv_atomic_fetch_add(p, 2, __NV_ATOMIC_ACQ_REL, DEVICE) == 7 && *p == 9);
	__nv_atomic_add(p, 3, RELAXED);
	IS(1, __nv_atomic_fetch_sub(p, 4, __NV_ATOMIC_SEQ_CST) == 12 && *p == 8);
	__nv_atomic_sub(p, 1, RELAXED, BLOCK);
	IS(2, __nv_atomic_fetch_and(p, 6, RELAXED) == 7 && *p == 6);
	IS(3, __nv_atomic_fetch_or(p, 9, RELAXED) == 6 && *p == 15);
	IS(4, __nv_atomic_fetch_xor(p, 5, RELAXED) == 15 && *p == 10);
	__nv_atomic_and(p, 14, RELAXED);
	__nv_atomic_or(p, 1, RELAXED);
	__nv_atomic_xor(p, 3, RELAXED);
	IS(5, *p == 8);
	IS(6, __nv_atomic_fetch_min(p, -4, RELAXED, __NV_THREAD_SCOPE_CLUSTER) == 8 && *p == -4);
	IS(7, __nv_atomic_fetch_max((unsigned *)p, 3u, RELAXED) == 0xfffffffcu && *p == -4);
	__nv_atomic_max(p, 5, RELAXED, __NV_THREAD_SCOPE_THREAD);
	__nv_atomic_min(p, 6, RELAXED);
	IS(8, *p == 5);
	*wide = 1ull << 40;
	IS(9, __nv_atomic_fetch_add(wide, 1ull, RELAXED, DEVICE) == 1ull << 40);
	IS(10, __nv_atomic_fetch_min((long long *)wide, -1ll, RELAXED) == (1ll << 40) + 1);
	*f = 1;
	*d = 2;
	IS(11, __nv_atomic_fetch_add(f, 0.5f, RELAXED) == 1 && *f == 1.5f);
	IS(12, __nv_atomic_fetch_sub(d, 0.25, RELAXED) == 2 && *d == 1.75);
}

struct pair {
	short a, b;
};

__global__ void values(unsigned *out, int *p, float *f, short *h, signed char *c, pair *both)
{
	int i = 3, j = 0;
	float x = 2.5f, y = 0;
	short e = 1;
	pair old, now = {4, -5};

	__nv_atomic_store_n(p, 3, __NV_ATOMIC_RELEASE, DEVICE);
	IS(0, __nv_atomic_load_n(p, __NV_ATOMIC_ACQUIRE, DEVICE) == 3);
	__nv_atomic_store(f, &x, __NV_ATOMIC_SEQ_CST);
	__nv_atomic_load(f, &y, __NV_ATOMIC_SEQ_CST);
	IS(1, y == 2.5f);
	__nv_atomic_store_n(h, (short)-7, RELAXED);
	__nv_atomic_store_n(c, (signed char)-9, RELAXED, BLOCK);
	IS(2, __nv_atomic_load_n(h, RELAXED) == -7 && __nv_atomic_load_n(c, RELAXED, BLOCK) == -9);
	IS(3, __nv_atomic_exchange_n(p, 11, RELAXED, BLOCK) == 3 && *p == 11);
	*both = {1, 2};
	__nv_atomic_exchange(both, &now, &old, RELAXED);
	IS(4, old.a == 1 && old.b == 2 && both->a == 4 && both->b == -5);
	IS(5, !__nv_atomic_compare_exchange_n(p, &i, 12, false, __NV_ATOMIC_ACQ_REL, RELAXED, DEVICE) && i == 11);
	IS(6, __nv_atomic_compare_exchange_n(p, &i, 12, false, __NV_ATOMIC_ACQ_REL, RELAXED) && *p == 12);
	i = 12;
	j = 13;
	IS(7, __nv_atomic_compare_exchange(p, &i, &j, true, __NV_ATOMIC_SEQ_CST, __NV_ATOMIC_ACQUIRE) && *p == 13);
	IS(8, !__nv_atomic_compare_exchange_n(h, &e, (short)5, false, RELAXED, RELAXED) && e == -7);
	IS(9, __nv_atomic_compare_exchange_n(h, &e, (short)5, false, RELAXED, RELAXED) && *h == 5);
}

/* A block's last thread hands what it has written to the next block; each adds to it. */
__global__ void hands(unsigned *out, int *data, int *flag)
{
	if (threadIdx.x)
		return;
	while (__nv_atomic_load_n(flag, __NV_ATOMIC_ACQUIRE, DEVICE) != (int)blockIdx.x)
		;
	*data += blockIdx.x;
	__nv_atomic_store_n(flag, (int)blockIdx.x + 1, __NV_ATOMIC_RELEASE, DEVICE);
	if (blockIdx.x == gridDim.x - 1)
		IS(0, *data == (int)(gridDim.x * (gridDim.x - 1) / 2));
}

/* The same by a fence. */
__global__ void fences(unsigned *out, int *data, int *flag)
{
	if (blockIdx.x == 0 && threadIdx.x == 0) {
		*data = 77;
		__nv_atomic_thread_fence(__NV_ATOMIC_RELEASE, DEVICE);
		__nv_atomic_store_n(flag, 1, RELAXED, DEVICE);
	} else if (blockIdx.x == 1 && threadIdx.x == 0) {
		while (!__nv_atomic_load_n(flag, RELAXED, DEVICE))
			;
		__nv_atomic_thread_fence(__NV_ATOMIC_ACQUIRE, DEVICE);
		IS(0, *data == 77);
	}
}

static unsigned *result;
static int wrong;

static void is_right(const char *name)
{
	unsigned r = ~0u;

	if (cudaMemcpy(&r, result, sizeof(r), cudaMemcpyDeviceToHost) != cudaSuccess || r) {
		printf("%s: %x\n", name, r);
		wrong++;
	}
}

int main()
{
	char *m;

	cudaMalloc(&result, sizeof(*result));
	cudaMemset(result, 0, sizeof(*result));
	cudaMalloc(&m, 64);
	cudaMemset(m, 0, 64);
	changes<<<1, 1>>>(result, (int *)m, (unsigned long long *)(m + 8), (float *)(m + 16), (double *)(m + 24));
	is_right("changes");
	values<<<1, 1>>>(result, (int *)m, (float *)(m + 16), (short *)(m + 24), (signed char *)(m + 26), (pair *)(m + 28));
	is_right("values");
	cudaMemset(m, 0, 64);
	hands<<<8, 32>>>(result, (int *)m, (int *)(m + 4));
	is_right("hands");
	cudaMemset(m, 0, 64);
	fences<<<2, 32>>>(result, (int *)m, (int *)(m + 4));
	is_right("fences");
	cudaFree(m);
	cudaFree(result);
	puts(wrong ? "wrong" : "all right");
	return wrong != 0;
}
