/*
 * NVML: how devices are connected.
 */
#include "runtime/nvml/nvml.h"

#include <time.h>

/* ---- between two devices ---- */

NVML_FN(nvmlDeviceGetTopologyCommonAncestor,
	(struct nvml_device * d, struct nvml_device *other, unsigned *out))
{
	*out = d == other ? NVML_TOPOLOGY_INTERNAL : NVML_TOPOLOGY_HOST_BRIDGE;
	return NVML_SUCCESS;
}

NVML_FN(nvmlDeviceGetTopologyNearestGpus,
	(struct nvml_device * d, unsigned level, unsigned *count, struct nvml_device **out))
{
	u32 room = *count, n = 0;

	for (u32 i = 0; i < nvml_count() && level == NVML_TOPOLOGY_HOST_BRIDGE; i++)
		if (i != d->index) {
			if (out && n < room)
				out[n] = nvml_device_at(i);
			n++;
		}
	*count = n;
	return out && n > room ? NVML_ERROR_INSUFFICIENT_SIZE : NVML_SUCCESS;
}

/* As cuDeviceGetP2PAttribute says it: all reach each other, NVLink gives atomics. */
NVML_FN(nvmlDeviceGetP2PStatus,
	(struct nvml_device * d, struct nvml_device *other, unsigned what, unsigned *out))
{
	bool linked = d == other || arch_devices_links(nvml_list(), d->index, other->index) != 0;

	if (what > NVML_P2P_PCI)
		return NVML_ERROR_INVALID_ARGUMENT;
	*out = (what != NVML_P2P_NVLINK && what != NVML_P2P_ATOMICS) || linked
		       ? NVML_P2P_OK
		       : NVML_P2P_NOT_SUPPORTED;
	return NVML_SUCCESS;
}

NVML_FN(nvmlDeviceOnSameBoard, (struct nvml_device * d, struct nvml_device *other, int *out))
{
	*out = d == other;
	return NVML_SUCCESS;
}

/* ---- links ---- */

static bool is_on_switch(const struct nvml_device *d)
{
	return d->arch->nvlink_topology && !strcmp(d->arch->nvlink_topology, "switch");
}

/* The device at the end of a link; NULL: the link leads nowhere, or to a switch. */
static struct nvml_device *link_peer(const struct nvml_device *d, u32 link)
{
	for (u32 i = 0; i < nvml_count() && !is_on_switch(d); i++) {
		u32 links = arch_devices_links(nvml_list(), d->index, i);

		if (link < links)
			return nvml_device_at(i);
		link -= links;
	}
	return NULL;
}

u32 nvml_links(const struct nvml_device *d)
{
	u32 links = 0;

	for (u32 i = 0; i < nvml_count(); i++)
		links += arch_devices_links(nvml_list(), d->index, i);
	return links < (u32)d->arch->nvlink_links ? links : (u32)d->arch->nvlink_links;
}

u32 nvml_link_version(const struct nvml_device *d)
{
	static const u32 versions[] = {0, 1, 2, 4, 6, 7}; /* NVML_NVLINK_VERSION_.. */
	u32 generation = (u32)d->arch->nvlink_generation;

	return generation < ARRAY_LEN(versions) ? versions[generation] : 0;
}

/* Why a question about a link is not answered; NVML_SUCCESS: it is. */
static int check_link(const struct nvml_device *d, u32 link)
{
	if (!d->arch->nvlink_links)
		return NVML_ERROR_NOT_SUPPORTED;
	return link < (u32)d->arch->nvlink_links ? NVML_SUCCESS : NVML_ERROR_INVALID_ARGUMENT;
}

NVML_FN(nvmlDeviceGetNvLinkState, (struct nvml_device * d, unsigned link, unsigned *out))
{
	*out = link < nvml_links(d);
	return check_link(d, link);
}

NVML_FN(nvmlDeviceGetNvLinkVersion, (struct nvml_device * d, unsigned link, unsigned *out))
{
	*out = nvml_link_version(d);
	return check_link(d, link);
}

NVML_FN(nvmlDeviceGetNvLinkCapability,
	(struct nvml_device * d, unsigned link, unsigned what, unsigned *out))
{
	if (what >= NVML_LINK_CAPABILITIES)
		return NVML_ERROR_INVALID_ARGUMENT;
	*out = what == NVML_LINK_P2P           ? d->arch->has_peer_access
	       : what == NVML_LINK_P2P_ATOMICS ? d->arch->has_peer_atomics
					       : what == NVML_LINK_VALID;
	return check_link(d, link);
}

