/*
 * `ptxloom run`: starts a program with the emulated CUDA libraries in front.
 */
#include "src/arch/arch.h"
#include "src/base/setting.h"
#include "src/tools/tools.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

const char tool_help_run[] =
	"Runs PROG with its arguments on an emulated GPU: unmodified CUDA programs, "
	"linked with the static or the shared\n"
	"runtime, and programs of the driver API. Child processes inherit it; programs without CUDA are untouched.\n"
	"\n"
	"  -d, --device DEVICE   device or list of devices: a100 (default), v100, 8xv100, t4,h100; see\n"
	"                        `ptxloom devices`\n"
	"  --check=mem           a kernel that touches memory outside allocations stops with a fault, even where\n"
	"                        hardware would not notice; the exit status is 86 if any kernel faulted\n"
	"  --help                this text\n"
	"\n"
	"Exit status: that of PROG; 126 when it cannot be started, 127 when it is not found, 2 for wrong arguments.\n";

bool tool_device_option(int argc, char **argv, int *i)
{
	if ((strcmp(argv[*i], "-d") && strcmp(argv[*i], "--device")) || *i + 1 >= argc)
		return false;
	++*i;
	return true;
}

bool tool_check_devices(const char *spec)
{
	struct arch_devices devices;
	struct diag d;
	bool ok;

	diag_init(&d, diag_print, stderr);
	ok = arch_devices_parse(&devices, spec, &d);
	if (ok)
		arch_devices_fini(&devices);
	diag_fini(&d);
	return ok;
}

static bool check_option(const struct tool_command *self, const char *checks)
{
	struct text why = {0};
	u64 mask;
	bool ok = setting_parse(SETTING_CHECK, "--check", checks, &mask, &why);

	if (!ok)
		tool_usage(self, "%s", why.at ? why.at : "no memory left");
	text_fini(&why);
	return ok;
}

/* Put `first` before what the variable holds. */
static char *prepend(const char *name, const char *first, char separator)
{
	const char *old = getenv(name);
	size_t n = strlen(first) + (old ? strlen(old) : 0) + 2;
	char *v = malloc(n);

	if (v)
		snprintf(v, n, old && *old ? "%s%c%s" : "%s", first, separator, old);
	return v;
}

bool tool_environment(struct tool_environment *e)
{
	char preload[4300], dir[4200];

	*e = (struct tool_environment){0};
	if (!tool_find_libs(dir, sizeof(dir))) {
		fputs("ptxloom: error: " TOOL_PRELOAD
		      " is not found; is ptxloom installed? PTXLOOM_LIBDIR may name its folder\n",
		      stderr);
		return false;
	}
	snprintf(preload, sizeof(preload), "%s/" TOOL_PRELOAD, dir);
	e->preload = prepend("LD_PRELOAD", preload, ':');
	e->library_path = prepend("LD_LIBRARY_PATH", dir, ':');
	return e->preload && e->library_path;
}

void tool_environment_fini(struct tool_environment *e)
{
	free(e->preload);
	free(e->library_path);
}

/* The file that execvp will start. */
static FILE *open_program(const char *name)
{
	const char *path = strchr(name, '/') ? NULL : getenv("PATH");
	char at[4096];
	FILE *f = NULL;

	if (!path)
		return fopen(name, "rb");
	for (size_t n; *path && !f; path += n + (path[n] == ':')) {
		n = strcspn(path, ":");
		if (snprintf(at, sizeof(at), "%.*s/%s", (int)n, path, name) < (int)sizeof(at) &&
		    !access(at, X_OK))
			f = fopen(at, "rb");
	}
	return f;
}

static bool has_interpreter(FILE *f, const Elf64_Ehdr *h)
{
	Elf64_Phdr p;

	if (fseek(f, (long)h->e_phoff, SEEK_SET))
		return true;
	for (u32 i = 0; i < h->e_phnum && fread(&p, sizeof(p), 1, f) == 1; i++)
		if (p.p_type == PT_INTERP)
			return true;
	return false;
}

/*
 * Why the program gets rights that we have not, NULL: it does not. The loader then takes no library that
 * somebody asks for.
 */
