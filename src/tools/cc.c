/*
 * `ptxloom cc`: builds CUDA C++ with clang alone, no toolkit: device code to PTX, PTX into a fat
 * binary, host code around it, linked with our runtime.
 */
#include "src/base/file.h"
#include "src/dev/image.h"
#include "src/tools/tools.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

const char tool_help_cc[] =
	"Compiles and links CUDA C++ with clang and a header of ptxloom's own, "
	"without NVIDIA's toolkit. Files that end in .cu are\n"
	"CUDA; everything else (options, objects, libraries) goes to clang as it is.\n"
	"\n"
	"  -arch=sm_XX  device code for this target (default sm_80); sm_60 and higher\n"
	"  -o FILE      the program (default a.out), or with -ptx the PTX of the one source\n"
	"  -ptx         stop after the device code\n"
	"  -v           show the commands\n"
	"  --help       this text\n"
	"\n"
	"clang is found as $PTXLOOM_CLANG, clang-14 or clang. Run the program with `ptxloom run`.\n"
	"Exit status: 0, or that of the compiler.\n";

extern char **environ;

#define ARGS_MAX 256
#define FILES_MAX 64

struct cc {
	const char *clang;
	const char *arch; /* "sm_80" */
	const char *output;
	const char *sources[FILES_MAX];
	u32 source_len;
	const char *passed[ARGS_MAX]; /* for clang */
	u32 passed_len;
	bool ptx_only, verbose;
	char include[4200], libdir[4200], temp[64];
};

struct command {
	const char *at[ARGS_MAX + FILES_MAX];
	u32 len;
	char *owned[2 * FILES_MAX];
	u32 owned_len;
};

static void add(struct command *c, const char *s)
{
	if (c->len + 1 < ARRAY_LEN(c->at))
		c->at[c->len++] = s;
	c->at[c->len] = NULL;
}

static const char *keep(struct command *c, const char *fmt, const char *a, u32 i, const char *b)
{
	char *s = NULL;

	if (c->owned_len == ARRAY_LEN(c->owned) || asprintf(&s, fmt, a, i, b) < 0)
		return "";
	c->owned[c->owned_len++] = s;
	return s;
}

static void command_fini(struct command *c)
{
	for (u32 i = 0; i < c->owned_len; i++)
		free(c->owned[i]);
}

