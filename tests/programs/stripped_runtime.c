/*
 * A static runtime for tests of programs without symbols: functions large enough to be recognised,
 * all of which answer that there is no driver. It looks for one as they do, and has an image.
 * OTHER: another build of it, in which all but the registration is different, and the entry points
 * refer to their names. TWINS: two functions of one body.
 */
#include <dlfcn.h>

enum { INSUFFICIENT_DRIVER = 35 };

__attribute__((section(".nvFatBinSegment"), used)) static int image = 0x466243b1;
/* By address, as profilers get them. */
const char *volatile last_name;

#ifdef OTHER
#define NAMED(name) last_name = #name;
#define SHIFT 3u
#else
#define NAMED(name)
#define SHIFT 5u
#endif

#define BODY(name, n, shift, named)                                                                \
	int name(unsigned *p, unsigned x);                                                         \
	__attribute__((noinline)) int name(unsigned *p, unsigned x)                                \
	{                                                                                          \
		static volatile int answer = INSUFFICIENT_DRIVER;                                  \
		volatile unsigned work[8] = {x, n, x * 3 + n, x ^ n, x << shift, n * n, 7, 9};     \
                                                                                                   \
		for (unsigned i = 0; i < 8; i++)                                                   \
			work[i] = work[i] * (n + i) + (work[7 - i] >> shift);                      \
		named return answer + (p == (unsigned *)1 ? (int)work[n % 8] : 0);                 \
	}
#define FUNCTION(name, n) BODY(name, n, SHIFT, NAMED(name))

BODY(__cudaRegisterFatBinary, 101u, 9u, )
BODY(__cudaRegisterFunction, 102u, 9u, )
FUNCTION(cudaRuntimeGetVersion, 1u)
FUNCTION(cudaGetDeviceProperties_v2, 2u)
FUNCTION(cudaGetDeviceCount, 3u)
FUNCTION(cudaSetDevice, 4u)
FUNCTION(cudaGetLastError, 5u)
FUNCTION(cudaPeekAtLastError, 6u)
FUNCTION(cudaMalloc, 7u)
FUNCTION(cudaFree, 8u)
#ifdef TWINS
FUNCTION(cudaDeviceSynchronize, 9u)
FUNCTION(cudaDeviceReset, 9u)
#endif

void *stripped_runtime_driver(void);
void *stripped_runtime_driver(void)
{
	return dlsym(RTLD_DEFAULT, "cuInit");
}
