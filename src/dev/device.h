/*
 * Devices, programs and launches: what both CUDA interfaces, the C API and the command build on.
 *
 * A device is a profile with memory and a pool of workers, which devices of one process share. A
 * program is one PTX text, or several linked together, loaded on a device: its variables have
 * addresses there. A kernel is lowered at its first launch. Everything here may be called from
 * several threads at once.
 */
#ifndef PL_DEV_DEVICE_H
#define PL_DEV_DEVICE_H

#include "src/base/map.h"
#include "src/lower/lower.h"
#include "src/dev/host_trace.h"
#include "src/dev/status.h"
#include "src/host/syscall.h"
#include "src/ir/ir.h"
#include "src/sched/sched.h"

/* ---- settings: device.c ---- */

struct device_settings {
	struct sched_options sched;
	bool async_eager; /* asynchronous copies complete where they are issued, not as late as they
			     may (PTXLOOM_ASYNC=eager) */
	/* level of the handlers (PTXLOOM_HOST_ISA), NULL: the best of this host */
	const char *host_isa;
	u64 memory_bytes; /* that a device has at most (PTXLOOM_MEMORY), 0: its profile's */
	u64 weak;         /* seed of weak memory (PTXLOOM_WEAK), 0: memory is not weak */
	u32 checks;       /* enum check, as a mask (PTXLOOM_CHECK) */
	const char *host_functions; /* as in struct device (PTXLOOM_HOST_FUNCTIONS) */
};

/*
 * Read what the environment sets (setting.def). What is not set stays as it is. Returns false with
 * a message in `why` when any PTXLOOM_ variable has an unknown name or an invalid value.
 */
bool device_settings_read(struct device_settings *s, struct text *why);
/*
 * The same for the schedule that launches follow (PTXLOOM_SCHEDULE), before the pool is made, which
 * owns it then.
 */
bool device_schedule_read(struct device_settings *s, struct text *why);
/* May launches run compiled code (PTXLOOM_TIER)? */
bool device_compiles(void);
/* To be called before other handlers of forks are registered: locks of devices are taken last. */
void device_watch_forks(void);

/* ---- devices: device.c ---- */

struct device_flight;
struct texref;
struct texture_store;
struct device_kernel;
struct device_params;
struct device_program;
struct device_places;
struct recorder;
struct streams;
struct stream_device;
struct copy_fault;

/*
 * Stack of a thread at first. More than CUDA's 1 KiB: the C interface and the shell have no
 * call to raise it.
 */
#define DEVICE_STACK_BYTES (16u << 10)
#define DEVICE_STACK_LIMIT 1024u

/* A launch that has ended, well or not. */
struct device_ended {
	const struct device_kernel *kernel;
	const u32 *grid, *block;
	u32 dynamic_bytes;
	u64 ns; /* from its start */
};

