/*
 * Private to profile*.c: the layout of files.
 */
#ifndef PL_COVER_PROFILE_INT_H
#define PL_COVER_PROFILE_INT_H

#include "src/cover/profile.h"

#include <signal.h>

#define COVER_MAGIC "PTXLCOV\n"
#define COVER_VERSION 1u
#define COVER_RECORD_MARK 0x56434f43u

struct cover_header {
	char magic[8];
	u64 version;
	u64 used; /* bytes of the file that count, the header among them */
};

/*
 * The name follows, ended by zeros up to a multiple of 8 bytes, then the counts. A record whose
 * counts are being written has no checksum, nor has one that a killed process left then: its counts
 * are from before and after, each of them true once.
 */
struct cover_record {
	u32 mark, name_len, counts;
	u32 sum;   /* checksum of the whole record, 0: none */
	u64 bytes; /* of the record */
	struct cover_hash module;
};

u64 cover_record_bytes(u64 name_len, u64 counts);
const char *cover_record_name(const struct cover_record *r);
const struct exec_count *cover_record_counts(const struct cover_record *r);
/* The checksum of a whole record, never 0. */
u32 cover_record_sum(const struct cover_record *r);
/* Is the record at `at`, of at most `left` bytes, well-formed and what was written? */
bool cover_record_is_whole(const struct cover_record *r, u64 left);
/* What is wrong with a file, after its name; NULL: nothing. */
const char *cover_check(const u8 *data, u64 size);
bool cover_add_records(struct cover_profile *p, const u8 *data, struct text *why);
void cover_record_put(const struct cover_entry *e, struct text *out);

/* A new file that is there whole or not at all. False, with a line in `why`. */
bool cover_put_file(const char *path, const void *from, size_t n, struct text *why);

/* Writing past a limit of the size of files is an error, not a signal, between these two. */
void cover_block_limit(sigset_t *old);
void cover_restore_limit(const sigset_t *old);

#endif
