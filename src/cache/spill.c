/*
 * Blocks in a file.
 */
#include "src/cache/spill.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void cache_spill_init(struct cache_spill *s, u64 most)
{
	*s = (struct cache_spill){.most = most / SPILL_BLOCK_BYTES, .fd = -1};
	pthread_mutex_init(&s->lock, NULL);
}

void cache_spill_fini(struct cache_spill *s)
{
	if (s->fd >= 0)
		close(s->fd);
	VEC_FREE(&s->free);
	pthread_mutex_destroy(&s->lock);
}

bool cache_spill_keeps(struct cache_spill *s)
{
	bool keeps;

	pthread_mutex_lock(&s->lock);
	keeps = s->kept < s->most;
	s->kept += keeps;
	pthread_mutex_unlock(&s->lock);
	return keeps;
}

void cache_spill_forget(struct cache_spill *s)
{
	pthread_mutex_lock(&s->lock);
	s->kept--;
	pthread_mutex_unlock(&s->lock);
}

static int open_in(const char *folder)
{
	char path[4096];
	int fd, n = snprintf(path, sizeof(path), "%s/ptxloom-XXXXXX", folder);

	if (n < 0 || (size_t)n >= sizeof(path))
		return -1;
	fd = mkostemp(path, O_CLOEXEC);
	if (fd >= 0)
		unlink(path);
	return fd;
}

/* In TMPDIR, else where files may be large: /tmp is often memory. */
static int open_file(void)
{
	const char *folder = getenv("TMPDIR");
	int fd = folder && *folder ? open_in(folder) : -1;

	if (fd < 0)
		fd = open_in("/var/tmp");
	return fd < 0 ? open_in("/tmp") : fd;
}

/* With the lock held. False: there is none. */
static bool take_place(struct cache_spill *s, u64 *at)
{
	if (s->fd < 0 && !s->failed)
		s->fd = open_file();
	s->failed |= s->fd < 0;
	if (s->failed)
		return false;
	*at = s->free.len ? s->free.at[--s->free.len] : s->end++;
	return true;
}

/* A whole block, in spite of signals. */
static bool move_block(int fd, void *words, u64 at, bool writes)
{
	u8 *from = words;
	size_t left = SPILL_BLOCK_BYTES;
	off_t to = (off_t)(at * SPILL_BLOCK_BYTES);

	while (left) {
		ssize_t n = writes ? pwrite(fd, from, left, to) : pread(fd, from, left, to);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		from += n;
		to += n;
		left -= (size_t)n;
	}
	return true;
}

bool cache_spill_write(struct cache_spill *s, const u64 *words, u64 *at)
{
	bool ok;

	pthread_mutex_lock(&s->lock);
	ok = take_place(s, at);
	pthread_mutex_unlock(&s->lock);
	if (!ok || move_block(s->fd, (void *)(uintptr_t)words, *at, true))
		return ok;
	pthread_mutex_lock(&s->lock);
	s->failed = true;
	pthread_mutex_unlock(&s->lock);
	return false;
}

bool cache_spill_read(struct cache_spill *s, u64 at, u64 *words)
{
	return move_block(s->fd, words, at, false);
}

/* Without memory for the list, the file keeps a hole. */
void cache_spill_drop(struct cache_spill *s, u64 at)
{
	pthread_mutex_lock(&s->lock);
	(void)!VEC_PUSH(&s->free, at);
	pthread_mutex_unlock(&s->lock);
}
