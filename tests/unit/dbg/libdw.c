/*
 * libdw is loaded when a module with DWARF is opened, not before; without it names are PTX's.
 */
#include "tests/unit/dbg/fake.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#define WITHOUT "without libdw"

/* Is a file of this name mapped into the process? */
static bool is_mapped(const char *name)
{
	FILE *f = fopen("/proc/self/maps", "r");
	char line[4096];
	bool found = false;

	while (f && fgets(line, sizeof(line), f))
		found |= strstr(line, name) != NULL;
	if (f)
		fclose(f);
	return found;
}

static void test_loaded(void)
{
	static const char plain[] = ".version 8.0\n.target sm_80\n.address_size 64\n";
	struct fake x;

	CHECK(!is_mapped("/libdw.so") && !is_mapped("/libdw-"));
	CHECK(fake_open(&x, "plain.ptx", plain, strlen(plain)));
	CHECK(!x.why.at && !is_mapped("/libdw.so") && !is_mapped("/libdw-"));
	fake_close(&x);
	CHECK(fake_open_file(&x, "shapes.nvcc.ptx"));
	if (dbg_names_has_dwarf(x.names))
		CHECK(is_mapped("/libdw.so") || is_mapped("/libdw-"));
	else
		CHECK(x.why.at && strstr(x.why.at, "libdw"));
	fake_close(&x);
}

/* In a process whose libdw.so.1 is an empty file. */
static int without(void)
{
	struct fake x;

	CHECK(fake_open_file(&x, "shapes.nvcc.ptx"));
	CHECK(!dbg_names_has_dwarf(x.names));
	CHECK(x.why.at && strstr(x.why.at, "libdw"));
	printf("# %s\n", x.why.at ? x.why.at : "no message");
	/* PTX's names are there all the same. */
	CHECK(fake_go(&x, "_Z6shapesPfi5Point", 97));
	CHECK_STR(fake_type(&x, "%r1"), ".b32");
	fake_close(&x);
	return check_done();
}

static void test_without(char *self)
{
	char folder[] = "/tmp/ptxloom-libdw-XXXXXX", path[64];
	char *args[] = {self, WITHOUT, NULL};
	int status = -1;
	pid_t child;

	if (!CHECK(mkdtemp(folder) != NULL))
		return;
	snprintf(path, sizeof(path), "%s/libdw.so.1", folder);
	CHECK(close(open(path, O_CREAT | O_WRONLY, 0600)) == 0);
	fflush(stdout);
	child = fork();
	if (!child) {
		setenv("LD_LIBRARY_PATH", folder, 1);
		/* The tests' lines are the parent's. */
		dup2(STDERR_FILENO, STDOUT_FILENO);
		execv("/proc/self/exe", args);
		abort();
	}
	CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
	unlink(path);
	rmdir(folder);
}

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], WITHOUT))
		return without();
	test_loaded();
	test_without(argv[0]);
	return check_done();
}
