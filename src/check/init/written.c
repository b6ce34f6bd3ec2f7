/*
 * Bits of bytes, 64 at a time.
 */
#include "src/check/init/written.h"

#include <stdlib.h>
#include <string.h>

/* Bytes of host memory from which on pages that are not touched are worth keeping so. */
#define RESET_BY_NEW ((u64)1 << 20)

static u64 written_words(u64 bytes)
{
	return bytes / 64 + 2;
}

void written_init(struct written *w, u64 bytes)
{
	*w = (struct written){.bits = calloc(written_words(bytes), sizeof(u64)),
			      .bytes = bytes,
			      .missing = bytes};
}

void written_fini(struct written *w)
{
	free(w->bits);
	map_fini(&w->origins);
	*w = (struct written){0};
}

void written_reset(struct written *w)
{
	u64 bytes = w->bytes;

	if (bytes / 8 > RESET_BY_NEW) {
		written_fini(w);
		written_init(w, bytes);
		return;
	}
	if (w->bits)
		memset(w->bits, 0, written_words(bytes) * sizeof(u64));
	w->missing = bytes;
	map_fini(&w->origins);
	w->origins = (struct map){0};
}

/* Cut off what lies behind the end. */
static u64 inside(const struct written *w, u64 at, u64 bytes)
{
	if (!w->bits || at >= w->bytes)
		return 0;
	return min_u64(bytes, w->bytes - at);
}

/* The bits of a stretch in its first word; *step: how many. */
static u64 mask_of_word(u64 at, u64 bytes, u64 *step)
{
	u64 room = 64 - at % 64;

	*step = bytes < room ? bytes : room;
	return ~(u64)0 >> (64 - *step) << at % 64;
}

bool written_all(const struct written *w, u64 at, u64 bytes)
{
	u64 n = w->missing ? inside(w, at, bytes) : 0;

	while (n) {
		u64 step, mask = mask_of_word(at, n, &step);

		if (~w->bits[at / 64] & mask)
			return false;
		at += step;
		n -= step;
	}
	return true;
}

void written_set(struct written *w, u64 at, u64 bytes)
{
	u64 n = inside(w, at, bytes);

	while (n) {
		u64 step, mask = mask_of_word(at, n, &step);

		mask &= ~w->bits[at / 64];
		if (mask) {
			w->bits[at / 64] |= mask;
			w->missing -= (u64)__builtin_popcountll(mask);
		}
		at += step;
		n -= step;
	}
}

void written_clear(struct written *w, u64 at, u64 bytes)
{
	u64 n = inside(w, at, bytes);

	while (n) {
		u64 step, mask = mask_of_word(at, n, &step);

		mask &= w->bits[at / 64];
		w->bits[at / 64] ^= mask;
		w->missing += (u64)__builtin_popcountll(mask);
		at += step;
		n -= step;
	}
}

u64 written_count_missing(const struct written *w, u64 at, u64 bytes)
{
	u64 n = inside(w, at, bytes), missing = 0;

	while (n) {
		u64 step, mask = mask_of_word(at, n, &step);

		missing += (u64)__builtin_popcountll(~w->bits[at / 64] & mask);
		at += step;
		n -= step;
	}
	return missing;
}

u32 written_missing(const struct written *w, u64 at, u32 bytes)
{
	u64 n = inside(w, at, bytes), bits;
	u32 shift = (u32)(at % 64);

	if (!n)
		return 0;
	bits = w->bits[at / 64] >> shift;
	if (shift)
		bits |= w->bits[at / 64 + 1] << (64 - shift);
	return (u32)(~bits & (((u64)1 << n) - 1));
}

void written_copy(struct written *dst, u64 to, const struct written *src, u64 from, u64 bytes)
{
	u64 at = 0;

	bytes = min_u64(inside(dst, to, bytes), inside(src, from, bytes));
	if (written_all(src, from, bytes)) {
		written_set(dst, to, bytes);
		return;
	}
	while (at < bytes) {
		u32 n = (u32)min_u64(bytes - at, WRITTEN_MASK);
		u32 missing = written_missing(src, from + at, n);

		written_set(dst, to + at, n);
		for (u32 m = missing; m; m &= m - 1)
			written_clear(dst, to + at + (u32)__builtin_ctz(m), 1);
		at += n;
	}
}

u64 written_origin(const struct written *w, u64 at)
{
	const u64 *slot = map_get(&w->origins, at / 4 + 1);

	return slot ? *slot : 0;
}

void written_taint(struct written *w, u64 at, u32 bytes, u64 origin)
{
	written_clear(w, at, bytes);
	for (u64 word = at / 4; word <= (at + bytes - 1) / 4; word++)
		map_set(&w->origins, word + 1, origin);
}
