/*
 * Fragments of wmma on Volta: each quarter of the warp has a product of its own (enum mma_octets).
 * Lowering says by these which rows and columns are whose, and so does who looks at registers.
 */
#ifndef PL_UOP_OCTETS_H
#define PL_UOP_OCTETS_H

#include "src/uop/matrix.h"

/* Has a part of that generation of tensor cores such fragments? */
static inline bool mma_has_octets(u32 tensor_generation)
{
	return tensor_generation == 1;
}

/* Of a matrix with so many rows: 8, 16, 32. */
static inline u32 mma_row_octets(u32 rows)
{
	return rows == 16 ? MMA_OCTET_EVEN : rows == 32 ? MMA_OCTET_EACH : MMA_OCTET_ALL;
}

static inline u32 mma_column_octets(u32 columns)
{
	return columns == 16 ? MMA_OCTET_HALF : columns == 32 ? MMA_OCTET_EACH : MMA_OCTET_ALL;
}

#endif
