/*
 * Policies of the second cache as values of 64 bits. Of both kinds bits 57 and 58 are the primary
 * priority, bit 56 the secondary one, bits 59 and 60 the kind. Fractions have sixteenths - 1 in
 * bits 52 to 55. Ranges have there the size of blocks, 4 KiB << n, the first block of 128 that
 * repeat over all memory in bits 44 to 50, and in bits 37 to 43 how many are primary.
 */
#include "src/base/l2_policy.h"

#define KIND_FRACTION 2u
#define KIND_RANGE 3u
#define KIND_SHIFT 59
#define PRIMARY_SHIFT 57
#define SECONDARY_SHIFT 56
#define SIZE_SHIFT 52
#define FIRST_SHIFT 44
#define COUNT_SHIFT 37
#define BLOCKS 128u
#define BLOCK_BITS_LEAST 12u
/* Up to so many bits of all bytes blocks are the smallest. */
#define ALL_BITS_LEAST 19u
/* The largest blocks. */
#define SIZE_MOST 13u

static u64 make_policy(u32 kind, enum l2_priority primary, enum l2_priority secondary)
{
	return (u64)kind << KIND_SHIFT | (u64)primary << PRIMARY_SHIFT |
	       (u64)(secondary & 1) << SECONDARY_SHIFT;
}

u64 l2_policy_fractional(enum l2_priority primary, enum l2_priority secondary, float fraction)
{
	/* What is a sixteenth exactly is the last of those below. */
	float parts = (fraction - 0x1p-23f) * 16;
	u64 n = parts >= 16 ? 15 : parts > 0 ? (u64)parts : 0;

	return make_policy(KIND_FRACTION, primary, secondary) | n << SIZE_SHIFT;
}

/* Of the least power of two that is not below. */
static u32 policy_bits(u32 bytes)
{
	return bytes > 1 ? 32 - (u32)__builtin_clz(bytes - 1) : 0;
}

u64 l2_policy_range(enum l2_priority primary, enum l2_priority secondary, u64 address, u32 bytes,
		    u32 all)
{
	u32 bits = policy_bits(all), size = bits > ALL_BITS_LEAST ? bits - ALL_BITS_LEAST : 0;
	u32 shift = BLOCK_BITS_LEAST + size;
	u64 first = address >> shift, end = (address + bytes + ((u64)1 << shift) - 1) >> shift;
	u64 count = end - first;

	/* Hardware has 1 for too many of the largest blocks. */
	if (count >= BLOCKS)
		count = size == SIZE_MOST ? 1 : BLOCKS - 1;
	return make_policy(KIND_RANGE, primary, secondary) | (u64)size << SIZE_SHIFT |
	       first % BLOCKS << FIRST_SHIFT | (count ? count : 1) << COUNT_SHIFT;
}

enum l2_priority l2_policy_priority(u64 policy, const struct l2_policy_line *line)
{
	u32 kind = policy >> KIND_SHIFT & 3, size = policy >> SIZE_SHIFT & 15;
	u64 block = line->address >> (BLOCK_BITS_LEAST + size);
	bool is_primary = false;

	if (kind == KIND_FRACTION)
		is_primary = line->part <= size;
	else if (kind == KIND_RANGE)
		is_primary = (block - (policy >> FIRST_SHIFT)) % BLOCKS <
			     (policy >> COUNT_SHIFT & (BLOCKS - 1));
	else
		return L2_PRIORITY_UNCHANGED;
	if (is_primary)
		return (enum l2_priority)(policy >> PRIMARY_SHIFT & 3);
	return (enum l2_priority)(policy >> SECONDARY_SHIFT & 1);
}
