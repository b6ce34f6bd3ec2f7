/*
 * Fuzzer of the PTX front end. Three ways to use it:
 *   libFuzzer: clang -DFUZZ_LIBFUZZER -fsanitize=fuzzer,address,undefined
 *   fuzz_ptx FILE...  runs these files once
 *   fuzz_ptx          changes the modules of tests/forms and tests/errors for a few seconds; the same changes each run
 * Every text is read twice, to be checked and to be run. An accepted module is printed and must come back the same.
 */
#include "tests/unit/ptx/ptx_exercise.h"

#include "tests/check.h"
#include "tests/fuzz/mutate.h"

#include "src/base/file.h"

#include <dirent.h>

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

static int fuzz_seeds(void)
{
	static const char *const folders[] = {"tests/forms/legal", "tests/errors"};
	const char *root = getenv("srcdir");
	double end = mutate_seconds() + SECONDS;
	u64 state = MUTATE_SEED, rounds = 0;
	struct text seeds[SEEDS_MAX] = {0};
	char path[4096];
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_LEN(folders); i++) {
		snprintf(path, sizeof(path), "%s/%s", root ? root : ".", folders[i]);
		n = load_seeds(path, seeds, n);
	}
	if (!CHECK_MSG(n > 100, "there are modules to change"))
		return check_done();
	while (rounds % 16 || mutate_seconds() < end) {
		const struct text *seed = &seeds[rounds % n];
		u32 changes = (u32)(mutate_next(&state) % (CHANGES_MAX + 1));
		struct text t = {0};

		text_add(&t, seed->at, seed->len);
		while (changes-- && t.len)
			mutate(&t, &seeds[mutate_next(&state) % n], &state);
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
	return argc < 2 ? fuzz_seeds() : mutate_files(argc - 1, argv + 1);
}

#endif
