/*
 * Kernels whose CTAs hand each other values of 8 and 16 bytes: a part of an old one, or a value that comes
 * before what it announces, makes their results wrong. Decoupled look-back with a status and a prefix in one
 * value (scan, selection, run lengths), a radix sort with one sweep for each digit, queues and barriers.
 * programs.def says what each leaves behind. programs.ptx and, for GPUs whose lanes share a program counter,
 * programs_60.ptx are made of this file by
 *
 *     ptxloom cc -arch=sm_70 -O2 -ptx tests/memory/programs.cu -o tests/memory/programs.ptx
 *     ptxloom cc -arch=sm_60 -O2 -ptx tests/memory/programs.cu -o tests/memory/programs_60.ptx
 *
 * Each kernel takes zeroed words and a number of rounds. m[0] counts threads whose work is done, m[1] errors.
 */
#define KERNEL extern "C" __global__ void
#define TICKET(r) (m + 2 + (r))   /* tiles handed out; rounds < 8 */
#define DONE(r) (m + 10 + (r))    /* CTAs that are done */
#define BARRIER (m + 20)          /* count, phase */
#define TILES 32                  /* values of tiles: 4 words each, a table for each round */
#define OUT 1024                  /* a word for each thread, a table for each round */
#define OUT_WORDS 2560
#define WARP 32

typedef unsigned u32;
typedef unsigned long long u64;

static __device__ u32 thread() { return blockIdx.x * blockDim.x + threadIdx.x; }
static __device__ u32 threads() { return gridDim.x * blockDim.x; }
static __device__ u32 mixed(u32 i) { i *= 2654435761u; i ^= i >> 15; return i * 2246822519u >> 8; }
static __device__ void error(u32 *m) { atomicAdd(m + 1, 1); }

/* ---- values of 8 and 16 bytes; .relaxed: nothing else is ordered by them ---- */

struct pair { u32 x, y; };
struct four { u32 x, y, z, w; };

#if __CUDA_ARCH__ >= 700
#define RELAXED "relaxed.gpu"
#else
#define RELAXED "volatile"
#endif

static __device__ void put2(u32 *p, u32 x, u32 y)
{
	asm volatile("st." RELAXED ".v2.u32 [%0], {%1, %2};" : : "l"(p), "r"(x), "r"(y) : "memory");
}

static __device__ pair look2(u32 *p)
{
	pair v;

	asm volatile("ld." RELAXED ".v2.u32 {%0, %1}, [%2];" : "=r"(v.x), "=r"(v.y) : "l"(p) : "memory");
	return v;
}

static __device__ void put4(u32 *p, u32 x, u32 y, u32 z, u32 w)
{
	asm volatile("st." RELAXED ".v4.u32 [%0], {%1, %2, %3, %4};"
		     : : "l"(p), "r"(x), "r"(y), "r"(z), "r"(w) : "memory");
}

static __device__ four look4(u32 *p)
{
	four v;

	asm volatile("ld." RELAXED ".v4.u32 {%0, %1, %2, %3}, [%4];"
		     : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(p) : "memory");
	return v;
}

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
#else
static __device__ u32 acquire(u32 *p)
{
	u32 x = *(volatile u32 *)p;

	__threadfence();
	return x;
}

static __device__ void release(u32 *p, u32 x)
{
	__threadfence();
	*(volatile u32 *)p = x;
}
#endif

/* ---- inside a CTA ---- */

/* Exclusive sum over the CTA; *all: of everybody. */
static __device__ u32 sum_before(u32 x, u32 *all)
{
	__shared__ u32 part[WARP];
	u32 lane = threadIdx.x % WARP, warp = threadIdx.x / WARP, warps = (blockDim.x + WARP - 1) / WARP;
	u32 lanes = warp + 1 < warps ? WARP : blockDim.x - warp * WARP, mask = ~0u >> (WARP - lanes);
	u32 last = lanes - 1, sum = x, before = 0;

	for (u32 d = 1; d < WARP; d *= 2) {
		u32 y = __shfl_up_sync(mask, sum, d);

		if (lane >= d)
			sum += y;
	}
	__syncthreads();
	if (lane == last)
		part[warp] = sum;
	__syncthreads();
	*all = 0;
	for (u32 w = 0; w < warps; w++) {
		before += w < warp ? part[w] : 0;
		*all += part[w];
	}
	return before + sum - x;
}

