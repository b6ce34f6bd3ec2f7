/*
 * Programs: their environment, whether they can be started, starting them.
 */
#include "src/base/setting.h"
#include "src/check/process.h"
#include "src/tools/tools.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

/* `first` before what a variable holds; NULL: it is not set. */
static char *prepend(const char *old, const char *first, char separator)
{
	size_t n = strlen(first) + (old ? strlen(old) : 0) + 2;
	char *v = malloc(n);

	if (v)
		snprintf(v, n, old && *old ? "%s%c%s" : "%s", first, separator, old);
	return v;
}

/* PyTorch finds the package that computes its operators by itself. */
static bool takes_torch(void)
{
	const char *where = setting_text(SETTING_TORCH);

	return !where || strcmp(where, "own") != 0;
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
	e->preload = prepend(getenv("LD_PRELOAD"), preload, ':');
	e->library_path = prepend(getenv("LD_LIBRARY_PATH"), dir, ':');
	snprintf(preload, sizeof(preload), "%s/libptxloom-runtime.so", dir);
	e->nvtx = strdup(preload);
	snprintf(preload, sizeof(preload), "%s/" TOOL_FRONT, dir);
	/* Without PATH execvp looks in these. */
	e->path = prepend(getenv("PATH") ? getenv("PATH") : "/bin:/usr/bin", preload, ':');
	if (takes_torch() && tool_find_python(dir, sizeof(dir)))
		e->python_path = prepend(getenv("PYTHONPATH"), dir, ':');
	return e->preload && e->library_path && e->nvtx && e->path;
}

void tool_environment_set(const struct tool_environment *e)
{
	setenv("LD_PRELOAD", e->preload, 1);
	setenv("LD_LIBRARY_PATH", e->library_path, 1);
	setenv("PATH", e->path, 1);
	if (e->python_path)
		setenv("PYTHONPATH", e->python_path, 1);
	/* What the program's allocators say of their pools is of use to checks alone. */
	if (setting_text(SETTING_CHECK))
		setenv("NVTX_INJECTION64_PATH", e->nvtx, 0);
}

void tool_environment_fini(struct tool_environment *e)
{
	free(e->preload);
	free(e->library_path);
	free(e->nvtx);
	free(e->path);
	free(e->python_path);
}

bool tool_find_program(const char *name, char *out, size_t size)
{
	const char *path = strchr(name, '/') ? NULL : getenv("PATH");

	if (!path)
		return (size_t)snprintf(out, size, "%s", name) < size && !access(out, F_OK);
	for (size_t n; *path; path += n + (path[n] == ':')) {
		n = strcspn(path, ":");
		if ((size_t)snprintf(out, size, "%.*s/%s", (int)n, path, name) < size &&
		    !access(out, X_OK))
			return true;
	}
	errno = ENOENT;
	return false;
}

/* The file that execvp will start. */
static FILE *open_program(const char *name)
{
	char at[4096];

	return tool_find_program(name, at, sizeof(at)) ? fopen(at, "rb") : NULL;
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
 * Why the program gets rights that we have not, NULL: it does not. The loader then takes no library
 * that is asked for.
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

bool tool_check_program(const char *name)
{
	FILE *f = open_program(name);
	const char *rights;
	bool ok = true;
	Elf64_Ehdr h;

	/* Scripts, and what cannot be read: the loader reports what is wrong. */
	if (!f || fread(&h, sizeof(h), 1, f) != 1 || memcmp(h.e_ident, ELFMAG, SELFMAG)) {
		ok = true;
	} else if (h.e_ident[EI_CLASS] != ELFCLASS64) {
		fprintf(stderr,
			"ptxloom: error: %s: a 32-bit program cannot load 64-bit libraries\n",
			name);
		ok = false;
	} else if (h.e_machine != EM_X86_64) {
		/* execvp would have the shell read it as a script. */
		fprintf(stderr,
			"ptxloom: error: %s: a program for another processor (ELF machine %u), not for x86-64\n",
			name, h.e_machine);
		ok = false;
	} else if (!has_interpreter(f, &h)) {
		fprintf(stderr,
			"ptxloom: note: %s is linked statically: no library can be put "
			"in front of it, it will not see a GPU\n",
			name);
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
			return fprintf(stderr, "ptxloom: note: %s is %s: `ptxloom %s %s` %s\n",
				       name, hints[i].what, hints[i].command, name,
				       hints[i].does) > 0;
	return false;
}

/* The error number of execvp, which calls a folder "permission denied". */
static int why_not_started(const char *name)
{
	int e = errno;
	struct stat s;

	return e == EACCES && strchr(name, '/') && !stat(name, &s) && S_ISDIR(s.st_mode) ? EISDIR
											 : e;
}

int tool_check_file(const char *name)
{
	struct stat st;
	char path[4096];
	int e;

	if (tool_find_program(name, path, sizeof(path)) && !access(path, X_OK)) {
		if (stat(path, &st) || !S_ISDIR(st.st_mode))
			return tool_check_program(name) ? TOOL_OK : TOOL_CANNOT_RUN;
		errno = EISDIR;
	}
	e = errno;
	fprintf(stderr, "ptxloom: error: %s: %s\n", name, strerror(e));
	tool_hint_file(name);
	return e == ENOENT ? 127 : TOOL_CANNOT_RUN;
}

int tool_start_program(char **argv)
{
	int e;

	if (!tool_check_program(argv[0]))
		return TOOL_CANNOT_RUN;
	check_process_begin();
	execvp(argv[0], argv);
	e = why_not_started(argv[0]);
	fprintf(stderr, "ptxloom: error: %s: %s\n", argv[0], strerror(e));
	tool_hint_file(argv[0]);
	return e == ENOENT ? 127 : TOOL_CANNOT_RUN;
}
