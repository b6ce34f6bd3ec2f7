/*
 * DWARF of one module: what names.c asks of it. dwarf_*.c answer through libdw; in a build without
 * libdw dwarf_none.c says that it is missing.
 */
#ifndef PL_DWARF_INT_H
#define PL_DWARF_INT_H

#include "src/dbg/names.h"

struct debug_info;

/*
 * Types and texts go to `arena`, which must outlive it. NULL: the module has no DWARF, or it is
 * unusable and `why` says so.
 */
struct debug_info *debug_info_open(const struct ir_module *m, struct arena *arena,
				   struct text *why);
void debug_info_close(struct debug_info *d);

bool debug_info_find_local(struct debug_info *d, struct dbg_place at, u32 inlined, const char *name,
			   struct dbg_variable *out);
bool debug_info_find_global(struct debug_info *d, const char *name, struct dbg_variable *out);
void debug_info_locals(struct debug_info *d, struct dbg_place at, u32 inlined,
		       dbg_variable_visitor *see, void *user);
struct dbg_type *debug_info_type(struct debug_info *d, const char *name);
bool debug_info_enumerator(struct debug_info *d, const char *name, struct dbg_type **type,
			   s64 *value);
/* The function as DWARF calls it, NULL: it knows none. */
const char *debug_info_function(struct debug_info *d, const struct ir_func *f);
/* What it returns; NULL: nothing, or not known. */
struct dbg_type *debug_info_result(struct debug_info *d, const struct ir_func *f);

/* Its own type; NULL: not known. */
struct dbg_type *debug_info_function_type(struct debug_info *d, const struct ir_func *f);
/* A variable of the function that is in no frame. */
bool debug_info_find_static(struct debug_info *d, const struct ir_func *f, const char *name,
			    struct dbg_variable *out);
/* A type among the template arguments of the function at a place; NULL: none of this name. */
struct dbg_type *debug_info_type_argument(struct debug_info *d, struct dbg_place at, u32 inlined,
					  const char *name);

/* What is declared; functions that are inlined wherever they are called, as far as they are. */
void debug_info_symbols(struct debug_info *d, enum dbg_symbols kind, dbg_symbol_visitor *see,
			void *user);
/* The declaration of a function, but for its name. False: there is none. */
bool debug_info_declared(struct debug_info *d, const struct ir_func *f, struct dbg_symbol *out);

/* A function that is inlined at a place. */
struct debug_inline {
	struct dbg_inline call;
	const char *function; /* NULL: unknown */
};
u32 debug_info_inlined(struct debug_info *d, struct dbg_place at,
		       struct debug_inline out[DBG_INLINE_MAX]);

#endif
