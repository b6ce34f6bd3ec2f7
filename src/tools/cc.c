/*
 * `ptxloom cc`: builds CUDA C++ with clang alone, no toolkit: device code to PTX, PTX into a fat
 * binary, host code around it, linked with our runtime.
 */
#include "src/base/file.h"
#include "src/base/setting.h"
#include "src/base/text.h"
#include "src/dev/image/image.h"
#include "src/tools/cc.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

const char tool_help_cc[] =
	"Compiles and links CUDA C++ with clang and headers of ptxloom's own, without NVIDIA's toolkit.\n"
	"Files that end in .cu are CUDA, .c, .cc and .cpp are for the host; others (objects, libraries)\n"
	"go to the linker. Options are those of nvcc; unknown ones are passed to clang.\n"
	"\n"
	"  -o FILE            the result (default a.out, or the source's name with .o or .ptx)\n"
	"  -c, -ptx, -E, -M   stop after objects, the device code as PTX, preprocessing, dependences\n"
	"  -x cu              all sources are CUDA\n"
	"  -arch=sm_XX        device code for this target (default sm_80), sm_60 to the newest that\n"
	"  -gencode SPEC      clang supports; of several the highest is used\n"
	"  -I, -D, -U, -include, -isystem, -L, -l, -std, -O, -g, -w, -shared, -MD, -MF   as of clang\n"
	"  -Xcompiler LIST    options, separated by commas, for host code and linking\n"
	"  -Xlinker LIST      options for the linker\n"
	"  -G, -lineinfo      line information in device code; -G does not optimise it\n"
	"  -use_fast_math, -ftz=, -fmad=, -prec-div=, -prec-sqrt=   as of nvcc\n"
	"  --no-rpath         do not store in the program where ptxloom's libraries are\n"
	"  -run               run the program after building it\n"
	"  -v, -dryrun        show the commands; run none\n"
	"  --help             this text\n"
	"\n"
	"Options for parts of nvcc (-Xptxas, -maxrregcount, -ccbin and others) are ignored.\n"
	"clang is found as $PTXLOOM_CLANG, clang-14 or clang. The program runs by itself, or with\n"
	"`ptxloom run`, whose options choose the device.\n"
	"Exit status: 0, or that of the compiler.\n";

extern char **environ;

struct cc {
	struct cc_options o;
	const char *clang;
	const char *arch; /* what clang is asked for */
	const char *ptx;  /* the newest PTX version that clang writes, as its feature */
	char include[4200], libdir[4200], temp[64];
};

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

static int run_compiler(const struct cc *cc, const struct cc_words *c, struct text *messages)
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
static int compile_sources(const struct cc *cc, struct cc_words *c)
{
	struct text messages = {0};
	int status;

	if (isatty(STDERR_FILENO))
		cc_add(c, "-fcolor-diagnostics");
	status = run_compiler(cc, c, &messages);
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

static bool find_clang(struct cc *cc, u32 *version)
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

	return find_clang(&cc, &version) ? cc.clang : NULL;
}

int cc_empty_object(const char *out)
{
	const char *words[] = {"-x", "c", "-c", "/dev/null", "-o", out};
	struct cc cc = {0};
	struct cc_words c = {0};
	u32 version;

	if (!find_clang(&cc, &version))
		return TOOL_USAGE;
	cc_add(&c, cc.clang);
	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		cc_add(&c, words[i]);
	return compile_sources(&cc, &c);
}

/* The nearest target to the one asked for that clang makes and our headers are for. */
static void choose_arch(struct cc *cc, u32 version, char *text, size_t size)
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
}

/* Options that both compilations of CUDA share, up to the user's. */
static void common(const struct cc *cc, struct cc_words *c, bool cuda)
{
	static const char *const words[] = {
		"--cuda-path=/nonexistent", "-nocudainc", "-nocudalib", "-x", "cuda", "-fdeclspec",
		"-Wno-unknown-cuda-version"};
	/* Errors of clang that nvcc with gcc does not report. */
	static const char *const lenient[] = {"-Wno-register", "-Wno-c++11-narrowing"};

	cc_add(c, cc->clang);
	for (size_t i = 0; i < ARRAY_LEN(lenient); i++)
		cc_add(c, lenient[i]);
	if (cuda) {
		for (size_t i = 0; i < ARRAY_LEN(words); i++)
			cc_add(c, words[i]);
		cc_add(c, cc->arch);
		cc_add(c, "-include"); /* as nvcc does */
		cc_add(c, "cuda_runtime.h");
		if (!cc->o.has_std)
			cc_add(c, "-std=gnu++17");
	}
	cc_add(c, "-isystem");
	cc_add(c, cc->include);
	cc_add_all(c, &cc->o.both);
}

