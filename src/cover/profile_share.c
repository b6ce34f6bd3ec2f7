/*
 * Adding to a file that other processes may add to at the same time.
 */
#include "src/cover/profile_int.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define PROFILE_MOST ((u64)1 << 32)

void cover_block_limit(sigset_t *old)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGXFSZ);
	pthread_sigmask(SIG_BLOCK, &set, old);
}

void cover_restore_limit(const sigset_t *old)
{
	struct timespec now = {0};
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGXFSZ);
	if (!sigismember(old, SIGXFSZ))
		while (sigtimedwait(&set, NULL, &now) > 0)
			;
	pthread_sigmask(SIG_SETMASK, old, NULL);
}

static bool read_at(int fd, void *to, size_t n, u64 at)
{
	for (u8 *p = to; n;) {
		ssize_t k = pread(fd, p, n, (off_t)at);

		if (k < 0 && errno == EINTR)
			continue;
		if (k <= 0)
			return false;
		p += k;
		at += (u64)k;
		n -= (size_t)k;
	}
	return true;
}

static bool write_at(int fd, const void *from, size_t n, u64 at)
{
	for (const u8 *p = from; n;) {
		ssize_t k = pwrite(fd, p, n, (off_t)at);

		if (k < 0 && errno == EINTR)
			continue;
		if (k <= 0)
			return false;
		p += k;
		at += (u64)k;
		n -= (size_t)k;
	}
	return true;
}

/* What the file says now; an empty one is a new one. NULL, with a line in `why`. */
static u8 *read_all_of(int fd, u64 size, struct text *why)
{
	static const struct cover_header fresh = {
		.magic = COVER_MAGIC, .version = COVER_VERSION, .used = sizeof(fresh)};
	u64 room = size ? size : sizeof(fresh);
	u8 *data = room <= PROFILE_MOST ? malloc(room) : NULL;
	const char *wrong;

	if (!data) {
		text_puts(why, "out of memory");
		return NULL;
	}
	if (!size)
		memcpy(data, &fresh, sizeof(fresh));
	wrong = size && !read_at(fd, data, size, 0) ? "cannot be read" : cover_check(data, room);
	if (!wrong)
		return data;
	text_printf(why, "it %s; nothing is written to it", wrong);
	free(data);
	return NULL;
}

/* Find where the file has entries, and forget where another file had them. */
static bool find_places(struct cover_profile *p, const u8 *data, struct text *why)
{
	const struct cover_header *h = (const void *)data;
	const struct cover_record *r;

	for (u64 at = sizeof(*h); at < h->used; at += r->bytes) {
		struct cover_entry *e;

		r = (const void *)(data + at);
		e = cover_profile_find(p, r->module, cover_record_name(r));
		if (!e)
			continue;
		if (e->counts != r->counts) {
			text_printf(why,
				    "function %s has %u counts there and %u here: the versions of "
				    "ptxloom differ; nothing is written to it",
				    e->name, r->counts, e->counts);
			return false;
		}
		e->place = at;
	}
	return true;
}

static void settle_entry(struct cover_entry *e)
{
	memset(e->count, 0, sizeof(*e->count) * e->counts);
	e->is_dirty = false;
}

/* Records of entries that have no place, and then the header that makes them count. */
static bool append(int fd, struct cover_profile *p, u64 used, struct text *why)
{
	struct cover_header h = {.magic = COVER_MAGIC, .version = COVER_VERSION, .used = used};
	struct text t = {0};
	bool ok;

	for (size_t i = 0; i < p->entries.len; i++)
		if (!p->entries.at[i].place)
			cover_record_put(&p->entries.at[i], &t);
	h.used += t.len;
	ok = !t.failed && (!t.len || write_at(fd, t.at, t.len, used)) &&
	     write_at(fd, &h, sizeof(h), 0);
	if (!ok) {
		text_printf(why, "%s", t.failed ? "out of memory" : strerror(errno));
		/* What was there is whole, and an empty file is none. */
		if (ftruncate(fd, used > sizeof(h) ? (off_t)used : 0))
			text_puts(why, ", and it may be damaged");
	}
	text_fini(&t);
	for (size_t i = 0; ok && i < p->entries.len; i++) {
		struct cover_entry *e = &p->entries.at[i];

		if (e->place)
			continue;
		e->place = used;
		used += cover_record_bytes(strlen(e->name), e->counts);
		settle_entry(e);
	}
	return ok;
}

