/*
 * Managed memory that the host and a device touch by turns: argument 1 says which case. With
 * -DMEASURE it prints what a GPU's driver tells of each case instead, for tests/counters/managed.tsv:
 * nvcc -arch=sm_90 -DMEASURE tests/profile/managed.cu -lcupti -o managed && ./managed all
 */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <unistd.h>

#define KB ((size_t)1024)
#define MB (KB * KB)
#define PAGE (4 * KB)

static char *base;
static size_t size;

static void call(cudaError_t e)
{
	if (e == cudaSuccess)
		return;
	printf("failed: %s\n", cudaGetErrorName(e));
	exit(1);
}

__global__ void touch(char *p, size_t n, size_t stride, int writes)
{
	size_t i = (blockIdx.x * (size_t)blockDim.x + threadIdx.x) * stride;

	if (i >= n)
		return;
	if (writes)
		p[i] = 1;
	else if (p[i] == 77)
		p[0] = 2;
}

/* One after the other. */
__global__ void walk(char *p, size_t n, size_t stride, int writes)
{
	for (size_t i = 0; i < n; i += stride) {
		if (writes)
			((volatile char *)p)[i] = 1;
		else if (((volatile char *)p)[i] == 77)
			p[0] = 2;
		__threadfence();
	}
}

#ifndef __clang__ /* which has no such variables */
__managed__ int counter[4];
#endif

static void make(size_t bytes)
{
	size = bytes;
	call(cudaMallocManaged(&base, bytes));
}

static void ended()
{
	call(cudaDeviceSynchronize());
}

static void kernel(size_t stride, int writes)
{
	size_t threads = (size + stride - 1) / stride;

	touch<<<(unsigned)((threads + 255) / 256), 256>>>(base, size, stride, writes);
	ended();
}

static void walk_kernel(size_t stride, int writes)
{
	walk<<<1, 1>>>(base, size, stride, writes);
	ended();
}

static void host_write(size_t stride)
{
	for (size_t i = 0; i < size; i += stride)
		((volatile char *)base)[i] = 3;
}

static long host_read(size_t stride)
{
	long sum = 0;

	for (size_t i = 0; i < size; i += stride)
		sum += ((volatile char *)base)[i];
	return sum;
}

static void prefetch(size_t from, size_t bytes, bool to_host)
{
#if CUDART_VERSION >= 13000
	cudaMemLocation to = {to_host ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice, 0};

	call(cudaMemPrefetchAsync(base + from, bytes, to, 0, 0));
#else
	call(cudaMemPrefetchAsync(base + from, bytes, to_host ? cudaCpuDeviceId : 0, 0));
#endif
	ended();
}

static void advise(cudaMemoryAdvise advice, bool host)
{
#if CUDART_VERSION >= 13000
	cudaMemLocation where = {host ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice, 0};

	call(cudaMemAdvise(base, size, advice, where));
#else
	call(cudaMemAdvise(base, size, advice, host ? cudaCpuDeviceId : 0));
#endif
}

/* ---- cases: argument 2 is a number of KiB ---- */

static void whole(size_t n)
{
	make(n);
	host_write(PAGE);
	kernel(1, 0);
	kernel(1, 1);
	host_read(PAGE);
	kernel(1, 0);
}

static void first_on_device(size_t n)
{
	make(n);
	kernel(1, 1);
	host_read(PAGE);
}

static void strided(size_t stride)
{
	make(4 * MB);
	host_write(PAGE);
	kernel(stride, 1);
	host_read(stride);
}

static void strided_walk(size_t stride)
{
	make(4 * MB);
	host_write(PAGE);
	walk_kernel(stride, 1);
	host_read(stride);
}

static void single_pages(size_t at)
{
	make(4 * MB);
	host_write(PAGE);
	prefetch(0, size, false);
	((volatile char *)base)[at] = 4;
	kernel(1, 0);
}

static void prefetched(size_t part)
{
	make(4 * MB);
	host_write(PAGE);
	prefetch(0, size, false);
	kernel(1, 1);
	prefetch(0, part, true);
	host_read(PAGE);
}

