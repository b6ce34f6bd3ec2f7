/*
 * Two devices, of which rules take the second one away: prints what each answers to calls that follow.
 */
#include <stdio.h>

static const char *name_of(int device)
{
	static char text[64];
	void *p = NULL;
	cudaError_t chosen = cudaSetDevice(device), made = cudaMalloc(&p, 64),
		    reset = device ? cudaDeviceReset() : cudaSuccess,
		    again = cudaMalloc(&p, 64);

	snprintf(text, sizeof(text), "%d %d %d %d", chosen ? 1 : 0, made, reset, again);
	return text;
}

int main(void)
{
	char host[64] = "text";
	void *p = NULL;

	cudaSetDevice(1);
	cudaMalloc(&p, sizeof(host));
	printf("copy %d\n", cudaMemcpy(p, host, sizeof(host), cudaMemcpyHostToDevice));
	printf("second %s\n", name_of(1));
	printf("second %s\n", name_of(1));
	cudaGetLastError();
	printf("first %s\n", name_of(0));
	return 0;
}
