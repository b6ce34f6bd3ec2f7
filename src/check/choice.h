/*
 * Which launches are checked: by the names of their kernels, and by how many came before.
 */
#ifndef PL_CHECK_CHOICE_H
#define PL_CHECK_CHOICE_H

#include "src/base/base.h"

struct check_choice;

/* From PTXLOOM_CHECK_KERNELS, .._EXCLUDE, .._SKIP, .._COUNT. NULL: all are, or without memory. */
struct check_choice *check_choice_open(void);
void check_choice_free(struct check_choice *c);
/*
 * A launch of the kernel with this name in the PTX begins: is it checked? Those that the names
 * choose are counted. For struct device: is_observed.
 */
bool check_choice_has(void *choice, const char *kernel);
/* At the end: say so if there were launches, and none was checked. */
void check_choice_say(const struct check_choice *c);
/* Does one of these patterns, separated by |, name the kernel? */
bool check_names_kernel(const char *patterns, const char *kernel);

#endif
