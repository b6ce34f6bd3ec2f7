/*
 * Values of special registers that are not rows. PTX ISA "Special Registers".
 */
#include "src/host/syscall.h"

static u32 cluster_dim(const struct exec_env *e, u32 component)
{
	return e->cluster[component] ? e->cluster[component] : 1;
}

static u32 sms(const struct exec_env *e)
{
	const struct arch *a = e->program->arch;

	return a && a->sms > 0 ? (u32)a->sms : 1;
}

/* Whole units of the program's; both as an H200 has them. */
static u64 total_shared(const struct exec_env *e)
{
	return align_up((u64)e->program->shared_static + e->dynamic_shared,
			(u64)e->program->arch->smem_alloc_unit_bytes);
}

/* With what the system takes; the static part in steps of 16 bytes. */
static u64 aggregate_shared(const struct exec_env *e)
{
	return (u64)e->program->arch->smem_reserved_per_cta_bytes +
	       align_up((u64)e->program->shared_static, 16) + e->dynamic_shared;
}

u64 exec_sreg_uniform(struct gang *g, u32 sreg, u32 component)
{
	const struct exec_env *e = g->env;
	const u32 *v = NULL;

	switch (sreg) {
	case SR_ntid:
		v = e->block;
		break;
	case SR_ctaid:
		v = g->cta->id;
		break;
	case SR_nctaid:
		v = e->grid;
		break;
	case SR_nwarpid:
		return (u64)e->program->arch->warps_per_sm_max;
	/* CTAs go round the SMs by their numbers, whichever worker runs them. */
	case SR_smid:
		return g->cta->number % sms(e);
	case SR_nsmid:
		return sms(e);
	case SR_gridid:
		return e->grid_id;
	case SR_current_graph_exec:
		return e->syscalls && e->syscalls->graph_exec ? e->syscalls->graph_exec(e->user)
							      : 0;
	case SR_total_smem_size:
		return total_shared(e);
	case SR_aggr_smem_size:
		return aggregate_shared(e);
	case SR_reserved_smem_offset_begin:
	case SR_reserved_smem_offset_0:
		return e->reserved_at;
	/*
	 * The second half is where cooperative groups keep the barriers of tiles of several warps.
	 */
	case SR_reserved_smem_offset_1:
		return e->reserved_at + EXEC_RESERVED_SHARED / 2;
	case SR_reserved_smem_offset_end:
		return e->reserved_at + EXEC_RESERVED_SHARED;
	case SR_reserved_smem_offset_cap:
		return EXEC_RESERVED_SHARED;
	case SR_dynamic_smem_size:
		return e->dynamic_shared;
	case SR_clock:
	case SR_clock_hi:
	case SR_clock64:
	case SR_globaltimer:
	case SR_globaltimer_lo:
	case SR_globaltimer_hi:
		return exec_clock_read(g, sreg);
	case SR_clusterid:
		return component < 3 ? g->cta->id[component] / cluster_dim(e, component) : 0;
	case SR_nclusterid:
		return component < 3 ? e->grid[component] / cluster_dim(e, component) : 0;
	case SR_cluster_ctaid:
		return component < 3 ? g->cta->id[component] % cluster_dim(e, component) : 0;
	case SR_cluster_nctaid:
		return component < 3 ? cluster_dim(e, component) : 0;
	case SR_cluster_ctarank:
		return g->cta->rank;
	case SR_cluster_nctarank:
		return (u64)cluster_dim(e, 0) * cluster_dim(e, 1) * cluster_dim(e, 2);
	/* Compilers keep the barrier of a grid there: upper and lower half of the address. */
	case SR_envreg1:
		return e->workspace >> 32;
	case SR_envreg2:
		return (u32)e->workspace;
	case SR_is_explicit_cluster:
		return e->explicit_cluster;
	default:
		return 0;
	}
	return component < 3 ? v[component] : 0;
}

u32 exec_sreg_lane(u32 sreg, u32 lane, u32 warp)
{
	u32 bit = 1u << lane;

	switch (sreg) {
	case SR_laneid:
		return lane;
	case SR_warpid:
		return warp;
	case SR_lanemask_eq:
		return bit;
	case SR_lanemask_lt:
		return bit - 1;
	case SR_lanemask_le:
		return bit | (bit - 1);
	case SR_lanemask_gt:
		return ~(bit | (bit - 1));
	default:
		return ~(bit - 1);
	}
}
