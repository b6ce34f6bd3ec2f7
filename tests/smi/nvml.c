/*
 * NVML as programs call it: through the header that we give them and the library's names.
 */
#include "nvml.h"

#include "tests/check.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* The runtime's, in a process that allocates. */
int cudaSetDevice(int device);
int cudaMalloc(void **p, size_t bytes);
int cudaFree(void *p);
int cudaDeviceReset(void);
int cudaMemGetInfo(size_t *left, size_t *all);
int cudaDeviceGetPCIBusId(char *out, int len, int device);

/* Layouts are those that programs were compiled with. */
#define BYTES(type, bytes) _Static_assert(sizeof(type) == (bytes), #type)
BYTES(nvmlPciInfo_t, 68);
BYTES(nvmlPciInfoExt_v1_t, 64);
BYTES(nvmlMemory_t, 24);
BYTES(nvmlMemory_v2_t, 40);
BYTES(nvmlUtilization_t, 8);
BYTES(nvmlProcessInfo_v1_t, 16);
BYTES(nvmlProcessInfo_t, 24);
BYTES(nvmlProcessDetail_v1_t, 32);
BYTES(nvmlProcessDetailList_v1_t, 24);
BYTES(nvmlDeviceAttributes_t, 40);
BYTES(nvmlFieldValue_t, 40);
BYTES(nvmlSystemDriverBranchInfo_v1_t, 84);
BYTES(nvmlUUID_v1_t, 52);

static nvmlDevice_t device(unsigned i)
{
	nvmlDevice_t d = NULL;

	CHECK_EQ(nvmlDeviceGetHandleByIndex(i, &d), NVML_SUCCESS);
	return d;
}

/* ---- before, after and around ---- */

static void test_order(void)
{
	unsigned n = 7;
	nvmlDevice_t d = NULL;

	CHECK_EQ(nvmlDeviceGetCount(&n), NVML_ERROR_UNINITIALIZED);
	CHECK_EQ(nvmlDeviceGetName(d, NULL, 0), NVML_ERROR_UNINITIALIZED);
	CHECK_EQ(nvmlDeviceGetFanSpeed(d, &n), NVML_ERROR_UNINITIALIZED);
	CHECK_EQ(nvmlShutdown(), NVML_ERROR_UNINITIALIZED);
	CHECK_EQ((int)n, 7);
	CHECK_EQ(nvmlInit(), NVML_SUCCESS);
	CHECK_EQ(nvmlInit(), NVML_SUCCESS);
	CHECK_EQ(nvmlShutdown(), NVML_SUCCESS);
	CHECK_EQ(nvmlDeviceGetCount(&n), NVML_SUCCESS);
	CHECK_EQ(nvmlShutdown(), NVML_SUCCESS);
	CHECK_EQ(nvmlDeviceGetCount(&n), NVML_ERROR_UNINITIALIZED);
}

static void test_texts(void)
{
	char text[96];

	CHECK_STR(nvmlErrorString(NVML_SUCCESS), "Success");
	CHECK_STR(nvmlErrorString(NVML_ERROR_NOT_SUPPORTED), "Not Supported");
	CHECK_STR(nvmlErrorString(NVML_ERROR_ARGUMENT_VERSION_MISMATCH),
		  "Argument version mismatch");
	CHECK_STR(nvmlErrorString(NVML_ERROR_UNKNOWN), "Unknown Error");
	CHECK_STR(nvmlErrorString((nvmlReturn_t)-5), "Unknown Error");
	CHECK_EQ(nvmlSystemGetDriverVersion(text, sizeof(text)), NVML_SUCCESS);
	CHECK(strchr(text, '.') != NULL);
	CHECK_EQ(nvmlSystemGetDriverVersion(text, 4), NVML_ERROR_INSUFFICIENT_SIZE);
	CHECK_EQ(nvmlSystemGetDriverVersion(NULL, 80), NVML_ERROR_INVALID_ARGUMENT);
	CHECK_EQ(nvmlSystemGetProcessName((unsigned)getpid(), text, sizeof(text)), NVML_SUCCESS);
	CHECK(strstr(text, "nvml") != NULL);
	CHECK_EQ(nvmlSystemGetProcessName(1u << 30, text, sizeof(text)), NVML_ERROR_NOT_FOUND);
}

