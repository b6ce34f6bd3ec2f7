/*
 * Copies and fills in whole values: see piece.h.
 */
#include "src/base/piece.h"

bool piece_locked;

/* ---- 16 bytes where a locked instruction is what makes them one ---- */

#if defined(__x86_64__)

piece piece_exchange(void *p, piece seen, piece want)
{
	u64 lo = seen[0], hi = seen[1];

	__asm__ volatile("lock cmpxchg16b %0"
			 : "+m"(*(piece *)p), "+a"(lo), "+d"(hi)
			 : "b"(want[0]), "c"(want[1])
			 : "cc", "memory");
	return (piece){lo, hi};
}

#else

piece piece_exchange(void *p, piece seen, piece want)
{
	unsigned __int128 old, new, *at = p;

	memcpy(&old, &seen, sizeof(old));
	memcpy(&new, &want, sizeof(new));
	__atomic_compare_exchange_n(at, &old, new, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
	memcpy(&seen, &old, sizeof(seen));
	return seen;
}

#endif

static bool same(piece a, piece b)
{
	return a[0] == b[0] && a[1] == b[1];
}

void piece_store_locked(void *p, piece v)
{
	piece seen = piece_exchange(p, (piece){0}, (piece){0}), now = piece_exchange(p, seen, v);

	while (!same(now, seen)) {
		seen = now;
		now = piece_exchange(p, seen, v);
	}
}

/* ---- copies ---- */

typedef piece near_piece __attribute__((aligned(1)));

/* The largest power of two, at most 16, that divides the address and is not more than is left. */
static size_t step_at(u64 at, size_t left)
{
	size_t step = at & 15 ? at & -at & 15 : PIECE_BYTES;

	while (step > left)
		step /= 2;
	return step;
}

/*
 * One value, aligned to its size at its destination. The source may be memory that must not be
 * written.
 */
static void move_value(u8 *to, const u8 *from, size_t size)
{
	if (size == PIECE_BYTES)
		piece_store(to, *(const volatile near_piece *)(const void *)from);
	else
		piece_copy(to, from, size);
}

/*
 * Blocks of four pieces from an aligned `to` on; returns how many bytes. All are read before any is
 * written.
 */
static size_t move_blocks(u8 *to, const u8 *from, size_t bytes)
{
	size_t done = 0;

	for (; bytes - done >= 4 * PIECE_BYTES; done += 4 * PIECE_BYTES) {
		const volatile near_piece *s =
			(const volatile near_piece *)(const void *)(from + done);
		piece a = s[0], b = s[1], c = s[2], d = s[3];

		piece_store(to + done, a);
		piece_store(to + done + PIECE_BYTES, b);
		piece_store(to + done + 2 * PIECE_BYTES, c);
		piece_store(to + done + 3 * PIECE_BYTES, d);
	}
	return done;
}

static void move_forwards(u8 *to, const u8 *from, size_t bytes)
{
	size_t n;

	while (bytes) {
		n = (u64)(uintptr_t)to & 15 ? 0 : move_blocks(to, from, bytes);
		if (!n) {
			n = step_at((u64)(uintptr_t)to, bytes);
			move_value(to, from, n);
		}
		to += n;
		from += n;
		bytes -= n;
	}
}

static void move_backwards(u8 *to, const u8 *from, size_t bytes)
{
	while (bytes) {
		size_t n = step_at((u64)(uintptr_t)(to + bytes), bytes);

		bytes -= n;
		move_value(to + bytes, from + bytes, n);
	}
}

void piece_move(void *to, const void *from, size_t bytes)
{
	if (bytes > PIECE_FAR)
		memmove(to, from, bytes);
	else if ((u64)(uintptr_t)to - (u64)(uintptr_t)from < bytes)
		move_backwards(to, from, bytes);
	else
		move_forwards(to, from, bytes);
}

/* ---- fills ---- */

void piece_fill(void *to, u32 value, u32 size, size_t count)
{
	u32 word = size == 1   ? (value & 0xff) * 0x01010101u
		   : size == 2 ? (value & 0xffff) * 0x10001u
			       : value;
	u64 two = word | (u64)word << 32;
	u8 from[2 * PIECE_BYTES], *at = to;
	size_t bytes = count * size, n;
	piece v = {two, two};

	memcpy(from, &v, sizeof(v));
	memcpy(from + PIECE_BYTES, &v, sizeof(v));
	if (bytes > PIECE_FAR && word == (word & 0xff) * 0x01010101u) {
		memset(to, (int)(word & 0xff), bytes);
		return;
	}
	/* `to` is aligned to the value, so the pattern begins where a value does. */
	for (; bytes && ((u64)(uintptr_t)at & 15 || bytes < PIECE_BYTES); at += n, bytes -= n) {
		n = step_at((u64)(uintptr_t)at, bytes);
		move_value(at, from, n);
	}
	for (n = bytes / PIECE_BYTES; n; n--, at += PIECE_BYTES)
		piece_store(at, v);
	for (bytes %= PIECE_BYTES; bytes; at += n, bytes -= n) {
		n = step_at((u64)(uintptr_t)at, bytes);
		move_value(at, from, n);
	}
}
