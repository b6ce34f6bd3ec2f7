/*
 * Arguments of `ptxloom cc`: nvcc's spelling of options as a table, and what each is to clang. What
 * the table does not have goes to clang as it is.
 */
#include "src/tools/cc/cc.h"

#include <stdlib.h>

enum takes {
	ALONE,
	VALUE,  /* -o FILE, --output-file FILE, --output-file=FILE */
	JOINED, /* -IDIR too */
};

enum effect {
	IGNORE,  /* means nothing here */
	BOTH,    /* a value for both compilations, as `to` and the value */
	HOST,    /* words for the host's compilation: `to`, and the value */
	DEVICE,  /* the same for the device's */
	LINKER,  /* the same for linking */
	XHOST,   /* values with commas: for the host's compilation and linking */
	XLINK,   /* values with commas: -Xlinker each */
	LIBRARY, /* a library: those of the toolkit have names of ours */
	ARCH,
	CODE, /* -gencode */
	OUTPUT,
	STOP, /* `to` is the letter of the stage */
	SWITCH,
	STREAM, /* -default-stream */
	LANGUAGE,
	RELOCATABLE, /* -rdc */
	REFUSE,      /* `to` says why */
};

struct option {
	const char *name;
	enum takes takes;
	enum effect effect;
	const char *to;
};

