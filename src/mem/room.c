/*
 * Addresses that are left: the limit, less what /proc says is mapped.
 */
#include "src/mem/room.h"

#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#define STEP ((u64)2 << 20)

static u64 mapped_bytes(void)
{
	unsigned long long pages = 0;
	FILE *f = fopen("/proc/self/statm", "r");

	if (!f)
		return 0;
	if (fscanf(f, "%llu", &pages) != 1)
		pages = 0;
	fclose(f);
	return (u64)pages * (u64)sysconf(_SC_PAGESIZE);
}

u64 room_left(void)
{
	struct rlimit limit;
	u64 used;

	if (getrlimit(RLIMIT_AS, &limit) || limit.rlim_cur == RLIM_INFINITY)
		return UINT64_MAX;
	used = mapped_bytes();
	return used < limit.rlim_cur ? limit.rlim_cur - used : 0;
}

u64 room_part(u64 whole)
{
	u64 part = room_left() / 8;

	return part < whole ? part & ~(STEP - 1) : whole;
}
