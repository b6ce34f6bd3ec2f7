/*
 * NVML's functions: for each row of nvml.def one that makes the row's checks and then answers.
 * Beginning and end.
 */
#include "runtime/nvml/nvml.h"
#include "src/base/diag.h"
#include "src/base/setting.h"

#include <pthread.h>
#include <stdio.h>

/* All state; written while `lock` is held, read by calls between nvmlInit and nvmlShutdown. */
static struct {
	pthread_mutex_t lock;
	u32 users;
	struct arch_devices list;
	struct nvml_device device[ARCH_DEVICES_MAX];
} library = {.lock = PTHREAD_MUTEX_INITIALIZER};

u32 nvml_count(void)
{
	return library.list.len;
}

struct nvml_device *nvml_device_at(u32 i)
{
	return &library.device[i];
}

const struct arch_devices *nvml_list(void)
{
	return &library.list;
}

static bool is_nvml_ready(void)
{
	return __atomic_load_n(&library.users, __ATOMIC_ACQUIRE) != 0;
}

/* Programs may hand over anything. */
static bool is_nvml_device(const struct nvml_device *d)
{
	u64 at = (u64)(uintptr_t)d - (u64)(uintptr_t)library.device;

	return at % sizeof(*d) == 0 && at / sizeof(*d) < library.list.len;
}

/* ---- beginning and end ---- */

/* PTXLOOM_MEMORY, as programs get it, but for `auto`: it differs from process to process. */
static bool limit_nvml_memory(struct text *why)
{
	u64 bytes = 0;

	return setting_read(SETTING_MEMORY, &bytes, why) &&
	       (!bytes || bytes == SETTING_SIZE_WORD || arch_devices_limit(&library.list, bytes));
}

/*
 * Of the CUDA runtime, if the process has it: the device that it gives a program whose user has
 * named none (runtime/device_choice.h).
 */
extern const char *plrt_device_spec(bool decide) __attribute__((weak));

static bool open_library(void)
{
	const char *spec =
		plrt_device_spec ? plrt_device_spec(false) : setting_text(SETTING_DEVICE);
	struct text why = {0};
	struct diag d;
	bool ok;

	diag_init(&d, diag_print, stderr);
	ok = arch_devices_parse(&library.list, spec ? spec : "", &d);
	diag_fini(&d);
	if (ok && !limit_nvml_memory(&why)) {
		fprintf(stderr, "ptxloom: error: %s\n", why.at ? why.at : "no memory left");
		arch_devices_fini(&library.list);
		ok = false;
	}
	text_fini(&why);
	for (u32 i = 0; i < library.list.len; i++) {
		library.device[i].arch = library.list.at[i];
		library.device[i].index = i;
		arch_uuid(library.list.at[i], i, library.device[i].uuid);
	}
	return ok;
}

NVML_FN(nvmlInit_v2, (void))
{
	bool ok = true;

	pthread_mutex_lock(&library.lock);
	if (!library.users)
		ok = open_library();
	if (ok)
		__atomic_store_n(&library.users, library.users + 1, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&library.lock);
	return ok ? NVML_SUCCESS : NVML_ERROR_DRIVER_NOT_LOADED;
}

NVML_FN(nvmlInitWithFlags, (unsigned flags))
{
	(void)flags; /* about devices that are missing or busy: none is */
	return plnvml_nvmlInit_v2();
}

NVML_FN(nvmlShutdown, (void))
{
	int status = NVML_SUCCESS;

	pthread_mutex_lock(&library.lock);
	if (!library.users)
		status = NVML_ERROR_UNINITIALIZED;
	else if (!__atomic_sub_fetch(&library.users, 1, __ATOMIC_RELEASE))
		arch_devices_fini(&library.list);
	pthread_mutex_unlock(&library.lock);
	return status;
}

/* ---- the functions ---- */

/* Chained to a condition that is true when the call is over, with `status` its answer. */
#define NO_CHECK
#define INITIALIZED || (!is_nvml_ready() && (status = NVML_ERROR_UNINITIALIZED) != 0)
#define INVALID || (status = NVML_ERROR_INVALID_ARGUMENT) != 0
#define DEVICE(d) INITIALIZED || (!is_nvml_device(d) && (status = NVML_ERROR_INVALID_ARGUMENT) != 0)
#define POINTER(p) || (!(p) && (status = NVML_ERROR_INVALID_ARGUMENT) != 0)

#define NVML_AS(name, body, params, args, checks)                                                  \
	int name params                                                                            \
	{                                                                                          \
		int status = NVML_SUCCESS;                                                         \
                                                                                                   \
		return (false checks) ? status : plnvml_##body args;                               \
	}
#define NVML(name, params, args, checks) NVML_AS(name, name, params, args, checks)
#define NVML_SAYS(name, value)                                                                     \
	int name(struct nvml_device *d, unsigned *out)                                             \
	{                                                                                          \
		int status = NVML_SUCCESS;                                                         \
                                                                                                   \
		if (!(false DEVICE(d) POINTER(out)))                                               \
			*out = value;                                                              \
		return status;                                                                     \
	}
#define NVML_NONE(name, params, checks)                                                            \
	int name params                                                                            \
	{                                                                                          \
		int status = NVML_ERROR_NOT_SUPPORTED;                                             \
                                                                                                   \
		return (false checks) ? status : NVML_ERROR_NOT_SUPPORTED;                         \
	}
#pragma GCC diagnostic push
/* What is always refused leaves its arguments alone. */
#pragma GCC diagnostic ignored "-Wunused-parameter"
#include "runtime/nvml/nvml.def"
#pragma GCC diagnostic pop
