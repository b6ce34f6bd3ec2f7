/*
 * Allocations, and what calls of the host do with their bytes.
 */
#include "src/check/init/init_memory.h"
#include "src/check/init/unused.h"
#include "src/dev/stream/order.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct init_memory *the_memory;
static pthread_mutex_t the_memory_lock = PTHREAD_MUTEX_INITIALIZER;

/* ---- the pattern of managed and pinned memory ---- */

/* What has more is followed by pages: the pattern would make all of them exist. */
#define PATTERN_MOST ((u64)64 << 20)

/*
 * The host writes such memory without a call. Until it does, each word holds a value that hardly
 * any program would write there.
 */
static u32 pattern_at(u64 address)
{
	return (u32)((address >> 2) * 0x9e3779b97f4a7c15u >> 32) | 1;
}

static void put_pattern(u64 base, u64 bytes)
{
	for (u64 at = base & ~(u64)3; at < base + bytes; at += 4) {
		u32 word = pattern_at(at), first = at < base ? (u32)(base - at) : 0;
		u64 end = min_u64(4, base + bytes - at);

		memcpy((u8 *)(uintptr_t)at + first, (u8 *)&word + first, end - first);
	}
}

/* Has the host written the word of this byte? */
static bool is_pattern_gone(const struct init_range *r, u64 address)
{
	u64 at = address & ~(u64)3, end = r->base + r->written.bytes;
	u32 word = pattern_at(at);
	u64 n = min_u64(4, end - at);

	return memcmp((const void *)(uintptr_t)at, &word, n) != 0;
}

/* ---- pages of large managed memory ---- */

/*
 * Has the host touched the page? One that is swapped out counts, and what cannot be asked for.
 * Linux: Documentation/admin-guide/mm/pagemap.rst.
 */
static bool page_exists(const struct init_memory *im, u64 page)
{
	const u64 present = (u64)3 << 62;
	u64 entry;

	return im->pagemap < 0 ||
	       pread(im->pagemap, &entry, sizeof(entry),
		     (off_t)(page / MEM_HOST_PAGE * sizeof(entry))) != sizeof(entry) ||
	       entry & present;
}

/* Note what the host has written in the pages of a stretch. */
static void note_pages(struct init_range *r, u64 address, u64 bytes)
{
	u64 end = r->base + r->written.bytes;

	for (u64 page = address & ~(u64)(MEM_HOST_PAGE - 1); page < address + bytes;
	     page += MEM_HOST_PAGE) {
		u64 from = max_u64(page, r->base), to = min_u64(page + MEM_HOST_PAGE, end);

		if (from < to && !written_all(&r->written, from - r->base, to - from) &&
		    page_exists(the_memory, page))
			written_set(&r->written, from - r->base, to - from);
	}
}

/* ---- ranges ---- */

