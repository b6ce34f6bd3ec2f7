/*
 * Clusters of a launch: what the kernel demands, what the launch asks for, what the device can
 * hold. Sources: PTX ISA "Cluster Dimension Directives"; CUDA documentation of the launch attribute
 * "cluster dimension" and of the occupancy calls for clusters.
 */
#include "src/base/size.h"
#include "src/dev/device_int.h"

static bool is_given(const u32 *v)
{
	return v[0] || v[1] || v[2];
}

/* What the kernel demands, by directive or, later, by attribute. False: nothing. */
static bool required(const struct device_kernel *k, u32 *out)
{
	const struct ir_func *f = k->func;

	if (!f->has_perf[IR_REQNCTAPERCLUSTER] && !is_given(k->cluster_required))
		return false;
	for (u32 i = 0; i < 3; i++)
		out[i] = device_extent(f->has_perf[IR_REQNCTAPERCLUSTER]
					       ? f->perf[IR_REQNCTAPERCLUSTER][i]
					       : k->cluster_required[i]);
	return true;
}

u32 device_cluster_limit(const struct device_kernel *k)
{
	const struct arch *a = k->owner->dev->arch;
	const struct ir_func *f = k->func;
	s32 most = a->cluster_ctas_portable;
	u32 limit;

	if (!a->has_cluster)
		return 1;
	if (k->nonportable_cluster && arch_is_known(a, ARCH_FIELD_cluster_ctas_max))
		most = a->cluster_ctas_max;
	limit = most > 1 ? (u32)most : 1;
	if (limit > CLUSTER_CTAS_MAX)
		limit = CLUSTER_CTAS_MAX;
	if (f->has_perf[IR_MAXCLUSTERRANK] && f->perf[IR_MAXCLUSTERRANK][0] < limit)
		limit = f->perf[IR_MAXCLUSTERRANK][0];
	return limit;
}

enum status device_cluster_resolve(const struct device_launch *l, struct device_shape *s)
{
	const struct device_kernel *k = l->kernel;
	const struct ir_func *f = k->func;
	u32 need[3], asked[3];
	bool given = is_given(l->cluster), needs = required(k, need);
	bool units = f->has_perf[IR_BLOCKSARECLUSTERS];

	for (u32 i = 0; i < 3; i++) {
		s->grid[i] = l->grid[i];
		s->block[i] = l->block[i];
		asked[i] = device_extent(l->cluster[i]);
		s->cluster[i] = needs ? need[i] : given ? asked[i] : 1;
	}
	s->explicit_cluster = given || needs;
	if (given && needs && memcmp(asked, need, sizeof(need)) != 0)
		return STATUS_INVALID_CLUSTER_SIZE;
	if (f->has_perf[IR_EXPLICITCLUSTER] && !s->explicit_cluster)
		return STATUS_INVALID_CLUSTER_SIZE;
	if (device_volume(s->cluster) > device_cluster_limit(k))
		return STATUS_INVALID_CLUSTER_SIZE;
	/* Compilers pass a block of one thread with such a kernel: its size is the kernel's. */
	if (units && device_volume(l->block) == 1)
		for (u32 i = 0; i < 3; i++)
			s->block[i] = device_extent(f->perf[IR_REQNTID][i]);
	for (u32 i = 0; i < 3; i++) {
		/* And its grid is given in clusters. */
		if (units) {
			if ((u64)s->grid[i] * s->cluster[i] > UINT32_MAX)
				return STATUS_INVALID_VALUE;
			s->grid[i] *= s->cluster[i];
		}
		if (s->grid[i] % s->cluster[i])
			return STATUS_INVALID_CLUSTER_SIZE;
	}
	return STATUS_SUCCESS;
}

/* Threads of a block that no launch has checked; UINT32_MAX: that many or more. */
static u32 block_threads(const u32 *block)
{
	u64 n;

	if (!size_mul((u64)block[0] * block[1], block[2], &n))
		return UINT32_MAX;
	return (u32)min_u64(n, UINT32_MAX);
}

enum status device_kernel_max_cluster(struct device_kernel *k, const u32 *block, u32 dynamic_bytes,
				      u32 *out)
{
	u32 resident, limit = device_cluster_limit(k), n = 1;
	u64 all;

	*out = 0;
	if (!k->owner->dev->arch->has_cluster)
		return STATUS_NOT_SUPPORTED;
	resident = device_kernel_occupancy(k, block_threads(block), dynamic_bytes);
	all = (u64)resident * (u32)k->owner->dev->arch->sms;
	while (2 * n <= limit && 2 * n <= all)
		n *= 2;
	*out = resident ? n : 0;
	return STATUS_SUCCESS;
}

enum status device_kernel_active_clusters(const struct device_launch *l, u32 *out)
{
	struct device_kernel *k = l->kernel;
	struct device_shape s;
	enum status status;
	u32 resident;

	*out = 0;
	if (!k->owner->dev->arch->has_cluster)
		return STATUS_NOT_SUPPORTED;
	status = device_cluster_resolve(l, &s);
	if (status != STATUS_SUCCESS)
		return status;
	resident = device_kernel_occupancy(k, block_threads(l->block), l->dynamic_bytes);
	*out = (u32)((u64)resident * (u32)k->owner->dev->arch->sms / device_volume(s.cluster));
	return STATUS_SUCCESS;
}
