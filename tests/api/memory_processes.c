/*
 * Atomic updates of memory that two processes share, each with one worker, which is alone with all
 * other memory: none is lost, whichever process opened the memory, and not while more of the same
 * pages is being shared.
 */
#include "src/base/leave.h"
#include "tests/api/memory.h"

#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define TURNS 1500000u
#define LANES 32u

/* Each thread adds 1 to the word `turns` times, at the scope of the device. */
static const char count_ptx[] =
	".version 7.0\n.target sm_70\n.address_size 64\n"
	".visible .entry count(.param .u64 p, .param .u32 turns)\n{\n"
	" .reg .u64 %d; .reg .u32 %r<3>; .reg .pred %q;\n ld.param.u64 %d, [p]; ld.param.u32 %r0, [turns];\n"
	"L: red.relaxed.gpu.global.add.u32 [%d], 1; sub.u32 %r0, %r0, 1; setp.ne.u32 %q, %r0, 0; @%q bra L; ret;\n}\n";

static void *module;

static int begin(void)
{
	setenv("PTXLOOM_WORKERS", "1", 1);
	return cuInit(0) | cudaFree(NULL) | cuModuleLoadData(&module, count_ptx);
}

static int count(void *p)
{
	unsigned turns = TURNS;
	void *f, *args[] = {&p, &turns};
	int status = cuModuleGetFunction(&f, module, "count");

	return status ? status : cuLaunchKernel(f, 1, 1, 1, LANES, 1, 1, 0, NULL, args, NULL);
}

static bool say(int to)
{
	return write(to, "", 1) == 1;
}

static bool hear(int from)
{
	char byte;

	return read(from, &byte, 1) == 1;
}

/* The importer: counts in what it is sent a handle of. Exit status 0: all went well. */
static int import_and_count(int other)
{
	struct ipc handle;
	void *p;
	int bad = begin();

	bad |= read(other, &handle, sizeof(handle)) != (ssize_t)sizeof(handle);
	bad |= cudaIpcOpenMemHandle(&p, handle, 1);
	bad |= !say(other) || !hear(other);
	bad |= count(p) | cudaDeviceSynchronize();
	return bad | !say(other);
}

static int export_word(int other, void **p)
{
	struct ipc handle;
	unsigned zero = 0;
	int bad = begin();

	bad |= cudaMalloc(p, 100) | cudaMemcpy(*p, &zero, 4, TO_DEVICE);
	bad |= cudaIpcGetMemHandle(&handle, *p);
	bad |= write(other, &handle, sizeof(handle)) != (ssize_t)sizeof(handle);
	return bad | !hear(other) | !say(other);
}

static int ends_at(void *p, unsigned want)
{
	unsigned got = 0;
	int bad = cudaMemcpy(&got, p, 4, TO_HOST);

	if (got != want)
		printf("# %u, not %u\n", got, want);
	fflush(stdout);
	return bad | (got != want);
}

static int count_too(int other)
{
	void *p;
	int bad = export_word(other, &p);

	bad |= count(p) | cudaDeviceSynchronize() | !hear(other);
	return bad | ends_at(p, 2 * LANES * TURNS);
}

/* A neighbour on the same page is shared at the same time, and the word itself once more. */
static int share_more(int other)
{
	struct ipc handle;
	void *p, *q;
	int bad = export_word(other, &p);

	bad |= cudaMalloc(&q, 100);
	for (unsigned i = 0; i < 2000; i++)
		bad |= cudaIpcGetMemHandle(&handle, i & 1 ? p : q);
	return bad | !hear(other) | ends_at(p, LANES * TURNS);
}

/* What is freed and allocated again has nothing to do with what was shared. */
static int free_and_share(int other)
{
	unsigned char byte = 0;
	struct ipc handle;
	void *p, *q;
	int bad = export_word(other, &p);

	bad |= (!hear(other)) | cudaFree(p) | cudaMalloc(&q, 1 << 20) | cudaMemset(q, 7, 1 << 20);
	bad |= cudaIpcGetMemHandle(&handle, q) | cudaFree(q);
	bad |= cudaMalloc(&q, 1 << 20) | cudaMemset(q, 9, 1 << 20) |
	       cudaIpcGetMemHandle(&handle, q);
	bad |= cudaMemcpy(&byte, (char *)q + 500000, 1, TO_HOST);
	return bad | (byte != 9);
}

static void test_two(int (*exporter)(int), const char *name)
{
	int pair[2], first = -1, second = -1;
	pid_t child[2];

	if (!CHECK(!socketpair(AF_UNIX, SOCK_STREAM, 0, pair)))
		return;
	fflush(stdout);
	child[0] = fork();
	if (!child[0])
		leave(exporter(pair[0]) != 0);
	child[1] = fork();
	if (!child[1])
		leave(import_and_count(pair[1]) != 0);
	CHECK_EQ(waitpid(child[1], &second, 0), child[1]);
	CHECK_EQ(waitpid(child[0], &first, 0), child[0]);
	CHECK_MSG(!first && !second, name);
	close(pair[0]);
	close(pair[1]);
}

int main(void)
{
	setenv("PTXLOOM_DEVICE", "a100", 1);
	test_two(count_too, "two processes add to one word");
	test_two(share_more, "pages are shared again while another process writes");
	test_two(free_and_share, "pages that were released are shared anew");
	return check_done();
}
