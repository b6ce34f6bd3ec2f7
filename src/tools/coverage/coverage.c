/*
 * `ptxloom coverage`: merge profiles, report what they say of source lines.
 */
#include "src/cover/write.h"
#include "src/base/file.h"
#include "src/tools/tools.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

const char tool_help_coverage[] =
	"Reports which lines and branches of CUDA sources kernels have run. `ptxloom run --coverage=DIR PROG`\n"
	"counts; PROFILE is such a folder, or a file of one. Several are added.\n"
	"\n"
	"  report PROFILE...     write to standard output, or to -o FILE: annotated sources, or with\n"
	"    --lcov[=2]          a tracefile for lcov, genhtml, Codecov; 2: for lcov 2 alone, functions with ends\n"
	"    --cobertura         XML for GitLab, Jenkins, Azure\n"
	"    --json              everything that is known, as JSON\n"
	"    --llvm-json         the JSON of `llvm-cov export`\n"
	"    --gcovr=VERSION     the JSON that gcovr adds to its own; VERSION is what it writes: 0.3 for gcovr 5\n"
	"  html PROFILE... -o DIR\n"
	"                        write pages with the sources\n"
	"  merge PROFILE... -o FILE|DIR\n"
	"                        add profiles, of several hosts for instance, to one\n"
	"\n"
	"Of report and html:\n"
	"  --root DIR            files outside of it are left out, paths begin there; the default is the git work\n"
	"                        tree, or the working folder\n"
	"  --map OLD=NEW         sources that were compiled under OLD are under NEW now; several may be given\n"
	"  --instances           list each function, each instance of a template, apart as well (text, --json)\n"
	"  --lanes               branches by warps: all lanes take it, none, they diverge\n"
	"  --fail-under-lines P, --fail-under-branches P\n"
	"                        the exit status is 1 when less than P percent were run\n"
	"  --help                this text\n"
	"\n"
	"Exit status: 1 when a profile is damaged (the others are used), or less was run than asked for, 2 for\n"
	"wrong arguments and files that cannot be written.\n";

enum format { FORMAT_TEXT, FORMAT_LCOV, FORMAT_COBERTURA, FORMAT_JSON, FORMAT_LLVM, FORMAT_GCOVR };

struct options {
	const struct tool_command *self;
	enum { DO_REPORT, DO_HTML, DO_MERGE } verb;
	enum format format;
	bool has_format;
	struct cover_choice choice;
	struct cover_style style;
	const char *to;
	double lines, branches; /* percent, negative: not asked for */
	struct cover_input input;
};

/* ---- merge ---- */

static bool copy_module(struct options *o, struct cover_hash hash, const char *folder,
			struct text *why)
{
	char *path = cover_module_path(&o->input, hash);
	struct file f;
	bool ok;

	if (!path || !file_open(&f, path)) {
		text_printf(why, "%s: %s", path ? path : "a text", strerror(errno));
		free(path);
		return false;
	}
	ok = cover_module_keep(folder, hash, (const char *)f.data, f.size, why);
	file_close(&f);
	free(path);
	return ok;
}

static char *merged_path(const char *to)
{
	struct text path = {0};
	struct stat s;
	size_t n = strlen(to);

	text_puts(&path, to);
	if ((!stat(to, &s) && S_ISDIR(s.st_mode)) || (n && to[n - 1] == '/') || n < 8 ||
	    strcmp(to + n - 7, ".ptxcov") != 0)
		text_puts(&path, n && to[n - 1] == '/' ? "merged.ptxcov" : "/merged.ptxcov");
	return path.at;
}

static int merge_profiles(struct options *o)
{
	char *path = merged_path(o->to), *folder, *slash;
	struct text why = {0};
	bool ok = path != NULL;

	folder = ok ? strdup(path) : NULL;
	slash = folder ? strrchr(folder, '/') : NULL;
	if (slash)
		*(slash == folder ? slash + 1 : slash) = 0;
	cover_profile_sort(&o->input.profile);
	if (folder && slash && !cover_make_folder(folder)) {
		text_printf(&why, "%s: %s", folder, strerror(errno));
		ok = false;
	}
	for (size_t i = 0; ok && i < o->input.profile.entries.len; i++)
		if (!*o->input.profile.entries.at[i].name)
			ok = copy_module(o, o->input.profile.entries.at[i].module,
					 slash ? folder : ".", &why);
	ok = ok && cover_profile_write(&o->input.profile, path, &why);
	if (!ok)
		fprintf(stderr, "ptxloom: error: %s\n", why.at ? why.at : "out of memory");
	text_fini(&why);
	free(folder);
	free(path);
	return ok ? TOOL_OK : TOOL_USAGE;
}

/* ---- reports ---- */

