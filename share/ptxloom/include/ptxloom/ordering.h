/*
 * Barriers and fences order memory. clang takes its own for calls that cannot reach variables whose
 * address no code takes, and moves loads and stores of such variables, shared ones above all,
 * across them. So each stands between two statements that may touch any memory.
 */
#ifndef PTXLOOM_ORDERING_H
#define PTXLOOM_ORDERING_H

static __device__ __forceinline__ void ptxloom_order() { asm volatile("" : : : "memory"); }

static __device__ __forceinline__ int ptxloom_ordered(int value)
{
	ptxloom_order();
	return value;
}

#define PTXLOOM_ORDERED(call) (ptxloom_order(), call, ptxloom_order())

/* A macro's own name is not expanded again: behind it is clang's function. */
#define __syncthreads() PTXLOOM_ORDERED(__syncthreads())
#define __syncthreads_and(x) ptxloom_ordered(__syncthreads_and(ptxloom_ordered(x)))
#define __syncthreads_or(x) ptxloom_ordered(__syncthreads_or(ptxloom_ordered(x)))
#define __syncthreads_count(x) ptxloom_ordered(__syncthreads_count(ptxloom_ordered(x)))
#define __syncwarp(...) PTXLOOM_ORDERED(__syncwarp(__VA_ARGS__))
#define __barrier_sync(...) PTXLOOM_ORDERED(__barrier_sync(__VA_ARGS__))
#define __barrier_sync_count(...) PTXLOOM_ORDERED(__barrier_sync_count(__VA_ARGS__))
#define __threadfence() PTXLOOM_ORDERED(__threadfence())
#define __threadfence_block() PTXLOOM_ORDERED(__threadfence_block())
#define __threadfence_system() PTXLOOM_ORDERED(__threadfence_system())

#endif
