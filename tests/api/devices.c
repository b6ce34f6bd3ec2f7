/*
 * Devices through the names that programs call: what is visible, what tells devices apart,
 * properties, and occupancy at all points that were measured on an H200
 * (tests/vectors/occupancy_gh100.tsv).
 */
#include "src/base/leave.h"
#include "tests/check.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

int cuInit(unsigned);
int cuDeviceGetCount(int *);
int cuDeviceGetName(char *, int, int);
int cuDeviceGetUuid_v2(unsigned char *, int);
int cuDeviceGetPCIBusId(char *, int, int);
int cuDeviceGetByPCIBusId(int *, const char *);
int cuDeviceGetP2PAttribute(int *, int, int, int);
int cuDeviceGetAttribute(int *, int, int);
int cuModuleLoadData(void **, const void *);
int cuModuleGetFunction(void **, void *, const char *);
int cuFuncSetAttribute(void *, int, int);
int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *, void *, int, size_t);
int cuOccupancyMaxPotentialBlockSize(int *, int *, void *, size_t (*)(int), size_t, int);
int cuOccupancyAvailableDynamicSMemPerBlock(size_t *, void *, int, int);
int cudaGetDeviceCount(int *);
int cudaSetDevice(int);
int cudaGetDevice(int *);
int cudaChooseDevice(int *, const void *);
int cudaSetValidDevices(int *, int);
int cudaGetDeviceProperties(void *, int);
int cudaDeviceGetByPCIBusId(int *, const char *);
int cudaRuntimeGetVersion(int *);

/* ---- what a process sees: each in one of its own ---- */

static char *said;

/* The names, in order. */
static void say_devices(void)
{
	int n = 0;

	cuInit(0);
	if (cuDeviceGetCount(&n))
		n = 0;
	for (int i = 0; i < n; i++) {
		char name[100];

		cuDeviceGetName(name, sizeof(name), i);
		sprintf(said + strlen(said), "%s%s", i ? "," : "", name);
	}
}

static void look(const char *all, const char *visible)
{
	pid_t pid;

	*said = 0;
	fflush(stdout);
	pid = fork();
	if (!pid) {
		setenv("PTXLOOM_DEVICE", all, 1);
		if (visible)
			setenv("CUDA_VISIBLE_DEVICES", visible, 1);
		else
			unsetenv("CUDA_VISIBLE_DEVICES");
		say_devices();
		leave(0);
	}
	waitpid(pid, NULL, 0);
}

static void sees(const char *all, const char *visible, const char *expected)
{
	look(all, visible);
	CHECK_STR(said, expected);
}

static void uuid_of(const char *all, int device, char *out)
{
	unsigned char *u = (unsigned char *)said;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		setenv("PTXLOOM_DEVICE", all, 1);
		unsetenv("CUDA_VISIBLE_DEVICES");
		cuInit(0);
		cuDeviceGetUuid_v2(u, device);
		leave(0);
	}
	waitpid(pid, NULL, 0);
	sprintf(out, "GPU-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x",
		u[0], u[1], u[2], u[3], u[4], u[5], u[6], u[7], u[8], u[9], u[10], u[11], u[12],
		u[13], u[14], u[15]);
}

static void visible_devices(void)
{
	char names[3][64], spec[140];
	const char *all = "v100,2xt4";
	char v100[64] = "", t4[64] = "", both[200];

	look("v100", NULL);
	strcpy(v100, said);
	look("t4", NULL);
	strcpy(t4, said);
	CHECK(*v100 && *t4 && strcmp(v100, t4));
	snprintf(both, sizeof(both), "%s,%s,%s", v100, t4, t4);
	sees(all, NULL, both);
	snprintf(both, sizeof(both), "%s,%s", t4, v100);
	sees(all, "1,0", both);
	sees(all, " 2 , 0 ", both);
	sees(all, "2", t4);
	sees(all, "0,7,1", v100);
	sees(all, "-1", "");
	sees(all, "", "");
	sees(all, "0,0", "");
	sees(all, "0,x", v100);
	for (int i = 0; i < 3; i++)
		uuid_of(all, i, names[i]);
	CHECK(strcmp(names[0], names[1]) && strcmp(names[1], names[2]));
	snprintf(spec, sizeof(spec), "%s,%s", names[2], names[0]);
	sees(all, spec, both);
	sees(all, "GPU-", "");
}

/* ---- in this process: two H200 ---- */

static void addresses(void)
{
	char id[32], small[8];
	int device = -1, value = -1;

	CHECK_EQ(cuDeviceGetPCIBusId(id, sizeof(id), 1), 0);
	CHECK_STR(id, "0000:02:00.0");
	CHECK_EQ(cuDeviceGetByPCIBusId(&device, id), 0);
	CHECK_EQ(device, 1);
	CHECK_EQ(cudaDeviceGetByPCIBusId(&device, "01:00.0"), 0);
	CHECK_EQ(device, 0);
	CHECK_EQ(cudaDeviceGetByPCIBusId(&device, "0:2:0"), 1);
	CHECK_EQ(cudaDeviceGetByPCIBusId(&device, "02:00"), 0);
	CHECK_EQ(device, 1);
	CHECK_EQ(cudaDeviceGetByPCIBusId(&device, "0000:33:00.0"), 101);
	CHECK_EQ(cudaDeviceGetByPCIBusId(&device, "nonsense"), 1);
	CHECK_EQ(cuDeviceGetPCIBusId(small, sizeof(small), 0), 1);
	CHECK_EQ(cuDeviceGetP2PAttribute(&value, 2, 0, 1), 0);
	CHECK_EQ(value, 1);
	CHECK_EQ(cuDeviceGetP2PAttribute(&value, 2, 0, 0), 101);
	CHECK_EQ(cuDeviceGetP2PAttribute(&value, 9, 0, 1), 1);
	CHECK_EQ(cuDeviceGetAttribute(&value, 33, 1), 0);
	CHECK_EQ(value, 2);
	CHECK_EQ(cuDeviceGetAttribute(&value, 148, 0), 1);
	CHECK_EQ(cuDeviceGetAttribute(&value, 0, 0), 1);
}