/* The first whose name fits wins; a name with = is a whole argument. */
static const struct option options[] = {
	{"-o", VALUE, OUTPUT, NULL},
	{"--output-file", VALUE, OUTPUT, NULL},
	{"-c", ALONE, STOP, "c"},
	{"--compile", ALONE, STOP, "c"},
	{"-dc", ALONE, STOP, "r"},
	{"--device-c", ALONE, STOP, "r"},
	{"-dw", ALONE, STOP, "w"},
	{"--device-w", ALONE, STOP, "w"},
	{"-dlink", ALONE, STOP, "l"},
	{"--device-link", ALONE, STOP, "l"},
	{"-ptx", ALONE, STOP, "p"},
	{"--ptx", ALONE, STOP, "p"},
	{"-E", ALONE, STOP, "E"},
	{"--preprocess", ALONE, STOP, "E"},
	{"-M", ALONE, STOP, "-M"},
	{"-MM", ALONE, STOP, "-MM"},
	{"-MD", ALONE, HOST, "-MD"},
	{"-MMD", ALONE, HOST, "-MMD"},
	{"-MP", ALONE, HOST, "-MP"},
	{"-MF", VALUE, HOST, "-MF"},
	{"-MT", VALUE, HOST, "-MT"},
	{"-MQ", VALUE, HOST, "-MQ"},
	{"-arch", VALUE, ARCH, NULL},
	{"--gpu-architecture", VALUE, ARCH, NULL},
	{"-gencode", VALUE, CODE, NULL},
	{"--generate-code", VALUE, CODE, NULL},
	{"-code", VALUE, IGNORE, NULL},
	{"--gpu-code", VALUE, IGNORE, NULL},
	{"-isystem", VALUE, BOTH, "-isystem"},
	{"--system-include", VALUE, BOTH, "-isystem"},
	{"-include", VALUE, BOTH, "-include"},
	{"--pre-include", VALUE, BOTH, "-include"},
	{"-I", JOINED, BOTH, "-I"},
	{"--include-path", VALUE, BOTH, "-I"},
	{"-D", JOINED, BOTH, "-D"},
	{"--define-macro", VALUE, BOTH, "-D"},
	{"-U", JOINED, BOTH, "-U"},
	{"--undefine-macro", VALUE, BOTH, "-U"},
	{"-std", VALUE, BOTH, "-std="},
	{"--std", VALUE, BOTH, "-std="},
	{"-lineinfo", ALONE, DEVICE, "-gline-tables-only"},
	{"--generate-line-info", ALONE, DEVICE, "-gline-tables-only"},
	{"-link", ALONE, IGNORE, NULL},
	{"-lib", ALONE, STOP, "a"},
	{"--lib", ALONE, STOP, "a"},
	{"-L", JOINED, LINKER, "-L"},
	{"--library-path", VALUE, LINKER, "-L"},
	{"-l", JOINED, LIBRARY, NULL},
	{"--library", VALUE, LIBRARY, NULL},
	{"-Xcompiler", VALUE, XHOST, NULL},
	{"--compiler-options", VALUE, XHOST, NULL},
	{"-Xlinker", VALUE, XLINK, NULL},
	{"--linker-options", VALUE, XLINK, NULL},
	{"-shared", ALONE, LINKER, "-shared"},
	{"--shared", ALONE, LINKER, "-shared"},
	{"-rdynamic", ALONE, LINKER, "-rdynamic"},
	{"-static", ALONE, LINKER, "-static"},
	{"-pthread", ALONE, XHOST, "-pthread"},
	{"-fopenmp", ALONE, XHOST, "-fopenmp"},
	{"-O", ALONE, HOST, "-O2"},
	{"-O0", ALONE, HOST, "-O0"},
	{"-O1", ALONE, HOST, "-O1"},
	{"-O2", ALONE, HOST, "-O2"},
	{"-O3", ALONE, HOST, "-O3"},
	{"--optimize", VALUE, HOST, "-O"},
	{"-g", ALONE, HOST, "-g"},
	{"--debug", ALONE, HOST, "-g"},
	{"-G", ALONE, SWITCH, "G"},
	{"--device-debug", ALONE, SWITCH, "G"},
	{"-use_fast_math", ALONE, SWITCH, "f"},
	{"--use_fast_math", ALONE, SWITCH, "f"},
	{"-ftz=true", ALONE, DEVICE, "-fcuda-flush-denormals-to-zero"},
	{"--ftz=true", ALONE, DEVICE, "-fcuda-flush-denormals-to-zero"},
	{"-fmad=false", ALONE, DEVICE, "-ffp-contract=off"},
	{"--fmad=false", ALONE, DEVICE, "-ffp-contract=off"},
	{"-prec-div=false", ALONE, SWITCH, "d"},
	{"--prec-div=false", ALONE, SWITCH, "d"},
	{"-prec-sqrt=false", ALONE, SWITCH, "s"},
	{"--prec-sqrt=false", ALONE, SWITCH, "s"},
	{"-ftz", VALUE, IGNORE, NULL},
	{"--ftz", VALUE, IGNORE, NULL},
	{"-fmad", VALUE, IGNORE, NULL},
	{"--fmad", VALUE, IGNORE, NULL},
	{"-prec-div", VALUE, IGNORE, NULL},
	{"--prec-div", VALUE, IGNORE, NULL},
	{"-prec-sqrt", VALUE, IGNORE, NULL},
	{"--prec-sqrt", VALUE, IGNORE, NULL},
	{"-x", VALUE, LANGUAGE, NULL},
	{"--x", VALUE, LANGUAGE, NULL},
	{"-v", ALONE, SWITCH, "v"},
	{"--verbose", ALONE, SWITCH, "v"},
	{"-dryrun", ALONE, SWITCH, "n"},
	{"--dryrun", ALONE, SWITCH, "n"},
	{"-run", ALONE, SWITCH, "r"},
	{"--run", ALONE, SWITCH, "r"},
	{"--no-rpath", ALONE, SWITCH, "P"},
	{"-default-stream", VALUE, STREAM, NULL},
	{"--default-stream", VALUE, STREAM, NULL},
	{"-w", ALONE, HOST, "-w"},
	{"--disable-warnings", ALONE, HOST, "-w"},
	{"-Werror", VALUE, HOST, "-Werror"},
	{"--Werror", VALUE, HOST, "-Werror"},
	{"-rdc", VALUE, RELOCATABLE, NULL},
	{"--relocatable-device-code", VALUE, RELOCATABLE, NULL},
	{"-cubin", ALONE, REFUSE, "there is no machine code here; -ptx gives PTX"},
	{"--cubin", ALONE, REFUSE, "there is no machine code here; -ptx gives PTX"},
	{"-fatbin", ALONE, REFUSE, "-c puts the fat binary into the object"},
	{"--fatbin", ALONE, REFUSE, "-c puts the fat binary into the object"},
	/* Of nvcc's parts, or of things that clang does by default. */
	{"--keep", ALONE, IGNORE, NULL},
	{"-keep", ALONE, IGNORE, NULL},
	{"--save-temps", ALONE, IGNORE, NULL},
	{"-save-temps", ALONE, IGNORE, NULL},
	{"--forward-unknown-to-host-compiler", ALONE, IGNORE, NULL},
	{"-forward-unknown-to-host-compiler", ALONE, IGNORE, NULL},
	{"--forward-unknown-to-host-linker", ALONE, IGNORE, NULL},
	{"-forward-unknown-to-host-linker", ALONE, IGNORE, NULL},
	{"--forward-unknown-opts", ALONE, IGNORE, NULL},
	{"-forward-unknown-opts", ALONE, IGNORE, NULL},
	{"--allow-unsupported-compiler", ALONE, IGNORE, NULL},
	{"-allow-unsupported-compiler", ALONE, IGNORE, NULL},
	{"--dont-use-profile", ALONE, IGNORE, NULL},
	{"-noprof", ALONE, IGNORE, NULL},
	{"--source-in-ptx", ALONE, IGNORE, NULL},
	{"-src-in-ptx", ALONE, IGNORE, NULL},
	{"--dlink-time-opt", ALONE, IGNORE, NULL},
	{"-dlto", ALONE, IGNORE, NULL},
	{"--lto", ALONE, IGNORE, NULL},
	{"-lto", ALONE, IGNORE, NULL},
	{"--gen-opt-lto", ALONE, IGNORE, NULL},
	{"-gen-opt-lto", ALONE, IGNORE, NULL},
	{"--keep-device-functions", ALONE, IGNORE, NULL},
	{"-keep-device-functions", ALONE, IGNORE, NULL},
	{"--Wreorder", ALONE, IGNORE, NULL},
	{"-Wreorder", ALONE, IGNORE, NULL},
	{"--Wdefault-stream-launch", ALONE, IGNORE, NULL},
	{"-Wdefault-stream-launch", ALONE, IGNORE, NULL},
	{"--Wmissing-launch-bounds", ALONE, IGNORE, NULL},
	{"-Wmissing-launch-bounds", ALONE, IGNORE, NULL},
	{"--Wext-lambda-captures-this", ALONE, IGNORE, NULL},
	{"-Wext-lambda-captures-this", ALONE, IGNORE, NULL},
	{"--extensible-whole-program", ALONE, IGNORE, NULL},
	{"-ewp", ALONE, IGNORE, NULL},
	{"--no-compress", ALONE, IGNORE, NULL},
	{"-no-compress", ALONE, IGNORE, NULL},
	{"--display-error-number", ALONE, IGNORE, NULL},
	{"-err-no", ALONE, IGNORE, NULL},
	{"--no-display-error-number", ALONE, IGNORE, NULL},
	{"-no-err-no", ALONE, IGNORE, NULL},
	{"--no-device-link", ALONE, SWITCH, "N"},
	{"-nodlink", ALONE, SWITCH, "N"},
	{"--no-host-device-initializer-list", ALONE, IGNORE, NULL},
	{"-nohdinitlist", ALONE, IGNORE, NULL},
	{"--no-host-device-move-forward", ALONE, IGNORE, NULL},
	{"-nohdmoveforward", ALONE, IGNORE, NULL},
	{"--jobserver", ALONE, IGNORE, NULL},
	{"-jobserver", ALONE, IGNORE, NULL},
	{"--objdir-as-tempdir", ALONE, IGNORE, NULL},
	{"-objtemp", ALONE, IGNORE, NULL},
	{"--relocatable-ptx", ALONE, IGNORE, NULL},
	{"-reloc-ptx", ALONE, IGNORE, NULL},
	{"--no-align-double", ALONE, IGNORE, NULL},
	{"--link", ALONE, IGNORE, NULL},
	{"--qpp-config", ALONE, IGNORE, NULL},
	{"--keep-dir", VALUE, IGNORE, NULL},
	{"-keep-dir", VALUE, IGNORE, NULL},
	{"--machine", VALUE, IGNORE, NULL},
	{"-m", VALUE, IGNORE, NULL},
	{"--split-compile-extended", VALUE, IGNORE, NULL},
	{"-split-compile-extended", VALUE, IGNORE, NULL},
	{"--split-compile", VALUE, IGNORE, NULL},
	{"-split-compile", VALUE, IGNORE, NULL},
	{"--fdevice-time-trace", VALUE, IGNORE, NULL},
	{"-fdevice-time-trace", VALUE, IGNORE, NULL},
	{"--time", VALUE, IGNORE, NULL},
	{"-time", VALUE, IGNORE, NULL},
	{"--compress-mode", VALUE, IGNORE, NULL},
	{"-compress-mode", VALUE, IGNORE, NULL},
	{"--diag-error", VALUE, IGNORE, NULL},
	{"-diag-error", VALUE, IGNORE, NULL},
	{"--diag-warn", VALUE, IGNORE, NULL},
	{"-diag-warn", VALUE, IGNORE, NULL},
	{"--brief-diagnostics", VALUE, IGNORE, NULL},
	{"-brief-diag", VALUE, IGNORE, NULL},
	{"--jump-table-density", VALUE, IGNORE, NULL},
	{"-jtd", VALUE, IGNORE, NULL},
	{"--frandom-seed", VALUE, IGNORE, NULL},
	{"-frandom-seed", VALUE, IGNORE, NULL},
	{"--static-global-template-stub", VALUE, IGNORE, NULL},
	{"-static-global-template-stub", VALUE, IGNORE, NULL},
	{"--device-entity-has-hidden-visibility", VALUE, IGNORE, NULL},
	{"-device-entity-has-hidden-visibility", VALUE, IGNORE, NULL},
	{"--device-stack-protector", VALUE, IGNORE, NULL},
	{"-device-stack-protector", VALUE, IGNORE, NULL},
	{"--libdevice-directory", VALUE, IGNORE, NULL},
	{"-ldir", VALUE, IGNORE, NULL},
	{"--target-directory", VALUE, IGNORE, NULL},
	{"-target-dir", VALUE, IGNORE, NULL},
	{"--archiver-binary", VALUE, IGNORE, NULL},
	{"-arbin", VALUE, IGNORE, NULL},
	{"--archive-options", VALUE, IGNORE, NULL},
	{"-Xarchive", VALUE, IGNORE, NULL},
	{"--nvlink-options", VALUE, IGNORE, NULL},
	{"--optimization-info", VALUE, IGNORE, NULL},
	{"-opt-info", VALUE, IGNORE, NULL},
	{"--Ofast-compile", VALUE, IGNORE, NULL},
	{"-Ofc", VALUE, IGNORE, NULL},
	{"--dopt", VALUE, IGNORE, NULL},
	{"-dopt", VALUE, IGNORE, NULL},
	{"--cudadevrt", VALUE, IGNORE, NULL},
	{"--generate-dependencies", ALONE, STOP, "-M"},
	{"--generate-nonsystem-dependencies", ALONE, STOP, "-MM"},
	{"--generate-dependencies-with-compile", ALONE, HOST, "-MD"},
	{"--generate-nonsystem-dependencies-with-compile", ALONE, HOST, "-MMD"},
	{"--generate-dependency-targets", ALONE, HOST, "-MP"},
	{"--dependency-output", VALUE, HOST, "-MF"},
	{"--dependency-target-name", VALUE, HOST, "-MT"},
	{"--ftemplate-depth", VALUE, BOTH, "-ftemplate-depth="},
	{"-ftemplate-depth", VALUE, BOTH, "-ftemplate-depth="},
	{"--ftemplate-backtrace-limit", VALUE, BOTH, "-ftemplate-backtrace-limit="},
	{"-ftemplate-backtrace-limit", VALUE, BOTH, "-ftemplate-backtrace-limit="},
	{"--no-exceptions", ALONE, HOST, "-fno-exceptions"},
	{"-noeh", ALONE, HOST, "-fno-exceptions"},
	{"--profile", ALONE, HOST, "-pg"},
	{"-pg", ALONE, HOST, "-pg"},
	{"--Wno-deprecated-declarations", ALONE, HOST, "-Wno-deprecated-declarations"},
	{"--optix-ir", ALONE, REFUSE, "there is no such code here; -ptx gives PTX"},
	{"-optix-ir", ALONE, REFUSE, "there is no such code here; -ptx gives PTX"},
	{"--ltoir", ALONE, REFUSE, "there is no such code here; -ptx gives PTX"},
	{"-ltoir", ALONE, REFUSE, "there is no such code here; -ptx gives PTX"},
	{"--cuda", ALONE, REFUSE, "host code is compiled by clang, which needs no file between"},
	{"-cuda", ALONE, REFUSE, "host code is compiled by clang, which needs no file between"},
	{"--relocatable-link", ALONE, REFUSE, "device code is linked where programs are"},
	{"-r", ALONE, REFUSE, "device code is linked where programs are"},
	{"--output-directory", VALUE, REFUSE, "-o names the file"},
	{"-odir", VALUE, REFUSE, "-o names the file"},
	{"--sanitize", VALUE, REFUSE, "`ptxloom check` looks for errors in programs as they are"},
	{"-sanitize", VALUE, REFUSE, "`ptxloom check` looks for errors in programs as they are"},
	{"--run-args", VALUE, REFUSE, "`ptxloom run` takes arguments for the program"},
	{"-run-args", VALUE, REFUSE, "`ptxloom run` takes arguments for the program"},
	{"-Xptxas", VALUE, IGNORE, NULL},
	{"--ptxas-options", VALUE, IGNORE, NULL},
	{"-Xcudafe", VALUE, IGNORE, NULL},
	{"-Xcicc", VALUE, IGNORE, NULL},
	{"-Xnvlink", VALUE, IGNORE, NULL},
	{"-maxrregcount", VALUE, IGNORE, NULL},
	{"--maxrregcount", VALUE, IGNORE, NULL},
	{"-diag-suppress", VALUE, IGNORE, NULL},
	{"--diag-suppress", VALUE, IGNORE, NULL},
	{"-ccbin", VALUE, IGNORE, NULL},
	{"--compiler-bindir", VALUE, IGNORE, NULL},
	{"-cudart", VALUE, IGNORE, NULL},
	{"--cudart", VALUE, IGNORE, NULL},
	{"-cudadevrt", VALUE, IGNORE, NULL},
	{"--threads", VALUE, IGNORE, NULL},
	{"-t", VALUE, IGNORE, NULL},
	{"-m64", ALONE, IGNORE, NULL},
	{"-res-usage", ALONE, IGNORE, NULL},
	{"--resource-usage", ALONE, IGNORE, NULL},
	{"-restrict", ALONE, IGNORE, NULL},
	{"--restrict", ALONE, IGNORE, NULL},
	{"-extra-device-vectorization", ALONE, IGNORE, NULL},
	{"--expt-relaxed-constexpr", ALONE, IGNORE, NULL},
	{"-expt-relaxed-constexpr", ALONE, IGNORE, NULL},
	{"--expt-extended-lambda", ALONE, IGNORE, NULL},
	{"-expt-extended-lambda", ALONE, IGNORE, NULL},
	{"--extended-lambda", ALONE, IGNORE, NULL},
	{"-extended-lambda", ALONE, IGNORE, NULL},
	{"-Wno-deprecated-gpu-targets", ALONE, IGNORE, NULL},
	{"--Wno-deprecated-gpu-targets", ALONE, IGNORE, NULL},
};

