/*
 * The calls that the lane in focus is in: bt, up, down, frame; and their variables.
 */
#include "src/debugger/look_value.h"

#include <ctype.h>

/* ---- frames ---- */

/* All frames of the lane in focus; the caller frees them. *n 0: there are none. */
static struct frame *frames_all(struct debugger *x, u32 *n)
{
	struct frame *all = calloc(DEBUG_FRAMES_MAX, sizeof(*all));
	struct cta *c = focus_cta(x);

	*n = all && c ? frames_of(x, c, x->focus.warp, x->focus.lane, all, DEBUG_FRAMES_MAX) : 0;
	return all;
}

struct where look_frame_where(struct debugger *x, const struct frame *f, u32 number)
{
	struct where w = where_of(x, f->place);

	/* What is inlined at a step's line counts as that line; outer frames have their own. */
	if (number && f->shown.source.path)
		w.source = f->shown.source;
	return w;
}

/* ---- variables of a frame ---- */

struct variables {
	struct debugger *x;
	struct dbg_context c;
	bool parameters;
	u32 count;
	const char *between, *indent, *equals, *behind;
};

static void say_variable(void *user, const struct dbg_variable *v, u32 depth PL_UNUSED)
{
	struct variables *s = user;
	struct dbg_value value;
	struct text out = {0}, why = {0};
	struct dbg_format f = {.inner = true, .elements = s->equals[1] ? 0 : 20};

	if (v->is_parameter != s->parameters || !v->name || !*v->name)
		return;
	dbg_value_of(&s->c, v, &value);
	if (!dbg_value_print(&s->c, &value, &f, &out, &why)) {
		out.len = 0;
		text_printf(&out, "<%s>", why.at ? why.at : "no value");
	}
	say(s->x, "%s%s%s%s%s%s", s->count ? s->between : "", s->indent, v->name, s->equals,
	    out.at ? out.at : "", s->behind);
	s->count++;
	text_fini(&out);
	text_fini(&why);
}

/* Parameters of PTX functions, where nothing else is known. */
static void say_ptx_parameters(struct variables *s)
{
	const struct ir_func *f = s->c.place.func;
	const struct ir_module *m = s->c.names ? dbg_names_module(s->c.names) : NULL;

	for (u32 i = 0; m && f && i < f->params_len; i++) {
		struct dbg_variable v;

		if (!dbg_names_find(s->c.names, s->c.place, s->c.inlined,
				    m->vars.at[f->params[i]]->name->text, &v))
			continue;
		v.is_parameter = true;
		say_variable(s, &v, 0);
	}
}

static u32 say_variables(struct debugger *x, const struct dbg_context *c, bool parameters,
			 const char *between, const char *indent)
{
	struct variables s = {x,
			      *c,
			      parameters,
			      0,
			      between,
			      indent,
			      *between ? "=" : " = ",
			      *between ? "" : "\n"};

	if (!c->names || !c->place.func)
		return 0;
	dbg_names_locals(c->names, c->place, c->inlined, say_variable, &s);
	if (!s.count && parameters && !dbg_names_has_dwarf(c->names))
		say_ptx_parameters(&s);
	return s.count;
}

void command_info_locals(struct debugger *x, const struct call *c PL_UNUSED)
{
	struct dbg_context at;

	if (!context_of(x, &x->focus, &at)) {
		say_error(x, "No frame selected");
		return;
	}
	if (say_variables(x, &at, false, "", ""))
		return;
	if (at.names && !dbg_names_has_dwarf(at.names))
		say(x, "No symbol table info available: build with -G, or see info registers.\n");
	else
		say(x, "No locals.\n");
}

void command_info_args(struct debugger *x, const struct call *c PL_UNUSED)
{
	struct dbg_context at;

	if (!context_of(x, &x->focus, &at))
		say_error(x, "No frame selected");
	else if (!say_variables(x, &at, true, "", ""))
		say(x, "No arguments.\n");
}

/* ---- saying frames ---- */

static void stack_say_shape(struct debugger *x, const u32 dims[3])
{
	if (dims[1] * dims[2] == 1)
		say(x, "%u", dims[0]);
	else
		say(x, "(%u,%u,%u)", dims[0], dims[1], dims[2]);
}

/* "#0  walk<<<1, 32>>> (out=0x7f.., steps=3) at fault.cu:20" */
static void stack_say_frame(struct debugger *x, const struct frame *f, u32 number)
{
	const struct exec_env *env = debug_env(x->grid);
	struct focus at = x->focus;
	struct dbg_context c;
	struct text t = {0};
	struct where w = look_frame_where(x, f, 1);

	at.frame = number;
	say(x, "#%-3u%s", number, f->shown.function ? f->shown.function : "?");
	if (f->place.func && f->place.func->is_entry && !f->shown.is_inlined) {
		say(x, "<<<");
		stack_say_shape(x, env->grid);
		say(x, ", ");
		stack_say_shape(x, env->block);
		say(x, ">>>");
	}
	say(x, " (");
	if (context_of(x, &at, &c))
		say_variables(x, &c, true, ", ", "");
	if (f->shown.source.path)
		w.source = f->shown.source;
	where_say(&w, &t);
	say(x, ") at %s%s\n", t.at ? t.at : "?", f->shown.is_inlined ? " (inlined)" : "");
	text_fini(&t);
}

