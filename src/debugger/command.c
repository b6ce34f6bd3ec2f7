/*
 * From a line to a command: names, abbreviations, aliases; and the commands about commands.
 */
#include "src/debugger/debugger_int.h"

#include <ctype.h>

/* Lines that run lines (commands of stops) within each other. */
#define COMMAND_DEPTH_MAX 16u

typedef void command_handler(struct debugger *x, const struct call *c);

struct command {
	const char *family, *names;
	command_handler *handler;
	u32 flags;
	enum command_group group;
	const char *synopsis, *help;
};

static const struct command commands[] = {
#define COMMAND(family, names, handler, flags, group, synopsis, help)                              \
	{family, names, handler, flags, group, synopsis, help},
#include "src/debugger/commands.def"
#undef COMMAND
};

static const char *const families[] = {"info i", "set", "show"};

/* ---- words ---- */

/* The characters of a command's word. */
static size_t command_word(const char *s)
{
	size_t n = 0;

	if (*s == '!')
		return 1;
	while (isalnum((u8)s[n]) || s[n] == '-' || s[n] == '_')
		n++;
	return n;
}

static const char *skip_blanks(const char *s)
{
	return s + strspn(s, " \t");
}

enum fit { FIT_NOT, FIT_PREFIX, FIT_WHOLE };

/* names: a name and its aliases, of which prefixes do not count. */
static enum fit fits_names(const char *names, const char *word, size_t len)
{
	const char *at = names;
	enum fit fit = FIT_NOT;

	while (*at) {
		size_t n = strcspn(at, " ");

		if (n == len && !memcmp(at, word, len))
			return FIT_WHOLE;
		if (at == names && len < n && !memcmp(at, word, len))
			fit = FIT_PREFIX;
		at = skip_blanks(at + n);
	}
	return fit;
}

/* What a word may mean. */
struct meaning {
	const struct command *command;
	const char *family; /* instead of a command */
	u32 count;          /* of what it may mean as a prefix */
	bool whole;
	struct text all; /* their names; owned */
};

static void meaning_offer(struct meaning *m, enum fit fit, const struct command *c,
			  const char *family)
{
	const char *names = c ? c->names : family;

	if (fit == FIT_NOT || m->whole)
		return;
	m->whole = fit == FIT_WHOLE;
	m->count = m->whole ? 1 : m->count + 1;
	m->command = c;
	m->family = family;
	text_printf(&m->all, "%s%.*s", m->all.len ? ", " : "", (int)strcspn(names, " "), names);
}

static void meaning_find(struct meaning *m, const char *family, const char *word, size_t len)
{
	*m = (struct meaning){0};
	for (size_t i = 0; i < ARRAY_LEN(families) && !*family; i++)
		meaning_offer(m, fits_names(families[i], word, len), NULL, families[i]);
	for (size_t i = 0; i < ARRAY_LEN(commands); i++)
		if (!strcmp(commands[i].family, family) && !(commands[i].flags & HIDDEN && len < 2))
			meaning_offer(m, fits_names(commands[i].names, word, len), &commands[i],
				      NULL);
}

/* A row by its whole name, NULL: none. */
static const struct command *command_named(const char *family, const char *name, size_t len)
{
	for (size_t i = 0; i < ARRAY_LEN(commands); i++)
		if (!strcmp(commands[i].family, family) &&
		    fits_names(commands[i].names, name, len) == FIT_WHOLE)
			return &commands[i];
	return NULL;
}

/* Is `set WORD ..` an assignment to a variable of that name, or to a part of it? */
static bool is_assignment(const char *rest)
{
	rest = skip_blanks(rest);
	if (*rest == '[' || *rest == '.' || !strncmp(rest, "->", 2))
		return true;
	if (!strncmp(rest, "<<", 2) || !strncmp(rest, ">>", 2))
		rest += 2;
	else if (*rest && strchr("+-*/%&|^", *rest))
		rest++;
	return rest[0] == '=' && rest[1] != '=';
}

static const struct command *find_second(struct debugger *x, const char *family, const char **rest)
{
	size_t family_len = strcspn(family, " "), len;
	const struct command *c = command_named("", family, family_len);
	const char *word = skip_blanks(*rest);
	char name[8];
	struct meaning m;

	snprintf(name, sizeof(name), "%.*s", (int)family_len, family);
	len = command_word(word);
	meaning_find(&m, name, word, len);
	if (len && m.count == 1 && !(c && is_assignment(word + len))) {
		c = m.command;
		*rest = word + len;
	} else if (len && m.count > 1 && !c) {
		say_error(x, "Ambiguous %s command \"%.*s\": %s.", name, (int)len, word, m.all.at);
	} else if (!c && len) {
		say_error(x, "Undefined %s command: \"%.*s\".  Try \"help %s\".", name, (int)len,
			  word, name);
	} else if (!c) {
		say_error(x, "\"%s\" is followed by what.  Try \"help %s\".", name, name);
	}
	text_fini(&m.all);
	return c;
}

