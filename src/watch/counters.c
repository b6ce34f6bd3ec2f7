/*
 * Counting as an H200's counters do, measured with Nsight Compute 2025.3 (tests/counters):
 *  - requests are instructions of warps, whatever their width; sectors are the distinct 32-byte
 *    pieces of an instruction. Local memory is interleaved by words: a request for each word;
 *  - atomics are not merged: 32 lanes on one word are 32 sectors, on consecutive words 4;
 *  - shared memory has 32 banks of 4 bytes. Lanes that read the same word of a bank share it, lanes
 *    of atomics and copies do not. An instruction goes by parts of the warp: see split;
 *  - a conflict is a pass of a part beyond its first;
 *  - the data of the first cache has the same banks: data_passes;
 *  - copies through the first cache need banks of its lines, too; those past it go in packets
 *    (copies.h). Some atomics on shared memory are loops (retry.h).
 * Deviation: atomics of 8 bytes that find a minimum or maximum count as loads; hardware adds an
 * exchange for each lane that changes the value.
 */
#include "src/watch/counters.h"
#include "src/watch/insns.h"

#include "src/cache/copies.h"
#include "src/watch/lanes_apart.h"
#include "src/watch/retry.h"

#define SECTOR 32u
#define ROW_BYTES 128u
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

/* Distinct values among at most 32 * 8; those of each place, by their lowest bits, in a chain. */
#define SET_PLACES 64u

struct set {
	u64 at[256];
	u16 next[256], first[SET_PLACES]; /* + 1 */
	u64 taken;                        /* places: the others' first is not valid */
	u32 len;
};

/* The number of a value, which is the last one if it is new. */
static u32 set_add(struct set *s, u64 x)
{
	u32 place = (u32)(x ^ x >> 6) % SET_PLACES;
	u16 first = s->taken >> place & 1 ? s->first[place] : 0;

	for (u32 i = first; i; i = s->next[i - 1])
		if (s->at[i - 1] == x)
			return i - 1;
	s->at[s->len] = x;
	s->next[s->len] = first;
	s->first[place] = (u16)++s->len;
	s->taken |= (u64)1 << place;
	return s->len - 1;
}

static void set_begin(struct set *s)
{
	s->len = 0;
	s->taken = 0;
}

/* Pieces of `unit` bytes, a power of two, that an access touches. */
static u32 pieces_of(u64 address, u64 bytes, u32 unit)
{
	return (u32)((address + bytes - 1) / unit - address / unit + 1);
}

/* unit: a power of two. */
static u32 distinct_pieces(const u64 *address, u32 mask, u32 width, u32 unit)
{
	u64 last = UINT64_MAX, key[WARP_LANES];
	struct set s;

	if (watch_lane_keys(address, mask, width, unit, key))
		return (u32)__builtin_popcount(watch_lanes_distinct(key, mask));
	set_begin(&s);
	for (u32 m = mask; m; m &= m - 1) {
		u64 a = address[__builtin_ctz(m)];

		/* Neighbouring lanes are often in the same place. */
		for (u64 k = a / unit; k <= (a + width - 1) / unit; last = k++)
			if (k != last)
				set_add(&s, k);
	}
	return s.len;
}

u32 watch_sectors(const u64 *address, u32 mask, u32 width)
{
	u64 stretch;

	width = width ? width : 1;
	stretch = watch_lane_stretch(address, mask, width);
	return stretch ? pieces_of(address[0], stretch, SECTOR)
		       : distinct_pieces(address, mask, width, SECTOR);
}

/* How many lanes there are on each address. */
static void count_at_places(const u64 *address, u32 mask, struct set *s, u8 *lanes)
{
	set_begin(s);
	for (u32 m = mask; m; m &= m - 1) {
		u32 len = s->len, i = set_add(s, address[__builtin_ctz(m)]);

		lanes[i] = (u8)(s->len > len ? 1 : lanes[i] + 1);
	}
}

/* Of each sector, as many as there are lanes on its busiest address, and at least one. */
u32 watch_atomic_sectors(const u64 *address, u32 mask, u32 width)
{
	struct set places, sectors;
	u8 lanes[256], most[256];
	u32 sum = 0;

	width = width ? width : 1;
	if (watch_lane_stretch(address, mask, width) > width)
		return pieces_of(address[0], (u64)WARP_LANES * width, SECTOR);
	count_at_places(address, mask, &places, lanes);
	set_begin(&sectors);
	for (u32 i = 0; i < places.len; i++) {
		u64 a = places.at[i], first = a / SECTOR;

		for (u64 k = first; k <= (a + width - 1) / SECTOR; k++) {
			u32 len = sectors.len, j = set_add(&sectors, k);
			u8 n = k == first ? lanes[i] : 1, old = sectors.len > len ? 0 : most[j];

			most[j] = n > old ? n : old;
		}
	}
	for (u32 i = 0; i < sectors.len; i++)
		sum += most[i];
	return sum;
}

