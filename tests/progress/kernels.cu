/*
 * Kernels whose threads wait for each other in loops: they end only where every thread that can run
 * does run. programs.def says what each leaves behind. kernels.ptx and, for GPUs whose lanes
 * share a program counter, kernels_60.ptx are made of this file by
 *
 *     ptxloom cc -arch=sm_70 -O2 -ptx tests/progress/kernels.cu -o tests/progress/kernels.ptx
 *     ptxloom cc -arch=sm_60 -O2 -ptx tests/progress/kernels.cu -o tests/progress/kernels_60.ptx
 *
 * Each kernel takes zeroed words and a number of rounds. m[0] counts what the kernel has to count; m[1]
 * counts errors; locks and the like begin at word 32, each in a line of its own; TABLE begins what
 * is as long as the grid.
 */
#define LINE 32
#define TABLE 4096
#define LOCK(n) (m + LINE * (1 + (n)))
#define KERNEL extern "C" __global__ void

typedef unsigned u32;

static __device__ u32 thread() { return blockIdx.x * blockDim.x + threadIdx.x; }
static __device__ u32 threads() { return gridDim.x * blockDim.x; }
static __device__ u32 look(u32 *p) { return *(volatile u32 *)p; }
static __device__ void put(u32 *p, u32 x) { *(volatile u32 *)p = x; }
static __device__ void count(u32 *p) { put(p, look(p) + 1); }

#if __CUDA_ARCH__ >= 700
static __device__ u32 acquire(u32 *p)
{
	u32 x;

	asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(x) : "l"(p) : "memory");
	return x;
}

static __device__ void release(u32 *p, u32 x)
{
	asm volatile("st.release.gpu.u32 [%0], %1;" : : "l"(p), "r"(x) : "memory");
}

static __device__ void nap(u32 ns) { asm volatile("nanosleep.u32 %0;" : : "r"(ns)); }
#else
static __device__ u32 acquire(u32 *p)
{
	u32 x = look(p);

	__threadfence();
	return x;
}

static __device__ void release(u32 *p, u32 x)
{
	__threadfence();
	put(p, x);
}

static __device__ void nap(u32) {}
#endif

static __device__ void lock(u32 *l)
{
	while (atomicCAS(l, 0, 1) != 0)
		;
	__threadfence();
}

static __device__ void unlock(u32 *l)
{
	__threadfence();
	atomicExch(l, 0);
}

/* ---- locks ---- */

KERNEL lock_spin(u32 *m, u32 rounds)
{
	for (u32 i = 0; i < rounds; i++) {
		while (atomicCAS(LOCK(0), 0, 1) != 0)
			;
		count(m);
		__threadfence();
		atomicExch(LOCK(0), 0);
	}
}

KERNEL lock_shared(u32 *m, u32 rounds)
{
	__shared__ u32 l, c;

	if (!threadIdx.x)
		l = c = 0;
	__syncthreads();
	for (u32 i = 0; i < rounds; i++) {
		while (atomicCAS(&l, 0, 1) != 0)
			;
		count(&c);
		__threadfence_block();
		atomicExch(&l, 0);
	}
	__syncthreads();
	if (!threadIdx.x)
		atomicAdd(m, c);
}

KERNEL lock_nanosleep(u32 *m, u32 rounds)
{
	for (u32 i = 0; i < rounds; i++) {
		u32 ns = 8;

		while (atomicExch(LOCK(0), 1)) {
			nap(ns);
			ns = ns < 256 ? ns * 2 : ns;
		}
		count(m);
		unlock(LOCK(0));
	}
}

KERNEL lock_clock(u32 *m, u32 rounds)
{
	for (u32 i = 0; i < rounds; i++) {
		while (atomicExch(LOCK(0), 1)) {
			long long start = clock64();

			while (clock64() - start < 50)
				;
		}
		count(m);
		unlock(LOCK(0));
	}
}

KERNEL lock_test_first(u32 *m, u32 rounds)
{
	for (u32 i = 0; i < rounds; i++) {
		do
			while (look(LOCK(0)))
				;
		while (atomicCAS(LOCK(0), 0, 1) != 0);
		count(m);
		unlock(LOCK(0));
	}
}

KERNEL lock_ticket(u32 *m, u32 rounds)
{
	for (u32 i = 0; i < rounds; i++) {
		u32 ticket = atomicAdd(LOCK(0), 1);

		while (look(LOCK(1)) != ticket)
			;
		__threadfence();
		count(m);
		__threadfence();
		put(LOCK(1), ticket + 1);
	}
}

