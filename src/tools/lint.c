/*
 * `ptxloom lint`: parse, resolve and check PTX files, report like a compiler.
 */
#include "src/base/file.h"
#include "src/dev/module/module.h"
#include "src/tools/tools.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

const char tool_help_lint[] =
	"Checks PTX as ptxas would: syntax, names, operand types, sizes and state spaces, modifiers, versions and\n"
	"targets. '-' reads standard input. Messages go to standard error as FILE:LINE:COLUMN: error: TEXT.\n"
	"\n"
	"  --max-errors=N   stop showing errors of a file after N (default 20, 0: show all)\n"
	"  --dump           print every instruction with its row of the table and its operands' roles\n"
	"  --print          print the module as PTX again\n"
	"  --rows           list the rows of the instruction table and whether they are run, and stop\n"
	"  -q, --quiet      no messages, exit status only\n"
	"      --help       this text\n"
	"\n"
	"Exit status: 0 no errors, 1 errors, 2 a file cannot be read or the arguments are wrong.\n";

struct lint {
	u32 max_errors;
	bool dump, print, quiet;
};

static int lint_file(const struct lint *l, const char *path)
{
	struct diag_source source = {.name = strcmp(path, "-") ? path : "<stdin>"};
	struct ir_module *m;
	struct text out = {0};
	struct file file;
	struct diag d;
	int status;

	if (!file_open(&file, path)) {
		fprintf(stderr, "%s: error: %s\n", source.name, strerror(errno));
		return TOOL_USAGE;
	}
	source.text = (const char *)file.data;
	source.size = file.size;
	diag_init(&d, l->quiet ? NULL : diag_print, stderr);
	d.error_limit = l->max_errors;
	m = module_parse(&source, MODULE_JUDGE, &d);
	if (m && l->dump)
		ir_dump_module(m, &out);
	if (m && l->print)
		ir_print_module(m, &out);
	if (out.at)
		fwrite(out.at, 1, out.len, stdout);
	if (!l->quiet && d.error_limit && d.errors > d.error_limit)
		fprintf(stderr, "%s: %u more error%s\n", source.name, d.errors - d.error_limit,
			d.errors - d.error_limit == 1 ? "" : "s");
	status = m ? TOOL_OK : TOOL_FINDINGS;
	text_fini(&out);
	ir_module_free(m);
	diag_fini(&d);
	file_close(&file);
	return status;
}

/* A line for each row, a line for each chapter with how many of its rows are run. */
static int list_instructions(void)
{
	u32 run[ISA_CHAPTERS] = {0}, all[ISA_CHAPTERS] = {0};

	for (u32 i = 0; i < ISA_ROWS; i++) {
		const struct isa_row *r = isa_row(i);

		run[r->chapter] += r->state == ISA_RUN;
		all[r->chapter]++;
		printf("%-5s %s\n", r->state == ISA_RUN ? "run" : "check", r->hint);
	}
	for (u32 i = 0; i < ISA_CHAPTERS; i++)
		printf("# %u of %u rows are run: %s\n", run[i], all[i], isa_chapter_title(i));
	return TOOL_OK;
}

int tool_main_lint(const struct tool_command *self, int argc, char **argv)
{
	static const struct option options[] = {
		{"max-errors", required_argument, NULL, 'm'},
		{"dump", no_argument, NULL, 'd'},
		{"print", no_argument, NULL, 'p'},
		{"quiet", no_argument, NULL, 'q'},
		{"rows", no_argument, NULL, 'r'},
		{"help", no_argument, NULL, 'h'},
		{0},
	};
	struct lint l = {.max_errors = 20};
	int c, status = TOOL_OK;
	unsigned long max_errors;
	char *end;

	optind = 1;
	opterr = 0;
	while ((c = getopt_long(argc, argv, "qh", options, NULL)) != -1) {
		switch (c) {
		case 'm':
			max_errors = strtoul(optarg, &end, 10);
			l.max_errors = (u32)max_errors;
			if (*end || !isdigit((unsigned char)*optarg) || max_errors > UINT32_MAX)
				return tool_usage(self, "--max-errors takes a number, not '%s'",
						  optarg);
			break;
		case 'd':
			l.dump = true;
			break;
		case 'p':
			l.print = true;
			break;
		case 'q':
			l.quiet = true;
			break;
		case 'r':
			return list_instructions();
		case 'h':
			return tool_help(self);
		default:
			return tool_usage(self, "unknown option, or no value, '%s'",
					  argv[optind - 1]);
		}
	}
	if (optind == argc)
		return tool_usage(self, "no file given");
	for (int i = optind; i < argc; i++) {
		int s = lint_file(&l, argv[i]);

		status = s > status ? s : status;
	}
	return status;
}
