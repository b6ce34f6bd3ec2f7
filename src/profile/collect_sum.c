/*
 * A launch in numbers: the sum of what its workers have counted, what the model of the caches says,
 * and what occupancy comes to.
 */
#include "src/arch/limits.h"
#include "src/profile/collect_int.h"
#include "src/profile/metrics.h"

#include <stdlib.h>

/* ---- a launch in numbers ---- */

static void sum_slots(struct collect_launch *l, struct slot *sum, u64 *value)
{
	for (size_t i = 0; i < l->slots.len; i++) {
		const struct slot *s = l->slots.at[i];

		for (u32 a = 0; a < PROFILE_ACCESSES; a++)
			for (u32 f = 0; f < PROFILE_FIELDS; f++)
				sum->access[a][f] += s->access[a][f];
		for (u32 r = 0; r < l->rows->len; r++)
			for (u32 k = 0; k < COUNTED_COLUMNS; k++)
				sum->row[r][k] += s->row[r][k];
	}
	for (u32 a = 0; a < PROFILE_ACCESSES; a++)
		memcpy(&value[profile_access_value((enum profile_access)a)], sum->access[a],
		       sizeof(sum->access[a]));
}

static void sum_work(const struct profile_shape *s, const u64 *row, u64 *value)
{
	value[VALUE_inst] += row[COLUMN_inst];
	value[VALUE_threads] += row[COLUMN_threads];
	value[VALUE_threads_on] += row[COLUMN_threads_on];
	value[VALUE_lg_marks] += row[COLUMN_inst] * s->lg_requests;
	switch ((enum profile_work)s->work) {
	case WORK_OTHER:
		break;
	case WORK_BRANCH:
		value[VALUE_branches] += row[COLUMN_inst];
		value[VALUE_branches_divergent] += row[COLUMN_divergent];
		break;
	case WORK_BARRIER:
		value[VALUE_barriers] += row[COLUMN_inst];
		break;
	case WORK_ARITHMETIC:
		value[s->value] += row[COLUMN_threads_on];
		if (s->value >= VALUE_hadd)
			value[VALUE_half_flops] += row[COLUMN_threads_on] * s->flops;
		break;
	case WORK_TENSOR:
		value[VALUE_tensor_flops] += row[COLUMN_inst] * s->flops;
		break;
	}
}

static void sum_first(u64 *to, const struct l1_counts *n)
{
	const u64 at[] = {n->requests, n->tags, n->sectors, n->hit, n->miss};

	memcpy(to, at, sizeof(at));
}

static void sum_second(u64 *to, const struct l2_counts *n, enum l2_op op)
{
	const u64 at[] = {n->requests[op],
			  n->request_hit[op],
			  n->sectors[op],
			  n->hit[op],
			  n->miss[op],
			  n->fabric[op],
			  n->fabric_hit[op],
			  n->fabric_requests[op],
			  n->fabric_request_hit[op]};

	memcpy(to, at, sizeof(at));
}

static void sum_caches(const struct cache_counts *c, u64 *value)
{
	static const enum profile_value first[] = {
		[CACHE_LOAD] = VALUE_l1_load_requests,
		[CACHE_STORE] = VALUE_l1_store_requests,
		[CACHE_ATOM] = VALUE_l1_atom_requests,
		[CACHE_RED] = VALUE_l1_red_requests,
		[CACHE_COPY] = VALUE_l1_copy_requests,
		[CACHE_COPY_PAST] = VALUE_l1_copy_past_requests,
		[CACHE_LOCAL_LOAD] = VALUE_l1_local_load_requests,
		[CACHE_LOCAL_STORE] = VALUE_l1_local_store_requests,
		[CACHE_BULK_LOAD] = VALUE_l1_bulk_load_requests,
		[CACHE_BULK_STORE] = VALUE_l1_bulk_store_requests,
		[CACHE_BULK_RED] = VALUE_l1_bulk_red_requests,
		[CACHE_PREFETCH] = VALUE_l1_prefetch_requests,
		[CACHE_TEXTURE] = VALUE_l1_texture_requests,
		[CACHE_SURFACE_LOAD] = VALUE_l1_surface_load_requests,
		[CACHE_SURFACE_STORE] = VALUE_l1_surface_store_requests,
		[CACHE_SURFACE_RED] = VALUE_l1_surface_red_requests,
	};
	static const enum profile_value second[] = {
		[L2_READ] = VALUE_l2_read_requests,         [L2_WRITE] = VALUE_l2_write_requests,
		[L2_ATOM] = VALUE_l2_atom_requests,         [L2_RED] = VALUE_l2_red_requests,
		[L2_PREFETCH] = VALUE_l2_prefetch_requests,
	};

	for (u32 i = 0; i < ARRAY_LEN(first); i++)
		sum_first(&value[first[i]], &c->l1[i]);
	for (u32 i = 0; i < ARRAY_LEN(second); i++)
		sum_second(&value[second[i]], &c->l2, (enum l2_op)i);
	value[VALUE_l1_copy_past_sets] = c->past_sets;
	value[VALUE_l1_read] = c->read_sectors;
	value[VALUE_l1_write] = c->write_sectors;
	value[VALUE_l1_surface_write] = c->surface_write_sectors;
	value[VALUE_constant_hit] = c->constant_hit;
	value[VALUE_constant_miss] = c->constant_miss;
	value[VALUE_l2_contacts] = c->l2.contacts;
	value[VALUE_l2_code] = c->code_sectors;
	value[VALUE_dram_read] = c->l2.dram_read;
	value[VALUE_dram_write] = c->l2.dram_write;
	for (u32 op = L2_READ; op <= L2_RED; op++) {
		value[VALUE_host_read + op] = c->l2.far[L2_SYSTEM][op];
		value[VALUE_peer_read + op] = c->l2.far[L2_PEER][op];
	}
	for (u32 i = 0; i < L2_CLASSES; i++) {
		value[VALUE_l2_class_streaming_hit + 2 * i] = c->l2.class_hit[i];
		value[VALUE_l2_class_streaming + 2 * i] = c->l2.class_sectors[i];
	}
}

