/*
 * Single-copy atomic moves of memory that other threads access concurrently. Values of 1, 2, 4, 8
 * and 16 bytes, aligned to their size, are read and written by one access of the host each, and
 * written once.
 *
 * 8 bytes and fewer are one access of every x86-64 processor. 16 bytes are one on processors with
 * AVX (Intel's Software Developer's Manual, volume 3, "Guaranteed Atomic Operations"; AMD's
 * Programmer's Manual, volume 2, "Access Atomicity"); elsewhere a locked instruction is used. The C
 * library's memcpy promises nothing: it writes some bytes twice and moves large blocks in any way.
 */
#ifndef PL_BASE_PIECE_H
#define PL_BASE_PIECE_H

#include "src/base/base.h"

#define PIECE_BYTES 16u

typedef u64 piece __attribute__((vector_size(16), may_alias));
typedef u16 piece_u16 __attribute__((may_alias, aligned(1)));
typedef u32 piece_u32 __attribute__((may_alias, aligned(1)));
typedef u64 piece_u64 __attribute__((may_alias, aligned(1)));

/* 16 bytes need a locked instruction: the host has no AVX. Set by tests, too. */
extern bool piece_locked;

/*
 * With a locked instruction, whatever the host. Replaces `seen` by `want` at p; returns what was
 * there.
 */
piece piece_exchange(void *p, piece seen, piece want);
void piece_store_locked(void *p, piece v);

/* The one access, and the constraint of its register. */
#if defined(__x86_64__) && defined(__AVX__)
#define PIECE_LOCKED false
#define PIECE_ONE_MOVE "vmovdqa %1, %0"
#define PIECE_REGISTER "x"
#elif defined(__x86_64__)
#define PIECE_LOCKED piece_locked
#define PIECE_ONE_MOVE "movdqa %1, %0"
#define PIECE_REGISTER "x"
#else
#define PIECE_LOCKED true
#define PIECE_ONE_MOVE ""
#define PIECE_REGISTER "w"
#endif

/* p: aligned to 16 bytes. */
static inline piece piece_load(const void *p)
{
	piece v;

	if (PL_UNLIKELY(PIECE_LOCKED))
		return piece_exchange((void *)(uintptr_t)p, (piece){0}, (piece){0});
	__asm__ volatile(PIECE_ONE_MOVE : "=" PIECE_REGISTER(v) : "m"(*(const piece *)p));
	return v;
}

static inline void piece_store(void *p, piece v)
{
	if (PL_UNLIKELY(PIECE_LOCKED))
		piece_store_locked(p, v);
	else
		__asm__ volatile(PIECE_ONE_MOVE : "=m"(*(piece *)p) : PIECE_REGISTER(v));
}

/*
 * One value of 1, 2, 4 or 8 bytes by one access of the host; atomic for other threads if it is
 * aligned to its size.
 */
static inline u64 piece_get(const void *p, size_t bytes)
{
	switch (bytes) {
	case 1:
		return *(const volatile u8 *)p;
	case 2:
		return *(const volatile piece_u16 *)p;
	case 4:
		return *(const volatile piece_u32 *)p;
	default:
		return *(const volatile piece_u64 *)p;
	}
}

static inline void piece_put(void *p, u64 v, size_t bytes)
{
	switch (bytes) {
	case 1:
		*(volatile u8 *)p = (u8)v;
		break;
	case 2:
		*(volatile piece_u16 *)p = (u16)v;
		break;
	case 4:
		*(volatile piece_u32 *)p = (u32)v;
		break;
	default:
		*(volatile piece_u64 *)p = v;
		break;
	}
}

/* One value of 1, 2, 4, 8 or 16 bytes; both ends are aligned to it. */
static inline void piece_copy(void *to, const void *from, size_t bytes)
{
	if (bytes == 16)
		piece_store(to, piece_load(from));
	else
		piece_put(to, piece_get(from, bytes), bytes);
}

/*
 * Like memmove and memset, in atomic values as far as both ends are equally aligned. More than
 * PIECE_FAR bytes are moved by the C library, which knows best how to bypass the caches of the host
 * but guarantees no atomicity.
 */
#define PIECE_FAR ((size_t)16 << 20)
void piece_move(void *to, const void *from, size_t bytes);
/* `count` copies of `value`, of `size` bytes: 1, 2 or 4, and `to` aligned to them. */
void piece_fill(void *to, u32 value, u32 size, size_t count);

#endif