static void prefetched_new(size_t part)
{
	make(4 * MB);
	prefetch(0, part, false);
	kernel(1, 1);
	host_read(PAGE);
}

static void mostly_read(size_t stride)
{
	make(4 * MB);
	host_write(PAGE);
	advise(cudaMemAdviseSetReadMostly, false);
	kernel(1, 0);
	host_read(PAGE);
	kernel(stride, 1);
	host_read(PAGE);
}

static void host_preferred(size_t stride)
{
	make(4 * MB);
	host_write(PAGE);
	advise(cudaMemAdviseSetPreferredLocation, true);
	kernel(stride, 0);
	kernel(stride, 1);
	host_read(PAGE);
}

static void device_preferred(size_t stride)
{
	make(4 * MB);
	advise(cudaMemAdviseSetPreferredLocation, false);
	host_write(PAGE);
	kernel(stride, 0);
	host_read(stride);
}

static void accessed_by(size_t stride)
{
	make(4 * MB);
	host_write(PAGE);
	advise(cudaMemAdviseSetAccessedBy, false);
	kernel(stride, 0);
	kernel(stride, 1);
	host_read(PAGE);
}

static void copied_in(size_t n)
{
	char *from = (char *)malloc(n);

	memset(from, 1, n);
	make(n);
	call(cudaMemcpy(base, from, n, cudaMemcpyDefault));
	kernel(1, 1);
	call(cudaMemcpy(from, base, n, cudaMemcpyDefault));
	host_read(PAGE);
	call(cudaMemcpy(base, from, n, cudaMemcpyDefault));
	host_read(PAGE);
	free(from);
}

static void copied_device(size_t n)
{
	char *d;

	make(n);
	call(cudaMalloc(&d, n));
	host_write(PAGE);
	call(cudaMemcpy(d, base, n, cudaMemcpyDefault));
	kernel(1, 0);
	call(cudaMemcpy(base, d, n, cudaMemcpyDefault));
	ended();
	host_read(PAGE);
	call(cudaFree(d));
}

static void two_small(size_t n)
{
	char *other;

	make(n);
	call(cudaMallocManaged(&other, n));
	host_write(PAGE);
	for (size_t i = 0; i < n; i += PAGE)
		((volatile char *)other)[i] = 3;
	kernel(1, 1);
	touch<<<(unsigned)((n + 255) / 256), 256>>>(other, n, 1, 1);
	ended();
	host_read(PAGE);
	call(cudaFree(other));
}

static void down(size_t stride)
{
	make(4 * MB);
	for (size_t i = size; i >= PAGE; i -= PAGE)
		((volatile char *)base)[i - PAGE] = 3;
	kernel(1, 1);
	for (size_t i = size; i >= stride; i -= stride)
		((volatile char *)base)[i - stride] = 3;
}

/* System calls fill it. */
static void from_file(size_t n)
{
	FILE *f = tmpfile();

	make(n);
	host_write(PAGE);
	if (!f || fwrite(base, 1, n, f) != n || fflush(f))
		printf("failed: no file\n");
	kernel(1, 1);
	rewind(f);
	if (read(fileno(f), base, n) != (ssize_t)n)
		printf("failed: not read\n");
	kernel(1, 1);
	fclose(f);
}

/* Two devices and the host, by turns. */
static void by_turns(size_t n)
{
	make(n);
	host_write(PAGE);
	for (int i = 0; i < 4; i++) {
		call(cudaSetDevice(i % 2));
		kernel(1, 1);
	}
	host_read(PAGE);
}

#ifndef __clang__
static void variable(size_t)
{
	void *at;

	call(cudaGetSymbolAddress(&at, counter));
	base = (char *)at;
	size = sizeof(counter);
	counter[1] = 1;
	kernel(4, 1);
	host_read(4);
	base = NULL;
}
#endif

