/*
 * The driver interface. Private to runtime/.
 */
#ifndef PL_DRV_H
#define PL_DRV_H

#include "runtime/rt.h"
#include "src/dev/stream/mem_op.h"

/* As RT_STREAM_FN: the entry point and its _ptsz form. */
#define DRV_STREAM_FN(name, params, body)                                                          \
	DRV_FN(name, params)                                                                       \
	{                                                                                          \
		enum { OWN = 0 };                                                                  \
		return body;                                                                       \
	}                                                                                          \
	DRV_FN(name##_ptsz, params)                                                                \
	{                                                                                          \
		enum { OWN = 1 };                                                                  \
		return body;                                                                       \
	}

/*
 * The same for both interfaces: `body` is an expression over what the parameter `stream` means, s,
 * and if that is NULL why, in status.
 */
#define STREAM_FNS(driver, runtime, params, body)                                                  \
	DRV_STREAM_FN(driver, params, ({                                                           \
			      int status;                                                          \
			      struct stream *s = drv_stream(stream, OWN, &status);                 \
			      body;                                                                \
		      }))                                                                          \
	RT_STREAM_FN(runtime, params, ({                                                           \
			     int status;                                                           \
			     struct stream *s = rt_stream(stream, OWN, &status);                   \
			     body;                                                                 \
		     }))

/* A module (CUmodule): a program loaded in a context, or what a library is on a device. */
struct drv_module {
	struct rt_handle head;
	struct device_program *program;
	struct rt_image *library; /* NULL: of its own */
	struct rt_context *context;
	struct rt_function *functions; /* those asked for so far */
	struct map by_kernel;          /* struct device_kernel * -> struct rt_function * */
};

/* ---- drv.c ---- */

/* 0, or why a call about this device fails: not initialised, no such device .. */
int drv_check(int device);
/* The current context. On failure NULL and the error in *status. */
struct rt_context *drv_context(int *status);
/* Device of the current context, opened. On failure NULL and the error in *status. */
struct rt_device *drv_device(int *status);
/* The same for what knows its own context; without a current one any device in use. */
struct rt_device *drv_any_device(int *status);
/*
 * The kernel on the current device of what a program passed as CUfunction or CUkernel; else NULL
 * and *status.
 */
struct device_kernel *drv_kernel(const void *function, int *status);
/* The same; of a library's, without a current context, the one on `device`. */
struct device_kernel *drv_kernel_on(const void *function, int device, int *status);

/* ---- drv_entry.c ---- */

/*
 * Entry point by its base name: the newest that `version` knows. found: as cuGetProcAddress
 * answers.
 */
void *drv_entry(const char *symbol, int version, u64 flags, int *found);

/* ---- drv_tables.c ---- */
/* The table of functions with this identifier of 16 bytes; NULL: it is not provided. */
const void *drv_export_table(const void *id);

/* ---- drv_symbol.c ---- */

/* The function of this exact name, NULL: none. */
void *drv_symbol(const char *name);

/* ---- drv_jit.c ---- */

/* Options of the just-in-time compiler during one call. The buffers are the program's. */
struct drv_jit {
	struct diag diag; /* for who compiles */
	struct text infos, errors;
	char *info_log, *error_log;
	void **info_bytes, **error_bytes; /* in: size of the buffer; out: bytes used */
	size_t info_cap, error_cap;
	void **wall_time; /* out: milliseconds, a f32 */
	void **threads;
	bool verbose;
	bool by_ptxas, fatal,
		ended; /* lines as ptxas writes them came; one was fatal; the last one stands */
	u64 started_ns;
};

/* Read options and check them. drv_jit_end is called in any case. */
int drv_jit_begin(struct drv_jit *j, unsigned n, const int *options, void **values);
/* When the log is to be verbose: what kernels there are. */
void drv_jit_kernels(struct drv_jit *j, struct device_program *p);
/* Answer the logs and the time; may be called again. */
void drv_jit_give(struct drv_jit *j);
/* Free, without answering. */
void drv_jit_drop(struct drv_jit *j);
/* Both. */
void drv_jit_end(struct drv_jit *j);

/* ---- drv_load.c ---- */

/* Load an image (size 0: its headers say) in the current context, messages to jit. */
int drv_load_image(const void *image, size_t size, const char *name, struct drv_jit *jit,
		   struct drv_module **out);

/* PTX text, by its first bytes: other images begin with a number that no text has. */
bool drv_is_text(const char *image);
/*
 * The module that a library is on the device of program p, made when first asked for. NULL without
 * memory.
 */
struct drv_module *drv_library_module(struct rt_image *library, struct device_program *p);
/* Free a module's handle and those of its functions, and its program unless a library owns it. */
void drv_module_free(struct drv_module *m);
/* Free the modules that were loaded in a context. */
void drv_modules_free(const struct rt_context *c);
/*
 * The module's function for a kernel of its program, made when first asked for. NULL without
 * memory.
 */
struct rt_function *drv_module_function(struct drv_module *m, struct device_kernel *k);

/* ---- drv_stream.c ---- */

/*
 * The stream that a handle means, in the current context when it is a special one; own: NULL is
 * the thread's own default.
 */
struct stream *drv_stream(const void *handle, bool own, int *status);

/* ---- drv_green.c ---- */

/* The green context that a stream belongs to, NULL: none. */
const void *drv_green_of(const struct stream *s);

/* CUstreamBatchMemOpParams, 48 bytes. */
union drv_mem_op {
	u32 kind;
	struct {
		u32 kind;
		u64 address, value;
		u32 flags;
		u64 alias;
	} word;
	struct {
		u32 kind, flags;
	} plain;
	u64 pad[6];
};

struct mem_op drv_mem_op_read(const union drv_mem_op *o);
union drv_mem_op drv_mem_op_write(const struct mem_op *o);

/* ---- drv_copy.c ---- */

struct copy;
/* Read CUDA_MEMCPY3D. Returns an error number. */
int drv_copy_read(const void *params, struct copy *c);

/* ---- drv_launch.c ---- */

/* The parameter buffer that `extra` of a launch names. */
int drv_read_extra(void **extra, const void **packed, u32 *bytes);

#endif
