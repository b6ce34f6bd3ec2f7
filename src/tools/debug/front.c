/*
 * Where a command line goes: to the front end's own commands, to the program's interpreter, or to
 * the one that is here while no program runs.
 */
#include "src/tools/debug/front.h"

#include "src/tools/debug/code.h"

#include <stdarg.h>
#include <stdio.h>

void front_puts(struct front *f, const char *s, size_t n)
{
	if (f->capture) {
		text_add(&f->captured, s, n);
		return;
	}
	if (f->colour) {
		struct text t = {0};

		colour_text(&t, s, n);
		fwrite(t.at ? t.at : "", 1, t.len, stdout);
		text_fini(&t);
	} else {
		fwrite(s, 1, n, stdout);
	}
	/* What the program prints next comes after it. */
	fflush(stdout);
}

static void front_vprintf(struct front *f, const char *fmt, va_list args)
{
	struct text t = {0};

	text_vprintf(&t, fmt, args);
	if (t.at)
		front_puts(f, t.at, t.len);
	text_fini(&t);
}

void front_printf(struct front *f, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	front_vprintf(f, fmt, args);
	va_end(args);
}

enum front_result front_error(struct front *f, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	front_vprintf(f, fmt, args);
	va_end(args);
	front_puts(f, "\n", 1);
	return FRONT_ERROR;
}

void front_forget_code(struct front *f)
{
	/* It may be another one by now. */
	code_close(f->code);
	f->code = NULL;
	f->code_wanted = false;
}

/* Let the interpreter know the program's code, the first time that something may be about it. */
static void want_code(struct front *f)
{
	char path[4096];

	if (f->code_wanted)
		return;
	f->code_wanted = true;
	if (!f->code && tool_find_program(f->code_file, path, sizeof(path)))
		f->code = code_open(path, f->code_file, f->sm);
	if (f->code)
		debugger_program(f->local, &f->code->program, true);
}

/* The interpreter that is here, while no program runs. */
static enum front_result run_locally(struct front *f, const char *line)
{
	struct debugger_result r;

	want_code(f);
	f->out.len = 0;
	r = debugger_command(f->local, line, &f->out);
	if (f->out.len)
		front_puts(f, f->out.at, f->out.len);
	switch (r.outcome) {
	case DEBUGGER_MORE:
		return FRONT_MORE;
	case DEBUGGER_START:
		if (!f->started)
			return session_run(f);
		return front_error(f, "No program is being run");
	case DEBUGGER_GO:
		return front_error(f, "No program is being run");
	case DEBUGGER_FRONT:
		return verb_run(f, r.name, r.args);
	case DEBUGGER_DONE:
		break;
	}
	return r.failed ? FRONT_ERROR : FRONT_OK;
}

enum front_result front_command(struct front *f, const char *line)
{
	const char *name, *args;
	enum front_result r;

	session_poll(f);
	if (!session_is_running(f)) {
		r = run_locally(f, line);
	} else {
		name = f->collecting ? NULL : debugger_front_command(f->local, line, &args);
		r = name ? verb_run(f, name, args) : session_command(f, line);
	}
	f->collecting = r == FRONT_MORE;
	return r;
}

enum front_result front_capture(struct front *f, const char *line, struct text *out)
{
	enum front_result r;

	f->captured.len = 0;
	f->capture = true;
	r = front_command(f, line);
	f->capture = false;
	text_add(out, f->captured.at ? f->captured.at : "", f->captured.len);
	return r;
}

enum front_result front_evaluate(struct front *f, const char *expression, bool *truth)
{
	struct text line = {0}, out = {0};
	enum front_result r = FRONT_ERROR;

	if (!*expression)
		return front_error(f, "if and while need an expression");
	text_printf(&line, "output (%s) != 0", expression);
	if (!line.failed)
		r = front_capture(f, line.at, &out);
	if (r == FRONT_OK)
		*truth = out.len && (*out.at == '1' || *out.at == 't');
	else
		front_puts(f, out.at ? out.at : "", out.len);
	text_fini(&line);
	text_fini(&out);
	return r;
}