NVML_FN(nvmlDeviceGetNvLinkRemoteDeviceType, (struct nvml_device * d, unsigned link, unsigned *out))
{
	int status = check_link(d, link);

	if (!status && link >= nvml_links(d))
		return NVML_ERROR_NOT_SUPPORTED;
	*out = is_on_switch(d) ? NVML_LINK_END_SWITCH : NVML_LINK_END_GPU;
	return status;
}

/* Deviation: of a switch at the other end nothing is known. */
NVML_FN(nvmlDeviceGetNvLinkRemotePciInfo_v2,
	(struct nvml_device * d, unsigned link, struct nvml_pci *out))
{
	struct nvml_device *peer = link_peer(d, link);
	int status = check_link(d, link);

	if (status)
		return status;
	return peer ? plnvml_nvmlDeviceGetPciInfo_v3(peer, out) : NVML_ERROR_NOT_SUPPORTED;
}

NVML_FN(nvmlDeviceGetNvLinkRemotePciInfo,
	(struct nvml_device * d, unsigned link, struct nvml_pci_v2 *out))
{
	struct nvml_device *peer = link_peer(d, link);
	int status = check_link(d, link);

	if (status)
		return status;
	return peer ? plnvml_nvmlDeviceGetPciInfo_v2(peer, out) : NVML_ERROR_NOT_SUPPORTED;
}

/* ---- fields: many questions in one call ---- */

enum field {
	FIELD_ECC = 1,
	FIELD_ECC_PENDING = 2,
	FIELD_LINK_SPEED_FIRST = 84,
	FIELD_LINK_SPEED_COMMON = 90,
	FIELD_LINKS = 91,
	FIELD_LINKS_TO_SWITCH = 147,
	FIELD_LINK_SPEED = 164,
	FIELD_LINK_STATE = 165,
	FIELD_LINK_VERSION = 166,
	FIELD_POWER_DEFAULT = 189,
	FIELD_POWER_LIMIT = 190,
	FIELD_POWER_REQUESTED = 192,
};

/* The scope is the number of a link. Per direction, in MB/s. */
static int link_field(struct nvml_device *d, u32 field, u32 link, u32 *out)
{
	bool known = d->arch->nvlink_links && link < (u32)d->arch->nvlink_links;

	if (field == FIELD_LINK_STATE)
		*out = link < nvml_links(d);
	else if (field == FIELD_LINK_VERSION)
		*out = nvml_link_version(d);
	else
		*out = link < nvml_links(d) ? (u32)d->arch->nvlink_link_mbps / 2 : 0;
	return known ? NVML_SUCCESS : NVML_ERROR_NOT_SUPPORTED;
}

static int answer_field(struct nvml_device *d, u32 field, u32 scope, u32 *out)
{
	switch (field) {
	case FIELD_ECC:
	case FIELD_ECC_PENDING:
		return plnvml_nvmlDeviceGetDefaultEccMode(d, out);
	case FIELD_LINK_SPEED_COMMON:
		return link_field(d, FIELD_LINK_SPEED, 0, out);
	case FIELD_LINKS:
		*out = (u32)d->arch->nvlink_links;
		return NVML_SUCCESS;
	case FIELD_LINKS_TO_SWITCH:
		*out = is_on_switch(d) ? nvml_links(d) : 0;
		return NVML_SUCCESS;
	case FIELD_LINK_SPEED:
	case FIELD_LINK_STATE:
	case FIELD_LINK_VERSION:
		return link_field(d, field, scope, out);
	case FIELD_POWER_DEFAULT:
	case FIELD_POWER_LIMIT:
	case FIELD_POWER_REQUESTED:
		return plnvml_nvmlDeviceGetPowerManagementLimit(d, out);
	default:
		if (field >= FIELD_LINK_SPEED_FIRST && field < FIELD_LINK_SPEED_COMMON)
			return link_field(d, FIELD_LINK_SPEED, field - FIELD_LINK_SPEED_FIRST, out);
		return NVML_ERROR_NOT_SUPPORTED;
	}
}

NVML_FN(nvmlDeviceGetFieldValues, (struct nvml_device * d, int count, struct nvml_field *values))
{
	struct timespec now;

	if (count <= 0)
		return NVML_ERROR_INVALID_ARGUMENT;
	clock_gettime(CLOCK_REALTIME, &now);
	for (int i = 0; i < count; i++) {
		struct nvml_field *f = &values[i];

		f->value.u64 = 0;
		f->type = NVML_TYPE_U32;
		f->timestamp_us = (s64)now.tv_sec * 1000000 + now.tv_nsec / 1000;
		f->latency_us = 0;
		f->status = (u32)answer_field(d, f->id, f->scope, &f->value.u32);
	}
	return NVML_SUCCESS;
}
