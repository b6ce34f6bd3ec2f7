/*
 * From instructions to lines of the source.
 *
 * .loc directives give an instruction's line, and with inlined_at where that was inlined, and so on
 * up to the function that has the instruction. What users want to see is their own line, not that
 * of the header that has atomicAdd.
 */
#include "src/dev/place.h"

#include "src/base/demangle.h"
#include "src/base/file.h"
#include "src/ir/source.h"

#include <sys/stat.h>

#define FRAMES_SHOWN 12u
#define QUOTED_FILE_MAX ((off_t)16 << 20)

/* ---- PTX ---- */

struct place place_of_insn(const struct program *p, u32 func, u32 ir)
{
	struct place place = {0};

	if (func >= p->func_len)
		return place;
	place.func = &p->funcs[func];
	if (ir >= place.func->func->insns.len)
		return place;
	place.in = &place.func->func->insns.at[ir];
	place.line = ir_line_of(place.func->module, place.in->begin);
	return place;
}

struct place place_of(const struct program *p, u32 pc)
{
	const struct uop *x = pc < p->uops ? &p->uop[pc] : NULL;

	return x ? place_of_insn(p, x->func, x->ir) : (struct place){0};
}

/*
 * Is the text a file of its own? That of a program has the program's name, or one like "<fat
 * binary>".
 */
static bool has_file(const struct ir_module *m)
{
	const char *dot = strrchr(m->source.name, '.');

	return dot && !strcmp(dot, ".ptx");
}

static void say_ptx(const struct place *at, struct text *out)
{
	if (has_file(at->func->module))
		text_printf(out, "%s:%u", at->func->module->source.name, at->line);
	else
		text_printf(out, "PTX line %u", at->line);
}

void place_say_insn(const struct place *at, struct text *out)
{
	say_ptx(at, out);
	text_puts(out, ": ");
	ir_print_insn(at->func->module, at->func->func, at->in, out);
}

/* ---- source ---- */

static struct source_line source_line_of(const struct ir_module *m, const struct ir_loc *l)
{
	struct source_line s = {NULL, 0, 0};
	const char *file = l ? ir_file_path(m, l->file) : NULL;

	if (file)
		s = (struct source_line){file, l->line, l->column};
	return s;
}

/*
 * The last line of the user's before the instruction: for compilers that do not say inlined_at, and
 * for what they have made of several lines, to which they give line 0.
 */
static struct source_line line_before(const struct place *at)
{
	const struct ir_module *m = at->func->module;
	size_t i = (size_t)(at->in - at->func->func->insns.at);

	do {
		const struct ir_loc *l = ir_loc_at(m, at->func->func->insns.at[i].loc);

		for (u32 depth = 0; l && depth < FRAMES_SHOWN; depth++) {
			if (ir_loc_is_users(m, l))
				return source_line_of(m, l);
			l = l->inlined_at != IR_NONE ? ir_loc_at(m, l->inlined_at) : NULL;
		}
	} while (i--);
	return (struct source_line){NULL, 0, 0};
}

/* ---- frames ---- */

/* One function that was under way, inlined ones too. */
struct frame {
	struct source_line source;
	const char *function;
	struct place at;
	bool is_users;
};

/* Add the frames of one instruction, innermost first; returns how many there are then. */
static u32 add_frames(const struct place *at, struct frame *frames, u32 n)
{
	const struct ir_module *m = at->func->module;
	const struct ir_loc *l = ir_loc_at(m, at->in->loc);
	u32 first = n;
	bool users = false;

	do {
		bool inlined = l && l->inlined_at != IR_NONE;
		const char *name = inlined ? ir_loc_function(m, l) : NULL;

		frames[n] = (struct frame){source_line_of(m, l),
					   name ? name : at->func->func->name->text, *at,
					   l && ir_loc_is_users(m, l)};
		users |= frames[n++].is_users;
		l = inlined ? ir_loc_at(m, l->inlined_at) : NULL;
	} while (l && n < FRAMES_SHOWN);
	if (!users && at->in->loc != IR_NONE) {
		struct source_line s = line_before(at);

		if (s.file) {
			frames[first].source = s;
			frames[first].is_users = true;
		}
		n = first + 1;
	}
	return n;
}

static u32 find_frames(const struct program *p, const struct fault *f, struct frame *frames)
{
	u32 n = 0;

	for (u32 i = 0; i <= f->callers && n < FRAMES_SHOWN; i++) {
		struct place at = place_of(p, i ? f->caller[i - 1] : f->pc);

		if (at.in)
			n = add_frames(&at, frames, n);
	}
	return n;
}

/* False: no frame of the instruction is the user's; `out` is the innermost one's line then. */
static bool find_users_line(const struct place *at, struct source_line *out)
{
	struct frame frames[FRAMES_SHOWN];
	u32 n = at->in ? add_frames(at, frames, 0) : 0;

	*out = n ? frames[0].source : (struct source_line){NULL, 0, 0};
	for (u32 i = 0; i < n; i++)
		if (frames[i].is_users) {
			*out = frames[i].source;
			return true;
		}
	return false;
}

static struct place place_of_call(const struct place *at)
{
	const struct program_func *f = at->func->caller;
	struct place call = {.func = f, .in = &f->func->insns.at[at->func->caller_insn]};

