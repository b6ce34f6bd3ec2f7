/*
 * NVML's structures and numbers, as programs are compiled with them, as far as we answer.
 */
#ifndef PL_NVML_TYPES_H
#define PL_NVML_TYPES_H

#include "src/base/base.h"

enum nvml_status {
	NVML_SUCCESS,
	NVML_ERROR_UNINITIALIZED,
	NVML_ERROR_INVALID_ARGUMENT,
	NVML_ERROR_NOT_SUPPORTED,
	NVML_ERROR_NOT_FOUND = 6,
	NVML_ERROR_INSUFFICIENT_SIZE = 7,
	NVML_ERROR_DRIVER_NOT_LOADED = 9,
	NVML_ERROR_ARGUMENT_VERSION_MISMATCH = 25,
};

/* The first word of structures that have versions. */
#define NVML_VERSION_OF(type, n) ((u32)sizeof(type) | (u32)(n) << 24)

/* Lengths of texts that every version allows. */
#define NVML_BUS_ID_BYTES 32
#define NVML_BUS_ID_V2_BYTES 16
#define NVML_BRANCH_BYTES 80
#define NVML_UUID_TEXT_BYTES 41

struct nvml_pci_v2 {
	char bus_id[NVML_BUS_ID_V2_BYTES];
	u32 domain, bus, device, device_id, subsystem_id;
};

struct nvml_pci {
	char bus_id_legacy[NVML_BUS_ID_V2_BYTES];
	u32 domain, bus, device, device_id, subsystem_id;
	char bus_id[NVML_BUS_ID_BYTES];
};

struct nvml_pci_ext {
	u32 version, domain, bus, device, device_id, subsystem_id, base_class, sub_class;
	char bus_id[NVML_BUS_ID_BYTES];
};

struct nvml_uuid {
	u32 version, type; /* enum nvml_uuid_type */
	union {
		char text[NVML_UUID_TEXT_BYTES];
		u8 bytes[16];
	} value;
};
enum nvml_uuid_type { NVML_UUID_ASCII = 1, NVML_UUID_BINARY };

struct nvml_memory {
	u64 total, free, used;
};

struct nvml_memory_v2 {
	u32 version;
	u64 total, reserved, free, used;
};

struct nvml_utilization {
	u32 gpu, memory;
};

struct nvml_process_v1 {
	u32 pid;
	u64 used;
};

/* Of versions 2 and 3. */
struct nvml_process {
	u32 pid;
	u64 used;
	u32 gpu_instance, compute_instance;
};

struct nvml_process_detail {
	u32 pid;
	u64 used;
	u32 gpu_instance, compute_instance;
	u64 used_protected;
};

struct nvml_process_list {
	u32 version, mode, len;
	struct nvml_process_detail *list;
};
enum nvml_process_mode { NVML_PROCESS_COMPUTE, NVML_PROCESS_GRAPHICS, NVML_PROCESS_MPS };

struct nvml_attributes {
	u32 sms, copy_engines, decoders, encoders, jpeg, ofa, gpu_slices, compute_slices;
	u64 memory_mib;
};

struct nvml_field {
	u32 id, scope;
	s64 timestamp_us, latency_us;
	u32 type, status;
	union {
		u32 u32;
		u64 u64;
	} value;
};
enum nvml_value_type { NVML_TYPE_U32 = 1, NVML_TYPE_U64 = 3 };

struct nvml_branch {
	u32 version;
	char branch[NVML_BRANCH_BYTES];
};

enum nvml_clock { NVML_CLOCK_GRAPHICS, NVML_CLOCK_SM, NVML_CLOCK_MEMORY, NVML_CLOCK_VIDEO };
#define NVML_CLOCK_ID_BOOST_MAX 3

enum nvml_p2p { NVML_P2P_READ, NVML_P2P_WRITE, NVML_P2P_NVLINK, NVML_P2P_ATOMICS, NVML_P2P_PCI };
enum nvml_p2p_status { NVML_P2P_OK, NVML_P2P_NOT_SUPPORTED = 5 };

enum nvml_topology { NVML_TOPOLOGY_INTERNAL = 0, NVML_TOPOLOGY_HOST_BRIDGE = 30 };

enum nvml_link_capability {
	NVML_LINK_P2P,
	NVML_LINK_SYSTEM_MEMORY,
	NVML_LINK_P2P_ATOMICS,
	NVML_LINK_SYSTEM_ATOMICS,
	NVML_LINK_SLI,
	NVML_LINK_VALID,
	NVML_LINK_CAPABILITIES
};
enum nvml_link_end { NVML_LINK_END_GPU, NVML_LINK_END_SWITCH = 2 };

#endif
