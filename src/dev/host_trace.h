/*
 * Where the host program makes calls: its stack at that time, as addresses, and the functions and
 * lines that they are when a finding shows them.
 */
#ifndef PL_DEV_HOST_TRACE_H
#define PL_DEV_HOST_TRACE_H

#include "src/base/host_line.h"
#include "src/base/text.h"

/* Strings stay until the process ends; NULL: unknown. */
struct host_frame {
	const char *function; /* demangled */
	const char *file;     /* of the source, as the compiler names it */
	const char *module;   /* path of the program or library */
	u64 address;          /* in the module, of the instruction after the call */
	u64 offset;           /* of it in the function, if that is a symbol */
	u32 line;
	bool is_inlined; /* part of the function of the next frame */
};

/* One stack, made once for all calls that have it; stays until the process ends. */
struct host_trace;

/* The call that something was asked for by. */
struct host_from {
	const void *caller;             /* where it returns to; NULL: unknown */
	const struct host_trace *trace; /* NULL: only kept while something is checked */
};

/*
 * Keep traces from now on, with lines by this finder (NULL: none). It may call the loader, as the
 * first unwinding does: not from where a thread that holds the loader's lock may wait for the
 * caller.
 */
void host_trace_begin(host_line_finder *lines);
/* In a child by fork: none is kept. */
void host_trace_forget(void);

/*
 * The stack of the calling thread, from the function that has called this library; caller: the
 * address that the call returns to, for when there is nothing to unwind by. NULL before
 * host_trace_begin, and without memory.
 */
const struct host_trace *host_trace_here(const void *caller);

/* Its frames, innermost first, up to main. Symbols are read when they are first asked for. */
const struct host_frame *host_trace_frames(const struct host_trace *x, u32 *len);

/*
 * The frame that users would name: the innermost with a line outside headers of toolkits, compilers
 * and systems; without lines the innermost that is no function of these. NULL: there is none.
 */
const struct host_frame *host_trace_place(const struct host_trace *x);

/* Add "main in scale.cu:30"; what host_place_say adds where no line is known. */
void host_from_say(struct host_from from, struct text *out);

/* Add "Host Frame: .." lines, `most` at most (0: all), in compute-sanitizer's words. */
void host_trace_say(const struct host_trace *x, u32 most, struct text *out);

#endif