KERNEL lock_two(u32 *m, u32 rounds)
{
	for (u32 i = 0; i < rounds; i++) {
		lock(LOCK(0));
		lock(LOCK(1));
		count(m);
		unlock(LOCK(1));
		unlock(LOCK(0));
	}
}

KERNEL lock_of_cta(u32 *m, u32 rounds)
{
	u32 *mine = m + TABLE + 2 * LINE * blockIdx.x;

	for (u32 i = 0; i < rounds; i++) {
		lock(mine);
		count(mine + LINE);
		unlock(mine);
	}
	__syncthreads();
	if (!threadIdx.x)
		atomicAdd(m, look(mine + LINE));
}

/* The critical section inside the loop, as the source has it: compilers take it out. */
KERNEL lock_inside(u32 *m, u32 rounds)
{
	for (u32 i = 0; i < rounds; i++)
		for (bool done = false; !done;)
			if (atomicCAS(LOCK(0), 0, 1) == 0) {
				count(m);
				unlock(LOCK(0));
				done = true;
			}
}

/* One thread of each warp takes part: no lane keeps another of its warp from running. */
KERNEL lock_of_warps(u32 *m, u32 rounds)
{
	if (threadIdx.x & 31)
		return;
	for (u32 i = 0; i < rounds; i++) {
		lock(LOCK(0));
		count(m);
		unlock(LOCK(0));
	}
}

static __device__ __noinline__ bool try_lock(u32 *l) { return atomicCAS(l, 0, 1) == 0; }

/* The loop calls a function. */
KERNEL lock_called(u32 *m, u32 rounds)
{
	for (u32 i = 0; i < rounds; i++) {
		while (!try_lock(LOCK(0)))
			;
		count(m);
		unlock(LOCK(0));
	}
}

/* Lanes part inside the loop that waits. */
KERNEL lock_parting(u32 *m, u32 rounds)
{
	u32 odd = 0, even = 0;

	for (u32 i = 0; i < rounds; i++) {
		while (atomicCAS(LOCK(0), 0, 1) != 0) {
			if (threadIdx.x & 1)
				odd += look(LOCK(2)) + 1;
			else
				even += look(LOCK(3)) + 2;
		}
		count(m);
		unlock(LOCK(0));
	}
	if (odd == 0xffffffff || even == 0xffffffff)
		count(m + 1);
}

/* Two flags and a turn, two threads of different warps or CTAs: Peterson's lock. */
KERNEL lock_peterson(u32 *m, u32 rounds)
{
	u32 me = thread() == threads() - 1;

	if (thread() && !me)
		return;
	if (threads() == 1)
		return;
	for (u32 i = 0; i < rounds * 20; i++) {
		put(LOCK(me), 1);
		__threadfence();
		put(LOCK(2), !me);
		__threadfence();
		while (look(LOCK(!me)) && look(LOCK(2)) == !me)
			__threadfence();
		__threadfence();
		count(m);
		__threadfence();
		put(LOCK(me), 0);
	}
}

/* A lock that its first owner keeps: the others wait for ever, some of them at a barrier. */
KERNEL stuck(u32 *m, u32 rounds)
{
	u32 *mine = LOCK(0) + rounds - rounds;

	if (threadIdx.x >= 32)
		while (atomicCAS(mine, 0, 1) != 0)
			;
	else
		while (look(mine) < 2)
			;
	__syncthreads();
	count(m);
}

KERNEL stuck_asleep(u32 *m, u32 rounds)
{
	while (look(LOCK(rounds)) < rounds)
		nap(100);
	count(m);
}

/* Lanes whose guard does not hold have an address that is none. */
KERNEL stuck_guarded(u32 *m, u32)
{
	u32 *mine = threadIdx.x & 1 ? LOCK(0) : (u32 *)8, last = 1;

	do
		asm volatile("{ .reg .pred p; setp.ne.u32 p, %2, 0; @p atom.global.exch.b32 %0, [%1], 1; }"
			     : "+r"(last)
			     : "l"(mine), "r"(threadIdx.x & 1)
			     : "memory");
	while (last < 2);
	count(m);
}

/* Each half waits for the other at a barrier of its own. */
KERNEL stuck_barriers(u32 *m, u32)
{
	if (threadIdx.x < 32)
		asm volatile("bar.sync 1, 64;" ::: "memory");
	else
		asm volatile("bar.sync 2, 64;" ::: "memory");
	count(m);
}

