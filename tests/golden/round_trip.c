/*
 * Every accepted module of tests/forms, tests/errors and samples is printed and read again: the
 * same module, and the second print is the first one. One check per file.
 */
#include "tests/unit/ptx/ptx_exercise.h"

#include "tests/check.h"

#include "src/base/file.h"

#include <dirent.h>

#define FILES_MAX 1024

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void check_file(const char *path, const char *name)
{
	static const struct ptx_options options = {.lint = true};
	struct text why = {0};
	struct ir_module *m;
	struct file f;

	if (!CHECK_MSG(file_open(&f, path), path))
		return;
	m = exercise_parse(path, (const char *)f.data, f.size, &options, &why);
	if (!CHECK_MSG(m && exercise_round_trip(m, &options, &why), name))
		printf("# %.400s\n", why.at ? why.at : "");
	ir_module_free(m);
	file_close(&f);
	text_fini(&why);
}

/* All files of a folder whose names begin like this. */
static void check_folder(const char *root, const char *folder, const char *prefix)
{
	char *names[FILES_MAX], path[8192];
	struct dirent *entry;
	size_t n = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "%s/%s", root, folder);
	dir = opendir(path);
	while (dir && (entry = readdir(dir)) && n < FILES_MAX)
		if (strstr(entry->d_name, ".ptx") &&
		    !strncmp(entry->d_name, prefix, strlen(prefix)))
			names[n++] = strdup(entry->d_name);
	if (dir)
		closedir(dir);
	qsort(names, n, sizeof(*names), compare_names);
	if (!CHECK_MSG(n > 0, folder))
		printf("# nothing in %s\n", path);
	for (size_t i = 0; i < n; i++) {
		snprintf(path, sizeof(path), "%s/%s/%s", root, folder, names[i]);
		check_file(path, names[i]);
		free(names[i]);
	}
}

int main(void)
{
	const char *root = getenv("srcdir");

	root = root ? root : ".";
	check_folder(root, "tests/forms/legal", "");
	check_folder(root, "tests/errors", "ok-");
	check_folder(root, "samples", "");
	return check_done();
}