static __device__ u32 for_all(u32 x)
{
	__shared__ u32 value;

	__syncthreads();
	if (threadIdx.x == 0)
		value = x;
	__syncthreads();
	return value;
}

static __device__ u32 next_tile(u32 *m, u32 r)
{
	return for_all(threadIdx.x == 0 ? atomicAdd(TICKET(r), 1) : 0);
}

/* Is this the last CTA of the round? What the others have written is seen then. */
static __device__ bool is_last(u32 *m, u32 r)
{
	u32 before = 0;

	__threadfence();
	__syncthreads();
	if (threadIdx.x == 0) {
		before = atomicAdd(DONE(r), 1);
		__threadfence();
	}
	return for_all(before) == gridDim.x - 1;
}

/* ---- look-back: 1, the tile's own sum; 2, the sum of all tiles up to it ---- */

static __device__ u32 look_back(u32 *tiles, u32 tile, u32 own)
{
	u32 before = 0;

	if (threadIdx.x == 0) {
		put2(tiles + 4 * tile, tile ? 1 : 2, own);
		for (u32 t = tile; t-- > 0;) {
			pair v = look2(tiles + 4 * t);

			while (!v.x)
				v = look2(tiles + 4 * t);
			before += v.y;
			if (v.x == 2)
				break;
		}
		if (tile)
			put2(tiles + 4 * tile, 2, before + own);
	}
	return for_all(before);
}

KERNEL scan_pairs(u32 *m, u32 rounds)
{
	for (u32 r = 0; r < rounds; r++) {
		u32 tile = next_tile(m, r), i = tile * blockDim.x + threadIdx.x, all;
		u32 sum = sum_before(1 + i % 7, &all);

		sum += look_back(m + TILES + 128 * r, tile, all);
		if (sum != i / 7 * 28 + i % 7 * (i % 7 + 1) / 2)
			error(m);
		atomicAdd(m, 1);
	}
}

KERNEL select_pairs(u32 *m, u32 rounds)
{
	for (u32 r = 0; r < rounds; r++) {
		u32 tile = next_tile(m, r), i = tile * blockDim.x + threadIdx.x, all;
		u32 *out = m + OUT + OUT_WORDS * r, mine = mixed(i + r) & 1;
		u32 at = sum_before(mine, &all);

		at += look_back(m + TILES + 128 * r, tile, all);
		if (mine)
			out[at] = i + 1;
		atomicAdd(m, 1);
		if (is_last(m, r) && threadIdx.x == 0) {
			u32 n = 0;

			for (u32 k = 0; k < threads(); k++)
				if (mixed(k + r) & 1)
					if (*(volatile u32 *)(out + n++) != k + 1)
						error(m);
			if (*(volatile u32 *)(out + n))
				error(m);
		}
	}
}

/* ---- run lengths: a status of 16 bytes, with where the last run began and what tells a torn one ---- */

static __device__ u32 key(u32 i, u32 r) { return (i + r) / 3 - (i + r) / 41; }

static __device__ four look_at(u32 *m, u32 *p)
{
	four v;

	do
		v = look4(p);
	while (!v.x);
	if (v.w != (v.x ^ v.y ^ v.z ^ 0x5a5a5a5a))
		error(m);
	return v;
}

