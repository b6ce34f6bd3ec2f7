/*
 * How the addresses of a warp's lanes lie: side by side, or which of them share a line, a sector or
 * a word.
 */
#ifndef PL_WATCH_LANES_APART_H
#define PL_WATCH_LANES_APART_H

#include "src/exec/observer.h"

/* Do all lanes touch one stretch, as neighbours or at one address? Its bytes, else 0. */
u64 watch_lane_stretch(const u64 *address, u32 mask, u32 width);
/*
 * All 32 lanes: does each lie in one sector, and no two in one line? May say no all the same where
 * neighbours share one.
 */
bool watch_lanes_apart(const u64 *address, u32 mask, u32 width);
/* Pieces of `unit` bytes by lane, a power of two; false: a lane touches more than one. */
bool watch_lane_keys(const u64 *address, u32 mask, u32 width, u32 unit, u64 key[WARP_LANES]);
/* Of the lanes that have the same key, one each. */
u32 watch_lanes_distinct(const u64 key[WARP_LANES], u32 mask);

#endif
