/*
 * The command line of `ptxloom profile`.
 */
#include "src/tools/profile/options.h"

#include "src/base/setting.h"
#include "src/config.h"

#include <stdlib.h>

struct parser {
	const struct tool_command *self;
	struct profile_options *o;
	bool has_sections; /* or a set */
	bool filters_ranges;
	bool lists, lists_bases, lists_chosen; /* metrics; their names alone; those of sections */
	struct text why;
};

typedef bool option_fn(struct parser *p, const char *value);

/* ---- what options do ---- */

static bool profile_take_kernels(struct parser *p, const char *value)
{
	p->o->kernels = value;
	profile_pattern_free(p->o->pick.choice.pattern);
	p->o->pick.choice.pattern = profile_pattern_new(value, &p->why);
	return p->o->pick.choice.pattern != NULL;
}

static bool take_setting(struct parser *p, enum setting s, const char *option, const char *value,
			 u64 *out)
{
	return setting_parse(s, option, value, out, &p->why);
}

static bool take_base(struct parser *p, const char *value)
{
	u64 base = 0;

	p->o->base = value;
	if (!take_setting(p, SETTING_PROFILE_BASE, "--kernel-name-base", value, &base))
		return false;
	p->o->pick.choice.base = (enum profile_base)base;
	return true;
}

static bool take_skip(struct parser *p, const char *value)
{
	p->o->skip = value;
	return take_setting(p, SETTING_PROFILE_SKIP, "--launch-skip", value,
			    &p->o->pick.choice.skip);
}

static bool take_skip_all(struct parser *p, const char *value)
{
	p->o->skip_all = value;
	return take_setting(p, SETTING_PROFILE_SKIP_ALL, "--launch-skip-before-match", value,
			    &p->o->pick.choice.skip_all);
}

static bool profile_take_count(struct parser *p, const char *value)
{
	p->o->count = value;
	return take_setting(p, SETTING_PROFILE_COUNT, "--launch-count", value,
			    &p->o->pick.choice.count);
}

static bool take_id(struct parser *p, const char *value)
{
	return profile_pick_set_id(&p->o->pick, value, &p->why);
}

static bool take_devices(struct parser *p, const char *value)
{
	return profile_pick_set_devices(&p->o->pick, value, &p->why);
}

static bool take_set(struct parser *p, const char *value)
{
	u32 set = section_set(value);

	p->has_sections = true;
	p->o->page.sections |= set;
	if (!set)
		text_printf(&p->why, "there is no set %s; --list-sets shows which there are",
			    value);
	return set != 0;
}

static bool take_section(struct parser *p, const char *value)
{
	p->has_sections = true;
	return section_choose(value, &p->o->page.sections, &p->why);
}

static bool take_metrics(struct parser *p, const char *value)
{
	p->o->chose_metrics = true;
	return metric_list_add(&p->o->page.metrics, value, &p->why);
}

/* One of the words; its index in *out. */
static bool profile_take_word(struct parser *p, const char *option, const char *value,
			      const char *const *words, size_t len, u32 *out)
{
	for (size_t i = 0; i < len; i++)
		if (!strcmp(value, words[i])) {
			*out = (u32)i;
			return true;
		}
	text_printf(&p->why, "%s '%s' is not one of", option, value);
	for (size_t i = 0; i < len; i++)
		text_printf(&p->why, "%s %s", i ? "," : "", words[i]);
	return false;
}

#define TAKE_WORD(p, option, value, out, ...)                                                      \
	profile_take_word(p, option, value, (const char *const[]){__VA_ARGS__},                    \
			  ARRAY_LEN(((const char *const[]){__VA_ARGS__})), out)

static bool take_page(struct parser *p, const char *value)
{
	u32 kind = 0;
	bool ok = TAKE_WORD(p, "--page", value, &kind, "details", "raw", "source", "json", "html",
			    "callgrind", "annotate", "session", "trace");

	p->o->has_page = true;
	p->o->page.kind = (enum page_kind)kind;
	return ok;
}

static bool take_show(struct parser *p, const char *value)
{
	return event_list_add(&p->o->page.show, value, &p->why);
}

