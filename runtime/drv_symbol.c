/*
 * The driver's functions by their exact names. Alone, because here they have no types.
 */
#include "src/base/base.h"

#include <stdlib.h>

#define RT_API __attribute__((visibility("default")))

void *drv_symbol(const char *name);

#define DRV(name, state) extern int plentry_##name(void);
#include "runtime/driver.def"
#undef DRV

struct entry {
	const char *name;
	int (*fn)(void);
};

/* As driver.def: rising. */
static const struct entry entries[] = {
#define DRV(name, state) {#name, plentry_##name},
#include "runtime/driver.def"
#undef DRV
};

static int compare(const void *key, const void *entry)
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
		bsearch(name, entries, ARRAY_LEN(entries), sizeof(*entries), compare);

	return e ? (void *)(uintptr_t)e->fn : NULL;
}
