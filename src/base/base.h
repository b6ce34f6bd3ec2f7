/*
 * Words every folder uses: fixed-width types, bit casts, array helpers.
 * Owns no state and knows nothing about GPUs.
 */
#ifndef PL_BASE_H
#define PL_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int8_t s8;
typedef int16_t s16;
typedef int32_t s32;
typedef int64_t s64;
typedef float f32;
typedef double f64;

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))
#define PL_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#define PL_UNUSED __attribute__((unused))
#define PL_LIKELY(x) __builtin_expect(!!(x), 1)
#define PL_UNLIKELY(x) __builtin_expect(!!(x), 0)

static inline u32 bits_f32(f32 x)
{
	u32 b;

	memcpy(&b, &x, sizeof(b));
	return b;
}

static inline f32 f32_bits(u32 b)
{
	f32 x;

	memcpy(&x, &b, sizeof(x));
	return x;
}

static inline u64 bits_f64(f64 x)
{
	u64 b;

	memcpy(&b, &x, sizeof(b));
	return b;
}

static inline f64 f64_bits(u64 b)
{
	f64 x;

	memcpy(&x, &b, sizeof(x));
	return x;
}

/* Round x up to a multiple of `align`, a power of two. */
static inline u64 align_up(u64 x, u64 align)
{
	return (x + align - 1) & ~(align - 1);
}

static inline bool is_pow2(u64 x)
{
	return x && !(x & (x - 1));
}

static inline u64 min_u64(u64 a, u64 b)
{
	return a < b ? a : b;
}

static inline u64 max_u64(u64 a, u64 b)
{
	return a > b ? a : b;
}

/* FNV-1a: begin with HASH_SEED, or something mixed into it, and add bytes. */
#define HASH_SEED 0xcbf29ce484222325u
#define HASH_PRIME 0x100000001b3u
static inline u64 hash_more(u64 h, const void *p, size_t n)
{
	const u8 *s = p;

	for (size_t i = 0; i < n; i++)
		h = (h ^ s[i]) * HASH_PRIME;
	return h;
}

/* FNV-1a of n bytes: the hash of every table in the project. */
static inline u64 hash_bytes(const void *p, size_t n)
{
	return hash_more(HASH_SEED, p, n);
}

#endif
