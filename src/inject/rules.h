/*
 * Rules of fault injection, as PTXLOOM_INJECT holds them: which calls, launches and instructions
 * are to go wrong, and how. docs/inject.md describes the language. This folder reads and checks
 * rules; what they do is done by the CUDA libraries, runtime/inject.h.
 */
#ifndef PL_INJECT_RULES_H
#define PL_INJECT_RULES_H

#include "src/base/diag.h"
#include "src/base/vec.h"

enum inject_act {
	INJECT_ERROR, /* the call, or the launch, answers this */
	INJECT_FAULT, /* the launch ends with a fault instead of running */
	INJECT_FLIP,  /* bits of memory, or of the result of an instruction */
	INJECT_LOST,  /* the device answers nothing else any more */
	INJECT_DELAY, /* the call, or what it puts into a stream, takes longer */
	INJECT_RATE,  /* the same, by the bytes that it moves */
	INJECT_COUNT, /* nothing changes: how many instructions there are is said */
};

/* Which bits of a result, the models of NVBitFI; or one bit, also of a byte in memory. */
enum inject_flip { FLIP_ONE, FLIP_TWO, FLIP_RANDOM, FLIP_ZERO, FLIP_BIT };

/* Which instructions, the groups of NVBitFI: by what they compute, or where they leave it. */
enum inject_group { GROUP_ALL, GROUP_FP64, GROUP_FP32, GROUP_LD, GROUP_PR, GROUP_GP };

enum inject_dir { DIR_H2H, DIR_H2D, DIR_D2H, DIR_D2D, DIR_UNKNOWN };

/* The conditions of a rule, a bit for each that it has. */
enum inject_when {
	WHEN_CALL = 1 << 0,
	WHEN_NTH = 1 << 1,
	WHEN_BYTES = 1 << 2,
	WHEN_PROB = 1 << 3,
	WHEN_SEED = 1 << 4,
	WHEN_DIR = 1 << 5,
	WHEN_DEVICE = 1 << 6,
	WHEN_KERNEL = 1 << 7,
	WHEN_LAUNCH = 1 << 8,
	WHEN_ALLOC = 1 << 9,
	WHEN_BYTE = 1 << 10,
	WHEN_INST = 1 << 11,
	WHEN_GROUP = 1 << 12,
};

/* From lo to hi, both included. */
struct inject_range {
	u64 lo, hi;
};

struct inject_rule {
	u32 when;     /* enum inject_when */
	char *call;   /* a pattern of fnmatch(3); NULL: it is about launches */
	char *kernel; /* likewise; NULL: any */
	struct inject_range nth, launch, bytes;
	double prob; /* of the calls that fit, this part */
	u64 seed;
	u64 alloc, byte; /* the n-th allocation, from 1; from its beginning */
	u64 inst;        /* from 1; 0: drawn */
	u32 device;
	u8 dir, group;     /* enum inject_dir, inject_group */
	u8 act;            /* enum inject_act */
	u8 flip;           /* enum inject_flip */
	u8 bit;            /* FLIP_BIT */
	bool ecc;          /* the flip is found, and cannot be corrected */
	int status;        /* of an error, a fault, a lost device */
	const char *fault; /* static: its word */
	u32 xid;           /* of a lost device */
	u64 ns;            /* of a delay */
	u64 rate;          /* bytes a second */
	char *text;        /* the rule as it was written */
	u32 line;          /* from 1 */
	u64 fits;          /* calls or launches so far that it is about; atomic */
	u64 acts;          /* times that it has acted; atomic */
};

struct inject_rules {
	char *name; /* of the file, or of what held the rules */
	VEC(struct inject_rule) list;
	u64 memory; /* bytes that a device is to have (memory=), 0: not said */
};

/*
 * Read what an option or a variable holds: rules separated by lines or semicolons, or @FILE. shown:
 * its name in messages. False after one message to d; r is then empty.
 */
bool inject_rules_read(struct inject_rules *r, const char *value, const char *shown,
		       struct diag *d);
/* The same for a text that is in memory. */
bool inject_rules_parse(struct inject_rules *r, const char *text, size_t size, const char *name,
			struct diag *d);
void inject_rules_fini(struct inject_rules *r);

/* Is the rule about results of instructions? */
bool inject_of_results(const struct inject_rule *r);
/* Is one of them? Launches then run in one order. */
bool inject_rules_flip_results(const struct inject_rules *r);
/* The word for a group of instructions: "fp32" of GROUP_FP32. */
const char *inject_group_name(u32 group);

/*
 * A function's name without what tells its versions apart: 11 for "cuMemAlloc_v2",
 * "cudaMemcpyAsync_ptsz" 15. `name` begins behind the underscores of names of nvcc's own.
 */
size_t inject_name_len(const char *name);
/*
 * Does a pattern mean this function? By its whole name, or without the version. Functions that are
 * part of a launch or only ask for an earlier error are meant by their full names alone.
 */
bool inject_is_call(const char *pattern, const char *name);

#endif
