/*
 * A lowered program as profiles see it: its instructions as rows.
 */
#ifndef PL_PROFILE_DESCRIBE_H
#define PL_PROFILE_DESCRIBE_H

#include "src/exec/program.h"
#include "src/profile/profile.h"

/* What an instruction does for a number of its own in values.def. */
enum profile_work {
	WORK_OTHER,
	WORK_BRANCH,
	WORK_BARRIER,
	WORK_ARITHMETIC, /* VALUE_fadd .. VALUE_hfma */
	WORK_TENSOR,
};

struct profile_shape {
	u8 work;          /* enum profile_work */
	bool is_constant; /* a load of constants */
	u8 lg_requests;   /* of a warp to the first cache, without data */
	u16 value;        /* WORK_ARITHMETIC: which number counts its threads */
	u32 flops;        /* operations of a thread; of a warp, if it is WORK_TENSOR */
};

/* A row for each of the program's `insns`; by micro-op: the row of its instruction. */
struct profile_rows {
	const struct program *program;
	struct profile_program *described; /* NULL: not yet; owned */
	u32 uops, len;
	u32 *row_of;
	struct profile_shape *shape;
	struct profile_shared_places *shared; /* NULL: not asked for; owned */
};

/* NULL: the host has no memory left. */
struct profile_rows *profile_rows_new(const struct program *p);
void profile_rows_free(struct profile_rows *r);
/*
 * The program for reports: its instructions with their places; kernel: the name as the PTX has it.
 * NULL without memory. profile_program_free (report.h) frees it.
 */
struct profile_program *profile_rows_describe(const struct profile_rows *r, const char *kernel);

#endif
