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
 * ptxloom_last_fault(3), ptxloom_findings(3), ptxloom_counters(3), ptxloom_status_text(3).
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
	/* enum ptxloom_counting: what is counted of launches; 0: $PTXLOOM_COUNTERS, else nothing.
	 * See ptxloom_metric. */
	int counters;
};

/* options: NULL for the defaults. */
PTXLOOM_API int ptxloom_device_open(const struct ptxloom_options *options,
				    struct ptxloom_device **out);
/* Waits for launches; frees the device with its modules and memory. NULL is allowed. */
PTXLOOM_API void ptxloom_device_close(struct ptxloom_device *dev);
/*
 * Make the device what it was when it was opened: waits for launches, unloads its modules, frees
 * its buffers; faults, messages, findings and counters are forgotten. If that fails, the device can
 * still be reset or closed, and nothing else.
 */
PTXLOOM_API int ptxloom_device_reset(struct ptxloom_device *dev);
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

/* ---- Counters of launches: ptxloom_counters(3) ---- */

enum ptxloom_counting {
	PTXLOOM_COUNT_NOTHING = 1,
	PTXLOOM_COUNT_EXACT = 2, /* all that follows from what the program does */
	PTXLOOM_COUNT_CACHES = 3 /* and what the model of the caches says, which takes longer */
};

/* Which launches; zeroed: all since the device was opened, or its counters were cleared. */
struct ptxloom_launches {
	/* In the PTX or demangled, with or without parameters and arguments of templates, or
	 * "regex:EXPRESSION"; NULL: all kernels */
	const char *kernel;
	uint64_t first; /* launches are numbered from 0; those before it do not count */
	uint64_t count; /* at most; 0: all */
};

/*
 * A metric of these launches together (NULL: all) by its name in Nsight Compute, as `ptxloom
 * profile --query-metrics` lists them, or a short one of docs/ci.md: "bank_conflicts". dev NULL:
 * those that the CUDA libraries of this process have run, below PTXLOOM_COUNTERS.
 *
 * PTXLOOM_NOT_FOUND: there is no such metric, or there was no such launch; PTXLOOM_NOT_SUPPORTED:
 * it is not counted here; PTXLOOM_INVALID_VALUE: nothing is. The message is then as of a fault.
 */
PTXLOOM_API int ptxloom_metric(struct ptxloom_device *dev, const struct ptxloom_launches *which,
			       const char *name, double *out);
/*
 * Does this hold for these launches together: "bank_conflicts == 0", "instructions <= 1000 +- 5%",
 * "global_ld_sectors <= 512 at k.cu:15" (of one line, in all launches since ptxloom_metrics_clear)?
 * 0 if it does. Else PTXLOOM_ASSERT or a status of ptxloom_metric, or PTXLOOM_INVALID_VALUE for
 * what cannot be read, with a line about it in `why`, at most size - 1 bytes and a NUL.
 */
PTXLOOM_API int ptxloom_metric_expect(struct ptxloom_device *dev,
				      const struct ptxloom_launches *which, const char *claim,
				      char *why, size_t size);
/*
 * Is there a metric of this name? Then the least of enum ptxloom_counting that it needs; else 0,
 * and at most size - 1 bytes of `why` say what is wrong with it.
 */
PTXLOOM_API int ptxloom_metric_known(const char *name, char *why, size_t size);
/*
 * The instruction that has most of a metric in all launches of these kernels: "FILE:LINE:
 * INSTRUCTION; (3968)", at most size - 1 bytes and a NUL. PTXLOOM_NOT_FOUND if there is none.
 */
PTXLOOM_API int ptxloom_metric_place(struct ptxloom_device *dev,
				     const struct ptxloom_launches *which, const char *name,
				     char *out, size_t size);

enum ptxloom_metric_kind {
	PTXLOOM_METRIC_EXACT,
	PTXLOOM_METRIC_PTX,  /* exact, of PTX instructions where hardware counts machine code */
	PTXLOOM_METRIC_MODEL /* of the model of the caches */
};

struct ptxloom_metric_info {
	const char *name, *unit;
	int kind;
};

struct ptxloom_counted_launch {
	uint64_t number;
	unsigned grid[3], block[3], cluster[3];
	unsigned device;
	const char *device_name;
	uint64_t stream;
	const double *value; /* by metric; not a number where it is not known */
};

/* An instruction of a kernel, or of a function that it calls, that was executed. */
struct ptxloom_counted_insn {
	const char *function; /* demangled */
	const char *text;     /* "ld.global.f32 %f1, [%rd4];" */
	const char *file;     /* the user's source; NULL: unknown */
	unsigned line, ptx_line;
	const uint64_t *count; /* by column, of all launches */
};

struct ptxloom_counted_kernel {
	const char *name, *mangled;
	const double *value; /* by metric, of all launches together */
	size_t launch_count, insn_count;
	const struct ptxloom_counted_launch *const *launch;
	const struct ptxloom_counted_insn *const *insn;
};

/* What is counted; structures that may grow at their ends are pointed to one by one. */
struct ptxloom_counters {
	size_t metric_count, column_count, kernel_count;
	const struct ptxloom_metric_info *const *metric;
	const char *const *column; /* "inst", "global_sectors" */
	const struct ptxloom_counted_kernel *const *kernel;
};

/* The caller's, to be freed with ptxloom_counters_free, as ptxloom_findings. */
PTXLOOM_API const struct ptxloom_counters *ptxloom_counters(struct ptxloom_device *dev);
/* NULL is allowed. */
PTXLOOM_API void ptxloom_counters_free(const struct ptxloom_counters *counters);
/* Forget launches; the next ones go on with their numbers. */
PTXLOOM_API void ptxloom_counters_clear(struct ptxloom_device *dev);
/* The number of the next launch that is counted. */
PTXLOOM_API uint64_t ptxloom_counters_next(struct ptxloom_device *dev);

#ifdef __cplusplus
}
#endif

#endif