/* ---- occupancy ---- */

static u32 warps_with(const struct arch *a, const struct arch_use *use)
{
	struct arch_occupancy o;

	return arch_occupancy(a, use, &o) ? o.warps : 0;
}

/* What would have to be changed for more warps: fewer registers, less memory, other CTAs. */
static void look_for_more(const struct arch *a, const struct arch_use *use, u64 *value)
{
	u32 now = warps_with(a, use), best = now;
	struct arch_use u = *use;

	for (u.registers_per_thread = use->registers_per_thread; u.registers_per_thread > 16;) {
		u.registers_per_thread--;
		if (warps_with(a, &u) <= now)
			continue;
		value[VALUE_lift_registers] = u.registers_per_thread;
		value[VALUE_lift_registers_warps] = warps_with(a, &u);
		break;
	}
	u = *use;
	for (u32 ctas = (now * 32 + use->threads_per_cta - 1) / use->threads_per_cta + 1;
	     ctas <= (u32)a->ctas_per_sm_max && !value[VALUE_lift_shared]; ctas++) {
		u.smem_bytes = (u64)a->smem_per_sm_bytes / ctas;
		u.smem_bytes -= min_u64(u.smem_bytes, (u64)a->smem_reserved_per_cta_bytes);
		u.smem_bytes = u.smem_bytes / (u64)a->smem_alloc_unit_bytes *
			       (u64)a->smem_alloc_unit_bytes;
		if (u.smem_bytes >= use->smem_bytes || warps_with(a, &u) <= now)
			continue;
		value[VALUE_lift_shared] = u.smem_bytes;
		value[VALUE_lift_shared_warps] = warps_with(a, &u);
	}
	u = *use;
	for (u32 n = 32; n <= (u32)a->threads_per_cta_max; n += 32) {
		u.threads_per_cta = n;
		if (warps_with(a, &u) <= best)
			continue;
		best = warps_with(a, &u);
		value[VALUE_lift_threads] = n;
		value[VALUE_lift_threads_warps] = best;
	}
}

static void sum_launch(const struct collect_launch *l, u64 *value)
{
	const struct arch *a = l->device->dev->arch;
	struct arch_use use = {
		.threads_per_cta = l->block[0] * l->block[1] * l->block[2],
		.registers_per_thread = l->look.registers,
		.smem_bytes = (u64)l->look.static_shared + l->look.dynamic_shared,
		.carveout_percent = l->look.kernel->carveout_percent,
	};
	struct arch_limits limits;
	struct arch_occupancy o;

	value[VALUE_registers] = l->look.registers;
	value[VALUE_registers_given] = l->look.registers_given;
	value[VALUE_static_shared] = l->look.static_shared;
	value[VALUE_dynamic_shared] = l->look.dynamic_shared;
	value[VALUE_driver_shared] = (u64)a->smem_reserved_per_cta_bytes;
	value[VALUE_stack_bytes] = l->device->dev->stack_limit;
	value[VALUE_sms] = (u64)a->sms;
	value[VALUE_cc_major] = (u64)a->cc_major;
	value[VALUE_cc_minor] = (u64)a->cc_minor;
	value[VALUE_warps_max] = (u64)a->warps_per_sm_max;
	value[VALUE_ctas_max] = (u64)a->ctas_per_sm_max;
	value[VALUE_resident] = l->look.resident;
	arch_smem_config(a, &use, &value[VALUE_config_shared]);
	if (!arch_occupancy(a, &use, &o) || !arch_limits(a, &use, &limits))
		return;
	value[VALUE_limiter] = o.limiter;
	value[VALUE_limit_ctas] = limits.ctas;
	value[VALUE_limit_warps] = limits.warps;
	value[VALUE_limit_registers] = limits.registers;
	value[VALUE_limit_shared] =
		value[VALUE_config_shared] / max_u64(1, arch_cta_smem(a, use.smem_bytes));
	if (o.warps < (u32)a->warps_per_sm_max)
		look_for_more(a, &use, value);
}

