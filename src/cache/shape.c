/*
 * From addresses of lanes to lines and bytes.
 */
#include "src/cache/shape.h"
#include "src/cache/constant.h"
#include "src/cache/copies.h"

#define WORD 4u
#define LANES 32u
#define CACHE_ALL_LANES 0xffffffffu

u32 cache_piece_sectors(const struct cache_piece *p)
{
	u32 sectors = 0;

	for (u32 s = 0; s < CACHE_SECTORS; s++)
		sectors |= (u32)(p->bytes[s] != 0) << s;
	return sectors;
}

/* A shape that is being made. */
struct making {
	struct cache_shape *s;
	u64 seen[4]; /* bits of lines, by their number: one without is new */
};

/* The piece of a line; the last one is asked for again most often. */
static struct cache_piece *piece_of(struct making *m, u64 line)
{
	struct cache_shape *s = m->s;
	u64 *seen = &m->seen[line >> 6 & 3], bit = (u64)1 << (line & 63);
	s64 from_first;

	if (!s->pieces)
		s->first_line = line;
	from_first = (s64)(line - s->first_line);
	for (u32 i = *seen & bit ? s->pieces : 0; i-- > 0;)
		if (s->piece[i].line == from_first)
			return &s->piece[i];
	if (s->pieces == CACHE_PIECES_MAX)
		return NULL;
	*seen |= bit;
	s->piece[s->pieces] = (struct cache_piece){.line = from_first};
	return &s->piece[s->pieces++];
}

static struct making shape_begin(struct cache_shape *s)
{
	s->pieces = 0;
	s->lines = s->sets = s->sectors = 0;
	return (struct making){.s = s};
}

static void shape_bytes_add(struct making *m, u64 address, u32 width)
{
	while (width) {
		u32 at = (u32)(address % CACHE_SECTOR_BYTES);
		u32 n = CACHE_SECTOR_BYTES - at < width ? CACHE_SECTOR_BYTES - at : width;
		struct cache_piece *p = piece_of(m, address / CACHE_LINE_BYTES);
		u32 sector = (u32)(address / CACHE_SECTOR_BYTES % CACHE_SECTORS);

		if (p)
			p->bytes[sector] |= (u32)((((u64)1 << n) - 1) << at);
		address += n;
		width -= n;
	}
}

/* ---- atomics ---- */

/* How many lanes are on the busiest address of a sector. */
static u32 busiest(const u64 *address, u32 mask, u64 sector)
{
	u32 most = 0;

	for (u32 m = mask; m; m &= m - 1) {
		u64 a = address[__builtin_ctz(m)];
		u32 same = 0;

		if (a / CACHE_SECTOR_BYTES != sector)
			continue;
		for (u32 k = mask; k; k &= k - 1)
			same += address[__builtin_ctz(k)] == a;
		most = same > most ? same : most;
	}
	return most;
}

/* How many lanes are on the busiest address of a line. */
static u32 busiest_of_line(const u64 *address, u32 mask, u64 line)
{
	u32 most = 0;

	for (u32 k = 0; k < CACHE_SECTORS; k++) {
		u32 n = busiest(address, mask, line * CACHE_SECTORS + k);

		most = n > most ? n : most;
	}
	return most;
}

/* Are all lanes of a line on one address? */
static bool one_address(const u64 *address, u32 mask, u64 line)
{
	u64 seen = 0;
	bool any = false;

	for (u32 m = mask; m; m &= m - 1) {
		u64 a = address[__builtin_ctz(m)];

		if (a / CACHE_LINE_BYTES != line)
			continue;
		if (any && a != seen)
			return false;
		any = true;
		seen = a;
	}
	return true;
}

#define EVEN_LANES 0x55555555u

/* Lanes on one word follow one another; compare-and-swap goes by even and odd lanes. */
static void count_lanes(struct cache_shape *s, const u64 *address, u32 mask, bool is_cas)
{
	for (u32 i = 0; i < s->pieces; i++) {
		struct cache_piece *p = &s->piece[i];
		u64 line = s->first_line + (u64)p->line;
		u32 requests;

		for (u32 k = 0; k < CACHE_SECTORS; k++) {
			u32 n = p->bytes[k] ? busiest(address, mask, line * CACHE_SECTORS + k) : 0;

			/* A sector that the end of a lane's bytes touches has no address. */
			n += p->bytes[k] && !n;
			p->count = (u16)(p->count + n);
		}
		requests = is_cas ? busiest_of_line(address, mask & EVEN_LANES, line) +
					    busiest_of_line(address, mask & ~EVEN_LANES, line)
				  : busiest_of_line(address, mask, line);
		p->requests = (u16)(requests ? requests : 1);
		p->packets = one_address(address, mask, line) ? 1 : p->requests;
	}
}

