/*
 * Windows of the second cache, as measured on an H200 by the times of single loads.
 *
 * Lines are chosen by pieces of 512 bytes: with a ratio of r, floor(16 r) + 1 sixteenths of them,
 * all of those of a smaller ratio among them (r = 0, 0.1, 0.25, 0.5, 0.6, 0.75, 0.9: 6.3, 12.6,
 * 31.4, 56.3, 62.6, 81.3, 93.8 % of 4 MiB stayed). Which pieces these are there is not known.
 * Policies of kernels are taken to choose their fraction in the same way.
 * Normal makes persisting lines normal. Streaming changes nothing: such lines stay as long as
 * others do, and persisting ones that they hit remain so.
 */
#include "src/cache/window.h"
#include "src/base/l2_policy.h"
#include "src/cache/l2.h"

#define PIECE_LINES (512u / CACHE_LINE_BYTES)

static u8 class_of_property(s32 property)
{
	return property == ACCESS_PERSISTING ? L2_PERSISTING
	       : property == ACCESS_NORMAL   ? L2_DEMOTE
					     : L2_NORMAL;
}

struct l2_window l2_window_of(const struct access_window *w, u64 origin)
{
	struct l2_window out = {0};
	u64 from, to;

	if (!w || !w->bytes || w->base < origin)
		return out;
	from = w->base - origin;
	if (__builtin_add_overflow(from, w->bytes - 1, &to))
		to = UINT64_MAX;
	out.first = from / CACHE_LINE_BYTES;
	out.lines = to / CACHE_LINE_BYTES - out.first + 1;
	out.hit = class_of_property(w->hit);
	out.miss = class_of_property(w->miss);
	/* A ratio that is no number is as good as none. */
	out.sixteenths = w->ratio > 0 ? (u32)(w->ratio < 1 ? w->ratio * 16 : 15) + 1 : 1;
	return out;
}

/* 0 .. 15. Fibonacci hashing: its highest bits are spread evenly over pieces that follow. */
static u32 piece_part(u64 line)
{
	return (u32)((line / PIECE_LINES * 0x9e3779b97f4a7c15u) >> 60);
}

u32 l2_window_class(const struct l2_window *w, u64 line, u32 own)
{
	if (line - w->first >= w->lines || own != L2_NORMAL)
		return own;
	return piece_part(line) < w->sixteenths ? w->hit : w->miss;
}

/* ---- policies ---- */

u32 l2_hint_number(struct l2_hints *h, u64 policy)
{
	for (u32 i = 0; i < h->len; i++)
		if (h->policy[i] == policy)
			return i + 1;
	if (h->len == L2_HINTS_MAX)
		return 0;
	h->policy[h->len++] = policy;
	return h->len;
}

u32 l2_hint_class(const struct l2_hints *h, u32 number, u64 line, u32 own)
{
	static const u8 classes[] = {
		[L2_PRIORITY_UNCHANGED] = L2_NORMAL,
		[L2_PRIORITY_FIRST] = L2_STREAMING,
		[L2_PRIORITY_LAST] = L2_PERSISTING,
		[L2_PRIORITY_NORMAL] = L2_DEMOTE,
	};
	struct l2_policy_line at = {line * CACHE_LINE_BYTES, piece_part(line)};

	if (!h || !number)
		return own;
	at.address += h->origin;
	return classes[l2_policy_priority(h->policy[number - 1], &at)];
}
