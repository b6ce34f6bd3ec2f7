// Locks of two and more words, and what is none; the name says whether their order may end in a deadlock.
// tests/check/locks.ptx is made of it by
//     ptxloom cc --ptx -lineinfo locks.cu -o - | sed 's,"[^"]*/\(locks.cu\|share/\),"\1,' >locks.ptx
// sync.sh looks for the lines that are marked.
#define KERNEL extern "C" __global__ void

__device__ int a, b, gate, fork[8], slots[64], flag, many[16], crowd[48];
__device__ int shared_sum;

__device__ __forceinline__ void lock(int *l)
{
	while (atomicCAS(l, 0, 1) != 0)
		;
	__threadfence();
}

__device__ __forceinline__ void unlock(int *l)
{
	__threadfence();
	atomicExch(l, 0);
}

// One thread of each block.
#define LEADER(b) (threadIdx.x == 0 && blockIdx.x == (b))

KERNEL bad_lock_two_blocks(int *out)
{
	if (LEADER(0)) {
		lock(&a);
		while (atomicCAS(&b, 0, 1) != 0) // bad_lock_two_blocks second
			;
		out[0]++;
		unlock(&b);
		unlock(&a);
	}
	if (LEADER(1)) {
		lock(&b);
		while (atomicCAS(&a, 0, 1) != 0) // bad_lock_two_blocks first
			;
		out[0]++;
		unlock(&a);
		unlock(&b);
	}
}

KERNEL fine_lock_same_order(int *out)
{
	if (threadIdx.x == 0) {
		lock(&a);
		lock(&b);
		out[0]++;
		unlock(&b);
		unlock(&a);
	}
}

KERNEL fine_lock_gate(int *out)
{
	if (threadIdx.x == 0) {
		lock(&gate);
		lock(blockIdx.x ? &a : &b);
		lock(blockIdx.x ? &b : &a);
		out[0]++;
		unlock(&a);
		unlock(&b);
		unlock(&gate);
	}
}

KERNEL bad_lock_gate_given_back(int *out)
{
	if (threadIdx.x == 0) {
		lock(&gate);
		lock(blockIdx.x ? &a : &b);
		unlock(&gate);
		while (atomicCAS(blockIdx.x ? &b : &a, 0, 1) != 0) // bad_lock_gate_given_back first
			;
		out[0]++;
		unlock(&a);
		unlock(&b);
	}
}

// The second lock is only tried; who does not get it gives back the first one.
KERNEL fine_lock_backs_off(int *out)
{
	int *first = blockIdx.x ? &a : &b, *second = blockIdx.x ? &b : &a;

	if (threadIdx.x == 0) {
		for (;;) {
			lock(first);
			if (atomicCAS(second, 0, 1) == 0)
				break;
			unlock(first);
		}
		out[0]++;
		unlock(second);
		unlock(first);
	}
}

KERNEL fine_lock_tries_some_times(int *out)
{
	int *first = blockIdx.x ? &a : &b, *second = blockIdx.x ? &b : &a;

	if (threadIdx.x == 0) {
		bool has = false;

		lock(first);
		for (int i = 0; i < 100 && !has; i++)
			has = atomicCAS(second, 0, 1) == 0;
		if (has) {
			out[0]++;
			unlock(second);
		}
		unlock(first);
	}
}

KERNEL fine_lock_one_thread(int *out)
{
	if (LEADER(0)) {
		lock(&a);
		lock(&b);
		unlock(&b);
		unlock(&a);
		lock(&b);
		lock(&a);
		unlock(&a);
		unlock(&b);
		out[0] = 1;
	}
}

// One never holds both.
KERNEL fine_lock_one_by_one(int *out)
{
	if (threadIdx.x == 0) {
		lock(blockIdx.x ? &a : &b);
		out[0]++;
		unlock(blockIdx.x ? &a : &b);
		lock(blockIdx.x ? &b : &a);
		out[1]++;
		unlock(blockIdx.x ? &b : &a);
	}
}

