/*
 * NVML: what a device is.
 */
#include "runtime/nvml/nvml.h"

#include <sched.h>
#include <stdio.h>
#include <unistd.h>

/* ---- names ---- */

NVML_FN(nvmlDeviceGetName, (struct nvml_device * d, char *out, unsigned len))
{
	return NVML_KNOWN(d, name) ? nvml_text(out, len, d->arch->name) : NVML_ERROR_NOT_SUPPORTED;
}

NVML_FN(nvmlDeviceGetUUID, (struct nvml_device * d, char *out, unsigned len))
{
	char text[ARCH_UUID_TEXT];

	arch_uuid_text(d->uuid, text);
	return nvml_text(out, len, text);
}

NVML_FN(nvmlDeviceGetIndex, (struct nvml_device * d, unsigned *out))
{
	*out = d->index;
	return NVML_SUCCESS;
}

NVML_FN(nvmlDeviceGetBrand, (struct nvml_device * d, unsigned *out))
{
	static const struct {
		const char *begins;
		u32 brand;
	} brands[] = {
		{"NVIDIA GeForce RTX", 5},
		{"NVIDIA GeForce", 5},
		{"GeForce", 5},
		{"Tesla", 2},
		{"NVIDIA TITAN", 6},
		{"TITAN", 6},
		{"Quadro", 1},
		{"NVIDIA RTX", 13},
		{"NVIDIA", 14},
	};

	*out = 0; /* unknown */
	for (size_t i = 0; i < ARRAY_LEN(brands) && NVML_KNOWN(d, name) && !*out; i++)
		if (!strncmp(d->arch->name, brands[i].begins, strlen(brands[i].begins)))
			*out = brands[i].brand;
	return NVML_SUCCESS;
}

NVML_FN(nvmlDeviceGetArchitecture, (struct nvml_device * d, unsigned *out))
{
	static const struct {
		const char *name;
		u32 number;
	} names[] = {{"Pascal", 4}, {"Volta", 5},  {"Turing", 6},    {"Ampere", 7},
		     {"Ada", 8},    {"Hopper", 9}, {"Blackwell", 10}};

	*out = UINT32_MAX; /* unknown */
	for (size_t i = 0; i < ARRAY_LEN(names) && NVML_KNOWN(d, architecture); i++)
		if (!strncmp(d->arch->architecture, names[i].name, strlen(names[i].name)))
			*out = names[i].number;
	return NVML_SUCCESS;
}

NVML_FN(nvmlDeviceGetCudaComputeCapability, (struct nvml_device * d, int *major, int *minor))
{
	*major = d->arch->cc_major;
	*minor = d->arch->cc_minor;
	return NVML_SUCCESS;
}

/* ---- PCI ---- */

void nvml_bus_id(const struct nvml_device *d, char out[NVML_BUS_ID_BYTES])
{
	snprintf(out, NVML_BUS_ID_BYTES, "00000000:%02X:00.0", arch_pci_bus(d->index));
}

void nvml_bus_id_legacy(const struct nvml_device *d, char out[NVML_BUS_ID_V2_BYTES])
{
	snprintf(out, NVML_BUS_ID_V2_BYTES, "0000:%02X:00.0", arch_pci_bus(d->index));
}

/* What is not known is 0, as without a subsystem. */
NVML_FN(nvmlDeviceGetPciInfo_v2, (struct nvml_device * d, struct nvml_pci_v2 *out))
{
	*out = (struct nvml_pci_v2){.bus = arch_pci_bus(d->index),
				    .device_id = (u32)d->arch->pci_device_id,
				    .subsystem_id = (u32)d->arch->pci_subsystem_id};
	nvml_bus_id_legacy(d, out->bus_id);
	return NVML_SUCCESS;
}

NVML_FN(nvmlDeviceGetPciInfo_v3, (struct nvml_device * d, struct nvml_pci *out))
{
	*out = (struct nvml_pci){.bus = arch_pci_bus(d->index),
				 .device_id = (u32)d->arch->pci_device_id,
				 .subsystem_id = (u32)d->arch->pci_subsystem_id};
	nvml_bus_id_legacy(d, out->bus_id_legacy);
	nvml_bus_id(d, out->bus_id);
	return NVML_SUCCESS;
}

