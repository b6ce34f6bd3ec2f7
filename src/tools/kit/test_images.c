/*
 * Files with the kernels of tables: found, and compiled.
 */
#include "src/base/file.h"
#include "src/base/leave.h"
#include "src/base/setting.h"
#include "src/tools/kit/test.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* Beside the table, else from where the command runs. NULL without memory. */
static char *find_beside(const char *table, const char *path)
{
	size_t folder = (size_t)(file_base_name(table) - table);
	struct text t = {0};

	if (*path != '/') {
		text_add(&t, table, folder);
		text_puts(&t, path);
		if (t.at && !access(t.at, R_OK) && *t.at != '-')
			return t.at;
		text_fini(&t);
	}
	/* No option of the commands that get it. */
	text_puts(&t, *path == '-' ? "./" : "");
	text_puts(&t, path);
	if (!t.failed)
		return t.at;
	text_fini(&t);
	return NULL;
}

/*
 * Run a command of ours; its exit status, -1: it did not end so. Standard output is for results.
 */
static int run_own(const struct test_job *j, char **words)
{
	int status = -1;
	pid_t pid = fork();

	if (!pid) {
		dup2(STDERR_FILENO, STDOUT_FILENO);
		execv(j->self_path, words);
		leave(127);
	}
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return pid > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

bool test_make_folder(struct test_job *j)
{
	const char *base = getenv("TEST_TMPDIR");
	struct text t = {0};

	if (j->folder)
		return true;
	text_printf(&t, "%s/ptxloom-test.XXXXXX", base && *base ? base : file_temp());
	j->folder = t.at && mkdtemp(t.at) ? t.at : NULL;
	if (!j->folder) {
		fprintf(stderr, "%s: error: %s\n", t.at ? t.at : "", strerror(errno));
		text_fini(&t);
	}
	return j->folder != NULL;
}

/* Optimised code has lost lines that coverage is to count. */
static const char *debug_option(void)
{
	return setting_text(SETTING_COVERAGE) ? "-G" : "-lineinfo";
}

/* PTX of a source, once for each line that names it. NULL: not compiled. */
static char *compile_image(struct test_job *j, const struct ktest_image *image, const char *source)
{
	VEC(char *) words = {0};
	struct text to = {0};
	char *head[] = {(char *)(uintptr_t) "ptxloom", (char *)(uintptr_t) "cc",
			(char *)(uintptr_t) "-ptx",    (char *)(uintptr_t)debug_option(),
			(char *)(uintptr_t)source,     (char *)(uintptr_t) "-o"};
	bool ok = test_make_folder(j);

	text_printf(&to, "%s/%u.ptx", j->folder ? j->folder : "", j->built++);
	for (size_t i = 0; i < ARRAY_LEN(head); i++)
		ok = ok && VEC_PUSH(&words, head[i]);
	ok = ok && to.at && VEC_PUSH(&words, to.at);
	for (size_t i = 0; i < image->options.len; i++)
		ok = ok && VEC_PUSH(&words, image->options.at[i]);
	ok = ok && VEC_PUSH(&words, NULL) && run_own(j, words.at) == 0;
	VEC_FREE(&words);
	if (ok)
		return to.at;
	if (to.at)
		unlink(to.at);
	text_fini(&to);
	return NULL;
}

static bool say_not_built(const struct test_file *f, const struct ktest_image *image,
			  const char *path, const char *why)
{
	const struct diag_source source = {f->path, f->text, f->size};
	struct diag d;

	diag_init(&d, diag_print, stderr);
	diag_at(&d, DIAG_ERROR, &source, image->at, NULL, "%s: %s", path, why);
	diag_fini(&d);
	return false;
}

static bool build_image(struct test_job *j, struct test_file *f, u32 number)
{
	const struct ktest_image *image = &f->table.images.at[number];
	char *path = find_beside(f->path, image->path), *made;
	size_t n = path ? strlen(path) : 0;

	if (!path || access(path, R_OK)) {
		say_not_built(f, image, image->path, path ? strerror(errno) : "no memory left");
		free(path);
		return false;
	}
	f->built[number] = path;
	if (n <= 3 || strcmp(path + n - 3, ".cu"))
		return true;
	made = compile_image(j, image, path);
	f->built[number] = made;
	if (!made && !test_is_interrupted())
		say_not_built(f, image, path, "this is not compiled");
	free(path);
	return made != NULL;
}

bool test_build_images(struct test_job *j)
{
	for (size_t i = 0; i < j->runs.len; i++) {
		const struct test_run *r = &j->runs.at[i];
		struct test_file *f = &j->files.at[r->file];

		if (!f->built)
			f->built = calloc(f->table.images.len, sizeof(*f->built));
		if (!f->built || (!f->built[r->c->image] && !build_image(j, f, r->c->image)))
			return false;
	}
	return true;
}

void test_free_images(struct test_job *j, struct test_file *f)
{
	size_t n = j->folder ? strlen(j->folder) : 0;

	for (size_t i = 0; f->built && i < f->table.images.len; i++) {
		if (n && f->built[i] && !strncmp(f->built[i], j->folder, n))
			unlink(f->built[i]);
		free(f->built[i]);
	}
	free(f->built);
}
