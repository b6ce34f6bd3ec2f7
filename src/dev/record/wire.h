/*
 * The bytes of a record: little endian, written to memory and packed into a file, or read from one.
 * One function for both directions goes over every value, so that they cannot differ.
 *
 * After a failure (no memory, the file ends, an invalid size) values that are read are zero
 * and nothing is written; `failed` is checked where it matters.
 */
#ifndef PL_DEV_WIRE_H
#define PL_DEV_WIRE_H

#include "src/base/text.h"
#include "src/base/vec.h"

#include <zstd.h>

/* The longest text or list of bytes that is taken. */
#define WIRE_BYTES_MAX ((u64)1 << 30)

struct wire {
	bool reading, failed;
	VEC(u8) out; /* writing: all of it */
	/* Reading: what is left of the file, borrowed. */
	const u8 *in;
	u64 left;
	ZSTD_DStream *stream; /* NULL: the file is not packed */
	bool ended;           /* its frame has, with the right checksum */
};

/* How a file is packed: a number in its head. */
enum wire_packing { WIRE_PLAIN, WIRE_ZSTD };

/* Begin to read what follows the head of a file. False: no memory. */
bool wire_open(struct wire *w, const u8 *data, u64 bytes, enum wire_packing packing);
void wire_fini(struct wire *w);

/* Reading: nothing may follow, and the checksum is right. */
bool wire_is_over(struct wire *w);

/* As many bytes as they are. */
void wire_bytes(struct wire *w, void *bytes, u64 n);
void wire_u32(struct wire *w, u32 *v);
void wire_u64(struct wire *w, u64 *v);
void wire_bool(struct wire *w, bool *v);
void wire_dims(struct wire *w, u32 *v);
/* Bytes with their number before them; what is read is malloc'ed, with a NUL after it. */
void wire_blob(struct wire *w, u8 **bytes, u64 *n);
/* A text that ends with a NUL, which is not in the file. */
void wire_text(struct wire *w, char **text);

/* Write a head and what was written so far to a file. False, with errno. */
bool wire_save(const struct wire *w, const void *head, size_t head_bytes, enum wire_packing packing,
	       const char *path);

#endif