/* Libraries of the toolkit under the names that they have here; "": linked anyway or not needed. */
static const char *const libraries[][2] = {
	{"cudart", ""},     {"cudart_static", ""}, {"cudadevrt", ""}, {"cuda", "-l:libcuda.so.1"},
	{"nvToolsExt", ""}, {"rt", "-lrt"},
};

void cc_add(struct cc_words *w, const char *word)
{
	if (w->len + 1 >= w->cap) {
		u32 cap = w->cap ? 2 * w->cap : 32;
		const char **at = realloc((void *)w->at, cap * sizeof(*at));

		if (!at)
			abort();
		w->at = at;
		w->cap = cap;
	}
	w->at[w->len++] = word;
	w->at[w->len] = NULL;
}

void cc_add_all(struct cc_words *w, const struct cc_words *more)
{
	for (u32 i = 0; i < more->len; i++)
		cc_add(w, more->at[i]);
}

void cc_words_fini(struct cc_words *w)
{
	free((void *)w->at);
}

void cc_options_fini(struct cc_options *o)
{
	for (u32 i = 0; i < o->owned.len; i++)
		free((void *)(uintptr_t)o->owned.at[i]);
	cc_words_fini(&o->both);
	cc_words_fini(&o->device);
	cc_words_fini(&o->host);
	cc_words_fini(&o->link);
	cc_words_fini(&o->owned);
	free(o->files);
}

