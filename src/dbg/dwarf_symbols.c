/*
 * Everything of a kind that the debug information declares: `info functions` and the like.
 */
#include "src/base/demangle.h"
#include "src/dbg/dwarf_die.inc"
#include "src/ir/source.h"

struct symbols {
	struct debug_info *d;
	enum dbg_symbols kind;
	dbg_symbol_visitor *see;
	void *user;
	u64 unseen; /* entries that there may still be, if none overlap */
};

/* Compilers of PTX count files as .file does. */
static void put_place(const struct symbols *s, Dwarf_Die *die, struct dbg_symbol *out)
{
	u64 file = 0, line = 0;

	die_number(die, DW_AT_decl_file, &file);
	die_number(die, DW_AT_decl_line, &line);
	out->path = file ? ir_file_path(s->d->m, (u32)file) : NULL;
	out->line = (u32)line;
}

static bool is_external(Dwarf_Die *die)
{
	Dwarf_Attribute a;
	bool value;

	return libdw.dwarf_attr_integrate(die, DW_AT_external, &a) &&
	       libdw.dwarf_formflag(&a, &value) == 0 && value;
}

static void see_variable(struct symbols *s, Dwarf_Die *die, const char *prefix)
{
	const char *name = libdw.dwarf_diename(die), *linkage = die_linkage_name(die);
	struct dbg_symbol out = {.is_static = !is_external(die)};
	struct text t = {0};

	if (!name || die_flag(die, DW_AT_declaration))
		return;
	name = demangle_wants(name) ? dwarf_plain_name(s->d, name) : name;
	text_printf(&t, "%s%s", prefix && !strstr(name, "::") ? prefix : "", name);
	put_place(s, die, &out);
	out.type = dwarf_type_of(s->d, die_id(die));
	out.name = t.at ? t.at : name;
	/* The compiler's own tables and strings have no line. */
	if (out.line || linkage)
		s->see(s->user, &out);
	text_fini(&t);
}

static void see_type(struct symbols *s, Dwarf_Die *die)
{
	struct dbg_symbol out = {0};

	if (!libdw.dwarf_diename(die) || die_flag(die, DW_AT_declaration))
		return;
	out.type = dwarf_type(s->d, die_id(die));
	out.name = out.type->name;
	put_place(s, die, &out);
	if (out.name)
		s->see(s->user, &out);
}

/* Of a function that has no code of its own: it is inlined wherever it is called. */
static void see_inlined(struct symbols *s, Dwarf_Die *die, const char *prefix)
{
	const char *name = libdw.dwarf_diename(die), *linkage = die_linkage_name(die);
	struct dbg_symbol out = {.is_static = !is_external(die)};
	struct text t = {0};
	u64 inlined = 0;

	if (!name || !die_number(die, DW_AT_inline, &inlined))
		return;
	for (size_t i = 0; i < s->d->m->funcs.len; i++)
		if (s->d->m->funcs.at[i]->has_body &&
		    !strcmp(s->d->m->funcs.at[i]->name->text, linkage ? linkage : name))
			return;
	if (linkage && demangle_wants(linkage))
		demangle(linkage, &t);
	else
		text_printf(&t, "%s%s", prefix ? prefix : "", name);
	put_place(s, die, &out);
	out.type = dwarf_type(s->d, die_id(die));
	out.name = t.at ? t.at : name;
	s->see(s->user, &out);
	text_fini(&t);
}

static void see_children(struct symbols *s, Dwarf_Die *of, const char *prefix, u32 depth);

static void see_die(struct symbols *s, Dwarf_Die *die, const char *prefix, u32 depth)
{
	const char *name = libdw.dwarf_diename(die);
	struct text inner = {0};
	bool inside = false;

	switch (libdw.dwarf_tag(die)) {
	case DW_TAG_namespace:
		inside = true;
		break;
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
		inside = name != NULL;
		/* fall through */
	case DW_TAG_enumeration_type:
	case DW_TAG_typedef:
	case DW_TAG_base_type:
		if (s->kind == DBG_ALL_TYPES)
			see_type(s, die);
		break;
	case DW_TAG_variable:
		if (s->kind == DBG_ALL_VARIABLES)
			see_variable(s, die, prefix);
		return;
	case DW_TAG_subprogram:
		if (s->kind == DBG_ALL_FUNCTIONS)
			see_inlined(s, die, prefix);
		return;
	default:
		return;
	}
	if (!inside)
		return;
	text_printf(&inner, "%s%s%s", prefix ? prefix : "",
		    name ? dwarf_plain_name(s->d, name) : "", name ? "::" : "");
	see_children(s, die, inner.at, depth + 1);
	text_fini(&inner);
}

static void see_children(struct symbols *s, Dwarf_Die *of, const char *prefix, u32 depth)
{
	Dwarf_Die die;

	if (depth > DWARF_DEPTH_MAX || !die_child(of, &die))
		return;
	do
		see_die(s, &die, prefix, depth);
	while (s->unseen && s->unseen-- && die_next(&die));
}

void debug_info_symbols(struct debug_info *d, enum dbg_symbols kind, dbg_symbol_visitor *see,
			void *user)
{
	struct symbols s = {d, kind, see, user, 0};
	Dwarf_Off at = 0, next;
	size_t head;

	for (size_t i = 0; i < d->m->sections.len; i++)
		s.unseen += d->m->sections.at[i]->bytes.len;
	for (; libdw.dwarf_nextcu(d->image.dwarf, at, &next, &head, NULL, NULL, NULL) == 0 &&
	       next > at;
	     at = next) {
		Dwarf_Die cu;

		if (libdw.dwarf_offdie(d->image.dwarf, at + head, &cu))
			see_children(&s, &cu, NULL, 0);
	}
}

bool debug_info_declared(struct debug_info *d, const struct ir_func *f, struct dbg_symbol *out)
{
	struct symbols s = {.d = d};
	Dwarf_Die die;

	if (f->index >= d->m->funcs.len || !die_at(d, d->funcs[f->index], &die))
		return false;
	put_place(&s, &die, out);
	out->is_static = !is_external(&die);
	out->type = dwarf_type(d, d->funcs[f->index]);
	return true;
}
