/*
 * Where a command line goes: to the front end's own commands, to the program's interpreter, or to
 * the one that is here while no program runs.
 */
#include "src/tools/debug/front.h"

#include <stdarg.h>
#include <stdio.h>

void front_puts(struct front *f, const char *s, size_t n)
{
	if (f->capture) {
		text_add(&f->captured, s, n);
		return;
	}
	fwrite(s, 1, n, stdout);
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

/* The interpreter that is here, while no program runs. */
static enum front_result run_locally(struct front *f, const char *line)
{
	struct debugger_result r;

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

enum front_result front_evaluate(struct front *f, const char *expression, bool *truth)
{
	struct text line = {0};
	enum front_result r;
	const char *s;

	text_printf(&line, "output (%s) != 0", expression);
	f->captured.len = 0;
	f->capture = true;
	r = line.failed ? front_error(f, "no memory left") : front_command(f, line.at);
	f->capture = false;
	text_fini(&line);
	s = f->captured.len ? f->captured.at : "";
	if (r == FRONT_OK)
		*truth = *s == '1' || *s == 't';
	else
		front_puts(f, s, f->captured.len);
	return r;
}
