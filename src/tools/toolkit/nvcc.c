/*
 * `nvcc`, the name of this program in the folder that `ptxloom toolkit` prints: build systems find
 * a compiler there that answers what they ask of nvcc before they use it. All else is `ptxloom cc`.
 */
#include "src/base/file.h"
#include "src/tools/toolkit/toolkit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* The release whose interface the headers have. CMake reads it from --version and from macros. */
#define RELEASE "13.0"
#define VERSION "13.0.88"
static const char *const version_macros[] = {"-D__NVCC__", "-D__CUDACC_VER_MAJOR__=13",
					     "-D__CUDACC_VER_MINOR__=0",
					     "-D__CUDACC_VER_BUILD__=88"};

/* CMake compiles this file to learn which compiler it has; other files are told clang, as it is. */
static const char identification[] = "CMakeCUDACompilerId.cu";

static const struct tool_command nvcc = {
	"cc", "[-o FILE] [-c | -ptx | -E | -M] [-arch=sm_XX] [OPTION...] FILE...",
	"Build CUDA C++ without NVIDIA's toolkit, by the options of nvcc.", tool_help_cc,
	tool_main_cc};

/* The command line with what files of options hold. */
struct line {
	struct cc_words words, owned;
};

static void line_fini(struct line *l)
{
	for (u32 i = 0; i < l->owned.len; i++)
		free((void *)(uintptr_t)l->owned.at[i]);
	cc_words_fini(&l->owned);
	cc_words_fini(&l->words);
}

