/*
 * The second-level cache of a device and the DRAM behind it, by sectors, as measured on an H100
 * and an H200: reads that miss fetch an aligned piece, writes leave byte masks and fetch nothing,
 * dirty lines stay until they are pushed out. On devices with two partitions every line has a home
 * in one of them; an SM of the other side looks there first, and keeps a copy on its own.
 *
 * Not for several threads at once, but by shards.
 */
#ifndef PL_CACHE_L2_H
#define PL_CACHE_L2_H

#include "src/cache/l1.h"
#include "src/cache/window.h"

struct l2_rules {
	u64 bytes;
	u32 partitions;  /* 1 or 2 */
	u32 fetch_bytes; /* that a read which misses fetches: 32, 64, 128 */
	u64 set_aside;   /* bytes for persisting lines; 0: the device has none */
	u32 joins;       /* requests for a line that become one on the way here; 1: none do */
};

/* Which lines go first: the programming guide, L2 access management. */
enum l2_class {
	L2_STREAMING,
	L2_NORMAL, /* leaves the class of a line that is there */
	L2_PERSISTING,
	L2_CLASSES,
	L2_DEMOTE = L2_CLASSES, /* of requests: normal, and the line becomes so */
};

enum l2_op { L2_READ, L2_WRITE, L2_ATOM, L2_RED, L2_PREFETCH, L2_OPS };

/* Behind the second cache. */
enum l2_aperture { L2_DEVICE, L2_SYSTEM /* the host's memory */, L2_PEER, L2_APERTURES };

/* A request's aperture is one of these; of the memory of device n it is L2_PEER + n. */
#define L2_LINK_HOST 32u
#define L2_LINKS (L2_LINK_HOST + 1)

/* Counts, in sectors unless said otherwise. */
struct l2_counts {
	u64 requests[L2_OPS]; /* of SMs */
	u64 sectors[L2_OPS];
	/*
	 * A read's misses are the sectors that were fetched for it: more than it asked for when it
	 * asked for a part of a piece.
	 */
	u64 hit[L2_OPS], miss[L2_OPS];
	u64 request_hit[L2_OPS]; /* requests whose line is there, whatever its sectors */
	/* Between the partitions: sectors, how many of them the line's home has, requests. */
	u64 fabric[L2_OPS], fabric_hit[L2_OPS], fabric_requests[L2_OPS];
	u64 fabric_request_hit[L2_OPS];
	/*
	 * Messages without sectors of SMs to the far partition: two to each pair of its slices, the
	 * first time that an SM asks there in a launch (l2_contact).
	 */
	u64 contacts;
	u64 dram_read, dram_write;
	u64 far[L2_APERTURES][L2_OPS]; /* of memory that is not the device's: nothing of it stays */
	/* Sectors that come, and that go, by device, and then of the host. */
	u64 link[L2_LINKS][2];
	u64 class_hit[L2_CLASSES], class_sectors[L2_CLASSES];
};

#define L2_TAG_BITS 46u
#define L2_TOUCHED_BITS 12u

struct l2_line {
	_Alignas(32) u32 valid[CACHE_SECTORS];
	u64 tag : L2_TAG_BITS; /* line and side; see l2.c */
	/* Of persisting lines: l2_set.fills / L2_SET_LINES when last asked for. */
	u64 touched : L2_TOUCHED_BITS;
	u64 dirty : 4; /* sectors, a bit each */
	u64 class : 2;
	/* + 1: in which the home got it for the other side; what its own side asks then misses. */
	u32 far_turn;
	u32 used; /* when it was last: l2.clock */
};

#define L2_SET_LINES 128u

/* A set, apart from its lines: what is looked through. */
struct l2_ways {
	_Alignas(64) u8 mark[L2_SET_LINES]; /* by slot: of the tag's hash; 0: there is no line */
	u8 order[L2_SET_LINES];             /* slots, as they were when the set was sorted */
};

struct l2_set {
	u8 len;                  /* lines */
	u8 of_class[L2_CLASSES]; /* how many of them */
	u8 next;                 /* place in the order: those before it have been used since */
	u32 sorted;              /* when: l2.clock */
	u32 fills;               /* lines that came, since the beginning */
};

/*
 * Lines are dealt to shards, each of which has sets of its own: what is done to lines of one
 * changes nothing of another, so threads may play a shard each. Small caches have one.
 */
#define L2_SHARDS 16u

/* Where a line is looked for: its set, and what its slot has in l2_ways.mark. */
struct l2_at {
	u64 tag;
	u32 set;
	u8 mark;
};

