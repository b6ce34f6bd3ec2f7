/*
 * ptxloom: run CUDA kernels from C, on a machine without a GPU.
 *
 *     struct ptxloom_device *dev;
 *     struct ptxloom_module *mod;
 *     int (*saxpy)(int n, float a, const float *x, float *y);
 *
 *     ptxloom_device_open(NULL, &dev);
 *     ptxloom_module_load_file(dev, "saxpy.ptx", &mod);
 *     ptxloom_bind(ptxloom_module_kernel(mod, "saxpy"),
 *                  "(n, a, in f32 x[n], inout f32 y[n]) <<<(n + 255) / 256, 256>>>",
 *                  (void **)&saxpy);
 *     status = saxpy(n, 2, x, y);
 *
 * Functions return 0 or a status with the number that CUDA gives the same error;
 * ptxloom_status_text has the words. All of them may be called from several threads at once; an
 * object must not be freed while another thread uses it. Nothing is printed but what kernels print,
 * and a kernel never ends the process. Manual pages: ptxloom_device_open(3),
 * ptxloom_module_load(3), ptxloom_alloc(3), ptxloom_launch(3), ptxloom_bind(3),
 * ptxloom_last_fault(3), ptxloom_findings(3), ptxloom_metrics(3), ptxloom_status_text(3).
 */
#ifndef PTXLOOM_H
#define PTXLOOM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PTXLOOM_API __attribute__((visibility("default")))

struct ptxloom_device;
struct ptxloom_module;
struct ptxloom_kernel;

/* ---- Statuses: ptxloom_status_text(3) ---- */

/* The statuses that this library returns. Faults of kernels have others, those of CUDA. */
enum ptxloom_status {
	PTXLOOM_SUCCESS = 0,
	PTXLOOM_INVALID_VALUE = 1,
	PTXLOOM_OUT_OF_MEMORY = 2,
	PTXLOOM_INVALID_DEVICE = 101,
	PTXLOOM_INVALID_IMAGE = 200,
	PTXLOOM_NO_BINARY_FOR_GPU = 209,
	PTXLOOM_INVALID_PTX = 218,
	PTXLOOM_FILE_NOT_FOUND = 301,
	PTXLOOM_INVALID_HANDLE = 400,
	PTXLOOM_NOT_FOUND = 500,
	PTXLOOM_ILLEGAL_ADDRESS = 700,
	PTXLOOM_LAUNCH_OUT_OF_RESOURCES = 701,
	PTXLOOM_LAUNCH_TIMEOUT = 702,
	PTXLOOM_ASSERT = 710,
	PTXLOOM_ILLEGAL_INSTRUCTION = 715,
	PTXLOOM_MISALIGNED_ADDRESS = 716,
	PTXLOOM_LAUNCH_FAILED = 719,
	PTXLOOM_COOPERATIVE_LAUNCH_TOO_LARGE = 720,
	PTXLOOM_NOT_SUPPORTED = 801,
	PTXLOOM_INVALID_CLUSTER_SIZE = 912
};

/* "an illegal memory access was encountered"; "unrecognized error code" for other numbers. Never
 * freed. */
PTXLOOM_API const char *ptxloom_status_text(int status);
/* "cudaErrorIllegalAddress"; "unrecognized error code" for other numbers. Never freed. */
PTXLOOM_API const char *ptxloom_status_name(int status);

/* ---- Devices: ptxloom_device_open(3) ---- */

struct ptxloom_options {
	size_t size; /* sizeof(struct ptxloom_options) */
	/* "a100", "v100", "./my.profile" ..; NULL: $PTXLOOM_DEVICE, else a100 */
	const char *device;
	unsigned workers; /* threads; 0: $PTXLOOM_WORKERS, else one per core */
	uint64_t seed; /* order of CTAs, warps, lanes; 0: $PTXLOOM_SEED, else the natural order */
	uint64_t timeout_ms; /* of one launch; 0: $PTXLOOM_TIMEOUT, else none */
	/* Receives every message about files, PTX and faults, as text of whole lines. NULL: see
	 * ptxloom_message. */
	void (*message)(void *user, const char *text);
	/*
	 * Receives what kernels print, on any thread, in pieces of `size` bytes. NULL: standard
	 * output.
	 */
	void (*output)(void *user, const char *text, size_t size);
	void *user;
	/*
	 * Functions of the host that modules may call: "all", or names separated by commas; copied.
	 * Modules may call them with any arguments. NULL: $PTXLOOM_HOST_FUNCTIONS, else none.
	 */
	const char *host_functions;
	/* Not 0: everything runs in one order, whatever the number of workers; 0: as
	 * $PTXLOOM_DETERMINISTIC says, else not. */
	int deterministic;
	/* What is looked for while kernels run: "mem,race", as `ptxloom run --check` takes it;
	 * NULL: $PTXLOOM_CHECK, else nothing. See ptxloom_findings. */
	const char *checks;
	/* Device memory is as weak as the PTX memory model allows: the seed of what is seen late,
	 * and of the order in which warps run; 0: $PTXLOOM_WEAK, else it is not. */
	uint64_t weak;
	/* Metrics that launches are counted for, "bank_conflicts,global_ld_efficiency"; NULL: none.
	 * Not together with checks. See ptxloom_metrics_take. */
	const char *metrics;
};

