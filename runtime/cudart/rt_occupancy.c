/*
 * Occupancy calculators of both interfaces.
 */
#include "runtime/cuda/drv.h"

static int active_blocks(struct device_kernel *k, int *blocks, int threads, size_t dynamic)
{
	if (!blocks || threads <= 0 || dynamic > UINT32_MAX)
		return STATUS_INVALID_VALUE;
	*blocks = (int)device_kernel_occupancy(k, (u32)threads, (u32)dynamic);
	return STATUS_SUCCESS;
}

/* The most dynamic shared memory with which `blocks` of this size still fit. */
static int available(struct device_kernel *k, size_t *bytes, int blocks, int threads)
{
	struct exec_needs needs;
	struct arch_use use = {.threads_per_cta = (u32)threads, .carveout_percent = -1};
	int registers = 0;
	u64 most, dynamic;

	if (!bytes || blocks <= 0 || threads <= 0 || !device_kernel_needs(k, &needs))
		return STATUS_INVALID_VALUE;
	rt_function_attribute(k, 4, &registers);
	use.registers_per_thread = (u32)registers;
	use.smem_bytes = needs.shared_static;
	if (!arch_available_smem(k->owner->dev->arch, &use, (u32)blocks, &most))
		return STATUS_INVALID_VALUE;
	dynamic = device_kernel_dynamic_max(k, needs.shared_static);
	*bytes = (size_t)min_u64(most, dynamic);
	return STATUS_SUCCESS;
}

/* ---- the size of a block that fills the device best ---- */

struct potential {
	int grid, block;
};

/*
 * From the largest block down, in steps of a warp; of equal ones the largest. Source: CUDA C++
 * Programming Guide, "Occupancy Calculator".
 */
static int potential(struct device_kernel *k, rt_block_to_shared *shared_of, size_t dynamic,
		     int limit, struct potential *out)
{
	const struct arch *a = k->owner->dev->arch;
	int most = 0, best = 0, warp = a->warp_size > 0 ? a->warp_size : 32;

	rt_function_attribute(k, 0, &most);
	if (limit > 0 && limit < most)
		most = limit;
	*out = (struct potential){0, 0};
	for (int b = (int)align_up((u64)most, (u64)warp); b > 0; b -= warp) {
		int threads = b < most ? b : most;
		size_t shared = shared_of ? shared_of(threads) : dynamic;
		int ctas = shared > UINT32_MAX
				   ? 0
				   : (int)device_kernel_occupancy(k, (u32)threads, (u32)shared);

		if (threads * ctas > best) {
			best = threads * ctas;
			*out = (struct potential){ctas * a->sms, threads};
		}
		if (best == a->threads_per_sm_max)
			break;
	}
	return STATUS_SUCCESS;
}

/* ---- the driver interface ---- */

DRV_FN(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags,
       (int *blocks, void *f, int threads, size_t dynamic, unsigned flags))
{
	int status;
	struct device_kernel *k = drv_kernel(f, &status);

	if (!k)
		return status;
	return flags > 1 ? (int)STATUS_INVALID_VALUE : active_blocks(k, blocks, threads, dynamic);
}

DRV_FN(cuOccupancyMaxActiveBlocksPerMultiprocessor,
       (int *blocks, void *f, int threads, size_t dynamic))
{
	return pldrv_cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, f, threads,
									  dynamic, 0);
}

DRV_FN(cuOccupancyMaxPotentialBlockSizeWithFlags,
       (int *grid, int *block, void *f, rt_block_to_shared *shared_of, size_t dynamic, int limit,
	unsigned flags))
{
	int status;
	struct device_kernel *k = drv_kernel(f, &status);
	struct potential best;

	if (!k)
		return status;
	if (!grid || !block || limit < 0 || flags > 1)
		return STATUS_INVALID_VALUE;
	status = potential(k, shared_of, dynamic, limit, &best);
	*grid = best.grid;
	*block = best.block;
	return status;
}

DRV_FN(cuOccupancyMaxPotentialBlockSize,
       (int *grid, int *block, void *f, rt_block_to_shared *shared_of, size_t dynamic, int limit))
{
	return pldrv_cuOccupancyMaxPotentialBlockSizeWithFlags(grid, block, f, shared_of, dynamic,
							       limit, 0);
}

DRV_FN(cuOccupancyAvailableDynamicSMemPerBlock, (size_t * bytes, void *f, int blocks, int threads))
{
	int status;
	struct device_kernel *k = drv_kernel(f, &status);

	return k ? available(k, bytes, blocks, threads) : status;
}

/* ---- the runtime interface; potential sizes are computed by its header ---- */

RT_FN(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags,
      (int *blocks, const void *stub, int threads, size_t dynamic, unsigned flags))
{
	struct device_kernel *k;
	int status;

	if (flags > 1)
		return rt_error(cudaErrorInvalidValue);
	k = rt_kernel(rt_named_kernel(stub), &status);
	return rt_error(k ? active_blocks(k, blocks, threads, dynamic) : status);
}

RT_FN(cudaOccupancyMaxActiveBlocksPerMultiprocessor,
      (int *blocks, const void *stub, int threads, size_t dynamic))
{
	return plrt_cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, stub, threads,
									   dynamic, 0);
}

RT_FN(cudaOccupancyAvailableDynamicSMemPerBlock,
      (size_t * bytes, const void *stub, int blocks, int threads))
{
	int status;
	struct device_kernel *k = rt_kernel(rt_named_kernel(stub), &status);

	return rt_error(k ? available(k, bytes, blocks, threads) : status);
}
