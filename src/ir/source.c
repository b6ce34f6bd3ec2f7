/*
 * Lines of the PTX; .file and .loc: paths and functions.
 */
#include "src/ir/source.h"

#include <stdlib.h>

/* How deep functions are followed that are inlined into each other. */
#define INLINED_MAX 64u

/* ---- the PTX text ---- */

#define LINE_BLOCK 4096u

static u32 count_breaks(const char *text, u64 bytes)
{
	u32 n = 0;

	for (u64 i = 0; i < bytes; i++)
		n += text[i] == '\n';
	return n;
}

/* NULL without memory. */
static u32 *make_breaks(const struct diag_source *s)
{
	u64 blocks = s->size / LINE_BLOCK + 1;
	u32 *before = malloc(blocks * sizeof(*before)), n = 0;

	for (u64 i = 0; before && i < blocks; i++) {
		before[i] = n;
		n += count_breaks(s->text + i * LINE_BLOCK,
				  min_u64(s->size - i * LINE_BLOCK, LINE_BLOCK));
	}
	return before;
}

/* Any thread may make them; the first one's stay. */
static const u32 *breaks_of(const struct ir_module *m)
{
	u32 **at = (u32 **)(uintptr_t)&m->line_breaks;
	u32 *now = __atomic_load_n(at, __ATOMIC_ACQUIRE), *made;

	if (PL_LIKELY(now != NULL))
		return now;
	made = make_breaks(&m->source);
	if (made &&
	    __atomic_compare_exchange_n(at, &now, made, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return made;
	free(made);
	return now;
}

u32 ir_line_of(const struct ir_module *m, u32 offset)
{
	u64 at = min_u64(offset, m->source.size), from = at / LINE_BLOCK * LINE_BLOCK;
	const u32 *breaks = breaks_of(m);

	if (!breaks)
		from = 0;
	return 1 + (breaks ? breaks[from / LINE_BLOCK] : 0) +
	       count_breaks(m->source.text + from, at - from);
}

/* ---- .file and .loc ---- */

/* Compilers number them from 1 on, in their order. NULL: there is no such directive. */
static const struct ir_file *file_of_number(const struct ir_module *m, u32 number)
{
	if (number && number <= m->files.len && m->files.at[number - 1].number == number)
		return &m->files.at[number - 1];
	for (size_t i = 0; i < m->files.len; i++)
		if (m->files.at[i].number == number)
			return &m->files.at[i];
	return NULL;
}

const char *ir_file_path(const struct ir_module *m, u32 number)
{
	const struct ir_file *f = file_of_number(m, number);

	return f ? f->path : NULL;
}

bool ir_loc_is_users(const struct ir_module *m, const struct ir_loc *l)
{
	const struct ir_file *f = file_of_number(m, l->file);

	return f && !f->is_toolkit;
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
		if (ir_loc_is_users(m, l))
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
