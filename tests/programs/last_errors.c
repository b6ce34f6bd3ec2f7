/*
 * Last errors of several copies of the runtime in one process: of the shared one that this program
 * is linked with, and of libraries that carry their own. last_errors LIBRARY LIBRARY
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

int cudaGetLastError(void);
int cudaPeekAtLastError(void);
int cudaSetDevice(int);

enum { INVALID_DEVICE = 101 };

struct library {
	int (*fail)(void), (*last_error)(void);
};

static int failures;

static void expect(int got, int want, const char *what)
{
	if (got == want)
		return;
	printf("%s: %d instead of %d\n", what, got, want);
	failures++;
}

static int open_library(const char *path, struct library *out)
{
	void *h = dlopen(path, RTLD_NOW | RTLD_LOCAL);

	if (!h) {
		puts(dlerror());
		return 0;
	}
	*(void **)&out->fail = dlsym(h, "user_fail");
	*(void **)&out->last_error = dlsym(h, "user_last_error");
	return out->fail && out->last_error;
}

static void *in_another_thread(void *user)
{
	struct library *one = user;

	expect(one->last_error(), 0, "another thread has none");
	expect(one->fail(), INVALID_DEVICE, "another thread fails");
	return NULL;
}

int main(int argc, char **argv)
{
	struct library one, two;
	pthread_t thread;

	if (argc != 3 || !open_library(argv[1], &one) || !open_library(argv[2], &two))
		return 2;
	expect(one.fail(), INVALID_DEVICE, "a library fails");
	expect(cudaPeekAtLastError(), 0, "the program has no error of the library's");
	expect(two.last_error(), 0, "nor has another library");
	expect(cudaSetDevice(54321), INVALID_DEVICE, "the program fails");
	expect(two.fail(), INVALID_DEVICE, "the other library fails");
	expect(cudaGetLastError(), INVALID_DEVICE, "the program's error");
	expect(cudaGetLastError(), 0, "once");
	expect(one.last_error(), INVALID_DEVICE, "the library's error");
	expect(one.last_error(), 0, "once, too");
	expect(two.last_error(), INVALID_DEVICE, "the other library's error");
	expect(pthread_create(&thread, NULL, in_another_thread, &one), 0, "a thread");
	pthread_join(thread, NULL);
	expect(one.last_error(), 0, "errors of other threads");
	if (!failures)
		puts("all right");
	return failures != 0;
}
