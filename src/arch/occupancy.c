/*
 * How many CTAs an SM holds at once: the smallest of what CTA slots, warp slots, registers and
 * shared memory allow. Source: rules of the CUDA occupancy calculator; confirmed point by point on
 * an H200.
 */
#include "src/arch/limits.h"

/* All that the rules read. Without one of them there is no answer. */
static const enum arch_field needed[] = {
	ARCH_FIELD_warp_size,
	ARCH_FIELD_warps_per_sm_max,
	ARCH_FIELD_ctas_per_sm_max,
	ARCH_FIELD_threads_per_cta_max,
	ARCH_FIELD_registers_per_sm,
	ARCH_FIELD_registers_per_cta_max,
	ARCH_FIELD_registers_per_thread_max,
	ARCH_FIELD_register_alloc_unit,
	ARCH_FIELD_warp_alloc_granularity,
	ARCH_FIELD_smem_per_sm_bytes,
	ARCH_FIELD_smem_per_cta_optin_bytes,
	ARCH_FIELD_smem_reserved_per_cta_bytes,
	ARCH_FIELD_smem_alloc_unit_bytes,
	ARCH_FIELD_smem_carveouts_kib,
};

static bool has_fields(const struct arch *a)
{
	bool all = true;

	for (u32 i = 0; i < ARRAY_LEN(needed); i++)
		all &= arch_is_known(a, needed[i]);
	return all;
}

static u64 round_up(u64 x, u64 unit)
{
	return (x + unit - 1) / unit * unit;
}

u64 arch_cta_smem(const struct arch *a, u64 smem_bytes)
{
	return round_up(smem_bytes, (u64)a->smem_alloc_unit_bytes) +
	       (u64)a->smem_reserved_per_cta_bytes;
}

/*
 * Registers are dealt to the partitions of the SM: each holds whole warps only. A CTA's warps count
 * as a multiple of the partitions against the limit per CTA.
 */
static u32 ctas_by_registers(const struct arch *a, u32 warps, u32 registers)
{
	u32 partitions = (u32)a->warp_alloc_granularity;
	u64 per_warp = round_up((u64)registers * (u32)a->warp_size, (u64)a->register_alloc_unit);
	u64 warps_per_partition;

	if (!registers)
		return (u32)a->ctas_per_sm_max;
	if (per_warp * round_up(warps, partitions) > (u64)a->registers_per_cta_max)
		return 0;
	warps_per_partition = (u64)a->registers_per_sm / partitions / per_warp;
	return (u32)(warps_per_partition * partitions / warps);
}

/* The smallest carveout of at least `bytes`; the largest there is when none is. */
static u64 carveout_for(const struct arch *a, u64 bytes)
{
	const struct arch_list *steps = &a->smem_carveouts_kib;

	for (u32 i = 0; i < steps->len; i++)
		if ((u64)steps->at[i] * 1024 >= bytes)
			return (u64)steps->at[i] * 1024;
	return (u64)a->smem_per_sm_bytes;
}

static u64 carveout(const struct arch *a, s32 percent, u64 one_cta)
{
	u64 wanted = (u64)a->smem_per_sm_bytes * (u64)(percent > 100 ? 100 : percent);

	if (percent < 0)
		return (u64)a->smem_per_sm_bytes;
	return carveout_for(a, max_u64((wanted + 99) / 100, one_cta));
}

bool arch_limits(const struct arch *a, const struct arch_use *use, struct arch_limits *out)
{
	u32 warps = (u32)(((u64)use->threads_per_cta + 31) / 32);
	u64 smem;

	*out = (struct arch_limits){0};
	if (!has_fields(a))
		return false;
	smem = arch_cta_smem(a, min_u64(use->smem_bytes, UINT32_MAX));
	out->ctas = (u32)a->ctas_per_sm_max;
	if (warps && use->threads_per_cta <= (u32)a->threads_per_cta_max) {
		out->warps = (u32)a->warps_per_sm_max / warps;
		if (use->registers_per_thread <= (u32)a->registers_per_thread_max)
			out->registers = ctas_by_registers(a, warps, use->registers_per_thread);
	}
	if (use->smem_bytes > (u64)a->smem_per_cta_optin_bytes)
		return true;
	out->smem = smem ? (u32)(carveout(a, use->carveout_percent, smem) / smem) : out->ctas;
	return true;
}

