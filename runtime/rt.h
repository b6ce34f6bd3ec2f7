/*
 * The CUDA runtime interface over src/dev. Private to runtime/.
 *
 * What belongs to the process is in process.h; `struct rt` is the part that is made at the first
 * call. Everything that runs on a device goes through its streams (src/dev/stream/stream.h).
 */
#ifndef PL_RT_H
#define PL_RT_H

#include "runtime/entry.h"
#include "runtime/cudart/rt_context.h"
#include "src/arch/arch.h"
#include "src/dev/graph/graph.h"
#include "src/dev/memory/memory.h"

/* The driver we are, and the range of stream priorities: least urgent first. */
#define RT_DRIVER_VERSION 13000
#define RT_PRIORITY_LEAST 0
#define RT_PRIORITY_GREATEST (-5)
/*
 * An entry point and its _ptsz form, for which a NULL stream is the thread's own: `body` is an
 * expression, in which OWN says which of the two was called.
 */
#define RT_STREAM_FN(name, params, body)                                                           \
	RT_FN(name, params)                                                                        \
	{                                                                                          \
		enum { OWN = 0 };                                                                  \
		return rt_error(body);                                                             \
	}                                                                                          \
	RT_FN(name##_ptsz, params)                                                                 \
	{                                                                                          \
		enum { OWN = 1 };                                                                  \
		return rt_error(body);                                                             \
	}

struct rt_image;
struct drv_module;

/*
 * A kernel: a library's (CUkernel, and what __cudaGetKernel answers), which is found on whatever
 * device is current, or one of a loaded module (CUfunction). Launches take either.
 */
struct rt_function {
	struct rt_handle head;
	struct rt_image *image; /* of a library's kernel, else NULL */
	const char *name;       /* owned by the image or the program that registered it */
	struct drv_module *module;
	struct device_kernel *kernel; /* a module's; of a library's the last one found, or NULL */
	struct rt_function *next;     /* of the same image or module */
};

struct rt_variable {
	struct rt_image *image;
	const char *name;
	size_t size;
	void **managed_slot; /* __managed__: where the program keeps the address, else NULL */
	u32 kind;            /* enum tex_kind of a texture or surface reference, else TEX_FREE */
	bool as_float;       /* of a texture reference: integers are read as fractions */
	struct rt_variable *next_managed;
};

/* What an image is on each device, loaded when something of it is first asked for there. */
struct rt_image_state {
	struct device_program *program[ARCH_DEVICES_MAX];
	struct drv_module *module[ARCH_DEVICES_MAX]; /* the handle for it, when asked for */
	enum status load_status[ARCH_DEVICES_MAX];
	struct rt_image_state *parent; /* in a child by fork, which does not use it */
};

/* A registered fat binary or a library (CUlibrary): code without a device. */
struct rt_image {
	struct rt_handle head;
	const void *code; /* fat binary wrapper, fat binary, cubin or text */
	size_t size;      /* 0: its headers say */
	void *owned;      /* a copy of code, NULL: borrowed */
	const char *name; /* of the file, for messages */
	/* Of the program or library that has `code`: first address and path; NULL: none has. */
	const void *object;
	const char *object_path; /* the loader's */
	bool is_registered;      /* by start-up code that a compiler made */
	struct rt_image_state *state;
	struct rt_function *functions;
	struct map by_name; /* hash of a kernel's name -> struct rt_function * */
	struct rt_variable *managed;
};

/* Limits of a context, numbered as in both interfaces. */
enum rt_limit {
	RT_LIMIT_STACK,
	RT_LIMIT_PRINTF,
	RT_LIMIT_HEAP,
	RT_LIMIT_SYNC_DEPTH,
	RT_LIMIT_PENDING_LAUNCHES,
	RT_LIMIT_L2_FETCH,
	RT_LIMIT_L2_PERSISTING,
	RT_LIMIT_SHARED,
	RT_LIMITS
};

/* Who gets the counts of launches after rt_stats.c; NULL: no other does. */
struct rt_counts {
	void (*next)(void *user, const struct program *p, const struct exec_count *counts);
	void *next_user;
};

struct rt_device {
	struct device dev;
	_Atomic bool is_open;
	/* a fault: every call answers it until the device is reset; workers write it: rt_sticky */
	int sticky;
	int lost; /* that error, if the device is gone for good; atomic */
	size_t limits[RT_LIMITS];
	struct checks *checks;          /* those that watch launches; NULL: none */
	struct profile_device *profile; /* NULL: none */
	struct memory_pool *pool;       /* that it allocates from; NULL: its default one */
	struct rt_counts counts;        /* of --stats */
};

struct rt {
	int status; /* of the set-up itself: cudaErrorNoDevice, cudaErrorInvalidDevice .. */
	/* the driver is initialised: by cuInit, or by what of the runtime needs devices */
	bool is_used;
	struct arch_devices list;
	u32 physical[ARCH_DEVICES_MAX]; /* number of a visible device among all */
	struct device_settings settings;
	struct sched_pool *pool;
	struct streams *streams;
	const struct exec_ops *ops;
	struct mem_system memory;
	struct memory_pools pools;
	struct memory_maps maps;
	struct rt_device device[ARCH_DEVICES_MAX];
	pthread_mutex_t lock;
};

/* ---- entry.c ---- */

/* Where the thread called a function whose row has CALLER from. */
extern _Thread_local const void *rt_caller __attribute__((tls_model("initial-exec")));

/* ---- rt_attend.c: signals, and the line about long launches ---- */

/* Begin to look after the process's launches; once. */
void rt_attend(struct rt *rt);
/* A thread is about to wait for launches: see that SIGINT still comes here. */
void rt_attend_wait(void);
/*
 * A launch was stopped for a signal and has been reported: the process dies of that, if it is to.
 */
void rt_attend_reported(void);

/* ---- rt_device.c ---- */

/* The process's runtime; never NULL. */
struct rt *rt_get(void);
/* The open device that has this memory; NULL: none. */
struct rt_device *rt_device_of(const struct mem *m);
/*
 * Device of the calling thread, opened. Without a current context its device's primary context
 * becomes current. On failure returns NULL and the error in *status.
 */
struct rt_device *rt_device_now(int *status);
/* Device i, opened, whether or not it has a sticky error; i is valid. NULL: *status says why. */
struct rt_device *rt_device_open(int i, int *status);
int rt_device_index(void);
/* 0, or why calls on this device fail: no device, after fork, invalid number. */
int rt_device_check(int i);
/* Value of a device attribute; what a profile does not know is 0. Returns an error number. */
int rt_device_attribute(int i, int attribute, int *value);
/* Wait for everything that was issued to the device; returns the sticky error. */
int rt_wait(struct rt_device *d);
/* Wait until no device works. */
void rt_finish(void);
/* The process is ending: exit handlers run. */
bool rt_is_exiting(void);
/*
 * End a device's primary context: its modules and libraries are unloaded, and when no other context
 * lives there its memory is freed. Errors are forgotten.
 */
void rt_device_reset(int i);

/*
 * Device i is gone, with what it does: from now on it answers this, also after it has been reset.
 */
void rt_device_lose(int i, int status);
/* What a lost device answers; 0: it is there. */
int rt_device_lost(int i);

/* ---- rt_visible.c ---- */

/* Keep the devices that CUDA_VISIBLE_DEVICES (NULL: all) names, in its order. */
void rt_visible_apply(struct rt *rt, const char *spec);
/* 16 bytes that tell a device from all others, the same in every process. */
void rt_visible_uuid(int i, u8 *out);
/* PCI bus of a device: one for each. */
u32 rt_visible_bus(int i);

/* ---- rt_limit.c ---- */

/* The limits of a device that has just been opened. */
void rt_limits_init(struct rt_device *d);
/* The program says from when on, or up to when, launches are profiled. */
void rt_profile_switch(bool on);
/* Both return an error number. */
int rt_limit_set(struct rt_device *d, int limit, size_t value);
int rt_limit_get(struct rt_device *d, int limit, size_t *value);

/* ---- rt_stream.c ---- */

/*
 * The stream that a handle means on the calling thread's device; own: NULL is the thread's own
 * default stream. NULL and the error in *status when the device is dead or it is no stream.
 */
struct stream *rt_stream(const void *handle, bool own, int *status);
/* stream_create in the current context. Returns an error number. */
int rt_stream_create(struct rt_device *d, u32 flags, int priority, struct stream **out);

/* The error for what is no stream or event: has it been one? */
int rt_stream_error(const void *handle);

/* ---- rt_extern.c ---- */

/* For struct device: what kernels may call besides the engine's own. Ends with a NULL name. */
extern const struct exec_extern rt_externs[];
/* From rt_function.c: cudaFuncGetAttributes of device code: since CUDA 12, and before. */
exec_extern_fn rt_nested_attributes, rt_nested_attributes_11;

/* ---- rt_pool.c ---- */

/* The pool that a device allocates from. NULL without memory. */
struct memory_pool *rt_pool_of(struct rt_device *d);
/* The following return an error number and check their arguments. */
/*
 * Pools of a device, or of a place and a type of allocation: the default one, or the current one.
 */
int rt_pool_default(struct memory_pool **out, int device, bool current);
int rt_pool_at(struct memory_pool **out, const struct memory_location *where, int type,
	       bool current);
int rt_pool_choose(int device, struct memory_pool *pool);
int rt_pool_choose_at(const struct memory_location *where, int type, struct memory_pool *pool);
int rt_pool_create(struct memory_pool **out, const struct memory_pool_props *props);
int rt_pool_destroy(struct memory_pool *pool);
int rt_pool_access(struct memory_pool *pool, const struct memory_access *desc, size_t n);

/* ---- rt_guard.c ---- */

/*
 * Handle faults of the host: copies whose memory of the host is not there end with an error
 * (src/mem/guard.h), and before the program dies of touching a device pointer, say what that is.
 * Once per process.
 */
void rt_guard_install(void);

/* ---- rt_error.c ---- */

/* The fault that every call answers, 0: none. Any thread. */
static inline int rt_sticky(const struct rt_device *d)
{
	return __atomic_load_n(&d->sticky, __ATOMIC_ACQUIRE);
}

/* Remember an error as the thread's last one and return it. */
int rt_error_in(int status, const char *function);
#define rt_error(status) rt_error_in(status, __func__)
/*
 * A call is about to answer a fault of the device: with PTXLOOM_AFTER_FAULT=exit the process ends.
 * Returns the status.
 */
int rt_after_fault(int status);
/* PTXLOOM_AFTER_FAULT=continue: faults end kernels and copies, and no device. */
bool rt_goes_on(void);
/* Put a fault of a launch on standard error and make it the device's sticky error. */
void rt_fault(struct rt_device *d, enum status status, const struct device_fault *fault);
/* on_copy_fault of devices: a message on standard error. */
void rt_copy_fault(const struct device *d, const struct copy_fault *fault);
/* device_done of both interfaces: user is the struct rt_device *. */
void rt_launch_done(void *user, enum status status, const struct device_fault *fault);

/* Has a kernel of this process faulted? */
bool rt_fault_seen(void);

/* ---- rt_report.c ---- */

/*
 * A launch of the form k<<<..>>>(..) begins: called by the code that holds it, which goes on at
 * `by`.
 */
void rt_report_configured(const void *by);
/* It comes to the launch itself, whose result the program does not see. */
void rt_report_launching(void);
/* The code that holds it, NULL: the thread's next launch has another form. */
struct host_from rt_report_from(void);
/*
 * A launch has been tried. name: of the kernel as in the PTX, NULL: unknown; status: how it went.
 * l->kernel may be NULL when it failed.
 */
void rt_report_launch(const struct device_launch *l, const char *name, int status);
/* The program reads the thread's last error. */
void rt_report_read(void);
/* The thread, in a child by fork, has nothing to report. */
void rt_report_forget(void);
/* The process ends: print what is left to say. Has a check found something? */
bool rt_report_exit(void);
struct ptxloom_findings;
/* ptxloom_findings(NULL) and ptxloom_findings_clear(NULL), which find them by their names. */
/*
 * For test frameworks, after each test: with PTXLOOM_AFTER_FAULT=reset devices that have faulted
 * become new. Returns how many.
 */
__attribute__((visibility("default"))) int plrt_after_test(void);
/*
 * Where the host has `bytes` of memory that a program allocated with CUDA: for work of the host in
 * place of kernels, ordered by its caller. writes: checks are told that all of it is written.
 * NULL: it is not allocated, or not in one piece. Valid until it is freed.
 */
__attribute__((visibility("default"))) void *plrt_host_memory(u64 address, u64 bytes, int writes);
__attribute__((visibility("default"))) const struct ptxloom_findings *plrt_findings(void);
__attribute__((visibility("default"))) void plrt_findings_clear(void);
/* For ptxloom_counters. NULL: nothing is counted. */
__attribute__((visibility("default"))) struct profile_kept *plrt_counters(void);
/*
 * on_overrun of devices: a note on standard error, once for each line of each kernel; where memory
 * is checked, a finding.
 */
void rt_report_overrun(const struct device_kernel *k, const struct program *p,
		       const struct fault *f, struct host_from from);
/* on_end of devices. */
void rt_report_end(const struct device *d, const struct device_ended *e);

/* ---- rt_stats.c: where the time went ---- */

void rt_stats_open(void);
/* After what else wants counts. */
void rt_stats_device(struct rt_device *d);
/* Once, if it is wanted. */
void rt_stats_print(const struct rt *rt);

/* ---- rt_last_error.c: of the calling thread, in the copy of the runtime that it called ---- */

void rt_last_error_set(int error);
int rt_last_error(void);
void rt_last_error_clear(void);

/* ---- log.c ---- */

/* Note that a function, by its name in an interface, returned an error. */
void rt_log_error(int status, const char *function);

/* ---- rt_register.c ---- */

/* The program of an image on the current device, loading it. */
struct device_program *rt_image_program(struct rt_image *image, int *status);
struct rt_function *rt_find_function(const void *stub);
/* The same, and if there is none the value itself, which rt_kernel refuses. */
const struct rt_function *rt_named_kernel(const void *stub);
/*
 * The kernel on the current device, loading its image. f: any value a program passed for a kernel
 * or function. On failure NULL and the error in *status.
 */
struct device_kernel *rt_kernel(const struct rt_function *f, int *status);
/* The same on device i, whichever is current; i is valid. */
struct device_kernel *rt_kernel_on(const struct rt_function *f, int i, int *status);
/* The texture or surface reference of this kind (enum tex_kind) that was registered, NULL: none. */
const struct rt_variable *rt_find_reference(const void *symbol, u32 kind);
/* Address and size of a registered variable on the current device. */
int rt_find_symbol(const void *symbol, u64 *address, u64 *size);

/* ---- rt_function.c ---- */

/* Attributes by the numbers of both interfaces. All return an error number. */
int rt_function_attribute(struct device_kernel *k, int n, int *value);
bool rt_function_is_settable(int n);
int rt_function_set(struct device_kernel *k, int n, int value);
/* Place and size of a parameter; bytes may be NULL. */
int rt_function_param(const struct device_kernel *k, size_t i, size_t *offset, size_t *bytes);

/* ---- rt_image.c ---- */

/* An image of `size` bytes (0: its headers say), copied when `copy`. NULL without memory. */
struct rt_image *rt_image_new(const void *code, size_t size, bool copy, const char *name);
/* Unload everywhere and free; its kernels are handles no more. */
void rt_image_free(struct rt_image *image);
/*
 * Coverage: their texts, as the device would take them, count as lines that have not run. Rest: of
 * those that no device has seen, at the end of the process.
 */
void rt_images_cover(const struct device *like);
void rt_images_cover_rest(void);
/* The same of one that goes away. */
void rt_image_cover(struct rt_image *image);
/* Unload all images from device i. */
void rt_images_forget_device(int i);
/* The handle for a kernel of this name, made when first asked for. NULL without memory. */
struct rt_function *rt_image_function(struct rt_image *image, const char *name);

#endif