/* The command of a line; *rest is what follows its name. NULL after a message. */
static const struct command *command_find(struct debugger *x, const char *line, const char **rest)
{
	size_t len = command_word(line);
	const struct command *c = NULL;
	struct meaning m;

	meaning_find(&m, "", line, len);
	*rest = line + len;
	if (len && m.count == 1)
		c = m.command ? m.command : find_second(x, m.family, rest);
	else if (m.count > 1 && len)
		say_error(x, "Ambiguous command \"%.*s\": %s.", (int)len, line, m.all.at);
	else
		say_error(x, "Undefined command: \"%.*s\".  Try \"help\".",
			  (int)(len ? len : strcspn(line, " \t")), line);
	text_fini(&m.all);
	return c;
}

/* ---- running ---- */

/* "x/4xb ptr": the letters after the slash, without blanks around. */
static char *cut_format(char *rest, char **format)
{
	size_t n;

	*format = rest + strlen(rest);
	if (*rest != '/')
		return rest;
	n = strcspn(rest, " \t");
	*format = rest + 1;
	rest += n;
	if (*rest)
		*rest++ = 0;
	return rest;
}

static void cut_blanks(char *s)
{
	size_t n = strlen(s);

	while (n && (s[n - 1] == ' ' || s[n - 1] == '\t' || s[n - 1] == '\r' || s[n - 1] == '\n'))
		s[--n] = 0;
}

static const char *command_name(const struct command *c, char *buffer, size_t size)
{
	snprintf(buffer, size, "%s%s%.*s", c->family, *c->family ? " " : "",
		 (int)strcspn(c->names, " "), c->names);
	return buffer;
}

static void command_run(struct debugger *x, const struct command *c, char *rest, bool repeated,
			struct debugger_result *r)
{
	char *format;

	/* "print /x i" */
	if (c->group == G_DATA || c->group == G_LOOK)
		rest = (char *)(uintptr_t)skip_blanks(rest);
	rest = cut_format(rest, &format);
	/* Blanks at the end of a text are part of it. */
	rest = (char *)(uintptr_t)skip_blanks(rest);
	r->name = command_name(c, x->name, sizeof(x->name));
	r->args = rest;
	if (c->flags & FRONT) {
		r->outcome = DEBUGGER_FRONT;
	} else if (!x->grid && c->flags & STARTS && x->fd < 0) {
		r->outcome = DEBUGGER_START;
	} else if (!x->grid && c->flags & LAUNCH && !(c->flags & STARTS)) {
		say_error(x, x->fd < 0 ? "The program is not being run." : "No kernel is running.");
	} else if (x->calls.on && c->flags & WHOLE) {
		say_error(x, "Not while lane %u runs %s, which the debugger calls.", x->calls.lane,
			  x->calls.name);
	} else {
		struct call call = {r->name, format, rest, repeated};

		c->handler(x, &call);
	}
}

static char *copy_line(const char *line)
{
	return strdup(line + strspn(line, " \t"));
}

struct debugger_result debugger_run(struct debugger *x, const char *text)
{
	struct debugger_result r = {DEBUGGER_DONE, "", "", false};
	const struct command *c;
	const char *rest;
	bool repeated = false;
	char *line;

	if (x->collecting) {
		points_collect(x, text);
		r.outcome = x->collecting ? DEBUGGER_MORE : DEBUGGER_DONE;
		return r;
	}
	line = copy_line(text);
	if (line && !*line && x->last) {
		free(line);
		line = strdup(x->last);
		repeated = true;
	}
	if (line && *line && *line != '#' && x->depth < COMMAND_DEPTH_MAX) {
		x->failed = x->go = false;
		if (!x->depth++)
			calls_drop_results(x);
		c = command_find(x, line, &rest);
		if (!repeated) {
			free(x->last);
			x->last = c && c->flags & REPEATS ? strdup(line) : NULL;
		}
		if (c && c->handler != command_echo)
			cut_blanks(line);
		if (c)
			command_run(x, c, line + (rest - line), repeated, &r);
		x->depth--;
		r.failed = x->failed;
		if (x->go)
			r.outcome = DEBUGGER_GO;
		else if (x->collecting)
			r.outcome = DEBUGGER_MORE;
	}
	free(x->line);
	x->line = line;
	return r;
}

const char *debugger_front_command(struct debugger *x, const char *line, const char **args)
{
	size_t before = x->out.len;
	const struct command *c;

	line = skip_blanks(line);
	c = command_find(x, line, args);
	/* What is wrong with the line is said by the interpreter that runs it. */
	x->out.len = before;
	x->failed = false;
	if (!c || !(c->flags & FRONT))
		return NULL;
	*args = skip_blanks(*args);
	return command_name(c, x->name, sizeof(x->name));
}

struct debugger_result debugger_command(struct debugger *x, const char *line, struct text *out)
{
	struct debugger_result r = debugger_run(x, line);

	text_add(out, x->out.at ? x->out.at : "", x->out.len);
	x->out.len = 0;
	return r;
}

/* ---- echo, help ---- */

static bool is_octal(char c)
{
	return c >= '0' && c <= '7';
}