/* a and b in one word that lives as long as the options. */
static const char *joined(struct cc_options *o, const char *a, const char *b)
{
	char *s = NULL;

	if (asprintf(&s, "%s%s", a, b) < 0)
		abort();
	cc_add(&o->owned, s);
	return s;
}

static void add_value(struct cc_options *o, struct cc_words *w, const struct option *p,
		      const char *value)
{
	size_t n = p->to ? strlen(p->to) : 0;

	if (!value) {
		cc_add(w, p->to);
	} else if (n == 2 || p->to[n - 1] == '=') {
		cc_add(w, joined(o, p->to, value));
	} else {
		cc_add(w, p->to);
		if (strcmp(p->to, "-Werror") != 0)
			cc_add(w, value);
	}
}

/* "a,b" as two words, each for clang, or after `before`. */
static void add_list(struct cc_options *o, struct cc_words *w, const char *before, const char *list)
{
	char *copy = strdup(list), *rest = copy, *word;

	if (!copy)
		abort();
	while ((word = strsep(&rest, ",")) != NULL) {
		if (!*word)
			continue;
		if (before)
			cc_add(w, before);
		cc_add(w, joined(o, word, ""));
	}
	free(copy);
}

static void add_library(struct cc_options *o, const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(libraries); i++)
		if (!strcmp(libraries[i][0], name)) {
			if (*libraries[i][1])
				cc_add(&o->link, libraries[i][1]);
			return;
		}
	cc_add(&o->link, joined(o, "-l", name));
}

