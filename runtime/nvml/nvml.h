/*
 * NVML: what programs and tools ask about the devices of the machine. It answers from the profiles
 * of PTXLOOM_DEVICE and from what processes show of their use (src/usage); it neither needs CUDA
 * nor opens a device. As with a GPU it has all devices, whatever CUDA_VISIBLE_DEVICES says.
 */
#ifndef PL_NVML_H
#define PL_NVML_H

#include "runtime/nvml/nvml_types.h"
#include "src/arch/arch.h"

#define NVML_API __attribute__((visibility("default")))

/* What is said of versions. */
#define NVML_DRIVER "580.95.05"
#define NVML_DRIVER_BRANCH "r580_95"
#define NVML_LIBRARY "13.580.95.05"
#define NVML_CUDA 13000

struct nvml_device {
	const struct arch *arch;
	u32 index;
	u8 uuid[ARCH_UUID_BYTES];
};

/* The functions, and their bodies. */
#define NVML_DECLARE(name, params) NVML_API int name params;
#define NVML(name, params, args, checks)                                                           \
	NVML_DECLARE(name, params)                                                                 \
	int plnvml_##name params;
#define NVML_AS(name, body, params, args, checks) NVML_DECLARE(name, params)
#define NVML_SAYS(name, value) NVML_DECLARE(name, (struct nvml_device * d, unsigned *out))
#define NVML_NONE(name, params, checks) NVML_DECLARE(name, params)
#include "runtime/nvml/nvml.def"
#undef NVML
NVML_API const char *nvmlErrorString(int status);

/* The head of a body. */
#define NVML_FN(name, params) int plnvml_##name params

/* A field of the profile that is not known is not supported. */
#define NVML_KNOWN(d, field) arch_is_known((d)->arch, ARCH_FIELD_##field)

/* The machine's devices; borrowed, until the last nvmlShutdown. */
u32 nvml_count(void);
struct nvml_device *nvml_device_at(u32 i); /* i is valid */
const struct arch_devices *nvml_list(void);

/* Copy a text with its NUL; NVML_ERROR_INSUFFICIENT_SIZE when it does not fit. */
int nvml_text(char *out, u32 size, const char *text);
void nvml_bus_id(const struct nvml_device *d, char out[NVML_BUS_ID_BYTES]);
/* "0000:01:00.0" */
void nvml_bus_id_legacy(const struct nvml_device *d, char out[NVML_BUS_ID_V2_BYTES]);
/* The whole board's memory in bytes; at least what CUDA has. */
u64 nvml_board_bytes(const struct nvml_device *d);
/* Links of a device that lead anywhere; 0: it has no peer. */
u32 nvml_links(const struct nvml_device *d);
/* Number of NVLink's version as NVML counts them; 0: there is no NVLink. */
u32 nvml_link_version(const struct nvml_device *d);

#endif
