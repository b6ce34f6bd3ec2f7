/*
 * Memory that has several addresses or several processes: the virtual memory calls, handles between
 * processes, exported pools; and a host that touches device memory.
 */
#include "src/base/leave.h"
#include "tests/api/memory.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define MIB2 ((size_t)2 << 20)

static void *module;

static void start(void)
{
	cuInit(0);
	CHECK_EQ(cudaFree(NULL), 0);
	CHECK_EQ(cuModuleLoadData(&module, memory_ptx), 0);
}

/* ---- mappings ---- */

/*
 * Memory can be made, mapped and sent to others before there is any context (measured on an H200).
 */
static void test_mapping_bare(void)
{
	struct physical_props props = {.type = 1, .handle_types = 1, .location = {1, 0}};
	struct access all = {{1, 0}, 3};
	uint64_t at, made, got;
	size_t unit;
	int fd = -1;

	CHECK_EQ(cuMemGetAllocationGranularity(&unit, &props, 0), 3);
	CHECK_EQ(cuMemAddressReserve(&at, MIB2, 0, 0, 0), 3);
	cuInit(0);
	CHECK_EQ(cuMemGetAllocationGranularity(&unit, &props, 0), 0);
	CHECK_EQ(cuMemAddressReserve(&at, MIB2, 0, 0, 0), 0);
	CHECK_EQ(cuMemCreate(&made, MIB2, &props, 0), 0);
	CHECK_EQ(cuMemMap(at, MIB2, 0, made, 0), 0);
	CHECK_EQ(cuMemSetAccess(at, MIB2, &all, 1), 0);
	CHECK_EQ(cuMemExportToShareableHandle(&fd, made, 1, 0), 0);
	CHECK_EQ(cuMemImportFromShareableHandle(&got, (void *)(intptr_t)fd, 1), 0);
	CHECK_EQ(cuMemRelease(got), 0);
	CHECK_EQ(cuMemUnmap(at, MIB2), 0);
	CHECK_EQ(cuMemRelease(made), 0);
	CHECK_EQ(cuMemAddressFree(at, MIB2), 0);
	close(fd);
}

static void test_mapping(void)
{
	struct physical_props props = {.type = 1, .handle_types = 1, .location = {1, 0}};
	struct access all = {{1, 0}, 3}, none = {{1, 0}, 0};
	uint64_t at, first, second, again;
	unsigned long long flags = 9;
	unsigned word = 0;
	size_t unit;

	CHECK_EQ(cuMemGetAllocationGranularity(&unit, &props, 0), 0);
	CHECK_EQ(unit, MIB2);
	CHECK_EQ(cuMemAddressReserve(&at, 4 * MIB2, 0, 0, 0), 0);
	CHECK_EQ(cuMemAddressReserve(&again, 12345, 0, 0, 0), 1);
	CHECK_EQ(cuMemCreate(&first, MIB2, &props, 0), 0);
	CHECK_EQ(cuMemCreate(&second, MIB2, &props, 0), 0);
	CHECK_EQ(cuMemCreate(&again, 4096, &props, 0), 1);
	CHECK_EQ(cuMemMap(at, MIB2, 0, first, 0), 0);
	CHECK(cuMemMap(at, MIB2, 0, second, 0) != 0);
	CHECK_EQ(cuMemMap(at + MIB2, MIB2, 0, second, 0), 0);
	CHECK_EQ(cuMemMap(at + 2 * MIB2, MIB2, 0, first, 0), 0);
	CHECK_EQ(cuMemMap(at + 4 * MIB2, MIB2, 0, first, 0), 1);
	CHECK_EQ(cuMemSetAccess(at, 3 * MIB2, &all, 1), 0);
	CHECK_EQ(cuMemGetAccess(&flags, &all.location, at), 0);
	CHECK_EQ(flags, 3);
	/* One fill over two mappings; a kernel; and the first page again, by its other address. */
	CHECK_EQ(cudaMemset((void *)(at + MIB2 - 4), 1, 8), 0);
	CHECK_EQ(memory_add(module, (void *)(at + MIB2 - 4), 1, 1, NULL), 0);
	CHECK_EQ(memory_add(module, (void *)(at + MIB2), 1, 2, NULL), 0);
	CHECK_EQ(cuMemcpyDtoH_v2(&word, at + 3 * MIB2 - 4, 4), 0);
	CHECK_EQ(word, 0x01010102);
	CHECK_EQ(cuMemcpyDtoH_v2(&word, at + MIB2, 4), 0);
	CHECK_EQ(word, 0x01010103);
	CHECK_EQ(cuMemRetainAllocationHandle(&again, (void *)(at + 5)), 0);
	CHECK_EQ(again, first);
	CHECK_EQ(cuMemRelease(again), 0);
	CHECK_EQ(cuMemRelease(first), 0);
	CHECK_EQ(cuMemRelease(first), 1);
	CHECK_EQ(cuMemAddressFree(at, 4 * MIB2), 1);
	CHECK_EQ(cuMemUnmap(at, MIB2 / 2), 1);
	CHECK_EQ(cuMemUnmap(at, 3 * MIB2), 0);
	CHECK_EQ(cuMemcpyDtoH_v2(&word, at, 4), 1);
	/* What is not open to the device faults. */
	CHECK_EQ(cuMemMap(at, MIB2, 0, second, 0), 0);
	CHECK_EQ(cuMemSetAccess(at, MIB2, &none, 1), 0);
	CHECK_EQ(memory_add(module, (void *)at, 1, 1, NULL), 0);
	CHECK_EQ(cudaDeviceSynchronize(), 700);
	CHECK_EQ(cudaDeviceReset(), 0);
	start();
	CHECK_EQ(cuMemUnmap(at, MIB2), 0);
	CHECK_EQ(cuMemRelease(second), 0);
	CHECK_EQ(cuMemAddressFree(at, 4 * MIB2), 0);
}