/* The number after "sm_" or "compute_" in s, or 0. */
static u32 arch_number(const char *s)
{
	const char *p = strstr(s, "sm_");

	if (p)
		return (u32)strtoul(p + 3, NULL, 10);
	p = strstr(s, "compute_");
	return p ? (u32)strtoul(p + 8, NULL, 10) : 0;
}

/*
 * Of several targets the highest is made: it runs on all devices that are emulated at that level.
 */
static bool set_arch(struct cc_options *o, const struct tool_command *self, const char *value,
		     bool highest)
{
	u32 n = arch_number(value);
	char text[32];

	if (!strcmp(value, "native") || !strncmp(value, "all", 3))
		return true;
	if (n < 10 || n > 999)
		return tool_usage(self, "'%s' is not a target", value), false;
	if (highest && o->arch && arch_number(o->arch) >= n)
		return true;
	snprintf(text, sizeof(text), "sm_%u", n);
	o->arch = joined(o, text, "");
	return true;
}

static void set_switch(struct cc_options *o, char letter)
{
	static const char *const fast[] = {"-fcuda-approx-transcendentals",
					   "-fcuda-flush-denormals-to-zero"};

	switch (letter) {
	case 'v':
		o->verbose = true;
		return;
	case 'n':
		o->verbose = o->dry = true;
		return;
	case 'r':
		o->run = true;
		return;
	case 'P':
		o->no_rpath = true;
		return;
	case 'G':
		o->debug_device = true;
		return;
	case 'N':
		o->no_device_link = true;
		return;
	case 'f':
		for (size_t i = 0; i < ARRAY_LEN(fast); i++)
			cc_add(&o->device, fast[i]);
		break;
	default:
		break;
	}
	if (letter != 's') {
		cc_add(&o->device, "-mllvm");
		cc_add(&o->device, "-nvptx-prec-divf32=0");
	}
	if (letter != 'd') {
		cc_add(&o->device, "-mllvm");
		cc_add(&o->device, "-nvptx-prec-sqrtf32=0");
	}
}

