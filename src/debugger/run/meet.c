/*
 * Where a program waits for a debugger, and who may come.
 */
#include "src/debugger/run/meet.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

/* A folder that belongs to this user, and that no other can enter. */
static bool is_own_folder(const char *path)
{
	struct stat st;

	return !lstat(path, &st) && S_ISDIR(st.st_mode) && st.st_uid == geteuid() &&
	       !(st.st_mode & (S_IRWXG | S_IRWXO));
}

/*
 * The address of a process's socket. Folders are tried in order, as the environments of both ends
 * may differ: 0, that of the session; 1, one below /tmp. False: there is no such one.
 */
static bool meeting_point(u32 which, pid_t pid, bool create, struct sockaddr_un *out)
{
	const char *session = getenv("XDG_RUNTIME_DIR");
	char folder[sizeof(out->sun_path)];
	int n;

	if (!which && (!session || *session != '/' || !is_own_folder(session)))
		return false;
	n = which ? snprintf(folder, sizeof(folder), "/tmp/ptxloom-%lu", (unsigned long)geteuid())
		  : snprintf(folder, sizeof(folder), "%s/ptxloom", session);
	if (n < 0 || (size_t)n >= sizeof(folder))
		return false;
	if (create && mkdir(folder, S_IRWXU) && errno != EEXIST)
		return false;
	if (!is_own_folder(folder))
		return false;
	*out = (struct sockaddr_un){.sun_family = AF_UNIX};
	n = snprintf(out->sun_path, sizeof(out->sun_path), "%s/%ld", folder, (long)pid);
	return n > 0 && (size_t)n < sizeof(out->sun_path);
}

/* Does the other end belong to our user? *pid: the process that it is. */
static bool is_same_user(int fd, pid_t *pid)
{
	struct ucred c;
	socklen_t n = sizeof(c);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &c, &n) || n != sizeof(c))
		return false;
	*pid = c.pid;
	return c.uid == geteuid();
}

/* ---- the program ---- */

static int listen_at(const struct sockaddr_un *at)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	/* What a process of the same number has left. */
	unlink(at->sun_path);
	if (fd >= 0 && (bind(fd, (const struct sockaddr *)at, sizeof(*at)) || listen(fd, 1))) {
		int e = errno;

		close(fd);
		errno = e;
		return -1;
	}
	return fd;
}

/* The first connection of the same user; -1: no more can be accepted. */
static int accept_user(int listener)
{
	for (;;) {
		int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
		pid_t pid;

		if (fd >= 0 && is_same_user(fd, &pid))
			return fd;
		if (fd >= 0)
			close(fd);
		else if (errno != EINTR && errno != ECONNABORTED)
			return -1;
	}
}

int meet_debugger(struct text *why)
{
	struct sockaddr_un at;
	int listener = -1, fd;

	errno = ENOENT;
	for (u32 i = 0; i < 2 && listener < 0; i++)
		if (meeting_point(i, getpid(), true, &at))
			listener = listen_at(&at);
	if (listener < 0) {
		text_printf(why, "there is no folder to wait for a debugger in: %s",
			    strerror(errno));
		return -1;
	}
	fprintf(stderr, "ptxloom: process %ld waits for a debugger: `ptxloom debug -p %ld`\n",
		(long)getpid(), (long)getpid());
	fd = accept_user(listener);
	if (fd < 0)
		text_printf(why, "no debugger can connect: %s", strerror(errno));
	unlink(at.sun_path);
	close(listener);
	return fd;
}

/* ---- the debugger ---- */

static int connect_to(const struct sockaddr_un *at)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), e;

	if (fd < 0 || !connect(fd, (const struct sockaddr *)at, sizeof(*at)))
		return fd;
	e = errno;
	close(fd);
	/* The process has ended while it waited. */
	if (e == ECONNREFUSED)
		unlink(at->sun_path);
	errno = e;
	return -1;
}

int meet_program(pid_t pid, struct text *why)
{
	struct sockaddr_un at;
	int fd = -1;
	pid_t other = 0;

	for (u32 i = 0; i < 2 && fd < 0; i++)
		if (meeting_point(i, pid, false, &at))
			fd = connect_to(&at);
	if (fd < 0) {
		text_printf(why,
			    "process %ld does not wait for a debugger; `ptxloom run --debug-wait` "
			    "starts a program that does",
			    (long)pid);
		return -1;
	}
	if (is_same_user(fd, &other) && other == pid)
		return fd;
	close(fd);
	text_printf(why, "what waits as process %ld is not that process", (long)pid);
	return -1;
}
