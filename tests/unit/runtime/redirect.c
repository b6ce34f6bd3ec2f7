/*
 * What redirects foreign runtimes: which functions it overwrites, which it leaves alone and why,
 * whose call a stub says it is, and what becomes of libraries that go and come.
 */
#include "runtime/preload/redirect.h"
#include "tests/check.h"

#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <unistd.h>

static _Thread_local u32 caller __attribute__((tls_model("initial-exec")));
static u32 hook_calls;

static int ours(void)
{
	return 77;
}

static void *target(const char *name, enum redirect_kind kind)
{
	if (kind != REDIRECT_RUNTIME_13 || !strcmp(name, "cudaOfNobody"))
		return NULL;
	return (void *)(uintptr_t)ours;
}

static void hook(void)
{
	hook_calls += _r_debug.r_state == RT_CONSISTENT;
}

/*
 * Beside the test: build/tests/unit/.libs/redirect_library.so; what is done to it is done to a
 * copy.
 */
static bool copy_library(const char *to)
{
	char self[4096], command[9000];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *slash;

	self[n > 0 ? n : 0] = 0;
	slash = strrchr(self, '/');
	if (slash)
		*slash = 0;
	snprintf(command, sizeof(command), "cp -f '%s/.libs/redirect_library.so' '%s'", self, to);
	return !system(command);
}

static int call(void *library, const char *name)
{
	int (*f)(void);

	*(void **)&f = dlsym(library, name);
	return f ? f() : -1;
}

static s64 place_of(const void *variable)
{
	u64 base;

	__asm__("movq %%fs:0, %0" : "=r"(base));
	return (s64)((u64)(uintptr_t)variable - base);
}

static size_t with_stubs(const struct redirect *r)
{
	size_t n = 0;

	for (size_t i = 0; i < r->seen.len; i++)
		n += r->seen.at[i].stubs.bytes != 0;
	return n;
}

static void test_functions(struct redirect *r, void *one)
{
	struct redirect_result out;
	u32 mark;

	redirect_new(r, &out);
	CHECK_EQ(out.objects, 1);
	CHECK_EQ(out.patched, 3);
	CHECK_EQ(out.failed, 2);
	CHECK_MSG(strstr(out.why, "cudaInData in ") && strstr(out.why, "section of code"),
		  "a symbol in data, it says");
	CHECK_EQ(call(one, "cudaGetDeviceCount"), 77);
	mark = caller;
	CHECK_MSG(mark > 13, "the stub says whose call it is");
	CHECK_EQ(call(one, "cudaOfNobody"), 4);
	CHECK_EQ(call(one, "cudaEntered"), 5);
	redirect_new(r, &out);
	CHECK_MSG(!out.objects && !out.patched && !out.failed, "once");
	CHECK_EQ(with_stubs(r), 1);
}

static void test_libraries(struct redirect *r, void *one, const char *path)
{
	struct redirect_result out;
	void *two = NULL;
	u32 mark;

	CHECK_EQ(call(one, "cudaRuntimeGetVersion"), 77);
	mark = caller;
	CHECK_MSG(copy_library(path) && (two = dlopen(path, RTLD_NOW)), "another copy");
	redirect_new(r, &out);
	CHECK_EQ(out.patched, 3);
	CHECK_EQ(call(two, "cudaRuntimeGetVersion"), 77);
	CHECK_MSG(caller != mark, "is another caller");
	CHECK_EQ(call(one, "cudaRuntimeGetVersion"), 77);
	CHECK_EQ(caller, mark);
	CHECK_EQ(with_stubs(r), 2);
	dlclose(two);
	redirect_new(r, &out);
	CHECK_EQ(with_stubs(r), 1);
	CHECK_EQ(call(one, "cudaRuntimeGetVersion"), 77);
}

/* Another file has come to the path of what is loaded. */
static void test_replaced(struct redirect *r, const char *path, const char *other)
{
	struct redirect_result out;
	char command[9000];
	void *h = NULL;

	CHECK_MSG(copy_library(path) && copy_library(other) && (h = dlopen(path, RTLD_NOW)),
		  "a third copy");
	/* The first bytes of all functions are others. */
	snprintf(command, sizeof(command),
		 "LC_ALL=C sed -i 's/\\x8b\\x05/\\x8b\\x0d/g' '%s' && mv -f '%s' '%s'", other,
		 other, path);
	CHECK_MSG(!system(command), "its file is replaced");
	redirect_new(r, &out);
	CHECK_MSG(!out.patched && out.failed == 5, "what is not in memory is not believed");
	CHECK_EQ(call(h, "cudaGetDeviceCount"), 3);
	dlclose(h);
}

int main(void)
{
	struct redirect r = {.target = target, .place = place_of(&caller)};
	struct redirect_result out;
	char scratch[] = "/tmp/ptxloom-redirect-XXXXXX", one_path[64], two_path[64], three_path[64];
	void *one = NULL;

	if (!mkdtemp(scratch))
		return 1;
	snprintf(one_path, sizeof(one_path), "%s/one.so", scratch);
	snprintf(two_path, sizeof(two_path), "%s/two.so", scratch);
	snprintf(three_path, sizeof(three_path), "%s/three.so", scratch);
	redirect_new(&r, &out);
	CHECK_MSG(!out.objects && !out.failed, "nothing in this program");
	if (CHECK_MSG(copy_library(one_path) && (one = dlopen(one_path, RTLD_NOW)), "a library")) {
		test_functions(&r, one);
		test_libraries(&r, one, two_path);
		test_replaced(&r, two_path, three_path);
		CHECK_MSG(redirect_watch(hook), "the loader reports libraries");
		CHECK_MSG(!hook_calls && copy_library(three_path) && dlopen(three_path, RTLD_NOW) &&
				  hook_calls,
			  "when they are mapped");
		dlclose(one);
	}
	unlink(one_path);
	unlink(two_path);
	unlink(three_path);
	rmdir(scratch);
	VEC_FREE(&r.seen);
	return check_done();
}
