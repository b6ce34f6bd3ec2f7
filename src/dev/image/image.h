/*
 * Module images: the PTX and SASS that CUDA compilers put into executables, libraries, objects,
 * archives, fat binaries and cubins. This header finds them, decompresses them, picks one for a
 * device and writes new fat binaries. It does not parse PTX beyond the names and parameters of
 * kernels.
 *
 * A "container" is one fat binary: the images of one translation unit (or one device link) for
 * several targets. Exactly one image of a container is meant to be used. A bare cubin or PTX text
 * counts as a container of one image.
 */
#ifndef PL_DEV_IMAGE_H
#define PL_DEV_IMAGE_H

#include "src/base/arena.h"
#include "src/base/diag.h"
#include "src/base/vec.h"

struct arch;

/* Largest decompressed image that is accepted. */
#define IMAGE_RAW_MAX ((u64)1 << 30)

/* The numbers are those of the container format. */
enum image_kind {
	IMAGE_PTX = 1,
	IMAGE_SASS = 2, /* a cubin: ELF for EM_CUDA */
	IMAGE_LTO = 8,  /* NVVM intermediate code for link-time optimisation; listed, never read */
};

/* Other: the packing of link-time code, which nothing here reads. */
enum image_codec { IMAGE_PLAIN, IMAGE_LZ4, IMAGE_ZSTD, IMAGE_OTHER };

enum image_result {
	IMAGE_OK,
	IMAGE_NONE, /* nothing of the kind asked for; no message was given */
	IMAGE_BAD,  /* damaged input or no memory; one error was reported */
};

/*
 * sm_90a is {90, 'a'}; suffix 0: runs on sm and above, 'a': on that sm alone, 'f': on its family.
 */
struct image_target {
	u32 sm;
	char suffix;
};

/* One image. All pointers lead into the memory that was searched: nothing is copied. */
struct image {
	enum image_kind kind;
	enum image_codec codec;
	struct image_target target;
	u16 isa_major, isa_minor; /* PTX ISA version, or ELF ABI version of SASS; 0.0 unknown */
	bool debug;               /* compiled with -G */
	u32 container;            /* index into image_list.containers */
	const u8 *data;           /* payload as stored, `stored_bytes` long */
	u64 stored_bytes;
	u64 raw_bytes;       /* as the container says; may include the NUL after PTX */
	u64 offset;          /* of `data` in the file or memory block searched */
	const char *options; /* ptxas options, not NUL-terminated; NULL: none */
	u32 options_len;
	const char *source; /* source file name, not NUL-terminated; NULL: none */
	u32 source_len;
};

struct image_container {
	u64 offset;         /* of its header in the file or memory block searched */
	const char *member; /* name of the archive member it lies in; NULL: none */
	u32 first, count;   /* its images */
};

/*
 * All images of one file or one registered binary. Owned by the caller of image_list_init; used
 * by one thread at a time. The memory searched is borrowed and must outlive the list.
 */
struct image_list {
	struct diag *diag;         /* receives the errors; borrowed */
	struct diag_source source; /* the name that errors carry */
	const u8 *base;            /* offsets count from here */
	const char *member;        /* the archive member being searched */
	struct arena arena;        /* member names */
	VEC(struct image) images;
	VEC(struct image_container) containers;
	bool linked; /* the first container is what linking made of the others */
};

void image_list_init(struct image_list *l, struct diag *diag, const char *name);
void image_list_fini(struct image_list *l);

enum {
	IMAGE_SCAN = 1
}; /* look for containers in all bytes, not only in the sections meant for them */

/*
 * Find the images in `size` bytes: an ELF file of any machine, an archive, a fat binary, a cubin
 * or PTX text. Only headers are read. May be called once per list.
 * Returns IMAGE_NONE when the bytes are none of these, or hold no image; after IMAGE_BAD the list
 * holds what was found before the damage.
 */
enum image_result image_list_add(struct image_list *l, const void *data, size_t size, u32 flags);

/*
 * The same for a pointer without size, as programs hand over at run time: a fat binary wrapper, a
 * fat binary, a cubin or NUL-terminated PTX text, told apart by their first bytes. Sizes are
 * taken from the headers, so the memory must be what it claims to be. A wrapper of version 2 adds
 * the linked container first and then one container per translation unit. The linked one has
 * machine code; its PTX is in the units, each of which is to be selected from and then linked.
 */
enum image_result image_list_add_pointer(struct image_list *l, const void *code);

/* Bytes that are either borrowed from the memory searched or owned. */
struct image_bytes {
	const u8 *data;
	size_t size;
	void *owned;
};

void image_bytes_fini(struct image_bytes *b);

/* The image decompressed. Plain images are not copied. Returns IMAGE_NONE for LTO code. */
enum image_result image_read(const struct image_list *l, const struct image *img,
			     struct image_bytes *out);

/*
 * A PTX text of an image, without the NUL after it. A PTX image has one text, number 0. A cubin
 * has those that -lineinfo and -G leave in its debug sections: one, or after a device link one
 * per unit, to be linked again. IMAGE_NONE: there is no text `number`.
 */
enum image_result image_read_ptx(const struct image_list *l, const struct image *img, u32 number,
				 struct image_bytes *out);

/* How many PTX texts a decompressed cubin carries. */
u32 image_cubin_ptx_count(const u8 *data, size_t size);