static bool write_sum(int fd, u64 place, u32 sum)
{
	return write_at(fd, &sum, sizeof(sum), place + offsetof(struct cover_record, sum));
}

/* The record at `place` with other counts. */
static bool write_counts(int fd, const struct cover_record *r, u64 place)
{
	const struct exec_count *count = cover_record_counts(r);

	return write_sum(fd, place, 0) &&
	       write_at(fd, count, r->counts * sizeof(*count),
			place + (u64)((const u8 *)count - (const u8 *)r)) &&
	       write_sum(fd, place, cover_record_sum(r));
}

/* Add to the record that is there. */
static bool add_in_place(int fd, struct cover_entry *e, struct text *why)
{
	u64 bytes = cover_record_bytes(strlen(e->name), e->counts);
	struct cover_record *r = malloc(bytes);
	bool ok = r && read_at(fd, r, bytes, e->place) && cover_record_is_whole(r, bytes) &&
		  r->counts == e->counts && r->name_len == strlen(e->name);

	for (u32 i = 0; ok && i < e->counts; i++)
		cover_count_add((struct exec_count *)cover_record_counts(r) + i, &e->count[i]);
	if (!ok)
		text_puts(why, r ? "it has been changed" : "out of memory");
	else if (!write_counts(fd, r, e->place))
		text_puts(why, strerror(errno));
	else
		settle_entry(e);
	free(r);
	return !e->is_dirty;
}

static bool has_places(const struct cover_profile *p)
{
	for (size_t i = 0; i < p->entries.len; i++)
		if (!p->entries.at[i].place)
			return false;
	return true;
}

static bool merge_locked(int fd, struct cover_profile *p, struct text *why)
{
	struct cover_header h = {0};
	struct stat s;
	u8 *data = NULL;
	bool ok = !fstat(fd, &s);

	if (!ok) {
		text_puts(why, strerror(errno));
		return false;
	}
	if (p->device != s.st_dev || p->inode != s.st_ino || (u64)s.st_size < p->seen)
		for (size_t i = 0; i < p->entries.len; i++)
			p->entries.at[i].place = 0;
	p->device = s.st_dev;
	p->inode = s.st_ino;
	p->seen = (u64)s.st_size;
	if (!has_places(p)) {
		data = read_all_of(fd, (u64)s.st_size, why);
		ok = data && find_places(p, data, why);
		if (ok)
			h = *(const struct cover_header *)(const void *)data;
		free(data);
		ok = ok && (has_places(p) || append(fd, p, h.used, why));
	}
	for (size_t i = 0; ok && i < p->entries.len; i++)
		if (p->entries.at[i].is_dirty)
			ok = add_in_place(fd, &p->entries.at[i], why);
	return ok;
}

bool cover_profile_flush(struct cover_profile *p, const char *path, struct text *why)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
	struct text line = {0};
	sigset_t old;
	bool ok;

	if (fd < 0) {
		text_printf(why, "%s: %s", path, strerror(errno));
		return false;
	}
	while (flock(fd, LOCK_EX) && errno == EINTR)
		;
	cover_block_limit(&old);
	ok = merge_locked(fd, p, &line);
	cover_restore_limit(&old);
	close(fd);
	if (!ok)
		text_printf(why, "%s: %s", path, line.at ? line.at : "out of memory");
	text_fini(&line);
	return ok;
}
