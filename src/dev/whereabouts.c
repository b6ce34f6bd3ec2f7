/*
 * Addresses in words: null, the program's allocations and variables, what was freed, the host's
 * memory.
 */
#include "src/dev/whereabouts.h"

#include "src/mem/mappings.h"
#include "src/mem/marks.h"
#include "src/mem/near.h"
#include "src/mem/pools.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* Nothing is ever mapped below: pointers here come of null. */
#define NULL_END ((u64)64 << 10)

/* ---- the device's ---- */

static const char *kind_name(const struct mem_range *r)
{
	switch ((enum mem_kind)r->kind) {
	case MEM_KIND_DEVICE:
		return "allocation";
	case MEM_KIND_CONST:
		return "constant variable";
	case MEM_KIND_PARAM:
		return "block of kernel parameters";
	case MEM_KIND_HOST:
		return "registered range of host memory";
	case MEM_KIND_MANAGED:
		return "managed allocation";
	case MEM_KIND_HEAP:
		return "heap of device-side malloc";
	case MEM_KIND_ARRAY:
		return "array";
	case MEM_KIND_PINNED:
		return "allocation of pinned host memory";
	case MEM_KIND_MAPPED:
		return "mapping";
	case MEM_KIND_BLOCK:
		return "block of device-side malloc";
	case MEM_KIND_INTERNAL:
		return "block of the runtime";
	}
	return "allocation";
}

/* The name of the program's variable that begins there, NULL: none does. */
static const char *variable_at(const struct device_program *p, u64 address)
{
	for (u32 u = 0; p && u < p->len; u++)
		for (size_t i = 0; i < p->placed[u]; i++)
			if (p->address[u][i] == address && p->units[u]->vars.at[i]->name)
				return p->units[u]->vars.at[i]->name->text;
	return NULL;
}

static void say_near(const struct mem_near *n, const struct device_program *p, struct text *out)
{
	static const char *const where[] = {"", "inside", "after", "before"};
	const struct mem_range *r = &n->range;
	const char *variable = r->freed ? NULL : variable_at(p, r->base);

	text_printf(out, "%llu bytes %s ", (unsigned long long)n->distance, where[n->where]);
	if (variable)
		text_printf(out, "the variable %s of %llu bytes at 0x%llx", variable,
			    (unsigned long long)r->size, (unsigned long long)r->base);
	else
		text_printf(out, "a %s%llu-byte %s at 0x%llx", r->freed ? "freed " : "",
			    (unsigned long long)r->size, kind_name(r), (unsigned long long)r->base);
	if (!r->freed && n->where == MEM_NEAR_INSIDE && n->is_read_only)
		text_puts(out, ", which the device may only read");
	if (!r->freed)
		mem_mark_say(r->base, out);
	if (n->is_foreign)
		text_printf(out, " of device %u, to which peer access is not enabled", n->device);
}

/* ---- the host's ---- */

static void say_host(const char *path, struct text *out)
{
	if (!strncmp(path, "[heap]", 6))
		text_puts(out, "host memory (of malloc or new)");
	else if (!strncmp(path, "[stack", 6))
		text_puts(out, "host memory (the stack: a local variable)");
	else if (*path == '/')
		text_printf(out, "host memory (of %s)", path);
	else
		text_puts(out, "host memory");
	text_puts(out, ", neither managed nor registered");
}

/* False: the host has nothing there, or does not tell. */
static bool describe_host(u64 address, struct text *out)
{
	struct mem_mappings all;
	struct mem_mapping m;
	bool found = false;

	mem_mappings_open(&all);
	while (!found && mem_mappings_next(&all, &m)) {
		found = address >= m.first && address < m.end && *m.rights == 'r';
		if (found)
			say_host(m.name, out);
	}
	mem_mappings_close(&all);
	return found;
}

static bool is_arena(const struct mem *m, u64 address)
{
	return mem_in_arena(m, address) || (m->system && mem_system_arena(m->system, address));
}

bool device_near_allocation(struct mem *m, u64 address, struct mem_near *near)
{
	struct text host = {0};
	bool is_near;

	if (address < NULL_END)
		return false;
	mem_nearest(m, address, near);
	is_near = near->where == MEM_NEAR_INSIDE || is_arena(m, address) ||
		  !describe_host(address, &host);
	text_fini(&host);
	return is_near && near->where != MEM_NEAR_NONE;
}

/* In a pool that the program has announced. False: it is in none. */
static bool describe_region(u64 address, struct text *out)
{
	struct mem_region r;
	u64 distance;
	const char *where = "inside";

	if (!mem_has_pools() || !mem_region_near(address, &r))
		return false;
	distance = address - r.base;
	if (address < r.base) {
		distance = r.base - address;
		where = "before";
	} else if (distance >= r.size) {
		distance -= r.size;
		where = "after";
	}
	text_printf(out, "%llu bytes %s a %s%llu-byte region of a pool at 0x%llx",
		    (unsigned long long)distance, where, r.freed ? "freed " : "",
		    (unsigned long long)r.size, (unsigned long long)r.base);
	if (!r.freed)
		mem_mark_say(r.base, out);
	return true;
}

void device_describe_address(struct mem *m, const struct device_program *p, u64 address,
			     struct text *out)
{
	struct mem_near near;

	if (!address) {
		text_puts(out, "a null pointer");
		return;
	}
	if (address < NULL_END) {
		text_printf(out, "%llu bytes after a null pointer", (unsigned long long)address);
		return;
	}
	if (describe_region(address, out))
		return;
	mem_nearest(m, address, &near);
	if (near.where != MEM_NEAR_INSIDE && !is_arena(m, address) && describe_host(address, out))
		return;
	if (near.where == MEM_NEAR_NONE)
		text_puts(out, "no address of the device, which has no allocations");
	else
		say_near(&near, p, out);
}