/* options: NULL for the defaults. */
PTXLOOM_API int ptxloom_device_open(const struct ptxloom_options *options,
				    struct ptxloom_device **out);
/* Waits for launches; frees the device with its modules and memory. NULL is allowed. */
PTXLOOM_API void ptxloom_device_close(struct ptxloom_device *dev);
/* Product name: "NVIDIA A100-SXM4-40GB". */
PTXLOOM_API const char *ptxloom_device_name(const struct ptxloom_device *dev);
/* An integer of the profile by its name in `ptxloom devices`: "sms", "warp_size".
 * PTXLOOM_NOT_FOUND when unknown. */
PTXLOOM_API int ptxloom_device_number(const struct ptxloom_device *dev, const char *field,
				      int64_t *out);
/* Wait until no launch of the device is running; returns the first fault since the last call. */
PTXLOOM_API int ptxloom_device_sync(struct ptxloom_device *dev);
/*
 * Copy the messages since the last call, at most size - 1 bytes and a NUL; returns their full
 * length.
 */
PTXLOOM_API size_t ptxloom_message(struct ptxloom_device *dev, char *out, size_t size);

/* ---- Modules: ptxloom_module_load(3) ---- */

/* PTX text, a fat binary, cubin, object, library or executable in memory; borrowed during the call
 * only. */
PTXLOOM_API int ptxloom_module_load(struct ptxloom_device *dev, const void *image, size_t size,
				    struct ptxloom_module **out);
PTXLOOM_API int ptxloom_module_load_file(struct ptxloom_device *dev, const char *path,
					 struct ptxloom_module **out);
/* No launch of its kernels may be running. Frees its kernels and bound functions. NULL is
 * allowed. */
PTXLOOM_API void ptxloom_module_unload(struct ptxloom_module *mod);
/* The kernel with this name in the PTX, owned by the module; NULL if there is none. */
PTXLOOM_API struct ptxloom_kernel *ptxloom_module_kernel(struct ptxloom_module *mod,
							 const char *name);
/* The kernels by number, NULL past the last. */
PTXLOOM_API struct ptxloom_kernel *ptxloom_module_kernel_nth(struct ptxloom_module *mod,
							     unsigned n);
/* A .global or .const variable: its memory, to be read and written like a buffer. */
PTXLOOM_API int ptxloom_module_variable(struct ptxloom_module *mod, const char *name,
					void **address, size_t *bytes);

PTXLOOM_API const char *ptxloom_kernel_name(const struct ptxloom_kernel *kernel);

struct ptxloom_param {
	const char *name; /* as in the PTX; belongs to the module */
	const char *type; /* "u64"; of arrays, that of the elements */
	size_t offset, bytes, align;
	int is_array; /* a structure passed by value */
};

PTXLOOM_API unsigned ptxloom_kernel_param_count(const struct ptxloom_kernel *kernel);
PTXLOOM_API int ptxloom_kernel_param(const struct ptxloom_kernel *kernel, unsigned n,
				     struct ptxloom_param *out);
/* How many CTAs of `threads` threads can be resident on an SM of the device. */
PTXLOOM_API unsigned ptxloom_kernel_occupancy(struct ptxloom_kernel *kernel, unsigned threads,
					      size_t dynamic_shared);

/* ---- Buffers: ptxloom_alloc(3) ---- */

/* Zeroed device memory. Host code reads and writes it through the same pointer. NULL: no memory
 * left. */
PTXLOOM_API void *ptxloom_alloc(struct ptxloom_device *dev, size_t bytes);
/* PTXLOOM_INVALID_VALUE if it is not a buffer. NULL is allowed. */
PTXLOOM_API int ptxloom_free(struct ptxloom_device *dev, void *buffer);
/* Let kernels use host memory in place until ptxloom_unregister. It must not overlap other such
 * memory. */
PTXLOOM_API int ptxloom_register(struct ptxloom_device *dev, void *memory, size_t bytes);
PTXLOOM_API int ptxloom_unregister(struct ptxloom_device *dev, void *memory);

/* ---- Launches: ptxloom_launch(3) ---- */

struct ptxloom_config {
	unsigned grid[3], block[3]; /* a zero in y or z counts as 1 */
	size_t dynamic_shared;      /* bytes */
	int cooperative;            /* all CTAs are resident at once */
	/* CTAs of a cluster; all 0: those of the kernel; else 0 counts as 1 */
	unsigned cluster[3];
};

/* Run a kernel and wait. args: pointers to the values of the parameters, in order. */
PTXLOOM_API int ptxloom_launch(struct ptxloom_kernel *kernel, const struct ptxloom_config *config,
			       void *const *args);
