/*
 * Where the libraries and headers are: named by the environment, installed, or in the build tree.
 */
#include "src/base/setting.h"
#include "src/tools/tools.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Folder of this program's file, without a final slash. */
static bool own_folder(char *out, size_t size)
{
	ssize_t n = readlink("/proc/self/exe", out, size - 1);
	char *slash;

	if (n <= 0)
		return false;
	out[n] = 0;
	slash = strrchr(out, '/');
	if (slash)
		*slash = 0;
	return slash != NULL;
}

/*
 * The first place in which `file` can be read becomes `out`. variable: names the place instead;
 * SETTING_COUNT: none does.
 */
static bool find_path(char *out, size_t size, enum setting variable, const char *const *places,
		      const char *file)
{
	const char *named = variable == SETTING_COUNT ? NULL : setting_text(variable);
	char folder[4096], path[8192];

	if (named) {
		snprintf(path, sizeof(path), "%s/%s", named, file);
		return (size_t)snprintf(out, size, "%s", named) < size && !access(path, R_OK);
	}
	if (!own_folder(folder, sizeof(folder)))
		return false;
	for (; *places; places++) {
		snprintf(path, sizeof(path), "%s/%s/%s", folder, *places, file);
		if (!access(path, R_OK))
			return (size_t)snprintf(out, size, "%s/%s", folder, *places) < size;
	}
	return false;
}

bool tool_find_libs(char *out, size_t size)
{
	static const char *const places[] = {"../lib/ptxloom",
					     "../lib/x86_64-linux-gnu/ptxloom", /* of Debian */
					     "../lib64/ptxloom",                /* of Fedora */
					     ".",
					     ".libs",
					     NULL};

	return find_path(out, size, SETTING_LIBDIR, places, TOOL_PRELOAD);
}

bool tool_find_include(char *out, size_t size)
{
	static const char *const places[] = {"../share/ptxloom/include",
					     "../../share/ptxloom/include", "share/ptxloom/include",
					     NULL};

	if (find_path(out, size, SETTING_INCLUDE, places, "cuda_runtime.h"))
		return true;
	/* A build outside the source tree knows where that is. */
	return !access(PTXLOOM_SOURCE_INCLUDE "/cuda_runtime.h", R_OK) &&
	       (size_t)snprintf(out, size, "%s", PTXLOOM_SOURCE_INCLUDE) < size;
}

bool tool_find_python(char *out, size_t size)
{
	static const char *const places[] = {"../share/ptxloom/python", NULL};
	static const char file[] = "ptxloom_torch/__init__.py";

	if (find_path(out, size, SETTING_COUNT, places, file))
		return true;
	return !access(PTXLOOM_SOURCE_PYTHON "/ptxloom_torch/__init__.py", R_OK) &&
	       (size_t)snprintf(out, size, "%s", PTXLOOM_SOURCE_PYTHON) < size;
}
