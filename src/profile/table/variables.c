/*
 * Variables and allocations: which there are when a launch begins, and what it asked of them. The
 * model of the caches counts each line for the one that it lies in.
 */
#include "src/profile/table/variables.h"

#include "src/cache/play.h"
#include "src/dev/device.h"
#include "src/exec/exec.h"
#include "src/profile/json_out.h"

#include <stdlib.h>

/* Bits of an address that traces of the caches have room for (src/watch/caches.c). */
#define ADDRESS_BITS 47u
/* Where local memory lies, in lines (likewise). */
#define LOCAL_LINES ((u64)1 << 39)
/* Kinds beside those of memory. */
#define KIND_LOCAL 255u

/* ---- when a launch begins ---- */

static struct cache_places *places_add_ranges(struct cache_places *p, struct mem *m, u64 origin)
{
	struct cache_places *more;

	pthread_mutex_lock(&m->lock);
	more = realloc(p, sizeof(*p) + (p->len + m->len + 1) * sizeof(p->at[0]));
	p = more ? more : p;
	for (u32 i = 0; more && i < m->len; i++) {
		const struct mem_range *r = &m->ranges[i];
		u64 from = (r->base - origin) & (((u64)1 << ADDRESS_BITS) - 1);

		if (r->freed || r->kind == MEM_KIND_PARAM || r->kind == MEM_KIND_INTERNAL ||
		    !r->size)
			continue;
		p->at[p->len++] = (struct cache_place){
			.first = from / CACHE_LINE_BYTES,
			.end = (from + r->size - 1) / CACHE_LINE_BYTES + 1,
			.base = r->base,
			.bytes = r->size,
			.number = r->id,
			.kind = r->kind,
		};
	}
	pthread_mutex_unlock(&m->lock);
	return p;
}

static int variables_by_line(const void *a, const void *b)
{
	const struct cache_place *x = a, *y = b;

	return x->first < y->first ? -1 : x->first > y->first;
}

/* Pages of managed memory are told apart. */
static void add_pages(struct cache_places *p)
{
	for (u32 i = 0; i < p->len; i++) {
		struct cache_place *at = &p->at[i];
		u64 pages = (at->bytes + CACHE_PLACE_PAGE - 1) / CACHE_PLACE_PAGE;

		if (at->kind != MEM_KIND_MANAGED || pages > UINT32_MAX)
			continue;
		at->page = calloc(pages, 1);
		at->pages = at->page ? (u32)pages : 0;
	}
}

struct cache_places *profile_variables_begin(const struct exec_env *e, bool has_pages)
{
	struct cache_places *p = calloc(1, sizeof(*p) + sizeof(p->at[0]));
	u64 origin = (u64)(uintptr_t)e->mem->arena;

	if (!p)
		return NULL;
	p = places_add_ranges(p, e->mem, origin);
	if (e->mem->system) {
		p = places_add_ranges(p, &e->mem->system->host, origin);
		p = places_add_ranges(p, &e->mem->system->maps, origin);
	}
	p->at[p->len++] = (struct cache_place){
		.first = LOCAL_LINES, .end = 2 * LOCAL_LINES, .kind = KIND_LOCAL};
	qsort(p->at, p->len, sizeof(p->at[0]), variables_by_line);
	if (has_pages)
		add_pages(p);
	/* Small variables share a line, which counts for the first of them. */
	for (u32 i = 0; i + 1 < p->len; i++)
		p->at[i + 1].first = max_u64(p->at[i + 1].first, p->at[i].end);
	return p;
}

/* ---- when it has ended ---- */

static const char *kind_of(u32 kind)
{
	switch (kind) {
	case MEM_KIND_CONST:
		return "constant variable";
	case MEM_KIND_HOST:
		return "registered host memory";
	case MEM_KIND_MANAGED:
		return "managed allocation";
	case MEM_KIND_HEAP:
	case MEM_KIND_BLOCK:
		return "heap of device-side malloc";
	case MEM_KIND_ARRAY:
		return "array";
	case MEM_KIND_PINNED:
		return "pinned allocation";
	case MEM_KIND_MAPPED:
		return "mapping";
	case KIND_LOCAL:
		return "local memory";
	default:
		return "allocation";
	}
}

