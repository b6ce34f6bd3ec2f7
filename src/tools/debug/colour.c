/*
 * Colours of what the interpreter prints, which is plain text: numbers of source lines, places in
 * files, the row in focus, and what ends a launch.
 */
#include "src/tools/debug/front.h"

#include <ctype.h>

#define COLOUR_NONE "\033[0m"
#define COLOUR_NUMBER "\033[33m"
#define COLOUR_PLACE "\033[32m"
#define COLOUR_FAULT "\033[1;31m"
#define COLOUR_TITLE "\033[1m"

static void put_coloured(struct text *out, const char *colour, const char *s, size_t n)
{
	text_puts(out, colour);
	text_add(out, s, n);
	text_puts(out, COLOUR_NONE);
}

static bool is_path_letter(char c)
{
	return isalnum((unsigned char)c) || c == '.' || c == '_' || c == '/' || c == '-' ||
	       c == '+';
}

/* The length of "diverge.cu:12" at s, 0: there is none. */
static size_t place_length(const char *s, size_t n)
{
	size_t i = 0, digits;
	bool dot = false;

	for (; i < n && is_path_letter(s[i]); i++)
		dot |= s[i] == '.' && i && i + 1 < n && isalpha((unsigned char)s[i + 1]);
	if (!dot || i == n || s[i] != ':')
		return 0;
	digits = ++i;
	while (i < n && isdigit((unsigned char)s[i]))
		i++;
	return i > digits ? i : 0;
}

/* Words, and the places among them. */
static void put_words(struct text *out, const char *s, size_t n)
{
	for (size_t i = 0; i < n;) {
		size_t place = place_length(s + i, n - i), word = 0;

		if (place) {
			put_coloured(out, COLOUR_PLACE, s + i, place);
			i += place;
			continue;
		}
		while (i + word < n && is_path_letter(s[i + word]))
			word++;
		word += !word;
		text_add(out, s + i, word);
		i += word;
	}
}

/* "Breakpoint 1: ", "Deadlock: ": up to the colon. 0: the line has no such title. */
static size_t title_length(const char *s, size_t n, const char **colour)
{
	static const struct {
		const char *word, *colour;
	} titles[] = {
		{"Breakpoint ", COLOUR_TITLE}, {"Temporary breakpoint ", COLOUR_TITLE},
		{"Watchpoint ", COLOUR_TITLE}, {"Catchpoint ", COLOUR_TITLE},
		{"Launch ", COLOUR_TITLE},     {"Deadlock", COLOUR_FAULT},
		{"Livelock", COLOUR_FAULT},    {"Invalid ", COLOUR_FAULT},
		{"Misaligned ", COLOUR_FAULT}, {"Assertion", COLOUR_FAULT},
		{"Trap", COLOUR_FAULT},        {"Illegal ", COLOUR_FAULT},
		{"Interrupted", COLOUR_TITLE},
	};
	const char *colon = memchr(s, ':', n);

	for (size_t i = 0; colon && i < ARRAY_LEN(titles); i++)
		if ((size_t)(colon - s) >= strlen(titles[i].word) - 1 &&
		    !strncmp(s, titles[i].word, strlen(titles[i].word))) {
			*colour = titles[i].colour;
			return (size_t)(colon - s);
		}
	return 0;
}

static void put_line(struct text *out, const char *s, size_t n)
{
	const char *colour = "";
	size_t digits = 0, title;

	while (digits < n && isdigit((unsigned char)s[digits]))
		digits++;
	if (digits && digits < n && s[digits] == '\t') {
		put_coloured(out, COLOUR_NUMBER, s, digits);
		text_add(out, s + digits, n - digits);
		return;
	}
	if (n && *s == '*') {
		put_coloured(out, COLOUR_TITLE, s, n);
		return;
	}
	title = title_length(s, n, &colour);
	if (title)
		put_coloured(out, colour, s, title);
	put_words(out, s + title, n - title);
}

void colour_text(struct text *out, const char *s, size_t n)
{
	while (n) {
		const char *end = memchr(s, '\n', n);
		size_t line = end ? (size_t)(end - s) : n;

		put_line(out, s, line);
		if (end)
			text_puts(out, "\n");
		line += end != NULL;
		s += line;
		n -= line;
	}
}