/* The last part of the path, with another end. */
static void beside(char *out, size_t size, const char *path, const char *end)
{
	const char *name = file_base_name(path), *dot = strrchr(name, '.');

	snprintf(out, size, "%.*s%s", dot ? (int)(dot - name) : (int)strlen(name), name, end);
}

static int device_pass(const struct cc *cc, const char *source, const char *ptx)
{
	struct cc_words c = {0};

	common(cc, &c, true);
	cc_add(&c, "--cuda-device-only");
	cc_add(&c, "-w"); /* the host's compilation warns about the same text */
	cc_add(&c, cc->o.debug_device ? "-O0" : "-O3");
	/* All types: there is no host's debug information that would have the others. */
	if (cc->o.debug_device) {
		cc_add(&c, "-g");
		cc_add(&c, "-fstandalone-debug");
	}
	cc_add(&c, "-Xclang");
	cc_add(&c, "-target-feature");
	cc_add(&c, "-Xclang");
	cc_add(&c, cc->ptx);
	cc_add_all(&c, &cc->o.device);
	cc_add(&c, cc->o.stop == CC_PREPROCESS ? "-E" : "-S");
	cc_add(&c, source);
	if (ptx) {
		cc_add(&c, "-o");
		cc_add(&c, ptx);
	}
	return compile_sources(cc, &c);
}

/*
 * Compiles for the host; fatbin: the device code, or NULL for a file without. stage: "-c", "-E" ...
 */
static int host_pass(const struct cc *cc, const char *source, const char *fatbin, const char *stage,
		     const char *out)
{
	bool cuda = fatbin != NULL;
	struct cc_words c = {0};

	common(cc, &c, cuda);
	if (cuda) {
		cc_add(&c, "--cuda-host-only");
		cc_add(&c, "-Xclang");
		cc_add(&c, "-target-sdk-version=11.5");
	}
	if (cuda && *fatbin) {
		cc_add(&c, "-Xclang");
		cc_add(&c, "-fcuda-include-gpubinary");
		cc_add(&c, "-Xclang");
		cc_add(&c, fatbin);
	}
	cc_add(&c, "-O2");
	cc_add_all(&c, &cc->o.host);
	cc_add(&c, stage);
	cc_add(&c, source);
	if (out) {
		cc_add(&c, "-o");
		cc_add(&c, out);
	}
	return compile_sources(cc, &c);
}

/* Programs find the libraries by themselves. False: no memory. */
static bool add_rpath(const struct cc *cc, struct cc_words *c, struct text *rpath)
{
	char *whole = realpath(cc->libdir, NULL);

	text_printf(rpath, "-Wl,--enable-new-dtags,-rpath,%s", whole ? whole : cc->libdir);
	free(whole);
	if (rpath->at)
		cc_add(c, rpath->at);
	return !rpath->failed;
}

