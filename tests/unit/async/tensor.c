/*
 * Which arguments of the encode calls are accepted, as an H200's driver has it:
 * tests/vectors/tensormap.tsv, a line per call, "result <tab> key=value ..".
 */
#include "src/base/file.h"
#include "tests/check.h"
#include "tests/unit/async/tensor_words.h"

static bool accepted(const char *words)
{
	struct tensor_shape s = tensor_of_words(words);
	struct tensor_map m;

	return tensor_encode(&m, &s);
}

int main(void)
{
	const char *dir = getenv("srcdir");
	char path[4096];
	struct file f;
	char *text, *more = NULL;

	snprintf(path, sizeof(path), "%s/tests/vectors/tensormap.tsv", dir ? dir : ".");
	if (!CHECK_MSG(file_open(&f, path), "the vectors are there"))
		return check_done();
	text = calloc(1, f.size + 1);
	memcpy(text, f.data, f.size);
	for (char *line = strtok_r(text, "\n", &more); line; line = strtok_r(NULL, "\n", &more))
		if (*line != '#')
			CHECK_MSG(accepted(line + 2) == (*line == '0'), line + 2);
	free(text);
	file_close(&f);
	return check_done();
}
