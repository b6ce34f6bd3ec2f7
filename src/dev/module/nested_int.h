/*
 * Inside dynamic parallelism: the work items that device code enqueues, and what its functions
 * need.
 */
#ifndef PL_DEV_NESTED_INT_H
#define PL_DEV_NESTED_INT_H

#include "src/dev/module/nested.h"

enum item_kind { ITEM_LAUNCH, ITEM_COPY, ITEM_FILL };

/* Where copies and fills begin, and how far rows and slices are apart. */
struct item_place {
	u64 at, pitch, slice;
};

/* A piece of work. Copies and fills: `slices` slices of `rows` rows of `bytes`. */
struct item {
	struct item *next;
	enum item_kind kind;
	struct device_flight *flight;
	struct item_place to, from;
	u64 bytes, rows, slices;
	u8 value;
};

/* Carry out a copy or fill. STATUS_ILLEGAL_ADDRESS: a row of it is not allocated. */
enum status nested_move(struct device *d, const struct item *i);

/* The launch that a call of device code belongs to. */
struct device_flight *nested_flight(const struct exec_call *c);

/*
 * End a call of device code with a result of `bytes` bytes, stored where the parameter points to;
 * it returns success, or STATUS_INVALID_VALUE where that is no memory.
 */
enum fault_kind nested_give(struct exec_call *c, u32 parameter, const void *from, u32 bytes);
enum fault_kind nested_give_int(struct exec_call *c, u32 parameter, u32 value);

/* Enqueue a copy of the item, and return the resulting error code to device code. */
enum fault_kind nested_enqueue(struct exec_call *c, struct item *i, u64 stream);

/* A parameter that is a structure, `bytes` long; what the declaration lacks of it is zero. */
void nested_read(const struct exec_call *c, u32 parameter, void *out, u32 bytes);

#endif
