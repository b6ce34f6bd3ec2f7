/*
 * Stands in for NVIDIA's cuBLAS, cuRAND, cuSOLVER and NCCL: functions that say that they were
 * called. Its handles are its own; its generators count.
 */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

int cublasCreate_v2(void **handle)
{
	*handle = (void *)&cublasCreate_v2;
	return 0;
}

int cublasGetStream_v2(void *handle, void **stream)
{
	*stream = NULL;
	return handle != (void *)&cublasCreate_v2;
}

int cublasGetPointerMode_v2(void *handle, int *mode)
{
	*mode = 0;
	return handle != (void *)&cublasCreate_v2;
}

int cublasSgemm_v2(void *handle)
{
	(void)handle;
	return 99;
}

int cublasSaxpy_v2(void *handle)
{
	(void)handle;
	return 99;
}

int ncclGroupStart(void)
{
	return 99;
}

int cusolverDnGetStream(void *handle, void **stream)
{
	*stream = NULL;
	return !handle;
}

/* As where the library's kernels cannot be loaded. */
int curandCreateGenerator(void **generator, int type)
{
	(void)generator;
	return type < 100 ? 103 : 203;
}

int curandCreateGeneratorHost(void **generator, int type)
{
	unsigned *next = calloc(1, sizeof(*next));

	*generator = next;
	return type < 100 ? 103 : 0;
}

int curandDestroyGenerator(void *generator)
{
	*(unsigned *)generator = 0xdead;
	free(generator);
	return 0;
}

int curandSetPseudoRandomGeneratorSeed(void *generator, unsigned long long seed)
{
	*(unsigned *)generator = (unsigned)seed;
	return 0;
}

int curandSetGeneratorOrdering(void *generator, unsigned ordering)
{
	(void)generator;
	return ordering >= 104 ? 104 : 0;
}

int curandSetQuasiRandomGeneratorDimensions(void *generator, unsigned dimensions)
{
	(void)generator;
	return dimensions ? 0 : 104;
}

int curandGenerate(void *generator, unsigned *out, size_t n)
{
	for (size_t i = 0; i < n; i++)
		out[i] = (*(unsigned *)generator)++;
	return 0;
}

int curandGenerateNormal(void *generator, float *out, size_t n, float mean, float deviation)
{
	for (size_t i = 0; i < n; i++)
		out[i] = mean + deviation * (float)(*(unsigned *)generator)++;
	return 0;
}

int curandGeneratePoisson(void *generator, unsigned *out, size_t n, double lambda)
{
	for (size_t i = 0; i < n; i++)
		out[i] = (unsigned)(lambda * 2) + (*(unsigned *)generator)++;
	return 0;
}