static const struct {
	const char *name;
	void (*run)(size_t n);
	size_t kib[9];
} cases[] = {
	{"whole", whole, {4, 100, 200, 300, 600, 1028, 1500, 3072, 16384}},
	{"first_on_device", first_on_device, {64, 1024, 4096}},
	{"strided", strided, {4, 8, 32, 64, 128, 256, 1024, 4096}},
	{"strided_walk", strided_walk, {4, 16, 64, 128, 192, 512, 1024}},
	{"single_pages", single_pages, {0, 20, 1200, 1204, 2048, 4092}},
	{"prefetched", prefetched, {4, 1028, 2048, 2052, 4096}},
	{"prefetched_new", prefetched_new, {4, 100, 4096}},
	{"mostly_read", mostly_read, {4, 64, 1024}},
	{"host_preferred", host_preferred, {4, 64}},
	{"device_preferred", device_preferred, {4, 64}},
	{"accessed_by", accessed_by, {4, 64}},
	{"copied_in", copied_in, {4, 64, 100, 4096}},
	{"copied_device", copied_device, {64, 4096}},
	{"two_small", two_small, {4, 64, 300}},
	{"from_file", from_file, {4096}},
	{"by_turns", by_turns, {4096}}, /* of two devices: not measured */
	{"down", down, {4, 64, 128, 1024}},
#ifndef __clang__
	{"variable", variable, {4}},
#endif
};

static void run_case(size_t i, size_t kib)
{
	cases[i].run(kib * KB);
	if (base)
		call(cudaFree(base));
}

#ifdef MEASURE
#include <cupti.h>
#include <sys/wait.h>

static unsigned long long kinds[9], sums[9];

static void CUPTIAPI give(uint8_t **at, size_t *bytes, size_t *records)
{
	*bytes = 8 * MB;
	*at = (uint8_t *)aligned_alloc(64, *bytes);
	*records = 0;
}

static void CUPTIAPI take(CUcontext, uint32_t, uint8_t *at, size_t, size_t bytes)
{
	CUpti_Activity *r = NULL;

	while (cuptiActivityGetNextRecord(at, bytes, &r) == CUPTI_SUCCESS) {
		CUpti_ActivityUnifiedMemoryCounter3 *u = (CUpti_ActivityUnifiedMemoryCounter3 *)r;

		if (r->kind != CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER)
			continue;
		kinds[u->counterKind]++;
		sums[u->counterKind] += u->value;
	}
	free(at);
}

static void measure(size_t i, size_t kib)
{
	CUpti_ActivityUnifiedMemoryCounterConfig c[8];

	call(cudaFree(0));
	for (int k = 0; k < 8; k++)
		c[k] = {CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_SCOPE_PROCESS_SINGLE_DEVICE,
			(CUpti_ActivityUnifiedMemoryCounterKind)(k + 1), 0, 1};
	cuptiActivityConfigureUnifiedMemoryCounter(c, 8);
	cuptiActivityRegisterCallbacks(give, take);
	cuptiActivityEnable(CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER);
	run_case(i, kib);
	ended();
	usleep(30000);
	cuptiActivityFlushAll(1);
	printf("%s\t%zu\t%llu\t%llu\t%llu\t%llu\t%llu\t%llu\t%llu\n", cases[i].name, kib, kinds[1],
	       sums[1], kinds[2], sums[2], kinds[3], kinds[4], sums[7]);
}

int main()
{
	printf("case\tKiB\thtod\thtod_bytes\tdtoh\tdtoh_bytes\thost_faults\tdevice_faults\t"
	       "remote_bytes\n");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		for (size_t k = 0; k < 9 && (!k || cases[i].kib[k]); k++) {
			fflush(stdout);
			if (!fork()) {
				measure(i, cases[i].kib[k]);
				return 0;
			}
			wait(NULL);
		}
	return 0;
}
#else
int main(int argc, char **argv)
{
	for (size_t i = 0; argc == 3 && i < sizeof(cases) / sizeof(cases[0]); i++)
		if (!strcmp(cases[i].name, argv[1]))
			run_case(i, strtoul(argv[2], NULL, 10));
	return 0;
}
#endif