struct device {
	const struct arch *arch; /* borrowed */
	struct sched_pool *pool; /* borrowed */
	const struct exec_ops *ops;
	struct mem mem;
	pthread_mutex_t lock;
	pthread_cond_t idle;
	u64 running;        /* launches under way */
	u64 *running_shown; /* where others see that; NULL: nowhere. Set before the first launch */
	u64 grids;          /* launches so far */
	bool async_eager;   /* as in device_settings; false at first */
	u32 fetch_bytes;    /* of the second cache (cudaLimitMaxL2FetchGranularity); 0: not set */
	u32 stack_bytes;    /* per thread, for recursion and alloca */
	u32 stack_limit;    /* cudaLimitStackSize, which may be less than there is */
	/* What kernels may call: print and user are the API layer's to set, before the first
	 * launch. */
	struct exec_syscalls syscalls;
	u32 number, count;                 /* which device of how many: for kernels that ask */
	struct map texts;                  /* of errors, in the device's memory */
	struct texture_store *textures;    /* src/dev/texture/texture.h */
	struct texref *texrefs;            /* src/dev/texture/texref.h; guarded by lock */
	const struct exec_extern *externs; /* further functions that kernels may call; NULL: none */
	/*
	 * Functions of the host that programs loaded from now on may call: lower_options. Borrowed.
	 */
	const char *host_functions;
	struct device_flight *spare; /* launches that have ended, for reuse */
	struct device_params *spare_params;
	struct stream_device *streams; /* NULL: launches have no order (stream.h) */
	/*
	 * Called for accesses outside allocations that were let pass (struct mem: strict), and for
	 * fetches outside of textures of strict memory, by any thread. from: the launch. Set before
	 * the first launch; NULL: none is wanted.
	 */
	void (*on_overrun)(const struct device_kernel *k, const struct program *p,
			   const struct fault *f, struct host_from from);
	/* Called after each launch; set before the first one. NULL: none is wanted. */
	void (*on_end)(const struct device *d, const struct device_ended *e);
	/*
	 * Called, on any thread, when a copy or a launch meets memory of the host that is not there
	 * (src/dev/memory/copy.h). NULL: none is wanted.
	 */
	void (*on_copy_fault)(const struct device *d, const struct copy_fault *fault);
	/*
	 * Called when a program has been loaded and before it is unloaded, on any thread. Set
	 * before the first one; NULL: not called.
	 */
	void (*on_program)(void *user, const struct device_program *p, bool loaded);
	void *on_program_user;
	/*
	 * Gets reports of what launches do (src/exec/observer.h). Set before the first program is
	 * loaded.
	 */
	const struct exec_observer *observer;
	/*
	 * Instead of it for kernels of programs with several shared variables, which are lowered
	 * `apart` then (lower.h). NULL: there is none.
	 */
	const struct exec_observer *observer_apart;
	/* Kernels are lowered with `copies` (lower.h). Set with `observer`. */
	bool tells_callers;
	/*
	 * Is a launch of the kernel with this name for these two? NULL: all are. observer_rest gets
	 * the others; NULL: none does. Set with `observer`.
	 */
	bool (*is_observed)(void *user, const char *kernel);
	void *is_observed_user;
	const struct exec_observer *observer_rest;
	/*
	 * Launches that `has` chooses get these observers in place of the three above, which they
	 * stand for, too. tag: what `tag` answered on the thread that issued the launch, at that
	 * time; NULL: it is not set. `has` NULL: none are chosen.
	 */
	struct {
		bool (*has)(void *user, const char *kernel, const void *tag);
		const void *(*tag)(void *user);
		void *user;
		const struct exec_observer *observer, *apart, *rest;
	} counted;
	/*
	 * May end a launch with an error: is_start, where it begins, which is then a fault of the
	 * device; else where the host asks for it. On any thread, without locks held; set before
	 * the first launch. NULL: nothing does.
	 */
	enum status (*on_launch)(void *user, const struct device_kernel *k, bool is_start);
	void *on_launch_user;
	/*
	 * What programs loaded from now on count (enum lower_count); and called with it when a
	 * launch ends, on any thread, before that is reported. Set before the first program.
	 */
	u8 counts;
	bool reads_code; /* programs loaded from now on know what machine code beside them says */
	void (*on_counts)(void *user, const struct program *p, const struct exec_count *counts);
	void *on_counts_user;
	struct recorder *recorder;    /* of launches (src/dev/record/record.h); NULL: none */
	struct device_places *places; /* for the variables of the next program; NULL: anywhere */
};

/* Addresses that variables had before, in the order in which programs place them. */
struct device_places {
	const u64 *at;
	size_t len, used;
};

/* Where a device's memory is in the process; borrowed. */
struct device_home {
	struct mem_system *system;
	u32 index;
};

/*
 * Set up a device. ops: exec_ops_select. home: NULL for a device whose memory is its own and open
 * to the host. Returns STATUS_SUCCESS, or STATUS_OUT_OF_MEMORY when the
 * host gives no address space. The caller owns the storage.
 */
enum status device_init(struct device *d, const struct arch *arch, struct sched_pool *pool,
			const struct exec_ops *ops, const struct device_home *home);
/* All programs must have been unloaded. Waits for launches. */
void device_fini(struct device *d);
/* Wait until no launch is under way. */
void device_wait(struct device *d);

/* ---- programs: program.c, program_image.c, kernel.c ---- */

struct device_param {
	const char *name;
	u32 type;        /* T_ of isa.h of a scalar, or of the elements of an array */
	bool is_array;   /* a structure passed by value */
	bool is_pointer; /* declared .ptr */
	u32 offset, bytes, align;
};

/* What the static one leaves of the memory that a CTA has without opting in. */
#define DEVICE_DYNAMIC_PLAIN UINT32_MAX
/* The device whose memory this is. */
struct device *device_of_mem(struct mem *m);

/* Static shared memory is counted in steps. */
#define DEVICE_SHARED_STEP 16u

