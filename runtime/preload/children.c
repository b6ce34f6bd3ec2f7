/*
 * Compilers that programs start: XLA, PyCUDA, CuPy and Triton have `ptxas` make machine code of the
 * PTX that they write, and load that. Where ptxas is told to keep line numbers it also keeps the
 * PTX, so it is told. Part of the preloaded library: children inherit it, and so the ptxas that an
 * nvcc starts is reached, too.
 *
 * What is here may run between fork and exec: it takes no locks and no memory but the stack's.
 */
#include "src/base/base.h"

#include "runtime/preload/children.h"

#include <dlfcn.h>
#include <errno.h>
#include <spawn.h>
#include <stdarg.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

/* Longer command lines are left as they are. */
#define WORDS_MAX 512u

static const char keep_lines[] = "--generate-line-info";

typedef int execve_fn(const char *path, char *const argv[], char *const envp[]);
typedef int exec_fn(const char *path, char *const argv[]);
typedef int spawn_fn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
		     const posix_spawnattr_t *attributes, char *const argv[], char *const envp[]);

static struct {
	execve_fn *execve, *execvpe;
	exec_fn *execv, *execvp;
	spawn_fn *posix_spawn, *posix_spawnp;
} real;

/* Of a function that is not there NULL is answered. */
static void *next_function(const char *name)
{
	return dlvsym(RTLD_NEXT, name, "GLIBC_2.2.5");
}

void children_watch(void)
{
	real.execve = (execve_fn *)(uintptr_t)next_function("execve");
	real.execv = (exec_fn *)(uintptr_t)next_function("execv");
	real.execvp = (exec_fn *)(uintptr_t)next_function("execvp");
	real.execvpe = (execve_fn *)(uintptr_t)dlvsym(RTLD_NEXT, "execvpe", "GLIBC_2.11");
	real.posix_spawn = (spawn_fn *)(uintptr_t)dlvsym(RTLD_NEXT, "posix_spawn", "GLIBC_2.15");
	real.posix_spawnp = (spawn_fn *)(uintptr_t)dlvsym(RTLD_NEXT, "posix_spawnp", "GLIBC_2.15");
}

static bool has_begin(const char *s, const char *begin)
{
	return !strncmp(s, begin, strlen(begin));
}

/* Does this option make ptxas keep the PTX, or do something else than compile? */
static bool is_lines_kept(const char *word)
{
	static const char *const words[] = {"-lineinfo", "--generate-line-info",
					    "-g",        "--device-debug",
					    "--version", "-V",
					    "--help",    "-h"};

	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (!strcmp(word, words[i]))
			return true;
	return has_begin(word, "--generate-line-info=") || has_begin(word, "-lineinfo=");
}

/*
 * The words for a program; of ptxas with one more, in `more`, which has room for WORDS_MAX + 2.
 */
static char *const *child_words(const char *path, char *const argv[], char **more)
{
	const char *slash = path ? strrchr(path, '/') : NULL;
	u32 n = 0;

	if (!path || !argv || !argv[0] || strcmp(slash ? slash + 1 : path, "ptxas"))
		return argv;
	for (; argv[n]; n++) {
		if (n == WORDS_MAX || (n && is_lines_kept(argv[n])))
			return argv;
		more[n] = argv[n];
	}
	more[n] = (char *)(uintptr_t)keep_lines;
	more[n + 1] = NULL;
	return more;
}

#define CHILD(name, params, args)                                                                  \
	EXPORT int name params;                                                                    \
	EXPORT int name params                                                                     \
	{                                                                                          \
		char *more[WORDS_MAX + 2];                                                         \
                                                                                                   \
		if (!real.name) {                                                                  \
			errno = ENOSYS;                                                            \
			return -1;                                                                 \
		}                                                                                  \
		return real.name args;                                                             \
	}
CHILD(execve, (const char *path, char *const argv[], char *const envp[]),
      (path, child_words(path, argv, more), envp))
CHILD(execvpe, (const char *path, char *const argv[], char *const envp[]),
      (path, child_words(path, argv, more), envp))
CHILD(execv, (const char *path, char *const argv[]), (path, child_words(path, argv, more)))
CHILD(execvp, (const char *path, char *const argv[]), (path, child_words(path, argv, more)))

#define CHILD_SPAWN(name)                                                                          \
	EXPORT int name(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,   \
			const posix_spawnattr_t *attributes, char *const argv[],                   \
			char *const envp[])                                                        \
	{                                                                                          \
		char *more[WORDS_MAX + 2];                                                         \
                                                                                                   \
		if (!real.name)                                                                    \
			return ENOSYS;                                                             \
		return real.name(pid, path, actions, attributes, child_words(path, argv, more),    \
				 envp);                                                            \
	}
CHILD_SPAWN(posix_spawn)
CHILD_SPAWN(posix_spawnp)

/* ---- with the words as arguments ---- */

/* execl(path, word, .., NULL) and with what follows NULL: its environment. */
#define CHILD_LIST(name, exec, take_environment)                                                   \
	EXPORT int name(const char *path, const char *word, ...);                                  \
	EXPORT int name(const char *path, const char *word, ...)                                   \
	{                                                                                          \
		char *words[WORDS_MAX + 1] = {(char *)(uintptr_t)word};                            \
		char *const *envp = environ;                                                       \
		va_list list;                                                                      \
		u32 n = 0;                                                                         \
                                                                                                   \
		va_start(list, word);                                                              \
		while (words[n] && n < WORDS_MAX)                                                  \
			words[++n] = va_arg(list, char *);                                         \
		if (take_environment && !words[n])                                                 \
			envp = va_arg(list, char *const *);                                        \
		va_end(list);                                                                      \
		if (words[n]) {                                                                    \
			errno = E2BIG;                                                             \
			return -1;                                                                 \
		}                                                                                  \
		return exec(path, words, envp);                                                    \
	}
CHILD_LIST(execl, execve, false)
CHILD_LIST(execle, execve, true)
CHILD_LIST(execlp, execvpe, false)
