/*
 * What modifiers of an instruction ask of the caches.
 */
#include "src/watch/policy.h"

static const struct {
	u16 word;
	u8 keep;
	bool is_past;
} keeps[] = {
	{M_cg, L1_KEEP_NOTHING, true},
	{M_cv, L1_KEEP_NOTHING, true},
	{M_volatile, L1_KEEP_NOTHING, true},
	{M_mmio, L1_KEEP_NOTHING, true},
	{M_lu, L1_KEEP_NOTHING, false},
	{M_L1_no_allocate, L1_KEEP_NOTHING, false},
	{M_L1_evict_first, L1_KEEP_FIRST, false},
	{M_L1_evict_last, L1_KEEP_LAST, false},
};

static const struct {
	u16 word;
	u8 class;
} classes[] = {
	{M_L2_evict_first, L2_STREAMING},
	{M_L2_evict_last, L2_PERSISTING},
};

/* Beyond the CTA, and with an order: weak and CTA-wide accesses are cached. */
static bool is_wide(const struct isa_form *form)
{
	return isa_form_has(form, M_gpu) || isa_form_has(form, M_sys) ||
	       isa_form_has(form, M_cluster);
}

void watch_policy_find(const struct isa_form *form, bool loads_pass, struct watch_policy *p)
{
	/* What is stored past the first cache stays there, too. */
	bool stores = !strncmp(form->row->name[form->name], "st", 2);
	bool is_strong = isa_form_has(form, M_relaxed) || isa_form_has(form, M_acquire);

	p->policy = (struct cache_policy){.keep = L1_KEEP, .class = L2_NORMAL};
	for (u32 i = 0; i < ARRAY_LEN(keeps); i++)
		if (isa_form_has(form, keeps[i].word) && !(stores && keeps[i].is_past)) {
			p->policy.keep = keeps[i].keep;
			p->policy.is_past = keeps[i].is_past;
		}
	for (u32 i = 0; i < ARRAY_LEN(classes); i++)
		if (isa_form_has(form, classes[i].word))
			p->policy.class = classes[i].class;
	p->policy.is_past |= is_strong && is_wide(form);
	p->is_acquire = isa_form_has(form, M_acquire) && is_wide(form);
	p->policy.is_past |= loads_pass && !isa_form_has(form, M_ca) && !isa_form_has(form, M_nc) &&
			     isa_form_has(form, M_global);
	if (isa_form_has(form, M_L2_128B))
		p->policy.fetch_sectors = 128 / CACHE_SECTOR_BYTES;
	if (isa_form_has(form, M_L2_256B))
		p->policy.fetch_sectors = 256 / CACHE_SECTOR_BYTES;
	p->policy.is_parameter = isa_form_has(form, M_param);
	p->is_constant = isa_form_has(form, M_const) || p->policy.is_parameter;
	p->policy.is_counted = p->policy.is_parameter;
	p->takes_hint = isa_form_has(form, M_L2_cache_hint);
	p->is_cas = isa_form_has(form, M_cas);
	p->is_surface = !strncmp(form->row->name[form->name], "su", 2);
	p->is_fragment = !strncmp(form->row->name[form->name], "wmma", 4);
}
