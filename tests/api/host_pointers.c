/*
 * Pointers of the host that lead nowhere: copies and launches that use them end with an error and a
 * message that says where; the process, its output and the device live on.
 */
#include "src/base/leave.h"
#include "tests/api/memory.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGE = 4096, BIG = 1 << 20 };

static char *device, *page, *constant; /* `page` has no neighbour, `constant` cannot be written */
static char said[1 << 16];

/* What `call` writes to standard error goes to `said`. */
#define HEAR(call) (hear_begin(), hear_end(call))
static int kept_error;
static FILE *heard;

static void hear_begin(void)
{
	heard = tmpfile();
	fflush(stderr);
	kept_error = dup(STDERR_FILENO);
	dup2(fileno(heard), STDERR_FILENO);
}

static int hear_end(int result)
{
	FILE *f = heard;
	size_t n;

	fflush(stderr);
	dup2(kept_error, STDERR_FILENO);
	close(kept_error);
	rewind(f);
	n = fread(said, 1, sizeof(said) - 1, f);
	said[n] = 0;
	fclose(f);
	return result;
}

static void make_pages(void)
{
	page = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	mmap(page + PAGE, 2 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	constant = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	cudaMalloc(&device, BIG);
	cudaMemset(device, 7, BIG);
}

static void copies_are_refused(void)
{
	char wanted[200];
	void *wild = (void *)0x10, *strange = (void *)((uintptr_t)1 << 63);
	char *gone =
		mmap(NULL, 64 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK_EQ(HEAR(cudaMemcpy(wild, device, 64, TO_HOST)), 1);
	CHECK_STR(
		said,
		"ptxloom: a copy writes 64 bytes to the host from 0x10 on, but no memory is mapped "
		"at 0x10\n");
	CHECK_EQ(cudaGetLastError(), 1);
	CHECK_EQ(HEAR(cudaMemcpy(device, wild, 64, TO_DEVICE)), 1);
	CHECK_STR(
		said,
		"ptxloom: a copy reads 64 bytes of the host from 0x10 on, but no memory is mapped at "
		"0x10\n");
	CHECK_EQ(HEAR(cudaMemcpy(page, device, 2 * PAGE, TO_HOST)), 1);
	snprintf(
		wanted, sizeof(wanted),
		"ptxloom: a copy writes 8192 bytes to the host from %p on, but memory is not writable at %p\n",
		(void *)page, (void *)(page + PAGE));
	CHECK_STR(said, wanted);
	CHECK_EQ(HEAR(cudaMemcpy(constant, device, 16, TO_HOST)), 1);
	CHECK(strstr(said, "but memory is not writable at ") != NULL);
	CHECK_EQ(cudaMemcpy(device, constant, 16, TO_DEVICE), 0);
	CHECK_EQ(HEAR(cudaMemcpy(strange, device, 16, TO_HOST)), 1);
	CHECK_EQ(HEAR(cudaMemcpyAsync(wild, device, 64, TO_HOST, NULL)), 1);
	CHECK_EQ(HEAR(cudaMemcpyAsync(device, wild, 64, TO_DEVICE, NULL)), 1);
	CHECK_EQ(HEAR(cudaMemcpy2D(wild, 64, device, 64, 16, 4, TO_HOST)), 1);
	CHECK_EQ(HEAR(cuMemcpyDtoH_v2(wild, (uintptr_t)device, 64)), 1);
	CHECK_EQ(HEAR(cuMemcpyHtoD_v2((uintptr_t)device, wild, 64)), 1);
	CHECK_EQ(HEAR(cudaMemcpy(wild, page, 64, 0)), 1);
	/* As free does with large blocks. */
	munmap(gone, 64 << 20);
	CHECK_EQ(HEAR(cudaMemcpy(gone, device, BIG, TO_HOST)), 1);
	CHECK_EQ(cudaDeviceSynchronize(), 0);
}

/* What is at fault is the call's, not the device's: work that is queued behind it is done. */
static void queued_copies_are_refused(void *module)
{
	static unsigned flag;
	void *stream, *f, *p = &flag, *args[] = {&p};
	unsigned *pinned;
	char kept[16] = {0};

	cudaMallocHost(&pinned, 4);
	*pinned = 0;
	p = pinned;
	cudaStreamCreateWithFlags(&stream, 1);
	CHECK_EQ(cuModuleGetFunction(&f, module, "spin"), 0);
	CHECK_EQ(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, stream, args, NULL), 0);
	/* Read before the call returns. */
	CHECK_EQ(cudaMemcpyAsync(device, "0123456789abcdef", 16, TO_DEVICE, stream), 0);
	__atomic_store_n(pinned, 1, __ATOMIC_RELEASE);
	CHECK_EQ(HEAR(cudaMemcpyAsync((void *)0x10, device, 64, TO_HOST, stream)), 1);
	CHECK_EQ(cudaStreamSynchronize(stream), 0);
	CHECK_EQ(cudaMemcpy(kept, device, 16, TO_HOST), 0);
	CHECK(!memcmp(kept, "0123456789abcdef", 16));
	cudaStreamDestroy(stream);
	cudaFreeHost(pinned);
}

static void launches_are_refused(void *module)
{
	void *f, *wild[] = {(void *)0x10, (void *)0x10, (void *)0x10};

	CHECK_EQ(cuModuleGetFunction(&f, module, "add"), 0);
	CHECK_EQ(HEAR(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, wild, NULL)), 1);
	CHECK_STR(
		said,
		"ptxloom: the launch of add reads 8 bytes of the host from 0x10 on, but no memory is "
		"mapped at 0x10\n");
	CHECK_EQ(HEAR(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, (void **)page + PAGE / 8 - 1,
				     NULL)),
		 1);
	CHECK(strstr(said, "the launch of add reads 24 bytes of the host from ") != NULL);
	CHECK_EQ(memory_add(module, device, 4, 1, NULL), 0);
	CHECK_EQ(cudaDeviceSynchronize(), 0);
}

