/*
 * What one memory instruction of one warp asks of the caches: lines, and the bytes of each, by
 * sector. Instructions in a loop ask for the same at other addresses, so a shape is kept apart from
 * the line where it begins and is used again.
 */
#ifndef PL_CACHE_SHAPE_H
#define PL_CACHE_SHAPE_H

#include "src/cache/l2.h"

enum cache_kind {
	CACHE_LOAD, /* global */
	CACHE_STORE,
	CACHE_ATOM,
	CACHE_RED,
	CACHE_COPY,      /* cp.async through the first cache */
	CACHE_COPY_PAST, /* past it */
	CACHE_LOCAL_LOAD,
	CACHE_LOCAL_STORE,
	CACHE_BULK_LOAD, /* bulk and tensor copies: past the first cache */
	CACHE_BULK_STORE,
	CACHE_BULK_RED,
	CACHE_PREFETCH, /* of whole lines; pieces say what lanes have named */
	/* Requests to the texture unit. */
	CACHE_TEXTURE,
	CACHE_SURFACE_LOAD,
	CACHE_SURFACE_STORE,
	CACHE_SURFACE_RED,
	CACHE_CONSTANT, /* pieces are requests for lines of the constant cache */
	CACHE_KINDS,
	/* These are no accesses: they have no lines. */
	CACHE_FLUSH = CACHE_KINDS, /* an acquire or fence beyond the CTA */
	CACHE_BARRIER,             /* of all warps of the CTA */
	/* These have lines, but ask for nothing: see l2.h. */
	CACHE_NORMAL,
	CACHE_DISCARD,
	CACHE_BULK_PREFETCH, /* of sectors */
};

/* How an instruction wants to be cached; what its modifiers say. */
struct cache_policy {
	u8 keep;          /* enum l1_keep */
	bool is_past;     /* past the first cache, whose line it drops */
	u8 class;         /* enum l2_class */
	u8 fetch_sectors; /* of the second cache; 0: as the device does */
	u8 aperture;      /* enum l2_aperture, of devices with their number */
	/* Of constants: the first request is one of those that code_size.h has for all warps. */
	bool is_counted;
	bool is_parameter; /* what lacks is there already: nothing is fetched */
	bool follows;      /* another request of the instruction before, in the same turn */
	u8 hint;           /* number of the policy that it was given (l2_hints); 0: none */
};

/* One line of a shape. */
struct cache_piece {
	s64 line; /* from the first */
	u32 bytes[CACHE_SECTORS];
	/* Atomics: sectors and requests that count, as lanes on one word follow one another. */
	u16 count, requests;
	u16 packets; /* of atomics: requests that come together find or miss the line together */
	u16 none;    /* 0: shapes are compared byte by byte */
};

#define CACHE_PIECES_MAX 512u /* 32 lanes of 32 bytes, each across two lines, interleaved */

struct cache_shape {
	u64 first_line;
	u32 pc;
	u8 kind; /* enum cache_kind */
	struct cache_policy policy;
	u32 pieces;
	/* CACHE_COPY_PAST: lines, lines for each row that they go to, sectors that are counted. */
	u16 lines, sets, sectors;
	struct cache_piece piece[CACHE_PIECES_MAX];
};

/*
 * Global accesses: lanes of `mask` touch `width` bytes each at their addresses. is_cas: a
 * compare-and-swap. Fills first_line, pieces and piece[].
 */
void cache_shape_global(struct cache_shape *s, const u64 *address, u32 mask, u32 width,
			bool is_cas);
/* Copies past the first cache, of 16 bytes a lane: a piece for each packet (copies.h). */
void cache_shape_copy_past(struct cache_shape *s, const u64 *from, const u64 *to, u32 mask);
/*
 * Local accesses: offsets in the memory of each thread, whose words lie interleaved by lane,
 * `base`: a line number for the warp's first word.
 */
void cache_shape_local(struct cache_shape *s, const u64 *offset, u32 mask, u32 width, u64 base);
/* Add texels to a shape that has 0 pieces or texels: `width` bytes at each of `len` addresses. */
void cache_shape_texels(struct cache_shape *s, const u64 *address, u32 len, u32 width);
/* Loads of constants: distinct addresses. */
void cache_shape_constant(struct cache_shape *s, const u64 *address, u32 mask);
/* Sectors that the piece touches, a bit each. */
u32 cache_piece_sectors(const struct cache_piece *p);
/* The same but for the place? */
bool cache_shape_equal(const struct cache_shape *a, const struct cache_shape *b);
/* Of all but the place. */
u64 cache_shape_hash(const struct cache_shape *s);

#endif