/* Start a kernel; ptxloom_device_sync waits. Running launches have no order among each other. */
PTXLOOM_API int ptxloom_launch_async(struct ptxloom_kernel *kernel,
				     const struct ptxloom_config *config, void *const *args);

/* ---- Kernels as functions: ptxloom_bind(3) ---- */

/*
 * Make a kernel callable from C. `signature` names its parameters in order and gives the launch
 * configuration:
 *
 *     (n, a, in f32 x[n], inout f32 y[n]) <<<(n + 255) / 256, 256>>>
 *
 * *function then points to a function that takes these parameters and returns a status as
 * ptxloom_launch does. The function belongs to the module and may be called from several threads.
 */
PTXLOOM_API int ptxloom_bind(struct ptxloom_kernel *kernel, const char *signature, void **function);

/* ---- Faults: ptxloom_last_fault(3) ---- */

struct ptxloom_fault {
	int status;
	char kind[32]; /* "Invalid address" */
	char kernel[256], function[256];
	unsigned cta[3], thread[3];
	char ptx_file[256];
	unsigned ptx_line;     /* 0: unknown */
	char source_file[512]; /* empty: unknown */
	unsigned source_line;
	int has_address, is_write;
	uint64_t address, bytes;
	char message[4096]; /* all of this in words, several lines */
};

/* The device's last fault. PTXLOOM_NOT_FOUND when there was none. */
PTXLOOM_API int ptxloom_last_fault(struct ptxloom_device *dev, struct ptxloom_fault *out);
/* Its kind in a word that tests name: "out_of_bounds", "assert"; "" for none. Never freed. */
PTXLOOM_API const char *ptxloom_fault_rule(const struct ptxloom_fault *fault);

/* ---- Findings of checks: ptxloom_findings(3) ---- */

/* A place in device code, or a call of the host. NULL or 0: unknown. */
struct ptxloom_place {
	const char *what;     /* "Write"; of the host: "launched", "called", "allocated", "freed" */
	const char *function; /* demangled */
	const char *file;
	unsigned line;
	int has_thread;
	unsigned thread[3], block[3];
};

struct ptxloom_finding {
	const char *check;   /* "race": a word of PTXLOOM_CHECK */
	const char *kind;    /* "race", "invalid-access": as in JSON and suppressions */
	const char *message; /* one line */
	const char *text;    /* all lines */
	const char *kernel;  /* demangled; NULL: it is not about one */
	int is_warning;
	int has_address;
	uint64_t address;
	uint64_t count; /* how often */
	unsigned place_count, host_count;
	const struct ptxloom_place *places; /* in device code; of failed calls, where they are */
	const struct ptxloom_place *hosts;
};

/* Findings are pointed to one by one, as their structure may grow at its end. */
struct ptxloom_findings {
	const char *checks; /* what was looked for: "mem,race"; "": nothing */
	size_t count;
	const struct ptxloom_finding *const *finding;
};

/*
 * What has been found so far on a device; on NULL, by the CUDA libraries that this process runs on.
 * The caller's, to be freed with ptxloom_findings_free; later findings do not change it. NULL when
 * there is no memory left. Launches that are under way may add some: synchronize first.
 */
PTXLOOM_API const struct ptxloom_findings *ptxloom_findings(struct ptxloom_device *dev);
/* NULL is allowed. */
PTXLOOM_API void ptxloom_findings_free(const struct ptxloom_findings *findings);
/* Forget what has been found there: it changes no exit status and is told anew if found again. */
PTXLOOM_API void ptxloom_findings_clear(struct ptxloom_device *dev);

/* ---- Metrics of launches: ptxloom_metrics(3) ---- */

struct ptxloom_metrics;

/*
 * Is there a metric of this name: one of Nsight Compute, or a short one, as
 * `ptxloom exec --expect-metric` takes them? 0: no, and at most size - 1 bytes of `why` say it.
 */
PTXLOOM_API int ptxloom_metric_known(const char *name, char *why, size_t size);
/*
 * What the launches of the device did that have ended since the last call, added up. The caller's,
 * to be freed with ptxloom_metrics_free. NULL without memory, and for a device that counts nothing.
 */
PTXLOOM_API struct ptxloom_metrics *ptxloom_metrics_take(struct ptxloom_device *dev);
/* NULL is allowed. */
PTXLOOM_API void ptxloom_metrics_free(struct ptxloom_metrics *metrics);
/* PTXLOOM_INVALID_VALUE: there is no such metric; PTXLOOM_NOT_FOUND: nothing was launched, or it
 * was not counted. */
PTXLOOM_API int ptxloom_metrics_value(const struct ptxloom_metrics *metrics, const char *name,
				      double *out);
/* Does "bank_conflicts == 0" hold? 0: no, and at most size - 1 bytes of `why` have the number, or
 * what is wrong with the claim. */
PTXLOOM_API int ptxloom_metrics_hold(const struct ptxloom_metrics *metrics, const char *claim,
				     char *why, size_t size);

#ifdef __cplusplus
}
#endif

#endif