/* ---- other processes ---- */

/* Hand over an open file. */
static void send_file(int to, int fd)
{
	char control[CMSG_SPACE(sizeof(int))] = {0}, byte = 0;
	struct iovec data = {&byte, 1};
	struct msghdr m = {.msg_iov = &data,
			   .msg_iovlen = 1,
			   .msg_control = control,
			   .msg_controllen = sizeof(control)};
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	CHECK_EQ(sendmsg(to, &m, 0), 1);
}

static int receive_file(int from)
{
	char control[CMSG_SPACE(sizeof(int))] = {0}, byte;
	struct iovec data = {&byte, 1};
	struct msghdr m = {.msg_iov = &data,
			   .msg_iovlen = 1,
			   .msg_control = control,
			   .msg_controllen = sizeof(control)};
	int fd = -1;

	if (recvmsg(from, &m, 0) == 1)
		memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof(fd));
	return fd;
}

/* The importer's answer is its exit status: 0 when all it did went well. */
static int import_all(int from)
{
	struct access all = {{1, 0}, 3};
	struct ipc handle;
	char pointer[64];
	uint64_t physical, at;
	void *p, *again, *pool, *q;
	int bad;

	start();
	bad = read(from, &handle, sizeof(handle)) != (ssize_t)sizeof(handle);
	bad |= cudaIpcOpenMemHandle(&p, handle, 1);
	bad |= cudaIpcOpenMemHandle(&again, handle, 1) || again != p;
	bad |= memory_add(module, p, 1, 10, NULL) | cudaDeviceSynchronize();
	bad |= cudaIpcCloseMemHandle(again) | cudaIpcCloseMemHandle(p);
	bad |= cudaIpcCloseMemHandle(p) != 1;
	bad |= cudaMemPoolImportFromShareableHandle(&pool, (void *)(intptr_t)receive_file(from), 1,
						    0);
	bad |= read(from, pointer, sizeof(pointer)) != (ssize_t)sizeof(pointer);
	bad |= cudaMemPoolImportPointer(&q, pool, pointer);
	bad |= memory_add(module, q, 1, 20, NULL) | cudaDeviceSynchronize();
	bad |= cudaFree(q);
	bad |= cuMemImportFromShareableHandle(&physical, (void *)(intptr_t)receive_file(from), 1);
	bad |= cuMemAddressReserve(&at, MIB2, 0, 0, 0) | cuMemMap(at, MIB2, 0, physical, 0);
	bad |= cuMemSetAccess(at, MIB2, &all, 1);
	bad |= memory_add(module, (void *)at, 1, 30, NULL) | cudaDeviceSynchronize();
	return bad;
}

static unsigned word_at(const void *p)
{
	unsigned word = 0;

	CHECK_EQ(cudaMemcpy(&word, p, 4, TO_HOST), 0);
	return word;
}

