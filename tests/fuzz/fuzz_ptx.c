/*
 * Fuzzer of the PTX front end and of the linker. Three ways to use it:
 *   libFuzzer: clang -DFUZZ_LIBFUZZER -fsanitize=fuzzer,address,undefined
 *   fuzz_ptx FILE...  runs these files once
 *   fuzz_ptx          changes the modules of tests/forms and tests/errors, and some that are made
 *                     to be linked; the same changes each run; --long [N [FIRST]]: N of them
 * Every text is read twice, to be checked and to be run; the second time in parts, too. An accepted
 * module is printed and must come back the same; one to be run is linked alone, and with the last
 * one that was accepted before, in either order.
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

/* The last accepted text. */
static struct text last;

static struct ir_module *read_again(const char *text, size_t size)
{
	struct ptx_options options = {.memory_limit = MEMORY_MAX, .nesting_limit = 32};

	return exercise_parse("<fuzz>", text, size, &options, NULL);
}

/* Linking settles definitions in the modules, so each trial has modules of its own. */
static void link_once(const char *text, size_t size, const struct text *other,
		      enum ir_link_mode mode, bool turned)
{
	struct ir_module *a = read_again(text, size),
			 *b = other ? read_again(other->at, other->len) : NULL;
	struct ir_module *units[] = {turned ? b : a, turned ? a : b};
	struct diag d;

	diag_init(&d, NULL, NULL);
	if (a && (b || !other) && !ir_link(units, other ? 2 : 1, mode, NULL, &d) && !d.errors) {
		fprintf(stderr, "linking failed without an error\n");
		abort();
	}
	diag_fini(&d);
	ir_module_free(a);
	ir_module_free(b);
}

static void link_with_last(const char *text, size_t size)
{
	link_once(text, size, NULL, IR_LINK_WHOLE, false);
	if (last.len) {
		link_once(text, size, &last, IR_LINK_PARTS, false);
		link_once(text, size, &last, IR_LINK_WHOLE, true);
	}
	last.len = 0;
	text_add(&last, text, size);
}

/*
 * Read in parts, if it can be: what is right as a whole is right in parts. Not so the other way: a
 * part may use names that come after it.
 */
static void run_in_parts(const char *text, size_t size, bool is_right)
{
	struct ptx_options options = {.memory_limit = 2 * MEMORY_MAX, .nesting_limit = 32};
	struct diag_source source = {"<fuzz>", text, size};
	struct ptx_later *later;
	struct ir_module *m = ptx_parse_later(&source, &options, &later);
	struct diag d;

	diag_init(&d, NULL, NULL);
	d.error_limit = 20;
	for (size_t i = m ? m->funcs.len : 0; i-- > 0;)
		if (m->funcs.at[i]->later && !ptx_read_body(later, m->funcs.at[i], &d) &&
		    is_right) {
			fwrite(text, 1, size, stderr);
			fprintf(stderr, "\nin parts: %s\n", d.first_error.at);
			abort();
		}
	diag_fini(&d);
	ptx_later_free(later);
	ir_module_free(m);
}

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
	if (!lint)
		run_in_parts(text, size, m != NULL);
	if (m && !lint)
		link_with_last(text, size);
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

#define ROUNDS 30000
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

/* Modules that have names in common: declared here and defined there, twice, as something else. */
static const char *const linked[] = {
	".extern .global .u32 g;\n.extern .func (.param .u32 r) f(.param .u32 a);\n.weak .global .u32 w = 1;\n"
	".visible .entry k() { .reg .u32 r; .param .u32 p; .param .u32 q; ld.global.u32 r, [g]; call (p), "
	"f, (q); ret; }\n",
	".visible .global .u32 g = 5;\n.visible .func (.param .u32 r) f(.param .u32 a) { ret; }\n.weak "
	".global .u32 w = 2;\n",
	".common .global .b8 g[16];\n.common .global .b8 w[4];\n.extern .shared .b8 s[];\n.extern .const .b64 c[2];\n",
	".visible .const .b64 c[2] = {1, f};\n.visible .func f() { ret; }\n.alias h, f;\n.visible .shared .b8 s[64];\n",
	".weak .func (.param .u32 r) f(.param .u32 a) { ret; }\n.visible .global .u64 p[2] = {g, generic(g)+4};\n"
	".extern .global .b8 g[16];\n.extern .func h();\n.visible .entry j() { call h; ret; }\n",
};

static size_t make_seeds(struct text *seeds)
{
	static const char *const folders[] = {"tests/forms/legal", "tests/errors"};
	const char *root = getenv("srcdir");
	char path[4096];
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_LEN(folders); i++) {
		snprintf(path, sizeof(path), "%s/%s", root ? root : ".", folders[i]);
		n = load_seeds(path, seeds, n);
	}
	/* Often enough to meet each other. */
	for (size_t i = 0; n > 100 && n < SEEDS_MAX && i < 8 * ARRAY_LEN(linked); i++)
		text_printf(&seeds[n++], ".version 8.0\n.target sm_80\n.address_size 64\n%s",
			    linked[i % ARRAY_LEN(linked)]);
	return n;
}

static int fuzz_seeds(struct mutate_rounds r)
{
	struct text seeds[SEEDS_MAX] = {0};
	size_t n = make_seeds(seeds);

	if (!CHECK_MSG(n > 100, "there are modules to change"))
		return check_done();
	for (u64 i = r.first; i < r.first + r.n; i++) {
		u64 state = mutate_state(i);
		const struct text *seed = &seeds[i % n];
		u32 changes = (u32)(mutate_next(&state) % (CHANGES_MAX + 1));
		struct text t = {0};

		text_add(&t, seed->at, seed->len);
		while (changes-- && t.len)
			mutate(&t, &seeds[mutate_next(&state) % n], &state);
		LLVMFuzzerTestOneInput((const u8 *)t.at, t.len);
		text_fini(&t);
	}
	printf("# %llu changed modules\n", (unsigned long long)r.n);
	CHECK_MSG(r.n > 0, "changed modules do no harm, nor when they are linked");
	for (size_t i = 0; i < n; i++)
		text_fini(&seeds[i]);
	return check_done();
}

int main(int argc, char **argv)
{
	int status = mutate_makes(argc, argv) ? fuzz_seeds(mutate_rounds(argc, argv, ROUNDS))
					      : mutate_files(argc - 1, argv + 1);

	text_fini(&last);
	return status;
}

#endif