/* Runs before the tile, and where the one that goes on into it began. */
static __device__ pair look_back_runs(u32 *m, u32 *tiles, u32 tile, u32 runs, u32 start)
{
	u32 before = 0, began = 0, x = tile ? 1 : 2;
	bool open = true;

	if (threadIdx.x == 0) {
		put4(tiles + 4 * tile, x, runs, start, x ^ runs ^ start ^ 0x5a5a5a5a);
		for (u32 t = tile; t-- > 0;) {
			four v = look_at(m, tiles + 4 * t);

			before += v.y;
			if (open && v.y) {
				began = v.z;
				open = false;
			}
			if (v.x == 2)
				break;
		}
		runs += before;
		start = runs == before ? began : start;
		if (tile)
			put4(tiles + 4 * tile, 2, runs, start, 2 ^ runs ^ start ^ 0x5a5a5a5a);
	}
	began = for_all(began);
	return {for_all(before), began};
}

KERNEL run_lengths(u32 *m, u32 rounds)
{
	__shared__ u32 begins[1024];

	for (u32 r = 0; r < rounds; r++) {
		u32 tile = next_tile(m, r), i = tile * blockDim.x + threadIdx.x, all, n = 0, last = 0;
		bool first = !i || key(i, r) != key(i - 1, r), end = i + 1 == threads() || key(i, r) != key(i + 1, r);
		u32 *out = m + OUT + OUT_WORDS * r, rank = sum_before(first, &all);
		pair before;

		__syncthreads();
		if (first)
			begins[rank] = i;
		__syncthreads();
		if (all)
			last = begins[all - 1];
		before = look_back_runs(m, m + TILES + 128 * r, tile, all, last);
		n = rank + first;
		if (end)
			out[before.x + n - 1] = i + 1 - (n ? begins[n - 1] : before.y);
		atomicAdd(m, 1);
		if (is_last(m, r) && threadIdx.x == 0) {
			u32 at = 0, length = 0;

			for (u32 k = 0; k < threads(); k++) {
				length++;
				if (k + 1 < threads() && key(k, r) == key(k + 1, r))
					continue;
				if (*(volatile u32 *)(out + at++) != length)
					error(m);
				length = 0;
			}
		}
	}
}

/* ---- a barrier of the grid, by hand ---- */

static __device__ void grid_barrier(u32 *m)
{
	__syncthreads();
	if (threadIdx.x == 0) {
		u32 phase = acquire(BARRIER + 1);

		__threadfence();
		if (atomicAdd(BARRIER, 1) == gridDim.x - 1) {
			*(volatile u32 *)BARRIER = 0;
			release(BARRIER + 1, phase + 1);
		} else {
			while (acquire(BARRIER + 1) == phase)
				;
		}
		__threadfence();
	}
	__syncthreads();
}

/* ---- radix sort, four bits at a time: each tile looks back for the count of each digit ---- */

#define DIGITS 16

static __device__ u32 digit(u32 x, u32 shift) { return x >> shift & (DIGITS - 1); }

static __device__ void sort_digit(u32 *m, const u32 *from, u32 *to, u32 *counts, u32 *tiles, u32 *ticket, u32 shift)
{
	__shared__ u32 first[DIGITS];
	u32 tile = for_all(threadIdx.x == 0 ? atomicAdd(ticket, 1) : 0), at = 0;
	u32 i = tile * blockDim.x + threadIdx.x, x = *(const volatile u32 *)(from + i);

	for (u32 d = 0; d < DIGITS; d++) {
		u32 all, mine = digit(x, shift) == d, rank = sum_before(mine, &all);
		u32 before = look_back(tiles + 64 * d, tile, all);

		if (threadIdx.x == 0) {
			first[d] = before;
			for (u32 k = 0; k < d; k++)
				first[d] += *(volatile u32 *)(counts + k);
		}
		__syncthreads();
		if (mine)
			at = first[d] + rank;
	}
	to[at] = x;
}

