/*
 * What launches ask of each variable and each allocation.
 */
#ifndef PL_PROFILE_VARIABLES_H
#define PL_PROFILE_VARIABLES_H

#include "src/profile/profile.h"

struct cache_places;
struct device_program;
struct exec_env;

/*
 * Everything that the device may reach now, to be counted apart, and of managed memory the pages,
 * if wanted. NULL without memory.
 */
struct cache_places *profile_variables_begin(const struct exec_env *e, bool has_pages);
/*
 * Add what was accessed. p: whose variables are called by their names; origin: may add where the
 * allocation at `base` was made, NULL: that is not known. False without memory.
 */
bool profile_variables_end(const struct cache_places *places, const struct device_program *p,
			   void (*origin)(u64 base, struct text *out), struct profile_launch *l);
/* As a member of a launch in a report; as that of --page json. */
void profile_variables_write(const struct profile_launch *l, struct text *out);
void profile_variables_json(const struct profile_launch *l, struct text *out);
/* As a section of the details page. */
void profile_variables_text(const struct profile_launch *l, struct text *out);

#endif
