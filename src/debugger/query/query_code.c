/*
 * Queries of editors about code: modules, files, lines that have code, PTX.
 */
#include "src/base/file.h"
#include "src/debugger/query/query_int.h"
#include "src/debugger/run/into.h"
#include "src/ir/source.h"

#include <stdlib.h>
#include <string.h>

#define DISASSEMBLE_MAX 10000
/* Lines that one reply names. */
#define LINES_MAX 1000

/* ---- modules and files ---- */

static void module_row(struct debugger *x, struct json *j, struct loaded *l)
{
	bool open = loaded_open(x, l);
	const char *main = open ? dbg_lines_main_file(l->lines) : NULL;

	json_item(j);
	json_open(j, '{');
	json_number(j, "id", query_module_number(x, l));
	json_string(j, "name", main ? file_base_name(main) : l->ptx->name);
	if (main)
		json_string(j, "path", main);
	json_bool(j, "isUserCode", true);
	json_string(j, "symbolStatus",
		    !open                           ? "no memory left"
		    : dbg_names_has_dwarf(l->names) ? "lines and variables"
		    : l->has_source                 ? "lines"
						    : "PTX alone");
	json_close(j, '}');
}

void query_modules(struct debugger *x, const char *args, struct text *out)
{
	s64 start = query_take(&args), count = query_take(&args);
	struct json j = {.out = out};

	json_open(&j, '{');
	json_name(&j, "modules");
	json_open(&j, '[');
	for (s64 i = start < 0 ? 0 : start;
	     i < (s64)x->modules.len && (count <= 0 || i < start + count); i++)
		module_row(x, &j, x->modules.at[i]);
	json_close(&j, ']');
	json_number(&j, "totalModules", (s64)x->modules.len);
	json_close(&j, '}');
}

/* Is the path one of a file that was listed before file k of module i? */
static bool source_is_listed(const struct debugger *x, size_t i, size_t k, const char *path)
{
	for (size_t m = 0; m <= i; m++) {
		const struct ir_module *ir = x->modules.at[m]->m;

		for (size_t f = 0; f < (m == i ? k : ir->files.len); f++)
			if (!strcmp(ir->files.at[f].path, path))
				return true;
	}
	return false;
}

/* Does code have lines of the file? */
static bool has_lines(const struct ir_module *m, u32 file)
{
	for (size_t i = 0; i < m->locs.len; i++)
		if (m->locs.at[i].file == file)
			return true;
	return false;
}

static void source_row(struct json *j, const char *path, s64 reference)
{
	json_item(j);
	json_open(j, '{');
	json_string(j, "name", file_base_name(path));
	if (reference)
		json_number(j, "sourceReference", reference);
	else
		json_string(j, "path", path);
	json_close(j, '}');
}

/* Files that the user's code is in, and PTX that has none. */
void query_sources(struct debugger *x, const char *args, struct text *out)
{
	struct json j = {.out = out};

	(void)args;
	json_open(&j, '{');
	json_name(&j, "sources");
	json_open(&j, '[');
	for (size_t i = 0; i < x->modules.len; i++) {
		struct loaded *l = x->modules.at[i];

		for (size_t k = 0; k < l->m->files.len; k++) {
			const struct ir_file *f = &l->m->files.at[k];

			if (has_lines(l->m, f->number) && !ir_is_toolkit_path(f->path) &&
			    !source_is_listed(x, i, k, f->path))
				source_row(&j, f->path, 0);
		}
		if (loaded_open(x, l) && !l->has_source)
			source_row(&j, l->ptx->name, query_module_number(x, l));
	}
	json_close(&j, ']');
	json_close(&j, '}');
}

static bool line_has_code(struct debugger *x, const char *path, u32 line)
{
	struct dbg_finds found = {0};
	bool has = false;

	for (size_t i = 0; i < x->modules.len && !has; i++) {
		struct loaded *l = x->modules.at[i];

		if (loaded_open(x, l) && dbg_lines_find(l->lines, path, line, &found))
			for (size_t k = 0; k < found.len; k++)
				has |= found.at[k].line == line;
		dbg_finds_free(&found);
	}
	return has;
}

/* Those of a range of lines of a file that a breakpoint can be at. */
void query_lines(struct debugger *x, const char *args, struct text *out)
{
	s64 from = query_take(&args), to = query_take(&args);
	struct json j = {.out = out};

	json_open(&j, '{');
	json_name(&j, "breakpoints");
	json_open(&j, '[');
	if (to - from >= LINES_MAX)
		to = from + LINES_MAX - 1;
	for (s64 n = from < 1 ? 1 : from; n <= to && n <= UINT32_MAX; n++) {
		if (!line_has_code(x, args, (u32)n))
			continue;
		json_item(&j);
		json_open(&j, '{');
		json_number(&j, "line", n);
		json_close(&j, '}');
	}
	json_close(&j, ']');
	json_close(&j, '}');
}

/* ---- text and instructions ---- */

