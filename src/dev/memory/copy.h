/*
 * Copies and fills: one description for all that both CUDA interfaces can ask for, checked as CUDA
 * checks, carried out in one place, in the order of a stream.
 *
 * A copy moves a box of `width` bytes, `height` rows and `depth` slices between two ends. An end is
 * memory of the host or of a device, or an array. Sources: CUDA Driver API "Memory Management",
 * cuMemcpy3D; CUDA Runtime API "API synchronization behavior".
 */
#ifndef PL_DEV_COPY_H
#define PL_DEV_COPY_H

#include "src/dev/stream/stream.h"
#include "src/mem/array.h"

enum copy_place {
	COPY_ANY,    /* the address says it */
	COPY_HOST,   /* pageable, pinned, managed or, as CUDA lets pass, a device's */
	COPY_DEVICE, /* memory that a device knows */
	COPY_ARRAY,
};

struct copy_end {
	enum copy_place place;
	u64 address;
	const void *array; /* the program's handle */
	u64 pitch;         /* bytes from row to row */
	u64 rows;          /* from slice to slice */
	u64 x, y, z;       /* where the box begins: bytes, rows, slices */
};

struct copy {
	struct copy_end dst, src;
	u64 width, height, depth;
};

/* A copy that has been checked: plain addresses of the host. */
struct copy_plan {
	u8 *dst;
	const u8 *src;
	u64 dst_pitch, dst_slice, src_pitch, src_slice;
	u64 width, height, depth;
	bool dst_pageable, src_pageable;               /* memory that no device knows */
	bool dst_device, src_device;                   /* memory that the host cannot touch */
	const struct mem_array *dst_array, *src_array; /* NULL: memory */
	u64 dst_bias, src_bias;  /* address of the host - address that programs see */
	void *owned;             /* freed after the copy, NULL: nothing */
	struct device *dev;      /* whose fault a bad copy is; NULL: it is not checked again */
	bool fills;              /* there is no source */
	struct host_from issued; /* the call that asked for it, for messages */
	/* Where a caller that waits finds the result; NULL: a fault is the device's. */
	enum status *outcome;
};

/* Values of 1, 2 or 4 bytes into a box; width counts values. */
struct copy_fill {
	u64 address, pitch, rows;
	u64 width, height, depth;
	u32 value, bytes;
};

/*
 * Whether the call returns when the copy is done or when it is in the stream. COPY_EARLY: in the
 * stream, but the source is read before the call returns, out of the stream's order.
 */
enum copy_mode { COPY_SYNC, COPY_ASYNC, COPY_EARLY };

/*
 * Check a copy. STATUS_INVALID_VALUE, STATUS_INVALID_PITCH_VALUE (rows longer than their distance),
 * STATUS_INVALID_HANDLE (no array). A copy of nothing is right whatever its addresses.
 */
enum status copy_check(struct mem_system *s, const struct copy *c, struct copy_plan *out);
/*
 * Memory of the host that a copy or a launch was told to use, and that is not there, or not to be
 * touched.
 */
struct copy_fault {
	const char *what; /* "a copy", "the launch of", and then .. */
	const char *name; /* .. of which kernel, "": none */
	u64 from, bytes;  /* all that is touched there */
	u64 address;      /* the first byte that it may not touch */
	bool write;
	bool exists; /* else nothing is mapped there */
	bool device; /* memory that devices know: freed since, or not to be written */
	bool array;  /* of texels: the address is no program's */
	struct host_from issued;
};

/*
 * Carry it out. STATUS_INVALID_VALUE: memory of the host was not as the program said, or memory of
 * a device has been freed since it was checked; p->dev (unless that is NULL) has been told. What
 * was copied before stays.
 */
enum status copy_run(const struct copy_plan *p);
/*
 * Check and issue. As CUDA: what the host could still change is read before the call returns, what
 * the host gets in pageable memory is there when it returns, and a synchronous copy between devices
 * is not waited for.
 */
enum status copy_issue(struct stream *s, const struct copy *c, enum copy_mode mode);

/* The same for fills. The plan's dst, pitch and slice say where; src is not used. */
enum status copy_fill_check(struct mem_system *s, const struct copy_fill *f, struct copy_plan *out);
/* STATUS_ILLEGAL_ADDRESS: memory has been freed since; plan->dev has been told. */
enum status copy_fill_run(const struct copy_plan *p, u32 value, u32 bytes);
enum status copy_fill_issue(struct stream *s, const struct copy_fill *f, enum copy_mode mode);

/* Plain copies of `bytes`. */
struct copy copy_linear(enum copy_place to, u64 dst, enum copy_place from, u64 src, u64 bytes);

#endif
