/*
 * `ptxloom toolkit`: where the folder is, and a file that CMake reads.
 */
#include "src/tools/toolkit/toolkit.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

const char tool_help_toolkit[] =
	"The folder has bin/nvcc, which is `ptxloom cc` under nvcc's name, include and lib64, and build\n"
	"systems use it as they use NVIDIA's:\n"
	"\n"
	"  cmake -S . -B build -DCMAKE_TOOLCHAIN_FILE=\"$(ptxloom toolkit --cmake)\"\n"
	"  make CUDA_PATH=\"$(ptxloom toolkit)\"\n"
	"\n"
	"  --cmake   print the name of a toolchain file instead, which names the compiler and lets tests\n"
	"            run by `ptxloom run`\n"
	"  --help    this text\n"
	"\n"
	"Programs find the emulated libraries when `ptxloom run` starts them, or after `ptxloom env`.\n"
	"Device code of several files is linked (-rdc=true), that of NVIDIA's libraries is not there.\n"
	"Exit status: 0; 126 when the folder is not found, 2 for wrong arguments.\n";

bool tool_find_toolkit(char *out, size_t size)
{
	char libs[4096], path[4200];

	if (!tool_find_libs(libs, sizeof(libs)))
		return false;
	/* Installed; in a build, whose libraries are a folder further down. */
	for (const char *const *p = (const char *const[]){"toolkit", "../toolkit", NULL}; *p; p++) {
		char *whole;

		snprintf(path, sizeof(path), "%s/%s", libs, *p);
		whole = realpath(path, NULL);
		if (whole) {
			bool fits = (size_t)snprintf(out, size, "%s", whole) < size;

			free(whole);
			return fits;
		}
	}
	return false;
}

int tool_main_toolkit(const struct tool_command *self, int argc, char **argv)
{
	bool cmake = false;
	char top[4200];

	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h"))
			return tool_help(self);
		if (strcmp(argv[i], "--cmake") != 0)
			return tool_usage(self, "unknown argument '%s'", argv[i]);
		cmake = true;
	}
	if (!tool_find_toolkit(top, sizeof(top))) {
		fputs("ptxloom toolkit: error: the folder is not found; is ptxloom installed?\n",
		      stderr);
		return TOOL_CANNOT_RUN;
	}
	printf("%s%s\n", top, cmake ? "/ptxloom.cmake" : "");
	return TOOL_OK;
}
