/*
 * Counting as an H200's counters do, measured with Nsight Compute 2025.3:
 *  - requests are instructions of warps, whatever their width; sectors are the distinct 32-byte
 *    pieces of an instruction;
 *  - atomics are not merged: 32 lanes on one word are 32 sectors, on consecutive words 4;
 *  - shared memory has 32 banks of 4 bytes; lanes on the same word of a bank share it. A load of 16
 *    bytes goes by halves of the warp, a store of 16 by quarters, 8 bytes by halves;
 *  - a conflict is a pass beyond the ideal: 1 for loads of up to 8 bytes (so coalesced ones of 8,
 *    which take 2, count one conflict), 4 of 16; for stores 1, 2 of 8, 4 of 16.
 */
#include "src/watch/counters.h"

#define SECTOR 32u
#define BANKS 32u
#define WORD 4u

static const struct {
	const char *name, *what;
} metrics[WATCH_METRICS] = {
#define METRIC(id, name, what) {name, what},
#include "src/watch/metrics.def"
#undef METRIC
};

const char *watch_metric_name(u32 metric)
{
	return metric < WATCH_METRICS ? metrics[metric].name : NULL;
}

const char *watch_metric_what(u32 metric)
{
	return metric < WATCH_METRICS ? metrics[metric].what : NULL;
}

/* ---- global and local memory ---- */

/* Distinct values among at most 32 * 8; order does not matter. */
struct set {
	u64 at[256];
	u32 len;
};

static bool set_add(struct set *s, u64 x)
{
	/* Neighbouring lanes are often in the same place. */
	for (u32 i = s->len; i-- > 0;)
		if (s->at[i] == x)
			return false;
	s->at[s->len++] = x;
	return true;
}

static u32 sectors_of(const u64 *address, u32 mask, u32 width, struct set *s)
{
	for (u32 m = mask; m; m &= m - 1) {
		u64 a = address[__builtin_ctz(m)];

		for (u64 k = a / SECTOR; k <= (a + width - 1) / SECTOR; k++)
			set_add(s, k);
	}
	return s->len;
}

u32 watch_sectors(const u64 *address, u32 mask, u32 width)
{
	struct set s;

	s.len = 0;
	return sectors_of(address, mask, width ? width : 1, &s);
}

u32 watch_atomic_sectors(const u64 *address, u32 mask, u32 width)
{
	struct set s;
	u32 sum = 0;

	s.len = 0;
	sectors_of(address, mask, width ? width : 1, &s);
	for (u32 i = 0; i < s.len; i++) {
		u32 most = 0;

		for (u32 m = mask; m; m &= m - 1) {
			u64 a = address[__builtin_ctz(m)];
			u32 same = 0;

			for (u32 k = mask; k && a / SECTOR == s.at[i]; k &= k - 1)
				same += address[__builtin_ctz(k)] == a;
			most = same > most ? same : most;
		}
		sum += most ? most : 1;
	}
	return sum;
}

u32 watch_local_sectors(const u64 *address, u32 mask, u32 width)
{
	struct set s;

	s.len = 0;
	for (u32 m = mask; m; m &= m - 1) {
		u32 l = (u32)__builtin_ctz(m);
		u64 a = address[l];

		for (u64 w = a / WORD; w <= (a + width - 1) / WORD; w++)
			set_add(&s, (w * WARP_LANES + l) * WORD / SECTOR);
	}
	return s.len;
}

/* ---- shared memory ---- */

/* Passes for the lanes of one part of a warp: the most distinct words in a bank. */
static u32 part_wavefronts(const u64 *address, u32 mask, u32 width)
{
	u64 word[BANKS][WARP_LANES * 4];
	u8 len[BANKS] = {0};
	u32 most = 0;

	for (u32 m = mask; m; m &= m - 1) {
		u64 a = address[__builtin_ctz(m)];

		for (u64 w = a / WORD; w <= (a + width - 1) / WORD; w++) {
			u32 b = (u32)(w % BANKS), i = 0;

			while (i < len[b] && word[b][i] != w)
				i++;
			if (i == len[b])
				word[b][len[b]++] = w;
			most = len[b] > most ? len[b] : most;
		}
	}
	return most;
}

