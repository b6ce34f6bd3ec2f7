/*
 * Private to names*.c.
 */
#ifndef PL_NAMES_INT_H
#define PL_NAMES_INT_H

#include "src/dbg/dwarf_int.h"

struct dbg_names {
	const struct ir_module *m;
	struct arena arena;
	struct debug_info *dwarf; /* NULL: none */
};

/* ---- names_ptx.c ---- */

/* A register or variable that is visible at the place. */
bool names_ptx_find(struct dbg_names *n, struct dbg_place at, const char *name,
		    struct dbg_variable *out);
/* A static variable of the function by what PTX calls it: "f(int)::x" of a mangled name. */
bool names_ptx_static(struct dbg_names *n, const struct ir_func *f, const char *name,
		      struct dbg_variable *out);
/* Variables and parameters of the function. */
void names_ptx_locals(struct dbg_names *n, const struct ir_func *f, dbg_variable_visitor *see,
		      void *user);

#endif