/* A registration that covers a hole is none, whatever its ends look like. */
static void holes_are_not_registered(void)
{
	char *three =
		mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK_EQ(cudaHostRegister(three, 3 * PAGE, 0), 0);
	CHECK_EQ(cudaHostUnregister(three), 0);
	munmap(three + PAGE, PAGE);
	CHECK_EQ(cudaHostRegister(three, 3 * PAGE, 0), 1);
	CHECK_EQ(cudaHostRegister(three, PAGE, 0), 0);
	CHECK_EQ(cudaHostUnregister(three), 0);
	munmap(three, PAGE);
	munmap(three + 2 * PAGE, PAGE);
}

static volatile sig_atomic_t handled;
static volatile char *volatile own_fault = (volatile char *)0x20;

static void on_fault(int signal, siginfo_t *info, void *context)
{
	(void)signal, (void)context;
	handled = 1;
	leave(info->si_addr == (void *)0x20 ? 42 : 1);
}

/*
 * In a process that has a handler of its own, copies are refused as well, and its faults are its
 * own.
 */
static void handlers_are_kept(void)
{
	pid_t pid;
	int status = 0;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		struct sigaction mine = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};

		sigaction(SIGSEGV, &mine, NULL);
		make_pages();
		if (cudaMemcpy((void *)0x10, device, 64, TO_HOST) != 1 || handled ||
		    cudaMemcpy((void *)0x10, device, 64, TO_HOST) != 1)
			leave(2);
		*own_fault = 1;
		leave(3);
	}
	waitpid(pid, &status, 0);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 42);
	/* Without one, the program dies of its own faults as ever. */
	pid = fork();
	if (!pid) {
		make_pages();
		cudaMemcpy((void *)0x10, device, 64, TO_HOST);
		*own_fault = 1;
		leave(3);
	}
	waitpid(pid, &status, 0);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
}

int main(void)
{
	void *module;

	handlers_are_kept();
	make_pages();
	CHECK_EQ(cuModuleLoadData(&module, memory_ptx), 0);
	copies_are_refused();
	queued_copies_are_refused(module);
	launches_are_refused(module);
	holes_are_not_registered();
	return check_done();
}
