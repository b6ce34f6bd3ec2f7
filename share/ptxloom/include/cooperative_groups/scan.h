/*
 * Cooperative groups: running results over the threads of a group of at most a warp, by rank.
 */
#ifndef _COOPERATIVE_GROUPS_SCAN_H_
#define _COOPERATIVE_GROUPS_SCAN_H_

#include "../cooperative_groups.h"

#if defined(__CUDA__) && defined(__clang__)

namespace cooperative_groups
{

template <class G, class T, class F> __device__ __forceinline__ T inclusive_scan(const G &g, T v, F f)
{
	for (unsigned d = 1; d < (unsigned)g.size(); d *= 2) {
		T other = g.shfl_up(v, d);

		if (g.thread_rank() >= d)
			v = f(other, v);
	}
	return v;
}
template <class G, class T> __device__ __forceinline__ T inclusive_scan(const G &g, T v)
{
	return inclusive_scan(g, v, plus<T>());
}
/* The first thread gets T(). */
template <class G, class T, class F> __device__ __forceinline__ T exclusive_scan(const G &g, T v, F f)
{
	T r = g.shfl_up(inclusive_scan(g, v, f), 1);

	return g.thread_rank() ? r : T();
}
template <class G, class T> __device__ __forceinline__ T exclusive_scan(const G &g, T v)
{
	return exclusive_scan(g, v, plus<T>());
}

}
#endif
#endif
