/*
 * Playing traces through the caches of a device: the CTAs that an SM holds at once take turns,
 * warp by warp, one instruction each; what the SM's first cache lacks goes to the second one, by
 * turns, too. So results do not depend on the order in which CTAs were run, nor on the number of
 * workers.
 */
#ifndef PL_CACHE_PLAY_H
#define PL_CACHE_PLAY_H

#include "src/cache/constant.h"
#include "src/cache/team.h"
#include "src/cache/trace.h"

/* Counts of a kind of access at the first cache. Sectors, unless said otherwise. */
struct l1_counts {
	u64 requests; /* instructions of warps */
	u64 tags;     /* lines looked up */
	u64 sectors, hit, miss;
};

/* Of one instruction of the program. */
struct cache_insn {
	u64 requests, sectors, hit, miss; /* first cache */
	u64 second, second_miss;          /* sectors asked of the second cache, and fetched there */
	u64 dram;                         /* sectors read for it */
};

#define CACHE_PLACE_PAGE 4096u
enum { CACHE_PLACE_READ = 1, CACHE_PLACE_WRITTEN = 2 };

void cache_insn_add(struct cache_insn *to, const struct cache_insn *from);

/* Addresses whose accesses are counted apart, such as an allocation. */
struct cache_place {
	u64 first, end; /* lines */
	u64 base, bytes, number;
	u32 kind;  /* these four are the caller's */
	u32 pages; /* how many are told apart */
	u8 *page;  /* by page, what was done to it, CACHE_PLACE_READ and the like; NULL: none */
	struct cache_insn count;
};

struct cache_places {
	u32 len, last; /* places; where the last line was */
	struct cache_place elsewhere;
	struct cache_place at[]; /* by `first`; they do not overlap */
};

/* Where the line belongs. */
struct cache_place *cache_place_of(struct cache_places *p, u64 line);
/* The same places, with counts of 0, but the pages of `p`, which is borrowed. NULL: no memory. */
struct cache_places *cache_places_clone(const struct cache_places *p);
/* Add the counts of a clone. */
void cache_places_merge(struct cache_places *to, const struct cache_places *clone);
/* NULL is allowed. */
void cache_places_free(struct cache_places *p);
/* Sectors of a line that the first cache was asked for, and those that it has not. */
void cache_place_count(struct cache_places *p, u64 line, u32 sectors, u32 missed);

/* What is counted for a launch. */
struct cache_counts {
	struct l1_counts l1[CACHE_KINDS];
	u64 read_sectors;          /* that come from the second cache */
	u64 write_sectors;         /* that go to it, atomics among them */
	u64 surface_write_sectors; /* of these, stores to surfaces */
	u64 flushes;
	u64 past_sets; /* copies past the first cache: lines for each row that they go to */
	u64 constant_hit, constant_miss; /* requests */
	u64 code_sectors;                /* code and parameters that a cold launch reads */
	struct l2_counts l2;
};

/* Requests without data. */
enum { CACHE_OP_NORMAL = L2_OPS, CACHE_OP_DISCARD };

/* A request of an SM to the second cache. */
struct cache_request {
	u64 line;
	u32 turn;
	u32 pc;
	u32 bytes[CACHE_SECTORS];          /* reads: not zero where the sector is wanted */
	u16 count, requests;               /* of atomics */
	u16 warp;                          /* in the SM: those of one warp follow one another */
	u16 packets;                       /* of atomics */
	u8 op;                             /* enum l2_op, or one of those below */
	u8 hint;                           /* as of struct cache_policy */
	u8 class, fetch_sectors, aperture; /* the last as of l2_far */
	bool is_alone;                     /* never becomes one with another */
	bool is_constant;
};

struct second; /* second.h */

/* What else is counted, and who plays. Nothing of it is used by others at the same time. */
struct cache_tally {
	struct cache_insn *insns; /* by micro-op; NULL: not counted */
	u32 uops;
	struct cache_places *places; /* of all SMs of the launch; NULL: not counted */
	struct team *team;           /* NULL: the caller alone */
};

#define CACHE_GPCS 8u

/* The caches of an SM, and what it has asked of the second one. */
struct cache_sm {
	struct l1 l1;
	struct constant_cache constant;
	u32 turn;     /* in this launch */
	u32 number;   /* of the instruction */
	u16 warp;     /* that plays */
	u64 met;      /* parts of the far partition that it has asked: l2_contact, a bit each */
	u8 side, gpc; /* partition of the second cache, and group of SMs that joins requests */
	VEC(struct cache_request) out;
	size_t sent;                 /* of these */
	struct cache_played *played; /* CTAs that are resident: cache_sm_start */
	u32 ctas;
	bool runs;                 /* they have records */
	struct cache_shape *room;  /* for one that is read */
	struct cache_counts count; /* all but l2 */
	bool is_cut;
	struct cache_places *places; /* where it counts; NULL: nowhere */
};

/* false: the host has no memory left. */
bool cache_sm_init(struct cache_sm *sm, const struct l1_rules *rules);
void cache_sm_fini(struct cache_sm *sm);
/* A launch begins: the first cache is empty, counts are 0. */
void cache_sm_begin(struct cache_sm *sm);
/*
 * CTAs that are resident together, to be played by cache_play_round; the traces are borrowed up to
 * cache_sm_stop.
 */
void cache_sm_start(struct cache_sm *sm, struct cache_trace *const *trace, u32 len);
void cache_sm_stop(struct cache_sm *sm);
/*
 * Lines of local memory outlive a kernel: leave those in the first cache that an earlier run of
 * these CTAs would have left there.
 */
void cache_leave_local(struct cache_sm *sm, struct cache_trace *const *trace, u32 len);
/*
 * Where the SMs of a launch of so many CTAs lie. Small launches spread over the chip, those that
 * fill it have neighbouring CTAs in one group and half of the chip.
 */
void cache_place_sms(struct cache_sm *sm, u32 sms, u64 ctas, u32 partitions);
/*
 * Play what the SMs have started, up to its end. Requests reach the second cache by turns, and
 * within a turn a warp of each SM after the other; a few turns are played at a time, so that few
 * requests are kept. Requests of a group of SMs for the same line that are near in time become one,
 * if the device joins them (l2_rules.joins).
 */
void cache_play_round(struct second *s, struct cache_sm *sm, u32 sms);
/* Add up: the SM's counts to `to`. */
void cache_counts_add(struct cache_counts *to, const struct cache_counts *from);

#endif