static int at_int(const unsigned char *p, size_t at)
{
	int v;

	memcpy(&v, p + at, sizeof(v));
	return v;
}

static void properties(void)
{
	static unsigned char p[1008], q[1008];
	size_t memory;
	int device = -1, list[] = {1}, version = 0;

	CHECK_EQ(cudaGetDeviceProperties(p, 0), 0);
	memcpy(&memory, p + 288, sizeof(memory));
	CHECK_STR((char *)p, "NVIDIA H200");
	CHECK_EQ(memory, 150109880320);
	CHECK_EQ(at_int(p, 360), 9);
	CHECK_EQ(at_int(p, 384), 132);
	memset(q, 0, sizeof(q));
	CHECK_EQ(cudaChooseDevice(&device, q), 0);
	CHECK_EQ(device, 0);
	CHECK_EQ(cudaSetValidDevices(list, 1), 0);
	CHECK_EQ(cudaGetDevice(&device), 0);
	CHECK_EQ(device, 1);
	list[0] = 5;
	CHECK_EQ(cudaSetValidDevices(list, 1), 101);
	CHECK_EQ(cudaSetDevice(0), 0);
	CHECK_EQ(cudaRuntimeGetVersion(&version), 0);
	CHECK_EQ(version, 13000);
}

/* ---- occupancy ---- */

static void *kernel_of(int registers)
{
	char text[300];
	void *m = NULL, *f = NULL;

	snprintf(text, sizeof(text),
		 ".version 7.8\n.target sm_90\n.address_size 64\n"
		 ".visible .entry k() .maxnreg %d { ret; }\n",
		 registers);
	cuModuleLoadData(&m, text);
	cuModuleGetFunction(&f, m, "k");
	cuFuncSetAttribute(f, 8, 232448);
	return f;
}

static int points, wrong;

static void occupancy_line(char *line, const int *sizes, int n)
{
	static void *f;
	static int of;
	char *rest;
	int registers = (int)strtol(line, &rest, 10), threads = (int)strtol(rest, &rest, 10);

	if (!f || of != registers)
		f = kernel_of(registers);
	of = registers;
	for (int i = 0; i < n; i++) {
		int want = (int)strtol(rest, &rest, 10), got = -1;

		cuOccupancyMaxActiveBlocksPerMultiprocessor(&got, f, threads, (size_t)sizes[i]);
		points++;
		if (got != want && !wrong++)
			printf("# %d registers, %d threads, %d bytes: %d, expected %d\n", registers,
			       threads, sizes[i], got, want);
	}
}

static size_t quarter(int threads)
{
	return (size_t)threads * 4;
}

static void occupancy(const char *srcdir)
{
	int sizes[32], n = 0, best = 0, grid, block;
	char path[4096], line[512];
	size_t bytes = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s/tests/vectors/occupancy_gh100.tsv", srcdir);
	f = fopen(path, "r");
	if (!CHECK(f != NULL))
		return;
	while (fgets(line, sizeof(line), f)) {
		if (!strncmp(line, "dyn\t", 4)) {
			char *rest = line + 4, *end;

			for (n = 0; n < 32; n++, rest = end) {
				sizes[n] = (int)strtol(rest, &end, 10);
				if (end == rest)
					break;
			}
		} else if (!strncmp(line, "occ\t", 4)) {
			occupancy_line(line + 4, sizes, n);
		} else if (!strncmp(line, "best\t", 5)) {
			int registers, want_grid, want_block;

			sscanf(line + 5, "%d %d %d", &registers, &want_grid, &want_block);
			cuOccupancyMaxPotentialBlockSize(&grid, &block, kernel_of(registers), NULL,
							 0, 0);
			best++;
			if ((grid != want_grid || block != want_block) && !wrong++)
				printf("# %d registers: grid %d block %d, expected %d %d\n",
				       registers, grid, block, want_grid, want_block);
		}
	}
	fclose(f);
	CHECK_EQ(points, 2700);
	CHECK_EQ(best, 12);
	CHECK_EQ(wrong, 0);
	CHECK_EQ(cuOccupancyMaxPotentialBlockSize(&grid, &block, kernel_of(32), quarter, 0, 512),
		 0);
	CHECK_EQ(block, 512);
	CHECK_EQ(cuOccupancyAvailableDynamicSMemPerBlock(&bytes, kernel_of(32), 2, 256), 0);
	CHECK(bytes > 100000 && bytes < 120000);
}

int main(void)
{
	const char *srcdir = getenv("srcdir");

	said = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	visible_devices();
	setenv("PTXLOOM_DEVICE", "2xh200", 1);
	unsetenv("CUDA_VISIBLE_DEVICES");
	CHECK_EQ(cuInit(0), 0);
	addresses();
	properties();
	occupancy(srcdir ? srcdir : ".");
	return check_done();
}
