/*
 * Private to the passes between lowering and rows: fuse.c, fuse_launch.c, fuse_address.c,
 * fuse_affine.c. All of
 * them work on micro-ops with virtual rows.
 */
#ifndef PL_LOWER_FUSE_INT_H
#define PL_LOWER_FUSE_INT_H

#include "src/lower/lower_int.h"

struct fuse {
	struct lower *l;
	u32 *first_ref; /* micro-op -> first row_ref, one more at the end */
	u32 *reads;     /* vreg -> how often it is read */
	u32 *writes;
	u32 *writer;        /* vreg -> the micro-op that writes it, the last if several do */
	u32 known, counted; /* vregs and micro-ops there were when that was counted */
	bool *written;      /* vreg -> before the kernel's first label */
};

/* ---- fuse.c ---- */

/* The reference of a micro-op's field, NULL: none. */
struct row_ref *fuse_find_ref(const struct fuse *f, u32 insn, u32 field);
/* And its vreg, IR_NONE: none. */
u32 fuse_vreg_at(const struct fuse *f, u32 insn, u32 field);
bool fuse_is_const(const struct fuse *f, u32 vreg);
/* The unguarded micro-op that alone writes the vreg, with this operation; IR_NONE: none. */
u32 fuse_writer(const struct fuse *f, u32 vreg, enum exec_op op);
/* Drop the row of a field. */
void fuse_drop(const struct fuse *f, u32 insn, u32 field);
/* Make the micro-op a nop without rows. */
void fuse_erase(const struct fuse *f, u32 insn);
/* Remove references without rows, and count again. False when memory is out. */
bool fuse_count(struct fuse *f);

/* ---- fuse_launch.c ---- */

/* Find the vregs that are the same for every CTA of a launch. */
void fuse_mark_launch(struct fuse *f);
/* Move what computes them after the functions, to be run once for each launch. */
bool fuse_hoist_launch(struct fuse *f);

/* ---- fuse_address.c ---- */

/* %ctaid * n + m, where m may differ by thread, in one micro-op. */
void fuse_cta_index(struct fuse *f, u32 insn);
/* Masks of extended values before they are extended: indices of 32 bits are seen then. */
bool fuse_narrow(struct fuse *f);
/* Accesses of base + index * size: take the index, not the address. */
bool fuse_addresses(struct fuse *f);

/* ---- fuse_affine.c ---- */

/* Take affine indices and operands of comparisons apart. */
bool fuse_affine(struct fuse *f);

/* The component of %ctaid that an OP_sreg_uniform reads; 3: none. */
u32 fuse_ctaid(const struct uop *in);

#endif