	call.line = ir_line_of(f->module, call.in->begin);
	return call;
}

struct place place_for_users(const struct place *at, struct source_line *source)
{
	struct source_line first;
	struct place call = *at;

	if (find_users_line(at, &first) || !at->in) {
		*source = first;
		return *at;
	}
	while (call.func->caller) {
		call = place_of_call(&call);
		if (find_users_line(&call, source))
			return call;
	}
	*source = first;
	return *at;
}

struct source_line place_source(const struct place *at)
{
	struct source_line s;

	place_for_users(at, &s);
	return s;
}

bool place_kernel_is_of_toolkit(const struct program *p)
{
	const char *kernel = p->funcs[0].func->name->text;

	return !strncmp(kernel, "_ZN3cub", 7) || !strncmp(kernel, "_ZN6thrust", 10);
}

bool place_is_of_toolkit(const struct program *p, u32 pc)
{
	struct place at = place_of(p, pc);
	size_t i = at.in ? (size_t)(at.in - at.func->func->insns.at) + 1 : 0;
	const char *file = NULL;

	while (i-- && !file)
		file = source_line_of(at.func->module,
				      ir_loc_at(at.func->module, at.func->func->insns.at[i].loc))
			       .file;
	return file ? ir_is_toolkit_path(file) : place_kernel_is_of_toolkit(p);
}

/* ---- words ---- */

void place_quote(const struct source_line *s, struct text *out)
{
	struct stat st;
	struct file f;

	if (stat(s->file, &st) || !S_ISREG(st.st_mode) || st.st_size > QUOTED_FILE_MAX ||
	    !file_open(&f, s->file))
		return;
	diag_quote(out, &(struct diag_source){s->file, (const char *)f.data, f.size}, s->line,
		   s->column);
	file_close(&f);
}

static void say_source(const struct source_line *s, struct text *out)
{
	text_printf(out, "%s:%u", s->file, s->line);
	if (s->column)
		text_printf(out, ":%u", s->column);
}

static void say_frame(const struct frame *f, bool innermost, const char *kernel, struct text *out)
{
	text_puts(out, innermost ? "    at " : "    called from ");
	if (f->source.file)
		say_source(&f->source, out);
	else if (innermost)
		place_say_insn(&f->at, out);
	else
		say_ptx(&f->at, out);
	if (strcmp(f->function, kernel) != 0) {
		text_puts(out, innermost && !f->source.file ? "\n    in " : ", in ");
		demangle_short(f->function, out);
	}
	text_puts(out, "\n");
	if (innermost && f->source.file)
		place_quote(&f->source, out);
}

/* Frames in headers are left out where others are there. */
static bool frame_is_shown(const struct frame *f, bool any_users)
{
	return !any_users || f->is_users || !f->source.file;
}

void place_say(const struct program *p, const struct fault *f, const char *kernel, struct text *out)
{
	struct frame frames[FRAMES_SHOWN];
	u32 n = find_frames(p, f, frames), shown = 0;
	bool any = false, lines = false;

	for (u32 i = 0; i < n; i++) {
		any |= frames[i].is_users;
		lines |= frames[i].source.file != NULL;
	}
	for (u32 i = 0; i < n; i++)
		if (frame_is_shown(&frames[i], any))
			say_frame(&frames[i], !shown++, kernel, out);
	text_puts(out, "    in kernel ");
	demangle_short(kernel, out);
	text_puts(out, "\n");
	if (n && lines) {
		text_puts(out, "    ");
		place_say_insn(&frames[0].at, out);
		text_puts(out, "\n");
	} else if (n && !has_file(frames[0].at.func->module)) {
		text_puts(out, "    (build with -lineinfo to see the line of the source)\n");
	}
}

void place_say_callers(const struct program *p, u32 pc, struct text *out)
{
	struct frame frames[FRAMES_SHOWN];
	struct place at = place_of(p, pc);
	u32 n = at.in ? add_frames(&at, frames, 0) : 0, shown = 0;

	for (u32 i = 0; i < n; i++) {
		if (!frames[i].is_users || !shown++)
			continue;
		text_printf(out, "    called from %s:%u, in ",
			    file_base_name(frames[i].source.file), frames[i].source.line);
		demangle_short(frames[i].function, out);
		text_puts(out, "\n");
	}
}

void device_say_place(const struct program *p, u32 pc, struct text *out)
{
	struct place at = place_of(p, pc);
	struct source_line s = {NULL, 0, 0};
	struct text insn = {0};

	if (!at.in) {
		text_puts(out, "?");
		return;
	}
	s = place_source(&at);
	if (s.file)
		text_printf(out, "%s:%u", file_base_name(s.file), s.line);
	else
		say_ptx(&at, out);
	ir_print_insn(at.func->module, at.func->func, at.in, &insn);
	if (insn.at) {
		const char *word = insn.at;

		/* A guard is before the instruction. */
		if (*word == '@')
			word += strcspn(word, " \t");
		word += strspn(word, " \t");
		text_printf(out, " (%.*s)", (int)strcspn(word, " \t;"), word);
	}
	text_fini(&insn);
}