/* The first range that ends behind the address. */
static size_t find_index(const struct init_memory *im, u64 address)
{
	size_t lo = 0, hi = im->ranges.len;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;
		const struct init_range *r = im->ranges.at[mid];

		if (r->base + r->written.bytes <= address)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

struct init_range *init_memory_at(struct init_memory *im, u64 address)
{
	size_t i;
	struct init_range *r;

	if (PL_LIKELY(address - im->lo < im->end - im->lo))
		return im->last;
	i = find_index(im, address);
	r = i < im->ranges.len ? im->ranges.at[i] : NULL;
	if (r && address >= r->base) {
		im->lo = r->base;
		im->end = r->base + r->written.bytes;
		im->last = r;
	} else {
		im->lo = i ? im->ranges.at[i - 1]->base + im->ranges.at[i - 1]->written.bytes : 0;
		im->end = r ? r->base : UINT64_MAX;
		im->last = NULL;
	}
	return im->last;
}

static void range_free(struct init_range *r)
{
	written_fini(&r->written);
	free(r);
}

static void forget_answer(struct init_memory *im)
{
	im->lo = im->end = 0;
	im->last = NULL;
}

static void remove_range(struct init_memory *im, size_t i)
{
	range_free(im->ranges.at[i]);
	memmove(&im->ranges.at[i], &im->ranges.at[i + 1],
		(--im->ranges.len - i) * sizeof(struct init_range *));
	forget_answer(im);
}

/* Ranges that share bytes with this stretch are another's memory now. */
static void remove_overlapping(struct init_memory *im, u64 address, u64 bytes)
{
	size_t i = find_index(im, address);

	while (i < im->ranges.len && im->ranges.at[i]->base < address + bytes)
		remove_range(im, i);
}

void init_memory_take(struct init_memory *im, struct mem *m, u64 address, u64 bytes, u8 kind)
{
	struct init_range *r = calloc(1, sizeof(*r)), *none = NULL;
	size_t i;

	remove_overlapping(im, address, bytes);
	if (!r || !bytes || !VEC_PUSH(&im->ranges, none)) {
		free(r);
		return;
	}
	*r = (struct init_range){.base = address, .arena = m, .kind = kind};
	written_init(&r->written, bytes);
	i = find_index(
		&(struct init_memory){.ranges = {.at = im->ranges.at, .len = im->ranges.len - 1}},
		address);
	memmove(&im->ranges.at[i + 1], &im->ranges.at[i],
		(im->ranges.len - 1 - i) * sizeof(struct init_range *));
	im->ranges.at[i] = r;
	forget_answer(im);
}

u32 init_memory_missing(struct init_range *r, u64 address, u32 bytes)
{
	u32 missing = written_missing(&r->written, address - r->base, bytes);

	if (missing && r->by_page) {
		note_pages(r, address, bytes);
		return written_missing(&r->written, address - r->base, bytes);
	}
	for (u32 m = r->patterned ? missing : 0; m; m &= m - 1) {
		u64 at = address + (u32)__builtin_ctz(m);

		if (is_pattern_gone(r, at)) {
			written_set(&r->written, at - r->base, 1);
			missing &= ~(m & -m);
		}
	}
	return missing;
}

/* ---- what the host does ---- */

static void on_alloc(void *user, struct mem *m, u64 address, u64 bytes, enum mem_kind kind)
{
	struct init_memory *im = user;
	struct init_range *r;

	bool by_host = kind == MEM_KIND_MANAGED || kind == MEM_KIND_PINNED;

	/* The program had it before. */
	if (kind == MEM_KIND_HOST)
		return;
	pthread_mutex_lock(&im->lock);
	init_memory_take(im, m, address, bytes, (u8)kind);
	r = init_memory_at(im, address);
	if (r && by_host && bytes > PATTERN_MOST) {
		r->by_page = true;
	} else if (r && by_host) {
		r->patterned = true;
		put_pattern(address, bytes);
	}
	pthread_mutex_unlock(&im->lock);
}

static void on_free(void *user, struct mem *m, u64 address, u64 bytes)
{
	struct init_memory *im = user;

	(void)m;
	pthread_mutex_lock(&im->lock);
	if (im->unused) {
		struct init_range *r = init_memory_at(im, address);

		if (r && r->base == address)
			unused_note(im->unused, r);
	}
	remove_overlapping(im, address, bytes);
	pthread_mutex_unlock(&im->lock);
}

static void set_bytes(struct init_memory *im, u64 address, u64 bytes)
{
	struct init_range *r = init_memory_at(im, address);

	if (r)
		written_set(&r->written, address - r->base, bytes);
}

static u64 row_address(const struct memory_box *b, u64 y, u64 z)
{
	return b->address + y * b->pitch + z * b->slice;
}

static void copy_row(struct init_memory *im, const struct memory_copy *c, u64 y, u64 z)
{
	u64 to = row_address(&c->dst, y, z), from = row_address(&c->src, y, z);
	struct init_range *dst = c->dst.known ? init_memory_at(im, to) : NULL;
	struct init_range *src = c->src.known ? init_memory_at(im, from) : NULL;

	if (dst && src && src->by_page)
		note_pages(src, from, c->width);
	if (dst && src && src->patterned)
		for (u64 i = 0; i < c->width; i += WRITTEN_MASK)
			init_memory_missing(src, from + i,
					    (u32)min_u64(WRITTEN_MASK, c->width - i));
	if (dst && src)
		written_copy(&dst->written, to - dst->base, &src->written, from - src->base,
			     c->width);
	else if (dst)
		written_set(&dst->written, to - dst->base, c->width);
}

/* More than padding: eight bytes side by side, or all there are. */
static bool is_more_than_padding(const struct init_range *r, u64 at, u64 bytes, u64 missing)
{
	if (missing == bytes)
		return true;
	for (u64 i = align_up(at, 8); i + 8 <= at + bytes; i += 8)
		if (written_missing(&r->written, i, 8) == 0xff)
			return true;
	return false;
}

/* Bytes of the source that were never written, padding of structures aside. */
static u64 missing_bytes(struct init_memory *im, const struct memory_copy *c, u64 *first)
{
	u64 missing = 0;

	for (u64 z = 0; z < c->depth; z++)
		for (u64 y = 0; y < c->height; y++) {
			u64 from = row_address(&c->src, y, z), n;
			struct init_range *r = init_memory_at(im, from);

			if (!r || r->patterned || r->by_page)
				continue;
			n = written_count_missing(&r->written, from - r->base, c->width);
			if (n && !is_more_than_padding(r, from - r->base, c->width, n))
				continue;
			if (n && !missing)
				for (*first = from; written_all(&r->written, *first - r->base, 1);)
					++*first;
			missing += n;
		}
	return missing;
}

static void tell_of_copy(struct init_memory *im, u64 missing, u64 bytes, u64 first)
{
	struct host_call call = order_current_call();
	struct finding f;

	finding_init(&f, FINDING_UNINIT_HOST);
	/* Who copies more than is there may well use what is. */
	f.is_warning = missing < bytes;
	f.has_address = true;
	f.address = first;
	text_printf(&f.text,
		    "%s: Host API uninitialized memory access\n"
		    "    %llu of the %llu bytes that a copy to the host reads were never written,\n"
		    "    the first at 0x%llx\n",
		    f.is_warning ? "Warning" : "Error", (unsigned long long)missing,
		    (unsigned long long)bytes, (unsigned long long)first);
	if (call.name) {
		finding_add_host(&f, "called", call.from);
		finding_add_call(&f, call.name, call.from);
	}
	findings_add(im->found, &f);
}

static void on_copy(void *user, const struct memory_copy *c)
{
	struct init_memory *im = user;
	bool to_host = !c->dst.known && c->src.known;
	u64 missing = 0, first = 0;

	pthread_mutex_lock(&im->lock);
	for (u64 z = 0; z < c->depth; z++)
		for (u64 y = 0; y < c->height; y++)
			copy_row(im, c, y, z);
	if (to_host)
		missing = missing_bytes(im, c, &first);
	pthread_mutex_unlock(&im->lock);
	if (missing)
		tell_of_copy(im, missing, c->width * c->height * c->depth, first);
}

static void on_fill(void *user, const struct memory_box *to, u64 width, u64 height, u64 depth)
{
	struct init_memory *im = user;

	pthread_mutex_lock(&im->lock);
	for (u64 z = 0; z < depth; z++)
		for (u64 y = 0; y < height; y++)
			set_bytes(im, row_address(to, y, z), width);
	pthread_mutex_unlock(&im->lock);
}

static void on_write(void *user, u64 address, u64 bytes)
{
	struct init_memory *im = user;

	pthread_mutex_lock(&im->lock);
	set_bytes(im, address, bytes);
	pthread_mutex_unlock(&im->lock);
}

static void on_region(void *user, u64 address, u64 bytes)
{
	struct init_memory *im = user;
	struct init_range *r;

	pthread_mutex_lock(&im->lock);
	r = init_memory_at(im, address);
	if (r)
		written_clear(&r->written, address - r->base, bytes);
	if (r && r->patterned)
		put_pattern(address, min_u64(bytes, r->base + r->written.bytes - address));
	pthread_mutex_unlock(&im->lock);
}

/* ---- one for the process ---- */

static struct init_memory *memory_make(struct findings *found)
{
	struct init_memory *im = calloc(1, sizeof(*im));

	if (!im)
		return NULL;
	pthread_mutex_init(&im->lock, NULL);
	im->found = found;
	im->unused = unused_open();
	im->pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	im->watch = (struct memory_watch){.user = im,
					  .alloc = on_alloc,
					  .free = on_free,
					  .copy = on_copy,
					  .fill = on_fill,
					  .write = on_write,
					  .region = on_region};
	if (memory_watch_add(&im->watch))
		return im;
	unused_close(im->unused);
	if (im->pagemap >= 0)
		close(im->pagemap);
	pthread_mutex_destroy(&im->lock);
	free(im);
	return NULL;
}

struct init_memory *init_memory_open(struct findings *found)
{
	struct init_memory *im;

	pthread_mutex_lock(&the_memory_lock);
	if (!the_memory)
		the_memory = memory_make(found);
	im = the_memory;
	if (im)
		im->users++;
	pthread_mutex_unlock(&the_memory_lock);
	return im;
}

static void forget_arena(struct init_memory *im, const struct mem *m)
{
	pthread_mutex_lock(&im->lock);
	for (size_t i = im->ranges.len; i-- > 0;)
		if (!m || im->ranges.at[i]->arena == m)
			remove_range(im, i);
	pthread_mutex_unlock(&im->lock);
}

/* Note those of an arena that are alive, NULL: of all, and report what has been noted. */
static void tell_unused(struct init_memory *im, const struct mem *m, bool live)
{
	if (!im->unused)
		return;
	pthread_mutex_lock(&im->lock);
	for (size_t i = 0; live && i < im->ranges.len; i++)
		if (!m || im->ranges.at[i]->arena == m)
			unused_note(im->unused, im->ranges.at[i]);
	pthread_mutex_unlock(&im->lock);
	unused_tell(im->unused, &im->lock, im->found);
}

void init_memory_unused(const struct mem *m, bool live)
{
	pthread_mutex_lock(&the_memory_lock);
	if (the_memory)
		tell_unused(the_memory, m, live);
	pthread_mutex_unlock(&the_memory_lock);
}

void init_memory_forget(void)
{
	pthread_mutex_init(&the_memory_lock, NULL);
	the_memory = NULL;
}

void init_memory_close(struct init_memory *im, const struct mem *m)
{
	if (!im)
		return;
	pthread_mutex_lock(&the_memory_lock);
	tell_unused(im, m, true);
	forget_arena(im, m);
	if (!--im->users) {
		memory_watch_remove(&im->watch);
		forget_arena(im, NULL);
		VEC_FREE(&im->ranges);
		unused_close(im->unused);
		if (im->pagemap >= 0)
			close(im->pagemap);
		pthread_mutex_destroy(&im->lock);
		free(im);
		the_memory = NULL;
	}
	pthread_mutex_unlock(&the_memory_lock);
}

void init_memory_give(struct init_memory *im, struct mem *m, u64 address, u64 bytes)
{
	struct init_range *r;
	struct mem_range heap;

	pthread_mutex_lock(&im->lock);
	r = init_memory_at(im, address);
	if (!r && mem_find(m, address, bytes, &heap)) {
		init_memory_take(im, m, heap.base, heap.size, MEM_KIND_HEAP);
		r = init_memory_at(im, address);
	}
	if (r)
		written_clear(&r->written, address - r->base, bytes);
	pthread_mutex_unlock(&im->lock);
}
