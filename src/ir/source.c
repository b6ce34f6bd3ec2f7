/*
 * .file and .loc: paths and functions.
 */
#include "src/ir/source.h"

const char *ir_file_path(const struct ir_module *m, u32 number)
{
	for (size_t i = 0; i < m->files.len; i++)
		if (m->files.at[i].number == number)
			return m->files.at[i].path;
	return NULL;
}

const struct ir_loc *ir_loc_at(const struct ir_module *m, u32 index)
{
	return index < m->locs.len && m->locs.at[index].line ? &m->locs.at[index] : NULL;
}

const char *ir_loc_function(const struct ir_module *m, const struct ir_loc *l)
{
	if (!l->function)
		return NULL;
	for (size_t i = 0; i < m->sections.len; i++) {
		const struct ir_section *s = m->sections.at[i];

		for (size_t k = 0; k < s->labels.len; k++) {
			u64 at = s->labels.at[k].insn + (u64)l->function_offset;

			if (s->labels.at[k].name == l->function && at < s->bytes.len &&
			    memchr(s->bytes.at + at, 0, s->bytes.len - at))
				return (const char *)s->bytes.at + at;
		}
	}
	return NULL;
}

bool ir_is_toolkit_path(const char *path)
{
	static const char *const parts[] = {
		"/usr/include/",          "/usr/lib/",      "/usr/local/include/",
		"/ptxloom/include/",      "/cuda/include/", "/cuda/bin/",
		"/targets/x86_64-linux/", "/nvidia/cu",     "/usr/local/cuda",
		"/triton/language/",      "/numba/cuda/",   "/numba_cuda/",
	};

	for (size_t i = 0; i < ARRAY_LEN(parts); i++)
		if (strstr(path, parts[i]))
			return true;
	return false;
}
