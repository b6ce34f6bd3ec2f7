/*
 * Interned strings: open addressing over pointers, strings in the owner's arena.
 */
#include "src/base/intern.h"

#include <stdlib.h>

void intern_init(struct intern *t, struct arena *arena)
{
	*t = (struct intern){.arena = arena};
}

void intern_fini(struct intern *t)
{
	free(t->slots);
	*t = (struct intern){0};
}

/*
 * All bits of a product fold into the result, so that the last characters of a name count as much
 * as the first.
 */
static u64 fold_hash(u64 a, u64 b)
{
	unsigned __int128 product = (unsigned __int128)a * b;

	return (u64)product ^ (u64)(product >> 64);
}

/*
 * Eight bytes at a time: names are short and this runs once per token. The last character is added
 * at the end, so that %r10 to %r19, which mostly come together, are neighbours in the table and
 * share its cache lines.
 */
static u32 str_hash(const char *s, size_t n)
{
	u32 last = n ? (u8)s[n - 1] : 0;
	u64 h, w;

	n -= n > 0;
	h = (n << 4 | last >> 4) * 0x9e3779b97f4a7c15u;
	while (n > 8) {
		memcpy(&w, s, 8);
		h = fold_hash(h ^ w, 0xff51afd7ed558ccdu);
		s += 8;
		n -= 8;
	}
	w = 0;
	if (n >= 4) {
		u32 lo, hi;

		memcpy(&lo, s, 4);
		memcpy(&hi, s + n - 4, 4);
		w = (u64)hi << 32 | lo;
	} else if (n) {
		w = (u64)(u8)s[0] | (u64)(u8)s[n / 2] << 8 | (u64)(u8)s[n - 1] << 16;
	}
	return (u32)fold_hash(h ^ w, 0xc4ceb9fe1a85ec53u) * 8 + (last & 15);
}

static struct str **find_slot(const struct intern *t, const char *s, size_t n, u32 hash)
{
	size_t i = hash & (t->cap - 1);
	struct str *x;

	while ((x = t->slots[i]) && !(x->hash == hash && x->len == n && !memcmp(x->text, s, n)))
		i = (i + 1) & (t->cap - 1);
	return &t->slots[i];
}

static bool intern_grow(struct intern *t)
{
	struct intern bigger = {.arena = t->arena, .len = t->len, .cap = t->cap ? t->cap * 2 : 256};

	bigger.slots = calloc(bigger.cap, sizeof(*bigger.slots));
	if (!bigger.slots)
		return false;
	for (size_t i = 0; i < t->cap; i++) {
		struct str *x = t->slots[i];

		if (x)
			*find_slot(&bigger, x->text, x->len, x->hash) = x;
	}
	free(t->slots);
	*t = bigger;
	return true;
}

struct str *intern_find(const struct intern *t, const char *s, size_t n)
{
	return t->cap ? *find_slot(t, s, n, str_hash(s, n)) : NULL;
}

struct str *intern_get(struct intern *t, const char *s, size_t n)
{
	u32 hash = str_hash(s, n);
	struct str **slot, *x;

	if (n > UINT32_MAX / 2 || (t->len * 2 >= t->cap && !intern_grow(t)))
		return NULL;
	slot = find_slot(t, s, n, hash);
	if (*slot)
		return *slot;
	x = arena_alloc(t->arena, sizeof(*x) + n + 1);
	if (!x)
		return NULL;
	x->hash = hash;
	x->len = (u32)n;
	memcpy(x->text, s, n);
	*slot = x;
	t->len++;
	return x;
}
