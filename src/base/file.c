/*
 * Whole files in memory: mmap for regular files, reading for the rest. Whole files on disk.
 */
#include "src/base/file.h"

#include "src/base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define STREAM_MAX ((size_t)4 << 30)

static bool read_stream(struct file *f, int fd)
{
	size_t cap = 64 << 10, len = 0;
	u8 *buf = malloc(cap), *bigger;
	ssize_t n;

	if (!buf)
		return false;
	while ((n = read(fd, buf + len, cap - len - 1)) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			goto fail;
		len += (size_t)n;
		if (len + 1 < cap)
			continue;
		if (cap >= STREAM_MAX) {
			errno = EFBIG;
			goto fail;
		}
		bigger = realloc(buf, cap * 2);
		if (!bigger)
			goto fail;
		buf = bigger;
		cap *= 2;
	}
	buf[len] = 0;
	*f = (struct file){.data = buf, .size = len};
	return true;
fail:
	free(buf);
	return false;
}

bool file_open(struct file *f, const char *path)
{
	bool is_stdin = !strcmp(path, "-");
	int fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	bool ok = false;
	void *p;
	int saved;

	*f = (struct file){0};
	if (fd < 0)
		return false;
	if (fstat(fd, &st))
		goto out;
	if (S_ISDIR(st.st_mode)) {
		errno = EISDIR;
		goto out;
	}
	if (is_stdin || !S_ISREG(st.st_mode) || st.st_size == 0) {
		ok = read_stream(f, fd);
		goto out;
	}
	p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (p == MAP_FAILED)
		goto out;
	*f = (struct file){.data = p, .size = (size_t)st.st_size, .mapped = true};
	ok = true;
out:
	saved = errno;
	if (!is_stdin)
		close(fd);
	errno = saved;
	return ok;
}

void file_close(struct file *f)
{
	if (f->mapped)
		munmap((void *)(uintptr_t)f->data, f->size);
	else
		free((void *)(uintptr_t)f->data);
	*f = (struct file){0};
}

bool file_write(int fd, const void *from, size_t n)
{
	const u8 *at = from;

	while (n) {
		ssize_t k = write(fd, at, n);

		if (k < 0 && errno == EINTR)
			continue;
		if (k <= 0)
			return false;
		at += k;
		n -= (size_t)k;
	}
	return true;
}

/* In place. */
static bool put_there(const char *path, const void *from, size_t n)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666), saved;
	bool ok = fd >= 0 && file_write(fd, from, n);

	saved = errno;
	if (fd >= 0 && close(fd) && ok) {
		saved = errno;
		ok = false;
	}
	errno = saved;
	return ok;
}

/* A new file beside it takes its place. *cannot: there can be none beside it. */
static bool put_beside(const char *path, const struct stat *old, const void *from, size_t n,
		       bool *cannot)
{
	struct text part = {0};
	int fd, saved;
	bool ok;

	text_printf(&part, "%s.%ld.part", path, (long)getpid());
	fd = part.failed ? -1 : open(part.at, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	saved = errno;
	*cannot = fd < 0;
	ok = fd >= 0 && (!old || !fchmod(fd, old->st_mode & 07777)) && file_write(fd, from, n);
	if (fd >= 0) {
		saved = errno;
		if (close(fd) && ok) {
			saved = errno;
			ok = false;
		}
		if (ok && rename(part.at, path)) {
			saved = errno;
			ok = false;
		}
		if (!ok)
			unlink(part.at);
	}
	text_fini(&part);
	errno = saved;
	return ok;
}

bool file_put(const char *path, const void *from, size_t n)
{
	char real[PATH_MAX];
	struct stat old;
	bool exists = !stat(path, &old), cannot, ok;

	if (exists && (!S_ISREG(old.st_mode) || access(path, W_OK) || !realpath(path, real)))
		return put_there(path, from, n);
	/* Behind a link that leads nowhere there is no name to take. */
	if (!exists && !lstat(path, &old))
		return put_there(path, from, n);
	ok = put_beside(exists ? real : path, exists ? &old : NULL, from, n, &cannot);
	return ok || (cannot && put_there(path, from, n));
}

const char *file_temp(void)
{
	const char *folder = getenv("TMPDIR");

	return folder && *folder ? folder : "/tmp";
}

bool file_make_temp(const char *name, char *path, size_t size)
{
	int n = snprintf(path, size, "%s/%s-XXXXXX", file_temp(), name);

	if (n > 0 && (size_t)n < size)
		return mkdtemp(path) != NULL;
	errno = ENAMETOOLONG;
	return false;
}
