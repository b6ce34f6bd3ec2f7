/*
 * Cooperative groups: blocks, tiles of warps, lanes that are together, grids and clusters. A grid
 * waits by the counter that the runtime puts before a cooperative launch's parameters.
 */
#ifndef _COOPERATIVE_GROUPS_H_
#define _COOPERATIVE_GROUPS_H_

#include "cuda_runtime.h"

#if defined(__CUDA__) && defined(__clang__)
/* nodebug: what is inlined gets the line of the caller, so that faults name the user's. */
#define PTXLOOM_CG __device__ __inline__ __attribute__((always_inline, nodebug))

namespace cooperative_groups
{

namespace details
{
/* Lanes of a warp that take part; every group of at most a warp knows its own by this. */
PTXLOOM_CG unsigned lane()
{
	unsigned r;

	asm("mov.u32 %0, %%laneid;" : "=r"(r));
	return r;
}
PTXLOOM_CG unsigned lanes_below()
{
	unsigned r;

	asm("mov.u32 %0, %%lanemask_lt;" : "=r"(r));
	return r;
}
PTXLOOM_CG unsigned block_rank()
{
	return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
}
PTXLOOM_CG unsigned block_size() { return blockDim.x * blockDim.y * blockDim.z; }

/*
 * The word that the blocks of a cooperative grid count in, behind the size of what it is in; or
 * null.
 */
PTXLOOM_CG unsigned *grid_word()
{
	unsigned low, high;

	asm("mov.u32 %0, %%envreg1;" : "=r"(high));
	asm("mov.u32 %0, %%envreg2;" : "=r"(low));
	return high | low ? (unsigned *)((unsigned long long)high << 32 | low) + 1 : nullptr;
}
}

/* ---- lanes of one warp: what tiles and coalesced groups share ---- */

class thread_group;

class ptxloom_lanes
{
protected:
	unsigned mask, count, rank;

	PTXLOOM_CG ptxloom_lanes(unsigned m, unsigned n, unsigned r) : mask(m), count(n), rank(r) {}
	/* The lane of the warp that is the group's r-th. */
	PTXLOOM_CG unsigned lane_of(unsigned r) const { return __fns(mask, 0, (int)r + 1); }

public:
	PTXLOOM_CG unsigned long long num_threads() const { return count; }
	PTXLOOM_CG unsigned size() const { return count; }
	PTXLOOM_CG unsigned thread_rank() const { return rank; }
	PTXLOOM_CG void sync() const { __syncwarp(mask); }
	PTXLOOM_CG unsigned ptxloom_mask() const { return mask; }
};

class thread_block
{
	friend PTXLOOM_CG thread_block this_thread_block();
	PTXLOOM_CG thread_block() {}

public:
	struct arrival_token {
	};

