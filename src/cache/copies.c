/*
 * Packets of asynchronous copies.
 */
#include "src/cache/copies.h"

#define LINE 128u
#define SECTOR 32u
#define PIECE 16u

/* What the lanes of a packet have in common, and the pieces of the row that it fills. */
struct packet_key {
	u64 from, to; /* line, row */
	s32 apart;    /* sectors */
	bool swaps;   /* halves of sectors */
	u32 filled;
};

static struct packet_key packet_key_of(u64 from, u64 to)
{
	return (struct packet_key){
		.from = from / LINE,
		.to = to / LINE,
		.apart = (s32)(from % LINE / SECTOR) - (s32)(to % LINE / SECTOR),
		.swaps = ((from ^ to) / PIECE & 1) != 0,
		.filled = 1u << to % LINE / PIECE,
	};
}

static bool goes_along(const struct packet_key *a, const struct packet_key *b)
{
	return a->from == b->from && a->to == b->to && a->apart == b->apart && a->swaps == b->swaps;
}

/* Lines, pairs of a line and a row, and the sectors that each pair fills. */
static void count_pairs(const struct packet_key *key, struct copy_packets *out)
{
	for (u32 i = 0; i < out->len; i++) {
		bool is_line = true, is_pair = true;
		u32 filled = 0;

		for (u32 k = 0; k < i; k++) {
			is_line &= key[k].from != key[i].from;
			is_pair &= key[k].from != key[i].from || key[k].to != key[i].to;
		}
		out->lines += is_line;
		if (!is_pair)
			continue;
		out->pairs++;
		for (u32 k = i; k < out->len; k++)
			if (key[k].from == key[i].from && key[k].to == key[i].to)
				filled |= key[k].filled;
		for (u32 s = 0; s < LINE / SECTOR; s++)
			out->sectors += (filled >> s * (SECTOR / PIECE) & 3) != 0;
	}
}

void cache_copy_packets(const u64 *from, const u64 *to, u32 mask, struct copy_packets *out)
{
	struct packet_key key[COPY_LANES];

	*out = (struct copy_packets){0};
	for (u32 m = mask; m; m &= m - 1) {
		u32 l = (u32)__builtin_ctz(m), i = 0;
		struct packet_key k = packet_key_of(from[l], to[l]);

		while (i < out->len && !goes_along(&key[i], &k))
			i++;
		if (i == out->len) {
			key[out->len++] = k;
			out->at[i] = (struct copy_packet){.line = k.from};
		} else {
			key[i].filled |= k.filled;
		}
		out->at[i].sectors |= 1u << from[l] % LINE / SECTOR;
	}
	for (u32 i = 0; i < out->len; i++)
		out->moved += (u32)__builtin_popcount(out->at[i].sectors);
	count_pairs(key, out);
}
