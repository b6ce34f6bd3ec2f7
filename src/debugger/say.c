/*
 * What commands print.
 */
#include "src/debugger/debugger_int.h"

void say(struct debugger *x, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	text_vprintf(&x->out, fmt, args);
	va_end(args);
}

void say_error(struct debugger *x, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	text_vprintf(&x->out, fmt, args);
	va_end(args);
	text_puts(&x->out, "\n");
	x->failed = true;
}

/* Runs of this many lanes and more are written as ranges. */
#define LANES_RANGE 3u
/* More single lanes than this at a constant distance are cut: "9 11 13 .. 31". */
#define LANES_LISTED 8u

static u32 lane_run(u32 lanes, u32 first)
{
	u32 n = 0;

	while (first + n < WARP_LANES && lanes >> (first + n) & 1)
		n++;
	return n;
}

/* The distance between all lanes, 0: there are few, or they are not equally far apart. */
static u32 lane_distance(u32 lanes)
{
	u32 last = WARP_LANES, distance = 0;

	if ((u32)__builtin_popcount(lanes) <= LANES_LISTED)
		return 0;
	for (u32 l = 0; l < WARP_LANES; l++) {
		if (!(lanes >> l & 1))
			continue;
		if (last < WARP_LANES && distance && l - last != distance)
			return 0;
		distance = last < WARP_LANES ? l - last : 0;
		last = l;
	}
	return distance;
}

void say_lanes(u32 lanes, struct text *out)
{
	u32 distance = lane_distance(lanes), first = (u32)__builtin_ctz(lanes | 1u << 31);
	const char *space = "";

	if (!lanes)
		text_puts(out, "none");
	if (distance > 1) {
		text_printf(out, "%u %u %u .. %u", first, first + distance, first + 2 * distance,
			    WARP_LANES - 1 - (u32)__builtin_clz(lanes));
		return;
	}
	for (u32 l = 0; l < WARP_LANES; l++) {
		u32 n = lane_run(lanes, l);

		if (!n)
			continue;
		if (n < LANES_RANGE)
			n = 1;
		text_printf(out, n > 1 ? "%s%u-%u" : "%s%u", space, l, l + n - 1);
		space = " ";
		l += n - 1;
	}
}

void say_lanes_mask(u32 lanes, struct text *out)
{
	text_puts(out, lanes & (lanes - 1) ? "lanes " : "lane ");
	say_lanes(lanes, out);
	text_printf(out, " (%08x)", lanes);
}
