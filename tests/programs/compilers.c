/*
 * compilers LIBRARY NAME LIBRARY NAME: asks two run-time compilers for their functions and uses
 * both in turn: each must be the one that was asked.
 */
#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

struct compiler {
	int (*compile)(void *, int, const char *const *), (*size)(void *, size_t *),
		(*get)(void *, char *);
};

static int open_compiler(const char *path, struct compiler *c)
{
	void *h = dlopen(path, RTLD_NOW | RTLD_LOCAL);

	if (!h) {
		puts(dlerror());
		return 0;
	}
	*(void **)&c->compile = dlsym(h, "nvrtcCompileProgram");
	*(void **)&c->size = dlsym(h, "nvrtcGetCUBINSize");
	*(void **)&c->get = dlsym(h, "nvrtcGetCUBIN");
	return c->compile && c->size && c->get;
}

static int gives(const struct compiler *c, const char *want)
{
	const char *options[] = {"--gpu-architecture=sm_80"};
	char code[64] = {0};
	size_t size = 0;

	return !c->compile(code, 1, options) && !c->size(code, &size) && size == strlen(want) + 1 &&
	       !c->get(code, code) && !strcmp(code, want);
}

int main(int argc, char **argv)
{
	struct compiler one, two;

	if (argc != 5 || !open_compiler(argv[1], &one) || !open_compiler(argv[3], &two))
		return 2;
	if (!gives(&one, argv[2]) || !gives(&two, argv[4]) || !gives(&one, argv[2]))
		return 1;
	puts("all right");
	return 0;
}
