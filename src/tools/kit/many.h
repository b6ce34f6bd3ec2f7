/*
 * Runs of `ptxloom exec` on each of several devices, with each of several seeds.
 */
#ifndef PL_TOOLS_KIT_MANY_H
#define PL_TOOLS_KIT_MANY_H

#include "src/base/text.h"
#include "src/base/vec.h"
#include "src/tools/tools.h"

struct seed_range {
	u64 first, last;
};

struct seed_list {
	VEC(struct seed_range) at;
};

/* The most runs that a list of seeds may ask for. */
#define SEEDS_MAX 1000000u

/* "1..20", "0,3,5..7". False with a reason. */
bool seeds_parse(const char *text, struct seed_list *out, struct text *why);
void seeds_fini(struct seed_list *l);

/*
 * Call run(user, device, label) for each device of the list (NULL: once with NULL) and each seed
 * (NULL: once), which PTXLOOM_SEED then has. What fails is named on standard error. Returns the
 * first status that is not TOOL_OK; what is interrupted or wrong by itself ends it.
 */
int many_run(const char *devices, const char *seeds,
	     int (*run)(void *user, const char *device, const char *label), void *user);

#endif
