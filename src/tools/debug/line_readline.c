/*
 * Command lines with readline: editing, history, completion by what the interpreter knows.
 *
 * Readline is driven by its callback interface, so that Ctrl-C and the end of the program are seen
 * while it waits. It keeps its state in globals, and so does what connects it with us.
 */
#include "src/tools/debug/front.h"

#include <stdio.h>
#include <readline/history.h>
#include <readline/readline.h>
#include <stdlib.h>
#include <sys/stat.h>

#define HISTORY_LINES 1000

static struct {
	struct front *front;
	char *line;
	bool got;        /* `line` is there; NULL: the input has ended */
	char *path;      /* of the history; NULL: it is not kept */
	char *list, *at; /* completions, and the next of them */
} editor;

/* ---- history ---- */

/* $XDG_STATE_HOME/ptxloom/debug-history; NULL: there is no place for it. */
static char *history_path(void)
{
	const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
	bool own = state && *state == '/';
	struct text t = {0};

	if (!own && (!home || *home != '/'))
		return NULL;
	text_puts(&t, own ? state : home);
	/*
	 * Folders are made as they are missing; whether that worked is seen when the file is
	 * written.
	 */
	if (!own) {
		text_puts(&t, "/.local");
		mkdir(t.at ? t.at : "", 0777);
		text_puts(&t, "/state");
	}
	mkdir(t.at ? t.at : "", 0777);
	text_puts(&t, "/ptxloom");
	mkdir(t.at ? t.at : "", 0777);
	text_puts(&t, "/debug-history");
	return t.at;
}

static void remember_line(const char *line)
{
	HIST_ENTRY *last = history_length ? history_get(history_base + history_length - 1) : NULL;

	if (*line && (!last || strcmp(last->line, line) != 0))
		add_history(line);
}

/* ---- completion ---- */

/* The next completion, as readline wants it: allocated; NULL: there is no more. */
static char *next_completion(const char *word, int again)
{
	char *start, *end;

	(void)word;
	if (!again)
		editor.at = editor.list;
	if (!editor.at || !*editor.at)
		return NULL;
	start = editor.at;
	end = strchr(start, '\n');
	editor.at = end ? end + 1 : start + strlen(start);
	return strndup(start, end ? (size_t)(end - start) : strlen(start));
}

static char **complete_line(const char *word, int start, int end)
{
	char *line = strndup(rl_line_buffer, (size_t)end);
	struct front *f = editor.front;

	(void)start;
	rl_attempted_completion_over = 1;
	free(editor.list);
	editor.list = NULL;
	if (line && session_is_running(f)) {
		session_complete(f, line);
		editor.list = f->reply.len ? strdup(f->reply.at) : NULL;
	} else if (line) {
		f->out.len = 0;
		debugger_complete(f->local, line, &f->out);
		editor.list = f->out.len ? strdup(f->out.at) : NULL;
	}
	free(line);
	return rl_completion_matches(word, next_completion);
}

/* ---- lines ---- */

static void take_line(char *line)
{
	editor.line = line;
	editor.got = true;
	/* The prompt is not to be shown again before the command has run. */
	rl_callback_handler_remove();
}

bool line_edit_open(struct front *f)
{
	editor.front = f;
	rl_readline_name = "ptxloom";
	rl_catch_signals = 0;
	rl_attempted_completion_function = complete_line;
	rl_completer_word_break_characters = (char *)" \t\n!@#$%^&*()+=|~`}{[]\"';?><,-";
	using_history();
	stifle_history(HISTORY_LINES);
	editor.path = history_path();
	if (editor.path)
		read_history(editor.path);
	return true;
}

void line_edit_close(struct front *f)
{
	(void)f;
	if (editor.path)
		write_history(editor.path);
	free(editor.path);
	free(editor.list);
	editor.path = editor.list = NULL;
}

char *line_edit(struct front *f, const char *prompt)
{
	editor.got = false;
	editor.line = NULL;
	rl_callback_handler_install(prompt, take_line);
	while (!editor.got) {
		if (line_wait(f)) {
			rl_callback_read_char();
			continue;
		}
		/* Ctrl-C: the line is thrown away. */
		rl_free_line_state();
		rl_callback_sigcleanup();
		rl_replace_line("", 0);
		rl_crlf();
		rl_on_new_line();
		rl_redisplay();
	}
	/* Not answers to questions. */
	if (editor.line && !strcmp(prompt, FRONT_PROMPT))
		remember_line(editor.line);
	return editor.line;
}