NVML_FN(nvmlDeviceGetPciInfoExt, (struct nvml_device * d, struct nvml_pci_ext *out))
{
	enum { DISPLAY = 3, CONTROLLER_3D = 2 };

	if (out->version != NVML_VERSION_OF(struct nvml_pci_ext, 1))
		return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
	out->domain = out->device = 0;
	out->bus = arch_pci_bus(d->index);
	out->device_id = (u32)d->arch->pci_device_id;
	out->subsystem_id = (u32)d->arch->pci_subsystem_id;
	out->base_class = DISPLAY;
	out->sub_class = CONTROLLER_3D;
	nvml_bus_id(d, out->bus_id);
	return NVML_SUCCESS;
}

NVML_FN(nvmlDeviceGetBoardId, (struct nvml_device * d, unsigned *out))
{
	*out = arch_pci_bus(d->index) << 8;
	return NVML_SUCCESS;
}

/* ---- numbers of the profile ---- */

/* One field of the profile; one that is not known is not supported. */
#define NVML_FIELD(name, field)                                                                    \
	NVML_FN(name, (struct nvml_device * d, unsigned *out))                                     \
	{                                                                                          \
		*out = (u32)d->arch->field;                                                        \
		return NVML_KNOWN(d, field) ? NVML_SUCCESS : NVML_ERROR_NOT_SUPPORTED;             \
	}

NVML_FIELD(nvmlDeviceGetMemoryBusWidth, memory_bus_bits)
NVML_FIELD(nvmlDeviceGetMaxPcieLinkGeneration, pcie_generation)
NVML_FIELD(nvmlDeviceGetMaxPcieLinkWidth, pcie_lanes)
NVML_FIELD(nvmlDeviceGetMaxMigDeviceCount, mig_devices_max)

/* NVML_PCIE_LINK_MAX_SPEED_.. count generations. */
NVML_FIELD(nvmlDeviceGetPcieLinkMaxSpeed, pcie_generation)

NVML_FN(nvmlDeviceGetPcieSpeed, (struct nvml_device * d, unsigned *out))
{
	static const u32 mbps[] = {0, 2500, 5000, 8000, 16000, 32000, 64000};
	u32 generation = (u32)d->arch->pcie_generation;

	if (!generation || generation >= ARRAY_LEN(mbps))
		return NVML_ERROR_NOT_SUPPORTED;
	*out = mbps[generation];
	return NVML_SUCCESS;
}

NVML_FN(nvmlDeviceGetNumGpuCores, (struct nvml_device * d, unsigned *out))
{
	*out = (u32)(d->arch->sms * d->arch->fp32_cores_per_sm);
	return *out ? NVML_SUCCESS : NVML_ERROR_NOT_SUPPORTED;
}

NVML_FN(nvmlDeviceGetMaxClockInfo, (struct nvml_device * d, unsigned type, unsigned *out))
{
	u32 khz;

	if (type > NVML_CLOCK_VIDEO)
		return NVML_ERROR_INVALID_ARGUMENT;
	khz = (u32)(type == NVML_CLOCK_VIDEO    ? 0
		    : type == NVML_CLOCK_MEMORY ? d->arch->memory_clock_khz
						: d->arch->clock_khz);
	*out = khz / 1000;
	return khz ? NVML_SUCCESS : NVML_ERROR_NOT_SUPPORTED;
}

/* Nothing here has a clock that could be read at a time. */
NVML_FN(nvmlDeviceGetClock, (struct nvml_device * d, unsigned type, unsigned id, unsigned *out))
{
	if (id > NVML_CLOCK_ID_BOOST_MAX)
		return NVML_ERROR_INVALID_ARGUMENT;
	return id == NVML_CLOCK_ID_BOOST_MAX ? plnvml_nvmlDeviceGetMaxClockInfo(d, type, out)
					     : NVML_ERROR_NOT_SUPPORTED;
}

NVML_FN(nvmlDeviceGetPowerManagementLimit, (struct nvml_device * d, unsigned *out))
{
	*out = (u32)d->arch->power_limit_w * 1000;
	return *out ? NVML_SUCCESS : NVML_ERROR_NOT_SUPPORTED;
}

