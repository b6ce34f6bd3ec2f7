/*
 * The host's BLAS, found when it is first needed: none has to be there.
 */
#ifndef PL_HOSTLIBS_BLAS_H
#define PL_HOSTLIBS_BLAS_H

#include "src/base/base.h"

/* Which one it is, for messages; "own loops": none was found, or none may be used. */
const char *hl_blas_name(void);
/*
 * Before the first use. own: use none. find: looks for a function in the libraries of the process.
 */
void hl_blas_choose(bool own, void *(*find)(const char *name));

/* acc += a * b: column by column, without gaps; rows is a multiple of HL_ROWS. */
#define HL_ROWS 32
void hl_panel_f32(s64 rows, s64 columns, s64 k, const f32 *a, const f32 *b, f32 *acc);
void hl_panel_f64(s64 rows, s64 columns, s64 k, const f64 *a, const f64 *b, f64 *acc);
void hl_panel_sub_f32(s64 rows, s64 columns, s64 k, const f32 *a, const f32 *b, f32 *acc);
void hl_panel_sub_f64(s64 rows, s64 columns, s64 k, const f64 *a, const f64 *b, f64 *acc);

#endif
