/*
 * Holds memory of a device until its standard input ends, for tools that show who uses devices.
 */
#include <stdio.h>

int cudaMalloc(void **p, size_t bytes);
int cudaSetDevice(int device);

int main(void)
{
	void *p;

	if (cudaSetDevice(1) || cudaMalloc(&p, (size_t)64 << 20))
		return 1;
	puts("ready");
	fflush(stdout);
	while (getchar() != EOF)
		;
	return 0;
}