/* ---- relays, barriers, look-back ---- */

/* A token goes over all threads of the grid. */
KERNEL relay(u32 *m, u32 rounds)
{
	for (u32 i = 0; i < rounds; i++) {
		while (look(LOCK(0)) != i * threads() + thread())
			;
		__threadfence();
		count(m);
		__threadfence();
		put(LOCK(0), i * threads() + thread() + 1);
	}
}

/* Backwards, by acquire and release. */
KERNEL relay_back(u32 *m, u32 rounds)
{
	u32 me = threads() - 1 - thread();

	for (u32 i = 0; i < rounds; i++) {
		while (acquire(LOCK(0)) != i * threads() + me)
			;
		count(m);
		release(LOCK(0), i * threads() + me + 1);
	}
}

/* By loads that only name a cache. */
KERNEL relay_cached(u32 *m, u32 rounds)
{
	for (u32 i = 0; i < rounds; i++) {
		u32 x;

		do
			asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(x) : "l"(LOCK(0)) : "memory");
		while (x != i * threads() + thread());
		count(m);
		__threadfence();
		atomicAdd(LOCK(0), 1);
	}
}

/* By plain loads that the compiler must not move. */
KERNEL relay_plain(u32 *m, u32 rounds)
{
	for (u32 i = 0; i < rounds; i++) {
		u32 x;

		do
			asm volatile("ld.global.u32 %0, [%1];" : "=r"(x) : "l"(LOCK(0)) : "memory");
		while (x != i * gridDim.x + blockIdx.x);
		__syncthreads();
		if (!threadIdx.x) {
			atomicAdd(m, blockDim.x);
			__threadfence();
			atomicAdd(LOCK(0), 1);
		}
	}
}

/* Flags in shared memory from warp to warp. */
KERNEL relay_shared(u32 *m, u32 rounds)
{
	__shared__ volatile u32 token;
	u32 warps = (blockDim.x + 31) / 32, warp = threadIdx.x / 32;

	if (!threadIdx.x)
		token = 0;
	__syncthreads();
	for (u32 i = 0; i < rounds * 10; i++) {
		while (token != i * warps + warp)
			;
		__syncwarp();
		if (!(threadIdx.x & 31)) {
			atomicAdd(m, 1);
			__threadfence_block();
			token = i * warps + warp + 1;
		}
	}
}

static __device__ void meet(u32 *counter, u32 n)
{
	__syncthreads();
	if (!threadIdx.x) {
		__threadfence();
		atomicAdd(counter, 1);
		while (look(counter) < n)
			;
		__threadfence();
	}
	__syncthreads();
}

/* A barrier of the grid by hand: one thread of each CTA waits, the others are at bar.sync. */
KERNEL grid_barrier(u32 *m, u32 rounds)
{
	u32 *x = m + TABLE;

	for (u32 i = 0; i < rounds * 4; i++) {
		put(x + thread(), i + 1);
		meet(LOCK(0), (2 * i + 1) * gridDim.x);
		if (look(x + (thread() + blockDim.x) % threads()) != i + 1)
			atomicAdd(m + 1, 1);
		meet(LOCK(0), (2 * i + 2) * gridDim.x);
	}
	atomicAdd(m, 1);
}

/* Every thread waits by itself. */
KERNEL grid_barrier_of_threads(u32 *m, u32 rounds)
{
	for (u32 i = 0; i < rounds; i++) {
		__threadfence();
		atomicAdd(LOCK(0), 1);
		while (atomicAdd(LOCK(0), 0) < (i + 1) * threads())
			;
	}
	atomicAdd(m, 1);
}

/* Decoupled look-back: each CTA adds what its predecessors have published, 1: own sum, 2: all sums. */
KERNEL look_back(u32 *m, u32 rounds)
{
	__shared__ u32 tile, before;
	u32 *sums = m + TABLE, n = rounds * gridDim.x;

	for (;;) {
		u32 mine, flagged;

		if (!threadIdx.x)
			tile = atomicAdd(LOCK(0), 1);
		__syncthreads();
		mine = tile;
		if (mine >= n)
			return;
		if (!threadIdx.x) {
			before = 0;
			put(sums + mine, blockDim.x << 2 | (mine ? 1 : 2));
			__threadfence();
			for (u32 k = mine; k;) {
				while (!((flagged = look(sums + k - 1)) & 3))
					;
				before += flagged >> 2;
				k = flagged & 2 ? 0 : k - 1;
			}
			__threadfence();
			put(sums + mine, (before + blockDim.x) << 2 | 2);
			if (before != mine * blockDim.x)
				atomicAdd(m + 1, 1);
		}
		__syncthreads();
		atomicAdd(m, 1);
	}
}

