/*
 * What `ptxloom profile` knows of launches, as data: made by the processes that launch
 * (collect.h), kept in reports (report.h), shown by pages.
 *
 * Two kinds of numbers: those that are a function of the program alone, and those of the model of
 * the caches (docs/caches.md).
 */
#ifndef PL_PROFILE_PROFILE_H
#define PL_PROFILE_PROFILE_H

#include "src/base/text.h"
#include "src/base/vec.h"

enum profile_column {
#define COLUMN(id, title, what) COLUMN_##id,
#include "src/profile/columns.def"
#undef COLUMN
	PROFILE_COLUMNS,
};

enum profile_access {
#define VALUE(id)
#define ACCESS(id, what) ACCESS_OF_##id,
#define FIRST(id)
#define SECOND(id)
#include "src/profile/values.def"
#undef VALUE
#undef ACCESS
#undef FIRST
#undef SECOND
	PROFILE_ACCESSES,
};

/* Every number of a launch; those of a group follow one another. */
enum profile_value {
#define VALUE(id) VALUE_##id,
#define ACCESS(id, what)                                                                           \
	VALUE_##id##_insts, VALUE_##id##_requests, VALUE_##id##_sectors, VALUE_##id##_ideal,       \
		VALUE_##id##_passes, VALUE_##id##_parts, VALUE_##id##_bytes,                       \
		VALUE_##id##_distinct,
#define FIRST(id)                                                                                  \
	VALUE_l1_##id##_requests, VALUE_l1_##id##_tags, VALUE_l1_##id##_sectors,                   \
		VALUE_l1_##id##_hit, VALUE_l1_##id##_miss,
#define SECOND(id)                                                                                 \
	VALUE_l2_##id##_requests, VALUE_l2_##id##_request_hit, VALUE_l2_##id##_sectors,            \
		VALUE_l2_##id##_hit, VALUE_l2_##id##_miss, VALUE_l2_##id##_fabric,                 \
		VALUE_l2_##id##_fabric_hit, VALUE_l2_##id##_fabric_requests,                       \
		VALUE_l2_##id##_fabric_request_hit,
#include "src/profile/values.def"
#undef VALUE
#undef ACCESS
#undef FIRST
#undef SECOND
	PROFILE_VALUES,
};

/* Of one kind of access: the numbers behind VALUE_<access>_insts. */
enum profile_access_field {
	FIELD_INSTS,    /* instructions of warps */
	FIELD_REQUESTS, /* what the first cache is asked, as hardware counts it */
	FIELD_SECTORS,
	FIELD_IDEAL,  /* sectors that the bytes would fill */
	FIELD_PASSES, /* over banks, those of the cache too; how many without conflicts */
	FIELD_PARTS,
	FIELD_BYTES,    /* that threads asked for */
	FIELD_DISTINCT, /* sectors, each once for an instruction */
	PROFILE_FIELDS,
};

/* The first number of an access. */
enum profile_value profile_access_value(enum profile_access a);
/* Names in reports, titles on pages. NULL past the end. */
const char *profile_value_name(u32 value);
const char *profile_access_title(u32 access);
const char *profile_column_name(u32 column);
const char *profile_column_title(u32 column);
const char *profile_column_what(u32 column);

/* An instruction of a kernel or of a function that it calls. Strings are the program's. */
struct profile_insn {
	const char *function; /* demangled */
	const char *text;     /* "ld.global.f32 %f1, [%rd4];" */
	const char *file;     /* the user's source; NULL: not known */
	u32 ptx_line, line;
};

/* A kernel as it was lowered. */
struct profile_program {
	u64 id;                    /* in its process */
	u32 holders;               /* that are to free it, but for one */
	char *kernel, *name, *ptx; /* as the PTX has it; demangled; name of the text */
	char *compiler;            /* that made the text, and its version of PTX; NULL: not known */
	VEC(struct profile_insn) insns;
	VEC(char *) strings; /* that the instructions point to; owned */
};

