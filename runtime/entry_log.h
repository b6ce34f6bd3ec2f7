/*
 * What is reported of calls on standard error: PTXLOOM_LOG=api, those that fail; PTXLOOM_LOG=calls,
 * all. Name, arguments by their parameters' names, and result. Without either a call costs a look
 * at the_process.call_log.
 */
#ifndef PL_ENTRY_LOG_H
#define PL_ENTRY_LOG_H

#include "runtime/process.h"

enum entry_kind {
	ENTRY_SIGNED,
	ENTRY_UNSIGNED,
	ENTRY_FLOAT,
	ENTRY_TEXT,
	ENTRY_DIM3,
	ENTRY_POINTER,
	ENTRY_OTHER
};

struct entry_argument {
	const char *name; /* NULL: after the last */
	const void *at;
	u32 bytes;
	enum entry_kind kind;
};

#define ENTRY_LOG_UNREAD 1u /* the setting was not read yet */
#define ENTRY_LOG_FAILED 2u
#define ENTRY_LOG_ALL 4u
#define ENTRY_LOG_CHECKED 8u /* check_calls.c inspects each call */
#define ENTRY_LOG_TRACE 32u  /* profiles trace it */
#define ENTRY_LOG_INJECT 16u /* inject.c may answer it */
#define ENTRY_LOG_CUPTI 64u  /* callbacks or records of CUPTI are wanted */

/* Before a call: 0, or what it answers without being made. */
int entry_inject(const char *name, const struct entry_argument *a);

/*
 * After a call with this answer, which returns to `from`. Both read the setting if it was not read
 * before, so any bit of call_log is enough.
 */
void entry_tell(const char *name, int status, const void *from, const struct entry_argument *a);
/* Of a call that answers no error number, before it. */
void entry_tell_untyped(const char *name, const struct entry_argument *a);
/* Add "    cudaFree(p=0x7f..)". */
void entry_say_call(const char *name, const struct entry_argument *a, struct text *t);
/* The error's name in the interface that this function is of. */
const char *entry_status_name(const char *function, int status);

#define ENTRY_KIND(x)                                                                              \
	_Generic((x), signed char: ENTRY_SIGNED, short: ENTRY_SIGNED, int: ENTRY_SIGNED,           \
		long: ENTRY_SIGNED, long long: ENTRY_SIGNED, unsigned char: ENTRY_UNSIGNED,        \
		unsigned short: ENTRY_UNSIGNED, unsigned: ENTRY_UNSIGNED,                          \
		unsigned long: ENTRY_UNSIGNED, unsigned long long: ENTRY_UNSIGNED,                 \
		float: ENTRY_FLOAT, double: ENTRY_FLOAT, const char *: ENTRY_TEXT,                 \
		struct rt_dim3: ENTRY_DIM3, struct rt_extent: ENTRY_OTHER,                         \
		struct rt_pitched: ENTRY_OTHER, struct rt_ipc_handle: ENTRY_OTHER,                 \
		struct channel_desc: ENTRY_OTHER, default: ENTRY_POINTER)
#define ENTRY_ARGUMENT(x)                                                                          \
	{#x, &(x), sizeof(x),                                                                      \
	 sizeof(x) == 8 || ENTRY_KIND(x) != ENTRY_POINTER ? ENTRY_KIND(x) : ENTRY_OTHER},

/* The arguments of a row, (a, b, ..), as an array that ends with none. */
#define ENTRY_ARGUMENTS(...)                                                                       \
	((const struct entry_argument[]){ENTRY_EACH(__VA_ARGS__){NULL, NULL, 0, ENTRY_OTHER}})
#define ENTRY_EACH(...)                                                                            \
	ENTRY_NTH(_, ##__VA_ARGS__, ENTRY_16, ENTRY_15, ENTRY_14, ENTRY_13, ENTRY_12, ENTRY_11,    \
		  ENTRY_10, ENTRY_9, ENTRY_8, ENTRY_7, ENTRY_6, ENTRY_5, ENTRY_4, ENTRY_3,         \
		  ENTRY_2, ENTRY_1, ENTRY_0)                                                       \
	(__VA_ARGS__)
#define ENTRY_NTH(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, nth, ...) nth
#define ENTRY_0()
#define ENTRY_1(x) ENTRY_ARGUMENT(x)
#define ENTRY_2(x, ...) ENTRY_ARGUMENT(x) ENTRY_1(__VA_ARGS__)
#define ENTRY_3(x, ...) ENTRY_ARGUMENT(x) ENTRY_2(__VA_ARGS__)
#define ENTRY_4(x, ...) ENTRY_ARGUMENT(x) ENTRY_3(__VA_ARGS__)
#define ENTRY_5(x, ...) ENTRY_ARGUMENT(x) ENTRY_4(__VA_ARGS__)
#define ENTRY_6(x, ...) ENTRY_ARGUMENT(x) ENTRY_5(__VA_ARGS__)
#define ENTRY_7(x, ...) ENTRY_ARGUMENT(x) ENTRY_6(__VA_ARGS__)
#define ENTRY_8(x, ...) ENTRY_ARGUMENT(x) ENTRY_7(__VA_ARGS__)
#define ENTRY_9(x, ...) ENTRY_ARGUMENT(x) ENTRY_8(__VA_ARGS__)
#define ENTRY_10(x, ...) ENTRY_ARGUMENT(x) ENTRY_9(__VA_ARGS__)
#define ENTRY_11(x, ...) ENTRY_ARGUMENT(x) ENTRY_10(__VA_ARGS__)
#define ENTRY_12(x, ...) ENTRY_ARGUMENT(x) ENTRY_11(__VA_ARGS__)
#define ENTRY_13(x, ...) ENTRY_ARGUMENT(x) ENTRY_12(__VA_ARGS__)
#define ENTRY_14(x, ...) ENTRY_ARGUMENT(x) ENTRY_13(__VA_ARGS__)
#define ENTRY_15(x, ...) ENTRY_ARGUMENT(x) ENTRY_14(__VA_ARGS__)
#define ENTRY_16(x, ...) ENTRY_ARGUMENT(x) ENTRY_15(__VA_ARGS__)

#endif
