/*
 * Scripts of calls: reading them, and what every script may name. For api_cross.c.
 */
#ifndef PL_API_SCRIPT_H
#define PL_API_SCRIPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* A section: its lines without comments. Strings live as long as the process. */
struct script {
	char *name;
	char **line;
	size_t lines;
};

struct script_list {
	struct script *section;
	size_t sections;
};

_Noreturn void script_die(const char *what, const char *which);
/* Append the sections of a file. */
void script_read(struct script_list *list, const char *path);
/*
 * Split at blanks, in place; a token in double quotes keeps its blanks and its first quote. Returns
 * how many.
 */
size_t script_split(char *text, char **token, size_t max);
const char *script_next_word(const char *text);
/* Print a value: i d l u h p f ps, as README.md says. Returns its bytes. */
size_t script_show(FILE *out, const char *type, const char *at, bool is_next);
/* What @name means. */
const void *script_builtin(const char *name);
/* Names of functions: "rt" or "drv". NULL behind the last one. */
const char *script_function(const char *what, size_t i);
/* Is this function never called with zeros? */
bool script_is_left_out(const char *name);
/*
 * The n-th way to try a call that takes so many sizes: values for all of them, SCRIPT_SIZE_KEPT
 * where one stays as it is. False: there is none any more. First each size alone, from 0 to 2^64 -
 * 1, then pairs whose products wrap.
 */
#define SCRIPT_SIZES_MAX 24
#define SCRIPT_SIZE_KEPT 0xfeedfacefeedfaceu
bool script_sizes(size_t sizes, size_t n, uint64_t *value);
/* Register the kernels and variables with a runtime, as programs do before main. */
void script_register(void *cudart);

#endif
