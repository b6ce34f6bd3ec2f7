/*
 * Location lists by control flow: compilers lay them out along the text, lanes do not run along it.
 */
#include "src/dbg/dwarf_die.inc"

#include "src/base/vec.h"
#include "src/dbg/flow.h"

/* A list has fewer. */
#define ENTRIES_MAX 4096u

struct list_entry {
	u32 begin; /* instruction */
	Dwarf_Op *op;
	size_t len;
};

typedef VEC(struct list_entry) list_entries;

static bool read_list(Dwarf_Attribute *list, const struct ir_func *f, list_entries *out)
{
	u64 first = dwarf_image_pc((struct dbg_place){f, 0});
	Dwarf_Addr base, begin, end;
	struct list_entry e;
	ptrdiff_t at = 0;

	while ((at = libdw.dwarf_getlocations(list, at, &base, &begin, &end, &e.op, &e.len)) > 0) {
		if (begin - first >= f->insns.len)
			continue;
		e.begin = (u32)(begin - first);
		if (out->len >= ENTRIES_MAX || !VEC_PUSH(out, e))
			return false;
	}
	return at == 0;
}

static bool same_expression(const struct list_entry *a, const struct list_entry *b)
{
	if (a->len != b->len)
		return false;
	for (size_t i = 0; i < a->len; i++)
		if (a->op[i].atom != b->op[i].atom || a->op[i].number != b->op[i].number ||
		    a->op[i].number2 != b->op[i].number2)
			return false;
	return true;
}

/* The entry that all of the last ones say the same as, NULL: they differ, or there is none. */
static const struct list_entry *agree(const list_entries *list, const u8 *last)
{
	const struct list_entry *found = NULL;

	for (size_t i = 0; i < list->len; i++) {
		if (!last[list->at[i].begin])
			continue;
		if (found && !same_expression(found, &list->at[i]))
			return NULL;
		found = &list->at[i];
	}
	return found && found->len ? found : NULL;
}

bool dwarf_list_locate(Dwarf_Attribute *list, struct dbg_place at, Dwarf_Op **op, size_t *len)
{
	unsigned int form = libdw.dwarf_whatform(list);
	const struct list_entry *found = NULL;
	list_entries entries = {0};
	u8 *marks, *last;

	if (!at.func || (form != DW_FORM_sec_offset && form != DW_FORM_data4))
		return false;
	marks = calloc(at.func->insns.len + 1, 2);
	last = marks ? marks + at.func->insns.len + 1 : NULL;
	if (marks && read_list(list, at.func, &entries)) {
		for (size_t i = 0; i < entries.len; i++)
			marks[entries.at[i].begin] = 1;
		if (flow_last(at.func, at.insn, marks, last))
			found = agree(&entries, last);
	}
	if (found) {
		*op = found->op;
		*len = found->len;
	}
	VEC_FREE(&entries);
	free(marks);
	return found != NULL;
}