/* ---- SMs ---- */

/* What the engine counts for a launch as a whole is of an SM what its caches were asked. */
static void put_asked(const struct cache_counts *c, u64 *value)
{
	static const struct {
		enum cache_kind kind;
		enum profile_access access;
	} asked[] = {
		{CACHE_LOAD, ACCESS_OF_global_ld},
		{CACHE_STORE, ACCESS_OF_global_st},
		{CACHE_ATOM, ACCESS_OF_global_atom},
		{CACHE_RED, ACCESS_OF_global_red},
		{CACHE_COPY, ACCESS_OF_copy_access},
		{CACHE_LOCAL_LOAD, ACCESS_OF_local_ld},
		{CACHE_LOCAL_STORE, ACCESS_OF_local_st},
		{CACHE_TEXTURE, ACCESS_OF_texture_ld},
		{CACHE_SURFACE_LOAD, ACCESS_OF_surface_ld},
		{CACHE_SURFACE_STORE, ACCESS_OF_surface_st},
		{CACHE_SURFACE_RED, ACCESS_OF_surface_red},
	};

	for (size_t i = 0; i < ARRAY_LEN(asked); i++) {
		u64 *at = &value[profile_access_value(asked[i].access)];

		at[FIELD_REQUESTS] = c->l1[asked[i].kind].requests;
		at[FIELD_SECTORS] = c->l1[asked[i].kind].sectors;
	}
}

/* The counters that are not 0. */
static bool list_spread(const struct collect_launch *l, struct profile_launch *x)
{
	u64 least = l->sms < x->value[VALUE_sms] ? 0 : UINT64_MAX;
	bool ok = true;

	for (u32 m = 0; ok && m < metric_count(); m++) {
		struct metric_number n = {0};

		if (metric_has_spread(m))
			n = metric_value(m, x);
		if (n.is_known && n.whole)
			ok = VEC_PUSH(&x->spread, ((struct profile_spread){m, least, 0}));
	}
	return ok;
}

static void spread_drop(struct profile_launch *x, const u64 *sum)
{
	size_t len = 0;

	for (size_t i = 0; i < x->spread.len; i++)
		if (metric_value(x->spread.at[i].metric, x).whole == sum[i])
			x->spread.at[len++] = x->spread.at[i];
	x->spread.len = len;
}

/*
 * Of each counter that is not 0, the least and the most that an SM has of it; of those that are the
 * sum of what SMs have.
 */
static bool sum_spread(const struct collect_launch *l, struct profile_launch *x)
{
	struct profile_launch *sm = calloc(1, sizeof(*sm));
	u64 *sum = calloc(metric_count(), sizeof(*sum));
	bool ok = sm && sum && list_spread(l, x);

	for (u32 i = 0; ok && i < l->sms; i++) {
		sum_caches(&l->sm_caches[i], sm->value);
		put_asked(&l->sm_caches[i], sm->value);
		sm->value[VALUE_has_caches] = 1;
		for (size_t k = 0; k < x->spread.len; k++) {
			struct profile_spread *s = &x->spread.at[k];
			u64 n = metric_value(s->metric, sm).whole;

			s->least = min_u64(s->least, n);
			s->most = max_u64(s->most, n);
			sum[k] += n;
		}
	}
	if (ok)
		spread_drop(x, sum);
	free(sm);
	free(sum);
	return ok;
}

/* ---- a launch that has ended ---- */

static bool collect_add_row(struct profile_launch *x, u32 row, const u64 *counted,
			    const struct cache_insn *n)
{
	struct profile_row r = {.insn = row};

	memcpy(r.at, counted, COUNTED_COLUMNS * sizeof(r.at[0]));
	if (n) {
		r.at[COLUMN_l1_hit] = n->hit;
		r.at[COLUMN_l1_miss] = n->miss;
		r.at[COLUMN_l2_sectors] = n->second;
		r.at[COLUMN_l2_miss] = n->second_miss;
		r.at[COLUMN_dram_sectors] = n->dram;
	}
	return VEC_PUSH(&x->rows, r);
}

