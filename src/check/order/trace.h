/*
 * Which bytes of global memory a piece of work has touched, and by which instructions: pages of
 * bits for accesses of kernels, spans for copies and fills.
 */
#ifndef PL_CHECK_TRACE_H
#define PL_CHECK_TRACE_H

#include "src/base/map.h"
#include "src/base/vec.h"

#define TRACE_PAGE 1024u

enum trace_how {
	TRACE_READS = 1,
	TRACE_WRITES = 2,
	TRACE_STRONG = 4, /* atomic, or otherwise strong, of device scope or wider */
};

/* What one instruction has touched of a page. */
struct trace_marks {
	struct trace_marks *next; /* of the page */
	u64 page;                 /* number */
	u32 pc;
	u8 how;
	u64 bits[TRACE_PAGE / 64];
};

struct trace_span {
	u64 first, end;
	u8 how;
};

/* The page that an instruction has touched last. */
struct trace_recent {
	struct trace_marks *marks;
};

struct trace_chunk;

struct trace {
	struct map pages; /* by number + 1: struct trace_marks * */
	struct trace_chunk *chunks;
	VEC(struct trace_span) spans;
	struct trace_recent *recent; /* by pc; NULL: not a kernel's, or it has ended */
	u32 pcs;
	u64 first, end; /* all of it lies there */
	bool gave_up;   /* no memory left */
};

/* pcs: micro-ops of the kernel, 0: no kernel. */
void trace_init(struct trace *t, u32 pcs);
/* Further micro-ops, numbered behind those so far. */
void trace_grow(struct trace *t, u32 pcs);
void trace_fini(struct trace *t);
/* Nothing is added any more. */
void trace_close(struct trace *t);
void trace_mark(struct trace *t, u32 pc, u8 how, u64 address, u64 bytes);
void trace_span(struct trace *t, u8 how, u64 address, u64 bytes);
/* The memory is another's from now on. */
void trace_forget(struct trace *t, u64 address, u64 bytes);

/* Two accesses of a byte that are not both reads, nor both strong. */
struct trace_clash {
	u64 address;
	u32 pc[2]; /* TRACE_NO_PC: a copy's */
	u8 how[2];
};

#define TRACE_NO_PC UINT32_MAX

/* Tell each pair of instructions, or several times; in no order. */
typedef void trace_clash_fn(void *user, const struct trace_clash *c);
void trace_compare(const struct trace *a, const struct trace *b, trace_clash_fn *fn, void *user);
/* Does an access of this byte, from outside, race with one of these? how: of that access. */
bool trace_find(const struct trace *t, u64 address, u8 how, struct trace_clash *out);
/* Tell each page of `bytes` (a multiple of TRACE_PAGE) that is touched between two addresses. */
typedef void trace_page_fn(void *user, u64 address, u8 how);
void trace_each_page(const struct trace *t, u64 first, u64 end, u64 bytes, trace_page_fn *fn,
		     void *user);
/* Do both touch a byte by strong accesses, one of them a write, and so may wait for each other? */
bool trace_meets(const struct trace *a, const struct trace *b);

#endif