static int run(const struct cc *cc, const struct command *c)
{
	int status, e;
	pid_t pid;

	if (cc->verbose) {
		for (u32 i = 0; i < c->len; i++)
			fprintf(stderr, "%s%s", i ? " " : "", c->at[i]);
		fputc('\n', stderr);
	}
	e = posix_spawnp(&pid, c->at[0], NULL, NULL, (char *const *)(uintptr_t)c->at, environ);
	if (e) {
		fprintf(stderr, "ptxloom cc: %s: %s\n", c->at[0], strerror(e));
		return 127;
	}
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return 127;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static bool runs(const char *name)
{
	const char *argv[] = {name, "--version", NULL};
	posix_spawn_file_actions_t quiet;
	int status = 1;
	pid_t pid;
	bool ok;

	posix_spawn_file_actions_init(&quiet);
	posix_spawn_file_actions_addopen(&quiet, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	ok = !posix_spawnp(&pid, name, &quiet, NULL, (char *const *)(uintptr_t)argv, environ) &&
	     waitpid(pid, &status, 0) == pid;
	posix_spawn_file_actions_destroy(&quiet);
	return ok && status == 0;
}

static const char *find_clang(void)
{
	const char *named = getenv("PTXLOOM_CLANG");

	if (named)
		return named;
	return runs("clang-14") ? "clang-14" : runs("clang") ? "clang" : NULL;
}

/* Options that both passes share. */
static void common(const struct cc *cc, struct command *c, const char *arch_option)
{
	add(c, cc->clang);
	add(c, "--cuda-path=/nonexistent");
	add(c, "-nocudainc");
	add(c, "-nocudalib");
	add(c, "-x");
	add(c, "cuda");
	add(c, "-fdeclspec");
	add(c, arch_option);
	add(c, "-I");
	add(c, cc->include);
	add(c, "-include"); /* as nvcc does */
	add(c, "cuda_runtime.h");
	add(c, "-O2");
}

static void add_passed(const struct cc *cc, struct command *c)
{
	for (u32 i = 0; i < cc->passed_len; i++)
		if (cc->passed[i][0] == '-' && strncmp(cc->passed[i], "-l", 2) &&
		    strncmp(cc->passed[i], "-L", 2) && strncmp(cc->passed[i], "-Wl,", 4))
			add(c, cc->passed[i]);
}

static int device_pass(const struct cc *cc, u32 i, const char *ptx)
{
	struct command c = {0};
	int status;

	common(cc, &c, keep(&c, "--cuda-gpu-arch=%s", cc->arch, 0, NULL));
	add_passed(cc, &c);
	add(&c, "--cuda-device-only");
	add(&c, "-S");
	add(&c, cc->sources[i]);
	add(&c, "-o");
	add(&c, ptx);
	status = run(cc, &c);
	command_fini(&c);
	return status;
}

static int host_pass(const struct cc *cc, u32 i, const char *fatbin, const char *object)
{
	struct command c = {0};
	int status;

	common(cc, &c, keep(&c, "--cuda-gpu-arch=%s", cc->arch, 0, NULL));
	add_passed(cc, &c);
	add(&c, "--cuda-host-only");
	add(&c, "-c");
	add(&c, "-Xclang");
	add(&c, "-fcuda-include-gpubinary");
	add(&c, "-Xclang");
	add(&c, fatbin);
	add(&c, "-Xclang");
	add(&c, "-target-sdk-version=11.5");
	add(&c, cc->sources[i]);
	add(&c, "-o");
	add(&c, object);
	status = run(cc, &c);
	command_fini(&c);
	return status;
}

static int link_program(const struct cc *cc)
{
	struct command c = {0};
	int status;

	add(&c, cc->clang);
	for (u32 i = 0; i < cc->source_len; i++)
		add(&c, keep(&c, "%s/%u.o%s", cc->temp, i, ""));
	for (u32 i = 0; i < cc->passed_len; i++)
		add(&c, cc->passed[i]);
	add(&c, "-o");
	add(&c, cc->output);
	add(&c, "-L");
	add(&c, cc->libdir);
	add(&c, "-l:libcudart.so.13");
	add(&c, "-lstdc++");
	add(&c, "-lm");
	add(&c, "-Wl,--allow-shlib-undefined");
	status = run(cc, &c);
	command_fini(&c);
	return status;
}

/* One container with the PTX, as the host pass embeds it. */
static bool write_fatbin(const struct cc *cc, const char *ptx, const char *fatbin)
{
	struct image_spec spec = {.kind = IMAGE_PTX, .codec = IMAGE_ZSTD, .isa_major = 7};
	struct text out = {0};
	struct file f;
	FILE *to;
	bool ok;

	if (!image_target_parse(cc->arch, &spec.target)) {
		fprintf(stderr, "ptxloom cc: '%s' is not a target\n", cc->arch);
		return false;
	}
	if (!file_open(&f, ptx)) {
		fprintf(stderr, "ptxloom cc: %s: %s\n", ptx, strerror(errno));
		return false;
	}
	spec.data = f.data;
	spec.size = f.size;
	ok = image_write(&out, &spec, 1);
	file_close(&f);
	to = ok ? fopen(fatbin, "wb") : NULL;
	ok = to && fwrite(out.at, 1, out.len, to) == out.len;
	ok = to && !fclose(to) && ok;
	if (!ok)
		fprintf(stderr, "ptxloom cc: %s: %s\n", fatbin, strerror(errno));
	text_fini(&out);
	return ok;
}

static int compile_one(const struct cc *cc, u32 i)
{
	char ptx[128], fatbin[128], object[128];
	int status;

	snprintf(ptx, sizeof(ptx), "%s/%u.ptx", cc->temp, i);
	snprintf(fatbin, sizeof(fatbin), "%s/%u.fatbin", cc->temp, i);
	snprintf(object, sizeof(object), "%s/%u.o", cc->temp, i);
	status = device_pass(cc, i, cc->ptx_only ? cc->output : ptx);
	if (status || cc->ptx_only)
		return status;
	if (!write_fatbin(cc, ptx, fatbin))
		return TOOL_USAGE;
	return host_pass(cc, i, fatbin, object);
}

static void remove_temp(const struct cc *cc)
{
	static const char *const ends[] = {"ptx", "fatbin", "o"};
	char path[128];

	for (u32 i = 0; i < cc->source_len; i++)
		for (size_t k = 0; k < ARRAY_LEN(ends); k++) {
			snprintf(path, sizeof(path), "%s/%u.%s", cc->temp, i, ends[k]);
			unlink(path);
		}
	rmdir(cc->temp);
}

static bool parse(struct cc *cc, const struct tool_command *self, int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		const char *a = argv[i], *dot = strrchr(a, '.');

		if (!strncmp(a, "-arch=sm_", 9)) {
			cc->arch = a + 6;
		} else if (!strcmp(a, "-o") && i + 1 < argc) {
			cc->output = argv[++i];
		} else if (!strcmp(a, "-ptx")) {
			cc->ptx_only = true;
		} else if (!strcmp(a, "-v")) {
			cc->verbose = true;
		} else if (dot && !strcmp(dot, ".cu")) {
			if (cc->source_len == FILES_MAX)
				return tool_usage(self, "more than %u sources", FILES_MAX), false;
			cc->sources[cc->source_len++] = a;
		} else if (cc->passed_len < ARGS_MAX - 32) {
			cc->passed[cc->passed_len++] = a;
		}
	}
	if (!cc->source_len)
		return tool_usage(self, "no .cu file given"), false;
	if (cc->ptx_only && cc->source_len != 1)
		return tool_usage(self, "-ptx takes one source"), false;
	return true;
}

int tool_main_cc(const struct tool_command *self, int argc, char **argv)
{
	struct cc cc = {.arch = "sm_80", .output = "a.out", .temp = "/tmp/ptxloom-XXXXXX"};
	int status = 0;

	if (argc > 1 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")))
		return tool_help(self);
	if (!parse(&cc, self, argc, argv))
		return TOOL_USAGE;
	cc.clang = find_clang();
	if (!cc.clang) {
		fputs("ptxloom cc: clang is not found; install Debian's clang package or set PTXLOOM_CLANG\n",
		      stderr);
		return TOOL_USAGE;
	}
	if (!tool_find_include(cc.include, sizeof(cc.include)) ||
	    !tool_find_libs(cc.libdir, sizeof(cc.libdir))) {
		fputs("ptxloom cc: the headers or libraries of ptxloom are not found; is it installed?\n",
		      stderr);
		return TOOL_USAGE;
	}
	if (!mkdtemp(cc.temp)) {
		perror("ptxloom cc: temporary folder");
		return TOOL_USAGE;
	}
	for (u32 i = 0; i < cc.source_len && !status; i++)
		status = compile_one(&cc, i);
	if (!status && !cc.ptx_only)
		status = link_program(&cc);
	remove_temp(&cc);
	return status;
}
