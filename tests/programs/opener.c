/*
 * opener LIBRARY FUNCTION...: loads a library for itself alone and calls its functions of one
 * pointer to an int, found by the handle; cuInit gets a 0, as in all interfaces. Satisfied when
 * each returns 0. A function named NAME@VERSION is found by its version.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

typedef int function(int *n);

static function *find(void *library, char *name)
{
	char *version = strchr(name, '@');
	function *f;

	if (version)
		*version++ = 0;
	*(void **)&f = version ? dlvsym(library, name, version) : dlsym(library, name);
	return f;
}

int main(int argc, char **argv)
{
	void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;

	if (!library) {
		puts(argc > 1 ? dlerror() : "no library");
		return 1;
	}
	for (int i = 2; i < argc; i++) {
		function *f = find(library, argv[i]);
		int n = 0, status = f ? f(strcmp(argv[i], "cuInit") ? &n : NULL) : -1;

		if (status) {
			printf("%s: %d\n", argv[i], status);
			return 1;
		}
	}
	puts("all right");
	return 0;
}