u32 watch_local_sectors(const u64 *address, u32 mask, u32 width)
{
	u64 last = UINT64_MAX;
	struct set s;

	set_begin(&s);
	for (u32 m = mask; m; m &= m - 1) {
		u32 l = (u32)__builtin_ctz(m);
		u64 a = address[l];

		for (u64 w = a / WORD; w <= (a + width - 1) / WORD; w++) {
			u64 k = (w * WARP_LANES + l) * WORD / SECTOR;

			if (k != last)
				set_add(&s, k);
			last = k;
		}
	}
	return s.len;
}

/* ---- shared memory ---- */

/* Do the words of all lanes lie within as many as there are banks? Each bank has one then. */
static bool is_within_banks(const u64 *address, u32 mask, u32 width)
{
	u64 first = UINT64_MAX, last = 0;

	for (u32 m = mask; m; m &= m - 1) {
		u64 a = address[__builtin_ctz(m)];

		first = a < first ? a : first;
		last = a > last ? a : last;
	}
	return (last + width - 1) / WORD - first / WORD < BANKS;
}

/*
 * Passes for the lanes of one part of a warp: the most words in a bank, each one once or, where
 * lanes do not share, once for each lane.
 */
static u32 part_wavefronts(const u64 *address, u32 mask, u32 width, bool share)
{
	u8 words[BANKS] = {0};
	struct set s;
	u32 most = 0;

	if (mask && share && is_within_banks(address, mask, width))
		return 1;
	set_begin(&s);
	for (u32 m = mask; m; m &= m - 1) {
		u64 a = address[__builtin_ctz(m)];

		for (u64 w = a / WORD; w <= (a + width - 1) / WORD; w++) {
			u32 b = (u32)(w % BANKS), len = s.len;

			if (share)
				set_add(&s, w);
			words[b] = (u8)(words[b] + (!share || s.len > len));
			most = words[b] > most ? words[b] : most;
		}
	}
	return most;
}

/* Is each lane alone, or at the same address as the lane `apart` from it? */
static bool in_pairs(const u64 *address, u32 mask, u32 apart)
{
	for (u32 m = mask; m; m &= m - 1) {
		u32 l = (u32)__builtin_ctz(m);

		if (mask >> (l ^ apart) & 1 && address[l] != address[l ^ apart])
			return false;
	}
	return true;
}

/* Is each lane alone or equal to its neighbour, or to the one beside that? */
static bool are_paired(const u64 *address, u32 mask)
{
	return in_pairs(address, mask, 1) || in_pairs(address, mask, 2);
}

static u32 lanes_from(u32 mask, u32 first, u32 n)
{
	return mask & (u32)((((u64)1 << n) - 1) << first);
}

/*
 * How many lanes go together: all for up to 4 bytes; else as many as fill the banks once. Two
 * halves of a load of 8 bytes, or two quarters of one of 16, go together when their lanes are equal
 * in pairs.
 */
static u32 split_access(const u64 *address, u32 mask, u32 first, u32 width, enum watch_shared how)
{
	u32 half = lanes_from(mask, first & ~15u, 16);

	if (how == WATCH_MATRIX)
		return 8;
	if (width <= 4)
		return 32;
	if (width <= 8)
		return how == WATCH_LOAD && are_paired(address, mask) ? 32 : 16;
	if (how == WATCH_LOAD && !(first & 15) && are_paired(address, half))
		return 16;
	return 8;
}

struct watch_passes watch_wavefronts(const u64 *address, u32 mask, u32 width, enum watch_shared how)
{
	bool share = how == WATCH_LOAD || how == WATCH_STORE || how == WATCH_MATRIX;
	struct watch_passes p = {0, 0};
	u32 lanes;

	for (u32 l = 0; l < WARP_LANES; l += lanes) {
		lanes = split_access(address, mask, l, width, how);
		u32 n = part_wavefronts(address, lanes_from(mask, l, lanes), width, share);

		p.passes += n;
		p.parts += n != 0;
	}
	return p;
}

/* Passes that so many lanes would need if each word had a bank. */
static u32 ideal_passes(u32 mask, u32 width)
{
	return ((u32)__builtin_popcount(mask) * width + ROW_BYTES - 1) / ROW_BYTES;
}