/* ---- devices ---- */

static void test_handles(void)
{
	nvmlDevice_t a = device(0), b = device(1), d = NULL;
	char uuid[96], short_text[8];
	nvmlPciInfo_t pci;
	char bus[16];
	unsigned n;

	CHECK_EQ(nvmlDeviceGetCount(&n), NVML_SUCCESS);
	CHECK_EQ((int)n, 3); /* CUDA_VISIBLE_DEVICES does not count */
	CHECK(a != b);
	CHECK_EQ(nvmlDeviceGetHandleByIndex(3, &d), NVML_ERROR_INVALID_ARGUMENT);
	CHECK_EQ(nvmlDeviceGetName((nvmlDevice_t)((char *)a + 1), uuid, 96),
		 NVML_ERROR_INVALID_ARGUMENT);
	CHECK_EQ(nvmlDeviceGetName((nvmlDevice_t)0x1000, uuid, 96), NVML_ERROR_INVALID_ARGUMENT);
	CHECK_EQ(nvmlDeviceGetUUID(b, uuid, sizeof(uuid)), NVML_SUCCESS);
	CHECK_EQ(nvmlDeviceGetUUID(b, short_text, sizeof(short_text)),
		 NVML_ERROR_INSUFFICIENT_SIZE);
	CHECK_EQ(nvmlDeviceGetHandleByUUID(uuid, &d), NVML_SUCCESS);
	CHECK(d == b);
	uuid[10] ^= 1;
	CHECK_EQ(nvmlDeviceGetHandleByUUID(uuid, &d), NVML_ERROR_NOT_FOUND);
	CHECK_EQ(nvmlDeviceGetHandleByUUID("nothing", &d), NVML_ERROR_INVALID_ARGUMENT);
	CHECK_EQ(nvmlDeviceGetPciInfo(b, &pci), NVML_SUCCESS);
	CHECK_STR(pci.busId, "00000000:02:00.0");
	CHECK_STR(pci.busIdLegacy, "0000:02:00.0");
	CHECK_EQ((int)(pci.pciDeviceId & 0xffff), 0x10de);
	CHECK_EQ(nvmlDeviceGetHandleByPciBusId("0000:02:00.0", &d), NVML_SUCCESS);
	CHECK(d == b);
	CHECK_EQ(nvmlDeviceGetHandleByPciBusId("00000000:03:00", &d), NVML_SUCCESS);
	CHECK(d == device(2));
	CHECK_EQ(nvmlDeviceGetHandleByPciBusId("09:00.0", &d), NVML_ERROR_NOT_FOUND);
	CHECK_EQ(nvmlDeviceGetHandleByPciBusId("x", &d), NVML_ERROR_INVALID_ARGUMENT);
	/* CUDA's device 0 is the second one, as CUDA_VISIBLE_DEVICES says. */
	CHECK_EQ(cudaDeviceGetPCIBusId(bus, sizeof(bus), 0), 0);
	CHECK_STR(bus, pci.busIdLegacy);
}

static void test_profile(void)
{
	nvmlDevice_t h100 = device(0), t4 = device(2);
	char name[96];
	int major, minor;
	unsigned n, m;

	CHECK_EQ(nvmlDeviceGetName(h100, name, sizeof(name)), NVML_SUCCESS);
	CHECK_STR(name, "NVIDIA H100 80GB HBM3");
	CHECK_EQ(nvmlDeviceGetCudaComputeCapability(t4, &major, &minor), NVML_SUCCESS);
	CHECK_EQ(major * 10 + minor, 75);
	CHECK_EQ(nvmlDeviceGetMaxClockInfo(h100, NVML_CLOCK_SM, &n), NVML_SUCCESS);
	CHECK_EQ((int)n, 1980);
	CHECK_EQ(nvmlDeviceGetMaxClockInfo(h100, 9, &n), NVML_ERROR_INVALID_ARGUMENT);
	CHECK_EQ(nvmlDeviceGetClockInfo(h100, NVML_CLOCK_SM, &n), NVML_ERROR_NOT_SUPPORTED);
	CHECK_EQ(nvmlDeviceGetTemperature(h100, 0, &n), NVML_ERROR_NOT_SUPPORTED);
	CHECK_EQ(nvmlDeviceGetPowerManagementLimit(t4, &n), NVML_SUCCESS);
	CHECK_EQ((int)n, 70000);
	CHECK_EQ(nvmlDeviceGetNumGpuCores(h100, &n), NVML_SUCCESS);
	CHECK_EQ((int)n, 132 * 128);
	CHECK_EQ(nvmlDeviceGetArchitecture(h100, &n), NVML_SUCCESS);
	CHECK_EQ((int)n, NVML_DEVICE_ARCH_HOPPER);
	CHECK_EQ(nvmlDeviceGetMigMode(h100, &n, &m), NVML_SUCCESS);
	CHECK_EQ((int)(n + m), 0);
	CHECK_EQ(nvmlDeviceGetMigMode(t4, &n, &m), NVML_ERROR_NOT_SUPPORTED);
	CHECK_EQ(nvmlDeviceGetComputeMode(h100, NULL), NVML_ERROR_INVALID_ARGUMENT);
	CHECK_EQ(nvmlDeviceGetComputeMode(h100, &n), NVML_SUCCESS);
}

