/*
 * The CUDA runtime interface over src/dev. Private to runtime/.
 *
 * All state of the process hangs on one `struct rt`, made at the first call. Operations of all
 * streams run in the order in which they are issued; a launch returns at once and everything that
 * follows waits for it.
 */
#ifndef PL_RT_H
#define PL_RT_H

#include "runtime/cuda_types.h"
#include "src/arch/arch.h"
#include "src/dev/device.h"

#define RT_API __attribute__((visibility("default")))

struct rt_image;

/* A kernel as the program registered it: the address of its host stub is the name in the interface. */
struct rt_function {
	struct rt_image *image;
	const char *name;
};

struct rt_variable {
	struct rt_image *image;
	const char *name;
	size_t size;
	void **managed_slot; /* __managed__: where the program keeps the address, else NULL */
};

/* One registered fat binary, loaded on a device when something of it is first asked for. */
struct rt_image {
	const struct fat_wrapper *wrapper;
	struct device_program *program[ARCH_DEVICES_MAX];
	enum status load_status[ARCH_DEVICES_MAX];
	struct rt_image *next;
};

struct rt_device {
	struct device dev;
	bool is_open;
	int sticky; /* a fault: every call answers it until the device is reset */
};

struct rt {
	int status; /* of the set-up itself: cudaErrorNoDevice, cudaErrorInvalidDevice .. */
	struct arch_devices list;
	struct device_settings settings;
	struct sched_pool *pool;
	const struct exec_ops *ops;
	struct rt_device device[ARCH_DEVICES_MAX];
	pthread_mutex_t lock;
	struct map functions; /* host stub -> struct rt_function * */
	struct map variables; /* host variable -> struct rt_variable * */
	struct rt_image *images;
};

/* ---- rt_device.c ---- */

/* The process's runtime; never NULL. */
struct rt *rt_get(void);
/* Device of the calling thread, opened. On failure returns NULL and the error in *status. */
struct rt_device *rt_device_now(int *status);
int rt_device_index(void);
/* Make device i the calling thread's; i is valid. */
void rt_device_choose(int i);
/* Value of a device attribute; what a profile does not know is 0. Returns an error number. */
int rt_device_attribute(int i, int attribute, int *value);
/* Wait for everything; returns the sticky error. */
int rt_wait(struct rt_device *d);

/* ---- rt_error.c ---- */

/* Remember an error as the thread's last one and return it. */
int rt_error(int status);
/* Forget the thread's last error. */
void rt_error_clear(void);
/* Put a fault of a launch on standard error and make it the device's sticky error. */
void rt_fault(struct rt_device *d, enum status status, const struct device_fault *fault);
/* device_done of both interfaces: user is the struct rt_device *. */
void rt_launch_done(void *user, enum status status, const struct device_fault *fault);

/* ---- rt_register.c ---- */

/* The program of an image on the current device, loading it. */
struct device_program *rt_image_program(struct rt_image *image, int *status);
struct rt_function *rt_find_function(const void *stub);
/* The kernel on the current device, loading its image; f may be NULL. On failure NULL and the error in *status. */
struct device_kernel *rt_kernel(const struct rt_function *f, int *status);
/* Address and size of a registered variable on the current device. */
int rt_find_symbol(const void *symbol, u64 *address, u64 *size);

#endif
