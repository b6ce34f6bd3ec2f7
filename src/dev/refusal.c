/*
 * Why a launch was refused, in words: which of its sizes does not fit, and what the kernel or the
 * device allows. Evaluated only after device_launch has refused, so that launches do not pay for
 * it. Sources: as the checks themselves, launch.c and cluster.c.
 */
#include "src/dev/device_int.h"
#include "src/lower/lower.h"

/* Grid or block: a zero, or more than the device allows in one dimension. */
static bool explain_sizes(const char *what, const char *of, const u32 *n, const s32 *most,
			  struct text *out)
{
	for (u32 i = 0; i < 3; i++) {
		if (!n[i])
			text_printf(out, "the %s has no %s in dimension %c", what, of,
				    'x' + (int)i);
		else if (n[i] > (u32)most[i])
			text_printf(out, "the %s has %u %s in dimension %c, the device allows %d",
				    what, n[i], of, 'x' + (int)i, most[i]);
		else
			continue;
		return true;
	}
	return false;
}

/* PTX ISA "Performance-Tuning Directives": .reqntid, .maxntid. */
static bool explain_bounds(const struct ir_func *f, const u32 *block, struct text *out)
{
	const u32 *req = f->perf[IR_REQNTID], *max = f->perf[IR_MAXNTID];
	u64 most = (u64)max[0] * device_extent(max[1]) * device_extent(max[2]);

	for (u32 i = 0; f->has_perf[IR_REQNTID] && i < 3; i++)
		if (block[i] != device_extent(req[i])) {
			text_printf(out,
				    "the block is %u,%u,%u, the kernel's .reqntid demands %u,%u,%u",
				    block[0], block[1], block[2], req[0], device_extent(req[1]),
				    device_extent(req[2]));
			return true;
		}
	if (!f->has_perf[IR_MAXNTID] || device_volume(block) <= most)
		return false;
	text_printf(out, "the block has %llu threads, the kernel's .maxntid allows %llu",
		    (unsigned long long)device_volume(block), (unsigned long long)most);
	return true;
}

static bool explain_dynamic(const struct device_launch *l, struct text *out)
{
	struct exec_needs needs;
	u32 most = device_kernel_needs(l->kernel, &needs)
			   ? device_kernel_dynamic_max(l->kernel, needs.shared_static)
			   : UINT32_MAX;

	if (l->dynamic_bytes <= most)
		return false;
	text_printf(out,
		    "%u bytes of dynamic shared memory were requested, this kernel may have %u",
		    l->dynamic_bytes, most);
	return true;
}

static bool explain_local(const struct device_launch *l, struct text *out)
{
	const struct program *p =
		device_kernel_lower(l->kernel, (u32)device_volume(l->block), NULL);

	if (!p || exec_local_fits(p))
		return false;
	text_printf(out, "each thread needs %llu bytes of local memory, %u are possible",
		    (unsigned long long)(p->local_bytes > EXEC_LOCAL_MAX ? p->local_bytes
									 : p->stack_bytes),
		    EXEC_LOCAL_MAX);
	return true;
}

static void explain_value(const struct device_launch *l, struct text *out)
{
	const struct device_kernel *k = l->kernel;
	const struct arch *a = k->owner->dev->arch;
	const s32 grid[3] = {a->grid_x_max, a->grid_y_max, a->grid_z_max},
		  block[3] = {a->cta_x_max, a->cta_y_max, a->cta_z_max};

	if (explain_sizes("grid", "CTAs", l->grid, grid, out) ||
	    explain_sizes("block", "threads", l->block, block, out))
		return;
	if (device_volume(l->block) > (u64)a->threads_per_cta_max)
		text_printf(out, "the block has %llu threads, the device allows %d",
			    (unsigned long long)device_volume(l->block), a->threads_per_cta_max);
	else if (explain_bounds(k->func, l->block, out))
		return;
	else if (explain_dynamic(l, out) || explain_local(l, out))
		return;
	else if (!l->args && k->param_bytes)
		text_printf(out, "the kernel takes %u bytes of parameters", k->param_bytes);
}

static void explain_cluster(const struct device_launch *l, struct text *out)
{
	const struct arch *a = l->kernel->owner->dev->arch;
	struct device_shape s;

	device_cluster_resolve(l, &s);
	text_printf(out, "clusters of %u,%u,%u CTAs: ", s.cluster[0], s.cluster[1], s.cluster[2]);
	if (!a->has_cluster) {
		text_printf(out, "%s has no clusters", a->name);
		return;
	}
	for (u32 i = 0; i < 3; i++)
		if (s.grid[i] % s.cluster[i]) {
			text_printf(out,
				    "the grid has %u CTAs in dimension %c, not a multiple of %u",
				    s.grid[i], 'x' + (int)i, s.cluster[i]);
			return;
		}
	text_printf(out, "not what the kernel demands, or more than it or the device allows (%u)",
		    device_cluster_limit(l->kernel));
}

static void explain_resources(const struct device_launch *l, struct text *out)
{
	struct device_kernel *k = l->kernel;
	const struct arch *a = k->owner->dev->arch;
	u32 threads = (u32)device_volume(l->block);
	const struct program *p = device_kernel_lower(k, threads, NULL);

	if (p)
		text_printf(
			out,
			"a CTA of %u threads with %u + %u bytes of static and dynamic shared memory "
			"does not fit into an SM of %s",
			threads, p->shared_static, l->dynamic_bytes, a->name);
}

static void explain_cooperative(const struct device_launch *l, struct text *out)
{
	struct device_kernel *k = l->kernel;
	u32 resident = device_kernel_occupancy(k, (u32)device_volume(l->block), l->dynamic_bytes);
	s32 sms = k->owner->dev->arch->sms;

	text_printf(out, "the grid has %llu CTAs, %d SMs hold %u each at once: %llu",
		    (unsigned long long)device_volume(l->grid), sms, resident,
		    (unsigned long long)resident * (u32)sms);
}

void device_launch_explain(const struct device_launch *l, enum status status, struct text *out)
{
	const struct status_info *s = status_info((int)status);
	size_t before = out->len;

	if (!l->kernel)
		; /* nothing to compare sizes with */
	else if (status == STATUS_INVALID_VALUE)
		explain_value(l, out);
	else if (status == STATUS_INVALID_CLUSTER_SIZE)
		explain_cluster(l, out);
	else if (status == STATUS_LAUNCH_OUT_OF_RESOURCES)
		explain_resources(l, out);
	else if (status == STATUS_COOPERATIVE_LAUNCH_TOO_LARGE)
		explain_cooperative(l, out);
	if (out->len == before)
		text_puts(out, s ? s->text : "unknown error");
}

void device_refusal_describe(const struct device_launch *l, enum status status, struct text *out)
{
	text_printf(out, "the launch of %s is refused: ", l->kernel->func->name->text);
	device_launch_explain(l, status, out);
}
