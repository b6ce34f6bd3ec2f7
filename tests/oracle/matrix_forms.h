/*
 * Forms of matrix instructions for the comparison with a GPU (matrix_cross.c), and a kernel for
 * each: it makes random factors of the tile's index, has them multiplied, and stores a word of the
 * result for every lane.
 */
#ifndef PL_TESTS_ORACLE_MATRIX_FORMS_H
#define PL_TESTS_ORACLE_MATRIX_FORMS_H

#include "src/base/base.h"

#define FORM_TEXT 120u
#define FORM_PTX (512u * 1024u)

enum number {
	N_F16,
	N_BF16,
	N_TF32,
	N_E4M3,
	N_E5M2,
	N_F64,
	N_F32,
	N_S32,
	N_BYTE,
	N_NIBBLE,
	N_BIT,
	N_COUNT,
};

struct form {
	/* as the output has it: the instruction, '@' and what it is varied by */
	char name[FORM_TEXT];
	char text[FORM_TEXT]; /* the instruction */
	enum number a, b, c, d;
	u32 m, n, k, bits;        /* bits of a number of A */
	u32 ra, rb, rc, rd;       /* registers of a lane */
	bool sparse, any_order;   /* any_order: positions of a pair in any order */
	bool wgmma, by_registers; /* A from registers */
	u32 variant;              /* sparse: selector; wgmma: immediates, see matrix_forms.c */
};

/* What numbers are like: words are masked, then or'ed; every so often a word is zero. */
struct style {
	const char *name;
	u32 zeros;            /* of 256 words so many */
	bool plain, ordinary; /* no infinities and NaN; exponents near 1 */
	bool table;           /* of a table of numbers at the ends of what there is */
	bool tiny; /* of a table of the smallest, most with one bit: sums near the least */
};

#define STYLES 6u
extern const struct style styles[STYLES];

/* Calls `see` with each form; false ends that. Returns the last answer. */
bool forms_visit(bool (*see)(const struct form *f, void *data), void *data);

/* The masks of a kind of number. */
void form_masks(enum number kind, const struct style *s, u32 *and, u32 * or);

/*
 * 1024 entries of two words, numbers at the ends of what their kind has. salt: 1 of A, 2 of B, 3 of
 * C.
 */
void form_table(enum number kind, u32 salt, bool tiny, u32 (*to)[2]);

/* wgmma: descriptors of A and B for the four swizzles, addresses zero; `to` has eight. */
void form_descriptors(const struct form *f, u64 *to);

/* Warps of a CTA. */
u32 form_warps(const struct form *f);

/*
 * The module, with kernels "random" and "table". Parameters of both: where the words go, the table
 * (of A, of B, of C, and descriptors), the first tile, masks of A, B and C, and zeros of 256.
 */
void form_write(const struct form *f, char *to);

#endif
