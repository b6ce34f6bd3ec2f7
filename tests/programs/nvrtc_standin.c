/*
 * The run-time compiler as programs see it, for tests without it: takes compute_80 only, has no
 * machine code, and its PTX is its NAME. With USER it is instead a library that compiles for sm_80
 * and fetches machine code.
 */
#include <stddef.h>
#include <string.h>

int nvrtcCompileProgram(void *, int, const char *const *);
int nvrtcGetCUBINSize(void *, size_t *);
int nvrtcGetCUBIN(void *, char *);

#ifdef USER
int compile_run(int *n);
int compile_run(int *n)
{
	const char *options[] = {"--gpu-architecture=sm_80"};
	char code[64] = {0};
	size_t size = 0;

	*n = nvrtcCompileProgram(n, 1, options);
	if (*n || nvrtcGetCUBINSize(n, &size) || size != sizeof(NAME) || nvrtcGetCUBIN(n, code))
		return *n ? *n : 1;
	return strcmp(code, NAME);
}
#else
int nvrtcGetPTXSize(void *, size_t *);
int nvrtcGetPTX(void *, char *);

int nvrtcCompileProgram(void *program, int n, const char *const *options)
{
	return !program || n != 1 || strcmp(options[0], "--gpu-architecture=compute_80") != 0;
}

int nvrtcGetCUBINSize(void *program, size_t *size)
{
	*size = 0;
	return !program;
}

int nvrtcGetCUBIN(void *program, char *out)
{
	(void)program, (void)out;
	return 3;
}

int nvrtcGetPTXSize(void *program, size_t *size)
{
	*size = sizeof(NAME);
	return !program;
}

int nvrtcGetPTX(void *program, char *out)
{
	memcpy(out, NAME, sizeof(NAME));
	return !program;
}
#endif
