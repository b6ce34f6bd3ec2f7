/*
 * What the programs here say when a call fails or a result is wrong: the line and the call. The
 * function that calls them returns 1.
 */
#ifndef PL_TEST_PROGRAMS_TRY_H
#define PL_TEST_PROGRAMS_TRY_H

#include <cuda_runtime.h>
#include <stdio.h>

#define TRY(call)                                                                                  \
	do {                                                                                       \
		cudaError_t e_ = (call);                                                           \
		if (e_ != cudaSuccess) {                                                           \
			printf("%s:%d: %s: %s\n", __FILE__, __LINE__, #call,                       \
			       cudaGetErrorName(e_));                                              \
			return 1;                                                                  \
		}                                                                                  \
	} while (0)
#define REFUSED(error, call)                                                                       \
	do {                                                                                       \
		cudaError_t e_ = (call);                                                           \
		if (e_ != (error)) {                                                               \
			printf("%s:%d: %s: %s instead of %s\n", __FILE__, __LINE__, #call,         \
			       cudaGetErrorName(e_), #error);                                      \
			return 1;                                                                  \
		}                                                                                  \
		cudaGetLastError();                                                                \
	} while (0)
#define SAME(a, b)                                                                                 \
	do {                                                                                       \
		long long a_ = (long long)(a), b_ = (long long)(b);                                \
		if (a_ != b_) {                                                                    \
			printf("%s:%d: %s is %lld, expected %lld\n", __FILE__, __LINE__, #a, a_,   \
			       b_);                                                                \
			return 1;                                                                  \
		}                                                                                  \
	} while (0)
#define RIGHT(what)                                                                                \
	do {                                                                                       \
		if (!(what)) {                                                                     \
			printf("%s:%d: %s: not so\n", __FILE__, __LINE__, #what);                  \
			return 1;                                                                  \
		}                                                                                  \
	} while (0)

#endif
