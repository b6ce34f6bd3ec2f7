/* Words `key=value`, separated by spaces: how files of measured cases describe their objects. */
#ifndef PL_TESTS_UNIT_WORDS_H
#define PL_TESTS_UNIT_WORDS_H

#include "src/base/base.h"

#include <stdlib.h>
#include <string.h>

/* The text after `key=`, "0" when there is none. */
static inline const char *word_get(const char *words, const char *key)
{
	size_t n = strlen(key);

	for (const char *p = words; p; p = strchr(p, ' ') ? strchr(p, ' ') + 1 : NULL)
		if (!strncmp(p, key, n) && p[n] == '=')
			return p + n + 1;
	return "0";
}

static inline u64 word_number(const char *words, const char *key)
{
	return strtoull(word_get(words, key), NULL, 0);
}

/* Numbers divided by commas. */
static inline u32 word_list(const char *words, const char *key, s64 *out, u32 max)
{
	const char *p = word_get(words, key);
	u32 n = 0;

	for (; n < max; p++) {
		char *end;

		out[n++] = strtoll(p, &end, 0);
		p = end;
		if (*p != ',')
			break;
	}
	return n;
}

#endif
