/*
 * Instrumented twins of bulk copies, of what st.async and red.async send, and of st.bulk: they tell
 * the observer which bytes are read and will be written, then do what the plain handlers do.
 */
#include "src/ops/observe.h"

/* Of each 16 bytes those whose bits of .cp_mask are set: each run of them is reported. */
static void tell_masked(struct gang *g, const struct uop *in, u32 w, u32 l, u64 to, u32 bytes,
			u32 mask)
{
	for (u32 i = 0; i < bytes; i++) {
		u32 first = i;

		while (i < bytes && mask >> i % 16 & 1)
			i++;
		tell_place(g, in, w, l, ACCESS_COPY_WRITE, to + first, i - first);
	}
}

static void tell_destination(struct gang *g, const struct uop *in, u32 w, u32 l, u64 to, u32 bytes)
{
	u32 row = ext_row(g, in, 2),
	    mask = row == NO_ROW ? 0xffff : ROW32(row)[w * WARP_LANES + l] & 0xffff;

	if (mask != 0xffff)
		tell_masked(g, in, w, l, to, bytes, mask);
	else
		tell_place(g, in, w, l, in->copy.reduces ? ACCESS_RED : ACCESS_COPY_WRITE, to,
			   bytes);
}

/* One for each CTA of the mask, at the same offsets there. */
static void tell_multicast(struct gang *g, const struct uop *in, u32 w, u32 l, u64 to, u32 bytes)
{
	u32 at = w * WARP_LANES + l, mask = ROW32(ext_row(g, in, 1))[at] & 0xffff;
	u64 mbar = ROW64(ext_row(g, in, 0))[at];

	for (; mask; mask &= mask - 1) {
		u64 rank = ((u64)__builtin_ctz(mask) + 1) << MEM_SHARED_RANK_SHIFT;

		tell_destination(g, in, w, l, (to & MEM_SHARED_OFFSET) | rank, bytes);
		tell_mbarrier(g, in, w, l, (mbar & MEM_SHARED_OFFSET) | rank);
	}
}

static void tell_bulk(struct gang *g, const struct uop *in, u32 w, u32 l)
{
	u32 at = w * WARP_LANES + l, bytes = ROW32(in->c)[at], first = 0, last = 0;
	u64 to = ROW64(in->a)[at], from = ROW64(in->b)[at];

	if (ext_row(g, in, 3) != NO_ROW) {
		first = ROW32(ext_row(g, in, 3))[at] & 15;
		last = ROW32(ext_row(g, in, 4))[at] & 15;
	}
	bytes -= first + last < bytes ? first + last : bytes;
	tell_place(g, in, w, l, ACCESS_COPY_READ, from + first, bytes);
	if (in->copy.to_global || ext_row(g, in, 1) == NO_ROW)
		tell_destination(g, in, w, l, to + first, bytes);
	else
		tell_multicast(g, in, w, l, to + first, bytes);
	if (!in->copy.to_global && ext_row(g, in, 1) == NO_ROW && ext_row(g, in, 0) != NO_ROW)
		tell_mbarrier(g, in, w, l, ROW64(ext_row(g, in, 0))[at]);
}

HANDLER(watch_bulk)
{
	if (tells_all(g))
		EACH_LANE(w, l)
			tell_bulk(g, in, w, l);
	return PLAIN(g, in);
}

HANDLER(watch_remote)
{
	if (tells_all(g))
		EACH_LANE(w, l) {
			u32 at = w * WARP_LANES + l;

			tell_place(g, in, w, l, in->copy.reduces ? ACCESS_RED : ACCESS_COPY_WRITE,
				   ROW64(in->a)[at], (u64)in->mem.size * in->mem.count);
			tell_mbarrier(g, in, w, l, ROW64(ext_row(g, in, 0))[at]);
		}
	return PLAIN(g, in);
}

HANDLER(watch_fill)
{
	if (tells_all(g))
		EACH_LANE(w, l)
			tell_place(g, in, w, l, ACCESS_STORE, ROW64(in->a)[w * WARP_LANES + l],
				   ROW64(in->b)[w * WARP_LANES + l]);
	return PLAIN(g, in);
}
