/*
 * Device profiles: what a GPU is, as data. fields.def lists what can be known, one .def per chip
 * gives numbers with their sources; users write profiles of their own in a text file with the same
 * keys. Nothing here changes after loading, so profiles are shared between threads without locks.
 * Code asks a field or a feature flag (a->has_cp_async); only this folder compares compute
 * capabilities.
 */
#ifndef PL_ARCH_H
#define PL_ARCH_H

#include "src/base/base.h"

struct diag;
struct diag_source;
struct text;

#define ARCH_LIST_MAX 64u
#define ARCH_SHAPES_MAX 8u
#define ARCH_DEVICES_MAX 64u

/* A list of integers; its order is that of the source. */
struct arch_list {
	u32 len;
	s32 at[ARCH_LIST_MAX];
};

/* Size of a matrix instruction: A is m x k, B is k x n. */
struct arch_shape {
	u16 m, n, k;
};

struct arch_shapes {
	u32 len;
	struct arch_shape at[ARCH_SHAPES_MAX];
};

enum arch_type { ARCH_INT, ARCH_SIZE, ARCH_BOOL, ARCH_TEXT, ARCH_LIST, ARCH_SHAPES };

enum arch_field {
#define ARCH_FIELD(group, name, type, unit, min, max, meaning) ARCH_FIELD_##name,
#include "src/arch/fields.def"
#undef ARCH_FIELD
	ARCH_FIELD_COUNT
};

/*
 * One profile. A member whose field is unknown is zero, false, empty or, for a text, NULL: ask
 * arch_is_known() where zero means something else.
 */
struct arch {
	/* chip or file name without suffix, lower case: the name `ptxloom devices` lists */
	const char *id;
	const char *parent;                   /* id of the profile it was derived from */
	const char *source[ARCH_FIELD_COUNT]; /* NULL: unknown */
#define ARCH_TYPE_INT s32
#define ARCH_TYPE_SIZE u64
#define ARCH_TYPE_BOOL bool
#define ARCH_TYPE_TEXT const char *
#define ARCH_TYPE_LIST struct arch_list
#define ARCH_TYPE_SHAPES struct arch_shapes
#define ARCH_FIELD(group, name, type, unit, min, max, meaning) ARCH_TYPE_##type name;
#include "src/arch/fields.def"
#undef ARCH_FIELD
#undef ARCH_TYPE_INT
#undef ARCH_TYPE_SIZE
#undef ARCH_TYPE_BOOL
#undef ARCH_TYPE_TEXT
#undef ARCH_TYPE_LIST
#undef ARCH_TYPE_SHAPES
};

/* What fields.def says about a field. */
struct arch_field_info {
	const char *group, *name, *unit, *meaning;
	enum arch_type type;
	s64 min, max;
	size_t offset; /* of the member in struct arch */
};

/* ---- Profiles and fields ---- */

/*
 * The built-in profile with this id or alias, in upper or lower case; NULL when there is none.
 * Never freed.
 */
const struct arch *arch_find(const char *name);
/* The i-th built-in profile, oldest chip first; NULL past the end. */
const struct arch *arch_nth(u32 i);
/* The default profile: the A100. */
const struct arch *arch_default(void);

const struct arch_field_info *arch_field_info(enum arch_field f);
/* The field of this name, or ARCH_FIELD_COUNT. `n`: length of the name. */
enum arch_field arch_field_find(const char *name, size_t n);

bool arch_is_known(const struct arch *a, enum arch_field f);
/*
 * Guide and section, "measured on an H200", or FILE:LINE of a user profile; NULL when the field is
 * unknown.
 */
const char *arch_source(const struct arch *a, enum arch_field f);

/*
 * Append the value as it is written in a user profile ("132", "true", "0 8 16", "m16n8k8");
 * "unknown" if it is.
 */
void arch_format(struct text *t, const struct arch *a, enum arch_field f);
/*
 * Append the value as JSON: number, true/false, string, array of numbers or strings; null if
 * unknown.
 */
void arch_format_json(struct text *t, const struct arch *a, enum arch_field f);

/*
 * Check every known value against the range of its field, and that values fit each other (a CTA's
 * shared memory is not more than the SM's, ...). Reports each violation as an error about `src`
 * (NULL: no location). Returns false when there was one.
 */
bool arch_check(const struct arch *a, const struct diag_source *src, struct diag *d);

/* ---- User profiles ---- */

/*
 * Load a profile from a file:
 *
 *     inherit = a100               # a built-in profile; first, and optional
 *     name = My GPU
 *     sms = 64                     # what follows the # becomes the source
 *
 * A value `unknown` makes a field unknown. Returns NULL after reporting located errors to d.
 * The caller owns the result: arch_free().
 */
struct arch *arch_load(const char *path, struct diag *d);
/* The same for a text in memory. */
struct arch *arch_parse(const struct diag_source *src, struct diag *d);
void arch_free(struct arch *a);
/* True when a device name means a file: it has a '/' or ends in ".profile". */
bool arch_name_is_path(const char *name, size_t n);

/* ---- Lists of devices ---- */