void query_source(struct debugger *x, const char *args, struct text *out)
{
	s64 n = query_take(&args);
	struct json j = {.out = out};
	struct text ptx = {0};

	if (n < 1 || (u64)n > x->modules.len) {
		query_error(out, "there is no such source");
		return;
	}
	text_add(&ptx, x->modules.at[n - 1]->ptx->text, x->modules.at[n - 1]->ptx->size);
	json_open(&j, '{');
	json_string(&j, "content", ptx.at ? ptx.at : "");
	json_string(&j, "mimeType", "text/x-ptx");
	json_close(&j, '}');
	text_fini(&ptx);
}

/* "NAME+N", or a kernel's name: the function and the instruction. */
static struct loaded *code_by_name(struct debugger *x, const char *text, const struct ir_func **f,
				   s64 *insn)
{
	const char *plus = strrchr(text, '+');
	size_t n = plus ? (size_t)(plus - text) : strlen(text);

	*insn = plus ? strtoll(plus + 1, NULL, 0) : 0;
	for (size_t i = 0; i < x->modules.len; i++) {
		const struct ir_module *m = x->modules.at[i]->m;

		for (size_t k = 0; k < m->funcs.len; k++)
			if (strlen(m->funcs.at[k]->name->text) == n &&
			    !memcmp(m->funcs.at[k]->name->text, text, n)) {
				*f = m->funcs.at[k];
				return x->modules.at[i];
			}
	}
	return NULL;
}

/* The instruction as it is written, up to its end or that of its line. */
static void ptx_text(const struct loaded *l, struct dbg_place at, struct text *out)
{
	size_t begin = at.func->insns.at[at.insn].begin, end = begin;

	while (end < l->ptx->size && !strchr(";\n", l->ptx->text[end]))
		end++;
	text_add(out, l->ptx->text + begin, end - begin);
}

static void instruction_row(struct debugger *x, struct json *j, struct loaded *l,
			    const struct ir_func *f, s64 insn)
{
	bool there = insn >= 0 && (u64)insn < f->insns.len;
	struct dbg_place at = {f, there ? (u32)insn : 0};
	struct text t = {0};

	json_item(j);
	json_open(j, '{');
	text_printf(&t, "%s+%lld", f->name->text, (long long)insn);
	json_string(j, "address", t.at);
	t.len = 0;
	if (there)
		ptx_text(l, at, &t);
	else
		text_puts(&t, "(no instruction)");
	json_string(j, "instruction", t.len ? t.at : "");
	if (there) {
		struct where w = where_of(x, at);

		if (w.source.path) {
			json_name(j, "location");
			json_open(j, '{');
			json_string(j, "path", w.source.path);
			json_close(j, '}');
			json_number(j, "line", w.source.line);
		}
	} else {
		json_string(j, "presentationHint", "invalid");
	}
	json_close(j, '}');
	text_fini(&t);
}

void query_disassemble(struct debugger *x, const char *args, struct text *out)
{
	s64 offset = query_take(&args), count = query_take(&args), insn;
	const struct ir_func *f;
	struct loaded *l = code_by_name(x, args, &f, &insn);
	struct json j = {.out = out};

	if (!l || count < 0 || count > DISASSEMBLE_MAX) {
		query_error(out,
			    l ? "between 0 and %d instructions are shown at once"
			      : "there is no code of this name",
			    DISASSEMBLE_MAX);
		return;
	}
	json_open(&j, '{');
	json_name(&j, "instructions");
	json_open(&j, '[');
	for (s64 i = 0; i < count; i++)
		instruction_row(x, &j, l, f, insn + offset + i);
	json_close(&j, ']');
	json_close(&j, '}');
}

/* ---- functions that a line calls ---- */

/* Only the innermost frame of the user's goes on with its line. */
static bool is_stepped(struct debugger *x, const struct focus *f, struct frame *out)
{
	struct cta *c = debug_cta(x->grid, f->cta);

	return c && f->frame <= frame_of_user(x, c, f->warp, f->lane, NULL) &&
	       frame_at(x, c, f->warp, f->lane, f->frame, out);
}

/* `location` is what `step into` takes. */
void query_step_targets(struct debugger *x, const char *args, struct text *out)
{
	const struct focus *f = query_frame(x, query_take(&args), out);
	struct json j = {.out = out};
	step_targets targets = {0};
	struct frame frame;

	if (!f)
		return;
	if (is_stepped(x, f, &frame))
		step_targets_find(x, &frame, &targets);
	json_open(&j, '{');
	json_name(&j, "targets");
	json_open(&j, '[');
	for (size_t i = 0; i < targets.len; i++) {
		json_item(&j);
		json_open(&j, '{');
		json_number(&j, "id", (s64)i + 1);
		json_string(&j, "label", targets.at[i].label);
		json_string(&j, "location", targets.at[i].location);
		json_close(&j, '}');
	}
	json_close(&j, ']');
	json_close(&j, '}');
	step_targets_free(&targets);
}
