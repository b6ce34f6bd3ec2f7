/*
 * The tables of this machine: the one that is built in, and the user's.
 */
#include "src/signature/load.h"

#include <dirent.h>

static bool is_table(const char *name)
{
	size_t n = strlen(name), suffix = strlen(SIGNATURE_SUFFIX);

	return n > suffix && *name != '.' && !strcmp(name + n - suffix, SIGNATURE_SUFFIX);
}

/* A table that is wrong is left out; the first of them is in `why`. */
static bool load_table(struct signature_set *set, struct signature_tables *tables,
		       const char *folder, const char *name, struct text *why)
{
	struct text path = {0}, wrong = {0};
	struct file f;
	bool ok = false;

	text_printf(&path, "%s%s", folder, name);
	if (path.failed || !file_open(&f, path.at)) {
		text_puts(&wrong, "cannot be read");
	} else if (signature_read(set, (const char *)f.data, f.size, &wrong) &&
		   VEC_RESERVE(&tables->files, 1)) {
		tables->files.at[tables->files.len++] = f;
		ok = true;
	} else {
		file_close(&f);
	}
	if (!ok && !why->len)
		text_printf(why, "%s%s: %s", folder, name, wrong.at ? wrong.at : "out of memory");
	text_fini(&path);
	text_fini(&wrong);
	return ok;
}

bool signature_load(struct signature_set *set, struct signature_tables *tables, struct text *why)
{
	struct text folder = {0};
	struct dirent *entry;
	bool ok;
	size_t bytes;
	const char *known = signature_known(&bytes);
	DIR *d;

	ok = signature_read(set, known, bytes, why);
	d = signature_folder(&folder) ? opendir(folder.at) : NULL;
	while (d && (entry = readdir(d)))
		if (is_table(entry->d_name))
			ok &= load_table(set, tables, folder.at, entry->d_name, why);
	if (d)
		closedir(d);
	text_fini(&folder);
	return ok;
}

void signature_unload(struct signature_set *set, struct signature_tables *tables)
{
	signature_fini(set);
	for (size_t i = 0; i < tables->files.len; i++)
		file_close(&tables->files.at[i]);
	VEC_FREE(&tables->files);
}