/* What was left out, when nothing else is there. */
static void explain_nothing(const struct cover_model *m)
{
	if (!m->left_out.len)
		fputs("ptxloom: note: no code of these programs has lines of a source\n", stderr);
	else
		fprintf(stderr,
			"ptxloom: note: no source lies in %s; %s is left out%s: --root DIR, --map OLD=NEW\n",
			m->root, m->left_out.at[0], m->left_out.len > 1 ? ", as are others" : "");
}

/* any: there are lines, perhaps without a branch. Where nothing was counted, nothing is enough. */
static bool is_enough(const char *what, u32 hit, u32 all, double least, bool any)
{
	double percent = cover_percent(hit, all);

	if (least < 0 || (all ? percent >= least : any || least <= 0))
		return true;
	fprintf(stderr, "ptxloom: error: %s: %.1f%% (%u of %u), less than %g%%\n", what,
		all ? percent : 0, hit, all, least);
	return false;
}

static bool put_report(const struct options *o, const struct text *t)
{
	bool to_file = o->to && strcmp(o->to, "-") != 0;

	if (!t->failed && !to_file) {
		/* The caller of every command checks standard output. */
		if (t->len)
			fwrite(t->at, 1, t->len, stdout);
		return true;
	}
	if (!t->failed && file_put(o->to, t->at, t->len))
		return true;
	fprintf(stderr, "ptxloom: error: %s: %s\n", to_file ? o->to : "standard output",
		t->failed ? "out of memory" : strerror(errno));
	return false;
}

static bool write_report(const struct options *o, const struct cover_model *m)
{
	static void (*const writers[])(const struct cover_model *, const struct cover_style *,
				       struct text *) = {
		[FORMAT_TEXT] = cover_write_text,           [FORMAT_LCOV] = cover_write_lcov,
		[FORMAT_COBERTURA] = cover_write_cobertura, [FORMAT_JSON] = cover_write_json,
		[FORMAT_LLVM] = cover_write_llvm,           [FORMAT_GCOVR] = cover_write_gcovr,
	};
	struct text t = {0};
	bool ok;

	if (o->verb == DO_HTML) {
		ok = cover_write_html(m, &o->style, o->to, &t);
		if (!ok)
			fprintf(stderr, "ptxloom: error: %s\n", t.at ? t.at : "out of memory");
	} else {
		writers[o->format](m, &o->style, &t);
		ok = put_report(o, &t);
	}
	text_fini(&t);
	return ok;
}

static int report(struct options *o)
{
	struct cover_model m;
	struct cover_sum sum;
	int status = TOOL_OK;

	cover_profile_sort(&o->input.profile);
	if (!cover_model_make(&m, &o->input, &o->choice)) {
		cover_model_free(&m);
		return TOOL_USAGE;
	}
	sum = cover_sum_all(&m);
	if (!sum.lines)
		explain_nothing(&m);
	o->input.damaged += m.damaged;
	if (!write_report(o, &m)) {
		status = TOOL_USAGE;
	} else {
		bool lines = is_enough("lines", sum.lines_hit, sum.lines, o->lines, sum.lines),
		     branches =
			     is_enough("branches", sum.ways_hit, sum.ways, o->branches, sum.lines);

		status = lines && branches ? TOOL_OK : TOOL_FINDINGS;
	}
	cover_model_free(&m);
	return status;
}

/* ---- arguments ---- */

static bool read_percent(const char *value, double *out)
{
	char *end;
	double p = strtod(value, &end);

	if (end == value || *end || !(p >= 0 && p <= 100) || !isdigit((u8)*value))
		return false;
	*out = p;
	return true;
}

static bool add_map(struct options *o, const char *value)
{
	const char *mid = strchr(value, '=');
	struct cover_map x = {value, mid ? mid + 1 : NULL, mid ? (size_t)(mid - value) : 0};

	return mid && mid > value && VEC_PUSH(&o->choice.maps, x);
}

static bool choose_format(struct options *o, enum format format)
{
	bool ok = !o->has_format;

	o->format = format;
	o->has_format = true;
	return ok;
}

/* A word without a value. False: it is another. */
static bool read_cover_word(struct options *o, const char *word, bool *ok)
{
	static const struct {
		const char *word;
		enum format format;
		u32 lcov;
	} formats[] = {
		{"--lcov", FORMAT_LCOV, 1},   {"--lcov=1", FORMAT_LCOV, 1},
		{"--lcov=2", FORMAT_LCOV, 2}, {"--cobertura", FORMAT_COBERTURA, 0},
		{"--json", FORMAT_JSON, 0},   {"--llvm-json", FORMAT_LLVM, 0},
	};

	*ok = true;
	for (size_t i = 0; i < ARRAY_LEN(formats); i++) {
		if (strcmp(word, formats[i].word) != 0)
			continue;
		o->style.lcov = formats[i].lcov;
		*ok = choose_format(o, formats[i].format);
		return true;
	}
	if (!strcmp(word, "--lanes"))
		o->style.lanes = true;
	else if (!strcmp(word, "--instances"))
		o->style.instances = o->choice.instances = true;
	else
		return false;
	return true;
}

