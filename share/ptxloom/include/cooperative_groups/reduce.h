/*
 * Cooperative groups: the sum, or another operation's result, over the threads of a group of at
 * most a warp.
 */
#ifndef _COOPERATIVE_GROUPS_REDUCE_H_
#define _COOPERATIVE_GROUPS_REDUCE_H_

#include "../cooperative_groups.h"

#if defined(__CUDA__) && defined(__clang__)

namespace cooperative_groups
{

#define PTXLOOM_FUNCTOR(name, text)                                                        \
	template <class T = void> struct name {                                            \
		__device__ __forceinline__ T operator()(const T &a, const T &b) const { return text; } \
	};
PTXLOOM_FUNCTOR(plus, a + b)
PTXLOOM_FUNCTOR(less, b < a ? b : a)
PTXLOOM_FUNCTOR(greater, a < b ? b : a)
PTXLOOM_FUNCTOR(bit_and, a &b)
PTXLOOM_FUNCTOR(bit_or, a | b)
PTXLOOM_FUNCTOR(bit_xor, a ^ b)
#undef PTXLOOM_FUNCTOR

/* In pairs from near to far, as the order of a tree over the ranks. */
template <unsigned Size, class P, class T, class F>
__device__ __forceinline__ T reduce(const thread_block_tile<Size, P> &g, T v, F f)
{
	for (unsigned d = Size / 2; d; d /= 2)
		v = f(v, g.shfl_xor(v, d));
	return v;
}
template <class T, class F> __device__ __forceinline__ T reduce(const coalesced_group &g, T v, F f)
{
	unsigned n = g.size();

	for (unsigned d = 1; d < n; d *= 2) {
		T other = g.shfl_down(v, d);

		if (g.thread_rank() % (2 * d) == 0 && g.thread_rank() + d < n)
			v = f(v, other);
	}
	return g.shfl(v, 0);
}

}
#endif
#endif