static int link_program(const struct cc *cc)
{
	static const char *const words[] = {
		"-l:libcudart.so.13",         "-lstdc++", "-lm", "-lpthread", "-ldl", "-lrt",
		"-Wl,--allow-shlib-undefined"};
	struct cc_words c = {0}, objects = {0};
	struct text rpath = {0};
	int status;

	cc_add(&c, cc->clang);
	for (u32 i = 0; i < cc->o.files_len; i++) {
		const struct cc_file *f = &cc->o.files[i];

		if (f->language == CC_LINK) {
			cc_add(&c, f->path);
		} else {
			struct text name = {0};

			text_printf(&name, "%s/%u.o", cc->temp, i);
			cc_add(&objects, name.at);
			cc_add(&c, name.at);
		}
	}
	cc_add(&c, "-o");
	cc_add(&c, cc->o.output ? cc->o.output : "a.out");
	cc_add(&c, "-L");
	cc_add(&c, cc->libdir);
	cc_add_all(&c, &cc->o.link);
	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		cc_add(&c, words[i]);
	status = cc->o.no_rpath || add_rpath(cc, &c, &rpath) ? compile_sources(cc, &c) : TOOL_USAGE;
	text_fini(&rpath);
	for (u32 i = 0; i < objects.len; i++)
		free((void *)(uintptr_t)objects.at[i]);
	cc_words_fini(&objects);
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

	if (cc->o.dry)
		return true;
	if (!image_target_parse(strchr(cc->arch, '=') + 1, &spec.target)) {
		fprintf(stderr, "ptxloom cc: error: '%s' is not a target\n", cc->arch);
		return false;
	}
	if (!file_open(&f, ptx)) {
		fprintf(stderr, "ptxloom cc: error: %s: %s\n", ptx, strerror(errno));
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
		fprintf(stderr, "ptxloom cc: error: %s: %s\n", fatbin, strerror(errno));
	text_fini(&out);
	return ok;
}

static int compile_one(const struct cc *cc, u32 i)
{
	const struct cc_file *f = &cc->o.files[i];
	char ptx[128], fatbin[128], object[128], name[4200];
	const char *out = cc->o.output;
	int status;

	snprintf(ptx, sizeof(ptx), "%s/%u.ptx", cc->temp, i);
	snprintf(fatbin, sizeof(fatbin), "%s/%u.fatbin", cc->temp, i);
	snprintf(object, sizeof(object), "%s/%u.o", cc->temp, i);
	beside(name, sizeof(name), f->path, cc->o.stop == CC_PTX ? ".ptx" : ".o");
	switch (cc->o.stop) {
	case CC_DEPEND:
		return host_pass(cc, f->path, f->language == CC_CUDA ? "" : NULL, cc->o.depend,
				 out);
	case CC_PREPROCESS:
		return f->language == CC_CUDA ? device_pass(cc, f->path, out)
					      : host_pass(cc, f->path, NULL, "-E", out);
	case CC_PTX:
		return f->language == CC_CUDA ? device_pass(cc, f->path, out ? out : name) : 0;
	case CC_OBJECTS:
		out = out ? out : name;
		break;
	case CC_PROGRAM:
		out = object;
		break;
	}
	if (f->language == CC_HOST)
		return host_pass(cc, f->path, NULL, "-c", out);
	status = device_pass(cc, f->path, ptx);
	if (status)
		return status;
	return write_fatbin(cc, ptx, fatbin) ? host_pass(cc, f->path, fatbin, "-c", out)
					     : TOOL_USAGE;
}

static void remove_temp(const struct cc *cc)
{
	static const char *const ends[] = {"ptx", "fatbin", "o"};
	char path[128];

	for (u32 i = 0; i < cc->o.files_len; i++)
		for (size_t k = 0; k < ARRAY_LEN(ends); k++) {
			snprintf(path, sizeof(path), "%s/%u.%s", cc->temp, i, ends[k]);
			unlink(path);
		}
	rmdir(cc->temp);
}

static int run_program(const struct cc *cc)
{
	const char *out = cc->o.output ? cc->o.output : "a.out";
	struct cc_words c = {0};
	char self[4200], path[4300];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	int status;

	self[n > 0 ? n : 0] = 0;
	snprintf(path, sizeof(path), "%s%s", strchr(out, '/') ? "" : "./", out);
	cc_add(&c, self);
	cc_add(&c, "run");
	cc_add(&c, path);
	status = run_compiler(cc, &c, NULL);
	cc_words_fini(&c);
	return status;
}

static int build(struct cc *cc)
{
	int status = 0;

	for (u32 i = 0; i < cc->o.files_len && !status; i++)
		if (cc->o.files[i].language != CC_LINK)
			status = compile_one(cc, i);
	if (!status && cc->o.stop == CC_PROGRAM)
		status = link_program(cc);
	if (!status && cc->o.stop == CC_PROGRAM && cc->o.run)
		status = run_program(cc);
	return status;
}

int tool_main_cc(const struct tool_command *self, int argc, char **argv)
{
	struct cc cc = {.temp = "/tmp/ptxloom-XXXXXX"};
	char arch[64];
	u32 version;
	int status;

	if (!cc_parse(&cc.o, self, argc, argv, &status)) {
		cc_options_fini(&cc.o);
		return status;
	}
	status = TOOL_USAGE;
	if (find_clang(&cc, &version)) {
		choose_arch(&cc, version, arch, sizeof(arch));
		if (!tool_find_include(cc.include, sizeof(cc.include)) ||
		    !tool_find_libs(cc.libdir, sizeof(cc.libdir))) {
			fputs("ptxloom cc: error: the headers or libraries of ptxloom are not found; is it "
			      "installed?\n",
			      stderr);
		} else if (!mkdtemp(cc.temp)) {
			perror("ptxloom cc: error: temporary folder");
		} else {
			status = build(&cc);
			remove_temp(&cc);
		}
	}
	cc_options_fini(&cc.o);
	return status;
}
