/*
 * Distance of words: Damerau and Levenshtein's, with swaps of neighbours only.
 */
#include "src/base/nearest.h"

void nearest_init(struct nearest *n, const char *word, size_t len)
{
	*n = (struct nearest){.word = word, .len = len, .distance = (u32)(len + 2) / 3 + 1};
}

static u32 min3(u32 a, u32 b, u32 c)
{
	return (u32)min_u64(a, min_u64(b, c));
}

static u32 distance(const char *a, size_t alen, const char *b, size_t blen)
{
	u32 rows[3][NEAREST_MAX + 1];
	u32 *before = rows[0], *last = rows[1], *now = rows[2], *spare;

	for (u32 j = 0; j <= blen; j++)
		last[j] = j;
	for (u32 i = 1; i <= alen; i++) {
		now[0] = i;
		for (u32 j = 1; j <= blen; j++) {
			now[j] = min3(last[j] + 1, now[j - 1] + 1,
				      last[j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				now[j] = (u32)min_u64(now[j], before[j - 2] + 1);
		}
		spare = before;
		before = last;
		last = now;
		now = spare;
	}
	return last[blen];
}

void nearest_offer(struct nearest *n, const char *candidate, size_t len)
{
	u32 d;

	if (n->len > NEAREST_MAX || len > NEAREST_MAX)
		return;
	d = distance(n->word, n->len, candidate, len);
	if (d >= n->distance)
		return;
	n->distance = d;
	n->best = candidate;
}
