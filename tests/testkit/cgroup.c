/*
 * Limits of control groups, in folders made for it: version 2 and 1, groups in groups, containers
 * that show their own group as the root.
 */
#include "src/base/cgroup.h"
#include "tests/check.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char top[64];

static void write_file(const char *path, const char *text)
{
	char name[256];
	FILE *f;

	snprintf(name, sizeof(name), "%s/%s", top, path);
	for (char *s = name + strlen(top) + 1; (s = strchr(s, '/')); *s++ = '/') {
		*s = 0;
		mkdir(name, 0700);
	}
	f = fopen(name, "w");
	if (f) {
		fputs(text, f);
		fclose(f);
	}
}

int main(void)
{
	char self[128], root[128], command[128];
	struct cgroup_files files = {root, self};

	snprintf(top, sizeof(top), "/tmp/cgroup.XXXXXX");
	if (!mkdtemp(top))
		return 1;
	snprintf(self, sizeof(self), "%s/self", top);
	snprintf(root, sizeof(root), "%s/root", top);

	CHECK_EQ(cgroup_cpus(&files), 0);
	CHECK(cgroup_memory(&files) == UINT64_MAX);

	/* Version 2: the least of a group and those above it. */
	write_file("self", "0::/jobs/one\n");
	write_file("root/cpu.max", "max 100000\n");
	write_file("root/jobs/cpu.max", "250000 100000\n");
	write_file("root/jobs/one/cpu.max", "400000 100000\n");
	CHECK_EQ(cgroup_cpus(&files), 3);
	write_file("root/jobs/one/cpu.max", "150000 100000\n");
	CHECK_EQ(cgroup_cpus(&files), 2);
	write_file("root/jobs/one/cpu.max", "1000 100000\n");
	CHECK_EQ(cgroup_cpus(&files), 1);
	write_file("root/jobs/one/cpu.max", "max 100000\n");
	write_file("root/jobs/cpu.max", "max 100000\n");
	CHECK_EQ(cgroup_cpus(&files), 0);
	write_file("root/jobs/memory.max", "1073741824\n");
	write_file("root/jobs/memory.current", "73741824\n");
	write_file("root/jobs/one/memory.max", "max\n");
	CHECK_EQ(cgroup_memory(&files), 1000000000);
	write_file("root/jobs/memory.current", "2073741824\n");
	CHECK_EQ(cgroup_memory(&files), 0);

	/* A path that the container does not show. */
	write_file("self", "0::/../elsewhere/one\n");
	write_file("root/cpu.max", "200000 100000\n");
	CHECK_EQ(cgroup_cpus(&files), 2);

	/* Version 1: folders by controllers. */
	write_file("self", "4:memory:/box\n3:cpu,cpuacct:/box\n1:name=systemd:/box\n");
	write_file("root/cpu,cpuacct/box/cpu.cfs_quota_us", "300000\n");
	write_file("root/cpu,cpuacct/box/cpu.cfs_period_us", "100000\n");
	write_file("root/cpu,cpuacct/cpu.cfs_quota_us", "-1\n");
	write_file("root/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
	write_file("root/memory/box/memory.limit_in_bytes", "5000\n");
	write_file("root/memory/box/memory.usage_in_bytes", "1000\n");
	write_file("root/memory/memory.limit_in_bytes", "9223372036854771712\n");
	CHECK_EQ(cgroup_cpus(&files), 3);
	CHECK_EQ(cgroup_memory(&files), 4000);

	/* Nonsense is no limit. */
	write_file("self", "nothing\n0:\n");
	CHECK_EQ(cgroup_cpus(&files), 0);
	write_file("self", "0::/\n");
	write_file("root/cpu.max", "\n");
	CHECK_EQ(cgroup_cpus(&files), 0);
	write_file("root/cpu.max", "100 0\n");
	CHECK_EQ(cgroup_cpus(&files), 0);

	snprintf(command, sizeof(command), "rm -rf %s", top);
	CHECK_EQ(system(command), 0);
	return check_done();
}