struct device_kernel {
	struct device_program *owner;
	const struct ir_module *unit;
	const struct ir_func *func;
	u32 unit_index;
	u32 param_len, param_bytes;
	struct device_param *params;
	/* Dynamic shared memory a launch may ask for, or DEVICE_DYNAMIC_PLAIN. */
	u32 max_dynamic_bytes;
	/* Clusters larger than every chip allows (a function attribute); off at first. */
	bool nonportable_cluster;
	u32 cluster_required[3]; /* of every launch (function attributes); zeros: not set */
	s32 carveout_percent;    /* of shared memory asked for, -1: as the driver likes */
	s32 cluster_policy;      /* kept; no scheduling comes of it */
	struct device_kernel *next;
	void *user; /* of the API layer, in the program's arena; guarded by owner->lock */
	const struct device_code *code; /* NULL: not known */
	/* The last answer of device_kernel_occupancy's rules; guarded by the device's lock. */
	struct {
		u32 threads, dynamic_bytes, ctas;
	} occupancy;
	/* Below: guarded by owner->lock. Programs by gang size; [0] is not used. */
	struct program *lowered[GANG_WARPS + 1];
	struct exec_needs needs;
	bool has_needs;
};

/* A unit's PTX text; the program takes over the memory `owned`, NULL: borrowed. */
struct device_text {
	const char *name;
	const char *text;
	size_t size;
	void *owned;
	/*
	 * Bodies of its functions may be read when kernels that need them are asked for: errors in
	 * them show then. Of a program of one text.
	 */
	bool later;
};

/* What machine code beside the PTX says of a kernel. */
struct device_code {
	const char *name;
	u32 bytes, registers, constant_loads;
};

struct device_program {
	struct device *dev;
	u32 len;
	struct ir_module **units;
	struct exec_unit *exec_units; /* the same as lowering wants them */
	struct diag_source *sources;
	char **names;
	void **owned;
	u64 **address;  /* of every variable of each unit, 0: none */
	size_t *placed; /* of those how many there were when it was loaded: later ones have none */
	struct arena arena;
	pthread_mutex_t lock;
	struct device_kernel *kernels; /* those asked for so far */
	VEC(u64) allocations;          /* of variables, in the order of units */
	VEC(struct device_code)
	codes;     /* with device.reads_code: by kernel; names are in the arena */
	u32 given; /* units that were loaded; those after them are built in */
	enum ir_link_mode mode;
	bool told; /* device.on_program knows of it */
	/*
	 * What is left to be read of the first unit; NULL: nothing is. Guarded by lock, as are its
	 * names. What is wrong with it is told to the sink that loading told.
	 */
	struct ptx_later *later;
	void (*sink)(void *user, const struct diag_message *m);
	void *sink_user;
	u32 error_limit;
};

/*
 * Load texts as one program. Takes over what they own, also when it fails. Messages go to `d`.
 * Returns STATUS_INVALID_PTX when a text is wrong or they do not link, of parts STATUS_UNKNOWN when
 * these do not link, STATUS_OUT_OF_MEMORY.
 */
enum status device_program_load(struct device *dev, const struct device_text *texts, u32 len,
				enum ir_link_mode mode, struct diag *d,
				struct device_program **out);
/*
 * Load the PTX of an image: PTX text, fat binary, cubin, object, library or executable of `size`
 * bytes; size 0: as a program hands it over, sizes are in its headers. The image is borrowed during
 * the call only. STATUS_NO_BINARY_FOR_GPU when it holds no PTX for the device, STATUS_INVALID_IMAGE
 * when it is not one.
 */
enum status device_program_load_image(struct device *dev, const void *image, size_t size,
				      const char *name, struct diag *d,
				      struct device_program **out);
/*
 * The same for an image that came with a program or library, from a compiler: of a large one the
 * bodies of functions are read when kernels that need them are asked for, unless an observer, a
 * debugger or coverage wants all of the program.
 */
enum status device_program_load_registered(struct device *dev, const void *image, size_t size,
					   const char *name, struct diag *d,
					   struct device_program **out);
/*
 * The PTX texts of an image that device_program_load_image would load. *texts is to be freed, and
 * what they own. Errors as there.
 */
enum status device_image_texts(struct device *dev, const void *image, size_t size, const char *name,
			       struct diag *d, struct device_text **texts, u32 *len);
/*
 * Would these texts link, as parts of one program? What is missing or defined twice is reported.
 */
