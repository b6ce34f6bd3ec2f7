/*
 * Changes to texts for fuzzers that run without libFuzzer: the same on every host, by a state that
 * the caller keeps. Texts are PTX: changes go by words, so that many results are still read.
 */
#ifndef PL_TESTS_FUZZ_MUTATE_H
#define PL_TESTS_FUZZ_MUTATE_H

#include "src/base/file.h"
#include "src/base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MUTATE_SEED 88172645463325252u

/* xorshift: the same on every host. */
static inline u64 mutate_next(u64 *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/*
 * How many inputs a fuzzer makes, counted so that every host makes the same; the number of the
 * first one tells apart.
 */
struct mutate_rounds {
	u64 first, n;
};

/*
 * None: the usual number. --long [N [FIRST]]: so many, a thousand times the usual number if not
 * given.
 */
static inline struct mutate_rounds mutate_rounds(int argc, char **argv, u64 usual)
{
	struct mutate_rounds r = {.n = argc < 2 ? usual : 1000 * usual};

	if (argc > 2)
		r.n = strtoull(argv[2], NULL, 10);
	if (argc > 3)
		r.first = strtoull(argv[3], NULL, 10);
	return r;
}

/* Does the fuzzer make its inputs, or are they files? */
static inline bool mutate_makes(int argc, char **argv)
{
	return argc < 2 || !strcmp(argv[1], "--long");
}

/* The state from which the changes of input `number` come. */
static inline u64 mutate_state(u64 number)
{
	u64 state = MUTATE_SEED ^ (number + 1) * 0x9e3779b97f4a7c15u;

	for (u32 i = 0; i < 8; i++)
		mutate_next(&state);
	return state;
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

/* Inputs that were found elsewhere, once each. The exit status of the fuzzer. */
static inline int mutate_files(int n, char **names)
{
	for (int i = 0; i < n; i++) {
		struct file f;

		if (!file_open(&f, names[i])) {
			perror(names[i]);
			return 1;
		}
		LLVMFuzzerTestOneInput(f.data, f.size);
		printf("%s: %zu bytes\n", names[i], f.size);
		file_close(&f);
	}
	return 0;
}

static inline bool mutate_is_word(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       c == '_' || c == '%' || c == '.' || c == '$';
}

/* A word, or one character that is not a word, at or after `at`. */
static inline size_t mutate_token(const struct text *t, size_t at, size_t *size)
{
	size_t end;

	while (at > 0 && mutate_is_word(t->at[at]) && mutate_is_word(t->at[at - 1]))
		at--;
	end = at + 1;
	while (end < t->len && mutate_is_word(t->at[at]) && mutate_is_word(t->at[end]))
		end++;
	*size = end - at;
	return at;
}

static inline void mutate_replace(struct text *t, size_t at, size_t size, const char *with,
				  size_t n)
{
	struct text r = {0};

	text_add(&r, t->at, at);
	text_add(&r, with, n);
	text_add(&r, t->at + at + size, t->len - at - size);
	text_fini(t);
	*t = r;
}

/* clang-format off */
static const char *const mutate_words[] = {
	"0", "1", "-1", "0xffffffffffffffff", "9223372036854775808", "16777216", "65536",
	"4294967296", "1099511627776", "{", "}", "(", ")", "[", "]", ";", ",", ":", "<", ">", "=",
	"@", "!", "|", "_", "\"", "/*", "//", "1.5", "0f3F800000", ".v4", ".align", ".reg",
	".param", ".global", ".shared", ".extern", ".b8", ".b128", ".pred", ".func", ".entry",
	".loc 1 1 1", ".section", ".pragma", ".branchtargets", ".callprototype", "((((((((",
	"{{{{{{{{", "%r1", "%r99999", ".x", "+", "?",
};
/* clang-format on */

/*
 * One change: a token of another place, a telling word, a token or line gone or doubled, one byte.
 */
static inline void mutate(struct text *t, const struct text *other, u64 *state)
{
	size_t size, from, from_size, at = mutate_token(t, mutate_next(state) % t->len, &size);
	const char *word = mutate_words[mutate_next(state) % ARRAY_LEN(mutate_words)];

	switch (mutate_next(state) % 6) {
	case 0:
	case 1:
		from = mutate_token(other, mutate_next(state) % other->len, &from_size);
		mutate_replace(t, at, size, other->at + from, from_size);
		break;
	case 2:
		mutate_replace(t, at, size, word, strlen(word));
		break;
	case 3:
		mutate_replace(t, at, mutate_next(state) % 2 ? size : 0, word, strlen(word));
		break;
	case 4:
		from = mutate_next(state) % other->len;
		mutate_replace(t, at, 0, other->at + from,
			       (size_t)min_u64(strcspn(other->at + from, "\n"), 200));
		break;
	default:
		t->at[at] = (char)(t->at[at] ^ 1 << mutate_next(state) % 8);
		break;
	}
}

#endif
