/*
 * Memory instructions and patterns of addresses whose counters were measured on an H200, and the
 * text of their kernels. tests/oracle/counters_cross.c launches them on a GPU under Nsight Compute;
 * tests/unit/sched/watch_measured.c runs them with the counting observer and compares with
 * h200.tsv.
 *
 * Thread t of the one CTA accesses bytes (((t * mul) >> shift) & and) + add) * width behind the
 * start of a buffer or of shared memory, if bit t of `lanes` is set.
 */
#ifndef PL_TESTS_COUNTERS_ACCESS_H
#define PL_TESTS_COUNTERS_ACCESS_H

#include "src/base/text.h"

enum access_family {
	FAMILY_GLOBAL,
	FAMILY_ATOMIC,
	FAMILY_SHARED,
	FAMILY_SHARED_ATOMIC,
	FAMILY_LOCAL,
	FAMILY_COPY,
	FAMILIES
};

static const char *const access_families[FAMILIES] = {"global",        "atomic", "shared",
						      "shared_atomic", "local",  "copy"};

/* A kernel: `body` accesses [%d1] (global), [%r1] (shared) or [%r2] (local) under guard %p1. */
struct access_op {
	const char *name;
	enum access_family family;
	u32 width; /* bytes of a thread; units of the pattern */
	bool all;  /* with all patterns, not the first SHORT_PATTERNS alone */
	const char *body;
};

struct access_pattern {
	const char *name;
	u32 mul, shift, and, add, lanes;
};

#define SHORT_PATTERNS 16u
#define ACCESS_BUFFER_BYTES 65536u
/* No kernel loads it. */
#define ACCESS_MAGIC 0x5bd1e995u

static const struct access_pattern access_patterns[] = {
	{"unit", 1, 0, ~0u, 0, ~0u},
	{"behind_1", 1, 0, ~0u, 1, ~0u},
	{"one", 0, 0, ~0u, 0, ~0u},
	{"step_2", 2, 0, ~0u, 0, ~0u},
	{"step_8", 8, 0, ~0u, 0, ~0u},
	{"step_32", 32, 0, ~0u, 0, ~0u},
	{"step_33", 33, 0, ~0u, 0, ~0u},
	{"pairs", 1, 1, ~0u, 0, ~0u},
	{"eights", 1, 3, ~0u, 0, ~0u},
	{"modulo_8", 1, 0, 7, 0, ~0u},
	{"backwards", ~0u, 0, 31, 0, ~0u},
	{"mixed_32", 0x9e3779b1, 12, 31, 0, ~0u},
	{"mixed_256", 0x9e3779b1, 12, 255, 0, ~0u},
	{"mixed_1024", 0x85ebca6b, 12, 1023, 0, ~0u},
	{"even", 1, 0, ~0u, 0, 0x55555555},
	{"lower", 1, 0, ~0u, 0, 0x0000ffff},
	/* for some only */
	{"behind_3", 1, 0, ~0u, 3, ~0u},
	{"step_3", 3, 0, ~0u, 0, ~0u},
	{"step_4", 4, 0, ~0u, 0, ~0u},
	{"step_5", 5, 0, ~0u, 0, ~0u},
	{"step_16", 16, 0, ~0u, 0, ~0u},
	{"fours", 1, 2, ~0u, 0, ~0u},
	{"sixteens", 1, 4, ~0u, 0, ~0u},
	{"modulo_2", 1, 0, 1, 0, ~0u},
	{"modulo_4", 1, 0, 3, 0, ~0u},
	{"modulo_16", 1, 0, 15, 0, ~0u},
	{"fives", 5, 0, 31, 0, ~0u},
	{"elevens", 11, 0, 31, 0, ~0u},
	{"twice_even", 2, 0, 31, 0, ~0u},
	{"mixed_64", 0xc2b2ae35, 12, 63, 0, ~0u},
	{"mixed_128", 0x85ebca6b, 14, 127, 0, ~0u},
	{"mixed_16", 0x27d4eb2f, 13, 15, 0, ~0u},
	{"mixed_8", 0x27d4eb2f, 13, 7, 0, ~0u},
	{"mixed_512", 0xc2b2ae35, 15, 511, 0, ~0u},
	{"upper", 1, 0, ~0u, 0, 0xffff0000},
	{"bytes_of_lanes", 1, 0, ~0u, 0, 0x00ff00ff},
	{"first", 1, 0, ~0u, 0, 1},
	{"outer", 1, 0, ~0u, 0, 0x80000001},
	{"odd_step_8", 8, 0, ~0u, 0, 0xaaaaaaaa},
	{"mixed_256_even", 0x9e3779b1, 12, 255, 0, 0x55555555},
	{"mixed_256_lower", 0x9e3779b1, 12, 255, 0, 0x0000ffff},
	{"step_32_eighth", 32, 0, ~0u, 0, 0x01010101},
};

