/* Lines of the host program: what finds them (src/dbg) and what asks for them (src/dev) share. */
#ifndef PL_HOST_LINE_H
#define PL_HOST_LINE_H

#include "src/base/base.h"

/* One of the lines, innermost first, that an address of a file is in; strings of the finder. */
struct host_line {
	const char *function; /* as the linker names it; NULL: unknown */
	const char *file;
	u32 line;
};

/*
 * How many lines there are at `address` of a file, 0 if unknown; `out` gets at most `room`. One
 * thread at a time calls it.
 */
typedef u32 host_line_finder(const char *path, u64 address, struct host_line *out, u32 room);

#endif