struct profile_row {
	u32 insn;
	u64 at[PROFILE_COLUMNS];
};

/* Instead of the number of a device. */
#define PROFILE_HOST UINT32_MAX

enum profile_link_kind { PROFILE_PCIE, PROFILE_NVLINK, PROFILE_LINK_KINDS };

/* "PCIe", "NVLink": table/links.c. */
extern const char *const profile_link_words[PROFILE_LINK_KINDS];

/* What calls have copied from one device to another, or between one and the host. */
struct profile_copies {
	u32 from, to;
	u64 count, bytes;
	enum profile_link_kind kind;
};

/* What has moved of managed memory from one place to another, by page faults and prefetches. */
struct profile_migration {
	u32 from, to;
	u64 transfers, bytes;
};

/* What a device, or the host, has done to managed memory. */
struct profile_residence {
	u32 end;
	u64 faults, populated, remote, thrashed; /* page faults; bytes */
};

struct profile_process {
	u64 pid;
	char *name;
	bool is_whole; /* it has said that it ended */
	VEC(struct profile_program *) programs;
	VEC(struct profile_copies) copies; /* known at its end, as those below */
	VEC(struct profile_migration) migrations;
	VEC(struct profile_residence) residences;
};

/* A range that the program has marked, which is open when a launch is asked for. */
struct profile_range {
	char *domain, *name;
	u64 id;         /* of one that was started; else 0 */
	bool is_pushed; /* else it was started */
};

/* All that are: those that were pushed in their order. */
struct profile_ranges_view {
	bool is_on; /* profiling is switched on */
	u64 thread; /* whose ranges were pushed: a number */
	u32 len;
	struct profile_range at[];
};

void profile_ranges_view_free(struct profile_ranges_view *v);

/* What the SM with the least, and that with most of it has of a counter (metrics.h). */
struct profile_spread {
	u32 metric;
	u64 least, most;
};

/* What a launch asks of a variable or an allocation: sectors of the first cache, of the second. */
struct profile_variable {
	char *name;
	u64 bytes; /* 0: of no one allocation */
	u64 sectors, hit, miss, second, second_miss, dram;
};

/* The same of a variable in shared memory. */
struct profile_shared {
	char *name;
	u64 bytes, requests, passes, ideal; /* wavefronts; how many without bank conflicts */
};

/* Bytes of another device's memory, or of the host's, that a launch has read and written. */
struct profile_link {
	u32 end;
	u64 read, written;
	enum profile_link_kind kind;
};

struct profile_launch {
	const struct profile_process *process;
	const struct profile_program *program;
	u64 number; /* among those that were profiled, of the process; then of the report */
	u64 context, stream;
	u32 device;
	char *device_name;
	u32 grid[3], block[3], cluster[3];
	u64 value[PROFILE_VALUES];
	bool has_spread;
	VEC(struct profile_spread) spread;        /* of counters that are not 0 */
	const struct profile_ranges_view *ranges; /* NULL: it is in none */
	struct profile_ranges_view *own_ranges;   /* the same, where it is the launch's */
	VEC(struct profile_row) rows;             /* by instruction, those that were executed */
	bool has_variables;
	VEC(struct profile_variable) variables; /* that were accessed, by address */
	VEC(struct profile_shared) shared;      /* likewise */
	VEC(struct profile_link) links;
};

/* A call of the CUDA libraries, or a piece of work of a stream; times in nanoseconds. */
struct profile_event {
	const struct profile_process *process;
	char *name;
	bool is_work, is_launch;
	int status;
	u32 device;
	u64 stream, thread, call, begin, end; /* call: its number; of work that of the call */
};

struct profile_report {
	VEC(struct profile_process *) processes;
	VEC(struct profile_launch *) launches; /* in their order */
	VEC(struct profile_event) events;      /* of a trace, in the order of their ends */
};

#endif