u32 watch_wavefronts(const u64 *address, u32 mask, u32 width, bool store)
{
	u32 lanes = width <= 4 ? 32 : width <= 8 || !store ? 16 : 8, sum = 0;

	for (u32 l = 0; l < WARP_LANES; l += lanes)
		sum += part_wavefronts(address,
				       mask & (u32)((((u64)1 << lanes) - 1) << l), width);
	return sum;
}

u32 watch_ideal_wavefronts(u32 width, bool store)
{
	return width > 8 ? 4 : width > 4 && store ? 2 : 1;
}

/* ---- the observer ---- */

static void add(struct watch_counters *c, enum watch_metric m, u64 n)
{
	__atomic_fetch_add(&c->value[m], n, __ATOMIC_RELAXED);
}

static void on_step(void *user, const struct gang *g, const struct insn *in)
{
	struct watch_counters *c = user;
	u64 threads = 0, on = 0, warps = 0;

	if (!exec_is_first(g->env->program, (u32)(in - g->insns)))
		return;
	for (u32 w = 0; w < exec_step_warps(g); w++) {
		u32 mask = exec_step_mask(g, w);

		warps += mask != 0;
		threads += (u32)__builtin_popcount(mask);
		on += (u32)__builtin_popcount(exec_step_passes(g, in, w));
	}
	add(c, WATCH_inst, warps);
	add(c, WATCH_thread_inst, threads);
	add(c, WATCH_thread_inst_on, on);
}

static void count_global(struct watch_counters *c, const struct exec_access *a, u32 width)
{
	switch ((enum exec_access_kind)a->kind) {
	case ACCESS_LOAD:
		add(c, WATCH_global_ld_requests, 1);
		add(c, WATCH_global_ld_sectors, watch_sectors(a->address, a->mask, width));
		break;
	case ACCESS_STORE:
		add(c, WATCH_global_st_requests, 1);
		add(c, WATCH_global_st_sectors, watch_sectors(a->address, a->mask, width));
		break;
	case ACCESS_ATOM:
		add(c, WATCH_global_atom_requests, 1);
		add(c, WATCH_global_atom_sectors, watch_atomic_sectors(a->address, a->mask, width));
		break;
	case ACCESS_RED:
		add(c, WATCH_global_red_requests, 1);
		add(c, WATCH_global_red_sectors, watch_atomic_sectors(a->address, a->mask, width));
		break;
	default:
		break;
	}
}

static void count_shared(struct watch_counters *c, const struct exec_access *a, u32 width)
{
	bool store = a->kind == ACCESS_STORE;
	u32 n, ideal = watch_ideal_wavefronts(width, store);

	if (a->kind != ACCESS_LOAD && !store)
		return;
	n = watch_wavefronts(a->address, a->mask, width, store);
	add(c, store ? WATCH_shared_st_wavefronts : WATCH_shared_ld_wavefronts, n);
	add(c, store ? WATCH_shared_st_conflicts : WATCH_shared_ld_conflicts,
	    n > ideal ? n - ideal : 0);
}

static void on_access(void *user, const struct exec_access *a)
{
	struct watch_counters *c = user;
	u32 width = (u32)a->size * a->count;
	bool store = a->kind == ACCESS_STORE;

	switch (a->space) {
	case MEM_GLOBAL:
		count_global(c, a, width);
		break;
	case MEM_SHARED:
		count_shared(c, a, width);
		break;
	case MEM_LOCAL:
		add(c, store ? WATCH_local_st_requests : WATCH_local_ld_requests, 1);
		add(c, store ? WATCH_local_st_sectors : WATCH_local_ld_sectors,
		    watch_local_sectors(a->address, a->mask, width));
		break;
	default:
		break;
	}
}

static void on_sync(void *user, const struct exec_sync *s)
{
	if (s->op == OP_bar_sync || s->op == OP_bar_arrive || s->op == OP_bar_red)
		add(user, WATCH_barriers, 1);
}

void watch_counters_init(struct watch_counters *c)
{
	memset(c->value, 0, sizeof(c->value));
	c->observer = (struct exec_observer){
		.user = c, .step = on_step, .access = on_access, .sync = on_sync};
}