/* Of a request that comes: on the side of its SM, and at home. Tags begin with UINT64_MAX. */
struct l2_near {
	struct l2_at side, home;
};

struct l2 {
	struct l2_rules rules;
	u32 turn; /* in which requests come (play.h) */
	u32 sets, shards;
	u32 shard_sets;       /* of each shard */
	u64 set_inverse;      /* 2^64 / shard_sets */
	u32 clock;            /* of uses of lines */
	struct l2_line *slot; /* sets x L2_SET_LINES */
	struct l2_ways *ways; /* by set */
	struct l2_set *set;
	u32 persisting_most;          /* of a set */
	struct l2_window window;      /* of the launch */
	const struct l2_hints *hints; /* of the launch, borrowed; NULL: it has none */
	const struct l2_near *near;   /* of the request that is played, borrowed; NULL: not known */
	struct l2_counts count;
};

/* false: the host has no memory left; `c` is then empty and l2_fini does nothing. */
bool l2_init(struct l2 *c, const struct l2_rules *rules);
void l2_fini(struct l2 *c);
/* The shard of a line, below c->shards. */
u32 l2_shard(const struct l2 *c, u64 line);
/*
 * Threads play shards by copies of *c that share its lines, and have a clock and counts of their
 * own. Before each 2^25 requests or so of a shard: the clock does not come to its end. The last
 * clock of all copies is then that of *c.
 */
void l2_wind(struct l2 *c, u32 shard);
void l2_counts_add(struct l2_counts *to, const struct l2_counts *from);
/* What the program sets aside for persisting lines; 0: as the rules say. */
void l2_set_aside(struct l2 *c, u64 bytes);

/*
 * A request of an SM on side `side` (0 .. partitions - 1) for the sectors `sectors` (a bit each)
 * of a line. fetch_sectors: the piece to fetch, 8: the line beside it, too; 0: rules.fetch_bytes.
 */
void l2_read(struct l2 *c, u64 line, u32 sectors, u32 side, u32 fetch_sectors, enum l2_class class);
void l2_write(struct l2 *c, u64 line, const u32 bytes[CACHE_SECTORS], u32 side,
	      enum l2_class class);
/*
 * Sectors and requests of an atomic to count, since lanes on one word follow one another. packets:
 * of these requests so many do not wait for each other, and all miss a line that is not there.
 */
struct l2_lanes {
	u32 count, requests, packets;
};

/*
 * Sectors come to the line's home. The other side looks at its copy first, but gets none, so that
 * what reads them there misses, and finds them at home (measured on an H200).
 */
void l2_prefetch(struct l2 *c, u64 line, u32 sectors, u32 side, enum l2_class class);

/* op: L2_ATOM or L2_RED. */
void l2_atomic(struct l2 *c, u64 line, u32 sectors, u32 side, enum l2_op op, enum l2_class class,
	       const struct l2_lanes *lanes);
/* applypriority: the line is a normal one. */
void l2_normal(struct l2 *c, u64 line, u32 side);
/* discard: the line goes, and is not written. */
void l2_discard(struct l2 *c, u64 line);

#define L2_SLICE_PAIRS 47u

/*
 * An SM asks for a line: a number below L2_SLICE_PAIRS if it lies in the other partition, else
 * L2_SLICE_PAIRS.
 */
u32 l2_contact(const struct l2 *c, u64 line, u32 side);
/* A fetch of constants by the SMs' groups: 256 bytes with the line, counted as DRAM and fabric. */
void l2_constant(struct l2 *c, u64 line, u32 side);

/*
 * A request for memory of the host or of another device: it never hits, and is seen in both
 * partitions (measured of an H200, for memory of the host).
 */
void l2_far(struct l2 *c, enum l2_op op, u32 aperture, u32 count, u32 requests);

/*
 * Requests for the line will come soon: fetch from the host's memory where it would be found, then
 * what is there (true: it is not there, so its home will be asked), then what its home has. They
 * change nothing but *near.
 */
void l2_expect(const struct l2 *c, u64 line, u32 side, struct l2_near *near);
bool l2_expect_line(const struct l2 *c, u64 line, u32 side, struct l2_near *near);
void l2_expect_home(const struct l2 *c, const struct l2_near *near);

/* The host or a copy engine writes these bytes: what is here is no longer valid. */
void l2_invalidate(struct l2 *c, u64 address, u64 bytes);
/* cudaCtxResetPersistingL2Cache: persisting lines become normal ones. */
void l2_make_normal(struct l2 *c);
/* Empty it; dirty lines are written uncounted. */
void l2_reset(struct l2 *c);

#endif
