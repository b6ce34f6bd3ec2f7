/*
 * Which functions of CUDA rules may name.
 */
#ifndef PL_INJECT_NAMES_H
#define PL_INJECT_NAMES_H

#include "src/base/base.h"

/* Is there a function that this pattern means? */
bool inject_name_exists(const char *pattern);
/* The function that was probably meant; NULL: none is near. Static. */
const char *inject_name_near(const char *pattern);

#endif