/* Lines that the first cache looks up for one pass over its data. */
#define LINES_OF_A_PASS 4u

/* The most lanes on a bank, of those that are told. */
static u32 most_in_a_bank(const u64 *address, u32 lanes)
{
	u8 len[BANKS] = {0}, most = 0;

	if (lanes == FULL_MASK)
		for (u32 l = 0; l < WARP_LANES; l++)
			len[address[l] / WORD % BANKS]++;
	for (u32 m = lanes == FULL_MASK ? 0 : lanes; m; m &= m - 1)
		len[address[__builtin_ctz(m)] / WORD % BANKS]++;
	for (u32 b = 0; b < BANKS; b++)
		most = len[b] > most ? len[b] : most;
	return most;
}

/* Of the lanes that are on one word one each. */
static u32 lanes_of_words(const u64 *address, u32 mask)
{
	u64 word[WARP_LANES];

	for (u32 l = 0; l < WARP_LANES; l++)
		word[l] = address[l] / WORD;
	return watch_lanes_distinct(word, mask);
}

/*
 * Passes over the data of the first cache that an access of global memory takes: its banks are
 * those of shared memory, but each pass gives 128 bytes at most, of four lines at most.
 */
static u32 data_passes(const u64 *address, u32 mask, u32 width, enum watch_shared how)
{
	u32 least = how == WATCH_LOAD ? ideal_passes(mask, width) : 1, n, lines;

	if (width > WORD)
		return (u32)max_u64(least, watch_wavefronts(address, mask, width, how).passes);
	n = most_in_a_bank(address, lanes_of_words(address, mask));
	if (n > WARP_LANES / LINES_OF_A_PASS - 1 || how != WATCH_LOAD)
		return n;
	lines = distinct_pieces(address, mask, width, ROW_BYTES);
	return (u32)max_u64(n, (lines + LINES_OF_A_PASS - 1) / LINES_OF_A_PASS);
}

/* The same where lanes touch a stretch. */
static u32 stretch_passes(u64 first, u64 stretch, u32 width, enum watch_shared how)
{
	u32 least = how == WATCH_LOAD ? ideal_passes(FULL_MASK, width) : 1;

	return (u32)max_u64(least, width > WORD && first % ROW_BYTES && stretch > width
					   ? pieces_of(first, stretch, ROW_BYTES)
					   : stretch / ROW_BYTES);
}

/* The same where each lane has a line. */
static u32 scattered_passes(const u64 *address, enum watch_shared how)
{
	u32 n = most_in_a_bank(address, FULL_MASK);

	return how == WATCH_LOAD ? (u32)max_u64(n, WARP_LANES / LINES_OF_A_PASS) : n;
}

struct watch_passes watch_copy_wavefronts(const u64 *from, const u64 *to, u32 mask, u32 width)
{
	struct watch_passes p = {0, 0};
	u32 lanes;

	for (u32 l = 0; l < WARP_LANES; l += lanes) {
		lanes = split_access(to, mask, l, width, WATCH_COPY);
		u32 part = lanes_from(mask, l, lanes);
		u32 n = part_wavefronts(to, part, width, false);
		u32 reads = from ? part_wavefronts(from, part, width, false) : 0;

		p.passes += reads > n ? reads : n;
		p.parts += n != 0;
	}
	return p;
}

/* ---- the observer ---- */

static void count_more(struct watch_counters *c, enum watch_metric m, u64 n)
{
	__atomic_fetch_add(&c->value[m], n, __ATOMIC_RELAXED);
}

static void count_step(void *user, const struct gang *g, const struct uop *in)
{
	struct watch_counters *c = user;
	u64 threads = 0, on = 0, warps = 0;

	/* What functions begin with belongs to none of their instructions. */
	if (in->ir >= g->env->program->funcs[in->func].func->insns.len ||
	    !exec_is_first(g->env->program, (u32)(in - g->uops)))
		return;
	for (u32 w = 0; w < exec_step_warps(g); w++) {
		u32 mask = exec_step_mask(g, w);

		warps += mask != 0;
		threads += (u32)__builtin_popcount(mask);
		on += (u32)__builtin_popcount(exec_step_passes(g, in, w));
	}
	count_more(c, WATCH_inst, warps);
	count_more(c, WATCH_thread_inst, threads);
	count_more(c, WATCH_thread_inst_on, on);
}

