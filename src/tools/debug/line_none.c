/*
 * Editing of command lines in a build without readline: there is none.
 */
#include "src/tools/debug/front.h"

bool line_edit_open(struct front *f)
{
	(void)f;
	return false;
}

void line_edit_close(struct front *f)
{
	(void)f;
}

char *line_edit(struct front *f, const char *prompt)
{
	(void)f;
	(void)prompt;
	return NULL;
}
