/*
 * Private to src/arch.
 */
#ifndef PL_ARCH_INT_H
#define PL_ARCH_INT_H

#include "src/arch/arch.h"

/* The built-in profiles, ended by NULL. */
extern const struct arch *const arch_profiles[];

/* The limits that all profiles share; a parent for user profiles, no device by itself. */
extern const struct arch arch_base;

/* Every number of a known field lies between its min and max. */
bool arch_in_range(const struct arch *a, enum arch_field f);

/* Address of a field's value in a profile. */
static inline const void *arch_member(const struct arch *a, enum arch_field f)
{
	return (const char *)a + arch_field_info(f)->offset;
}

#endif
