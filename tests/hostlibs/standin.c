/*
 * Stands in for NVIDIA's cuBLAS and cuSOLVER: functions that say that they were called. Its
 * handles are its own.
 */
#include <stdio.h>

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

int cusolverDnGetStream(void *handle, void **stream)
{
	*stream = NULL;
	return !handle;
}