	static PTXLOOM_CG void sync() { __syncthreads(); }
	static PTXLOOM_CG arrival_token barrier_arrive()
	{
		asm volatile("barrier.sync 0;" ::: "memory");
		return arrival_token();
	}
	static PTXLOOM_CG void barrier_wait(arrival_token &&) {}
	static PTXLOOM_CG unsigned thread_rank() { return details::block_rank(); }
	static PTXLOOM_CG unsigned size() { return details::block_size(); }
	static PTXLOOM_CG unsigned num_threads() { return details::block_size(); }
	static PTXLOOM_CG dim3 group_index() { return blockIdx; }
	static PTXLOOM_CG dim3 thread_index() { return threadIdx; }
	static PTXLOOM_CG dim3 group_dim() { return blockDim; }
	static PTXLOOM_CG dim3 dim_threads() { return blockDim; }
};
PTXLOOM_CG thread_block this_thread_block() { return thread_block(); }

/* ---- tiles ---- */

template <unsigned Size, class Parent = void> class thread_block_tile : public ptxloom_lanes
{
	static_assert(Size <= 32 && Size && (Size & (Size - 1)) == 0, "a tile has 1, 2, 4, 8, 16 or 32 threads");
	static const unsigned lanes = Size == 32 ? 0xffffffffu : (1u << (Size & 31)) - 1;

public:
	/*
	 * Tiles divide the block's threads in order; a block's warps begin at its multiples of 32.
	 */
	PTXLOOM_CG thread_block_tile()
		: ptxloom_lanes(lanes << (details::block_rank() & 31 & ~(Size - 1)), Size,
				details::block_rank() & (Size - 1))
	{
	}
	template <class P>
	PTXLOOM_CG thread_block_tile(const thread_block_tile<Size, P> &t)
		: ptxloom_lanes(t.ptxloom_mask(), Size, t.thread_rank())
	{
	}
	static PTXLOOM_CG constexpr unsigned size() { return Size; }
	static PTXLOOM_CG constexpr unsigned num_threads() { return Size; }
	PTXLOOM_CG unsigned meta_group_rank() const { return details::block_rank() / Size; }
	PTXLOOM_CG unsigned meta_group_size() const { return (details::block_size() + Size - 1) / Size; }
	template <class T> PTXLOOM_CG T shfl(T v, int r) const { return __shfl_sync(mask, v, r, Size); }
	template <class T> PTXLOOM_CG T shfl_up(T v, unsigned d) const
	{
		return __shfl_up_sync(mask, v, d, Size);
	}
	template <class T> PTXLOOM_CG T shfl_down(T v, unsigned d) const
	{
		return __shfl_down_sync(mask, v, d, Size);
	}
	template <class T> PTXLOOM_CG T shfl_xor(T v, unsigned m) const
	{
		return __shfl_xor_sync(mask, v, (int)m, Size);
	}
	PTXLOOM_CG int any(int p) const { return __any_sync(mask, p); }
	PTXLOOM_CG int all(int p) const { return __all_sync(mask, p); }
	PTXLOOM_CG unsigned ballot(int p) const
	{
		return __ballot_sync(mask, p) >> (details::block_rank() & 31 & ~(Size - 1));
	}
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 700
	template <class T> PTXLOOM_CG unsigned match_any(T v) const
	{
		return __match_any_sync(mask, v) >> (details::block_rank() & 31 & ~(Size - 1));
	}
	template <class T> PTXLOOM_CG unsigned match_all(T v, int &same) const
	{
		return __match_all_sync(mask, v, &same) >> (details::block_rank() & 31 & ~(Size - 1));
	}
#endif
};
template <unsigned Size> PTXLOOM_CG thread_block_tile<Size, thread_block> tiled_partition(const thread_block &)
{
	return thread_block_tile<Size, thread_block>();
}
template <unsigned Size, unsigned Of, class P>
PTXLOOM_CG thread_block_tile<Size, thread_block_tile<Of, P>> tiled_partition(const thread_block_tile<Of, P> &)
{
	static_assert(Size <= Of, "a tile of a tile is not larger");
	return thread_block_tile<Size, thread_block_tile<Of, P>>();
}

/* ---- lanes that are together ---- */

class coalesced_group : public ptxloom_lanes
{
public:
	PTXLOOM_CG explicit coalesced_group(unsigned m)
		: ptxloom_lanes(m, (unsigned)__popc((int)m), (unsigned)__popc((int)(m & details::lanes_below())))
	{
	}
	PTXLOOM_CG unsigned meta_group_rank() const { return 0; }
	PTXLOOM_CG unsigned meta_group_size() const { return 1; }
	template <class T> PTXLOOM_CG T shfl(T v, int r) const
	{
		return __shfl_sync(mask, v, (int)lane_of((unsigned)r), 32);
	}
	template <class T> PTXLOOM_CG T shfl_up(T v, unsigned d) const
	{
		return __shfl_sync(mask, v, (int)(rank < d ? details::lane() : lane_of(rank - d)), 32);
	}
	template <class T> PTXLOOM_CG T shfl_down(T v, unsigned d) const
	{
		return __shfl_sync(mask, v, (int)(rank + d < count ? lane_of(rank + d) : details::lane()), 32);
	}
	PTXLOOM_CG int any(int p) const { return __any_sync(mask, p); }
	PTXLOOM_CG int all(int p) const { return __all_sync(mask, p); }
	PTXLOOM_CG unsigned ballot(int p) const
	{
		unsigned m = __ballot_sync(mask, p), r = 0;

		for (unsigned i = 0; i < count; i++)
			r |= (m >> lane_of(i) & 1) << i;
		return r;
	}
};
PTXLOOM_CG coalesced_group coalesced_threads() { return coalesced_group(__activemask()); }

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 700
template <class G> PTXLOOM_CG coalesced_group labeled_partition(const G &g, int label)
{
	return coalesced_group(__match_any_sync(g.ptxloom_mask(), label));
}
template <class G> PTXLOOM_CG coalesced_group binary_partition(const G &g, bool which)
{
	unsigned m = __ballot_sync(g.ptxloom_mask(), which);

	return coalesced_group(which ? m : g.ptxloom_mask() & ~m);
}
#endif

/* ---- any of them ---- */

class thread_group
{
	unsigned mask, count, rank; /* mask 0: the whole block */

public:
	PTXLOOM_CG thread_group(const thread_block &)
		: mask(0), count(details::block_size()), rank(details::block_rank())
	{
	}
	PTXLOOM_CG thread_group(const ptxloom_lanes &l)
		: mask(l.ptxloom_mask()), count(l.size()), rank(l.thread_rank())
	{
	}
	PTXLOOM_CG thread_group(unsigned m, unsigned n, unsigned r) : mask(m), count(n), rank(r) {}
	PTXLOOM_CG unsigned size() const { return count; }
	PTXLOOM_CG unsigned num_threads() const { return count; }
	PTXLOOM_CG unsigned thread_rank() const { return rank; }
	PTXLOOM_CG void sync() const
	{
		if (mask)
			__syncwarp(mask);
		else
			__syncthreads();
	}
};
PTXLOOM_CG thread_group tiled_partition(const thread_group &, unsigned n)
{
	unsigned all = n >= 32 ? 0xffffffffu : (1u << n) - 1, r = details::block_rank();

	return thread_group(all << (r & 31 & ~(n - 1)), n, r & (n - 1));
}
PTXLOOM_CG thread_group tiled_partition(const thread_block &b, unsigned n)
{
	return tiled_partition(thread_group(b), n);
}

/* ---- the grid ---- */

class grid_group
{
	friend PTXLOOM_CG grid_group this_grid();
	PTXLOOM_CG grid_group() {}

public:
	PTXLOOM_CG bool is_valid() const { return details::grid_word() != nullptr; }
	/*
	 * Every block adds 1, the first as much as makes the sum of one round 2^31: the round is
	 * over when the top bit has changed.
	 */
	PTXLOOM_CG void sync() const
	{
		unsigned *word = details::grid_word();

		if (!word)
			__trap();
		__syncthreads();
		if (details::block_rank() == 0) {
			unsigned blocks = gridDim.x * gridDim.y * gridDim.z, add = 1, old;

			if (blockIdx.x + blockIdx.y + blockIdx.z == 0)
				add = 0x80000000u - (blocks - 1);
			__threadfence();
			old = atomicAdd(word, add);
			while (!((old ^ *(volatile unsigned *)word) & 0x80000000u))
				;
			__threadfence();
		}
		__syncthreads();
	}
	PTXLOOM_CG unsigned long long size() const { return num_blocks() * details::block_size(); }
	PTXLOOM_CG unsigned long long num_threads() const { return size(); }
	PTXLOOM_CG unsigned long long num_blocks() const
	{
		return (unsigned long long)gridDim.x * gridDim.y * gridDim.z;
	}
	PTXLOOM_CG unsigned long long block_rank() const
	{
		return ((unsigned long long)blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
	}
	PTXLOOM_CG unsigned long long thread_rank() const
	{
		return block_rank() * details::block_size() + details::block_rank();
	}
	PTXLOOM_CG dim3 group_dim() const { return gridDim; }
	PTXLOOM_CG dim3 dim_blocks() const { return gridDim; }
	PTXLOOM_CG dim3 block_index() const { return blockIdx; }
};
PTXLOOM_CG grid_group this_grid() { return grid_group(); }

/* ---- functions of groups ---- */

template <class G> PTXLOOM_CG void sync(const G &g) { g.sync(); }
template <class G> PTXLOOM_CG unsigned thread_rank(const G &g) { return (unsigned)g.thread_rank(); }
template <class G> PTXLOOM_CG unsigned group_size(const G &g) { return (unsigned)g.size(); }

}

#include "cooperative_groups/reduce.h"
#include "cooperative_groups/scan.h"

#undef PTXLOOM_CG
#endif
#endif