static bool take_sort(struct parser *p, const char *value)
{
	return event_list_add(&p->o->page.sort, value, &p->why);
}

static bool take_threshold(struct parser *p, const char *value)
{
	char *end;

	p->o->page.threshold = strtod(value, &end);
	if (end != value && !*end && p->o->page.threshold >= 0 && p->o->page.threshold <= 100)
		return true;
	text_printf(&p->why, "--threshold '%s' is no percentage", value);
	return false;
}

static bool take_whole(struct parser *p, const char *option, const char *value, u32 most, u32 *out)
{
	char *end;
	unsigned long x = strtoul(value, &end, 10);

	*out = (u32)x;
	if (*value >= '0' && *value <= '9' && !*end && x <= most)
		return true;
	text_printf(&p->why, "%s '%s' is no number up to %u", option, value, most);
	return false;
}

static bool take_context(struct parser *p, const char *value)
{
	return take_whole(p, "--context", value, 1000000, &p->o->page.context);
}

static bool take_diff_limit(struct parser *p, const char *value)
{
	return take_whole(p, "--diff-limit", value, UINT32_MAX, &p->o->diff_limit);
}

static bool take_exit_code(struct parser *p, const char *value)
{
	(void)value;
	p->o->tells_diff = true;
	return true;
}

static bool take_units(struct parser *p, const char *value)
{
	u32 base = 0;
	bool ok = TAKE_WORD(p, "--print-units", value, &base, "auto", "base");

	p->o->page.is_base = base;
	return ok;
}

static bool take_names(struct parser *p, const char *value)
{
	u32 names = 0;
	bool ok = TAKE_WORD(p, "--print-metric-name", value, &names, "label", "name", "label-name");

	p->o->page.names = (enum page_names)names;
	return ok;
}

static bool take_source(struct parser *p, const char *value)
{
	u32 source = 0;
	bool ok;

	if (strstr(value, "sass")) {
		text_puts(&p->why, "--print-source: there is no machine code (sass): what runs is "
				   "the PTX; ptx, cuda or cuda,ptx");
		return false;
	}
	ok = TAKE_WORD(p, "--print-source", value, &source, "ptx", "cuda", "cuda,ptx");
	p->o->page.source = (enum page_source)source;
	p->o->page.kind = PAGE_SOURCE;
	return ok;
}

static bool take_caches(struct parser *p, const char *value)
{
	return take_setting(p, SETTING_PROFILE_CACHES, "--cache-control", value, &p->o->caches);
}

static bool take_timeout(struct parser *p, const char *value)
{
	return take_setting(p, SETTING_TIMEOUT, "--timeout", value, &p->o->timeout_ms);
}

static bool take_device(struct parser *p, const char *value)
{
	p->o->device = value;
	return true;
}

static bool take_export(struct parser *p, const char *value)
{
	p->o->export_to = value;
	return true;
}

static bool take_import(struct parser *p, const char *value)
{
	p->o->import_from = value;
	return true;
}

static bool take_log(struct parser *p, const char *value)
{
	p->o->log_file = value;
	return true;
}

static bool take_range(struct parser *p, const char *value, bool is_include)
{
	struct text *lines = is_include ? &p->o->include : &p->o->exclude;

	p->filters_ranges = true;
	text_printf(lines, "%s\n", value);
	return profile_choice_add_range(&p->o->pick.choice, value, is_include, &p->why);
}

static bool take_include(struct parser *p, const char *value)
{
	return take_range(p, value, true);
}

static bool take_exclude(struct parser *p, const char *value)
{
	return take_range(p, value, false);
}

static bool take_nvtx(struct parser *p, const char *value)
{
	(void)value;
	p->o->page.has_ranges = true;
	return true;
}

static bool take_from_start(struct parser *p, const char *value)
{
	u32 word = 0;
	bool ok = TAKE_WORD(p, "--profile-from-start", value, &word, "on", "yes", "true", "1",
			    "off", "no", "false", "0");

	p->o->waits = word >= 4;
	return ok;
}

static bool take_no_switches(struct parser *p, const char *value)
{
	(void)value;
	p->o->ignores_switches = true;
	return true;
}

