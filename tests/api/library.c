/*
 * A library with kernels of its own, as compilers make one: they are registered by a constructor
 * and taken back when it is unloaded.
 */
#include <stddef.h>
#include <stdint.h>

void **__cudaRegisterFatBinary(const void *);
void __cudaRegisterFatBinaryEnd(void **);
void __cudaUnregisterFatBinary(void **);
void __cudaRegisterFunction(void **, const void *, char *, const char *, int, void *, void *,
			    void *, void *, int *);
void __cudaRegisterVar(void **, void *, char *, const char *, int, size_t, int, int);
int cudaLaunchKernel(const void *, uint64_t, uint32_t, uint64_t, uint32_t, void **, size_t, void *);
int cudaMemcpyFromSymbol(void *, const void *, size_t, size_t, int);
int cudaStreamSynchronize(void *);

static const char text[] =
	".version 7.0\n.target sm_70\n.address_size 64\n"
	".visible .global .u32 sum;\n"
	".visible .entry add(.param .u32 x) {\n .reg .u32 %x, %old; .reg .u64 %p;\n"
	" ld.param.u32 %x, [x]; mov.u64 %p, sum; atom.global.add.u32 %old, [%p], %x; ret;\n}\n";

static uint32_t sum; /* the host's shadow */
static void **image;

static void add(void)
{
}

__attribute__((constructor)) static void on_load(void)
{
	image = __cudaRegisterFatBinary(text);
	__cudaRegisterFunction(image, (void *)(uintptr_t)add, NULL, "add", -1, NULL, NULL, NULL,
			       NULL, NULL);
	__cudaRegisterVar(image, &sum, NULL, "sum", 0, 4, 0, 0);
	__cudaRegisterFatBinaryEnd(image);
}

__attribute__((destructor)) static void on_unload(void)
{
	__cudaUnregisterFatBinary(image);
}

/* 64 threads add x in a stream. Returns what the sum is afterwards, UINT32_MAX: an error. */
__attribute__((visibility("default"))) uint32_t library_run(uint32_t x, void *stream);
uint32_t library_run(uint32_t x, void *stream)
{
	void *params[] = {&x};
	uint32_t result = 0;

	if (cudaLaunchKernel((void *)(uintptr_t)add, 1ull << 32 | 2, 1, 1ull << 32 | 32, 1, params,
			     0, stream) ||
	    cudaStreamSynchronize(stream) || cudaMemcpyFromSymbol(&result, &sum, 4, 0, 2))
		return UINT32_MAX;
	return result;
}