static void test_processes(void)
{
	struct physical_props props = {.type = 1, .handle_types = 1, .location = {1, 0}};
	struct pool_props pool_props = {.alloc_type = 1, .handle_types = 1, .location = {1, 0}};
	struct access all = {{1, 0}, 3};
	struct ipc handle;
	char pointer[64];
	uint64_t physical, at;
	void *p, *pool, *q;
	int pair[2], fd, status = -1;
	unsigned one = 1;
	pid_t child;

	if (!CHECK(!socketpair(AF_UNIX, SOCK_STREAM, 0, pair)))
		return;
	child = fork();
	if (!child)
		leave(import_all(pair[1]) != 0);
	test_mapping_bare();
	start();
	test_mapping();
	CHECK_EQ(cudaMalloc(&p, 100), 0);
	CHECK_EQ(cudaMemcpy(p, &one, 4, TO_DEVICE), 0);
	CHECK_EQ(cudaIpcGetMemHandle(&handle, &one), 1);
	CHECK_EQ(cudaIpcGetMemHandle(&handle, p), 0);
	CHECK_EQ(cudaIpcOpenMemHandle(&q, handle, 1), 201);
	CHECK_EQ(write(pair[0], &handle, sizeof(handle)), sizeof(handle));
	CHECK_EQ(cudaMemPoolCreate(&pool, &pool_props), 0);
	CHECK_EQ(cudaMallocFromPoolAsync(&q, 4096, pool, NULL), 0);
	CHECK_EQ(cudaMemcpy(q, &one, 4, TO_DEVICE), 0);
	CHECK_EQ(cudaMemPoolExportToShareableHandle(&fd, pool, 1, 0), 0);
	send_file(pair[0], fd);
	CHECK_EQ(cudaMemPoolExportPointer(pointer, q), 0);
	CHECK_EQ(write(pair[0], pointer, sizeof(pointer)), sizeof(pointer));
	CHECK_EQ(cuMemCreate(&physical, MIB2, &props, 0), 0);
	CHECK_EQ(cuMemAddressReserve(&at, MIB2, 0, 0, 0), 0);
	CHECK_EQ(cuMemMap(at, MIB2, 0, physical, 0), 0);
	CHECK_EQ(cuMemSetAccess(at, MIB2, &all, 1), 0);
	CHECK_EQ(cudaMemcpy((void *)at, &one, 4, TO_DEVICE), 0);
	CHECK_EQ(cuMemExportToShareableHandle(&fd, physical, 1, 0), 0);
	send_file(pair[0], fd);
	CHECK_EQ(waitpid(child, &status, 0), child);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	CHECK_EQ(word_at(p), 11);
	CHECK_EQ(word_at(q), 21);
	CHECK_EQ(word_at((void *)at), 31);
	CHECK_EQ(cudaFree(p), 0);
	CHECK_EQ(cudaFree(q), 0);
}

/* ---- the host ---- */

/* Run `touch` in a process of its own; what it says goes to `said`. Returns how it ended. */
static int in_process(void (*touch)(void), char *said, size_t size)
{
	int out[2], status = -1;
	ssize_t n;
	pid_t child;

	if (pipe(out))
		return -1;
	child = fork();
	if (!child) {
		dup2(out[1], STDERR_FILENO);
		touch();
		leave(0);
	}
	close(out[1]);
	n = read(out[0], said, size - 1);
	said[n > 0 ? n : 0] = 0;
	close(out[0]);
	waitpid(child, &status, 0);
	return status;
}

static void touch_device(void)
{
	volatile char *p;

	cudaMalloc(&p, 1000);
	p[12] = 1;
}

static void touch_freed(void)
{
	volatile char *p;

	cudaMalloc(&p, 1000);
	cudaFree((void *)(uintptr_t)p);
	p[12] = 1;
}

static void touch_open(void)
{
	volatile char *p;

	setenv("PTXLOOM_HOST_ACCESS", "1", 1);
	cudaMalloc(&p, 1000);
	p[12] = 1;
}

static void test_host_access(void)
{
	char said[1000];
	int status = in_process(touch_device, said, sizeof(said));

	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == 11);
	CHECK(strstr(said, "byte 12 of an allocation of 1000 bytes") != NULL);
	CHECK(strstr(said, "cudaMemcpy") != NULL);
	status = in_process(touch_freed, said, sizeof(said));
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == 11);
	CHECK(strstr(said, "freed since") != NULL);
	status = in_process(touch_open, said, sizeof(said));
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0 && !said[0]);
}

int main(void)
{
	setenv("PTXLOOM_DEVICE", "a100", 1);
	unsetenv("PTXLOOM_HOST_ACCESS");
	test_host_access();
	test_processes();
	return check_done();
}