/* Tiles belong to CTAs by their numbers, and the last CTA is waited for by the first. */
KERNEL last_first(u32 *m, u32 rounds)
{
	u32 me = gridDim.x - 1 - blockIdx.x;

	for (u32 i = 0; i < rounds; i++) {
		if (!threadIdx.x)
			while (acquire(LOCK(0)) != i * gridDim.x + me)
				;
		__syncthreads();
		atomicAdd(m, 1);
		__syncthreads();
		if (!threadIdx.x)
			release(LOCK(0), i * gridDim.x + me + 1);
	}
}

/* ---- barriers beside loops ---- */

/* All warps but the last wait at a barrier that the last one comes to when a flag is set by the first lane. */
KERNEL barrier_beside(u32 *m, u32 rounds)
{
	__shared__ volatile u32 flag;
	u32 last = (blockDim.x - 1) / 32, warp = threadIdx.x / 32;

	if (!threadIdx.x)
		flag = 0;
	__syncthreads();
	for (u32 i = 0; i < rounds * 4; i++) {
		if (!threadIdx.x) {
			__threadfence_block();
			flag = i + 1;
		}
		if (warp == last)
			while (flag != i + 1)
				;
		__syncthreads();
	}
	atomicAdd(m, 1);
}

/* Other warps keep passing a barrier of their own while the first waits for the last of them. */
KERNEL named_beside(u32 *m, u32 rounds)
{
	u32 *flag = m + TABLE + LINE * blockIdx.x, others = blockDim.x / 32 * 32 - 32;

	if (threadIdx.x >= 32 && threadIdx.x < 32 + others) {
		for (u32 i = 0; i < rounds * 40; i++)
			asm volatile("bar.sync 1, %0;" : : "r"(others) : "memory");
		if (threadIdx.x == 32)
			put(flag, 1);
	} else if (threadIdx.x < 32 && others) {
		while (!look(flag))
			;
	}
	__syncthreads();
	atomicAdd(m, 1);
}

/* One lane waits after the others of its warp have gone. */
KERNEL lanes_gone(u32 *m, u32 rounds)
{
	if ((threadIdx.x & 31) != 31 && threadIdx.x != blockDim.x - 1)
		return;
	for (u32 i = 0; i < rounds; i++) {
		lock(LOCK(0));
		count(m);
		unlock(LOCK(0));
	}
}

/* A warp votes on what its lanes see; the last thread of the grid sets the flags one by one. */
KERNEL votes(u32 *m, u32 rounds)
{
	u32 *flags = m + TABLE, lane = threadIdx.x & 31, mine = blockDim.x - (threadIdx.x & ~31u);
	u32 all = mine < 32 ? (1u << mine) - 1 : ~0u;

	for (u32 i = 0; i < rounds; i++) {
		if (thread() == threads() - 1)
			for (u32 k = 0; k < 32; k++) {
				put(flags + k, i + 1);
				__threadfence();
			}
		__syncwarp(all);
		while (!__all_sync(all, look(flags + lane) >= i + 1))
			;
	}
	atomicAdd(m, 1);
}

/* ---- queues ---- */

/* A bounded queue: even threads put, odd threads take; with one thread left over. */
KERNEL queue(u32 *m, u32 rounds)
{
	u32 *slots = m + TABLE, pairs = threads() / 2, size = 16;

	if (thread() >= 2 * pairs)
		return;
	for (u32 i = 0; i < rounds; i++) {
		bool takes = thread() & 1;
		u32 ticket = atomicAdd(LOCK(takes), 1), *slot = slots + ticket % size * 2;
		u32 turn = ticket / size * 2 + takes;

		while (look(slot) != turn)
			;
		__threadfence();
		if (takes)
			atomicAdd(m, look(slot + 1));
		else
			put(slot + 1, 1);
		__threadfence();
		put(slot, turn + 1);
	}
}

