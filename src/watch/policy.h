/*
 * What an instruction asks of the caches, by its form.
 */
#ifndef PL_WATCH_POLICY_H
#define PL_WATCH_POLICY_H

#include "src/cache/shape.h"
#include "src/isa/isa.h"

/* What an instruction asks, found out when it is first seen. */
struct watch_policy {
	bool is_known, is_constant, is_acquire, is_cas;
	bool is_surface;  /* told as requests to the texture unit */
	bool is_fragment; /* wmma, whose accesses are those of its pieces */
	bool takes_hint;  /* L2::cache_hint */
	struct cache_policy policy;
};

/* loads_pass: plain loads of global memory go past the first cache (struct cache_rules). */
void watch_policy_find(const struct isa_form *form, bool loads_pass, struct watch_policy *p);

#endif