/* False without memory. */
static bool sum_shared(const struct collect_launch *l, struct profile_launch *x)
{
	const struct profile_shared_places *places = l->rows->shared;
	u64(*sum)[SHARED_COUNTS] = places ? calloc(places->len, sizeof(*sum)) : NULL;
	bool ok = sum != NULL;

	if (!places)
		return true;
	for (size_t i = 0; ok && i < l->slots.len; i++)
		for (u32 k = 0; k < places->len; k++)
			for (u32 n = 0; n < SHARED_COUNTS; n++)
				sum[k][n] += l->slots.at[i]->shared[k][n];
	ok = ok && profile_shared_end(places, (const u64(*)[SHARED_COUNTS])sum,
				      l->look.dynamic_shared, x);
	free(sum);
	return ok;
}

void collect_keep_caches(struct collect_launch *l, const struct cache_counts *counts,
			 const struct cache_insn *insns, const struct cache_sm *sm)
{
	l->caches = *counts;
	l->has_caches = true;
	l->sm_caches = sm ? calloc(l->sms, sizeof(*l->sm_caches)) : NULL;
	for (u32 i = 0; l->sm_caches && i < l->sms; i++)
		l->sm_caches[i] = sm[i].count;
	l->insns = insns ? calloc(l->rows->len + 1, sizeof(*l->insns)) : NULL;
	for (u32 pc = 0; l->insns && pc < l->rows->uops; pc++) {
		struct cache_insn *to = &l->insns[l->rows->row_of[pc]];

		to->hit += insns[pc].hit;
		to->miss += insns[pc].miss;
		to->second += insns[pc].second;
		to->second_miss += insns[pc].second_miss;
		to->dram += insns[pc].dram;
	}
}

/*
 * Put the counts of a launch that has ended together: sum, empty, gets those of all workers, x the
 * launch as reports have it. false: no memory left.
 */
static bool sum_all(struct collect_launch *l, struct slot *sum, struct profile_launch *x)
{
	const struct device *dev = l->device->dev;
	bool ok = true;

	x->number = l->number;
	x->program = l->rows->described;
	x->device = dev->number;
	x->ranges = l->look.tag;
	x->device_name = strdup(dev->arch->name ? dev->arch->name : "");
	x->context = l->look.context;
	x->stream = l->look.stream ? l->look.stream + STREAMS_BEFORE : 0;
	memcpy(x->grid, l->grid, sizeof(x->grid));
	memcpy(x->block, l->block, sizeof(x->block));
	memcpy(x->cluster, l->cluster, sizeof(x->cluster));
	sum_slots(l, sum, x->value);
	for (u32 r = 0; r < l->rows->len; r++) {
		sum_work(&l->rows->shape[r], sum->row[r], x->value);
		if (sum->row[r][COLUMN_inst])
			ok &= collect_add_row(x, r, sum->row[r], l->insns ? &l->insns[r] : NULL);
	}
	sum_launch(l, x->value);
	x->value[VALUE_sectors_cut] = l->is_cut || l->device->caches.is_cut;
	x->value[VALUE_has_caches] = l->has_caches;
	if (l->has_caches)
		sum_caches(&l->caches, x->value);
	for (u32 i = VALUE_managed_touched; i <= VALUE_managed_thrashed; i++)
		x->value[i] = l->variables.value[i];
	/* They are the report's from now on. */
	x->has_variables = l->variables.has_variables;
	memcpy(&x->variables, &l->variables.variables, sizeof(x->variables));
	memset(&l->variables.variables, 0, sizeof(l->variables.variables));
	memcpy(&x->links, &l->variables.links, sizeof(x->links));
	memset(&l->variables.links, 0, sizeof(l->variables.links));
	ok &= sum_shared(l, x);
	x->has_spread = l->sm_caches != NULL;
	if (x->has_spread)
		ok &= sum_spread(l, x);
	return ok && x->device_name;
}

bool collect_report(struct collect_launch *l)
{
	struct slot *sum = calloc(1, sizeof(*sum) + (size_t)l->rows->len * sizeof(sum->row[0]));
	struct profile_launch *x = calloc(1, sizeof(*x));
	struct profile_collect *c = l->device->of;
	struct text t = {0};
	bool ok = sum && x && sum_all(l, sum, x);

	if (ok && l->is_written)
		profile_launch_write(x, &t);
	ok = ok && !t.failed;
	pthread_mutex_lock(&c->lock);
	/* At once: a program that is killed leaves what has ended. */
	if (ok && l->is_written) {
		fwrite(t.at, 1, t.len, c->to);
		fflush(c->to);
	}
	if (ok && c->tell) {
		x->number = l->told;
		c->tell(c->user, x);
	}
	pthread_mutex_unlock(&c->lock);
	text_fini(&t);
	profile_launch_free(x);
	free(sum);
	return ok;
}