static void count_insns(void *user, const struct program *p, u64 grid_id,
			const struct exec_count *counts)
{
	struct watch_insns insns = watch_insns_of(p, counts);

	(void)grid_id;
	for (u32 i = 0; i < p->insn_len; i++) {
		struct watch_insn x = watch_insn_at(&insns, i);

		count_more(user, WATCH_inst, x.warps);
		count_more(user, WATCH_thread_inst, x.threads);
		count_more(user, WATCH_thread_inst_on, x.threads_on);
	}
}

/* What is counted for an access of global memory, of one kind. */
static const struct {
	u8 requests, sectors;
	bool atomic;
} global_metrics[] = {
	[ACCESS_LOAD] = {WATCH_global_ld_requests, WATCH_global_ld_sectors, false},
	[ACCESS_STORE] = {WATCH_global_st_requests, WATCH_global_st_sectors, false},
	[ACCESS_ATOM] = {WATCH_global_atom_requests, WATCH_global_atom_sectors, true},
	[ACCESS_RED] = {WATCH_global_red_requests, WATCH_global_red_sectors, true},
	[ACCESS_COPY_READ] = {WATCH_copy_requests, WATCH_copy_sectors, false},
};

static void tally_add(struct watch_tally *t, u32 metric, u32 n)
{
	if (metric < WATCH_METRICS) {
		t->metric[t->len] = (u8)metric;
		t->n[t->len++] = n;
	}
}

static void tally_packets(struct watch_tally *t, const struct exec_access *a)
{
	struct copy_packets p;

	cache_copy_packets(a->address, a->other, a->mask, &p);
	t->sectors = p.moved;
	t->passes = p.len;
	t->parts = p.sectors;
	tally_add(t, WATCH_copy_wavefronts, p.len);
}

/* Sectors and passes of a load or store. */
static void tally_plain(struct watch_tally *t, const struct exec_access *a, u32 width)
{
	enum watch_shared how = a->kind == ACCESS_LOAD ? WATCH_LOAD : WATCH_STORE;
	u64 stretch = watch_lane_stretch(a->address, a->mask, width);

	if (stretch) {
		t->sectors = pieces_of(a->address[0], stretch, SECTOR);
		t->passes = stretch_passes(a->address[0], stretch, width, how);
	} else if (width <= WORD && watch_lanes_apart(a->address, a->mask, width)) {
		t->sectors = WARP_LANES;
		t->passes = scattered_passes(a->address, how);
	} else {
		t->sectors = distinct_pieces(a->address, a->mask, width, SECTOR);
		t->passes = data_passes(a->address, a->mask, width, how);
	}
}

static void tally_global(struct watch_tally *t, const struct exec_access *a, u32 width)
{
	if (a->kind >= ARRAY_LEN(global_metrics))
		return;
	t->requests = 1;
	if (a->kind == ACCESS_LOAD || a->kind == ACCESS_STORE)
		tally_plain(t, a, width ? width : 1);
	else if (a->kind == ACCESS_COPY_READ && a->bypass && a->other)
		tally_packets(t, a);
	else
		t->sectors = global_metrics[a->kind].atomic
				     ? watch_atomic_sectors(a->address, a->mask, width)
				     : watch_sectors(a->address, a->mask, width);
	tally_add(t, global_metrics[a->kind].requests, 1);
	tally_add(t, global_metrics[a->kind].sectors, t->sectors);
}

/* The same for shared memory; a conflict metric of WATCH_METRICS: there is none. */
static const struct {
	u8 how, passes, conflicts;
} shared_metrics[] = {
	[ACCESS_LOAD] = {WATCH_LOAD, WATCH_shared_ld_wavefronts, WATCH_shared_ld_conflicts},
	[ACCESS_STORE] = {WATCH_STORE, WATCH_shared_st_wavefronts, WATCH_shared_st_conflicts},
	[ACCESS_ATOM] = {WATCH_ATOMIC, WATCH_shared_atom_wavefronts, WATCH_shared_atom_conflicts},
	[ACCESS_RED] = {WATCH_ATOMIC, WATCH_shared_atom_wavefronts, WATCH_shared_atom_conflicts},
	[ACCESS_COPY_READ] = {WATCH_COPY, WATCH_METRICS, WATCH_METRICS},
	[ACCESS_COPY_WRITE] = {WATCH_COPY, WATCH_copy_wavefronts, WATCH_METRICS},
	[ACCESS_MATRIX_LOAD] = {WATCH_MATRIX, WATCH_matrix_ld_wavefronts, WATCH_METRICS},
	[ACCESS_MATRIX_STORE] = {WATCH_MATRIX, WATCH_matrix_st_wavefronts, WATCH_METRICS},
};

