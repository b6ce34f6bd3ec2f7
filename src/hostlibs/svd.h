/*
 * Singular values and vectors of dense matrices.
 */
#ifndef PL_HOSTLIBS_SVD_H
#define PL_HOSTLIBS_SVD_H

#include "src/hostlibs/number.h"

/*
 * x, m by n with m >= n, column by column, is u * diag(s) * v': s descending, v n by n. u, m by
 * `columns` (n to m, or 0), gets orthonormal columns; x is overwritten. Returns 0, or how many
 * pairs of columns are not orthogonal after all sweeps.
 */
int hl_svd(s64 m, s64 n, struct hl_number *x, f64 *s, struct hl_number *v, s64 columns,
	   struct hl_number *u);

#endif