static bool take_assert(struct parser *p, const char *value)
{
	return profile_budget_add(&p->o->budgets, value, &p->why);
}

static bool take_kernel(struct parser *p, const char *value)
{
	return profile_budget_kernel(&p->o->budgets, value, &p->why);
}

static bool take_save(struct parser *p, const char *value)
{
	p->o->saved.save = value;
	return true;
}

static bool take_against(struct parser *p, const char *value)
{
	p->o->saved.against = value;
	return true;
}

static bool take_allow(struct parser *p, const char *value)
{
	p->o->saved.allow = value;
	return true;
}

static bool take_csv(struct parser *p, const char *value)
{
	(void)value;
	p->o->page.is_csv = true;
	return true;
}

static bool take_force(struct parser *p, const char *value)
{
	(void)value;
	p->o->is_forced = true;
	return true;
}

static bool take_quiet(struct parser *p, const char *value)
{
	(void)value;
	p->o->is_quiet = true;
	return true;
}

/* All processes are always profiled. */
static bool take_targets(struct parser *p, const char *value)
{
	if (!strcmp(value, "all"))
		return true;
	text_puts(&p->why, "--target-processes: all is the only choice");
	return false;
}

static bool take_summary(struct parser *p, const char *value)
{
	u32 word = 0;
	bool ok = TAKE_WORD(p, "--print-summary", value, &word, "none", "per-gpu", "per-kernel",
			    "per-nvtx");

	p->o->page.summary = (enum page_summary)word;
	return ok;
}

static bool take_details(struct parser *p, const char *value)
{
	u32 word = 0;
	bool ok = TAKE_WORD(p, "--print-details", value, &word, "all", "header", "body");

	p->o->page.details = (enum page_details)word;
	return ok;
}

static bool take_fp(struct parser *p, const char *value)
{
	(void)value;
	p->o->page.numbers.is_real = true;
	return true;
}

static bool take_raw_numbers(struct parser *p, const char *value)
{
	(void)value;
	p->o->page.numbers.is_plain = true;
	return true;
}

static bool take_print_base(struct parser *p, const char *value)
{
	u64 base = 0;

	if (!take_setting(p, SETTING_PROFILE_BASE, "--print-kernel-base", value, &base))
		return false;
	p->o->page.name_base = (u32)base + 1;
	return true;
}

static bool take_folders(struct parser *p, const char *value)
{
	p->o->page.source_folder = value;
	return true;
}

/* Reports name sources, they do not have them. */
static bool take_import_source(struct parser *p, const char *value)
{
	u32 word;
	bool ok = TAKE_WORD(p, "--import-source", value, &word, "off", "no", "0", "false", "on",
			    "yes", "1", "true");

	if (ok && word >= 4)
		fputs("==WARNING== --import-source has no effect: sources are read when they are "
		      "shown, and --source-folders says where they are\n",
		      stderr);
	return ok;
}

static bool take_trace(struct parser *p, const char *value)
{
	(void)value;
	p->o->is_traced = true;
	return true;
}

static bool take_variables(struct parser *p, const char *value)
{
	(void)value;
	p->o->has_variables = true;
	return true;
}

static bool take_trace_clock(struct parser *p, const char *value)
{
	u32 word = 0;
	bool ok = TAKE_WORD(p, "--trace-clock", value, &word, "time", "order");

	p->o->is_traced = true;
	p->o->page.is_order = word == 1;
	return ok;
}

static bool take_query_mode(struct parser *p, const char *value)
{
	u32 word = 0;
	bool ok = TAKE_WORD(p, "--query-metrics-mode", value, &word, "base", "suffix", "all");

	p->lists_bases = word == 0;
	return ok;
}

/* Launches are counted one by one, without replays: what kernel and application replays count. */
static bool take_replay(struct parser *p, const char *value)
{
	u32 word;

	if (!TAKE_WORD(p, "--replay-mode", value, &word, "kernel", "application", "range",
		       "app-range"))
		return false;
	if (word < 2)
		return true;
	text_printf(&p->why,
		    "--replay-mode %s: launches are counted one by one, not by ranges; "
		    "--print-summary per-nvtx sums those of a range",
		    value);
	return false;
}

