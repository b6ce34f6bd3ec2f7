/*
 * LU factors of small square matrices, column by column.
 */
#ifndef PL_HOSTLIBS_LU_H
#define PL_HOSTLIBS_LU_H

#include "src/hostlibs/number.h"

/*
 * x, n by n, becomes its factors. pivots: row that was exchanged with the i-th
 * one, from one on; NULL: none are exchanged. Returns 0, or the first i, from
 * one on, whose pivot is zero.
 */
int hl_lu(s64 n, struct hl_number *x, s32 *pivots);
/* op: 0 as it is, 1 transposed, 2 conjugated, too. b, n by columns, becomes the solution. */
void hl_lu_solve(s64 n, s64 columns, const struct hl_number *lu, const s32 *pivots, int op,
		 struct hl_number *b);

#endif
