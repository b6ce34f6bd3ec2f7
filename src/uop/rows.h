/*
 * The rows that a micro-op reads and writes. Rows that a handler reaches without naming them are
 * not among them: the frame and stack rows of a program, what calls save.
 */
#ifndef PL_UOP_ROWS_H
#define PL_UOP_ROWS_H

#include "src/uop/uop.h"

/* Rows begin at multiples of it. */
#define ROW_UNIT 32u

/* A row, as a byte offset in the gang's register block; what is read is seen first. */
typedef void uop_row_fn(void *user, u32 row, bool write);

/* Every row of a micro-op, its guard among them. ext: the program's. */
void uop_each_row(const struct uop *in, const u32 *ext, uop_row_fn *see, void *user);
/* Does it write this row? */
bool uop_writes(const struct uop *in, const u32 *ext, u32 row);

#endif