static void say_locals_of(struct debugger *x, u32 number)
{
	struct focus at = x->focus;
	struct dbg_context c;

	at.frame = number;
	if (!context_of(x, &at, &c) || !say_variables(x, &c, false, "", "        "))
		say(x, "No locals.\n");
}

void command_backtrace(struct debugger *x, const struct call *c)
{
	const char *rest = c->args + (*c->args == '-' && isalpha((u8)c->args[1]));
	bool full = !strncmp(rest, "full", 4) && !isalnum((u8)rest[4]);
	s64 limit = 0;
	u32 n, first = 0, last;
	struct frame *all;

	rest = full ? rest + 4 + strspn(rest + 4, " ") : c->args;
	if (*rest && !look_number(x, rest, &limit))
		return;
	all = frames_all(x, &n);
	last = n;
	if (limit > 0 && (u64)limit < n)
		last = (u32)limit;
	if (limit < 0 && (u64)-limit < n)
		first = n - (u32)-limit;
	for (u32 i = first; i < last; i++) {
		stack_say_frame(x, &all[i], i);
		if (full)
			say_locals_of(x, i);
	}
	if (last < n)
		say(x, "(More stack frames follow...)\n");
	if (!n)
		say_error(x, "No stack");
	free(all);
}

/* ---- moving ---- */

static void select_frame(struct debugger *x, const struct frame *all, u32 number)
{
	struct where w = look_frame_where(x, &all[number], number);

	x->focus.frame = number;
	stack_say_frame(x, &all[number], number);
	source_say_line(x, &w);
}

static void move_frame(struct debugger *x, const struct call *c, s64 sign)
{
	u32 n;
	s64 count = 1, to;
	struct frame *all;

	if (*c->args && !look_number(x, c->args, &count))
		return;
	all = frames_all(x, &n);
	to = (s64)x->focus.frame + sign * (count > DEBUG_FRAMES_MAX         ? DEBUG_FRAMES_MAX
					   : count < -(s64)DEBUG_FRAMES_MAX ? -(s64)DEBUG_FRAMES_MAX
									    : count);
	if (to >= (s64)n && x->focus.frame + 1 >= n)
		say_error(x, "Initial frame selected; you can't go up");
	else if (to < 0 && !x->focus.frame)
		say_error(x, "Bottom (innermost) frame selected; you can't go down");
	else
		select_frame(x, all, to < 0 ? 0 : to >= (s64)n ? n - 1 : (u32)to);
	free(all);
}

void command_up(struct debugger *x, const struct call *c)
{
	move_frame(x, c, 1);
}

void command_down(struct debugger *x, const struct call *c)
{
	move_frame(x, c, -1);
}

/* What follows a word of gdb's, `frame level 1`; NULL: it is another. */
static const char *behind_word(const char *args, const char *word)
{
	size_t n = strlen(word);

	return !strncmp(args, word, n) && args[n] == ' ' ? args + n + strspn(args + n, " ") : NULL;
}

/* `frame function NAME`: the innermost call of it. */
static void frame_of_function(struct debugger *x, const char *name)
{
	u32 n, i = 0;
	struct frame *all = frames_all(x, &n);

	while (i < n && !(all[i].shown.function && dbg_names_same(all[i].shown.function, name)))
		i++;
	if (i < n)
		select_frame(x, all, i);
	else
		say_error(x, "No frame for function \"%s\"", name);
	free(all);
}

void command_frame(struct debugger *x, const struct call *c)
{
	const char *name = behind_word(c->args, "function"), *level = behind_word(c->args, "level");
	u32 n;
	s64 to = x->focus.frame;
	struct frame *all;

	if (name) {
		frame_of_function(x, name);
		return;
	}
	if (*c->args && !look_number(x, level ? level : c->args, &to))
		return;
	all = frames_all(x, &n);
	if (to < 0 || to >= (s64)n)
		say_error(x, "No frame at level %s", *c->args ? c->args : "0");
	else
		select_frame(x, all, (u32)to);
	free(all);
}

void command_info_frame(struct debugger *x, const struct call *c PL_UNUSED)
{
	u32 n, at = x->focus.frame;
	struct frame *all = frames_all(x, &n);
	struct where w;
	struct text t = {0};

	if (at >= n) {
		say_error(x, "No frame selected");
		free(all);
		return;
	}
	w = look_frame_where(x, &all[at], at);
	where_say(&w, &t);
	say(x, "Frame #%u of %u: %s at %s\n", at, n,
	    all[at].shown.function ? all[at].shown.function : "?", t.at ? t.at : "?");
	say(x, " PTX function %s, instruction %u (line %u of the PTX)\n",
	    all[at].place.func ? all[at].place.func->name->text : "?", all[at].place.insn,
	    w.ptx_line);
	if (all[at].shown.is_inlined)
		say(x, " inlined into frame #%u\n", at + 1);
	else if (at + 1 < n)
		say(x, " called by frame #%u\n", at + 1);
	if (at && !all[at - 1].shown.is_inlined)
		say(x, " caller of frame #%u\n", at - 1);
	say(x, " local memory of the frame: %u bytes from %u on\n", all[at].call.func->frame_bytes,
	    all[at].call.local);
	text_fini(&t);
	free(all);
}