static void test_links(void)
{
	nvmlDevice_t a = device(0), b = device(1), t4 = device(2);
	nvmlFieldValue_t f[3] = {{.fieldId = NVML_FI_DEV_NVLINK_LINK_COUNT},
				 {.fieldId = NVML_FI_DEV_NVLINK_SPEED_MBPS_COMMON},
				 {.fieldId = 9999}};
	nvmlGpuTopologyLevel_t level;
	nvmlGpuP2PStatus_t status;
	nvmlEnableState_t on;
	nvmlPciInfo_t pci;
	unsigned n;

	CHECK_EQ(nvmlDeviceGetNvLinkState(a, 17, &on), NVML_SUCCESS);
	CHECK_EQ((int)on, 1);
	CHECK_EQ(nvmlDeviceGetNvLinkState(a, 18, &on), NVML_ERROR_INVALID_ARGUMENT);
	CHECK_EQ(nvmlDeviceGetNvLinkState(t4, 0, &on), NVML_ERROR_NOT_SUPPORTED);
	CHECK_EQ(nvmlDeviceGetNvLinkRemotePciInfo(a, 0, &pci), NVML_ERROR_NOT_SUPPORTED);
	CHECK_EQ(nvmlDeviceGetNvLinkVersion(a, 0, &n), NVML_SUCCESS);
	CHECK_EQ((int)n, 6); /* 4.0 */
	CHECK_EQ(nvmlDeviceGetP2PStatus(a, b, NVML_P2P_CAPS_INDEX_NVLINK, &status), NVML_SUCCESS);
	CHECK_EQ((int)status, NVML_P2P_STATUS_OK);
	CHECK_EQ(nvmlDeviceGetP2PStatus(a, t4, NVML_P2P_CAPS_INDEX_NVLINK, &status), NVML_SUCCESS);
	CHECK_EQ((int)status, NVML_P2P_STATUS_NOT_SUPPORTED);
	CHECK_EQ(nvmlDeviceGetP2PStatus(a, t4, NVML_P2P_CAPS_INDEX_READ, &status), NVML_SUCCESS);
	CHECK_EQ((int)status, NVML_P2P_STATUS_OK);
	CHECK_EQ(nvmlDeviceGetP2PStatus(a, a, NVML_P2P_CAPS_INDEX_NVLINK, &status), NVML_SUCCESS);
	CHECK_EQ((int)status, NVML_P2P_STATUS_OK);
	CHECK_EQ(nvmlDeviceGetTopologyCommonAncestor(a, t4, &level), NVML_SUCCESS);
	CHECK_EQ((int)level, NVML_TOPOLOGY_HOSTBRIDGE);
	CHECK_EQ(nvmlDeviceGetFieldValues(a, 3, f), NVML_SUCCESS);
	CHECK_EQ((int)f[0].nvmlReturn, NVML_SUCCESS);
	CHECK_EQ((int)f[0].value.uiVal, 18);
	CHECK_EQ((int)f[1].value.uiVal, 25000);
	CHECK_EQ((int)f[2].nvmlReturn, NVML_ERROR_NOT_SUPPORTED);
	CHECK_EQ(nvmlDeviceGetFieldValues(a, 0, f), NVML_ERROR_INVALID_ARGUMENT);
}