bool device_texts_link(const struct device_text *texts, u32 len, struct diag *d);
/*
 * Whether the driver would take an image, for callers that answer as it does: PTX text for a newer
 * device than this one or a newer PTX ISA than is known is refused with STATUS_INVALID_PTX or
 * STATUS_UNSUPPORTED_PTX_VERSION and a message. Fat binaries choose for themselves.
 */
enum status device_image_check(struct device *dev, const void *image, size_t size, const char *name,
			       struct diag *d);
/*
 * Does every instruction of the program mean something? Those that do not fail when they are
 * executed; a caller that refuses them at once asks here. Reports the first as an error.
 * Texts of a newer PTX ISA than is known are not judged.
 */
bool device_program_is_whole(const struct device_program *p, struct diag *d);
/* None of its kernels may be running. NULL is allowed. */
void device_program_unload(struct device_program *p);
/*
 * The kernel of this name, NULL: none, or it was to be read now and is wrong. Stays valid as long
 * as the program.
 */
struct device_kernel *device_program_kernel(struct device_program *p, const char *name);
/* Is there a kernel of this name, which device_program_kernel cannot give? */
bool device_program_has_bad(struct device_program *p, const char *name);
/* The n-th kernel in the order of the texts, NULL past the end. */
struct device_kernel *device_program_nth(struct device_program *p, u32 n);
/* How many kernels there are. */
u32 device_program_kernels(const struct device_program *p);
/* Address and size of a global or constant variable. */
bool device_program_variable(struct device_program *p, const char *name, u64 *address, u64 *bytes);
/* Is there a managed variable of this name? */
bool device_program_is_managed(const struct device_program *p, const char *name);
/*
 * The kernel lowered for CTAs of `threads`. NULL: no memory, with a message on d (may be NULL).
 */
const struct program *device_kernel_lower(struct device_kernel *k, u32 threads, struct diag *d);
/* What it needs, without lowering what it calls; kept. False: no memory. */
bool device_kernel_needs(struct device_kernel *k, struct exec_needs *out);

/* ---- launches: launch.c ---- */

struct device_launch {
	struct device_kernel *kernel;
	u32 grid[3], block[3];
	/* CTAs of a cluster (the launch attribute; a zero beside others counts as 1); zeros: as the
	 * kernel says. */
	u32 cluster[3];
	u32 dynamic_bytes; /* of shared memory */
	bool cooperative;
	bool programmatic; /* it may begin before the kernel before it in the stream has ended */
	bool may_inline;   /* run on the calling thread while that is short */
	/* One of the two: pointers to the values, in order; or the parameter block as the kernel
	 * sees it. */
	void *const *args;
	const void *packed;
	u32 packed_bytes;
	const void *name; /* what the program calls the kernel, for captured graphs; may be NULL */
	struct host_from from; /* the call, for messages */
	u64 context;           /* number of the context that it is made in; 0: there is none */
};

/*
 * The parameter block of a launch that has it packed. It may be shorter than the kernel's, as
 * NCCL's are: the rest is zeros.
 */
static inline void device_launch_unpack(const struct device_launch *l, void *to)
{
	u32 n = l->kernel->param_bytes, given = l->packed_bytes < n ? l->packed_bytes : n;

	if (given)
		memcpy(to, l->packed, given);
	if (n > given)
		memset((u8 *)to + given, 0, n - given);
}

/* A fault as people want to see it. Strings live as long as the structure says. */
struct device_fault {
	enum fault_kind kind;
	enum status status;
	const char *kernel, *function; /* mangled, valid while the program is loaded; "": unknown */
	struct host_from from;         /* the launch */
	bool is_unobserved;            /* it was not for the device's observer */
	u32 ctaid[3], thread[3];
	const char *ptx_name; /* of the text, valid while the program is loaded */
	u32 ptx_line;         /* 0: unknown */
	char source[512];     /* file of the .loc directive, empty: none */
	u32 source_line;
	u64 address;
	u32 bytes;
	u8 space;
	bool has_address, write;
	bool is_read_only;   /* there is memory, which the device may not write */
	bool is_denied;      /* by the program's own words (src/mem/marks.h) */
	const char *access;  /* static: "read", "write", "atomic"; NULL: there is no address */
	struct text message; /* several lines, the last one ends with \n */
	/* Parts of it: lines about the place, the launch, waiting threads; the address in words */
	struct text where, launch, waiters, whereabouts;
	/* Where threads wait, as data; valid while the fault is reported. */
	const struct program *program;
	const struct sched_end *end;
};

/*
 * How a launch ended: STATUS_SUCCESS and NULL, or the fault's status and the fault, valid during
 * the call. Called once, by any thread, without locks held.
 */