static const char *added_rights(FILE *f)
{
	struct stat s;

	if (fstat(fileno(f), &s))
		return NULL;
	if (s.st_mode & S_ISUID && s.st_uid != geteuid())
		return "another user's rights (setuid)";
	if (s.st_mode & S_ISGID && s.st_gid != getegid())
		return "another group's rights (setgid)";
	return geteuid() && fgetxattr(fileno(f), "security.capability", NULL, 0) > 0
		       ? "rights of its own (file capabilities)"
		       : NULL;
}

/* Says so when the program will not see the libraries. False: it must not be started. */
static bool check_program(const char *name)
{
	FILE *f = open_program(name);
	const char *rights;
	bool ok = true;
	Elf64_Ehdr h;

	/* Scripts, and what cannot be read: whoever starts them knows more. */
	if (!f || fread(&h, sizeof(h), 1, f) != 1 || memcmp(h.e_ident, ELFMAG, SELFMAG)) {
		ok = true;
	} else if (h.e_ident[EI_CLASS] != ELFCLASS64) {
		fprintf(stderr, "ptxloom: error: %s: a 32-bit program cannot load 64-bit libraries\n",
			name);
		ok = false;
	} else if (!has_interpreter(f, &h)) {
		fprintf(stderr, "ptxloom: note: %s is linked statically: no library can be put "
				"in front of it, it will not see a GPU\n", name);
	} else if ((rights = added_rights(f))) {
		fprintf(stderr,
			"ptxloom: note: %s runs with %s: the system puts no library in front of it, it will not "
			"see a GPU; a copy of it has no such rights\n",
			name, rights);
	}
	if (f)
		fclose(f);
	return ok;
}

bool tool_hint_file(const char *name)
{
	static const struct {
		const char *end, *what, *command, *does;
	} hints[] = {
		{".cu", "a source", "cc -run", "builds and runs it"},
		{".ptx", "PTX", "exec", "runs a kernel of it on data that you give"},
		{".cubin", "no program", "exec", "runs a kernel of it, if it carries PTX"},
		{".fatbin", "no program", "exec", "runs a kernel of it, if it carries PTX"},
	};
	const char *dot = strrchr(name, '.');

	for (size_t i = 0; dot && i < ARRAY_LEN(hints); i++)
		if (!strcmp(dot, hints[i].end))
			return fprintf(stderr, "ptxloom: note: %s is %s: `ptxloom %s %s` %s\n", name,
				       hints[i].what, hints[i].command, name, hints[i].does) > 0;
	return false;
}

static int start(char **argv)
{
	int e;

	if (!check_program(argv[0]))
		return TOOL_CANNOT_RUN;
	execvp(argv[0], argv);
	e = errno;
	fprintf(stderr, "ptxloom: error: %s: %s\n", argv[0], strerror(e));
	tool_hint_file(argv[0]);
	return e == ENOENT ? 127 : TOOL_CANNOT_RUN;
}

int tool_main_run(const struct tool_command *self, int argc, char **argv)
{
	const char *device = NULL, *checks = NULL;
	struct tool_environment e;
	int i = 1;

	for (; i < argc && argv[i][0] == '-'; i++) {
		if (!strcmp(argv[i], "--")) {
			i++;
			break;
		} else if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h")) {
			return tool_help(self);
		} else if (!strncmp(argv[i], "--check=", 8)) {
			checks = argv[i] + 8;
		} else if (tool_device_option(argc, argv, &i)) {
			device = argv[i];
		} else if (!strcmp(argv[i], "-d") || !strcmp(argv[i], "--device")) {
			return tool_usage(self, "there is no value for '%s'", argv[i]);
		} else {
			return tool_usage(self, "unknown option '%s'", argv[i]);
		}
	}
	if (i == argc)
		return tool_usage(self, "no program given");
	if (device && !tool_check_devices(device))
		return TOOL_USAGE;
	if (checks && !check_option(self, checks))
		return TOOL_USAGE;
	if (!tool_environment(&e))
		return TOOL_CANNOT_RUN;
	setenv("LD_PRELOAD", e.preload, 1);
	setenv("LD_LIBRARY_PATH", e.library_path, 1);
	tool_environment_fini(&e);
	if (device)
		setenv("PTXLOOM_DEVICE", device, 1);
	if (checks)
		setenv("PTXLOOM_CHECK", checks, 1);
	return start(argv + i);
}