static void set_stop(struct cc_options *o, const char *to)
{
	static const struct {
		char letter;
		enum cc_stop stop;
	} stages[] = {{'c', CC_OBJECTS}, {'r', CC_OBJECTS},    {'w', CC_OBJECTS},
		      {'p', CC_PTX},     {'E', CC_PREPROCESS}, {'l', CC_LINK_DEVICE},
		      {'a', CC_ARCHIVE}, {'-', CC_DEPEND}};

	for (size_t i = 0; i < ARRAY_LEN(stages); i++)
		if (stages[i].letter == *to)
			o->stop = stages[i].stop;
	if (*to == 'r' || *to == 'w' || *to == 'l')
		o->relocatable = *to != 'w';
	o->depend = to;
}

static bool apply_cc_option(struct cc_options *o, const struct tool_command *self,
			    const struct option *p, const char *value)
{
	switch (p->effect) {
	case IGNORE:
		return true;
	case BOTH:
		o->has_std |= !strcmp(p->to, "-std=");
		return add_value(o, &o->both, p, value), true;
	case HOST:
		return add_value(o, &o->host, p, value), true;
	case DEVICE:
		return add_value(o, &o->device, p, value), true;
	case LINKER:
		return add_value(o, &o->link, p, value), true;
	case XHOST:
		add_list(o, &o->host, NULL, value ? value : p->to);
		return add_list(o, &o->link, NULL, value ? value : p->to), true;
	case XLINK:
		return add_list(o, &o->link, "-Xlinker", value), true;
	case LIBRARY:
		return add_library(o, value), true;
	case ARCH:
		return set_arch(o, self, value, false);
	case CODE:
		return set_arch(o, self, value, true);
	case OUTPUT:
		return o->output = value, true;
	case STOP:
		return set_stop(o, p->to), true;
	case SWITCH:
		return set_switch(o, *p->to), true;
	case STREAM:
		if (!strcmp(value, "per-thread"))
			return tool_usage(self, "default streams per thread are not supported"),
			       false;
		return true;
	case LANGUAGE:
		return o->all_cuda = !strcmp(value, "cu") || !strcmp(value, "cuda"), true;
	case RELOCATABLE:
		o->relocatable = !strcmp(value, "true");
		if (!o->relocatable && strcmp(value, "false") != 0)
			return tool_usage(self, "%s is true or false, not '%s'", p->name, value),
			       false;
		return true;
	case REFUSE:
		return tool_usage(self, "%s is not supported: %s", p->name, p->to), false;
	}
	return true;
}

