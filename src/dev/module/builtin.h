/*
 * Functions of the device's runtime that are written in PTX. A program that calls one of them has
 * this text as one more unit.
 */
#ifndef PL_DEV_BUILTIN_H
#define PL_DEV_BUILTIN_H

#include "src/base/diag.h"
#include "src/ir/ir.h"

extern const struct diag_source builtin_source;

/* Does one of these units call such a function, and none define it? */
bool builtin_is_needed(struct ir_module *const *units, u32 len);

#endif
