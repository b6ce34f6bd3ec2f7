/*
 * Fuzzer of the PTX front end. Three ways to use it:
 *   libFuzzer: clang -DFUZZ_LIBFUZZER -fsanitize=fuzzer,address,undefined
 *   fuzz_ptx FILE...  runs these files once
 *   fuzz_ptx          changes the modules of tests/forms and tests/errors for a few seconds; the same changes each run
 * Every text is read twice, to be checked and to be run. An accepted module is printed and must come back the same.
 */
#include "tests/unit/ptx_exercise.h"

#include "tests/check.h"

#include "src/base/file.h"

#include <dirent.h>
#include <time.h>

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

/* Larger inputs find nothing that smaller ones do not. */
#define INPUT_MAX ((size_t)256 << 10)
#define MEMORY_MAX ((size_t)64 << 20)

static void run_once(const char *text, size_t size, bool lint)
{
	struct ptx_options options = {
		.lint = lint, .memory_limit = MEMORY_MAX, .nesting_limit = 32};
	struct ir_module *m = exercise_parse("<fuzz>", text, size, &options, NULL);
	struct text why = {0};

	/* What is printed may be longer than what was read, but not by much. */
	options.memory_limit *= 2;
	if (m && !exercise_round_trip(m, &options, &why)) {
		fwrite(text, 1, size, stderr);
		fprintf(stderr, "\nround trip (%s): %s\n", lint ? "lint" : "load",
			why.at ? why.at : "");
		abort();
	}
	ir_module_free(m);
	text_fini(&why);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	char *copy;

	if (!size || size > INPUT_MAX)
		return 0;
	/* An own block, so that reading past the end is noticed. */
	copy = malloc(size);
	if (!copy)
		abort();
	memcpy(copy, data, size);
	run_once(copy, size, true);
	run_once(copy, size, false);
	free(copy);
	return 0;
}

#ifndef FUZZ_LIBFUZZER

#define SECONDS 4
#define SEEDS_MAX 512
#define SEED_BYTES 6000
#define CHANGES_MAX 4

/* xorshift: the same on every host. */
static u64 next(u64 *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The beginnings of all modules of a folder, in order of their names. */
static size_t load_seeds(const char *folder, struct text *seeds, size_t n)
{
	char *names[SEEDS_MAX], path[8192];
	DIR *dir = opendir(folder);
	struct dirent *entry;
	size_t count = 0;

	while (dir && (entry = readdir(dir)) && n + count < SEEDS_MAX)
		if (strstr(entry->d_name, ".ptx"))
			names[count++] = strdup(entry->d_name);
	if (dir)
		closedir(dir);
	qsort(names, count, sizeof(*names), compare_names);
	for (size_t i = 0; i < count; i++) {
		struct file f;

		snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
		if (file_open(&f, path)) {
			text_add(&seeds[n++], (const char *)f.data,
				 (size_t)min_u64(f.size, SEED_BYTES));
			file_close(&f);
		}
		free(names[i]);
	}
	return n;
}

static bool is_word(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       c == '_' || c == '%' || c == '.' || c == '$';
}

/* A word, or one character that is none, at or behind `at`. */
static size_t token_at(const struct text *t, size_t at, size_t *size)
{
	size_t end;

	while (at > 0 && is_word(t->at[at]) && is_word(t->at[at - 1]))
		at--;
	end = at + 1;
	while (end < t->len && is_word(t->at[at]) && is_word(t->at[end]))
		end++;
	*size = end - at;
	return at;
}

static void replace(struct text *t, size_t at, size_t size, const char *with, size_t n)
{
	struct text r = {0};

	text_add(&r, t->at, at);
	text_add(&r, with, n);
	text_add(&r, t->at + at + size, t->len - at - size);
	text_fini(t);
	*t = r;
}

/* clang-format off */
static const char *const telling_words[] = {
	"0", "1", "-1", "0xffffffffffffffff", "9223372036854775808", "16777216", "65536",
	"4294967296", "1099511627776", "{", "}", "(", ")", "[", "]", ";", ",", ":", "<", ">", "=",
	"@", "!", "|", "_", "\"", "/*", "//", "1.5", "0f3F800000", ".v4", ".align", ".reg",
	".param", ".global", ".shared", ".extern", ".b8", ".b128", ".pred", ".func", ".entry",
	".loc 1 1 1", ".section", ".pragma", ".branchtargets", ".callprototype", "((((((((",
	"{{{{{{{{", "%r1", "%r99999", ".x", "+", "?",
};
/* clang-format on */

/* One change: a token of another place, a telling word, a token or line gone or doubled, one byte. */
static void mutate(struct text *t, const struct text *other, u64 *state)
{
	size_t size, from, from_size, at = token_at(t, next(state) % t->len, &size);
	const char *word = telling_words[next(state) % ARRAY_LEN(telling_words)];

	switch (next(state) % 6) {
	case 0:
	case 1:
		from = token_at(other, next(state) % other->len, &from_size);
		replace(t, at, size, other->at + from, from_size);
		break;
	case 2:
		replace(t, at, size, word, strlen(word));
		break;
	case 3:
		replace(t, at, next(state) % 2 ? size : 0, word, strlen(word));
		break;
	case 4:
		from = next(state) % other->len;
		replace(t, at, 0, other->at + from,
			(size_t)min_u64(strcspn(other->at + from, "\n"), 200));
		break;
	default:
		t->at[at] = (char)(t->at[at] ^ 1 << next(state) % 8);
		break;
	}
}

static double seconds_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int fuzz_seeds(void)
{
	static const char *const folders[] = {"tests/forms/legal", "tests/errors"};
	const char *root = getenv("srcdir");
	double end = seconds_now() + SECONDS;
	u64 state = 88172645463325252u, rounds = 0;
	struct text seeds[SEEDS_MAX] = {0};
	char path[4096];
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_LEN(folders); i++) {
		snprintf(path, sizeof(path), "%s/%s", root ? root : ".", folders[i]);
		n = load_seeds(path, seeds, n);
	}
	if (!CHECK_MSG(n > 100, "there are modules to change"))
		return check_done();
	while (rounds % 16 || seconds_now() < end) {
		const struct text *seed = &seeds[rounds % n];
		u32 changes = (u32)(next(&state) % (CHANGES_MAX + 1));
		struct text t = {0};

		text_add(&t, seed->at, seed->len);
		while (changes-- && t.len)
			mutate(&t, &seeds[next(&state) % n], &state);
		LLVMFuzzerTestOneInput((const u8 *)t.at, t.len);
		text_fini(&t);
		rounds++;
	}
	printf("# %llu changed modules\n", (unsigned long long)rounds);
	CHECK_MSG(rounds > 100, "changed modules do no harm");
	for (size_t i = 0; i < n; i++)
		text_fini(&seeds[i]);
	return check_done();
}

int main(int argc, char **argv)
{
	if (argc < 2)
		return fuzz_seeds();
	for (int i = 1; i < argc; i++) {
		struct file f;

		if (!file_open(&f, argv[i])) {
			perror(argv[i]);
			return 1;
		}
		LLVMFuzzerTestOneInput(f.data, f.size);
		printf("%s: %zu bytes\n", argv[i], f.size);
		file_close(&f);
	}
	return 0;
}

#endif