/* ---- what is used ---- */

static unsigned long long used(nvmlDevice_t d)
{
	nvmlMemory_v2_t m = {.version = nvmlMemory_v2};

	CHECK_EQ(nvmlDeviceGetMemoryInfo_v2(d, &m), NVML_SUCCESS);
	CHECK(m.total == m.reserved + m.free + m.used);
	return m.used;
}

/* How many processes use the device, and is this one of them? */
static unsigned processes(nvmlDevice_t d, pid_t pid, bool *found)
{
	nvmlProcessInfo_t list[256];
	unsigned n = 256;

	CHECK_EQ(nvmlDeviceGetComputeRunningProcesses(d, &n, list), NVML_SUCCESS);
	*found = false;
	for (unsigned i = 0; i < n; i++)
		*found |= list[i].pid == (unsigned)pid;
	return n;
}

/* Other programs of the machine may use the profile, too, so that what is used is at least ours. */
static void test_use(void)
{
	nvmlMemory_v2_t wrong = {.version = 7};
	nvmlDevice_t d = device(1);
	size_t left, all;
	nvmlMemory_t m;
	bool found;
	unsigned n = 0;
	void *p;

	CHECK_EQ(nvmlDeviceGetMemoryInfo_v2(d, &wrong), NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
	CHECK_EQ(cudaSetDevice(0), 0);
	CHECK_EQ(cudaMalloc(&p, 64 << 20), 0);
	CHECK(used(d) >= 64 << 20);
	CHECK_EQ(nvmlDeviceGetMemoryInfo(d, &m), NVML_SUCCESS);
	CHECK_EQ(cudaMemGetInfo(&left, &all), 0);
	CHECK_EQ((int)(m.total >> 20), 81559);
	CHECK(m.free <= left && m.used + m.free == m.total);
	CHECK(processes(d, getpid(), &found) >= 1 && found);
	CHECK_EQ(nvmlDeviceGetComputeRunningProcesses(d, &n, NULL), NVML_ERROR_INSUFFICIENT_SIZE);
	CHECK(n >= 1);
	processes(device(0), getpid(), &found);
	CHECK(!found);
	CHECK_EQ(cudaFree(p), 0);
	CHECK_EQ(cudaDeviceReset(), 0);
	processes(d, getpid(), &found);
	CHECK(!found);
}

/* A child that uses a device is seen as long as it lives. */
static void test_child(void)
{
	nvmlDevice_t d = device(2);
	int ready[2], done[2];
	char c = 0;
	bool found;
	pid_t pid;

	if (pipe(ready) || pipe(done))
		exit(1);
	pid = fork();
	if (!pid) {
		void *p;
		bool ok = !cudaSetDevice(2) && !cudaMalloc(&p, 32 << 20);

		close(done[1]);
		_exit(!ok || write(ready[1], "r", 1) != 1 || read(done[0], &c, 1) < 0);
	}
	CHECK_EQ((int)read(ready[0], &c, 1), 1);
	processes(d, pid, &found);
	CHECK(found);
	CHECK(used(d) >= 32 << 20);
	close(done[1]);
	waitpid(pid, NULL, 0);
	processes(d, pid, &found);
	CHECK(!found);
}

static void test_dlopen(void)
{
	void *h = dlopen("libnvidia-ml.so.1", RTLD_NOW);

	CHECK(h != NULL);
	CHECK(h && dlsym(h, "nvmlInit_v2") != NULL);
	CHECK(h && dlsym(h, "nvmlVgpuTypeGetName") != NULL);
	CHECK(h && dlsym(h, "plnvml_nvmlInit_v2") == NULL);
	if (h)
		dlclose(h);
}

int main(void)
{
	setenv("PTXLOOM_DEVICE", "2xh100,t4", 1);
	setenv("CUDA_VISIBLE_DEVICES", "1,0,2", 1);
	test_order();
	CHECK_EQ(nvmlInit(), NVML_SUCCESS);
	test_child(); /* before this process uses CUDA */
	test_texts();
	test_handles();
	test_profile();
	test_links();
	test_use();
	test_dlopen();
	CHECK_EQ(nvmlShutdown(), NVML_SUCCESS);
	return check_done();
}