/* How well the chosen image fits the device. */
enum image_match {
	IMAGE_MATCH_EXACT,
	IMAGE_MATCH_BELOW, /* compiled for a lower target: the usual forward compatibility */
	IMAGE_MATCH_ABOVE, /* for a higher one: no GPU would take it; worth a log line */
};

struct image_choice {
	u32 image; /* index into image_list.images */
	enum image_match match;
};

/*
 * Choose the image of one container whose PTX runs on device `sm` (80 for compute capability
 * 8.0). PTX images come first; cubins with PTX in their debug sections are used when there is no
 * PTX image. The rule is image_match_target's; equal targets: the higher PTX ISA version, then
 * the first.
 */
enum image_result image_select(const struct image_list *l, u32 container, u32 sm,
			       struct image_choice *out);

/*
 * 0: does not run on device `sm`; else the higher the better. The highest target not above `sm`
 * wins, at one target a before f before plain; without such a one the lowest plain target above.
 */
u32 image_match_target(struct image_target target, u32 sm, enum image_match *match);

/*
 * Say why a container (UINT32_MAX: the whole list) has no PTX for device `sm` (0: any), naming
 * the nvcc option to add. `what` gets the message; the return value is its hint, valid while
 * `hint` lives.
 */
void image_explain_no_ptx(const struct image_list *l, u32 container, u32 sm, struct text *what,
			  struct text *hint);

/*
 * Append "compute_80, compute_90a": targets of the images of one kind, each once, in a container
 * (UINT32_MAX: in the list). Returns how many there are.
 */
u32 image_list_targets(const struct image_list *l, u32 container, enum image_kind kind,
		       struct text *out);

#define IMAGE_SUITS_MAX 32u

/* How many containers do not suit the built-in devices, by their number (arch_nth). */
struct image_suits {
	u32 refused[IMAGE_SUITS_MAX]; /* no PTX that runs there */
	u32 newer[IMAGE_SUITS_MAX];   /* it runs, but was compiled for newer ones only */
};

/*
 * Add the containers of a list. Those without a PTX image count only if their cubins have PTX,
 * which needs decompressing: of *cubins containers at most, which becomes less.
 */
void image_suits_add(struct image_suits *s, const struct image_list *l, u32 *cubins);
/* The built-in device that suits them best; NULL: none suits them better than this one. */
const struct arch *image_suits_better(const struct image_suits *s, const struct arch *than);

/* A kernel parameter. The strings lead into the text scanned. */
struct image_param {
	const char *name, *type; /* type with its dot: ".u64" */
	u32 name_len, type_len;
	u32 align;         /* bytes; that of the type when the text gives none */
	u64 elements;      /* of an array; 0: a scalar */
	u64 bytes;         /* size of the whole parameter; 0: unknown type */
	const char *space; /* ".global" of `.ptr .global`; "" for `.ptr` alone; NULL: no .ptr */
	u32 space_len;
};

struct image_kernel {
	const char *name;
	u32 name_len;
	bool has_params; /* false in cubins, where parameters are not listed */
	u32 param_count;
	const struct image_param *params;
};

struct image_kernels {
	struct arena arena;
	VEC(struct image_kernel) list;
};

/*
 * Kernels of decompressed bytes, in their order: image_scan_ptx of PTX text, image_scan_cubin of
 * a cubin. Both return false only without memory; damaged input gives the kernels that can be
 * seen. PTX ISA, "Kernel and Function Directives: .entry".
 */
bool image_scan_ptx(const char *text, size_t size, struct image_kernels *out);
bool image_scan_cubin(const u8 *data, size_t size, struct image_kernels *out);
void image_kernels_fini(struct image_kernels *k);

/* What the machine code of a kernel is like. */
struct image_code {
	const char *name; /* leads into the bytes scanned */
	u64 bytes;
	u32 registers;      /* of a thread; 0: not known */
	u32 constant_loads; /* instructions that load parameters which are no operands */
};

/* Calls `add` for each kernel and function with code in a decompressed cubin. */
void image_scan_code(const u8 *data, size_t size,
		     void (*add)(void *user, const struct image_code *c), void *user);
/* The machine code of a container that device `sm` would run; false: there is none. */
bool image_select_code(const struct image_list *l, u32 container, u32 sm, u32 *image);

/* "compute_90a", "sm_80" or "lto_80" into out; returns out. */
char *image_target_name(const struct image *img, char out[24]);
/* Read "sm_80", "compute_90a", "80" or "90a". */
bool image_target_parse(const char *s, struct image_target *out);
const char *image_kind_name(enum image_kind kind);    /* "PTX", "SASS", "LTO" */
const char *image_codec_name(enum image_codec codec); /* "plain", "lz4", "zstd", "other" */

/* An image to write. */
struct image_spec {
	enum image_kind kind; /* IMAGE_PTX or IMAGE_SASS */
	enum image_codec codec;
	struct image_target target;
	u16 isa_major, isa_minor;
	bool debug;
	const char *options, *source; /* NULL: none */
	const void *data;             /* PTX without its NUL, or a cubin */
	size_t size;
};

/*
 * Append one container with these images to `out`. Returns false without memory; `out` is then
 * unusable.
 */
bool image_write(struct text *out, const struct image_spec *specs, size_t count);

/*
 * Append a cubin for `sm` without machine code that carries PTX texts as debug builds do, one unit
 * each, to be linked when it is loaded. Returns false without memory; `out` is then unusable.
 */
bool image_write_cubin(struct text *out, const struct image_bytes *texts, size_t count, u32 sm);

#endif
