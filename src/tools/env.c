/*
 * `ptxloom env`: what `ptxloom run` sets up, as commands for the shell and a line for CMake.
 */
#include "src/tools/toolkit/toolkit.h"
#include "src/tools/tools.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

const char tool_help_env[] =
	"For a shell in which every program sees the emulated GPU, and for builds with tests:\n"
	"\n"
	"  eval \"$(ptxloom env -d h100)\"\n"
	"\n"
	"The exports: LD_PRELOAD puts the emulated CUDA libraries in front and is enough for nearly all programs;\n"
	"LD_LIBRARY_PATH is for those whose libcudart the loader does not find, PATH for those that run\n"
	"nvidia-smi. NVCC_APPEND_FLAGS makes nvcc link the shared runtime, PTXLOOM_DEVICE names the devices. The last\n"
	"line, a comment for the shell, is for cmake.\n"
	"\n"
	"  -d, --device DEVICE   device or list of devices; see `ptxloom devices`\n"
	"  --help                this text\n"
	"\n"
	"Exit status: 0; 126 when the libraries are not found, 2 for wrong arguments.\n";

/* Between single quotes, as a shell wants it. */
static void print_quoted(const char *s)
{
	putchar('\'');
	for (; *s; s++)
		if (*s == '\'')
			fputs("'\\''", stdout);
		else
			putchar(*s);
	putchar('\'');
}

static void print_export(const char *name, const char *value)
{
	printf("export %s=", name);
	print_quoted(value);
	putchar('\n');
}

/* Options that nvcc already gets stay in front. */
static bool print_nvcc_flags(void)
{
	static const char ours[] = "-cudart shared";
	const char *old = getenv("NVCC_APPEND_FLAGS");
	struct text t = {0};

	if (old && strstr(old, ours))
		text_puts(&t, old);
	else
		text_printf(&t, "%s%s%s", old ? old : "", old && *old ? " " : "", ours);
	if (t.at)
		print_export("NVCC_APPEND_FLAGS", t.at);
	text_fini(&t);
	return !t.failed;
}

/*
 * CMake starts test programs through a launcher when it is given one: a list of words. Up to 3.28
 * that is the emulator; from 3.29 on the launcher, as the emulator is for cross compiling alone
 * where policy CMP0158 is new.
 */
static void print_cmake(const char *device)
{
	static const char *const variables[] = {"CMAKE_TEST_LAUNCHER",
						"CMAKE_CROSSCOMPILING_EMULATOR"};
	char self[4096], toolkit[4200];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	self[n > 0 ? n : 0] = 0;
	fputs("# cmake", stdout);
	for (size_t i = 0; i < ARRAY_LEN(variables); i++)
		printf(" -D%s='%s;run%s%s;--'", variables[i], self, device ? ";-d;" : "",
		       device ? device : "");
	/* For find_package, where there is a folder for it. */
	if (tool_find_toolkit(toolkit, sizeof(toolkit)))
		printf(" -Dptxloom_DIR='%s/lib/cmake/ptxloom'", toolkit);
	putchar('\n');
}

int tool_main_env(const struct tool_command *self, int argc, char **argv)
{
	struct tool_environment e;
	const char *device = NULL, *value;

	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h"))
			return tool_help(self);
		else if ((value = tool_device_option(argc, argv, &i)))
			device = value;
		else if (!strcmp(argv[i], "-d") || !strcmp(argv[i], "--device"))
			return tool_usage(self, "there is no value for '%s'", argv[i]);
		else
			return tool_usage(self, "unknown argument '%s'", argv[i]);
	}
	if (device && !tool_check_devices(device))
		return TOOL_USAGE;
	if (!tool_environment(&e))
		return TOOL_CANNOT_RUN;
	print_export("LD_PRELOAD", e.preload);
	print_export("LD_LIBRARY_PATH", e.library_path);
	print_export("PATH", e.path);
	if (e.python_path)
		print_export("PYTHONPATH", e.python_path);
	if (!print_nvcc_flags())
		return TOOL_CANNOT_RUN;
	if (device)
		print_export("PTXLOOM_DEVICE", device);
	print_cmake(device);
	tool_environment_fini(&e);
	return TOOL_OK;
}
