/*
 * Changes to texts for fuzzers that run without libFuzzer: the same on every host, by a state that the
 * caller keeps. Texts are PTX: changes go by words, so that many results are still read.
 */
#ifndef PL_TESTS_FUZZ_MUTATE_H
#define PL_TESTS_FUZZ_MUTATE_H

#include "src/base/file.h"
#include "src/base/text.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#define MUTATE_SEED 88172645463325252u

/* xorshift: the same on every host. */
static inline u64 mutate_next(u64 *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static inline double mutate_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
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

/* A word, or one character that is none, at or behind `at`. */
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

static inline void mutate_replace(struct text *t, size_t at, size_t size, const char *with, size_t n)
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

/* One change: a token of another place, a telling word, a token or line gone or doubled, one byte. */
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
