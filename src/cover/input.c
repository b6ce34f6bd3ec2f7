/*
 * Reading profiles: files, and folders of them.
 */
#include "src/cover/model.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

static bool add_folder(struct cover_input *in, const char *path)
{
	const char *slash = strrchr(path, '/');
	char *folder =
		!slash ? strdup(".") : strndup(path, slash == path ? 1 : (size_t)(slash - path));

	for (size_t i = 0; folder && i < in->folders.len; i++)
		if (!strcmp(in->folders.at[i], folder)) {
			free(folder);
			return true;
		}
	if (folder && VEC_PUSH(&in->folders, folder))
		return true;
	free(folder);
	return false;
}

static void read_profile(struct cover_input *in, const char *path)
{
	struct text why = {0};

	if (cover_profile_read(&in->profile, path, &why) && add_folder(in, path)) {
		in->files++;
	} else {
		fprintf(stderr, "ptxloom: error: %s\n", why.at ? why.at : "out of memory");
		in->damaged++;
	}
	text_fini(&why);
}

static int is_profile_name(const struct dirent *d)
{
	size_t n = strlen(d->d_name);

	return n > 7 && !strcmp(d->d_name + n - 7, ".ptxcov");
}

bool cover_input_read(struct cover_input *in, const char *path)
{
	struct dirent **names;
	struct stat s;
	int n;

	if (stat(path, &s)) {
		fprintf(stderr, "ptxloom: error: %s: %s\n", path, strerror(errno));
		return false;
	}
	if (!S_ISDIR(s.st_mode)) {
		read_profile(in, path);
		return true;
	}
	n = scandir(path, &names, is_profile_name, alphasort);
	if (n <= 0) {
		fprintf(stderr, "ptxloom: error: %s: %s\n", path,
			n < 0 ? strerror(errno) : "there is no profile (*.ptxcov)");
		return false;
	}
	for (int i = 0; i < n; i++) {
		struct text file = {0};

		text_printf(&file, "%s/%s", path, names[i]->d_name);
		if (!file.failed)
			read_profile(in, file.at);
		text_fini(&file);
		free(names[i]);
	}
	free(names);
	return true;
}

void cover_input_free(struct cover_input *in)
{
	cover_profile_free(&in->profile);
	for (size_t i = 0; i < in->folders.len; i++)
		free(in->folders.at[i]);
	VEC_FREE(&in->folders);
}
