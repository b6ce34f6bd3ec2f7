/*
 * Large images that start-up code registers: bodies of their functions are read when kernels that
 * need them are launched. Kernels run right, whatever order they are asked for in, and from several
 * threads; a body that is wrong fails the launches that need it, and no others.
 */
#include "tests/check.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

typedef struct {
	unsigned x, y, z;
} dim3;

void **__cudaRegisterFatBinary(const void *);
void __cudaRegisterFatBinaryEnd(void **);
void __cudaRegisterFunction(void **, const void *, char *, const char *, int, void *, void *,
			    void *, void *, int *);
void __cudaUnregisterFatBinary(void **);
int cudaMallocManaged(void **, size_t, unsigned);
int cudaLaunchKernel(const void *, dim3, dim3, void **, size_t, void *);
int cudaDeviceSynchronize(void);
int cudaGetLastError(void);

enum { FILLERS = 2000, THREADS = 4, INVALID_PTX = 218 };

static const char head[] = ".version 7.8\n.target sm_70\n.address_size 64\n"
			   ".visible .func (.param .b32 r) triple(.param .b32 a);\n"
			   ".visible .func (.param .b32 r) square(.param .b32 a);\n"
			   ".visible .global .align 8 .u64 table[2] = {triple, square};\n";

#define CALL(target)                                                                               \
	"{ .param .b32 a; .param .b32 r; st.param.b32 [a], %r1;\n" target                          \
	"ld.param.b32 %r2, [r]; }\nst.global.u32 [%rd1], %r2;\nret;\n}\n"
#define HEAD "(.param .u64 p)\n{\n"
#define BEGIN                                                                                      \
	".reg .b32 %r<9>; .reg .b64 %rd<9>; .shared .b32 s;\n"                                     \
	"ld.param.u64 %rd1, [p];\ncvta.to.global.u64 %rd1, %rd1;\nmov.u32 %r1, 7;\n"
#define KERNEL(name) ".visible .entry " name HEAD BEGIN

static const char tail[] = KERNEL("direct") CALL("call (r), triple, (a);\n")
	KERNEL("indirect") "ld.global.u64 %rd2, [table+8];\n" CALL(
		"proto: .callprototype (.param .b32 _) _ (.param .b32 _);\ncall (r), %rd2, (a), proto;\n")
		KERNEL("bad_itself") "add.s32 %r1, %r2;\nret;\n}\n" KERNEL("bad_callee")
			CALL("call (r), broken, (a);\n");

static const char functions[] =
	".func (.param .b32 r) triple(.param .b32 a)\n{\n.reg .b32 %r<3>;\n"
	"ld.param.b32 %r1, [a];\nmul.lo.s32 %r2, %r1, 3;\nst.param.b32 [r], %r2;\nret;\n}\n"
	".func (.param .b32 r) square(.param .b32 a)\n{\n.reg .b32 %r<3>;\n"
	"ld.param.b32 %r1, [a];\nmul.lo.s32 %r2, %r1, %r1;\nst.param.b32 [r], %r2;\nret;\n}\n";
static const char broken[] =
	".func (.param .b32 r) broken(.param .b32 a)\n{\nmov.b32 nothing, 1;\nret;\n}\n";

static char *text;
static int *result;
static char stubs[FILLERS];
static char direct, indirect, bad_itself, bad_callee;

/* Half a megabyte; with errors or without, as of pointers all functions are meant. */
static char *make_text(bool with_errors)
{
	size_t size = 1 << 20, n = 0;
	char *t = malloc(size);

	n += (size_t)snprintf(t + n, size - n, "%s", head);
	n += (size_t)snprintf(t + n, size - n, "%s", functions);
	if (with_errors)
		n += (size_t)snprintf(t + n, size - n, "%s", broken);
	for (int i = 0; i < FILLERS; i++)
		n += (size_t)snprintf(t + n, size - n,
				      ".visible .entry filler_%d" HEAD "%sadd.u32 %%r1, %%r1, %d;\n"
				      "st.global.u32 [%%rd1], %%r1;\nret;\n}\n",
				      i, BEGIN, i);
	snprintf(t + n, size - n, "%s", tail);
	if (!with_errors)
		*strstr(t, ".visible .entry bad_itself") = 0;
	return t;
}

static void register_kernel(void **image, char *stub, const char *name)
{
	__cudaRegisterFunction(image, stub, stub, name, -1, NULL, NULL, NULL, NULL, NULL);
}

static void **register_text(bool with_errors)
{
	void **image;
	char name[32];

	text = make_text(with_errors);
	image = __cudaRegisterFatBinary(text);
	for (int i = 0; i < FILLERS; i++) {
		snprintf(name, sizeof(name), "filler_%d", i);
		register_kernel(image, &stubs[i], strdup(name));
	}
	register_kernel(image, &direct, "direct");
	register_kernel(image, &indirect, "indirect");
	register_kernel(image, &bad_itself, "bad_itself");
	register_kernel(image, &bad_callee, "bad_callee");
	__cudaRegisterFatBinaryEnd(image);
	return image;
}