/* Persistent threads: work that makes work, in a queue with a lock; threads wait until all is done. */
KERNEL work_queue(u32 *m, u32 rounds)
{
	u32 *items = m + TABLE, total = 64 * rounds;
	bool busy = true;

	if (!thread()) {
		put(items, 1);
		__threadfence();
		put(LOCK(1), 1);
	}
	while (busy) {
		u32 item = 0;

		lock(LOCK(0));
		if (look(LOCK(2)) < look(LOCK(1))) {
			item = look(items + look(LOCK(2)));
			count(LOCK(2));
		}
		for (u32 child = 2 * item; item && child <= 2 * item + 1 && child <= total; child++) {
			put(items + look(LOCK(1)), child);
			count(LOCK(1));
		}
		unlock(LOCK(0));
		if (item)
			atomicAdd(m, 1);
		busy = look(m) < total;
	}
}

/* CTAs take from their own stacks, and steal when these are empty. */
KERNEL stealing(u32 *m, u32 rounds)
{
	u32 *stacks = m + TABLE, total = gridDim.x * 16 * rounds, victim = blockIdx.x;
	__shared__ u32 got;

	if (!threadIdx.x && !blockIdx.x)
		put(stacks + LINE * (gridDim.x - 1) + 1, total);
	if (threadIdx.x & 31)
		return;
	(void)got;
	while (look(m) < total) {
		u32 *s = stacks + LINE * victim, have;

		lock(s);
		have = look(s + 1);
		if (have)
			put(s + 1, have - 1);
		unlock(s);
		if (have)
			atomicAdd(m, 1);
		else
			victim = (victim + 1) % gridDim.x;
	}
}

/* A stack without locks: numbers of nodes, with a counter above them. */
KERNEL stack(u32 *m, u32 rounds)
{
	unsigned long long *top = (unsigned long long *)LOCK(0), old, want;
	u32 *next = m + TABLE, node = thread() + 1;

	for (u32 i = 0; i < rounds; i++) {
		do {
			old = *(volatile unsigned long long *)top;
			put(next + node, (u32)old);
			__threadfence();
			want = ((old >> 32) + 1) << 32 | node;
		} while (atomicCAS(top, old, want) != old);
		do {
			old = *(volatile unsigned long long *)top;
			if (!(u32)old) {
				want = old + 1;
				continue;
			}
			__threadfence();
			want = ((old >> 32) + 1) << 32 | look(next + (u32)old);
		} while (!(u32)old || atomicCAS(top, old, want) != old);
		node = (u32)old;
		atomicAdd(m, 1);
	}
}

/* A hash table whose buckets have locks. */
KERNEL buckets(u32 *m, u32 rounds)
{
	u32 *locks = m + TABLE, *counts = locks + 64;

	for (u32 i = 0; i < rounds; i++) {
		u32 b = (thread() * 2654435761u + i) >> 26;

		lock(locks + b);
		count(counts + b);
		unlock(locks + b);
	}
	meet(LOCK(0), gridDim.x);
	if (!thread())
		for (u32 b = 0; b < 64; b++)
			put(m, look(m) + look(counts + b));
}

/* A semaphore that lets two in. */
KERNEL semaphore(u32 *m, u32 rounds)
{
	for (u32 i = 0; i < rounds; i++) {
		u32 have, in;

		do
			have = look(LOCK(0));
		while (have >= 2 || atomicCAS(LOCK(0), have, have + 1) != have);
		in = atomicAdd(LOCK(1), 1);
		if (in >= 2)
			atomicAdd(m + 1, 1);
		atomicSub(LOCK(1), 1);
		__threadfence();
		atomicSub(LOCK(0), 1);
		atomicAdd(m, 1);
	}
}

/* The first warp makes, the others use: flags in shared memory on both sides. */
KERNEL producer(u32 *m, u32 rounds)
{
	__shared__ volatile u32 full[64], value[64];
	u32 warp = threadIdx.x / 32, lane = threadIdx.x & 31, warps = (blockDim.x + 31) / 32;

	for (u32 i = threadIdx.x; i < 64; i += blockDim.x)
		full[i] = 0;
	__syncthreads();
	for (u32 i = 0; i < rounds * 4; i++)
		if (!warp) {
			for (u32 w = 1 + lane; w < warps; w += blockDim.x < 32 ? blockDim.x : 32) {
				while (full[w])
					;
				value[w] = i + 1;
				__threadfence_block();
				full[w] = 1;
			}
		} else if (!lane) {
			while (!full[warp])
				;
			__threadfence_block();
			if (value[warp] != i + 1)
				atomicAdd(m + 1, 1);
			__threadfence_block();
			full[warp] = 0;
		}
	atomicAdd(m, 1);
}