/* The devices of a machine, in order. Zeroed: empty. Loaded profiles are owned by the list. */
struct arch_devices {
	u32 len;
	const struct arch *at[ARCH_DEVICES_MAX];
	u32 owned_len, limited_len;
	struct arch *owned[ARCH_DEVICES_MAX];
	struct arch *limited[ARCH_DEVICES_MAX]; /* copies: their texts belong to the originals */
};

/*
 * Parse "a100", "8xv100", "a100,v100", "2xh100,t4", "2x./my.profile": entries separated by commas,
 * each a profile name or file with an optional count. Blanks around entries and counts do not
 * matter; "" is the default device. Returns false after reporting to d, `out` then being empty. The
 * caller calls arch_devices_fini().
 */
bool arch_devices_parse(struct arch_devices *out, const char *spec, struct diag *d);
void arch_devices_fini(struct arch_devices *devices);

/*
 * No device has more memory than this: profiles that say more are replaced by copies with less,
 * devices that were alike stay so. False: no memory.
 */
bool arch_devices_limit(struct arch_devices *devices, u64 bytes);

/* NVLink links between devices i and j of the list; 0: none, or different profiles, or i == j. */
u32 arch_devices_links(const struct arch_devices *devices, u32 i, u32 j);

/* ---- What tells devices of a machine apart: identity.c ---- */

#define ARCH_UUID_BYTES 16
/* "GPU-", 32 digits, four hyphens, NUL. */
#define ARCH_UUID_TEXT 41

/*
 * ARCH_UUID_BYTES that tell device `number` of a machine from all others, the same in every
 * process: made of that and of the profile's id.
 */
void arch_uuid(const struct arch *a, u32 number, u8 *out);
/* As tools print it; out: ARCH_UUID_TEXT. */
void arch_uuid_text(const u8 *uuid, char *out);
/* PCI bus of device `number`: one for each. */
u32 arch_pci_bus(u32 number);

/* ---- Device attributes by number ---- */

enum arch_answer {
	ARCH_ANSWER_VALUE,   /* *value is set */
	ARCH_ANSWER_UNKNOWN, /* the profile does not know */
	/* PCI address and the like: differs between devices of one profile */
	ARCH_ANSWER_PER_DEVICE,
	ARCH_ANSWER_NONE, /* no such attribute */
};

/* Highest attribute number there is. */
#define ARCH_ATTRIBUTE_MAX 147

/*
 * Value of the driver interface's device attribute `number`; sizes are limited to 2^31 - 1.
 */
enum arch_answer arch_attribute(const struct arch *a, int number, int *value);

/* ---- Occupancy ---- */

/* What a kernel needs of an SM. */
struct arch_use {
	u32 threads_per_cta;
	u32 registers_per_thread;
	u64 smem_bytes;       /* static and dynamic together */
	s32 carveout_percent; /* preferred part of shared memory, 0..100; -1: the largest */
};

/* Which resource ran out first. In a tie, the earlier one. */
enum arch_limiter {
	ARCH_LIMIT_NONE,
	ARCH_LIMIT_CTAS,
	ARCH_LIMIT_WARPS,
	ARCH_LIMIT_REGISTERS,
	ARCH_LIMIT_SMEM
};

struct arch_occupancy {
	u32 ctas;                /* active CTAs per SM, 0: the kernel cannot run */
	u32 warps;               /* active warps per SM */
	u64 smem_carveout_bytes; /* shared memory of the SM that was assumed */
	enum arch_limiter limiter;
};

/*
 * Active CTAs per SM. False when the profile lacks a field this needs; *out is then zero. A
 * carveout too small for one CTA is raised to the smallest step that holds one, as the driver does.
 * Source: rules of the CUDA occupancy calculator; every step measured on an H200
 * (tests/vectors/occupancy_gh100.tsv, tests/vectors/carveout_gh100.tsv).
 */
bool arch_occupancy(const struct arch *a, const struct arch_use *use, struct arch_occupancy *out);

/*
 * Shared memory that an SM is set to for launches of this kernel, in *bytes: a step of
 * smem_carveouts_kib; what is left of the storage is L1. use->carveout_percent: -1: no preference.
 * False when the profile lacks a field this needs; *bytes is then 0.
 * Source: 351 launches on an H200 (tests/vectors/smem_config_gh100.tsv); assumed for other chips.
 * Deviation: one of them, 128 threads and 128 bytes, differs by a step.
 */
bool arch_smem_config(const struct arch *a, const struct arch_use *use, u64 *bytes);

/*
 * The CTA size with the highest occupancy, the largest of equals, at most `limit` threads (0: no
 * limit), and the grid that fills the device with it. use->threads_per_cta is ignored.
 */
bool arch_best_cta(const struct arch *a, const struct arch_use *use, u32 limit, u32 *threads,
		   u32 *grid_ctas);

/*
 * Most dynamic shared memory per CTA with which `ctas` CTAs still fit an SM; use->smem_bytes is the
 * static part. Returns false when that many CTAs do not fit at all.
 * Deviation: like the driver measured, the system's reserved bytes are not subtracted.
 */
bool arch_available_smem(const struct arch *a, const struct arch_use *use, u32 ctas, u64 *bytes);

#endif