NVML_FN(nvmlDeviceGetAttributes_v2, (struct nvml_device * d, struct nvml_attributes *out))
{
	if (!d->arch->mig_devices_max)
		return NVML_ERROR_NOT_SUPPORTED;
	*out = (struct nvml_attributes){.sms = (u32)d->arch->sms,
					.copy_engines = (u32)d->arch->copy_engines,
					.memory_mib = nvml_board_bytes(d) >> 20};
	return NVML_SUCCESS;
}

/* ---- modes ---- */

NVML_FN(nvmlDeviceGetEccMode, (struct nvml_device * d, unsigned *current, unsigned *pending))
{
	*current = *pending = 1;
	return d->arch->ecc_enabled ? NVML_SUCCESS : NVML_ERROR_NOT_SUPPORTED;
}

NVML_FN(nvmlDeviceGetDefaultEccMode, (struct nvml_device * d, unsigned *out))
{
	return plnvml_nvmlDeviceGetEccMode(d, out, out);
}

NVML_FN(nvmlDeviceGetTotalEccErrors,
	(struct nvml_device * d, unsigned type, unsigned counter, u64 *out))
{
	if (type > 1 || counter > 1)
		return NVML_ERROR_INVALID_ARGUMENT;
	*out = 0;
	return d->arch->ecc_enabled ? NVML_SUCCESS : NVML_ERROR_NOT_SUPPORTED;
}

NVML_FN(nvmlDeviceGetMemoryErrorCounter,
	(struct nvml_device * d, unsigned type, unsigned counter, unsigned location, u64 *out))
{
	enum { LOCATIONS = 8 };

	return location >= LOCATIONS ? NVML_ERROR_INVALID_ARGUMENT
				     : plnvml_nvmlDeviceGetTotalEccErrors(d, type, counter, out);
}

/* It is off. */
NVML_FN(nvmlDeviceGetMigMode, (struct nvml_device * d, unsigned *current, unsigned *pending))
{
	*current = *pending = 0;
	return d->arch->mig_devices_max ? NVML_SUCCESS : NVML_ERROR_NOT_SUPPORTED;
}

NVML_FN(nvmlDeviceGetMigDeviceHandleByIndex,
	(struct nvml_device * d, unsigned i, struct nvml_device **out))
{
	(void)i;
	*out = NULL;
	return d->arch->mig_devices_max ? NVML_ERROR_NOT_FOUND : NVML_ERROR_NOT_SUPPORTED;
}

/* Clocks that are held down, and events: there are none. */
NVML_FN(nvmlDeviceGetSupportedEventTypes, (struct nvml_device * d, u64 *out))
{
	(void)d;
	*out = 0;
	return NVML_SUCCESS;
}

/* ---- where it is: near all processors, on node 0 ---- */

NVML_FN(nvmlDeviceGetCpuAffinity, (struct nvml_device * d, unsigned words, unsigned long *out))
{
	enum { BITS = 8 * sizeof(*out) };
	long n = sysconf(_SC_NPROCESSORS_CONF);

	(void)d;
	if (n > (long)words * BITS)
		return words ? NVML_ERROR_INSUFFICIENT_SIZE : NVML_ERROR_INVALID_ARGUMENT;
	memset(out, 0, words * sizeof(*out));
	for (long i = 0; i < n; i++)
		out[i / BITS] |= 1ul << i % BITS;
	return NVML_SUCCESS;
}

NVML_FN(nvmlDeviceGetCpuAffinityWithinScope,
	(struct nvml_device * d, unsigned words, unsigned long *out, unsigned scope))
{
	return scope > 1 ? NVML_ERROR_INVALID_ARGUMENT
			 : plnvml_nvmlDeviceGetCpuAffinity(d, words, out);
}

NVML_FN(nvmlDeviceGetMemoryAffinity,
	(struct nvml_device * d, unsigned words, unsigned long *out, unsigned scope))
{
	(void)d;
	if (!words || scope > 1)
		return NVML_ERROR_INVALID_ARGUMENT;
	memset(out, 0, words * sizeof(*out));
	*out = 1;
	return NVML_SUCCESS;
}

/* The thread may run wherever it is near the device: everywhere. */
NVML_FN(nvmlDeviceSetCpuAffinity, (struct nvml_device * d))
{
	(void)d;
	return NVML_SUCCESS;
}
