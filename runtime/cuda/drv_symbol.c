/*
 * The driver's functions by their exact names.
 */
#include "runtime/cuda/drv.h"

#include <stdlib.h>

typedef void entry_point(void);

struct entry {
	const char *name;
	entry_point *fn;
};

/* Sorted, as driver.def is. */
static const struct entry entries[] = {
#define DRV(name, params, args, checks) {#name, (entry_point *)plentry_##name},
#include "runtime/cuda/driver.def"
#undef DRV
};

static int compare_symbol(const void *key, const void *entry)
{
	return strcmp(key, ((const struct entry *)entry)->name);
}

RT_API void *plrt_driver_symbol(const char *name);
RT_API void *plrt_driver_symbol(const char *name)
{
	return drv_symbol(name);
}

void *drv_symbol(const char *name)
{
	const struct entry *e =
		bsearch(name, entries, ARRAY_LEN(entries), sizeof(*entries), compare_symbol);

	return e ? (void *)(uintptr_t)e->fn : NULL;
}