static bool is_word_end(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* The next word of a file of options, with quotes and backslashes as a shell has them. */
static char *options_word(const char **at, const char *end)
{
	char *word, quote = 0;
	size_t n = 0;

	while (*at < end && is_word_end(**at))
		(*at)++;
	if (*at == end)
		return NULL;
	word = malloc((size_t)(end - *at) + 1);
	if (!word)
		abort();
	for (; *at < end && (quote || !is_word_end(**at)); (*at)++) {
		if (quote ? **at == quote : **at == '"' || **at == '\'') {
			quote = quote ? 0 : **at;
			continue;
		}
		if (**at == '\\' && quote != '\'' && *at + 1 < end)
			(*at)++;
		word[n++] = **at;
	}
	word[n] = 0;
	return word;
}

static bool add_options_file(struct line *l, const char *path)
{
	struct file f;
	const char *at;
	char *word;

	if (!file_open(&f, path)) {
		fprintf(stderr, "ptxloom cc: error: %s: %s\n", path, strerror(errno));
		return false;
	}
	at = (const char *)f.data;
	while (f.size && (word = options_word(&at, (const char *)f.data + f.size)) != NULL) {
		cc_add(&l->owned, word);
		cc_add(&l->words, word);
	}
	file_close(&f);
	return true;
}

/* The value of --options-file or -optf at argv[*i], which moves to its last word; or NULL. */
static const char *options_file(int argc, char **argv, int *i)
{
	static const char *const names[] = {"--options-file", "-optf"};

	for (size_t k = 0; k < ARRAY_LEN(names); k++) {
		size_t n = strlen(names[k]);

		if (strncmp(argv[*i], names[k], n) != 0)
			continue;
		if (argv[*i][n] == '=')
			return argv[*i] + n + 1;
		if (!argv[*i][n] && *i + 1 < argc)
			return argv[++*i];
	}
	return NULL;
}

static bool read_nvcc_line(struct line *l, int argc, char **argv)
{
	bool identify = false;

	for (int i = 0; i < argc; i++) {
		const char *file = options_file(argc, argv, &i);

		if (file && !add_options_file(l, file))
			return false;
		if (!file)
			cc_add(&l->words, argv[i]);
	}
	for (u32 i = 0; i < l->words.len; i++)
		identify |= !strcmp(file_base_name(l->words.at[i]), identification);
	for (size_t i = 0; identify && i < ARRAY_LEN(version_macros); i++)
		cc_add(&l->words, version_macros[i]);
	return true;
}

static bool line_has(const struct line *l, const char *a, const char *b)
{
	for (u32 i = 1; i < l->words.len; i++)
		if (!strcmp(l->words.at[i], a) || !strcmp(l->words.at[i], b))
			return true;
	return false;
}

/* CMake looks for the first line and the number behind V. */
static int print_version(void)
{
	puts("nvcc: NVIDIA (R) Cuda compiler driver");
	puts("Stand-in: ptxloom cc, which compiles with clang");
	puts("Cuda compilation tools, release " RELEASE ", V" VERSION);
	return TOOL_OK;
}

static int print_targets(const char *prefix)
{
	static const u32 targets[] = {60, 61, 62, 70, 72, 75, 80, 86};

	for (size_t i = 0; i < ARRAY_LEN(targets); i++)
		printf("%s_%u\n", prefix, targets[i]);
	return TOOL_OK;
}

/* The C++ driver beside the clang that compiles: CMake links with it. */
static void print_linker(FILE *to)
{
	const char *clang = cc_find_clang();
	const char *end = clang ? strstr(file_base_name(clang), "clang") : NULL;
	char name[4200], path[4200];

	if (end) {
		end += strlen("clang");
		snprintf(name, sizeof(name), "%.*s++%s", (int)(end - clang), clang, end);
	}
	fputs(end && tool_find_program(name, path, sizeof(path)) ? name : "g++", to);
}

/*
 * What nvcc says of its folders under -v, in the form that CMake's modules look for. Behind it
 * come a line that names the default target and one that links a program, for its libraries.
 */
static int print_folders(const char *top)
{
	fprintf(stderr,
		"#$ _NVVM_BRANCH_=nvvm\n#$ _HERE_=%s/bin\n#$ TOP=%s\n"
		"#$ NVVMIR_LIBRARY_DIR=%s/nvvm/libdevice\n#$ PATH=%s/bin:%s\n"
		"#$ INCLUDES=\"-I%s/include\"  \n#$ LIBRARIES=  \"-L%s/lib64\"\n",
		top, top, top, top, getenv("PATH") ? getenv("PATH") : "", top, top);
	return TOOL_OK;
}

static void print_link_line(const char *top)
{
	fputs("#$ clang -arch compute_80\n#$ ", stderr);
	print_linker(stderr);
	fprintf(stderr,
		" -m64 -Wl,--start-group \"a.o\" \"-L%s/lib64\"  -lcudadevrt  -lcudart_static  -lrt "
		"-lpthread  -ldl  -Wl,--end-group -o \"a.out\"\n",
		top);
}

/*
 * `nvcc --run PROGRAM` alone builds nothing. The name may be within quotes, which nvcc's own shell
 * takes away: Meson asks so.
 */
static bool find_built(const struct line *l, char *out, size_t size)
{
	const char *name = NULL;
	struct file f;
	size_t n;
	bool is_program;

	for (u32 i = 1; i < l->words.len; i++) {
		const char *w = l->words.at[i];

		if (!strcmp(w, "-run") || !strcmp(w, "--run"))
			continue;
		if (name || *w == '-')
			return false;
		name = w;
	}
	if (!name)
		return false;
	n = strlen(name);
	if (n > 2 && *name == '"' && name[n - 1] == '"') {
		name++;
		n -= 2;
	}
	snprintf(out, size, "%s%.*s", memchr(name, '/', n) ? "" : "./", (int)n, name);
	if (!file_open(&f, out))
		return false;
	is_program = f.size > 4 && !memcmp(f.data, "\177ELF", 4) && !access(out, X_OK);
	file_close(&f);
	return is_program;
}

static int run_built(const char *path)
{
	execl("/proc/self/exe", "ptxloom", "run", "--", path, (char *)NULL);
	fprintf(stderr, "ptxloom cc: error: %s: %s\n", path, strerror(errno));
	return TOOL_CANNOT_RUN;
}

static int answer(const struct line *l)
{
	char top[4200];

	if (line_has(l, "-run", "--run") && find_built(l, top, sizeof(top)))
		return run_built(top);
	if (line_has(l, "--version", "-V"))
		return print_version();
	if (line_has(l, "--list-gpu-arch", "-arch-ls"))
		return print_targets("compute");
	if (line_has(l, "--list-gpu-code", "-code-ls"))
		return print_targets("sm");
	if (!tool_find_toolkit(top, sizeof(top))) {
		fputs("ptxloom cc: error: the folder of `ptxloom toolkit` is not found; is ptxloom "
		      "installed?\n",
		      stderr);
		return TOOL_CANNOT_RUN;
	}
	if (line_has(l, "-v", "--verbose") || line_has(l, "-dryrun", "--dryrun")) {
		print_folders(top);
		if (line_has(l, "__cmake_determine_cuda", "__cmake_determine_cuda")) {
			fputs("nvcc fatal   : Don't know what to do with '__cmake_determine_cuda'\n",
			      stderr);
			return TOOL_USAGE;
		}
		print_link_line(top);
	}
	return tool_main_cc(&nvcc, (int)l->words.len, (char **)(uintptr_t)l->words.at);
}

int tool_main_nvcc(int argc, char **argv)
{
	struct line l = {0};
	int status = TOOL_USAGE;

	if (read_nvcc_line(&l, argc, argv))
		status = answer(&l);
	line_fini(&l);
	return status;
}