/* One round, whatever they are: bytes of a hash, in two sweeps. */
KERNEL sort_sweeps(u32 *m, u32 rounds)
{
	u32 *a = m + OUT, *b = a + 2048, *counts = b + 2048, *tiles = counts + 64, n = threads(), i = thread();

	a[i] = mixed(i) & 255;
	atomicAdd(counts + digit(a[i], 0), 1);
	atomicAdd(counts + DIGITS + digit(a[i], 4), 1);
	grid_barrier(m);
	sort_digit(m, a, b, counts, tiles, TICKET(0), 0);
	grid_barrier(m);
	sort_digit(m, b, a, counts + DIGITS, tiles + 64 * DIGITS, TICKET(1), 4);
	grid_barrier(m);
	if (i + 1 < n && *(volatile u32 *)(a + i) > *(volatile u32 *)(a + i + 1))
		error(m);
	atomicAdd(m, rounds);
}

/* ---- values that are written over again and again ---- */

/* Each thread hands on a value of 16 bytes to the next CTA, behind a barrier of the grid. */
KERNEL exchange_fours(u32 *m, u32 rounds)
{
	u32 *slots = m + OUT, i = thread(), n = threads(), other = (i + blockDim.x) % n;

	for (u32 r = 0; r < 4 * rounds; r++) {
		four v;

		put4(slots + 4 * i, i, r, ~i, ~r);
		grid_barrier(m);
		v = look4(slots + 4 * other);
		if (v.x != other || v.y != r || v.z != ~other || v.w != ~r)
			error(m);
		grid_barrier(m);
	}
	atomicAdd(m, rounds);
}

/* Everybody writes over everybody's values: whatever is read, somebody has written it. */
KERNEL torn_values(u32 *m, u32 rounds)
{
	u32 *slots = m + OUT, i = thread(), n = blockDim.x;

	for (u32 r = 0; r < 16 * rounds; r++) {
		u32 at = 4 * ((i * 5 + r) % n), seen = i * 65536 + r;
		four v;

		put4(slots + at, seen, ~seen, seen, ~seen);
		v = look4(slots + 4 * ((i + r * 7) % n));
		if ((v.x | v.y | v.z | v.w) && (v.x != ~v.y || v.x != v.z || v.y != v.w))
			error(m);
	}
	atomicAdd(m, rounds);
}

/* A ring of 16 cells: a ticket says whose turn a cell is; its value and the turn are one value. */
KERNEL ring_fours(u32 *m, u32 rounds)
{
	u32 *cells = m + OUT, *heads = m + 24, lane = threadIdx.x % WARP;

	for (u32 r = 0; lane == 0 && r < 4 * rounds; r++) {
		u32 put = atomicAdd(heads, 1), take, turn, x = mixed(put);
		four v;

		turn = put / 16;
		while (look4(cells + 4 * (put % 16)).x != 2 * turn)
			;
		put4(cells + 4 * (put % 16), 2 * turn + 1, x, ~x, put);
		take = atomicAdd(heads + 1, 1);
		turn = take / 16;
		do
			v = look4(cells + 4 * (take % 16));
		while (v.x != 2 * turn + 1);
		if (v.w != take || v.y != mixed(take) || v.z != ~v.y)
			error(m);
		put4(cells + 4 * (take % 16), 2 * turn + 2, 0, 0, 0);
		atomicAdd(m, 1);
	}
}

/* A flag that is released, and acquired, orders plain vectors; they are written over meanwhile. */
KERNEL message_fours(u32 *m, u32 rounds)
{
	u32 i = thread(), *slots = m + OUT, *flags = slots + 4 * 2048, other = (i + blockDim.x) % threads();

	for (u32 r = 1; r <= 4 * rounds; r++) {
		uint4 v = {i, r, i ^ r, ~i};

		((uint4 *)slots)[i] = v;
		release(flags + i, r);
		while (acquire(flags + other) < r)
			;
		v = ((uint4 *)slots)[other];
		if (v.x != other || v.y < r || v.z != (v.x ^ v.y) || v.w != ~other)
			error(m);
	}
	atomicAdd(m, rounds);
}