/* Does argument a name the option? *value: what is after it in the same argument, or NULL. */
static bool names(const struct option *p, const char *a, const char **value)
{
	size_t n = strlen(p->name);

	*value = NULL;
	if (strncmp(a, p->name, n) != 0)
		return false;
	if (!a[n])
		return true;
	if (p->takes == VALUE && a[n] == '=') {
		*value = a + n + 1;
		return true;
	}
	if (p->takes == JOINED) {
		*value = a + n;
		return true;
	}
	return false;
}

static enum cc_language language_of(const struct cc_options *o, const char *path)
{
	static const char *const host[] = {".c", ".cc", ".cpp", ".cxx", ".C", ".c++", ".i", ".ii"};
	const char *dot = strrchr(path, '.');

	if (!dot)
		return CC_LINK;
	if (!strcmp(dot, ".cu"))
		return CC_CUDA;
	for (size_t i = 0; i < ARRAY_LEN(host); i++)
		if (!strcmp(dot, host[i]))
			return o->all_cuda ? CC_CUDA : CC_HOST;
	return CC_LINK;
}

static void add_source_file(struct cc_options *o, const char *path)
{
	if (o->files_len == o->files_cap) {
		u32 cap = o->files_cap ? 2 * o->files_cap : 16;
		struct cc_file *at = realloc(o->files, cap * sizeof(*at));

		if (!at)
			abort();
		o->files = at;
		o->files_cap = cap;
	}
	o->files[o->files_len++] = (struct cc_file){path, CC_LINK};
}

