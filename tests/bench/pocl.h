/* OpenCL on this host's processor, as another opinion on speed. */
#ifndef PL_BENCH_POCL_H
#define PL_BENCH_POCL_H

#include "src/base/base.h"

#define POCL_ARGS_MAX 8u

struct pocl;

/* A buffer is the caller's memory; else the value of a parameter. bytes 0: the list ends. */
struct pocl_arg {
	void *at;
	size_t bytes;
	bool is_buffer;
};

/*
 * NULL with a line on stdout saying why: no OpenCL here, or the kernels do not compile.
 */
struct pocl *pocl_open(const char *source);
/* The source is FILE.cl beside FILE.ptx. */
struct pocl *pocl_open_beside(const char *ptx);
void pocl_close(struct pocl *p);
/* The number of a kernel with its arguments, for pocl_run; -1: there is none. */
int pocl_kernel(struct pocl *p, const char *name, const struct pocl_arg *args);
/* Run a kernel to its end. */
bool pocl_run(struct pocl *p, int kernel, const u32 *grid, const u32 *block);

#endif
