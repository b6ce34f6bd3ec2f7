/*
 * Asks the runtime that it is linked with for devices. As a library (LIBRARY) from a constructor,
 * too, which is when compilers register kernels.
 */
#include <stdio.h>

int cudaGetDeviceCount(int *);
int cudaSetDevice(int);
int cudaGetLastError(void);

static int early = -1;

__attribute__((constructor)) static void ask_early(void)
{
	int n = 0;

	early = cudaGetDeviceCount(&n);
}

int user_run(void);
int user_run(void)
{
	int n = 0, status = cudaGetDeviceCount(&n);

	if (early || status || !n)
		printf("error %d, in the constructor %d; %d devices\n", status, early, n);
	return early || status || !n;
}

/* Leaves an error behind that only this copy of the runtime returns. */
int user_fail(void);
int user_fail(void)
{
	return cudaSetDevice(12345);
}

int user_last_error(void);
int user_last_error(void)
{
	return cudaGetLastError();
}

#ifndef LIBRARY
int main(void)
{
	if (user_run())
		return 1;
	puts("all right");
	return 0;
}
#endif