/*
 * One argument, with the next as its value if it takes one. Returns how many were used; 0: refused.
 */
static int parse_one(struct cc_options *o, const struct tool_command *self, int left, char **argv)
{
	const char *a = argv[0], *value;

	if (a[0] != '-' || !a[1])
		return add_source_file(o, a), 1;
	for (size_t i = 0; i < ARRAY_LEN(options); i++) {
		const struct option *p = &options[i];

		if (!names(p, a, &value))
			continue;
		if (p->takes == ALONE || value)
			return apply_cc_option(o, self, p, value) ? 1 : 0;
		if (left < 2)
			return tool_usage(self, "%s needs a value", a), 0;
		return apply_cc_option(o, self, p, argv[1]) ? 2 : 0;
	}
	if (!strncmp(a, "-Wl,", 4))
		cc_add(&o->link, a);
	else
		cc_add(&o->both, a);
	return 1;
}

static bool check_cc_options(const struct cc_options *o, const struct tool_command *self)
{
	u32 sources = 0;

	for (u32 i = 0; i < o->files_len; i++)
		sources += o->files[i].language != CC_LINK;
	if (!o->files_len)
		return tool_usage(self, "no file given"), false;
	if (o->stop == CC_PROGRAM || o->stop == CC_LINK_DEVICE || o->stop == CC_ARCHIVE)
		return true;
	if (!sources)
		return tool_usage(self, "no source given"), false;
	if (o->output && sources != 1)
		return tool_usage(self, "-o with several sources needs a program to be made"),
		       false;
	return true;
}

bool cc_parse(struct cc_options *o, const struct tool_command *self, int argc, char **argv,
	      int *status)
{
	*status = TOOL_USAGE;
	for (int i = 1; i < argc;) {
		int used;

		if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h"))
			return *status = tool_help(self), false;
		used = parse_one(o, self, argc - i, argv + i);
		if (!used)
			return false;
		i += used;
	}
	for (u32 i = 0; i < o->files_len; i++)
		o->files[i].language = language_of(o, o->files[i].path);
	return check_cc_options(o, self);
}