// atomicExch, and a volatile look before.
KERNEL bad_lock_exchange(int *out)
{
	int *first = blockIdx.x ? &a : &b, *second = blockIdx.x ? &b : &a;

	if (threadIdx.x == 0) {
		while (atomicExch(first, 1) != 0)
			;
		do
			while (*(volatile int *)second)
				;
		while (atomicExch(second, 1) != 0); // bad_lock_exchange first
		__threadfence();
		out[0]++;
		__threadfence();
		*(volatile int *)second = 0;
		*(volatile int *)first = 0;
	}
}

// As loops on warps are written, so that lanes do not wait for each other.
KERNEL bad_lock_done(int *out)
{
	int *first = threadIdx.x % 2 ? &a : &b, *second = threadIdx.x % 2 ? &b : &a;
	bool done = false;

	while (!done) {
		if (atomicCAS(first, 0, 1) == 0) {
			bool inner = false;
			while (!inner) {
				if (atomicCAS(second, 0, 1) == 0) { // bad_lock_done first
					__threadfence();
					out[0]++;
					__threadfence();
					atomicExch(second, 0);
					inner = true;
				}
			}
			atomicExch(first, 0);
			done = true;
		}
	}
}

// Philosophers, who all begin with the fork at their left.
KERNEL bad_lock_round(int *out)
{
	if (threadIdx.x == 0) {
		lock(&fork[blockIdx.x]);
		while (atomicCAS(&fork[(blockIdx.x + 1) % gridDim.x], 0, 1) != 0) // bad_lock_round first
			;
		out[blockIdx.x]++;
		unlock(&fork[(blockIdx.x + 1) % gridDim.x]);
		unlock(&fork[blockIdx.x]);
	}
}

// But for the last one.
KERNEL fine_lock_round(int *out)
{
	unsigned next = (blockIdx.x + 1) % gridDim.x, low = min(blockIdx.x, next), high = max(blockIdx.x, next);

	if (threadIdx.x == 0) {
		lock(&fork[low]);
		lock(&fork[high]);
		out[blockIdx.x]++;
		unlock(&fork[high]);
		unlock(&fork[low]);
	}
}

KERNEL bad_lock_shared(int *out)
{
	__shared__ int s[2];

	if (threadIdx.x < 2)
		s[threadIdx.x] = 0;
	__syncthreads();
	if (threadIdx.x % 32 == 0) {
		int w = threadIdx.x / 32;

		while (atomicCAS(&s[w], 0, 1) != 0)
			;
		while (atomicCAS(&s[1 - w], 0, 1) != 0) // bad_lock_shared first
			;
		atomicAdd(out, 1);
		atomicExch(&s[1 - w], 0);
		atomicExch(&s[w], 0);
	}
}

// A barrier stands between the two orders.
KERNEL fine_lock_phases(int *out)
{
	__shared__ int s[2];

	if (threadIdx.x < 2)
		s[threadIdx.x] = 0;
	__syncthreads();
	for (int w = 0; w < 2; w++) {
		if (threadIdx.x == 32 * w) {
			while (atomicCAS(&s[w], 0, 1) != 0)
				;
			while (atomicCAS(&s[1 - w], 0, 1) != 0)
				;
			atomicAdd(out, 1);
			atomicExch(&s[1 - w], 0);
			atomicExch(&s[w], 0);
		}
		__syncthreads();
	}
}

// The second block begins when the first one has told it to.
KERNEL fine_lock_told(int *out)
{
	if (LEADER(0)) {
		lock(&a);
		lock(&b);
		out[0]++;
		unlock(&b);
		unlock(&a);
		__threadfence();
		*(volatile int *)&flag = 1;
	}
	if (LEADER(1)) {
		while (*(volatile int *)&flag == 0)
			;
		__threadfence();
		lock(&b);
		lock(&a);
		out[0]++;
		unlock(&a);
		unlock(&b);
		flag = 0;
	}
}

