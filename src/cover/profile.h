/*
 * Coverage profiles: files of what functions of PTX have counted. The texts lie beside them, by
 * hash, in `modules`, so that reports need no program.
 *
 * A profile is a header and records one after the other, in the byte order of x86; each is a
 * multiple of 8 bytes. Records are only ever added, at the end, and their counts only grow: sums
 * that saturate, a union, a maximum. So processes share files under flock, in any order, and what
 * a process that is killed leaves behind is what its launches that had ended counted.
 */
#ifndef PL_COVER_PROFILE_H
#define PL_COVER_PROFILE_H

#include "src/base/map.h"
#include "src/base/text.h"
#include "src/base/vec.h"
#include "src/exec/program.h"

#define COVER_HASH_TEXT 33u /* a hash in digits, and the end */

/* Of a text: 128 bits. */
struct cover_hash {
	u64 at[2];
};

struct cover_hash cover_hash_of(const char *text, size_t size);
void cover_hash_text(struct cover_hash h, char out[COVER_HASH_TEXT]);

/* A function of a text, with its counts; no name: the text is there, if nothing of it ran. */
struct cover_entry {
	struct cover_hash module;
	const char *name;         /* owned */
	struct exec_count *count; /* owned */
	u32 counts;
	/* Of what a process counts: where its file has it, 0: not yet; is there more to add? */
	bool is_dirty;
	u64 place;
};

/* What files say, in memory. All zero: empty. */
struct cover_profile {
	VEC(struct cover_entry) entries;
	struct map at;           /* hash of module and name -> entry + 1 */
	u64 device, inode, seen; /* the file that `place` is about, and how long it was */
};

void cover_profile_free(struct cover_profile *p);
/*
 * Add counts of a function, n 0 of a text. False, with a line in `why`: no memory, or it has
 * another number of counts already.
 */
bool cover_profile_add(struct cover_profile *p, struct cover_hash module, const char *name,
		       const struct exec_count *count, u32 n, struct text *why);
/* Add what a file says. False, with a line in `why`, without having added any of it. */
bool cover_profile_read(struct cover_profile *p, const char *path, struct text *why);
/* Sort the entries, so that equal profiles are equal files. */
void cover_profile_sort(struct cover_profile *p);
/* Write a file of its own. False, with a line in `why`: there is none then. */
bool cover_profile_write(const struct cover_profile *p, const char *path, struct text *why);
/* The entry of a function, NULL: there is none. */
struct cover_entry *cover_profile_find(struct cover_profile *p, struct cover_hash module,
				       const char *name);
/*
 * Add what is new (is_dirty, or without a place) to a file, which is made if there is none; other
 * processes may do the same. The counts are 0 then. False, with a line in `why`: what could not be
 * added is still new.
 */
bool cover_profile_flush(struct cover_profile *p, const char *path, struct text *why);
/* Sum that saturates. */
void cover_count_add(struct exec_count *to, const struct exec_count *from);
/* Keep a text in the folder FOLDER/modules. False, with a line in `why`. */
bool cover_module_keep(const char *folder, struct cover_hash hash, const char *text, size_t size,
		       struct text *why);
/* Make a folder and those above it. False: errno. */
bool cover_make_folder(const char *path);

#endif
