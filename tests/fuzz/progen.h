/*
 * Random PTX programs from the instruction table: valid, race-free, ending, and fully determined by
 * a seed.
 *
 * A program is one kernel k(in, out, common, pdata). Every thread reads PROGEN_IN bytes of its own
 * from `in`, runs the body, and writes all its registers to its own PROGEN_OUT bytes of `out`. All
 * threads change the words at `common` by operations whose order does not matter. The body is a
 * list of lines, each of which can be left out without making the program invalid; lines that open
 * a structure take everything up to its end with them. That is what minimising needs.
 */
#ifndef PL_TESTS_PROGEN_H
#define PL_TESTS_PROGEN_H

#include "src/base/vec.h"
#include "src/ir/ir.h"

#define PROGEN_IN 512u
#define PROGEN_OUT 1024u
#define PROGEN_DATA 256u   /* bytes of the kernel parameter `pdata` and of the constant `cst` */
#define PROGEN_COMMON 128u /* bytes behind all threads' output that every thread adds to */

enum progen_kind { PROGEN_FIXED, PROGEN_TEXT, PROGEN_OPEN, PROGEN_MIDDLE, PROGEN_CLOSE };

/* What an instruction needs around it. */
enum progen_class {
	PROGEN_SCALAR,   /* registers of the thread */
	PROGEN_MEMORY,   /* memory of the thread as well, at the places of the kernel's registers */
	PROGEN_TOGETHER, /* all threads of the warp or CTA */
	PROGEN_CLASSES
};

struct progen_line {
	char *text;
	u8 kind;   /* enum progen_kind */
	u32 match; /* PROGEN_OPEN: its PROGEN_CLOSE */
};

struct progen {
	u64 state; /* of the random numbers */
	u64 seed;
	struct arena arena;
	u32 version; /* x 10 */
	struct isa_target target;
	const char *target_text;
	u32 block, grid;
	VEC(struct progen_line) lines;
	u32 labels, loops, depth;
	bool full_warps; /* all lanes of all warps live to the end */
	bool leaves;     /* some threads end early */
	bool calls;
	u32 function; /* PROGEN_KERNEL, or which function is being made */
	bool in_loop;
	bool hardware;    /* PROGEN_HARDWARE */
	u32 focus;        /* a row, ISA_ROWS: none */
	bool apart;       /* lanes may have slept: who is together is not known */
	const char *mask; /* member mask of the lanes that are together */
	VEC(u16) rows[PROGEN_CLASSES];
	/* Forms the user does not want; NULL: all are wanted. */
	bool (*wanted)(void *user, const struct isa_form *form);
	void *user;
};

#define PROGEN_NO_CALLS 1u
#define PROGEN_APART 2u /* lanes need not be together where no instruction brings them together */
#define PROGEN_HARDWARE                                                                            \
	4u /* for a GPU of compute capability 9.0: nothing that differs from run to run */
/* Half of the instructions of its class are of this row. */
#define PROGEN_FOCUS(row) ((row) << 8)
#define PROGEN_KERNEL 100u

/*
 * Make the program of this seed; flags PROGEN_*. Call progen_fini afterwards. `wanted`, `user` as
 * in the struct.
 */
void progen_init(struct progen *p, u64 seed, u32 flags,
		 bool (*wanted)(void *, const struct isa_form *), void *user);
void progen_fini(struct progen *p);

/*
 * The text without the lines whose flag is set in `off` (one per line, NULL: all). The caller frees
 * it.
 */
char *progen_text(const struct progen *p, const u8 *off);
/*
 * The line of the program that line `at` of the text (from 1) came from; UINT32_MAX: none that can
 * be left out.
 */
u32 progen_line_at(const struct progen *p, const u8 *off, u32 at);
/* Fill the input of all threads: PROGEN_IN * grid * block bytes. */
void progen_input(const struct progen *p, u8 *in);

/* ---- shared with progen_insn.c ---- */

u64 progen_random(struct progen *p);
u32 progen_below(struct progen *p, u32 n);
bool progen_chance(struct progen *p, u32 percent);
u32 progen_line(struct progen *p, enum progen_kind kind, const char *fmt, ...) PL_PRINTF(3, 4);
u32 progen_open(struct progen *p, const char *text);
void progen_close(struct progen *p, u32 open, const char *text);
void progen_statements(struct progen *p, u32 n);
/*
 * A random instruction of the table, without guard, "add.s32 %r1, %r2, 5;". Those that compute an
 * address have instructions before them: *single tells whether a guard may go in front.
 */
void progen_insn(struct progen *p, enum progen_class class, struct text *out, bool *single);
/* The operand of an instruction that is not just a value; false: it is, or cannot be made. */
bool progen_place(struct progen *p, const struct isa_form *f, const struct isa_operand *o,
		  struct text *before, struct text *out);
bool progen_is_place(const struct isa_form *f, const struct isa_operand *o);
/* The class of a row, PROGEN_CLASSES: not for random programs. */
enum progen_class progen_class_of(const struct isa_row *row);
/* Statements in which threads work together. */
void progen_warp(struct progen *p);
void progen_some_lanes(struct progen *p);
void progen_exchange(struct progen *p);
/* Registers in the pools by name and count, for declarations and results. */
struct progen_pool {
	const char *name, *type;
	u8 word; /* T_ */
	u8 count;
};
extern const struct progen_pool progen_pools[];
extern const u32 progen_pool_len;
/* Only some versions have registers of 128 bits. */
bool progen_pool_exists(const struct progen *p, const struct progen_pool *pool);

#endif
