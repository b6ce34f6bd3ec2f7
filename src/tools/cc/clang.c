/*
 * Finding clang, what its version can make, and running it.
 */
#include "src/base/setting.h"
#include "src/base/text.h"
#include "src/tools/cc/build.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* What clang of a major version can make. Source: NVPTX.td and Cuda.cpp of LLVM's releases. */
static const struct level {
	u32 clang, sm;
	const char *ptx;
} levels[] = {
	{19, 90, "+ptx85"}, {18, 90, "+ptx83"}, {17, 90, "+ptx80"},
	{16, 90, "+ptx78"}, {0, 86, "+ptx75"},
};

/* Everything up to the end of the pipe. */
static void read_all(int fd, struct text *out)
{
	char part[4096];
	ssize_t n;

	while ((n = read(fd, part, sizeof(part))) > 0 || (n < 0 && errno == EINTR))
		if (n > 0)
			text_add(out, part, (size_t)n);
}

/* Start a command whose standard error, if `messages` is given, is collected there. */
static int start_compiler(const struct cc_words *c, struct text *messages, pid_t *pid)
{
	posix_spawn_file_actions_t to;
	int ends[2], e;

	if (!messages)
		return posix_spawnp(pid, c->at[0], NULL, NULL, (char *const *)(uintptr_t)c->at,
				    environ);
	if (pipe2(ends, O_CLOEXEC))
		return errno;
	posix_spawn_file_actions_init(&to);
	posix_spawn_file_actions_adddup2(&to, ends[1], STDERR_FILENO);
	e = posix_spawnp(pid, c->at[0], &to, NULL, (char *const *)(uintptr_t)c->at, environ);
	posix_spawn_file_actions_destroy(&to);
	close(ends[1]);
	if (!e)
		read_all(ends[0], messages);
	close(ends[0]);
	return e;
}

int cc_run(const struct cc *cc, const struct cc_words *c, struct text *messages)
{
	int status, e;
	pid_t pid;

	if (cc->o.verbose) {
		for (u32 i = 0; i < c->len; i++)
			fprintf(stderr, "%s%s", i ? " " : "", c->at[i]);
		fputc('\n', stderr);
	}
	if (cc->o.dry)
		return 0;
	e = start_compiler(c, messages, &pid);
	if (e) {
		fprintf(stderr, "ptxloom cc: error: %s: %s\n", c->at[0], strerror(e));
		return 127;
	}
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return 127;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/*
 * The compiler or the linker: what it says is passed on, unless there is something better to say.
 */
int cc_compile(const struct cc *cc, struct cc_words *c)
{
	struct text messages = {0};
	int status;

	if (isatty(STDERR_FILENO))
		cc_add(c, "-fcolor-diagnostics");
	status = cc_run(cc, c, &messages);
	if (messages.at && !(status && cc_explain_missing(messages.at)))
		fwrite(messages.at, 1, messages.len, stderr);
	text_fini(&messages);
	cc_words_fini(c);
	return status;
}

/* The major version that `name -dumpversion` prints, or 0. */
static u32 version_of(const char *name)
{
	const char *argv[] = {name, "-dumpversion", NULL};
	posix_spawn_file_actions_t to;
	char text[32] = "";
	int ends[2], status = 1, e;
	ssize_t n;
	pid_t pid;

	if (pipe(ends))
		return 0;
	posix_spawn_file_actions_init(&to);
	posix_spawn_file_actions_adddup2(&to, ends[1], STDOUT_FILENO);
	posix_spawn_file_actions_addopen(&to, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_addclose(&to, ends[0]);
	e = posix_spawnp(&pid, name, &to, NULL, (char *const *)(uintptr_t)argv, environ);
	posix_spawn_file_actions_destroy(&to);
	close(ends[1]);
	n = e ? 0 : read(ends[0], text, sizeof(text) - 1);
	close(ends[0]);
	if (e || waitpid(pid, &status, 0) != pid || status || n <= 0)
		return 0;
	return (u32)strtoul(text, NULL, 10);
}

bool cc_choose_clang(struct cc *cc, u32 *version)
{
	const char *names[] = {setting_text(SETTING_CLANG), "clang-14", "clang"};

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		*version = names[i] ? version_of(names[i]) : 0;
		cc->clang = names[i];
		if (*version)
			return true;
		if (i == 0 && names[i])
			break;
	}
	if (names[0])
		fprintf(stderr,
			"ptxloom cc: error: clang is not found: PTXLOOM_CLANG is '%s', which cannot be run\n",
			names[0]);
	else
		fputs("ptxloom cc: error: clang is not found; install it (apt install clang), or name it with "
		      "PTXLOOM_CLANG\n",
		      stderr);
	return false;
}

const char *cc_find_clang(void)
{
	struct cc cc = {0};
	u32 version;

	return cc_choose_clang(&cc, &version) ? cc.clang : NULL;
}

/* The nearest target to the one asked for that clang makes and our headers are for. */
void cc_choose_target(struct cc *cc, u32 version, char *text, size_t size)
{
	u32 asked = cc->o.arch ? (u32)strtoul(cc->o.arch + 3, NULL, 10) : 80, made = asked;
	size_t i = 0;

	while (levels[i].clang > version)
		i++;
	cc->ptx = levels[i].ptx;
	made = made > levels[i].sm ? levels[i].sm : made < 60 ? 60 : made;
	if (made != asked)
		fprintf(stderr,
			"ptxloom cc: note: device code is made for sm_%u, not for sm_%u: %s\n",
			made, asked,
			asked < 60 ? "the lowest of these headers"
				   : "the highest that this clang knows");
	snprintf(text, size, "--cuda-gpu-arch=sm_%u", made);
	cc->arch = text;
	cc->sm = made;
	cc->version = version;
}