static const struct option {
	const char *name, *brief;
	bool has_value;
	option_fn *take;
} options[] = {
	{"--kernel-name", "-k", true, profile_take_kernels},
	{"--kernel-name-base", NULL, true, take_base},
	{"--launch-skip", "-s", true, take_skip},
	{"--launch-skip-before-match", NULL, true, take_skip_all},
	{"--launch-count", "-c", true, profile_take_count},
	{"--kernel-id", NULL, true, take_id},
	{"--devices", NULL, true, take_devices},
	{"--nvtx", NULL, false, take_nvtx},
	{"--nvtx-include", NULL, true, take_include},
	{"--nvtx-exclude", NULL, true, take_exclude},
	{"--profile-from-start", NULL, true, take_from_start},
	{"--disable-profiler-start-stop", NULL, false, take_no_switches},
	{"--set", NULL, true, take_set},
	{"--section", NULL, true, take_section},
	{"--metrics", NULL, true, take_metrics},
	{"--page", NULL, true, take_page},
	{"--csv", NULL, false, take_csv},
	{"--show", NULL, true, take_show},
	{"--sort", NULL, true, take_sort},
	{"--threshold", NULL, true, take_threshold},
	{"--context", NULL, true, take_context},
	{"--diff-limit", NULL, true, take_diff_limit},
	{"--exit-code", NULL, false, take_exit_code},
	{"--print-units", NULL, true, take_units},
	{"--print-metric-name", NULL, true, take_names},
	{"--print-source", NULL, true, take_source},
	{"--cache-control", NULL, true, take_caches},
	{"--trace", NULL, false, take_trace},
	{"--variables", NULL, false, take_variables},
	{"--trace-clock", NULL, true, take_trace_clock},
	{"--print-summary", NULL, true, take_summary},
	{"--print-details", NULL, true, take_details},
	{"--print-fp", NULL, false, take_fp},
	{"--print-raw-numbers", NULL, false, take_raw_numbers},
	{"--print-kernel-base", NULL, true, take_print_base},
	{"--source-folders", NULL, true, take_folders},
	{"--source-folder", NULL, true, take_folders},
	{"--import-source", NULL, true, take_import_source},
	{"--query-metrics-mode", NULL, true, take_query_mode},
	{"--replay-mode", NULL, true, take_replay},
	{"--target-processes", NULL, true, take_targets},
	{"--export", "-o", true, take_export},
	{"--force-overwrite", "-f", false, take_force},
	{"--import", "-i", true, take_import},
	{"--log-file", NULL, true, take_log},
	{"--quiet", NULL, false, take_quiet},
	{"--assert", NULL, true, take_assert},
	{"--kernel", NULL, true, take_kernel},
	{"--save-metrics", NULL, true, take_save},
	{"--against", NULL, true, take_against},
	{"--allow", NULL, true, take_allow},
	{"--device", "-d", true, take_device},
	{"--timeout", NULL, true, take_timeout},
};

/* ---- lists ---- */

static const char *const set_names[] = {"basic", "detailed", "full", "roofline"};

static int list_sections(void)
{
	printf("%-30s %-34s %s\n", "Identifier", "Display Name", "Sets");
	for (u32 i = 0; i < PROFILE_SECTIONS; i++) {
		printf("%-30s %-34s", section_id(i), section_title(i));
		for (size_t k = 0; k < ARRAY_LEN(set_names); k++)
			if (section_set(set_names[k]) >> i & 1)
				printf(" %s", set_names[k]);
		putchar('\n');
	}
	return -1;
}

static int list_sets(void)
{
	printf("%-10s %s\n", "Identifier", "Sections");
	for (size_t k = 0; k < ARRAY_LEN(set_names); k++) {
		bool any = false;

		printf("%-10s", set_names[k]);
		for (u32 i = 0; i < PROFILE_SECTIONS; i++)
			if (section_set(set_names[k]) >> i & 1) {
				printf("%s %s", any ? "," : "", section_id(i));
				any = true;
			}
		putchar('\n');
	}
	return -1;
}

