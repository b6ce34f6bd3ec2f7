/*
 * One step of a gang, as far as values go that are not defined.
 */
#ifndef PL_CHECK_INIT_FLOW_H
#define PL_CHECK_INIT_FLOW_H

#include "src/check/init/init_int.h"
#include "src/uop/rows.h"

/* Rows that a micro-op has, at most: products list their fragments. */
#define ROWS_MOST 384u

struct step {
	struct init_cta *c;
	struct taint *t;
	struct gang *g;
	const struct uop *in;
	u32 warps, first;     /* of the gang, that run it */
	u32 pass[GANG_WARPS]; /* lanes, by warp of the step */
	bool all;             /* every lane of the gang that has not exited */
	u32 srcs, dsts;
	u32 src[ROWS_MOST], dst[ROWS_MOST];
};

static inline u32 mask_of_class(enum row_class class)
{
	return class == ROW_X ? 0xff : class == ROW_W ? 0xf : 1;
}

/* Products of matrices. */
void init_pass_product(struct step *s);

#endif
