/*
 * Reads of pages that exist enter up to 16 of them, an aligned 64 KiB, into the page tables; writes
 * one. A driver moves 64 KiB for a fault as well.
 */
#include "src/managed/touched.h"

#include "src/base/size.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define ENTRIES 512u
/* Documentation/admin-guide/mm/pagemap.rst: in memory, in swap. */
#define TOUCHED_BITS ((u64)3 << 62)

static u64 host_page(void)
{
	return (u64)sysconf(_SC_PAGESIZE);
}

bool touched_open(struct touched *t)
{
	t->map = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	return t->map >= 0;
}

void touched_close(struct touched *t)
{
	if (t->map >= 0)
		close(t->map);
	t->map = -1;
}

static bool map_touched(u64 address, u64 bytes, int flags)
{
	return mmap((void *)(uintptr_t)address, bytes, PROT_READ | PROT_WRITE,
		    MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED | flags, -1, 0) != MAP_FAILED;
}

bool touched_begin(u64 address, u64 bytes, bool keeps)
{
	void *at = (void *)(uintptr_t)address, *kept = keeps ? malloc(bytes) : NULL;
	u64 size = align_up(bytes, host_page());

	if (keeps && !kept)
		return false;
	if (keeps)
		memcpy(kept, at, bytes);
	if (!map_touched(address, size, MAP_SHARED)) {
		free(kept);
		return false;
	}
	madvise(at, size, MADV_NOHUGEPAGE);
	if (keeps)
		memcpy(at, kept, bytes);
	free(kept);
	return true;
}

void touched_end(u64 address, u64 bytes)
{
	map_touched(address, align_up(bytes, host_page()), MAP_PRIVATE);
}

bool touched_read(const struct touched *t, u64 address, u32 pages, bool *out)
{
	u64 entry[ENTRIES], page = host_page();

	for (u32 done = 0; done < pages;) {
		u32 n = (u32)min_u64(pages - done, ENTRIES);
		ssize_t got = pread(t->map, entry, n * sizeof(entry[0]),
				    (off_t)((address / page + done) * sizeof(entry[0])));

		if (got != (ssize_t)(n * sizeof(entry[0])))
			return false;
		for (u32 i = 0; i < n; i++)
			out[done + i] = (entry[i] & TOUCHED_BITS) != 0;
		done += n;
	}
	return true;
}

void touched_drop(u64 address, u64 bytes)
{
	madvise((void *)(uintptr_t)address, bytes, MADV_DONTNEED);
}