/* Names without what follows the dot, each once. */
static void list_base(u32 metric)
{
	size_t n = strcspn(metric_name(metric), ".");

	if (!metric || strncmp(metric_name(metric - 1), metric_name(metric), n) != 0 ||
	    (metric_name(metric - 1)[n] && metric_name(metric - 1)[n] != '.'))
		printf("%.*s\n", (int)n, metric_name(metric));
}

/* Those that the sections and --metrics choose: --list-metrics. */
static int list_chosen(const struct page *page)
{
	for (u32 s = 0; s < PROFILE_SECTIONS; s++) {
		const struct section_row *rows;
		u32 len;

		if (!(page->sections >> s & 1))
			continue;
		rows = section_rows(s, &len);
		for (u32 i = 0; i < len; i++)
			printf("%s\n", rows[i].metric);
	}
	for (size_t i = 0; i < page->metrics.at.len; i++)
		printf("%s\n", metric_name(page->metrics.at.at[i]));
	return -1;
}

static int list_metrics(bool bases)
{
	static const char *const kinds[] = {
		[EXACT] = "exact", [PTX] = "exact, of PTX instructions", [MODEL] = "model"};

	for (u32 i = 0; bases && i < metric_count(); i++)
		list_base(i);
	if (bases)
		return -1;
	printf("%-75s %-15s %s\n", "Metric Name", "Metric Unit", "Kind");
	for (u32 i = 0; i < metric_count(); i++)
		printf("%-75s %-15s %s\n", metric_name(i), metric_unit(i),
		       kinds[metric_kind_of(i)]);
	return -1;
}

/* ---- the line ---- */

static const struct option *option_of(const char *word, const char **value)
{
	*value = NULL;
	for (size_t i = 0; i < ARRAY_LEN(options); i++) {
		size_t n = strlen(options[i].name);

		if (!strncmp(word, options[i].name, n) && (!word[n] || word[n] == '=')) {
			*value = word[n] ? word + n + 1 : NULL;
			return &options[i];
		}
		if (options[i].brief && !strcmp(word, options[i].brief))
			return &options[i];
	}
	return NULL;
}

/* Two files. */
static int take_diff(struct parser *p, int argc, char **argv, int *i)
{
	if (*i + 2 >= argc)
		return tool_usage(p->self, "--diff takes two reports");
	p->o->diff[0] = argv[++*i];
	p->o->diff[1] = argv[++*i];
	return TOOL_OK;
}

static const struct ncu_option {
	const char *name;
	bool has_value, is_refused;
	const char *why;
} ncu_options[] = {
#define NOTED(name, has_value, why) {name, has_value, false, why},
#define REFUSED(name, has_value, why) {name, has_value, true, why},
#include "src/tools/profile/ncu_options.def"
#undef NOTED
#undef REFUSED
};

/* Options of ncu that change nothing here, or cannot be had: each says so. */
static int take_other(struct parser *p, int argc, char **argv, int *i)
{
	const char *word = argv[*i];
	size_t n = strcspn(word, "=");
	const struct ncu_option *x = NULL;

	for (size_t k = 0; k < ARRAY_LEN(ncu_options); k++)
		if (strlen(ncu_options[k].name) == n && !strncmp(ncu_options[k].name, word, n))
			x = &ncu_options[k];
	if (!x)
		return tool_usage(p->self, "unknown option '%s'", word);
	if (x->is_refused)
		return tool_usage(p->self, "%s is not supported: %s", x->name, x->why);
	if (x->has_value && !word[n] && ++*i >= argc)
		return tool_usage(p->self, "there is no value for '%s'", word);
	fprintf(stderr, "==WARNING== %s has no effect: %s\n", x->name, x->why);
	return TOOL_OK;
}

static int profile_take_option(struct parser *p, int argc, char **argv, int *i)
{
	const char *value, *word = argv[*i];
	const struct option *x = option_of(word, &value);

	if (!strcmp(word, "--diff"))
		return take_diff(p, argc, argv, i);
	if (!x)
		return take_other(p, argc, argv, i);
	if (x->has_value && !value)
		value = *i + 1 < argc ? argv[++*i] : NULL;
	else if (!x->has_value && value)
		return tool_usage(p->self, "%s takes no value", x->name);
	if (x->has_value && !value)
		return tool_usage(p->self, "there is no value for '%s'", word);
	if (x->take(p, value))
		return TOOL_OK;
	return tool_usage(p->self, "%s", p->why.at ? p->why.at : "no memory left");
}