typedef void device_done(void *user, enum status status, const struct device_fault *fault);

/*
 * Check a launch as CUDA does and start it. STATUS_SUCCESS: it is under way or over, `done` has
 * been or will be called. Else nothing has happened: STATUS_INVALID_VALUE (sizes),
 * STATUS_LAUNCH_OUT_OF_RESOURCES, STATUS_COOPERATIVE_LAUNCH_TOO_LARGE, STATUS_INVALID_CLUSTER_SIZE
 * (not what the kernel demands, more than the device allows, or no divisor of the grid),
 * STATUS_OUT_OF_MEMORY.
 * Parameters are copied. Launches have no order; callers that want one wait.
 */
enum status device_launch(const struct device_launch *l, device_done *done, void *user);
/*
 * Add to `out` why device_launch refused `l` with this status, without a full stop: "the block has
 * 2000 threads in dimension x, the device allows 1024". The status's own text where there is no
 * more, or the launch has no kernel.
 */
void device_launch_explain(const struct device_launch *l, enum status status, struct text *out);
/* The same as a message: "the launch of NAME is refused: the block has ..". It has a kernel. */
void device_refusal_describe(const struct device_launch *l, enum status status, struct text *out);

/* Dynamic shared memory that a launch of the kernel may ask for beside what it has. */
u32 device_kernel_dynamic_max(const struct device_kernel *k, u32 shared_static);
/* Bytes of static shared memory as they are counted. */
static inline u32 device_shared_counted(u32 shared_static)
{
	return (u32)align_up(shared_static, DEVICE_SHARED_STEP);
}
/* CTAs of this size that an SM holds at once; 0: it cannot run. */
u32 device_kernel_occupancy(struct device_kernel *k, u32 threads, u32 dynamic_bytes);

struct exec_env;

/* What a launch that begins is, for observers. */
struct device_look {
	const struct device_kernel *kernel;
	const struct program *program;
	u64 context, stream;  /* numbers; 0: it is in none */
	u64 parent;           /* grid_id of the grid that has launched it; 0: the host has */
	const void *tag;      /* as in struct device: counted */
	u32 registers;        /* of a thread, as occupancy takes them */
	bool registers_given; /* the kernel or its machine code says so */
	u32 static_shared, dynamic_shared, resident;
	const struct device_code *code; /* NULL: not known */
};

/* env: of a launch of a device, during its exec_observer.narrow. */
void device_look_at(const struct exec_env *e, struct device_look *out);

/* ---- clusters: cluster.c ---- */

/*
 * The largest cluster that a launch of this kernel may ask for, 0: not even one CTA fits.
 * STATUS_NOT_SUPPORTED: the device has no clusters.
 */
enum status device_kernel_max_cluster(struct device_kernel *k, const u32 *block, u32 dynamic_bytes,
				      u32 *out);
/*
 * How many clusters of this launch the device holds at once. Its grid, arguments and flags but for
 * the sizes are not checked further. Errors as device_launch, and STATUS_NOT_SUPPORTED.
 */
enum status device_kernel_active_clusters(const struct device_launch *l, u32 *out);

/* ---- faults: fault.c ---- */

/*
 * Put a fault of a launch from there into words; out is to be freed with
 * device_fault_fini.
 */
void device_fault_describe(const struct device_kernel *k, const struct program *p,
			   const struct sched_end *end, struct host_from from,
			   struct device_fault *out);
void device_fault_fini(struct device_fault *f);
/* The same for an access outside allocations that was let pass. */
void device_overrun_describe(const struct device_kernel *k, const struct program *p,
			     const struct fault *f, struct text *out);
/* Where the threads of a launch are that goes on: for the report that sched_census has made. */
void device_census_describe(const struct device_kernel *k, const struct program *p,
			    const struct sched_progress *progress, const struct sched_end *end,
			    struct host_from from, struct text *out);
/*
 * The line of the source that a record comes of, as a number that differs for others; without lines
 * the record's.
 */
u64 device_line_key(const struct program *p, u32 pc);
/* What has happened, in one line without its end: "Invalid address: global read of 4 bytes". */
void device_fault_headline(const struct fault *f, const struct program *p, struct text *t);
/* "Invalid address"; for messages. */
const char *device_fault_name(enum fault_kind kind);
/* In one word, for tests: "out_of_bounds"; NULL: FAULT_NONE, or past the last. */
const char *device_fault_rule(enum fault_kind kind);

#endif