// No locks: keys in a table, where each thread goes on to the next slot.
KERNEL fine_lock_table(int *out)
{
	for (int i = 0; i < 2; i++) {
		unsigned at = (threadIdx.x * 5 + i * 7 * (threadIdx.x % 2 ? 1 : 63)) % 64;

		while (atomicCAS(&slots[at], 0, (int)threadIdx.x + 1) != 0)
			at = (at + 1) % 64;
		__syncthreads();
		slots[threadIdx.x] = 0;
		__syncthreads();
	}
	out[threadIdx.x] = 1;
}

// No locks: a mailbox, which one side fills and the other one empties.
KERNEL fine_lock_mailbox(int *out)
{
	if (LEADER(0))
		for (int i = 0; i < 3; i++) {
			while (atomicCAS(&a, 0, 1) != 0)
				;
			while (atomicCAS(&b, 1, 0) != 1)
				;
		}
	if (LEADER(1))
		for (int i = 0; i < 3; i++) {
			while (atomicCAS(&a, 1, 0) != 1)
				;
			while (atomicCAS(&b, 0, 1) != 0)
				;
		}
	out[threadIdx.x] = 1;
}

// The flag is looked at by atomicCAS, which changes nothing.
KERNEL fine_lock_told_by_swap(int *out)
{
	if (LEADER(0)) {
		lock(&a);
		lock(&b);
		out[0]++;
		unlock(&b);
		unlock(&a);
		atomicExch(&flag, 1);
	}
	if (LEADER(1)) {
		while (atomicCAS(&flag, 1, 1) != 1)
			;
		__threadfence();
		lock(&b);
		lock(&a);
		out[0]++;
		unlock(&a);
		unlock(&b);
		flag = 0;
	}
}

// All blocks have come when the count is full, and the order changes behind that.
KERNEL fine_lock_grid_barrier(int *out)
{
	if (threadIdx.x == 0) {
		for (int i = 0; i < 2; i++) {
			int *first = i ? &a : &b, *second = i ? &b : &a;

			lock(first);
			lock(second);
			out[0]++;
			unlock(second);
			unlock(first);
			atomicAdd(&many[i], 1);
			while (atomicCAS(&many[i], (int)gridDim.x, (int)gridDim.x) != (int)gridDim.x)
				;
		}
	}
}

// Between the flag and the locks that it is about there are many others.
KERNEL fine_lock_told_before_others(int *out)
{
	if (LEADER(0)) {
		lock(&a);
		lock(&b);
		out[0]++;
		unlock(&b);
		unlock(&a);
		__threadfence();
		*(volatile int *)&flag = 1;
	}
	if (LEADER(1)) {
		while (*(volatile int *)&flag == 0)
			;
		__threadfence();
		for (int i = 0; i < 16; i++) {
			lock(&many[i]);
			out[1]++;
			unlock(&many[i]);
		}
		lock(&b);
		lock(&a);
		out[0]++;
		unlock(&a);
		unlock(&b);
		flag = 0;
	}
}

// As lists are walked: each next lock is taken before the last one is given back.
KERNEL fine_lock_hand_over_hand(int *out)
{
	if (threadIdx.x == 0) {
		lock(&many[0]);
		for (int i = 1; i < 16; i++) {
			lock(&many[i]);
			out[i]++;
			unlock(&many[i - 1]);
		}
		unlock(&many[15]);
	}
}

// Many orders of many locks, behind a gate.
KERNEL fine_lock_crowd(int *out)
{
	unsigned r = blockIdx.x * 2654435761u + 12345;

	for (int n = 0; threadIdx.x == 0 && n < 40; n++) {
		int *at[4];

		for (int k = 0; k < 4; k++) {
			r = r * 1664525u + 1013904223u;
			at[k] = &crowd[(r >> 8) % 12 * 4 + k];
		}
		lock(&gate);
		for (int k = 0; k < 4; k++)
			lock(at[k]);
		for (int k = 0; k < 4; k++)
			unlock(at[k]);
		for (int k = 3; k >= 0; k--)
			lock(at[k]);
		for (int k = 0; k < 4; k++)
			unlock(at[k]);
		unlock(&gate);
	}
}
