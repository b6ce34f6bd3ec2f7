/*
 * Properties and attributes of devices, for both interfaces, and choosing a device by them.
 */
#include "runtime/cuda/drv.h"

#include <stdio.h>

#define ATTRIBUTE_BUS 33   /* PCI bus */
#define ATTRIBUTE_BOARD 85 /* group of GPUs on one board: every one is alone */

/* ---- properties ---- */

int rt_device_attribute(int i, int n, int *value)
{
	enum arch_answer a = arch_attribute(rt_get()->list.at[i], n, value);

	if (a == ARCH_ANSWER_NONE)
		return cudaErrorInvalidValue;
	if (a == ARCH_ANSWER_UNKNOWN)
		*value = 0;
	if (a == ARCH_ANSWER_PER_DEVICE)
		*value = n == ATTRIBUTE_BUS     ? (int)rt_visible_bus(i)
			 : n == ATTRIBUTE_BOARD ? (int)rt_get()->physical[i]
						: 0;
	return cudaSuccess;
}

RT_FN(cudaDeviceGetAttribute, (int *value, int attr, int device))
{
	int status = rt_device_check(device);

	if (!value)
		return rt_error(cudaErrorInvalidValue);
	return rt_error(status ? status : rt_device_attribute(device, attr, value));
}

struct prop_field {
	const char *name;
	u16 size, count;
	u8 versions;
	u16 source;
	bool is_char;
};

static const struct prop_field fields[] = {
#define PROP(type, name, count, versions, source)                                                  \
	{#name,    sizeof(type), count,                                                            \
	 versions, source,       _Generic((type)0, char : true, default : false)},
#include "runtime/cudart/prop.def"
#undef PROP
};

/* Values that no attribute gives. */
static void fill_special(const char *name, u8 *at, int device)
{
	const struct arch *a = rt_get()->list.at[device];
	u64 bytes = (u64)a->memory_bytes;
	int v = 0;

	if (!strcmp(name, "name"))
		snprintf((char *)at, 256, "%s", a->name ? a->name : a->id);
	else if (!strcmp(name, "uuid"))
		rt_visible_uuid(device, at);
	else if (!strcmp(name, "totalGlobalMem"))
		memcpy(at, &bytes, sizeof(bytes));
	else if (!strcmp(name, "pciBusID"))
		v = (int)rt_visible_bus(device), memcpy(at, &v, sizeof(v));
	else if (!strcmp(name, "multiGpuBoardGroupID"))
		v = (int)rt_get()->physical[device], memcpy(at, &v, sizeof(v));
}

/*
 * Fill the layout of one major version: bit 0: 11, bit 1: 12, bit 2: 13. `size`: of the whole
 * structure.
 */
static int fill_properties(u8 *out, size_t size, u8 version, int device)
{
	int status = rt_device_check(device);
	size_t at = 0;

	if (!out)
		return cudaErrorInvalidValue;
	if (status)
		return status;
	memset(out, 0, size);
	for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
		const struct prop_field *f = &fields[i];

		if (!(f->versions & version))
			continue;
		at = (size_t)align_up(at, f->size);
		if (!f->source)
			fill_special(f->name, out + at, device);
		for (u32 k = 0; f->source && k < f->count; k++) {
			int v = 0;
			s64 wide;

			rt_device_attribute(device, f->source + (int)k, &v);
			wide = v;
			memcpy(out + at + k * f->size, &wide, f->size);
		}
		at += (size_t)f->size * f->count;
	}
	return cudaSuccess;
}

RT_FN(cudaGetDeviceProperties, (void *prop, int device))
{
	return rt_error(fill_properties(prop, PROP13_BYTES, 4, device));
}

RT_FN(cudaGetDeviceProperties_v2, (void *prop, int device))
{
	return rt_error(fill_properties(prop, PROP12_BYTES, 2, device));
}

RT_FN(cudaGetDeviceProperties_11, (void *prop, int device))
{
	return rt_error(fill_properties(prop, PROP11_BYTES, 1, device));
}

