/*
 * Whole files in memory: mmap for regular files, reading for the rest.
 */
#include "src/base/file.h"

#include <errno.h>
#include <fcntl.h>
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