/* A loop's turns: passes of its loads, and two for each half of the warp that exchanges. */
static void tally_retry(struct watch_tally *t, const struct exec_access *a, u32 width,
			bool exchanges)
{
	u32 rest = a->mask, halves;

	t->insts = 0;
	do {
		struct watch_passes p = watch_wavefronts(a->address, rest, width, WATCH_LOAD);
		u32 ideal = ideal_passes(rest, width);

		halves = width > WORD ? (rest & 0xffff) && rest >> 16 ? 2 : 1 : 1;
		t->loads.insts++;
		t->loads.passes += p.passes;
		t->loads.parts += p.parts;
		t->loads.ideal += ideal < p.passes ? ideal : p.passes;
		if (!exchanges)
			break;
		t->insts++;
		t->passes += 2 * halves;
		t->ideal += 2 * ideal;
		rest = watch_retry_rest(a->address, rest, width);
	} while (rest);
	t->parts = t->passes;
	tally_add(t, WATCH_shared_ld_wavefronts, t->loads.passes);
	tally_add(t, WATCH_shared_ld_conflicts, t->loads.passes - t->loads.parts);
}

static void tally_shared(struct watch_tally *t, const struct exec_access *a, u32 width)
{
	bool is_atomic = a->kind == ACCESS_ATOM || a->kind == ACCESS_RED;
	enum shared_atomic how = is_atomic ? watch_shared_atomic(a) : SHARED_ATOMIC_PLAIN;
	struct watch_passes p;

	t->requests = 1;
	if (a->bypass) { /* passes are counted where it reads */
		t->ideal = ideal_passes(a->mask, width);
		return;
	}
	if (how == SHARED_ATOMIC_RETRY || how == SHARED_ATOMIC_LOAD) {
		tally_retry(t, a, width, how == SHARED_ATOMIC_RETRY);
	} else {
		p = a->kind == ACCESS_COPY_WRITE
			    ? watch_copy_wavefronts(a->other, a->address, a->mask, width)
			    : watch_wavefronts(a->address, a->mask, width,
					       shared_metrics[a->kind].how);
		t->passes = p.passes;
		t->parts = p.parts;
		t->ideal = ideal_passes(a->mask, width);
		t->ideal = t->ideal < t->passes ? t->ideal : t->passes;
		tally_add(t, shared_metrics[a->kind].conflicts, p.passes - p.parts);
		if (how == SHARED_ATOMIC_CAS) {
			t->ideal *= 2;
			t->parts += t->passes;
			t->passes *= 2;
		}
	}
	tally_add(t, shared_metrics[a->kind].passes, t->passes);
}

void watch_tally_access(const struct exec_access *a, struct watch_tally *t)
{
	u32 width = (u32)a->size * a->count;
	bool store = a->kind == ACCESS_STORE;

	*t = (struct watch_tally){.insts = 1};
	switch (a->space) {
	case MEM_GLOBAL:
		tally_global(t, a, width);
		break;
	case MEM_SHARED:
		tally_shared(t, a, width);
		break;
	case MEM_LOCAL:
		t->requests = width > WORD ? width / WORD : 1;
		t->sectors = watch_local_sectors(a->address, a->mask, width);
		t->passes = (u32)max_u64(t->requests,
					 (t->sectors + LINES_OF_A_PASS - 1) / LINES_OF_A_PASS);
		tally_add(t, store ? WATCH_local_st_requests : WATCH_local_ld_requests,
			  t->requests);
		tally_add(t, store ? WATCH_local_st_sectors : WATCH_local_ld_sectors, t->sectors);
		break;
	default:
		break;
	}
}

static void count_access(void *user, const struct exec_access *a)
{
	struct watch_tally t;

	watch_tally_access(a, &t);
	for (u32 i = 0; i < t.len; i++)
		count_more(user, t.metric[i], t.n[i] * (a->more + 1));
}

static void count_sync(void *user, const struct exec_sync *s)
{
	if (s->op == OP_bar_sync || s->op == OP_bar_arrive || s->op == OP_bar_red)
		count_more(user, WATCH_barriers, 1);
}

void watch_counters_init(struct watch_counters *c)
{
	memset(c->value, 0, sizeof(c->value));
	c->observer = (struct exec_observer){.user = c,
					     .step = count_step,
					     .access = count_access,
					     .alike = count_access,
					     .sync = count_sync};
}

void watch_counters_fuse(struct watch_counters *c)
{
	c->observer.step = NULL;
	c->observer.counted = count_insns;
	c->observer.fuses = true;
}