static void take_less(struct arch_occupancy *o, u64 ctas, enum arch_limiter limiter)
{
	if (ctas >= o->ctas)
		return;
	o->ctas = (u32)ctas;
	o->limiter = limiter;
}

bool arch_occupancy(const struct arch *a, const struct arch_use *use, struct arch_occupancy *out)
{
	u32 warps = (u32)(((u64)use->threads_per_cta + 31) / 32);
	struct arch_limits l;

	*out = (struct arch_occupancy){0};
	if (!arch_limits(a, use, &l))
		return false;
	out->smem_carveout_bytes = carveout(a, use->carveout_percent,
					    arch_cta_smem(a, min_u64(use->smem_bytes, UINT32_MAX)));
	out->ctas = l.ctas;
	out->limiter = ARCH_LIMIT_CTAS;
	take_less(out, l.warps, ARCH_LIMIT_WARPS);
	take_less(out, l.registers, ARCH_LIMIT_REGISTERS);
	take_less(out, l.smem, ARCH_LIMIT_SMEM);
	out->warps = out->ctas * warps;
	return true;
}

/*
 * What launches without a preference are given: room for twice the CTAs that other resources allow,
 * four times where the kernel has no shared memory, up to half of the storage; always for as many
 * as can be resident.
 */
static u64 default_smem(const struct arch *a, const struct arch_use *use, u64 one_cta)
{
	struct arch_use free = *use;
	struct arch_occupancy o, own;
	u64 spare = use->threads_per_cta >= (u32)a->threads_per_cta_max ? 1
		    : use->smem_bytes                                   ? 2
									: 4;
	u64 half = (u64)a->l1_smem_bytes / 2;

	free.smem_bytes = 0;
	free.carveout_percent = -1;
	if (!arch_occupancy(a, &free, &o))
		return 0;
	free.smem_bytes = use->smem_bytes;
	arch_occupancy(a, &free, &own);
	return max_u64(min_u64(min_u64(o.ctas * spare, (u64)a->ctas_per_sm_max) * one_cta, half),
		       own.ctas * one_cta);
}

bool arch_smem_config(const struct arch *a, const struct arch_use *use, u64 *bytes)
{
	u64 own, one_cta, wanted;

	*bytes = 0;
	if (!has_fields(a))
		return false;
	one_cta = arch_cta_smem(a, min_u64(use->smem_bytes, UINT32_MAX));
	own = one_cta - (u64)a->smem_reserved_per_cta_bytes;
	wanted = default_smem(a, use, one_cta);
	if (use->carveout_percent >= 0) {
		u64 part =
			(u64)a->smem_per_sm_bytes * min_u64((u64)use->carveout_percent, 100) / 100;

		/* A preference is one for the kernel's own bytes. */
		wanted = own ? max_u64(part * one_cta / own, one_cta) : max_u64(wanted, part);
	}
	*bytes = carveout_for(a, wanted);
	return true;
}

bool arch_best_cta(const struct arch *a, const struct arch_use *use, u32 limit, u32 *threads,
		   u32 *grid_ctas)
{
	struct arch_use u = *use;
	struct arch_occupancy o;
	u32 max = (u32)a->threads_per_cta_max, best = 0;

	*threads = *grid_ctas = 0;
	if (!has_fields(a) || !arch_is_known(a, ARCH_FIELD_sms))
		return false;
	if (limit && limit < max)
		max = limit;
	/* From the largest size down, first the limit itself, then whole warps. */
	for (u32 n = max; n; n = n % 32 ? n / 32 * 32 : n - 32) {
		u.threads_per_cta = n;
		if (!arch_occupancy(a, &u, &o))
			return false;
		if (o.ctas * n <= best)
			continue;
		best = o.ctas * n;
		*threads = n;
		*grid_ctas = o.ctas * (u32)a->sms;
	}
	return true;
}

bool arch_available_smem(const struct arch *a, const struct arch_use *use, u32 ctas, u64 *bytes)
{
	struct arch_use u = *use;
	struct arch_occupancy o;
	u64 share;

	*bytes = 0;
	if (!ctas || !arch_occupancy(a, &u, &o) || o.ctas < ctas)
		return false;
	share = (u64)a->smem_per_sm_bytes / ctas / (u64)a->smem_alloc_unit_bytes *
		(u64)a->smem_alloc_unit_bytes;
	share = min_u64(share, (u64)a->smem_per_cta_optin_bytes);
	if (share < use->smem_bytes)
		return false;
	*bytes = share - use->smem_bytes;
	return true;
}
