/* Loads a library three times, calls its plugin_run, and unloads it. */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	for (int i = 0; i < 3; i++) {
		void *h = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
		int (*run)(void), result;

		if (!h) {
			fprintf(stderr, "%s\n", dlerror());
			return 1;
		}
		*(void **)&run = dlsym(h, "plugin_run");
		result = run ? run() : -1;
		if (result) {
			fprintf(stderr, "plugin_run: %d\n", result);
			return 1;
		}
		dlclose(h);
	}
	puts("all right");
	return 0;
}
