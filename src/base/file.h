/*
 * Whole files in memory, and names of files.
 */
#ifndef PL_FILE_H
#define PL_FILE_H

#include "src/base/base.h"

struct file {
	const u8 *data; /* `size` bytes, read-only; one NUL follows unless `mapped` */
	size_t size;
	bool mapped;
};

/*
 * Read or map `path` ("-": standard input). Regular files are mapped, so only pages that are used
 * are read; pipes and devices are read up to 4 GiB.
 * Returns false with errno set (EISDIR for a directory); f is then empty.
 */
bool file_open(struct file *f, const char *path);
void file_close(struct file *f);

/* Write all of it to a descriptor. Returns false with errno set. */
bool file_write(int fd, const void *from, size_t n);
/*
 * Make this the contents of `path`. A regular file keeps what it has until all is written; what is
 * no regular file (a pipe, a terminal) is written to. Returns false with errno set.
 */
bool file_put(const char *path, const void *from, size_t n);

/* The folder for temporary files: TMPDIR, else /tmp. */
const char *file_temp(void);
/* Make a folder there whose name begins so. Returns false with errno set; `path` says which. */
bool file_make_temp(const char *name, char *path, size_t size);

/* Are these n bytes of a path, or their end behind a slash, `wanted`? "k.cu" of "src/k.cu". */
static inline bool file_ends_with(const char *path, size_t n, const char *wanted)
{
	size_t end = strlen(wanted);

	return n >= end && !memcmp(path + n - end, wanted, end) &&
	       (n == end || *wanted == '/' || path[n - end - 1] == '/');
}

/* What comes after the last slash of a path, which it is a part of. */
static inline const char *file_base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* What comes after the folder `top` and its slash in a path; NULL: it does not lie there. */
static inline const char *file_within(const char *path, const char *top)
{
	size_t n = top ? strlen(top) : 0;

	while (n && top[n - 1] == '/')
		n--;
	return n && !strncmp(path, top, n) && path[n] == '/' ? path + n + 1 : NULL;
}

#endif
