/*
 * What a runtime of the CUDA toolkit looks like from outside, for tests without it: the names by
 * which one is recognised and some that programs call, all of which answer that there is no driver.
 * Built into a program it is a static runtime; as a library with a soname and a version a shared
 * one. Two copies of it are two runtimes.
 */
enum { INSUFFICIENT_DRIVER = 35 };

#define NAME(name)                                                                                 \
	int name(void);                                                                            \
	__attribute__((noinline)) int name(void)                                                   \
	{                                                                                          \
		static volatile int answer = INSUFFICIENT_DRIVER;                                  \
		return answer;                                                                     \
	}

NAME(__cudaRegisterFatBinary)
NAME(cudaRuntimeGetVersion)
NAME(cudaGetDeviceProperties_v2)
NAME(cudaGetDeviceCount)
NAME(cudaSetDevice)
NAME(cudaGetLastError)
NAME(cudaPeekAtLastError)
NAME(cudaMalloc)
