/*
 * Names of functions: which there are, and which of them a pattern means.
 */
#include "src/inject/names.h"

#include "src/base/nearest.h"
#include "src/inject/rules.h"

#include <ctype.h>
#include <fnmatch.h>

/* Every entry point, by the tables that make them. */
static const char *const functions[] = {
#define RT(name, params, args, checks) #name,
#define RT_FOR(versions, public, name, params, args, checks) #public,
#define RT_TYPED(type, name, params, args, checks)
#define RT_VOID(name, params, args)
#define RT_STUB(name, params, args, checks)
#include "runtime/cudart/runtime.def"
#undef RT
#define DRV(name, params, args, checks) #name,
#define DRV_STUB(name, params, args, checks)
#include "runtime/cuda/driver.def"
#undef DRV
};

/* Part of every launch of nvcc's, or questions for the error of another call. */
static const char *const quiet[] = {
	"cudaPopCallConfiguration",
	"cudaGetKernel",
	"cudaGetLastError",
	"cudaPeekAtLastError",
};

static size_t without_end(const char *name, size_t n, const char *end)
{
	size_t len = strlen(end);

	return n > len && !memcmp(name + n - len, end, len) ? n - len : n;
}

size_t inject_name_len(const char *name)
{
	size_t n = strlen(name), digits;

	n = without_end(name, n, "_ptsz");
	n = without_end(name, n, "_ptds");
	digits = n;
	while (digits && isdigit((unsigned char)name[digits - 1]))
		digits--;
	if (digits < n && digits > 2 && name[digits - 1] == 'v' && name[digits - 2] == '_')
		return digits - 2;
	return digits < n && digits > 1 && name[digits - 1] == '_' ? digits - 1 : n;
}

bool inject_is_call(const char *pattern, const char *name)
{
	char bare[128];
	size_t n;

	name += strncmp(name, "__", 2) ? 0 : 2;
	for (size_t i = 0; i < ARRAY_LEN(quiet); i++)
		if (!strcmp(name, quiet[i]))
			return !strcmp(pattern, name);
	if (!fnmatch(pattern, name, 0))
		return true;
	n = inject_name_len(name);
	if (!name[n] || n >= sizeof(bare))
		return false;
	memcpy(bare, name, n);
	bare[n] = '\0';
	return !fnmatch(pattern, bare, 0);
}

bool inject_name_exists(const char *pattern)
{
	for (size_t i = 0; i < ARRAY_LEN(functions); i++)
		if (inject_is_call(pattern, functions[i]))
			return true;
	return false;
}

const char *inject_name_near(const char *pattern)
{
	struct nearest n;

	nearest_init(&n, pattern, strlen(pattern));
	for (size_t i = 0; i < ARRAY_LEN(functions); i++)
		nearest_offer(&n, functions[i], strlen(functions[i]));
	return n.best;
}
