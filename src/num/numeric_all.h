/*
 * All numeric primitives, for handler files.
 */
#ifndef PL_NUM_NUMERIC_ALL_H
#define PL_NUM_NUMERIC_ALL_H

#include "src/num/mufu.h"
#include "src/num/numeric_bits.h"
#include "src/num/numeric_cmp.h"
#include "src/num/numeric_cvt.h"
#include "src/num/numeric_f32.h"
#include "src/num/numeric_f64.h"
#include "src/num/numeric_half.h"
#include "src/num/numeric_int.h"
#include "src/num/numeric_mini.h"
#include "src/num/numeric_video.h"

#endif
