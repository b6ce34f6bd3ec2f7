/*
 * What the subcommands that look into CUDA binaries share: opening the file, messages, output.
 */
#ifndef PL_TOOLS_IMAGES_H
#define PL_TOOLS_IMAGES_H

#include "src/base/file.h"
#include "src/dev/image/image.h"
#include "src/tools/tools.h"

struct tool_images {
	struct file file;
	struct diag diag; /* prints to stderr */
	struct image_list list;
	const char *name; /* of the file, as messages call it */
};

/*
 * Open `path` and find its images; flags as for image_list_add. Errors are printed.
 * Returns TOOL_OK, TOOL_USAGE when the file cannot be read, TOOL_FINDINGS when it is damaged (the
 * list then holds what could be found) or holds no image. Close in any case.
 */
int tool_images_open(struct tool_images *t, const char *path, u32 flags);
void tool_images_close(struct tool_images *t);

#endif
