/*
 * Which files a command line links, archives that -l names included.
 */
#include "src/tools/toolkit/device_link.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

static bool is_regular(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISREG(st.st_mode);
}

/* lib and name in a folder, as the linker takes it: "lib" NAME ".so" before ".a". */
static char *archive_in(const char *folder, const char *name, bool *found)
{
	static const char *const ends[] = {".so", ".a"};
	char *path = NULL;

	for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
		int n = *name == ':' ? asprintf(&path, "%s/%s", folder, name + 1)
				     : asprintf(&path, "%s/lib%s%s", folder, name, ends[i]);

		if (n < 0)
			abort();
		*found = is_regular(path);
		if (*found && (i || *name == ':'))
			return path;
		free(path);
		if (*found)
			return NULL;
	}
	return NULL;
}

/* The value of the option "-L" or "-l" at word *i; NULL: it is another word. */
static const char *link_value(const struct cc_words *w, u32 *i, char letter)
{
	const char *s = w->at[*i];

	if (s[0] != '-' || s[1] != letter)
		return NULL;
	if (s[2])
		return s + 2;
	return *i + 1 < w->len ? w->at[++*i] : NULL;
}

static void add_archive(struct cc_options *o, const char *name, struct cc_words *files)
{
	bool found = false;

	for (u32 i = 0; i < o->link.len && !found; i++) {
		const char *folder = link_value(&o->link, &i, 'L');
		char *path = folder ? archive_in(folder, name, &found) : NULL;

		if (path) {
			cc_add(files, path);
			cc_add(&o->owned, path);
		}
	}
}

void device_link_archives(struct cc_options *o, struct cc_words *files)
{
	for (u32 i = 0; i < o->link.len; i++) {
		const char *name = link_value(&o->link, &i, 'l');

		if (name)
			add_archive(o, name, files);
	}
}
