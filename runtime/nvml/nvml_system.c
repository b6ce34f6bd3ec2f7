/*
 * NVML: texts of errors, versions, processes, which devices there are.
 */
#include "runtime/nvml/nvml.h"

#include <stdio.h>
#include <strings.h>
#include <unistd.h>

const char *nvmlErrorString(int status)
{
	static const char *const texts[] = {
		"Success",
		"Uninitialized",
		"Invalid Argument",
		"Not Supported",
		"Insufficient Permissions",
		"Already Initialized",
		"Not Found",
		"Insufficient Size",
		"Insufficient External Power",
		"Driver Not Loaded",
		"Timeout",
		"Interrupt Request Issue",
		"NVML Shared Library Not Found",
		"Function Not Found",
		"Corrupted infoROM",
		"GPU is lost",
		"GPU requires reset",
		"GPU access blocked by the operating system",
		"Driver/library version mismatch",
		"In use by another client",
		"Insufficient Memory",
		"No data",
		"Vgpu ecc not supported",
		"Insufficient Resources",
		"Frequency not supported",
		"Argument version mismatch",
		"Deprecated",
		"Not ready",
		"GPU not found",
		"Invalid state",
		"Reset type not supported",
	};

	return status >= 0 && (size_t)status < ARRAY_LEN(texts) ? texts[status] : "Unknown Error";
}

int nvml_text(char *out, u32 size, const char *text)
{
	size_t n = strlen(text) + 1;

	if (n > size)
		return NVML_ERROR_INSUFFICIENT_SIZE;
	memcpy(out, text, n);
	return NVML_SUCCESS;
}

/* ---- versions ---- */

NVML_FN(nvmlSystemGetDriverVersion, (char *out, unsigned len))
{
	return nvml_text(out, len, NVML_DRIVER);
}

NVML_FN(nvmlSystemGetNVMLVersion, (char *out, unsigned len))
{
	return nvml_text(out, len, NVML_LIBRARY);
}

NVML_FN(nvmlSystemGetCudaDriverVersion, (int *out))
{
	*out = NVML_CUDA;
	return NVML_SUCCESS;
}

NVML_FN(nvmlSystemGetDriverBranch, (struct nvml_branch * out, unsigned len))
{
	if (out->version != NVML_VERSION_OF(struct nvml_branch, 1))
		return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
	return nvml_text(out->branch, len < sizeof(out->branch) ? len : sizeof(out->branch),
			 NVML_DRIVER_BRANCH);
}

/* ---- of the system ---- */

/* The first word of the command line, as far as it fits. */
NVML_FN(nvmlSystemGetProcessName, (unsigned pid, char *out, unsigned len))
{
	char path[40];
	size_t n;
	FILE *f;

	if (!len)
		return NVML_ERROR_INSUFFICIENT_SIZE;
	snprintf(path, sizeof(path), "/proc/%u/cmdline", pid);
	f = fopen(path, "re");
	if (!f)
		return NVML_ERROR_NOT_FOUND;
	n = fread(out, 1, len - 1, f);
	fclose(f);
	out[n] = 0;
	return n ? NVML_SUCCESS : NVML_ERROR_NOT_FOUND;
}

NVML_FN(nvmlSystemGetHicVersion, (unsigned *count, void *entries))
{
	(void)entries;
	*count = 0;
	return NVML_SUCCESS;
}

/* Every device is near every processor. */
NVML_FN(nvmlSystemGetTopologyGpuSet, (unsigned cpu, unsigned *count, struct nvml_device **out))
{
	u32 room = *count;

	if ((long)cpu >= sysconf(_SC_NPROCESSORS_CONF))
		return NVML_ERROR_INVALID_ARGUMENT;
	*count = nvml_count();
	for (u32 i = 0; out && i < room && i < nvml_count(); i++)
		out[i] = nvml_device_at(i);
	return out && room < nvml_count() ? NVML_ERROR_INSUFFICIENT_SIZE : NVML_SUCCESS;
}

NVML_FN(nvmlUnitGetCount, (unsigned *out))
{
	*out = 0;
	return NVML_SUCCESS;
}

/* ---- which devices there are ---- */

NVML_FN(nvmlDeviceGetCount, (unsigned *out))
{
	*out = nvml_count();
	return NVML_SUCCESS;
}

NVML_FN(nvmlDeviceGetHandleByIndex, (unsigned i, struct nvml_device **out))
{
	if (i >= nvml_count())
		return NVML_ERROR_INVALID_ARGUMENT;
	*out = nvml_device_at(i);
	return NVML_SUCCESS;
}

/* [domain:]bus:device[.function], hexadecimal. */
NVML_FN(nvmlDeviceGetHandleByPciBusId, (const char *id, struct nvml_device **out))
{
	unsigned domain = 0, bus, device, function = 0;
	int end = 0;

	if (sscanf(id, "%x:%x:%x%n.%x%n", &domain, &bus, &device, &end, &function, &end) < 3 ||
	    id[end]) {
		domain = function = 0;
		if (sscanf(id, "%x:%x%n.%x%n", &bus, &device, &end, &function, &end) < 2 || id[end])
			return NVML_ERROR_INVALID_ARGUMENT;
	}
	for (u32 i = 0; i < nvml_count(); i++)
		if (!domain && !device && !function && bus == arch_pci_bus(i)) {
			*out = nvml_device_at(i);
			return NVML_SUCCESS;
		}
	return NVML_ERROR_NOT_FOUND;
}

NVML_FN(nvmlDeviceGetHandleBySerial, (const char *serial, struct nvml_device **out))
{
	(void)serial, (void)out; /* no device has one */
	return NVML_ERROR_NOT_FOUND;
}

NVML_FN(nvmlDeviceGetHandleByUUID, (const char *uuid, struct nvml_device **out))
{
	char text[ARCH_UUID_TEXT];

	for (u32 i = 0; i < nvml_count(); i++) {
		arch_uuid_text(nvml_device_at(i)->uuid, text);
		if (!strcasecmp(text, uuid)) {
			*out = nvml_device_at(i);
			return NVML_SUCCESS;
		}
	}
	return strncmp(uuid, "GPU-", 4) != 0 && strncmp(uuid, "MIG-", 4) != 0
		       ? NVML_ERROR_INVALID_ARGUMENT
		       : NVML_ERROR_NOT_FOUND;
}

NVML_FN(nvmlDeviceGetHandleByUUIDV, (const struct nvml_uuid *uuid, struct nvml_device **out))
{
	char text[ARCH_UUID_TEXT];

	if (uuid->version != NVML_VERSION_OF(struct nvml_uuid, 1))
		return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
	if (uuid->type != NVML_UUID_ASCII && uuid->type != NVML_UUID_BINARY)
		return NVML_ERROR_INVALID_ARGUMENT;
	if (uuid->type == NVML_UUID_BINARY)
		arch_uuid_text(uuid->value.bytes, text);
	else if (!memchr(uuid->value.text, 0, sizeof(uuid->value.text)))
		return NVML_ERROR_INVALID_ARGUMENT;
	return plnvml_nvmlDeviceGetHandleByUUID(
		uuid->type == NVML_UUID_BINARY ? text : uuid->value.text, out);
}