static int launch(const void *stub, int *to)
{
	void *args[] = {&to};
	int error = cudaLaunchKernel(stub, (dim3){1, 1, 1}, (dim3){1, 1, 1}, args, 0, NULL);

	return error ? error : cudaDeviceSynchronize();
}

static void *launch_many(void *from)
{
	int first = *(int *)from, *to = result + 1 + first;
	uintptr_t wrong = 0;

	for (int i = first; i < 200; i += 1 + first)
		wrong += launch(&stubs[FILLERS - 1 - i], to) || *to != 7 + FILLERS - 1 - i;
	return (void *)wrong;
}

static void test_threads(void)
{
	pthread_t threads[THREADS];
	int first[THREADS];
	void *wrong, *all = NULL;

	for (int i = 0; i < THREADS; i++) {
		first[i] = i;
		pthread_create(&threads[i], NULL, launch_many, &first[i]);
	}
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], &wrong);
		all = wrong ? wrong : all;
	}
	CHECK_MSG(!all, "four threads, the same kernels");
}

/* The result, and what is written to standard error. */
static int launch_and_read(const void *stub, char *said, size_t size)
{
	int before = dup(2), ends[2], error;
	ssize_t n;

	if (pipe(ends))
		return -1;
	dup2(ends[1], 2);
	error = launch(stub, result);
	dup2(before, 2);
	close(before);
	close(ends[1]);
	n = read(ends[0], said, size - 1);
	said[n > 0 ? n : 0] = 0;
	close(ends[0]);
	return error;
}

static int line_of(const char *what)
{
	int line = 1;

	for (const char *p = text, *end = strstr(text, what); p < end; p++)
		line += *p == '\n';
	return line;
}

static void check_bad(const void *stub, const char *name, const char *what)
{
	char said[4096], place[64];

	CHECK_MSG(launch_and_read(stub, said, sizeof(said)) == INVALID_PTX, name);
	snprintf(place, sizeof(place), ":%d:", line_of(what));
	if (!CHECK_MSG(strstr(said, place) && strstr(said, "error: "), "it says where"))
		printf("# expected %s in: %s\n", place, said);
	CHECK_MSG(launch_and_read(stub, said, sizeof(said)) == INVALID_PTX && !*said,
		  "the second time it fails in silence");
	CHECK_EQ(cudaGetLastError(), INVALID_PTX);
}

/* Modes, and whether a module is read whole in them: then no kernel of it can run. */
static const struct {
	const char *setting;
	bool whole;
} ways[] = {
	{"PTXLOOM_WORKERS=1", false},
	{"PTXLOOM_WORKERS=8", false},
	{"PTXLOOM_DETERMINISTIC=1", false},
	{"PTXLOOM_STABLE=1", false},
	{"PTXLOOM_SEED=5", false},
	{"PTXLOOM_HOST_ISA=base", false},
	{"PTXLOOM_DEVICE=h100", false},
	{"PTXLOOM_TIER=auto", false},
	{"PTXLOOM_STATS=1", false},
	{"PTXLOOM_CHECK=mem", true},
	{"PTXLOOM_CHECK=race,sync", true},
	{"PTXLOOM_CHECK=init", true},
	{"PTXLOOM_COUNTERS=exact", true},
	{"PTXLOOM_COUNTERS=caches", true},
	{"d=$(mktemp -d); trap 'rm -rf $d' EXIT; PTXLOOM_COVERAGE=$d", true},
	{"PTXLOOM_PROFILE=/dev/null", true},
};

static void test_ways(const char *program)
{
	char command[4400];

	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
		snprintf(command, sizeof(command), "%s '%s' %s 2>/dev/null", ways[i].setting,
			 program, ways[i].whole ? "whole" : "parts");
		CHECK_MSG(!system(command), ways[i].setting);
	}
}

/* One launch of such a process. */
static int run_way(bool whole)
{
	int status = cudaMallocManaged((void **)&result, 64, 1);

	status = status ? status : launch(&stubs[1], result);
	return whole ? status != INVALID_PTX : status || *result != 8;
}

int main(int argc, char **argv)
{
	void **image = register_text(true);

	if (argc > 1)
		return run_way(!strcmp(argv[1], "whole"));

	CHECK_MSG(!cudaMallocManaged((void **)&result, 64, 1), "memory");
	CHECK_MSG(!launch(&stubs[1234], result) && *result == 7 + 1234, "a kernel of many");
	CHECK_MSG(!launch(&direct, result) && *result == 21, "a call");
	check_bad(&bad_itself, "a kernel that is wrong", "add.s32 %r1, %r2;");
	check_bad(&bad_callee, "a kernel that calls what is wrong", "nothing");
	CHECK_MSG(!launch(&stubs[7], result) && *result == 14, "another kernel of that image");
	test_threads();
	__cudaUnregisterFatBinary(image);
	image = register_text(false);
	CHECK_MSG(!launch(&indirect, result) && *result == 49, "a call through a pointer");
	__cudaUnregisterFatBinary(image);
	test_ways(argv[0]);
	return check_done();
}
