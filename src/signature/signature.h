/*
 * Functions of static runtimes, as they are recognised in files whose symbols are gone: length, the
 * bytes that linkers change, and a hash of the others. Facts about code; none of it.
 *
 * The text of a table, line by line, numbers in hexadecimal:
 *   # anything
 *   runtime NAME                           a build of a runtime: the sections that follow
 *   section                                functions that keep their distances
 *   NAME OFFSET SIZE HASH ANCHOR MASK      one of them
 * ANCHOR is a hash of its first bytes, - if linkers change some of them. MASK has, from the end of
 * the previous changed place on, the bytes up to the next one and its length, A for 1 to Z for 26;
 * - if there is none.
 */
#ifndef PL_SIGNATURE_H
#define PL_SIGNATURE_H

#include "src/base/text.h"
#include "src/base/vec.h"

#define ANCHOR_BYTES 32u
#define SIGNATURE_MAX_BYTES (1u << 20) /* of one function */
#define SIGNATURE_MAX_NAME 120u

struct signature {
	const char *name; /* `name_bytes`, not terminated, as `mask` */
	const char *mask;
	u64 hash;
	u32 name_bytes, mask_bytes;
	u32 offset, size;
	u32 anchor;
	u32 section; /* index in the set; rising */
	bool anchored;
};

struct signature_build {
	const char *name;
	u32 name_bytes;
	u32 first, count; /* signatures */
	u32 sections;     /* before its first */
};

struct signature_set {
	VEC(struct signature) all;
	VEC(struct signature_build) builds;
	u32 sections;
};

/*
 * Add a table, whose bytes have to stay. False: nothing was added, and one line without a newline
 * in `why` says where the text is wrong, or that memory is short.
 */
bool signature_read(struct signature_set *set, const char *text, size_t bytes, struct text *why);
void signature_fini(struct signature_set *set);

/* The table that is built in. */
const char *signature_known(size_t *bytes);
/* The user's folder of tables, with a final slash. False: there is none. */
bool signature_folder(struct text *out);
#define SIGNATURE_SUFFIX ".sig"

/* Of ANCHOR_BYTES bytes. */
static inline u32 signature_anchor(const u8 *code)
{
	u64 w[ANCHOR_BYTES / 8], h = HASH_SEED;

	memcpy(w, code, sizeof(w));
	for (u32 i = 0; i < ARRAY_LEN(w); i++)
		h = ((h ^ w[i]) * HASH_PRIME) ^ (h >> 29);
	return (u32)(h ^ h >> 32);
}

/* The next place of a mask: *at, where the last one ended, becomes its begin. 0 bytes: no more. */
u32 signature_next_place(const char **mask, const char *end, u64 *at);
/* The hash of `size` bytes of code but for the places of the mask. */
u64 signature_hash(const u8 *code, u32 size, const char *mask, u32 mask_bytes);

#endif
