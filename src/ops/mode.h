/*
 * Modifiers as data: the constant of a micro-op whose operation serves many forms. The low bits
 * are the mode word of numeric.h; above it stands what the primitives take as arguments of their
 * own. lower_float.c makes it, operations with a `*` among their texts read it.
 */
#ifndef PL_OPS_MODE_H
#define PL_OPS_MODE_H

#include "src/num/numeric.h"

enum exec_mode_bits {
	MODE_WORD = 0x7fff,   /* enum num_mode */
	MODE_WHOLE = 1 << 15, /* .rni .rzi .rmi .rpi: the rounding is to a whole number */
	MODE_TO = 16,         /* shift: bits of the first type, 8 bits wide */
	MODE_FROM = 24,       /* shift: bits of the second type, 7 bits wide */
};

#endif