/* Do all lanes touch one stretch, as neighbours or at one address? Its bytes, else 0. */
static u64 shape_stretch(const u64 *address, u32 mask, u32 width)
{
	u64 differ = 0, apart = 0;

	if (mask != CACHE_ALL_LANES)
		return 0;
	for (u32 l = 0; l < LANES; l++) {
		differ |= address[l] ^ address[0];
		apart |= address[l] ^ (address[0] + (u64)l * width);
	}
	return !differ ? width : !apart ? (u64)LANES * width : 0;
}

void cache_shape_global(struct cache_shape *s, const u64 *address, u32 mask, u32 width, bool is_cas)
{
	struct making making = shape_begin(s);
	u64 stretch;

	width = width ? width : 1;
	stretch = shape_stretch(address, mask, width);
	if (stretch)
		shape_bytes_add(&making, address[0], (u32)stretch);
	for (u32 m = stretch ? 0 : mask; m; m &= m - 1)
		shape_bytes_add(&making, address[__builtin_ctz(m)], width);
	if (s->kind == CACHE_ATOM || s->kind == CACHE_RED || s->kind == CACHE_BULK_RED ||
	    s->kind == CACHE_SURFACE_RED)
		count_lanes(s, address, mask, is_cas);
}

void cache_shape_texels(struct cache_shape *s, const u64 *address, u32 len, u32 width)
{
	/* All lines may be known already. */
	struct making making = {.s = s, .seen = {~(u64)0, ~(u64)0, ~(u64)0, ~(u64)0}};

	for (u32 i = 0; i < len; i++)
		shape_bytes_add(&making, address[i], width);
}

void cache_shape_copy_past(struct cache_shape *s, const u64 *from, const u64 *to, u32 mask)
{
	struct copy_packets p;

	shape_begin(s);
	cache_copy_packets(from, to, mask, &p);
	s->first_line = p.at[0].line;
	s->lines = (u16)p.lines;
	s->sets = (u16)p.pairs;
	s->sectors = (u16)p.sectors;
	for (u32 i = 0; i < p.len; i++) {
		struct cache_piece *piece = &s->piece[s->pieces++];

		*piece = (struct cache_piece){.line = (s64)(p.at[i].line - s->first_line)};
		for (u32 k = 0; k < CACHE_SECTORS; k++)
			piece->bytes[k] = p.at[i].sectors >> k & 1 ? CACHE_ALL_BYTES : 0;
	}
}

void cache_shape_local(struct cache_shape *s, const u64 *offset, u32 mask, u32 width, u64 base)
{
	struct making making = shape_begin(s);

	for (u32 m = mask; m; m &= m - 1) {
		u32 l = (u32)__builtin_ctz(m), left = width ? width : 1;
		u64 at = offset[l];

		while (left) {
			u32 in_word = (u32)(at % WORD);
			u32 n = WORD - in_word < left ? WORD - in_word : left;

			shape_bytes_add(&making,
					base * CACHE_LINE_BYTES + (at / WORD * LANES + l) * WORD +
						in_word,
					n);
			at += n;
			left -= n;
		}
	}
}

void cache_shape_constant(struct cache_shape *s, const u64 *address, u32 mask)
{
	shape_begin(s);
	for (u32 m = mask; m; m &= m - 1) {
		u32 lane = (u32)__builtin_ctz(m);
		u64 line = address[lane] / CONSTANT_LINE_BYTES;
		bool seen = false;

		for (u32 k = mask & ((1u << lane) - 1); k && !seen; k &= k - 1)
			seen = address[__builtin_ctz(k)] == address[lane];
		if (seen)
			continue;
		if (!s->pieces)
			s->first_line = line;
		s->piece[s->pieces++] = (struct cache_piece){.line = (s64)(line - s->first_line)};
	}
}

/* ---- comparing ---- */

static size_t shape_bytes(const struct cache_shape *s)
{
	return s->pieces * sizeof(s->piece[0]);
}

bool cache_shape_equal(const struct cache_shape *a, const struct cache_shape *b)
{
	return a->pc == b->pc && a->kind == b->kind && a->pieces == b->pieces &&
	       a->policy.follows == b->policy.follows && a->policy.aperture == b->policy.aperture &&
	       a->policy.hint == b->policy.hint && a->sets == b->sets && a->sectors == b->sectors &&
	       !memcmp(a->piece, b->piece, shape_bytes(a));
}

u64 cache_shape_hash(const struct cache_shape *s)
{
	const u64 *words = (const u64 *)s->piece;
	u64 h = HASH_SEED ^ ((u64)s->pc << 8 | s->kind) ^ (u64)s->policy.follows << 62 ^
		(u64)s->policy.aperture << 40 ^ (u64)s->policy.hint << 48;

	for (size_t i = 0; i < shape_bytes(s) / sizeof(*words); i++)
		h = (h ^ words[i]) * 0x9e3779b97f4a7c15u;
	return h ^ h >> 29;
}
