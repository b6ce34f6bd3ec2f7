/* The kernels of kinds.cu in C, as a programmer writes them for one thread of a processor. */
#ifndef PL_BENCH_NATIVE_H
#define PL_BENCH_NATIVE_H

/* args: pointers to the kernel's parameters, in order. */
typedef void native_fn(void *const *args);

native_fn native_axpy, native_chain, native_jacobi, native_heat, native_csr, native_histogram,
	native_crowd, native_gather, native_walk, native_nbody, native_bitonic, native_convolve,
	native_collatz, native_transpose;

#endif
