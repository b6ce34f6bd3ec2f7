/*
 * Loading libdw. It stays loaded.
 */
#include "src/dbg/libdw.inc"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

#define LIBRARY "libdw.so.1"

struct libdw libdw;
static bool loaded;
static char problem[256];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static bool find_libdw_symbol(void *library, const char *name, void *function, size_t bytes)
{
	void *symbol = dlsym(library, name);

	memcpy(function, &symbol, bytes);
	return symbol != NULL;
}

static void load_libdw(void)
{
	void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
	bool found = library != NULL;

#define LIBDW(name)                                                                                \
	found = found && find_libdw_symbol(library, #name, &libdw.name, sizeof(libdw.name));
#include "src/dbg/libdw.def"
#undef LIBDW
	loaded = found;
	if (!found) {
		const char *reason = dlerror();

		snprintf(problem, sizeof(problem), "%s", reason ? reason : LIBRARY " is unusable");
	}
}

bool libdw_load(struct text *why)
{
	pthread_once(&once, load_libdw);
	if (!loaded)
		text_printf(why, "libdw (Debian: libdw1) cannot be loaded: %s", problem);
	return loaded;
}
