/* Three allocations of the driver interface, whose names are looked up as drivers' loaders do. */
#include <dlfcn.h>
#include <stdio.h>

static void *named(void *library, const char *name)
{
	void *f = dlsym(library, name);

	if (!f)
		fprintf(stderr, "%s\n", dlerror());
	return f;
}

int main(void)
{
	void *cuda = dlopen("libcuda.so.1", RTLD_NOW), *context;
	int (*init)(unsigned) = (int (*)(unsigned))named(cuda, "cuInit");
	int (*retain)(void **, int) =
		(int (*)(void **, int))named(cuda, "cuDevicePrimaryCtxRetain");
	int (*current)(void *) = (int (*)(void *))named(cuda, "cuCtxSetCurrent");
	int (*make)(unsigned long long *, size_t) =
		(int (*)(unsigned long long *, size_t))named(cuda, "cuMemAlloc_v2");
	unsigned long long p;

	if (!init || !retain || !current || !make || init(0) || retain(&context, 0) ||
	    current(context))
		return 9;
	for (int i = 1; i <= 3; i++)
		printf("%d: %d\n", i, make(&p, 4096));
	return 0;
}