/* Returns TOOL_OK, or the status to end with after a message. */
static int read_cover_option(struct options *o, int argc, char **argv, int *i)
{
	const char *word = argv[*i], *value;
	bool ok = true;

	if (read_cover_word(o, word, &ok))
		return ok ? TOOL_OK : tool_usage(o->self, "'%s': one format at a time", word);
	if ((value = tool_option_value(argc, argv, i, "--gcovr"))) {
		if (!*value)
			return tool_usage(o->self, "there is no value for '--gcovr'");
		o->style.gcovr = value;
		ok = choose_format(o, FORMAT_GCOVR);
	} else if ((value = tool_option_value(argc, argv, i, "--root"))) {
		o->choice.root = value;
	} else if ((value = tool_option_value(argc, argv, i, "--map"))) {
		if (!add_map(o, value))
			return tool_usage(o->self, "--map wants OLD=NEW, not '%s'", value);
	} else if ((value = tool_option_value(argc, argv, i, "--fail-under-lines"))) {
		ok = read_percent(value, &o->lines);
	} else if ((value = tool_option_value(argc, argv, i, "--fail-under-branches"))) {
		ok = read_percent(value, &o->branches);
	} else if ((value = tool_option_value(argc, argv, i, "-o"))) {
		o->to = value;
	} else {
		static const char *const with_value[] = {"--gcovr",
							 "--root",
							 "--map",
							 "-o",
							 "--fail-under-lines",
							 "--fail-under-branches"};

		for (size_t k = 0; k < ARRAY_LEN(with_value); k++)
			if (!strcmp(word, with_value[k]))
				return tool_usage(o->self, "there is no value for '%s'", word);
		return tool_usage(o->self, "unknown option '%s'", word);
	}
	if (ok)
		return TOOL_OK;
	return o->has_format && o->format == FORMAT_GCOVR && value == o->style.gcovr
		       ? tool_usage(o->self, "'%s': one format at a time", word)
		       : tool_usage(o->self, "'%s' is no percentage from 0 to 100", value);
}

static bool read_verb(struct options *o, const char *word)
{
	static const char *const verbs[] = {"report", "html", "merge"};

	for (u32 i = 0; i < ARRAY_LEN(verbs); i++)
		if (!strcmp(word, verbs[i])) {
			o->verb = i;
			return true;
		}
	return false;
}

static int check_options(const struct options *o)
{
	bool reports = o->has_format || o->style.lanes || o->choice.instances || o->choice.root ||
		       o->choice.maps.len || o->lines >= 0 || o->branches >= 0;

	if (o->verb == DO_MERGE && reports)
		return tool_usage(o->self, "merge takes -o only");
	if (o->verb == DO_HTML && o->has_format)
		return tool_usage(o->self, "html takes no other format");
	if (o->verb != DO_REPORT && !o->to)
		return tool_usage(o->self, "%s needs -o", o->verb == DO_HTML ? "html" : "merge");
	if (o->choice.instances && o->verb == DO_REPORT && o->format != FORMAT_TEXT &&
	    o->format != FORMAT_JSON)
		return tool_usage(o->self, "--instances goes with the text and --json");
	if (o->choice.instances && o->verb == DO_HTML)
		return tool_usage(o->self, "--instances goes with the text and --json");
	return TOOL_OK;
}

static int run_verb(struct options *o, int argc, char **argv)
{
	int status = TOOL_OK, given = 0;

	for (int i = 2; i < argc && !status; i++) {
		if (argv[i][0] == '-' && argv[i][1])
			status = read_cover_option(o, argc, argv, &i);
		else
			argv[2 + given++] = argv[i];
	}
	if (!status)
		status = check_options(o);
	if (!status && !given)
		status = tool_usage(o->self, "no profile given");
	for (int i = 0; i < given && !status; i++)
		status = cover_input_read(&o->input, argv[2 + i]) ? TOOL_OK : TOOL_USAGE;
	if (!status && !o->input.files)
		status = TOOL_FINDINGS; /* all are damaged, as was said */
	if (!status)
		status = o->verb == DO_MERGE ? merge_profiles(o) : report(o);
	return !status && o->input.damaged ? TOOL_FINDINGS : status;
}

int tool_main_coverage(const struct tool_command *self, int argc, char **argv)
{
	struct options o = {.self = self, .style = {.lcov = 1}, .lines = -1, .branches = -1};
	int status;

	for (int i = 1; i < argc; i++)
		if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h"))
			return tool_help(self);
	if (argc < 2)
		return tool_usage(self, "report, html or merge?");
	if (!read_verb(&o, argv[1]))
		return tool_usage(self, "'%s' is not report, html or merge", argv[1]);
	status = run_verb(&o, argc, argv);
	cover_input_free(&o.input);
	VEC_FREE(&o.choice.maps);
	return status;
}