static const char *variable_of(const struct device_program *p, u64 address)
{
	for (u32 u = 0; p && u < p->len; u++)
		for (size_t i = 0; i < p->units[u]->vars.len; i++)
			if (p->address[u][i] == address && p->units[u]->vars.at[i]->name)
				return p->units[u]->vars.at[i]->name->text;
	return NULL;
}

static bool variables_add(struct profile_launch *l, const struct cache_place *at, struct text *name)
{
	const struct cache_insn *n = &at->count;
	struct profile_variable x = {name->at, at->bytes, n->sectors,     n->hit,
				     n->miss,  n->second, n->second_miss, n->dram};

	if (x.name && VEC_PUSH(&l->variables, x))
		return true;
	text_fini(name);
	return false;
}

static bool was_accessed(const struct cache_insn *n)
{
	return n->sectors || n->second;
}

bool profile_variables_end(const struct cache_places *places, const struct device_program *p,
			   void (*origin)(u64 base, struct text *out), struct profile_launch *l)
{
	bool ok = true;
	u32 number = 0;

	l->has_variables = true;
	for (u32 i = 0; i < places->len && ok; i++) {
		const struct cache_place *at = &places->at[i];
		const char *variable = at->base ? variable_of(p, at->base) : NULL;
		struct text name = {0};

		if (!was_accessed(&at->count))
			continue;
		if (variable)
			text_puts(&name, variable);
		else if (at->kind == KIND_LOCAL)
			text_puts(&name, kind_of(at->kind));
		else
			text_printf(&name, "%s %u", kind_of(at->kind), ++number);
		if (!variable && origin && at->base)
			origin(at->base, &name);
		ok = variables_add(l, at, &name);
	}
	if (ok && was_accessed(&places->elsewhere.count)) {
		struct text name = {0};

		text_puts(&name, "elsewhere");
		ok = variables_add(l, &places->elsewhere, &name);
	}
	return ok;
}

/* ---- written ---- */

void profile_variables_write(const struct profile_launch *l, struct text *out)
{
	if (!l->has_variables)
		return;
	text_puts(out, ", \"variables\": [");
	for (size_t i = 0; i < l->variables.len; i++) {
		const struct profile_variable *x = &l->variables.at[i];
		const u64 n[] = {x->bytes,  x->sectors,     x->hit, x->miss,
				 x->second, x->second_miss, x->dram};

		text_puts(out, i ? ", " : "");
		json_out_row(x->name, n, ARRAY_LEN(n), out);
	}
	text_puts(out, "]");
}

void profile_variables_json(const struct profile_launch *l, struct text *out)
{
	if (!l->has_variables)
		return;
	text_puts(out, ",\n   \"variables\": [");
	for (size_t i = 0; i < l->variables.len; i++) {
		const struct profile_variable *x = &l->variables.at[i];

		text_puts(out, i ? ",\n    {\"name\": " : "\n    {\"name\": ");
		text_json_string(out, x->name);
		json_out_count("bytes", x->bytes, out);
		json_out_count("sectors", x->sectors, out);
		json_out_count("l1_hit", x->hit, out);
		json_out_count("l1_miss", x->miss, out);
		json_out_count("l2_sectors", x->second, out);
		json_out_count("l2_miss", x->second_miss, out);
		json_out_count("dram_sectors", x->dram, out);
		text_puts(out, "}");
	}
	text_puts(out, "]");
}

void profile_variables_text(const struct profile_launch *l, struct text *out)
{
	size_t width = strlen("Variable");

	if (!l->has_variables)
		return;
	for (size_t i = 0; i < l->variables.len; i++)
		width = max_u64(width, strlen(l->variables.at[i].name));
	text_printf(out, "    Section: Variables\n    %-*s %14s %12s %12s %12s %12s %12s %12s\n",
		    (int)width, "Variable", "Bytes", "L1 Sectors", "Hits", "Misses", "L2 Sectors",
		    "Misses", "DRAM Read");
	for (size_t i = 0; i < l->variables.len; i++) {
		const struct profile_variable *x = &l->variables.at[i];

		text_printf(out, "    %-*s %14llu %12llu %12llu %12llu %12llu %12llu %12llu\n",
			    (int)width, x->name, (unsigned long long)x->bytes,
			    (unsigned long long)x->sectors, (unsigned long long)x->hit,
			    (unsigned long long)x->miss, (unsigned long long)x->second,
			    (unsigned long long)x->second_miss, (unsigned long long)x->dram);
	}
	text_puts(out, "\n");
}
