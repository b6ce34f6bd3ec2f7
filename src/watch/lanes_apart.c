/*
 * Looking for lanes that share something, without branches that depend on addresses: scattered ones
 * would make those unforeseeable.
 */
#include "src/watch/lanes_apart.h"

#define SECTOR_SHIFT 5u
#define LINE_SHIFT 7u
/* Places for lanes by their keys: so many that few lanes meet another there. */
#define PLACE_BITS 11u
#define LANE_PLACES (1u << PLACE_BITS)
#define PLACE_ROUNDS 8u
#define PLACE_SHIFT 6u

u64 watch_lane_stretch(const u64 *address, u32 mask, u32 width)
{
	u64 differ = 0, apart = 0;

	/* As a rule the first lanes tell. */
	if (mask != FULL_MASK || (address[1] != address[0] && address[1] != address[0] + width))
		return 0;
	for (u32 l = 0; l < WARP_LANES; l++) {
		differ |= address[l] ^ address[0];
		apart |= address[l] ^ (address[0] + (u64)l * width);
	}
	return !differ ? width : !apart ? (u64)WARP_LANES * width : 0;
}

/* The place has a lane of those whose key leads there: the last one. */
static u32 lane_place(u64 key, u32 round)
{
	return (u32)((key * 0x9e3779b97f4a7c15u) >> (64 - PLACE_BITS - PLACE_SHIFT * round)) %
	       LANE_PLACES;
}

/*
 * All lanes at once: which lane is where each one is led? Is it always the lane itself? place[]
 * needs no beginning: what is read has been written just before.
 */
static bool place_all(const u64 key[WARP_LANES], u8 has[WARP_LANES])
{
	u8 place[LANE_PLACES];
	u16 at[WARP_LANES];
	u32 differ = 0;

	for (u32 l = 0; l < WARP_LANES; l++)
		at[l] = (u16)((u32)key[l] * 0x9e3779b1u >> (32 - PLACE_BITS));
	for (u32 l = 0; l < WARP_LANES; l++)
		place[at[l]] = (u8)l;
	for (u32 l = 0; l < WARP_LANES; l++) {
		has[l] = place[at[l]];
		differ |= has[l] ^ l;
	}
	return !differ;
}

/* The same; what distinct lanes there are, and returns lanes of other keys. */
static u32 place_first(const u64 key[WARP_LANES], u32 *distinct)
{
	u8 has[WARP_LANES];
	u32 others = 0, first = 0;

	*distinct = FULL_MASK;
	if (place_all(key, has))
		return 0;
	for (u32 l = 0; l < WARP_LANES; l++) {
		first |= (u32)(has[l] == l) << l;
		others |= (u32)(key[has[l]] != key[l]) << l;
	}
	*distinct = first;
	return others;
}

/* With other places in each round; adds to *distinct, and returns lanes of other keys. */
static u32 place_lanes(const u64 key[WARP_LANES], u32 mask, u32 round, u32 *distinct)
{
	u8 place[LANE_PLACES];
	u32 others = 0;

	for (u32 m = mask; m; m &= m - 1)
		place[lane_place(key[__builtin_ctz(m)], round)] = (u8)__builtin_ctz(m);
	for (u32 m = mask; m; m &= m - 1) {
		u32 l = (u32)__builtin_ctz(m), has = place[lane_place(key[l], round)];

		*distinct |= (u32)(has == l) << l;
		others |= (u32)(key[has] != key[l]) << l;
	}
	return others;
}

u32 watch_lanes_distinct(const u64 key[WARP_LANES], u32 mask)
{
	u32 distinct = 0, rest = mask == FULL_MASK ? place_first(key, &distinct) : mask;

	for (u32 round = 0; rest; round = (round + 1) % PLACE_ROUNDS)
		rest = place_lanes(key, rest, round, &distinct);
	return distinct;
}

/* Does a lane touch more than one piece? */
static bool lanes_cross(const u64 *address, u32 mask, u32 width, u32 shift)
{
	u64 across = 0;

	if (mask == FULL_MASK)
		for (u32 l = 0; l < WARP_LANES; l++)
			across |= address[l] ^ (address[l] + width - 1);
	for (u32 m = mask == FULL_MASK ? 0 : mask; m; m &= m - 1) {
		u64 a = address[__builtin_ctz(m)];

		across |= a ^ (a + width - 1);
	}
	return across >> shift;
}

bool watch_lane_keys(const u64 *address, u32 mask, u32 width, u32 unit, u64 key[WARP_LANES])
{
	u32 shift = (u32)__builtin_ctz(unit);

	if (lanes_cross(address, mask, width, shift))
		return false;
	for (u32 l = 0; l < WARP_LANES; l++)
		key[l] = address[l] >> shift;
	return true;
}

bool watch_lanes_apart(const u64 *address, u32 mask, u32 width)
{
	u64 key[WARP_LANES];

	if (mask != FULL_MASK || !((address[0] ^ address[1]) >> LINE_SHIFT) ||
	    lanes_cross(address, mask, width, SECTOR_SHIFT))
		return false;
	for (u32 l = 0; l < WARP_LANES; l++)
		key[l] = address[l] >> LINE_SHIFT;
	return watch_lanes_distinct(key, FULL_MASK) == FULL_MASK;
}
