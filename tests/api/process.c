/*
 * The process as a whole: children made by fork while other threads call, and libraries that are
 * closed and opened again. Nothing is linked: the libraries come and go with dlopen.
 */
#include "src/base/leave.h"
#include "tests/check.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	CALLERS = 4,
	CHILDREN = 100,
	FRESH_CHILDREN = 30,
	CHILD_SECONDS = 20,
	INVALID_VALUE = 1,
	NOT_INITIALIZED = 3
};

static struct library {
	void *handle;
	int (*allocate)(void **, size_t);
	int (*release)(void *);
	int (*set)(void *, int, size_t);
	int (*synchronize)(void);
	int (*last_error)(void);
} lib;

static bool stop;

static void *named(const char *name)
{
	void *p = dlsym(lib.handle, name);

	if (!p) {
		printf("Bail out! no %s\n", name);
		exit(1);
	}
	return p;
}

static void open_library(const char *path)
{
	lib.handle = dlopen(path, RTLD_NOW);
	if (!lib.handle) {
		printf("Bail out! %s\n", dlerror());
		exit(1);
	}
	*(void **)&lib.allocate = named("cudaMalloc");
	*(void **)&lib.release = named("cudaFree");
	*(void **)&lib.set = named("cudaMemset");
	*(void **)&lib.synchronize = named("cudaDeviceSynchronize");
	*(void **)&lib.last_error = named("cudaGetLastError");
}

/* Work on a device, and a call that fails: what a thread leaves behind. */
static bool use(void)
{
	void *p;

	return !lib.allocate(&p, 1000) && !lib.set(p, 1, 1000) && !lib.synchronize() &&
	       !lib.release(p) && lib.release((void *)(uintptr_t)12345) == INVALID_VALUE &&
	       lib.last_error() == INVALID_VALUE;
}

/* ---- closing ---- */

static void *use_and_close(void *ok)
{
	*(bool *)ok = use() && !dlclose(lib.handle);
	return NULL;
}

/*
 * Threads of the runtime and what ends with a thread of the program must not lead into what is
 * gone.
 */
static void closed_and_opened(const char *path)
{
	pthread_t thread;
	bool ok = false;

	for (int i = 0; i < 3; i++) {
		open_library(path);
		if (i == 1) {
			pthread_create(&thread, NULL, use_and_close, &ok);
			pthread_join(thread, NULL);
			CHECK_MSG(ok, "a library is used and closed by a thread that ends");
		} else {
			CHECK_MSG(use() && !dlclose(lib.handle),
				  i ? "a library is opened again" : "a library is used and closed");
		}
		usleep(20000);
	}
}

/* ---- fork ---- */

static void *fail_again_and_again(void *unused)
{
	(void)unused;
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED))
		lib.release((void *)(uintptr_t)12345);
	return NULL;
}

/* 0: the child's calls answered as they are to, and it came to its end, exit handlers included. */
static int failing_child(void)
{
	int status;
	pid_t pid = fork();
	void *p;

	if (!pid) {
		alarm(CHILD_SECONDS);
		if (lib.allocate(&p, 8) != NOT_INITIALIZED || lib.last_error() != NOT_INITIALIZED)
			leave(1);
		exit(0);
	}
	return pid < 0 || waitpid(pid, &status, 0) != pid ? -1 : status;
}

/* 0: a child with devices of its own, in which what it has of its parent is worth nothing. */
static int fresh_child(void)
{
	void *of_parent, *p;
	int status;
	pid_t pid;

	if (lib.allocate(&of_parent, 8))
		return -1;
	pid = fork();
	if (!pid) {
		alarm(CHILD_SECONDS);
		if (lib.last_error() || lib.release(of_parent) != INVALID_VALUE ||
		    lib.last_error() != INVALID_VALUE || !use() || lib.allocate(&p, 8))
			leave(1);
		/* Its own children, too. */
		pid = fork();
		if (!pid)
			leave(lib.release(p) != INVALID_VALUE || !use());
		if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
			leave(2);
		exit(lib.release(p));
	}
	if (lib.release(of_parent))
		return -1;
	return pid < 0 || waitpid(pid, &status, 0) != pid ? -1 : status;
}

static void forked(const char *path, int (*child)(void), const char *what)
{
	pthread_t thread[CALLERS];
	int failed = 0, children = 0, most = child == fresh_child ? FRESH_CHILDREN : CHILDREN;

	stop = false;
	open_library(path);
	CHECK(use());
	fflush(stdout);
	for (int i = 0; i < CALLERS; i++)
		pthread_create(&thread[i], NULL, fail_again_and_again, NULL);
	while (children < most && !failed) {
		children++;
		failed = child();
	}
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	for (int i = 0; i < CALLERS; i++)
		pthread_join(thread[i], NULL);
	CHECK_MSG(!failed, what);
	if (failed)
		printf("# child %d: status 0x%x\n", children, (unsigned)failed);
	CHECK_MSG(use(), "the parent goes on");
}

int main(void)
{
	static const char path[] = "libcudart.so.13";

	closed_and_opened(path);
	forked(path, failing_child, "children of a process whose threads call get errors and end");
/* ThreadSanitizer lets children of a process with threads start none. */
#ifndef __SANITIZE_THREAD__
	setenv("PTXLOOM_FORK", "fresh", 1);
	forked(path, fresh_child, "with PTXLOOM_FORK=fresh they have devices of their own");
#endif
	return check_done();
}
