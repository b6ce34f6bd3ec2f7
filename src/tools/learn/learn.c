/*
 * `ptxloom learn`: tables by which static runtimes are recognised whose names are gone, and what
 * they recognise in a file.
 */
#include "src/signature/find.h"
#include "src/signature/learn.h"
#include "src/signature/load.h"
#include "src/tools/tools.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

const char tool_help_learn[] =
	"Programs and libraries may carry a static CUDA runtime and no names of functions. Those of\n"
	"CUDA 12.8 to 13.5 are recognised. For another one, give its archive, libcudart_static.a:\n"
	"\n"
	"  ptxloom learn /usr/local/cuda-11.8/lib64/libcudart_static.a\n"
	"\n"
	"What is kept are lengths and hashes of its functions, in $XDG_DATA_HOME/ptxloom/runtimes, or\n"
	"~/.local/share/ptxloom/runtimes; every program reads them that begins after it.\n"
	"\n"
	"  -o FILE       write the table there; - is standard output\n"
	"  --name NAME   what to call the runtime; the default is made of a hash of the archive\n"
	"  --find        FILE is a program or a library: list the functions that are recognised in\n"
	"                it; `whole` has been compared byte by byte, `name` refers to its name\n"
	"\n"
	"Exit status: 0; 1 when the file is damaged, or nothing is recognised in it; 2 when a file\n"
	"cannot be read or written.\n";

struct learn_options {
	const char *output, *name;
	bool find;
};

static int no_file(const struct tool_command *self, const char *path)
{
	fprintf(stderr, "ptxloom %s: %s: %s\n", self->name, path, strerror(errno));
	return TOOL_USAGE;
}

/* ---- learning ---- */

/* The folder of a path and those above it. */
static bool make_folders(char *path)
{
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		bool ok;

		*slash = 0;
		ok = !mkdir(path, 0777) || errno == EEXIST;
		*slash = '/';
		if (!ok)
			return false;
	}
	return true;
}

/* In one step: a program that begins at the same time finds the old table or the new one. */
static bool write_table(const char *path, const struct text *table)
{
	struct text new = {0};
	FILE *f;
	bool ok;

	if (!strcmp(path, "-"))
		return fwrite(table->at, 1, table->len, stdout) == table->len;
	text_printf(&new, "%s.%ld", path, (long)getpid());
	if (new.failed) {
		text_fini(&new);
		errno = ENOMEM;
		return false;
	}
	f = fopen(new.at, "we");
	ok = f && fwrite(table->at, 1, table->len, f) == table->len;
	if (f)
		ok = !fclose(f) && ok;
	ok = ok && !rename(new.at, path);
	if (!ok && f)
		unlink(new.at);
	text_fini(&new);
	return ok;
}

static int keep_table(const struct tool_command *self, const struct learn_options *o,
		      const char *name, const struct text *table, const struct learned *n)
{
	struct text path = {0};
	int status = TOOL_OK;

	if (o->output) {
		text_puts(&path, o->output);
	} else if (signature_folder(&path)) {
		text_printf(&path, "%s%s", name, SIGNATURE_SUFFIX);
	} else {
		fprintf(stderr,
			"ptxloom %s: no folder for tables: HOME and XDG_DATA_HOME are not set\n",
			self->name);
		return TOOL_USAGE;
	}
	if (path.failed)
		errno = ENOMEM;
	if (path.failed || (!o->output && !make_folders(path.at)) || !write_table(path.at, table))
		status = no_file(self, path.at ? path.at : "the table");
	else if (strcmp(path.at, "-") != 0)
		printf("%s: %u functions of a static runtime\n", path.at, n->functions);
	text_fini(&path);
	return status;
}

static int learn_one(const struct tool_command *self, const struct learn_options *o,
		     const char *path)
{
	struct text table = {0}, why = {0};
	struct learned n;
	struct file f;
	char name[32];
	int status;

	if (!file_open(&f, path))
		return no_file(self, path);
	snprintf(name, sizeof(name), "runtime-%08" PRIx32, (u32)hash_bytes(f.data, f.size));
	if (learn_archive(f.data, f.size, o->name ? o->name : name, &table, &n, &why)) {
		status = keep_table(self, o, o->name ? o->name : name, &table, &n);
	} else {
		fprintf(stderr, "ptxloom %s: %s: %s\n", self->name, path,
			why.at ? why.at : "out of memory");
		status = TOOL_FINDINGS;
	}
	file_close(&f);
	text_fini(&table);
	text_fini(&why);
	return status;
}

