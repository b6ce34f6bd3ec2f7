/*
 * `if` and `while` among the commands of breakpoints: blocks in the list of those that are still to
 * be run. The list is cut or made longer before the next command is taken from it.
 */
#include "src/debugger/debugger_int.h"
#include "src/debugger/look_value.h"

#include <ctype.h>
#include <stdlib.h>

/* Is the first word this one? Then what follows it, else NULL. */
static const char *after_word(const char *line, const char *word)
{
	size_t n = strlen(word);

	line += strspn(line, " \t");
	if (strncmp(line, word, n) != 0 || isalnum((u8)line[n]) || line[n] == '_' || line[n] == '-')
		return NULL;
	return line + n + strspn(line + n, " \t");
}

static bool is_alone(const char *line, const char *word)
{
	const char *rest = after_word(line, word);

	return rest && !*rest;
}

s32 debugger_block_depth(const char *line)
{
	static const char *const words[] = {"if", "while", "commands"};

	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (after_word(line, words[i]))
			return 1;
	return is_alone(line, "end") ? -1 : 0;
}

/*
 * The block at the beginning of the list, whose first line has been taken: places of its `else`,
 * which is that of its `end` if there is none, and of its `end`, the length of the list if it has
 * none.
 */
static void block_extent(const struct points *p, size_t *other, size_t *end)
{
	s32 depth = 1;

	*other = *end = p->commands.len;
	for (size_t i = 0; i < p->commands.len; i++) {
		depth += debugger_block_depth(p->commands.at[i]);
		if (depth == 1 && *other == p->commands.len && is_alone(p->commands.at[i], "else"))
			*other = i;
		if (depth)
			continue;
		*end = i;
		break;
	}
	if (*other > *end)
		*other = *end;
}

/* Take lines out of the list. */
static void cut(struct points *p, size_t first, size_t end)
{
	end = end < p->commands.len ? end : p->commands.len;
	if (first >= end)
		return;
	for (size_t i = first; i < end; i++)
		free(p->commands.at[i]);
	memmove(p->commands.at + first, p->commands.at + end,
		(p->commands.len - end) * sizeof(p->commands.at[0]));
	p->commands.len -= end - first;
}

/* The body once more, and the loop after it. */
static bool repeat(struct points *p, const char *line, size_t end)
{
	size_t len = p->commands.len;

	if (!VEC_RESERVE(&p->commands, end + 1))
		return false;
	memmove(p->commands.at + end + 1, p->commands.at, len * sizeof(p->commands.at[0]));
	for (size_t i = 0; i <= end; i++)
		p->commands.at[i] = strdup(i < end ? p->commands.at[end + 1 + i] : line);
	p->commands.len = len + end + 1;
	for (size_t i = 0; i <= end; i++)
		if (!p->commands.at[i])
			return false;
	return true;
}

/* In the focus. False after a message. */
static bool block_truth(struct debugger *x, const char *expression, bool *truth)
{
	struct look_evaluated v;
	struct text why = {0};
	bool ok = false;

	x->failed = false;
	if (!*expression) {
		say_error(x, "if and while need an expression");
		return false;
	}
	/* They may call functions, as commands do. */
	x->depth++;
	if (look_evaluate(x, expression, &v)) {
		ok = !v.type && dbg_value_is_true(&v.c, &v.v, truth, &why);
		if (!ok && v.type)
			say_error(x, "%s is a type", expression);
		else if (!ok)
			look_say_why(x, &why);
		look_evaluated_fini(&v);
	}
	x->depth--;
	text_fini(&why);
	return ok;
}

/* One `if` or `while` whose line has been taken. False: no command is to be run any more. */
static bool open_block(struct debugger *x, const char *line)
{
	struct points *p = &x->points;
	const char *expression = after_word(line, "while");
	bool loops = expression != NULL, truth;
	size_t other, end;

	if (!loops)
		expression = after_word(line, "if");
	if (!block_truth(x, expression, &truth))
		return false;
	block_extent(p, &other, &end);
	if (loops && truth)
		return !__atomic_load_n(&x->link.interrupted, __ATOMIC_ACQUIRE) &&
		       repeat(p, line, end);
	if (loops) {
		cut(p, 0, end + 1);
	} else if (truth) {
		cut(p, other, end + 1);
	} else {
		cut(p, end, end + 1);
		cut(p, 0, other < end ? other + 1 : end);
	}
	return true;
}

char *blocks_next(struct debugger *x)
{
	char *line;

	while ((line = points_next_command(x)) &&
	       (after_word(line, "if") || after_word(line, "while"))) {
		if (!open_block(x, line))
			points_drop_commands(x);
		free(line);
	}
	return line;
}
