/*
 * Shapes of matrix instructions.
 */
#ifndef PL_ISA_SHAPE_H
#define PL_ISA_SHAPE_H

#include "src/isa/isa.h"

/* Those of ".m16n8k16". False: the form has none. */
bool isa_form_shape(const struct isa_form *form, u32 *m, u32 *n, u32 *k);

#endif
