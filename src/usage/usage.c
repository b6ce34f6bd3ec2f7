/*
 * A file without a name for each process, and the search for those of others.
 */
#include "src/usage/usage.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define USAGE_MAGIC 0x6567617375u
#define USAGE_NAME "ptxloom-usage"

/* Programs count on low numbers of files: theirs are those that they would get without us. */
#define USAGE_FD_LEAST 100

/* Else the process would be ended by a signal (SIGXFSZ). */
static bool is_file_allowed(void)
{
	struct rlimit limit;

	return !getrlimit(RLIMIT_FSIZE, &limit) && limit.rlim_cur >= sizeof(struct usage);
}

struct usage *usage_show(void)
{
	int low = !is_file_allowed() ? -1 : memfd_create(USAGE_NAME, MFD_CLOEXEC);
	int fd = low < 0 ? -1 : fcntl(low, F_DUPFD_CLOEXEC, USAGE_FD_LEAST);
	struct usage *u = MAP_FAILED;

	if (fd >= 0)
		close(low);
	else
		fd = low;
	if (fd >= 0 && !ftruncate(fd, sizeof(*u)))
		u = mmap(NULL, sizeof(*u), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (u == MAP_FAILED) {
		if (fd >= 0)
			close(fd);
		return NULL;
	}
	u->pid = getpid();
	u->bytes = sizeof(*u);
	__atomic_store_n(&u->magic, USAGE_MAGIC, __ATOMIC_RELEASE);
	return u;
}

static bool is_usage_file(int folder, const char *name)
{
	static const char begins[] = "/memfd:" USAGE_NAME " ";
	char target[64];
	ssize_t n = readlinkat(folder, name, target, sizeof(target));

	return n >= (ssize_t)sizeof(begins) - 1 && !memcmp(target, begins, sizeof(begins) - 1);
}

/* False: it is of another version, or inherited from a parent. */
static bool read_usage(int folder, const char *name, pid_t pid, struct usage *out)
{
	int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	bool ok = fd >= 0 && pread(fd, out, sizeof(*out), 0) == (ssize_t)sizeof(*out) &&
		  out->magic == USAGE_MAGIC && out->bytes == sizeof(*out) && out->pid == pid;

	if (fd >= 0)
		close(fd);
	return ok;
}

static bool report_usage(const struct usage *u, usage_fn *each, void *user)
{
	for (u32 i = 0; i < USAGE_DEVICES; i++)
		if (u->device[i].is_open && !each(user, (pid_t)u->pid, &u->device[i]))
			return false;
	return true;
}

static bool walk_process(pid_t pid, usage_fn *each, void *user)
{
	struct usage u;
	struct dirent *e;
	char path[40];
	DIR *files;
	bool go_on = true, found = false;

	snprintf(path, sizeof(path), "/proc/%ld/fd", (long)pid);
	files = opendir(path);
	if (!files)
		return true; /* of another user, or gone */
	while (!found && (e = readdir(files)))
		if (isdigit((unsigned char)*e->d_name) && is_usage_file(dirfd(files), e->d_name) &&
		    read_usage(dirfd(files), e->d_name, pid, &u)) {
			found = true;
			go_on = report_usage(&u, each, user);
		}
	closedir(files);
	return go_on;
}

void usage_walk(usage_fn *each, void *user)
{
	DIR *processes = opendir("/proc");
	struct dirent *e;

	if (!processes)
		return;
	while ((e = readdir(processes)))
		if (isdigit((unsigned char)*e->d_name) &&
		    !walk_process((pid_t)strtol(e->d_name, NULL, 10), each, user))
			break;
	closedir(processes);
}
