/*
 * DWARF of a module while it is open: the index of its names, and types already made. Private to
 * dwarf_*.c. DIEs are held by their offset in .debug_info plus one, as maps and "none" need a zero.
 */
#ifndef PL_DWARF_INFO_H
#define PL_DWARF_INFO_H

#include "src/base/map.h"
#include "src/dbg/dwarf_image.h"
#include "src/dbg/dwarf_int.h"

/* Deeper nesting is no program. */
#define DWARF_DEPTH_MAX 64

struct dwarf_chain;

struct debug_info {
	const struct ir_module *m;
	struct arena *arena;
	struct dwarf_image image;
	struct intern names;        /* canonical names */
	struct map types;           /* DIE: struct dbg_type * */
	struct map prefixes;        /* DIE of a type: const char *, "ns::" */
	struct map type_names;      /* canonical name: DIE of the type */
	struct map variables;       /* canonical name: DIE of the variable */
	struct map enumerators;     /* canonical name: DIE of the enumeration */
	u64 *funcs;                 /* for each function its DIE, 0: none */
	const char **func_prefixes; /* for each function "ns::", NULL: none */
	u64 unseen;                 /* entries that the index may still hold: each has a byte */
	struct dwarf_chain *chain;  /* of the last look-up; owned */
	bool by_clang;              /* clang has written it */
	bool failed;                /* memory was out, or entries overlap */
};

/* ---- dwarf_index.c ---- */

bool dwarf_index(struct debug_info *d);
/*
 * A name without spaces but between words: "Ring<int, 3>" and "Ring<int,3>" are one. Interned; NULL
 * when memory is out.
 */
struct str *dwarf_canonical(struct debug_info *d, const char *name);
/* The DIE a name stands for, 0: none. */
u64 dwarf_named(struct debug_info *d, const struct map *map, const char *name);
/* "ns::counter" of a mangled name, else the name; in the arena. */
const char *dwarf_plain_name(struct debug_info *d, const char *name);

/* ---- dwarf_type.c ---- */

/* The type of a DIE (offset + 1); never NULL. */
struct dbg_type *dwarf_type(struct debug_info *d, u64 die);
/* The type that DW_AT_type of this DIE names; NULL: it has none. */
struct dbg_type *dwarf_type_of(struct debug_info *d, u64 die);

#endif
