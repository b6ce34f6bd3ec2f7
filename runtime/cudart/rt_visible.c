/*
 * Which devices a process sees, and what tells them apart: CUDA_VISIBLE_DEVICES, UUIDs, PCI
 * addresses.
 */
#include "runtime/cuda/drv.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- UUIDs ---- */

void rt_visible_uuid(int i, u8 *out)
{
	const struct rt *rt = rt_get();

	arch_uuid(rt->list.at[i], rt->physical[i], out);
}

u32 rt_visible_bus(int i)
{
	return arch_pci_bus(rt_get()->physical[i]);
}

/* ---- CUDA_VISIBLE_DEVICES ---- */

/* "GPU-0123abcd-..." as far as it goes. */
static bool uuid_begins(const struct arch *a, u32 physical, const char *name, size_t len)
{
	char full[ARCH_UUID_TEXT];
	u8 u[ARCH_UUID_BYTES];

	arch_uuid(a, physical, u);
	arch_uuid_text(u, full);
	return len > 4 && len < sizeof(full) && !strncasecmp(full, name, len);
}

/* The device that an entry names, or -1: a number, or the beginning of one device's UUID. */
static int named_device(const struct arch_devices *all, const char *name, size_t len)
{
	unsigned long n;
	int found = -1;
	char *end;

	if (isdigit((unsigned char)*name)) {
		n = strtoul(name, &end, 10);
		return end == name + len && n < all->len ? (int)n : -1;
	}
	for (u32 i = 0; i < all->len; i++)
		if (uuid_begins(all->at[i], i, name, len)) {
			if (found >= 0)
				return -1; /* not one alone */
			found = (int)i;
		}
	return found;
}

/* The first entry that names no device ends the list; one that is named twice leaves none. */
void rt_visible_apply(struct rt *rt, const char *spec)
{
	struct arch_devices *list = &rt->list;
	const struct arch *kept[ARCH_DEVICES_MAX];
	u32 n = 0;

	for (u32 i = 0; i < ARCH_DEVICES_MAX; i++)
		rt->physical[i] = i;
	if (!spec)
		return;
	while (n < ARCH_DEVICES_MAX) {
		size_t len;
		int i;

		spec += strspn(spec, " ");
		len = strcspn(spec, ", ");
		i = len ? named_device(list, spec, len) : -1;
		if (i < 0)
			break;
		for (u32 k = 0; k < n; k++)
			if (rt->physical[k] == (u32)i) {
				list->len = 0;
				return;
			}
		kept[n] = list->at[i];
		rt->physical[n++] = (u32)i;
		spec += len;
		spec += strspn(spec, " ");
		if (*spec != ',')
			break;
		spec++;
	}
	memcpy(list->at, kept, sizeof(*kept) * n);
	list->len = n;
}

/* ---- PCI addresses ---- */

/* "0000:00:00.0" */
#define BUS_ID_BYTES 13

static int bus_id(char *out, int len, int device)
{
	if (!out || len < BUS_ID_BYTES)
		return STATUS_INVALID_VALUE;
	snprintf(out, (size_t)len, "0000:%02X:00.0", rt_visible_bus(device));
	return STATUS_SUCCESS;
}

/* [domain:]bus:device[.function], hexadecimal. */
static int by_bus_id(int *out, const char *id)
{
	unsigned part[4] = {0}, n;
	int end = 0;

	if (!out || !id)
		return STATUS_INVALID_VALUE;
	if (sscanf(id, "%x:%x:%x.%x%n", &part[0], &part[1], &part[2], &part[3], &end) != 4 ||
	    id[end]) {
		part[0] = part[3] = 0;
		n = (unsigned)sscanf(id, "%x:%x.%x%n", &part[1], &part[2], &part[3], &end);
		if (n != 3 || id[end]) {
			part[3] = 0;
			n = (unsigned)sscanf(id, "%x:%x%n", &part[1], &part[2], &end);
			if (n != 2 || id[end])
				return STATUS_INVALID_VALUE;
		}
	}
	for (u32 i = 0; i < rt_get()->list.len; i++)
		if (!part[0] && part[1] == rt_visible_bus((int)i) && !part[2] && !part[3]) {
			*out = (int)i;
			return STATUS_SUCCESS;
		}
	return STATUS_INVALID_DEVICE;
}

DRV_FN(cuDeviceGetPCIBusId, (char *out, int len, int device))
{
	int status = drv_check(device);

	return status ? status : bus_id(out, len, device);
}

DRV_FN(cuDeviceGetByPCIBusId, (int *out, const char *id))
{
	int status = drv_check(0);

	return status ? status : by_bus_id(out, id);
}

