/*
 * Drop-ins for NVIDIA's libraries: functions of their names in the preloaded library, which the
 * loader finds before those of a library, and which either go on to it or have the host compute.
 *
 * PTXLOOM_LIBS says which. Without it the host computes what the libraries carry as machine code
 * only, and everything if the library is not there.
 */
#ifndef PL_LIBS_H
#define PL_LIBS_H

#include "runtime/work.h"

#include <stdatomic.h>

enum libs_library { LIBS_CUBLAS, LIBS_CUFFT, LIBS_CURAND, LIBS_CUSOLVER, LIBS_NCCL, LIBS_COUNT };

/* What a function's kernels are in the library. */
enum libs_code {
	LIBS_NONE,    /* it has none: the library's own function, whatever was chosen */
	LIBS_PTX,     /* there is PTX for them */
	LIBS_MACHINE, /* most are machine code only */
};

/* A function of a library's name. */
struct libs_function {
	const char *name;
	enum libs_library library;
	enum libs_code code;
	_Atomic(void *) next; /* the library's; &libs_none: it has none; NULL: not looked for yet */
};

extern const char libs_none;

/* The library's own function, if it is to be called; NULL: the host computes. */
void *libs_pass(struct libs_function *f, const void *caller);
/* The library's function of this name; NULL: there is none. */
void *libs_next(struct libs_function *f, const void *caller);
/* Has a function of this name a drop-in, and which? For those who ask a library for it. */
void *libs_stand_in(const char *name);
/* The host computes for a library: the first time a line says so. */
void libs_announce(const struct libs_function *f);

#define LIBS_API __attribute__((visibility("default")))
/*
 * Define the function of a library: `body` is what the host does, `f` in it the function. args:
 * the parameters, to pass on.
 */
#define LIBS_FN(library, code, name, params, args, body)                                           \
	LIBS_API int name params;                                                                  \
	LIBS_API int name params                                                                   \
	{                                                                                          \
		static struct libs_function f = {#name, library, code, NULL};                      \
		int(*const next) params =                                                          \
			(int(*) params)(uintptr_t)libs_pass(&f, __builtin_return_address(0));      \
                                                                                                   \
		return next ? next args : (body);                                                  \
	}

#endif
