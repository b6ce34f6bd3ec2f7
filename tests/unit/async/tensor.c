/*
 * Which arguments of the encode calls are accepted, as an H200's driver has it:
 * tests/vectors/tensormap.tsv, a line per call, "result <tab> key=value ..".
 */
#include "src/base/file.h"
#include "src/async/tensor.h"
#include "tests/check.h"

#include <stdlib.h>

static const char *get(const char *words, const char *key)
{
	size_t n = strlen(key);

	for (const char *p = words; p; p = strchr(p, ' ') ? strchr(p, ' ') + 1 : NULL)
		if (!strncmp(p, key, n) && p[n] == '=')
			return p + n + 1;
	return "0";
}

static u32 number(const char *words, const char *key)
{
	return (u32)strtol(get(words, key), NULL, 10);
}

static u32 list(const char *words, const char *key, s64 *out, u32 max)
{
	const char *p = get(words, key);
	u32 n = 0;

	for (; n < max; p++) {
		char *end;

		out[n++] = strtoll(p, &end, 10);
		p = end;
		if (*p != ',')
			break;
	}
	return n;
}

static bool accepted(const char *words)
{
	struct tensor_shape s = {
		.address = number(words, "base"),
		.im2col = *get(words, "kind") == 'i',
		.type = number(words, "dt"),
		.rank = number(words, "rank"),
		.interleave = number(words, "inter"),
		.swizzle = number(words, "swz"),
		.promotion = number(words, "l2"),
		.fill = number(words, "oob"),
		.channels = number(words, "cpp"),
		.pixels = number(words, "ppc"),
	};
	struct tensor_map m;
	s64 v[8];

	for (u32 i = 0, n = list(words, "dim", v, 5); i < n; i++)
		s.dim[i] = (u64)v[i];
	for (u32 i = 0, n = list(words, "stride", v, 4); i < n; i++)
		s.stride[i] = (u64)v[i];
	for (u32 i = 0, n = list(words, "box", v, 5); i < n; i++)
		s.box[i] = (u32)v[i];
	for (u32 i = 0, n = list(words, "es", v, 5); i < n; i++)
		s.step[i] = (u32)v[i];
	for (u32 i = 0, n = list(words, "lower", v, 3); i < n; i++)
		s.lower[i] = (s32)v[i];
	for (u32 i = 0, n = list(words, "upper", v, 3); i < n; i++)
		s.upper[i] = (s32)v[i];
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