/* What goes without saying, and what does not go together. */
static int settle(struct parser *p, int argc)
{
	struct profile_options *o = p->o;

	for (size_t i = 0; i < o->page.metrics.missing.len; i++) {
		struct text t = {0};

		metric_say_missing(o->page.metrics.missing.at[i], &t);
		fprintf(stderr, "==WARNING== %s\n", t.at ? t.at : "");
		text_fini(&t);
	}
	if (!p->has_sections && !o->page.metrics.at.len && !o->page.metrics.missing.len)
		o->page.sections = section_set("full");
	if (o->page.kind == PAGE_RAW && !o->page.metrics.at.len && !o->page.metrics.missing.len)
		metric_list_add(&o->page.metrics, "regex:.", &p->why);
	if (p->filters_ranges && !o->page.has_ranges)
		return tool_usage(p->self, "--nvtx-include and --nvtx-exclude need --nvtx");
	if (o->waits && o->ignores_switches)
		return tool_usage(p->self,
				  "nothing would be profiled: --profile-from-start off with "
				  "--disable-profiler-start-stop");
	if (o->has_variables && (o->import_from || o->diff[0]))
		return tool_usage(p->self, "--variables is for runs: a report has them or not");
	if (o->has_variables && o->caches == CACHES_ARE_OFF)
		return tool_usage(p->self, "--variables needs the caches, which --cache-control "
					   "off does not play");
	if (o->diff[0] && saved_is_any(&o->saved))
		return tool_usage(p->self,
				  "--diff is neither for --save-metrics nor for --against");
	if (o->diff[0] && (o->import_from || o->export_to))
		return tool_usage(p->self, "--diff is neither for --import nor for --export");
	if ((o->import_from || o->diff[0]) && o->program < argc)
		return tool_usage(p->self, "%s: no program is started",
				  o->diff[0] ? "--diff" : "--import");
	if (!o->import_from && !o->diff[0] && o->program >= argc)
		return tool_usage(p->self, "no program given");
	return TOOL_OK;
}

int profile_options_parse(const struct tool_command *self, struct profile_options *o, int argc,
			  char **argv)
{
	struct parser p = {.self = self, .o = o};
	int i = 1, status = TOOL_OK;

	o->self = self;
	o->page.threshold = 0.1;
	o->page.context = 8;
	o->diff_limit = 20;
	for (; i < argc && argv[i][0] == '-' && !status; i++) {
		if (!strcmp(argv[i], "--")) {
			i++;
			break;
		}
		if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h")) {
			tool_help(self);
			status = -1;
		} else if (!strcmp(argv[i], "--list-sections")) {
			status = list_sections();
		} else if (!strcmp(argv[i], "--list-sets")) {
			status = list_sets();
		} else if (!strcmp(argv[i], "--query-metrics")) {
			p.lists = true;
		} else if (!strcmp(argv[i], "--list-metrics")) {
			p.lists_chosen = true;
		} else if (!strcmp(argv[i], "--version") || !strcmp(argv[i], "-v")) {
			puts("ptxloom profile " PACKAGE_VERSION);
			status = -1;
		} else {
			status = profile_take_option(&p, argc, argv, &i);
		}
	}
	o->program = i;
	if (!status && p.lists)
		status = list_metrics(p.lists_bases);
	if (!status && p.lists_chosen) {
		if (!p.has_sections && !o->page.metrics.at.len)
			o->page.sections = section_set("full");
		status = list_chosen(&o->page);
	}
	if (!status)
		status = settle(&p, argc);
	text_fini(&p.why);
	return status;
}

void profile_options_fini(struct profile_options *o)
{
	profile_pick_fini(&o->pick);
	text_fini(&o->include);
	text_fini(&o->exclude);
	profile_budgets_fini(&o->budgets);
	saved_fini(&o->saved);
	metric_list_fini(&o->page.metrics);
	VEC_FREE(&o->page.show.at);
	VEC_FREE(&o->page.sort.at);
	VEC_FREE(&o->page.launches);
}
