/*
 * .file and .loc: paths and functions.
 */
#include "src/ir/source.h"

/* How deep functions are followed that are inlined into each other. */
#define INLINED_MAX 64u

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

static bool is_loc_of_toolkit(const struct ir_module *m, const struct ir_loc *l)
{
	for (u32 depth = 0; l && depth < INLINED_MAX; depth++) {
		const char *path = ir_file_path(m, l->file);

		if (path && !ir_is_toolkit_path(path))
			return false;
		l = l->inlined_at != IR_NONE ? ir_loc_at(m, l->inlined_at) : NULL;
	}
	return true;
}

bool ir_func_is_of_toolkit(const struct ir_module *m, const struct ir_func *f)
{
	u32 last = IR_NONE;

	for (size_t i = 0; i < f->insns.len; i++) {
		const struct ir_loc *l = ir_loc_at(m, f->insns.at[i].loc);

		if (!l || f->insns.at[i].loc == last)
			continue;
		last = f->insns.at[i].loc;
		if (!is_loc_of_toolkit(m, l))
			return false;
	}
	return m->locs.len != 0;
}
