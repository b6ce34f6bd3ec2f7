/*
 * Entry of the `ptxloom` command: finds the subcommand and hands over.
 */
#include "src/tools/tools.h"

#include "src/base/nearest.h"
#include "src/base/setting.h"
#include "src/config.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

static const struct tool_command commands[] = {
#define COMMAND(name, synopsis, summary)                                                           \
	{#name, synopsis, summary, tool_help_##name, tool_main_##name},
#include "src/tools/commands.def"
#undef COMMAND
	{0},
};

int tool_help(const struct tool_command *self)
{
	printf("usage: ptxloom %s %s\n\n%s\n%s%s", self->name, self->synopsis, self->summary,
	       *self->help ? "\n" : "", self->help);
	return TOOL_OK;
}

int tool_usage(const struct tool_command *self, const char *fmt, ...)
{
	va_list args;

	fprintf(stderr, "ptxloom %s: error: ", self->name);
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fprintf(stderr, "\ntry `ptxloom %s --help`\n", self->name);
	return TOOL_USAGE;
}

static void overview(FILE *to)
{
	fputs("usage: ptxloom COMMAND [ARGUMENT...]\n\nRuns, checks and inspects CUDA programs without a GPU.\n\n",
	      to);
	for (const struct tool_command *c = commands; c->name; c++)
		fprintf(to, "  %-9s %s\n", c->name, c->summary);
	fputs("\n`ptxloom COMMAND --help` explains one command; ptxloom(1) all of them.\n", to);
}

/* What could not be written is an error of its own, whatever the command found. */
static int flush(const char *name, int status)
{
	if (!fflush(stdout) && !ferror(stdout))
		return status;
	fprintf(stderr, "ptxloom%s%s: standard output: %s\n", *name ? " " : "", name,
		strerror(errno));
	return TOOL_USAGE;
}

/* Whatever the command reads of it: what is set and misspelt was meant for one of them. */
static bool check_environment(void)
{
	struct text why = {0};
	bool ok = settings_check(&why);

	if (!ok)
		fprintf(stderr, "ptxloom: error: %s\n", why.at ? why.at : "no memory left");
	text_fini(&why);
	return ok;
}

static int run_command(const struct tool_command *c, int argc, char **argv)
{
	return check_environment() ? c->main(c, argc, argv) : TOOL_USAGE;
}

/* What may have been meant by a word that is not a command. */
static int no_command(const char *name)
{
	struct nearest n;

	fprintf(stderr, "ptxloom: error: there is no command '%s'\n", name);
	if (tool_hint_file(name))
		return TOOL_USAGE;
	nearest_init(&n, name, strlen(name));
	for (const struct tool_command *c = commands; c->name; c++)
		nearest_offer(&n, c->name, strlen(c->name));
	if (n.best)
		fprintf(stderr, "ptxloom: note: did you mean `ptxloom %s`?\n", n.best);
	else if (!access(name, R_OK))
		fprintf(stderr, "ptxloom: note: `ptxloom run %s%s` runs a program\n",
			strchr(name, '/') ? "" : "./", name);
	else
		fputs("ptxloom: note: `ptxloom --help` lists the commands\n", stderr);
	return TOOL_USAGE;
}

static int dispatch(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "";

	if (!strcmp(name, "--version") || !strcmp(name, "-V")) {
		puts(PACKAGE_STRING);
		return TOOL_OK;
	}
	if (!strcmp(name, "--help") || !strcmp(name, "-h") ||
	    (!strcmp(name, "help") && argc == 2)) {
		overview(stdout);
		return TOOL_OK;
	}
	if (!strcmp(name, "help"))
		name = argv[2];
	for (const struct tool_command *c = commands; c->name; c++) {
		if (strcmp(c->name, name))
			continue;
		return strcmp(argv[1], "help") ? run_command(c, argc - 1, argv + 1) : tool_help(c);
	}
	if (*name)
		return no_command(name);
	overview(stderr);
	return TOOL_USAGE;
}

/* Names of the program that stand for others' command lines. */
static const struct stand_in {
	const char *name, *said;
	int (*main)(int argc, char **argv);
} stand_ins[] = {
	{"ptxloom-sanitizer", "sanitizer", tool_main_sanitizer},
	{"nvcc", "cc", tool_main_nvcc},
};

static void on_full_file(int number)
{
	(void)number;
}

/*
 * A file that may not grow (ulimit -f) is an error of write(2), which has a message, and not the
 * end. Programs that are started have the default again.
 */
static void take_full_files_for_errors(void)
{
	struct sigaction mine = {.sa_handler = on_full_file, .sa_flags = SA_RESTART}, now;

	if (!sigaction(SIGXFSZ, NULL, &now) && now.sa_handler == SIG_DFL)
		sigaction(SIGXFSZ, &mine, NULL);
}

int main(int argc, char **argv)
{
	const char *slash = strrchr(argv[0], '/'), *name = slash ? slash + 1 : argv[0];
	int status;

	take_full_files_for_errors();
	for (size_t i = 0; i < ARRAY_LEN(stand_ins); i++)
		if (!strcmp(name, stand_ins[i].name))
			return flush(stand_ins[i].said, check_environment()
								? stand_ins[i].main(argc, argv)
								: TOOL_USAGE);
	status = dispatch(argc, argv);
	return flush(argc > 1 && argv[1][0] != '-' ? argv[1] : "", status);
}
