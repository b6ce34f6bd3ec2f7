/*
 * All numeric primitives, for handler files.
 */
#ifndef PL_EXEC_NUMERIC_ALL_H
#define PL_EXEC_NUMERIC_ALL_H

#include "src/exec/mufu.h"
#include "src/exec/numeric_bits.h"
#include "src/exec/numeric_cmp.h"
#include "src/exec/numeric_cvt.h"
#include "src/exec/numeric_f32.h"
#include "src/exec/numeric_f64.h"
#include "src/exec/numeric_half.h"
#include "src/exec/numeric_int.h"
#include "src/exec/numeric_mini.h"
#include "src/exec/numeric_video.h"

#endif
