/*
 * The index: one walk over all DIEs finds functions, and variables, types and enumerators by name.
 */
#include "src/base/demangle.h"
#include "src/dbg/dwarf_die.inc"

#include <ctype.h>
#include <stdlib.h>

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$';
}

struct str *dwarf_canonical(struct debug_info *d, const char *name)
{
	struct text t = {0};
	struct str *s;

	for (const char *at = name; *at; at++)
		if (*at != ' ' || (t.len && is_word(t.at[t.len - 1]) && is_word(at[1])))
			text_add(&t, at, 1);
	s = t.failed ? NULL : intern_get(&d->names, t.at ? t.at : "", t.len);
	d->failed |= !s;
	text_fini(&t);
	return s;
}

u64 dwarf_named(struct debug_info *d, const struct map *map, const char *name)
{
	const struct str *s = dwarf_canonical(d, name);
	const u64 *die = s ? map_get(map, map_key(s)) : NULL;

	return die ? *die : 0;
}

/* Leave out what compilers put before names of one file: "(anonymous namespace)::" and the like. */
static const char *without_file(const char *name)
{
	static const char *const marks[] = {"_INTERNAL_", "_GLOBAL__N_", "(anonymous namespace)"};

	for (size_t i = 0; i < ARRAY_LEN(marks); i++) {
		const char *end = strstr(name, "::");

		if (!strncmp(name, marks[i], strlen(marks[i])) && end)
			return end + 2;
	}
	return name;
}

const char *dwarf_plain_name(struct debug_info *d, const char *name)
{
	struct text t = {0};
	const char *plain;

	if (!demangle_wants(name))
		return name;
	demangle(name, &t);
	plain = t.at ? without_file(t.at) : name;
	plain = arena_strdup(d->arena, plain, strlen(plain));
	text_fini(&t);
	d->failed |= !plain;
	return plain ? plain : name;
}

/* ---- the walk ---- */

static const char *join(struct debug_info *d, const char *prefix, const char *name,
			const char *behind)
{
	size_t a = prefix ? strlen(prefix) : 0, b = strlen(name), c = strlen(behind);
	char *s = arena_alloc(d->arena, a + b + c + 1);

	d->failed |= !s;
	if (!s)
		return name;
	if (a)
		memcpy(s, prefix, a);
	memcpy(s + a, name, b);
	memcpy(s + a + b, behind, c);
	return s;
}

static void record(struct debug_info *d, struct map *map, const char *prefix, const char *name,
		   u64 die)
{
	const struct str *key = dwarf_canonical(d, prefix ? join(d, prefix, name, "") : name);

	/* The first one counts, but a definition replaces nothing. */
	if (key && !map_get(map, map_key(key)))
		d->failed |= !map_set(map, map_key(key), die);
}

static void index_type(struct debug_info *d, Dwarf_Die *die, const char *prefix)
{
	const char *name = libdw.dwarf_diename(die);

	if (!name || die_flag(die, DW_AT_declaration))
		return;
	record(d, &d->type_names, prefix, dwarf_plain_name(d, name), die_id(die));
	if (prefix)
		d->failed |= !map_set(&d->prefixes, die_id(die), map_key(prefix));
}

static void index_enumerators(struct debug_info *d, Dwarf_Die *die, const char *prefix)
{
	Dwarf_Die c;
	const char *name = libdw.dwarf_diename(die), *last;

	if (!die_child(die, &c))
		return;
	do {
		const char *e =
			libdw.dwarf_tag(&c) == DW_TAG_enumerator ? libdw.dwarf_diename(&c) : NULL;

		if (!e)
			continue;
		e = dwarf_plain_name(d, e);
		last = strrchr(e, ':');
		if (last)
			record(d, &d->enumerators, NULL, e, die_id(die));
		e = last ? last + 1 : e;
		record(d, &d->enumerators, prefix, e, die_id(die));
		if (name)
			record(d, &d->enumerators, join(d, prefix, name, "::"), e, die_id(die));
	} while (die_next(&c));
}

static void index_variable(struct debug_info *d, Dwarf_Die *die, const char *prefix)
{
	const char *name = libdw.dwarf_diename(die), *linkage = die_linkage_name(die);

	if (name && !demangle_wants(name))
		record(d, &d->variables, prefix, name, die_id(die));
	else if (name)
		record(d, &d->variables, NULL, dwarf_plain_name(d, name), die_id(die));
	if (linkage)
		record(d, &d->variables, NULL, linkage, die_id(die));
}

static void index_function(struct debug_info *d, Dwarf_Die *die, const char *prefix)
{
	const struct ir_func *f;
	Dwarf_Addr low;

	if (libdw.dwarf_lowpc(die, &low) != 0)
		return;
	f = dwarf_image_func(d->m, low);
	if (f && f->index < d->m->funcs.len && !d->funcs[f->index]) {
		d->funcs[f->index] = die_id(die);
		d->func_prefixes[f->index] = prefix;
	}
}

static void index_children(struct debug_info *d, Dwarf_Die *of, const char *prefix, bool in_code,
			   u32 depth);

static void index_die(struct debug_info *d, Dwarf_Die *die, const char *prefix, bool in_code,
		      u32 depth)
{
	const char *name = libdw.dwarf_diename(die);

	/* Entries that overlap could be walked for ever. */
	if (!d->unseen) {
		d->failed = true;
		return;
	}
	d->unseen--;
	switch (libdw.dwarf_tag(die)) {
	case DW_TAG_namespace:
		prefix = name ? join(d, prefix, name, "::") : prefix;
		break;
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
		index_type(d, die, prefix);
		prefix = name ? join(d, prefix, dwarf_plain_name(d, name), "::") : prefix;
		break;
	case DW_TAG_enumeration_type:
		index_type(d, die, prefix);
		index_enumerators(d, die, prefix);
		return;
	case DW_TAG_typedef:
	case DW_TAG_base_type:
		index_type(d, die, prefix);
		return;
	case DW_TAG_variable:
		if (!in_code)
			index_variable(d, die, prefix);
		return;
	case DW_TAG_subprogram:
		index_function(d, die, prefix);
		in_code = true;
		break;
	case DW_TAG_lexical_block:
		break;
	default:
		return;
	}
	index_children(d, die, prefix, in_code, depth + 1);
}

static void index_children(struct debug_info *d, Dwarf_Die *of, const char *prefix, bool in_code,
			   u32 depth)
{
	Dwarf_Die die;

	if (depth > DWARF_DEPTH_MAX || !die_child(of, &die))
		return;
	do
		index_die(d, &die, prefix, in_code, depth);
	while (!d->failed && die_next(&die));
}

bool dwarf_index(struct debug_info *d)
{
	Dwarf_Off at = 0, next;
	size_t head;

	d->funcs = ARENA_ARRAY(d->arena, u64, d->m->funcs.len + 1);
	d->func_prefixes = ARENA_ARRAY(d->arena, const char *, d->m->funcs.len + 1);
	if (!d->funcs || !d->func_prefixes)
		return false;
	for (size_t i = 0; i < d->m->sections.len; i++)
		d->unseen += d->m->sections.at[i]->bytes.len;
	for (; libdw.dwarf_nextcu(d->image.dwarf, at, &next, &head, NULL, NULL, NULL) == 0 &&
	       next > at;
	     at = next) {
		Dwarf_Die cu;

		if (libdw.dwarf_offdie(d->image.dwarf, at + head, &cu)) {
			const char *producer = die_string(&cu, DW_AT_producer);

			d->by_clang |= producer && strstr(producer, "clang");
			index_children(d, &cu, NULL, false, 0);
		}
	}
	return !d->failed;
}