#define G(name, width, all, body) {name, FAMILY_GLOBAL, width, all, body},
#define A(name, width, all, body) {name, FAMILY_ATOMIC, width, all, body},
#define B(name, width, all, body) {name, FAMILY_SHARED_ATOMIC, width, all, body},
#define S(name, width, all, body) {name, FAMILY_SHARED, width, all, body},
#define L(name, width, all, body) {name, FAMILY_LOCAL, width, all, body},
#define C(name, width, all, body) {name, FAMILY_COPY, width, all, body},
static const struct access_op access_ops[] = {
#include "tests/counters/access.def"
};
#undef G
#undef A
#undef B
#undef S
#undef L
#undef C

/* How many patterns an operation is measured with. */
static inline u32 access_pattern_count(const struct access_op *op)
{
	return op->all ? (u32)ARRAY_LEN(access_patterns) : SHORT_PATTERNS;
}

static inline bool access_is_shared(const struct access_op *op)
{
	return op->family == FAMILY_SHARED || op->family == FAMILY_SHARED_ATOMIC ||
	       op->family == FAMILY_COPY;
}

/*
 * One kernel for each operation, named as it: (p, mul, shift, and, add, lanes, magic). What was
 * loaded is compared with `magic`, which no loaded value equals, so that no compiler leaves the
 * load out.
 */
static inline void access_write_module(struct text *t)
{
	text_printf(t, ".version 8.5\n.target sm_90\n.address_size 64\n");
	for (u32 i = 0; i < ARRAY_LEN(access_ops); i++) {
		const struct access_op *op = &access_ops[i];

		text_printf(
			t,
			".visible .entry %s(.param .u64 p, .param .u32 mul, .param .u32 shift,\n"
			".param .u32 and, .param .u32 add, .param .u32 lanes, .param .u32 magic)\n{\n"
			".reg .pred %%p<4>; .reg .b32 %%r<32>; .reg .b64 %%d<16>; .reg .f32 %%f<8>;\n"
			".reg .b16 %%h<4>;\n",
			op->name);
		if (access_is_shared(op))
			text_printf(t, ".shared .align 128 .b8 s[36864];\n");
		if (op->family == FAMILY_LOCAL)
			text_printf(t, ".local .align 16 .b8 v[512];\n");
		text_printf(
			t,
			"ld.param.u64 %%d0, [p]; ld.param.u32 %%r10, [mul]; ld.param.u32 %%r11, [shift];\n"
			"ld.param.u32 %%r12, [and]; ld.param.u32 %%r13, [add]; ld.param.u32 %%r14, [lanes];\n"
			"ld.param.u32 %%r15, [magic]; mov.u32 %%r0, %%tid.x;\n"
			"mul.lo.u32 %%r10, %%r0, %%r10; shr.u32 %%r10, %%r10, %%r11;\n"
			"and.b32 %%r10, %%r10, %%r12; add.u32 %%r10, %%r10, %%r13;\n"
			"mul.lo.u32 %%r10, %%r10, %u; cvt.u64.u32 %%d1, %%r10; add.u64 %%d1, %%d0, %%d1;\n"
			"shr.u32 %%r14, %%r14, %%r0; and.b32 %%r14, %%r14, 1; setp.ne.u32 %%p1, %%r14, 0;\n"
			"mov.u32 %%r4, 0; mov.u32 %%r5, 0; mov.u32 %%r6, 0; mov.u32 %%r7, 0;\n",
			op->width);
		if (access_is_shared(op))
			text_printf(t, "mov.u32 %%r1, s; add.u32 %%r1, %%r1, %%r10;\n");
		if (op->family == FAMILY_LOCAL)
			text_printf(
				t,
				"mov.u32 %%r2, v; and.b32 %%r10, %%r10, 255; add.u32 %%r2, %%r2, %%r10;\n");
		text_printf(
			t,
			"%s\n"
			"xor.b32 %%r4, %%r4, %%r5; xor.b32 %%r4, %%r4, %%r6; xor.b32 %%r4, %%r4, %%r7;\n"
			"setp.eq.u32 %%p2, %%r4, %%r15; @%%p2 trap;\nret;\n}\n",
			op->body);
	}
}

#endif
