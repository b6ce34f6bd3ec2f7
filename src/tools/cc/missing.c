/*
 * Parts of NVIDIA's toolkit that `ptxloom cc` does not have: an include or link of them is reported
 * in one message, instead of what the compiler says of a file that it does not find.
 */
#include "src/tools/cc/cc.h"

#include <stdio.h>

/* By how the names of headers and libraries begin. */
static const char *const parts[][2] = {
	{"thrust/", "Thrust"},    {"cub/", "CUB"},
	{"cuda/", "libcu++"},     {"nv/", "libcu++"},
	{"cublas", "cuBLAS"},     {"curand", "cuRAND"},
	{"cufft", "cuFFT"},       {"cusparse", "cuSPARSE"},
	{"cusolver", "cuSOLVER"}, {"cudnn", "cuDNN"},
	{"cutensor", "cuTENSOR"}, {"nccl", "NCCL"},
	{"npp", "NPP"},           {"nvrtc", "NVRTC"},
	{"nvml", "NVML"},         {"nvJitLink", "nvJitLink"},
	{"nvjpeg", "nvJPEG"},     {"cupti", "CUPTI"},
	{"nvblas", "NVBLAS"},     {"mma.h", "the matrix fragments"},
};

static const char *library_part(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(parts); i++)
		if (!strncmp(name, parts[i][0], strlen(parts[i][0])))
			return parts[i][1];
	return NULL;
}

/* Where the line that contains `at` begins. */
static const char *line_start(const char *text, const char *at)
{
	while (at > text && at[-1] != '\n')
		at--;
	return at;
}

static void say_missing_library(const char *where, int where_len, const char *name, int len,
				const char *part)
{
	fprintf(stderr,
		"%.*s%sptxloom cc: error: '%.*s' is of %s, a part of NVIDIA's toolkit that this compiler "
		"does not have\n"
		"ptxloom cc: note: build the program with nvcc and start it with `ptxloom run`; "
		"ptxloom-cc(1) says what there is\n",
		where_len, where, where_len ? ": " : "", len, name, part);
}

/* clang: "a.cu:1:10: fatal error: 'thrust/sort.h' file not found". */
static bool explain_header(const char *messages)
{
	static const char before[] = ": fatal error: '", after[] = "' file not found";
	const char *at = strstr(messages, before), *name, *end, *line, *part;

	name = at ? at + strlen(before) : NULL;
	end = name ? strstr(name, after) : NULL;
	part = end ? library_part(name) : NULL;
	if (!part)
		return false;
	line = line_start(messages, at);
	say_missing_library(line, (int)(at - line), name, (int)(end - name), part);
	return true;
}

/* Where the first #include leads: "In file included from a.cu:2:". */
static bool first_include(const char *messages, const char *end, const char **at, int *len)
{
	static const char from[] = "In file included from ";
	const char *s = strstr(messages, from);

	if (!s || s >= end)
		return false;
	*at = s + strlen(from);
	*len = (int)strcspn(*at, "\n");
	*len -= *len && (*at)[*len - 1] == ':';
	return true;
}

/*
 * The same header is there, among the system's, but not made for clang:
 * "/usr/../thrust/sort.h:40:2: error: ..". Elsewhere it may be the user's own, whose errors are to
 * be seen.
 */
static bool explain_inside(const char *messages)
{
	const char *error = strstr(messages, "error: "), *line, *name, *where;
	int path, len;

	line = error ? line_start(messages, error) : NULL;
	if (!line || strncmp(line, "/usr/", 5) || !first_include(messages, error, &where, &len))
		return false;
	path = (int)strcspn(line, ":");
	for (name = line; name < line + path; name += strcspn(name, "/:") + 1)
		if (name > line && library_part(name)) {
			say_missing_library(where, len, name, (int)(line + path - name),
					    library_part(name));
			return true;
		}
	return false;
}

/* ld: "cannot find -lcublas: No such file or directory"; lld: "unable to find library -lcublas". */
static bool explain_library(const char *messages)
{
	const char *at = strstr(messages, " find -l"), *name, *part;

	at = at ? at : strstr(messages, " library -l");
	name = at ? strstr(at, "-l") + 2 : NULL;
	part = name ? library_part(name) : NULL;
	if (part)
		say_missing_library("", 0, name - 2, (int)strcspn(name - 2, ": \n"), part);
	return part != NULL;
}

bool cc_explain_missing(const char *messages)
{
	return explain_header(messages) || explain_inside(messages) || explain_library(messages);
}
