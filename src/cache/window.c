/*
 * Windows of the second cache, as measured on an H200 by the times of single loads.
 *
 * Lines are chosen by pieces of 512 bytes: with a ratio of r, floor(16 r) + 1 sixteenths of them,
 * all of those of a smaller ratio among them (r = 0, 0.1, 0.25, 0.5, 0.6, 0.75, 0.9: 6.3, 12.6,
 * 31.4, 56.3, 62.6, 81.3, 93.8 % of 4 MiB stayed). Which pieces these are there is not known.
 * Normal makes persisting lines normal. Streaming changes nothing: such lines stay as long as
 * others do, and persisting ones that they hit remain so.
 */
#include "src/cache/window.h"
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

u32 l2_window_class(const struct l2_window *w, u64 line, u32 own)
{
	if (line - w->first >= w->lines || own != L2_NORMAL)
		return own;
	/* Fibonacci hashing: its highest bits are spread evenly over pieces that follow. */
	return (line / PIECE_LINES * 0x9e3779b97f4a7c15u) >> 60 < w->sixteenths ? w->hit : w->miss;
}
