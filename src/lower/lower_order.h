/*
 * Private to lower.c and lower_order.c: the order in which the blocks of a function are lowered.
 */
#ifndef PL_LOWER_ORDER_H
#define PL_LOWER_ORDER_H

#include "src/lower/lower_int.h"

/* Instructions that are jumped to at the first and jump at the last only. */
struct lower_block {
	u32 first, end;
	u32 next; /* the block that follows where the last does not jump, IR_NONE: none does */
	bool is_target; /* some block goes on there by a jump that the text does not have */
	/* where it meets others on its way back to the beginning of a loop, IR_NONE: nowhere */
	u32 meeting;
};

/* Where the back edges of a loop meet. */
struct lower_meeting {
	u32 head, after; /* blocks: that beginning; and the last, in the text, that leads there */
};

/* Block `blocks` is the function's end; after it come meetings. */
struct lower_order {
	struct lower_block *block;
	u32 blocks;
	u32 *block_of; /* instruction -> block */
	struct lower_meeting *meeting;
	u32 meetings;
	u32 *at, len; /* the order; the end comes last */
};

/* used: labels that something jumps to. False: the host has no memory. To be freed either way. */
bool lower_order_find(struct lower_order *o, const struct ir_func *f, const bool *used);
void lower_order_free(struct lower_order *o);

#endif