/* ---- choosing ---- */

/* Of cudaDeviceProp, at the same places in all versions. */
#define PROP_MEMORY_AT 288
#define PROP_MAJOR_AT 360

/* How well a device answers what was asked for; what is 0 was not. */
static int fitness(const struct arch *a, const u8 *wanted)
{
	int major, minor, have_major = 0, have_minor = 0, points = 0;
	size_t memory;

	memcpy(&memory, wanted + PROP_MEMORY_AT, sizeof(memory));
	memcpy(&major, wanted + PROP_MAJOR_AT, sizeof(major));
	memcpy(&minor, wanted + PROP_MAJOR_AT + 4, sizeof(minor));
	arch_attribute(a, 75, &have_major);
	arch_attribute(a, 76, &have_minor);
	points += memory && a->memory_bytes >= memory;
	points += major && (have_major > major || (have_major == major && have_minor >= minor));
	return points;
}

RT_FN(cudaChooseDevice, (int *device, const u8 *wanted))
{
	int status = rt_device_check(0), best = -1;

	if (!device || !wanted)
		return rt_error(cudaErrorInvalidValue);
	for (u32 i = 0; !status && i < rt_get()->list.len; i++) {
		int points = fitness(rt_get()->list.at[i], wanted);

		if (points > best) {
			best = points;
			*device = (int)i;
		}
	}
	return rt_error(status);
}

/*
 * The first of the list becomes the device of threads that choose none; the others are no fallback
 * here.
 */
RT_FN(cudaSetValidDevices, (const int *list, int n))
{
	int status = rt_device_check(0);

	if (status)
		return rt_error(status);
	if (n < 0 || (n && !list) || (u32)n > rt_get()->list.len)
		return rt_error(cudaErrorInvalidValue);
	for (int i = 0; i < n; i++)
		if (rt_device_check(list[i]))
			return rt_error(cudaErrorInvalidDevice);
	if (!rt_context_now())
		rt_context_choose(n ? list[0] : 0);
	return cudaSuccess;
}

/* ---- what else the driver interface has of a device ---- */

DRV_FN(cuDeviceTotalMem, (u32 * bytes, int device))
{
	int status = drv_check(device);

	if (!bytes)
		return STATUS_INVALID_VALUE;
	if (!status)
		*bytes = (u32)min_u64(rt_get()->list.at[device]->memory_bytes, UINT32_MAX);
	return status;
}

/* CUdevprop: fourteen numbers, by their attributes. */
DRV_FN(cuDeviceGetProperties, (int *out, int device))
{
	static const u8 numbers[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14};
	int status = drv_check(device);

	if (!out)
		return STATUS_INVALID_VALUE;
	for (size_t i = 0; i < ARRAY_LEN(numbers) && !status; i++)
		status = rt_device_attribute(device, numbers[i], &out[i]);
	return status;
}

/* Writes of other devices on the bus are always there. */
DRV_FN(cuFlushGPUDirectRDMAWrites, (int target, int scope))
{
	int status;

	if (target || (scope != 100 && scope != 200))
		return STATUS_INVALID_VALUE;
	drv_context(&status);
	return status;
}

RT_FN(cudaDeviceFlushGPUDirectRDMAWrites, (int target, int scope))
{
	int status;

	if (target || (scope != 100 && scope != 200))
		return rt_error(cudaErrorInvalidValue);
	rt_device_now(&status);
	return rt_error(status);
}

/* Profilers attach from outside; a program can only ask for what there is not. */
DRV_FN(cuProfilerInitialize, (const char *config, const char *output, int mode))
{
	if (!config || !output || mode < 0 || mode > 1)
		return STATUS_INVALID_VALUE;
	return STATUS_NOT_SUPPORTED;
}

DRV_FN(cuProfilerStart, (void))
{
	int status;

	drv_context(&status);
	rt_profile_switch(true);
	return status;
}

DRV_FN(cuProfilerStop, (void))
{
	int status;

	drv_context(&status);
	rt_profile_switch(false);
	return status;
}