static const char *echo_escape(const char *s, char *out)
{
	static const char escapes[][2] = {{'n', '\n'}, {'t', '\t'}, {'a', '\a'}, {'b', '\b'},
					  {'f', '\f'}, {'r', '\r'}, {'v', '\v'}, {'e', 033}};
	u32 code = 0;

	if (is_octal(*s)) {
		for (u32 i = 0; i < 3 && is_octal(*s); i++)
			code = code * 8 + (u32)(*s++ - '0');
		*out = (char)code;
		return s;
	}
	for (size_t i = 0; i < ARRAY_LEN(escapes); i++)
		if (escapes[i][0] == *s)
			return *out = escapes[i][1], s + 1;
	*out = *s;
	return s + 1;
}

void command_echo(struct debugger *x, const struct call *c)
{
	for (const char *s = c->args; *s;) {
		char one = *s++;

		/* At the end of the line it stands for nothing, as in gdb. */
		if (one == '\\' && !*s)
			break;
		if (one == '\\')
			s = echo_escape(s, &one);
		text_add(&x->out, &one, 1);
	}
}

static const char *const group_titles[] = {"Stops", "Going on", "Time",        "Looking",
					   "Focus", "Values",   "The program", "Other commands"};

static void help_row(struct debugger *x, const struct command *c)
{
	char name[64];
	struct text head = {0};

	command_name(c, name, sizeof(name));
	text_printf(&head, "%s%s%s", name, *c->synopsis ? " " : "", c->synopsis);
	say(x, "  %-36s  %s\n", head.at, c->help);
	text_fini(&head);
}

static void help_all(struct debugger *x)
{
	for (u32 g = 0; g < ARRAY_LEN(group_titles); g++) {
		bool any = false;

		for (size_t i = 0; i < ARRAY_LEN(commands); i++) {
			if (commands[i].group != g || commands[i].flags & HIDDEN)
				continue;
			if (!any)
				say(x, "%s%s:\n", g ? "\n" : "", group_titles[g]);
			any = true;
			help_row(x, &commands[i]);
		}
	}
	say(x, "\nNames may be shortened. An empty line repeats steps, list and x.\n");
}

static void help_family(struct debugger *x, const char *family)
{
	for (size_t i = 0; i < ARRAY_LEN(commands); i++)
		if (!strncmp(commands[i].family, family, strcspn(family, " ")) &&
		    *commands[i].family && !(commands[i].flags & HIDDEN))
			help_row(x, &commands[i]);
}

static void help_one(struct debugger *x, const struct command *c)
{
	const char *aliases = skip_blanks(c->names + strcspn(c->names, " "));
	char name[64];

	say(x, "%s%s%s\n    %s\n", command_name(c, name, sizeof(name)), *c->synopsis ? " " : "",
	    c->synopsis, c->help);
	if (*aliases)
		say(x, "    Also: %s\n", aliases);
}

void command_apropos(struct debugger *x, const struct call *c)
{
	bool any = false;

	if (!*c->args) {
		say_error(x, "apropos needs a text to look for");
		return;
	}
	for (size_t i = 0; i < ARRAY_LEN(commands); i++)
		if (!(commands[i].flags & HIDDEN) && (strcasestr(commands[i].names, c->args) ||
						      strcasestr(commands[i].help, c->args))) {
			help_row(x, &commands[i]);
			any = true;
		}
	if (!any)
		say_error(x, "No command is about '%s'.", c->args);
}

void command_help(struct debugger *x, const struct call *c)
{
	size_t len = command_word(c->args);
	const struct command *one;
	struct meaning m;
	const char *rest;

	if (!*c->args) {
		help_all(x);
		return;
	}
	meaning_find(&m, "", c->args, len);
	if (m.count == 1 && m.family && !*skip_blanks(c->args + len))
		help_family(x, m.family);
	else if ((one = command_find(x, c->args, &rest)))
		help_one(x, one);
	text_fini(&m.all);
}

void command_front(struct debugger *x, const struct call *c)
{
	say_error(x, "%s is of the front end.", c->name);
}

/* ---- completion ---- */

void debugger_complete(struct debugger *x, const char *line, struct text *out)
{
	const char *word = skip_blanks(line);
	const char *family = "";
	struct meaning m = {0};
	char name[8];
	size_t n;

	n = command_word(word);
	if (word[n]) {
		meaning_find(&m, "", word, n);
		if (m.count == 1 && m.family) {
			snprintf(name, sizeof(name), "%.*s", (int)strcspn(m.family, " "), m.family);
			family = name;
			word = skip_blanks(word + n);
			n = command_word(word);
		}
		text_fini(&m.all);
	}
	if (word[n]) {
		debugger_complete_names(x, word, out);
		return;
	}
	for (size_t i = 0; i < ARRAY_LEN(families) && !*family; i++)
		if (!strncmp(families[i], word, n))
			text_printf(out, "%.*s\n", (int)strcspn(families[i], " "), families[i]);
	for (size_t i = 0; i < ARRAY_LEN(commands); i++)
		if (!strcmp(commands[i].family, family) && !(commands[i].flags & HIDDEN) &&
		    !strncmp(commands[i].names, word, n))
			text_printf(out, "%.*s\n", (int)strcspn(commands[i].names, " "),
				    commands[i].names);
}
