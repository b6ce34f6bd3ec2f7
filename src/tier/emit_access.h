/*
 * Loads and stores in the text of a run: where lanes reach to, whether they may, and what moves.
 */
#ifndef PL_TIER_EMIT_ACCESS_H
#define PL_TIER_EMIT_ACCESS_H

#include "src/tier/emit.h"

/* How the lanes' addresses lie. */
enum how { HOW_ROW, HOW_SAME, HOW_HALVES, HOW_APART };

struct place {
	enum how how;
	u32 first; /* but APART: lane 0's address */
	/* HALVES: lane 16's; each half is a row, or has one address */
	u32 high;
	bool rows;
	bool late; /* as of the line */
	/* APART: an index for each lane, and the address it counts from; or addresses alone */
	u32 vec, base;
	u32 scale;   /* of indices; 0: vec has addresses */
	bool sign;   /* of indices */
	bool narrow; /* indices are addresses of 32 bits, each of which may be out of line */
	s64 offset;
};

/*
 * What a lane moves, all its elements: `n` parts of so many bytes, 8 if there are several. at: a
 * vector of integers for each part.
 */
#define PARTS_MOST 4u
struct parts {
	u32 n, bytes;
	u32 at[PARTS_MOST];
};

/* ---- emit_access.c ---- */

/* The run's access that is under way, and its number. */
struct tier_access *emit_access_here(struct emit *e);
u32 emit_access_number(struct emit *e);

/* ---- emit_place.c ---- */

/* Bytes that a lane moves. */
static inline u32 emit_width(const struct uop *in)
{
	return (u32)in->mem.size * in->mem.count;
}

struct place emit_place(struct emit *e, const struct uop *in);
/* What is known before the loop over warps: the window, and its end for accesses of `bytes`. */
void emit_window_open(struct emit *e, u32 bytes);
/* That bytes from an address on are in the window. bytes: a name, 0: those of emit_window_open. */
void emit_inside_require(struct emit *e, u32 address, u32 bytes, u32 width);
/*
 * That all lanes are. Returns, for addresses of 64 bits that lie apart, their distances from where
 * the window begins.
 */
u32 emit_place_require(struct emit *e, const struct place *p, u32 width);
u32 emit_offset(struct emit *e, u32 address, s64 n);
/* Where the host has what is at an address. */
/*
 * Lanes side by side from the host's address on, so many bytes of them, are loaded or stored: ask
 * for those of the next call.
 */
void emit_hint(struct emit *e, u32 host, u32 bytes);
u32 emit_host(struct emit *e, u32 address);

/* ---- emit_value.c ---- */

/* Has each row of the micro-op's data its place? */
bool emit_data_fits(const struct program *p, const struct uop *in);
struct parts emit_parts_shape(const struct uop *in);
/* From rows of registers; and to them. */
struct parts emit_parts_join(struct emit *e, const struct uop *in);
void emit_parts_split(struct emit *e, const struct uop *in, const struct parts *p);

/* ---- emit_move.c ---- */

/* Lanes side by side from a host address on. */
void emit_row_load(struct emit *e, u32 host, struct parts *p);
void emit_row_store(struct emit *e, u32 host, const struct parts *p);
/* The same for two halves of a warp that lie apart. */
void emit_halves_load(struct emit *e, const u32 *host, struct parts *p);
void emit_halves_store(struct emit *e, const u32 *host, const struct parts *p);
/* One address for all lanes, or for each half. */
void emit_same_load(struct emit *e, u32 host, struct parts *p);
void emit_same_halves_load(struct emit *e, const u32 *host, struct parts *p);
/* Lanes anywhere; from: as emit_place_require returns it. */
void emit_apart_load(struct emit *e, const struct place *x, u32 from, struct parts *p);
void emit_apart_store(struct emit *e, const struct place *x, u32 from, const struct parts *p);

#endif
