/*
 * Occupancy of clusters, for both interfaces: how large a kernel's clusters may be, and how many of
 * them a device holds at once.
 */
#include "runtime/cuda/drv.h"
#include "runtime/graph/stream_attr.h"

#define ATTRIBUTE_CLUSTER 4

static void read_cluster(const struct launch_attr *at, u32 n, u32 *cluster)
{
	for (u32 i = 0; at && i < n; i++)
		if (at[i].id == ATTRIBUTE_CLUSTER)
			memcpy(cluster, at[i].value.dim, 3 * sizeof(u32));
}

static bool from_runtime(const struct rt_launch_config *c, struct device_launch *l)
{
	if (!c || c->shared > UINT32_MAX)
		return false;
	*l = (struct device_launch){
		.grid = {c->grid.x, c->grid.y, c->grid.z},
		.block = {c->block.x, c->block.y, c->block.z},
		.dynamic_bytes = (u32)c->shared,
	};
	read_cluster(c->attrs, c->attr_len, l->cluster);
	return true;
}

static bool from_driver(const struct drv_launch_config *c, struct device_launch *l)
{
	if (!c)
		return false;
	*l = (struct device_launch){.dynamic_bytes = c->shared};
	memcpy(l->grid, c->grid, sizeof(l->grid));
	memcpy(l->block, c->block, sizeof(l->block));
	read_cluster(c->attrs, c->attr_len, l->cluster);
	return true;
}

static int active_clusters(const struct device_launch *l, int *out)
{
	u32 n;
	int status = (int)device_kernel_active_clusters(l, &n);

	if (!status)
		*out = (int)n;
	return status;
}

static int max_cluster(const struct device_launch *l, int *out)
{
	u32 n;
	int status = (int)device_kernel_max_cluster(l->kernel, l->block, l->dynamic_bytes, &n);

	if (!status)
		*out = (int)n;
	return status;
}

/* ---- runtime ---- */

static int runtime_launch(const void *stub, const struct rt_launch_config *c,
			  struct device_launch *l)
{
	int status;
	struct device_kernel *k;

	if (!from_runtime(c, l))
		return cudaErrorInvalidValue;
	k = rt_kernel(rt_named_kernel(stub), &status);
	l->kernel = k;
	return k ? cudaSuccess : status;
}

RT_FN(cudaOccupancyMaxActiveClusters,
      (int *clusters, const void *stub, const struct rt_launch_config *config))
{
	struct device_launch l;
	int status = clusters ? runtime_launch(stub, config, &l) : cudaErrorInvalidValue;

	return rt_error(status ? status : active_clusters(&l, clusters));
}

RT_FN(cudaOccupancyMaxPotentialClusterSize,
      (int *size, const void *stub, const struct rt_launch_config *config))
{
	struct device_launch l;
	int status = size ? runtime_launch(stub, config, &l) : cudaErrorInvalidValue;

	return rt_error(status ? status : max_cluster(&l, size));
}

/* ---- driver ---- */

static int driver_launch(const void *function, const struct drv_launch_config *c,
			 struct device_launch *l)
{
	int status;
	struct device_kernel *k;

	if (!from_driver(c, l))
		return STATUS_INVALID_VALUE;
	k = drv_kernel(function, &status);
	l->kernel = k;
	return k ? STATUS_SUCCESS : status;
}

DRV_FN(cuOccupancyMaxActiveClusters,
       (int *clusters, const void *function, const struct drv_launch_config *config))
{
	struct device_launch l;
	int status = clusters ? driver_launch(function, config, &l) : STATUS_INVALID_VALUE;

	return status ? status : active_clusters(&l, clusters);
}

DRV_FN(cuOccupancyMaxPotentialClusterSize,
       (int *size, const void *function, const struct drv_launch_config *config))
{
	struct device_launch l;
	int status = size ? driver_launch(function, config, &l) : STATUS_INVALID_VALUE;

	return status ? status : max_cluster(&l, size);
}
