/*
 * Private to src/dev: what a record holds before the contents of memory.
 */
#ifndef PL_DEV_RECORD_INT_H
#define PL_DEV_RECORD_INT_H

#include "src/dev/device_int.h"
#include "src/dev/record/record.h"
#include "src/dev/record/wire.h"

#define RECORD_MAGIC "ptxlrec\n"
#define RECORD_VERSION 1u
/* Magic, version and packing. */
#define RECORD_HEAD 16u

struct record_range {
	u64 base, size;
	u32 kind; /* enum mem_kind */
	bool freed;
};

struct record_text {
	char *name;
	u8 *text;
	u64 size;
};

struct record_settings {
	u64 seed, timeout_ms;
	u32 workers;
	bool deterministic, async_eager, check_mem;
};

struct record_device {
	char *id, *profile; /* as a profile of users' own */
	u32 number, count, stack_bytes;
	u64 heap_limit;
	u64 arena, open, next, window;
};

struct record_launch {
	char *kernel;
	u32 grid[3], block[3], cluster[3]; /* as a launch asks for them */
	u32 dynamic_bytes, max_dynamic_bytes;
	bool cooperative, nonportable_cluster;
	u32 cluster_required[3], carveout;
	u64 grid_id, place;    /* as in struct device_flight */
	u64 params, workspace; /* addresses */
	u32 params_cap;
	u8 *values;
	u64 value_bytes;
};

/* What is malloc'ed belongs to the record, but while one is written. */
struct record {
	char *from; /* the program, for messages */
	struct record_settings settings;
	struct record_device device;
	struct record_launch launch;
	u32 mode; /* enum ir_link_mode */
	VEC(struct record_text) texts;
	VEC(u64) places; /* of the program's variables */
	VEC(struct record_range) ranges;
	VEC(char *) notes; /* what the record lacks: sentences */
};

/* Write or read it. */
void record_walk(struct wire *w, struct record *r);
/* Free what was read. */
void record_fini(struct record *r);

#endif