RT_FN(cudaDeviceGetPCIBusId, (char *out, int len, int device))
{
	int status = rt_device_check(device);

	return rt_error(status ? status : bus_id(out, len, device));
}

RT_FN(cudaDeviceGetByPCIBusId, (int *out, const char *id))
{
	int status = rt_device_check(0);

	return rt_error(status ? status : by_bus_id(out, id));
}

DRV_FN(cuDeviceGetUuid_v2, (u8 * out, int device))
{
	int status = drv_check(device);

	if (!out)
		return STATUS_INVALID_VALUE;
	if (!status)
		rt_visible_uuid(device, out);
	return status;
}

DRV_FN(cuDeviceGetUuid, (u8 * out, int device))
{
	return pldrv_cuDeviceGetUuid_v2(out, device);
}

/* ---- between devices ---- */

enum p2p { RANK = 1, ACCESS, ATOMICS, ARRAYS, SOME_ATOMICS };

/* NVLink gives atomics and the better rank; without it devices still reach each other. */
static int p2p_attribute(int *value, int attribute, int from, int to)
{
	const struct rt *rt = rt_get();
	bool linked;

	if (!value)
		return STATUS_INVALID_VALUE;
	if (from == to)
		return STATUS_INVALID_DEVICE;
	if (attribute < RANK || attribute > SOME_ATOMICS)
		return STATUS_INVALID_VALUE;
	linked = arch_devices_links(&rt->list, (u32)from, (u32)to) != 0;
	*value = attribute == RANK      ? !linked
		 : attribute == ATOMICS ? linked
					: attribute != SOME_ATOMICS;
	return STATUS_SUCCESS;
}

DRV_FN(cuDeviceGetP2PAttribute, (int *value, int attribute, int from, int to))
{
	int status = drv_check(from);

	status = status ? status : drv_check(to);
	return status ? status : p2p_attribute(value, attribute, from, to);
}

RT_FN(cudaDeviceGetP2PAttribute, (int *value, int attribute, int from, int to))
{
	int status = rt_device_check(from);

	status = status ? status : rt_device_check(to);
	return rt_error(status ? status : p2p_attribute(value, attribute, from, to));
}

/* Per operation: 32- and 64-bit, scalar and not, as bits. All of them work, or none. */
#define ATOMIC_ALL 0xfu
/* CUatomicOperation: from integer addition to addition of floats. */
#define ATOMIC_LAST 12

static int atomics(unsigned *out, const int *operations, unsigned n, bool works)
{
	if (!out || !operations || !n)
		return STATUS_INVALID_VALUE;
	for (unsigned i = 0; i < n; i++)
		if (operations[i] < 0 || operations[i] > ATOMIC_LAST)
			return STATUS_INVALID_VALUE;
	for (unsigned i = 0; i < n; i++)
		out[i] = works ? ATOMIC_ALL : 0;
	return STATUS_SUCCESS;
}

static int p2p_atomics(unsigned *out, const int *operations, unsigned n, int from, int to)
{
	int works = 0, status;

	if (!out || !operations || !n)
		return STATUS_INVALID_VALUE;
	status = p2p_attribute(&works, ATOMICS, from, to);

	return status ? status : atomics(out, operations, n, works);
}

DRV_FN(cuDeviceGetP2PAtomicCapabilities,
       (unsigned *out, const int *operations, unsigned n, int from, int to))
{
	int status = drv_check(from);

	status = status ? status : drv_check(to);
	return status ? status : p2p_atomics(out, operations, n, from, to);
}

RT_FN(cudaDeviceGetP2PAtomicCapabilities,
      (unsigned *out, const int *operations, unsigned n, int from, int to))
{
	int status = rt_device_check(from);

	status = status ? status : rt_device_check(to);
	return rt_error(status ? status : p2p_atomics(out, operations, n, from, to));
}

static int host_atomics(unsigned *out, const int *operations, unsigned n, int device)
{
	int works = 0;

	rt_device_attribute(device, 86, &works);
	return atomics(out, operations, n, works);
}

DRV_FN(cuDeviceGetHostAtomicCapabilities,
       (unsigned *out, const int *operations, unsigned n, int device))
{
	int status = drv_check(device);

	return status ? status : host_atomics(out, operations, n, device);
}

RT_FN(cudaDeviceGetHostAtomicCapabilities,
      (unsigned *out, const int *operations, unsigned n, int device))
{
	int status = rt_device_check(device);

	return rt_error(status ? status : host_atomics(out, operations, n, device));
}
