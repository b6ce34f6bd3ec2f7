/*
 * Says whose product and whose sum it got: NVIDIA's library's, or the host's. Links the library, or
 * opens it and asks for its functions.
 */
#include <stdio.h>

#ifdef OPENS
#include <dlfcn.h>

typedef int any_fn();

static any_fn *find(const char *name)
{
	static void *library;

	if (!library)
		library = dlopen("./libcublas.so.13", RTLD_NOW | RTLD_LOCAL);
	return (any_fn *)dlsym(library, name);
}
#define F(name) find(#name)
#else
int cublasCreate_v2(), cublasSgemm_v2(), cublasSaxpy_v2();
#define F(name) name
#endif

int main(void)
{
	float one = 1;
	void *handle;
	int product, sum;

	if (F(cublasCreate_v2)(&handle))
		return 1;
	product = F(cublasSgemm_v2)(handle, 0, 0, 0, 1, 1, &one, &one, 1, &one, 1, &one, &one, 1);
	sum = F(cublasSaxpy_v2)(handle, 0, &one, &one, 1, &one, 1);
	printf("%s %s\n",
	       product == 99 ? "own"
	       : product     ? "error"
			     : "host",
	       sum == 99 ? "own"
	       : sum     ? "error"
			 : "host");
	return 0;
}
