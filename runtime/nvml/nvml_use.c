/*
 * NVML: what is used of a device, and by which processes, as these show it (src/usage/usage.h).
 */
#include "runtime/nvml/nvml.h"
#include "src/usage/usage.h"

#include <stdlib.h>

/* ---- what processes use of one device ---- */

struct sum {
	const struct nvml_device *device;
	u64 memory, running;
	/* The first `room` processes, and how many there are. */
	struct nvml_process *list;
	u32 room, len;
};

static bool add_process(void *user, pid_t pid, const struct usage_device *u)
{
	struct sum *s = user;

	if (memcmp(u->uuid, s->device->uuid, sizeof(u->uuid)) != 0)
		return true;
	s->memory += u->memory_bytes;
	s->running += u->running;
	if (s->len < s->room)
		s->list[s->len] =
			(struct nvml_process){(u32)pid, u->memory_bytes, UINT32_MAX, UINT32_MAX};
	s->len++;
	return true;
}

static struct sum use_of_device(const struct nvml_device *d, struct nvml_process *list, u32 room)
{
	struct sum s = {.device = d, .list = list, .room = room};

	usage_walk(add_process, &s);
	return s;
}

/* ---- memory and utilisation ---- */

/* A profile may say less memory than the board it was derived from: that counts. */
u64 nvml_board_bytes(const struct nvml_device *d)
{
	u64 bytes = (u64)d->arch->memory_bytes, board = (u64)d->arch->board_memory_mib << 20;

	return board >= bytes && board - bytes <= board / 8 ? board : bytes;
}

NVML_FN(nvmlDeviceGetMemoryInfo_v2, (struct nvml_device * d, struct nvml_memory_v2 *out))
{
	u64 visible = (u64)d->arch->memory_bytes;

	if (out->version != NVML_VERSION_OF(struct nvml_memory_v2, 2))
		return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
	out->total = nvml_board_bytes(d);
	out->reserved = out->total - visible;
	out->used = min_u64(use_of_device(d, NULL, 0).memory, visible);
	out->free = visible - out->used;
	return NVML_SUCCESS;
}

/* What is reserved counts as used. */
NVML_FN(nvmlDeviceGetMemoryInfo, (struct nvml_device * d, struct nvml_memory *out))
{
	struct nvml_memory_v2 m = {.version = NVML_VERSION_OF(m, 2)};

	plnvml_nvmlDeviceGetMemoryInfo_v2(d, &m);
	*out = (struct nvml_memory){m.total, m.free, m.total - m.free};
	return NVML_SUCCESS;
}

/* Deviation: not the share of a period, but whether a kernel runs now; memory is not counted. */
NVML_FN(nvmlDeviceGetUtilizationRates, (struct nvml_device * d, struct nvml_utilization *out))
{
	*out = (struct nvml_utilization){use_of_device(d, NULL, 0).running ? 100 : 0, 0};
	return NVML_SUCCESS;
}

/* Of engines that nothing uses: encoders, decoders. */
NVML_FN(nvmlDeviceGetEncoderUtilization, (struct nvml_device * d, unsigned *out, unsigned *period))
{
	enum { PERIOD_US = 167000 };

	(void)d;
	*out = 0;
	*period = PERIOD_US;
	return NVML_SUCCESS;
}

/* ---- processes ---- */

NVML_FN(nvmlDeviceGetComputeRunningProcesses_v3,
	(struct nvml_device * d, unsigned *count, struct nvml_process *out))
{
	u32 room = *count;
	struct sum s;

	if (room && !out)
		return NVML_ERROR_INVALID_ARGUMENT;
	s = use_of_device(d, out, room);
	*count = s.len;
	return s.len > room ? NVML_ERROR_INSUFFICIENT_SIZE : NVML_SUCCESS;
}

NVML_FN(nvmlDeviceGetComputeRunningProcesses,
	(struct nvml_device * d, unsigned *count, struct nvml_process_v1 *out))
{
	enum { MOST = 1024 };
	struct nvml_process list[MOST];
	u32 room = *count < MOST ? *count : MOST;
	int status;

	if (room && !out)
		return NVML_ERROR_INVALID_ARGUMENT;
	*count = room;
	status = plnvml_nvmlDeviceGetComputeRunningProcesses_v3(d, count, list);
	for (u32 i = 0; i < room && i < *count; i++)
		out[i] = (struct nvml_process_v1){list[i].pid, list[i].used};
	return status;
}

/* Of graphics, and of the multi-process service: there are none. */
NVML_FN(nvmlDeviceGetGraphicsRunningProcesses, (struct nvml_device * d, unsigned *count, void *out))
{
	(void)d, (void)out;
	*count = 0;
	return NVML_SUCCESS;
}

NVML_FN(nvmlDeviceGetRunningProcessDetailList,
	(struct nvml_device * d, struct nvml_process_list *list))
{
	struct nvml_process *found = NULL;
	u32 room = list->len;
	int status = NVML_SUCCESS;

	if (list->version != NVML_VERSION_OF(*list, 1))
		return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
	if (list->mode > NVML_PROCESS_MPS || (room && !list->list))
		return NVML_ERROR_INVALID_ARGUMENT;
	list->len = 0;
	if (list->mode != NVML_PROCESS_COMPUTE)
		return NVML_SUCCESS;
	if (room && !(found = calloc(room, sizeof(*found))))
		return NVML_ERROR_INSUFFICIENT_SIZE;
	list->len = room;
	status = plnvml_nvmlDeviceGetComputeRunningProcesses_v3(d, &list->len, found);
	for (u32 i = 0; i < room && i < list->len; i++)
		list->list[i] = (struct nvml_process_detail){found[i].pid, found[i].used,
							     UINT32_MAX, UINT32_MAX, 0};
	free(found);
	return status;
}
