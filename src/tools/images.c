/*
 * Opening CUDA binaries for the subcommands.
 */
#include "src/tools/images.h"

#include <errno.h>
#include <stdio.h>

static int no_images(struct tool_images *t, u32 flags)
{
	static const char elf_magic[] = {0x7f, 'E', 'L', 'F'};
	bool known = t->file.size >= 8 &&
		     (!memcmp(t->file.data, elf_magic, 4) || !memcmp(t->file.data, "!<arch>\n", 8));
	const char *hint =
		"known are executables, shared objects, objects, archives, fat binaries, cubins and PTX text";

	if (known)
		hint = "libraries may keep their code in other sections: --scan searches all bytes";
	if (flags & IMAGE_SCAN)
		hint = NULL;
	diag_at(&t->diag, DIAG_ERROR, &t->list.source, DIAG_NOWHERE, hint, "%s",
		!t->file.size                 ? "the file is empty"
		: known || flags & IMAGE_SCAN ? "no CUDA images"
					      : "not a CUDA binary or PTX text");
	return TOOL_FINDINGS;
}

int tool_images_open(struct tool_images *t, const char *path, u32 flags)
{
	enum image_result r;

	*t = (struct tool_images){.name = strcmp(path, "-") ? path : "<stdin>"};
	diag_init(&t->diag, diag_print, stderr);
	image_list_init(&t->list, &t->diag, t->name);
	if (!file_open(&t->file, path)) {
		diag_at(&t->diag, DIAG_ERROR, &t->list.source, DIAG_NOWHERE, NULL, "%s",
			strerror(errno));
		return TOOL_USAGE;
	}
	r = image_list_add(&t->list, t->file.data, t->file.size, flags);
	if (r == IMAGE_NONE)
		return no_images(t, flags);
	return r == IMAGE_OK ? TOOL_OK : TOOL_FINDINGS;
}

void tool_images_close(struct tool_images *t)
{
	image_list_fini(&t->list);
	diag_fini(&t->diag);
	file_close(&t->file);
}
