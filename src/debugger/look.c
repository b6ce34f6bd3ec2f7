/*
 * What looking keeps between commands.
 */
#include "src/debugger/look.h"

struct look *look_new(void)
{
	return calloc(1, sizeof(struct look));
}

void look_free(struct look *k)
{
	if (!k)
		return;
	sources_forget(k);
	displays_free(k);
	for (size_t i = 0; i < k->directories.len; i++)
		free(k->directories.at[i]);
	VEC_FREE(&k->directories);
	free(k);
}
