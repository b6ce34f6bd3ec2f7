/*
 * The `ptxloom` command: one row per subcommand in commands.def, one file per subcommand.
 * A subcommand parses its arguments, calls the library, prints, and returns an exit status; whether
 * standard output took it all is checked after it.
 */
#ifndef PL_TOOLS_H
#define PL_TOOLS_H

#include "src/base/base.h"
#include "src/base/diag.h"

/* Exit statuses of every subcommand, documented in ptxloom(1). */
enum tool_exit {
	TOOL_OK = 0,
	TOOL_FINDINGS = 1,     /* the input has errors */
	TOOL_USAGE = 2,        /* unusable arguments, or a file that cannot be read */
	TOOL_CANNOT_RUN = 126, /* as shells say when a program cannot be started */
};

/* One subcommand. `main` gets argv with argv[0] = the subcommand's name. */
struct tool_command {
	const char *name;
	const char *synopsis; /* arguments, one line, without the name */
	const char *summary;  /* one line */
	const char *help;     /* the --help text below the synopsis */
	int (*main)(const struct tool_command *self, int argc, char **argv);
};

#define COMMAND(name, synopsis, summary)                                                           \
	int tool_main_##name(const struct tool_command *self, int argc, char **argv);              \
	extern const char tool_help_##name[];
#include "src/tools/commands.def"
#undef COMMAND

#define TOOL_PRELOAD "libptxloom-preload.so"
/* The folder beside it of programs that others are to find before those of the system. */
#define TOOL_FRONT "front"

/*
 * Folder with the libraries, and with our CUDA headers: installed or in the build. False: not
 * found.
 */
bool tool_find_libs(char *out, size_t size);
bool tool_find_include(char *out, size_t size);
/* Folder of the Python packages that programs find by themselves. */
bool tool_find_python(char *out, size_t size);

/* What programs need to find the emulated libraries. The strings are owned. */
struct tool_environment {
	char *preload, *library_path; /* LD_PRELOAD and LD_LIBRARY_PATH, with what they are now */
	char *nvtx;                   /* NVTX_INJECTION64_PATH */
	char *python_path;            /* PYTHONPATH, NULL: it stays */
	char *path;                   /* PATH, with nvidia-smi in front */
};

/* False after a message. */
bool tool_environment(struct tool_environment *e);
void tool_environment_fini(struct tool_environment *e);
/* Into the environment of the program. */
void tool_environment_set(const struct tool_environment *e);
/*
 * The value of an option, NAME=VALUE, NAME VALUE or, of a letter, -nVALUE, *i at its last word;
 * NULL: it is another.
 */
const char *tool_option_value(int argc, char **argv, int *i, const char *name);
/*
 * The value when argv[*i] is -d VALUE, --device VALUE or --device=VALUE, with *i at its last word;
 * else NULL.
 */
const char *tool_device_option(int argc, char **argv, int *i);
/*
 * Is this a schedule? option: the value of --schedule; NULL: that of the environment, if any. False
 * after a message.
 */
bool tool_check_schedule(const char *option);
/* Is this a list of devices? False after a message. */
bool tool_check_devices(const char *spec);
/* A number of digits alone, from `least` to `most`. */
bool tool_read_number(const char *text, u64 least, u64 most, u64 *out);
/*
 * The value of --shard, "I/N": the I-th of N parts of what is counted from 1, I from 1 to N, and 0
 * for the N-th. Of what is counted from 0 it has the numbers that leave *part when divided by
 * *parts. TOOL_OK, or the status to end with.
 */
int tool_read_shard(const struct tool_command *self, const char *text, u64 *part, u64 *parts);
/* Is this a list of checks, the value of --check? TOOL_OK, or the status to end with. */
int tool_check_checks(const struct tool_command *self, const char *checks);
/* Are these rules of fault injection? Messages name `place`. False after them. */
bool tool_check_rules(const char *rules, const char *place);

/* The file that execvp would start becomes `out`. False, with errno: there is none. */
bool tool_find_program(const char *name, char *out, size_t size);
/*
 * Say so on standard error when the program will not see the libraries. False: it must not be
 * started.
 */
bool tool_check_program(const char *name);

/*
 * A file that is not a program was to be run: say on standard error which command is for it,
 * by the end of its name. False: nothing is known of such files.
 */
bool tool_hint_file(const char *name);

/* Before a program is started: TOOL_OK, or the status to end with after a message. */
int tool_check_file(const char *name);
/* Become the program. Returns the exit status after a message: it cannot be started. */
int tool_start_program(char **argv);

/* What `ptxloom run` does, for a command that has its options. */
int tool_run_program(const struct tool_command *self, int argc, char **argv);

/* compute-sanitizer's command line; argv[0] is its own name. */
int tool_main_sanitizer(int argc, char **argv);
/* nvcc's, by `ptxloom cc`; argv[0] is its own name. */
int tool_main_nvcc(int argc, char **argv);

/* Count lines in this folder, or file. False after a message. */
bool tool_set_coverage(const char *where);

/* Print "usage: ptxloom NAME SYNOPSIS", summary and help to stdout; returns TOOL_OK. */
int tool_help(const struct tool_command *self);
/* Print "ptxloom NAME: message" and the usage line to stderr; returns TOOL_USAGE. */
int tool_usage(const struct tool_command *self, const char *fmt, ...) PL_PRINTF(2, 3);

#endif
