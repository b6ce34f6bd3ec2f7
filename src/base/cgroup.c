/*
 * Limits of control groups. Linux, Documentation/admin-guide/cgroup-v2.rst (cpu.max, memory.max)
 * and cgroup-v1 (cpu.cfs_quota_us, memory.limit_in_bytes). Those of a group hold for all below it,
 * so the folders from the process's own up to the root are read. A container may show its own
 * group as the root; then the path that the process is told does not exist, and the root is read
 * alone.
 */
#include "src/base/cgroup.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define PATH_BYTES 4200
/* What version 1 shows where there is no limit is a little below this. */
#define UNLIMITED ((u64)1 << 62)

const struct cgroup_files cgroup_of_process = {"/sys/fs/cgroup", "/proc/self/cgroup"};

/* A file of numbers: "max 100000", "150000 100000", "1073741824". False: it is not there. */
static bool read_numbers(const char *folder, const char *name, u64 out[2])
{
	char path[PATH_BYTES + 64], word[2][32] = {"", ""};
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	f = fopen(path, "r");
	if (!f)
		return false;
	if (fscanf(f, "%31s %31s", word[0], word[1]) < 1)
		word[0][0] = 0;
	fclose(f);
	for (u32 i = 0; i < 2; i++)
		out[i] = word[i][0] >= '0' && word[i][0] <= '9' ? strtoull(word[i], NULL, 10)
								: UINT64_MAX;
	return true;
}

/* ---- one folder ---- */

static u64 cpus_in(const char *folder)
{
	u64 v[2], period[2];

	if (!read_numbers(folder, "cpu.max", v)) {
		if (!read_numbers(folder, "cpu.cfs_quota_us", v) ||
		    !read_numbers(folder, "cpu.cfs_period_us", period))
			return UINT64_MAX;
		v[1] = period[0];
	}
	if (v[0] == UINT64_MAX || !v[1] || v[1] == UINT64_MAX)
		return UINT64_MAX;
	return v[0] / v[1] + (v[0] % v[1] != 0);
}

static u64 memory_in(const char *folder)
{
	u64 limit[2], used[2] = {0, 0};

	if (read_numbers(folder, "memory.max", limit))
		read_numbers(folder, "memory.current", used);
	else if (read_numbers(folder, "memory.limit_in_bytes", limit))
		read_numbers(folder, "memory.usage_in_bytes", used);
	else
		return UINT64_MAX;
	if (limit[0] >= UNLIMITED)
		return UINT64_MAX;
	return used[0] != UINT64_MAX && used[0] < limit[0] ? limit[0] - used[0] : 0;
}

/* ---- the folders of the process ---- */

/* The least of a folder and those that it is in, up to the root. */
static u64 least_above(const char *root, const char *under, const char *path,
		       u64 (*in)(const char *folder))
{
	char folder[PATH_BYTES];
	size_t stop;
	u64 least = UINT64_MAX;
	int n = snprintf(folder, sizeof(folder), "%s%s", root, under);

	if (n < 0 || (size_t)n >= sizeof(folder))
		return least;
	stop = (size_t)n;
	snprintf(folder + stop, sizeof(folder) - stop, "%s", path);
	for (;;) {
		u64 v = in(folder);
		char *slash = strrchr(folder + stop, '/');

		least = v < least ? v : least;
		if (!slash)
			return least;
		*slash = 0;
	}
}

/* Is it a controller of the line's list: "cpu,cpuacct"? */
static bool has_controller(const char *list, const char *name)
{
	size_t len = strlen(name);

	for (size_t n; *list; list += n + (list[n] == ',')) {
		n = strcspn(list, ",");
		if (n == len && !memcmp(list, name, n))
			return true;
	}
	return false;
}

/* Lines are NUMBER:CONTROLLERS:PATH; version 2 has number 0 and no controllers. */
static u64 least_of(const struct cgroup_files *files, const char *controller,
		    u64 (*in)(const char *folder))
{
	char line[PATH_BYTES], under[64];
	FILE *f = fopen(files->self, "r");
	u64 least = UINT64_MAX, v;

	while (f && fgets(line, sizeof(line), f)) {
		char *list = strchr(line, ':'), *path = list ? strchr(list + 1, ':') : NULL;

		line[strcspn(line, "\n")] = 0;
		if (!path)
			continue;
		*path++ = 0;
		list++;
		if (*list && !has_controller(list, controller))
			continue;
		snprintf(under, sizeof(under), "%s%.60s", *list ? "/" : "", list);
		v = least_above(files->root, under, path, in);
		least = v < least ? v : least;
	}
	if (f)
		fclose(f);
	return least;
}

u32 cgroup_cpus(const struct cgroup_files *files)
{
	u64 n = least_of(files, "cpu", cpus_in);

	return n > UINT32_MAX ? 0 : n ? (u32)n : 1;
}

u64 cgroup_memory(const struct cgroup_files *files)
{
	return least_of(files, "memory", memory_in);
}