/* ---- finding ---- */

static bool is_in_set(const char *name, void *user)
{
	const struct signature_set *set = user;
	size_t bytes = strlen(name);

	for (size_t i = 0; i < set->all.len; i++)
		if (set->all.at[i].name_bytes == bytes && !memcmp(set->all.at[i].name, name, bytes))
			return true;
	return false;
}

static void print_found(const char *path, const struct found *found)
{
	u32 by_name = 0;

	for (size_t i = 0; i < found->functions.len; i++) {
		const struct found_function *f = &found->functions.at[i];

		printf("%#" PRIx64 " %s %s\n", f->address, f->name, f->by_name ? "name" : "whole");
		by_name += f->by_name;
	}
	printf("%s: runtime %s: %zu of its %u functions, %u more by name, %u ambiguous\n", path,
	       found->build, found->functions.len - by_name, found->of, by_name, found->ambiguous);
}

static int find_in_path(const struct tool_command *self, const char *path,
			struct signature_set *set)
{
	struct code_image c = {0};
	struct found found = {0};
	struct file f;
	int status = TOOL_FINDINGS;

	if (!file_open(&f, path))
		return no_file(self, path);
	if (!code_open_file(&c, f.data, f.size))
		fprintf(stderr, "ptxloom %s: %s: not a program or library for x86-64\n", self->name,
			path);
	else if (!find_functions(&c, set, is_in_set, set, &found))
		fprintf(stderr, "ptxloom %s: %s: out of memory\n", self->name, path);
	else if (!found.functions.len)
		fprintf(stderr, "ptxloom %s: %s: no static runtime that is known\n", self->name,
			path);
	else
		status = TOOL_OK;
	if (status == TOOL_OK)
		print_found(path, &found);
	find_fini(&found);
	code_fini(&c);
	file_close(&f);
	return status;
}

static int find_files(const struct tool_command *self, char **paths)
{
	struct signature_set set = {0};
	struct signature_tables tables = {0};
	struct text why = {0};
	int status = TOOL_OK, one;

	if (!signature_load(&set, &tables, &why)) {
		fprintf(stderr, "ptxloom %s: %s\n", self->name, why.at ? why.at : "out of memory");
		status = TOOL_USAGE;
	}
	for (; *paths; paths++) {
		one = find_in_path(self, *paths, &set);
		status = one > status ? one : status;
	}
	signature_unload(&set, &tables);
	text_fini(&why);
	return status;
}

/* A name is a word, and that of a file. */
static bool is_table_name(const char *s)
{
	if (!*s || *s == '.' || strlen(s) > 100)
		return false;
	for (; *s; s++)
		if (*s <= ' ' || *s > '~' || *s == '/')
			return false;
	return true;
}

int tool_main_learn(const struct tool_command *self, int argc, char **argv)
{
	static const struct option options[] = {
		{"find", no_argument, NULL, 'f'},
		{"name", required_argument, NULL, 'n'},
		{"help", no_argument, NULL, 'h'},
		{0},
	};
	struct learn_options o = {0};
	int c, status = TOOL_OK, one;

	opterr = 0;
	while ((c = getopt_long(argc, argv, ":ho:", options, NULL)) != -1) {
		if (c == 'h')
			return tool_help(self);
		if (c == ':')
			return tool_usage(self, "there is no value for '%s'", argv[optind - 1]);
		if (c == '?')
			return tool_usage(self, "unknown option '%s'", argv[optind - 1]);
		o.find |= c == 'f';
		o.output = c == 'o' ? optarg : o.output;
		o.name = c == 'n' ? optarg : o.name;
	}
	if (optind == argc)
		return tool_usage(self, "no file given");
	if (o.name && !is_table_name(o.name))
		return tool_usage(self, "--name '%s': not a word that can name a file", o.name);
	if (o.find && (o.name || o.output))
		return tool_usage(self, "--find writes no table: -o and --name mean nothing");
	if (o.find)
		return find_files(self, argv + optind);
	if (argc - optind > 1 && (o.name || o.output))
		return tool_usage(self, "-o and --name are for one archive");
	for (; optind < argc; optind++) {
		one = learn_one(self, &o, argv[optind]);
		status = one > status ? one : status;
	}
	return status;
}
