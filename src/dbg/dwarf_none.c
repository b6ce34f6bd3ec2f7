/*
 * A build without libdw: DWARF is there, but not read.
 */
#include "src/dbg/dwarf_int.h"

struct debug_info *debug_info_open(const struct ir_module *m, struct arena *arena PL_UNUSED,
				   struct text *why)
{
	for (size_t i = 0; i < m->sections.len; i++)
		if (!strcmp(m->sections.at[i]->name->text, ".debug_info")) {
			text_puts(why, "names of the source are not read: "
				       "ptxloom was built without libdw (libdw-dev)");
			break;
		}
	return NULL;
}

void debug_info_close(struct debug_info *d PL_UNUSED)
{
}

bool debug_info_find_local(struct debug_info *d PL_UNUSED, struct dbg_place at PL_UNUSED,
			   u32 inlined PL_UNUSED, const char *name PL_UNUSED,
			   struct dbg_variable *out PL_UNUSED)
{
	return false;
}

bool debug_info_find_global(struct debug_info *d PL_UNUSED, const char *name PL_UNUSED,
			    struct dbg_variable *out PL_UNUSED)
{
	return false;
}

void debug_info_locals(struct debug_info *d PL_UNUSED, struct dbg_place at PL_UNUSED,
		       u32 inlined PL_UNUSED, dbg_variable_visitor *see PL_UNUSED,
		       void *user PL_UNUSED)
{
}

struct dbg_type *debug_info_type(struct debug_info *d PL_UNUSED, const char *name PL_UNUSED)
{
	return NULL;
}

bool debug_info_enumerator(struct debug_info *d PL_UNUSED, const char *name PL_UNUSED,
			   struct dbg_type **type PL_UNUSED, s64 *value PL_UNUSED)
{
	return false;
}

const char *debug_info_function(struct debug_info *d PL_UNUSED, const struct ir_func *f PL_UNUSED)
{
	return NULL;
}

struct dbg_type *debug_info_result(struct debug_info *d PL_UNUSED,
				   const struct ir_func *f PL_UNUSED)
{
	return NULL;
}

struct dbg_type *debug_info_function_type(struct debug_info *d PL_UNUSED,
					  const struct ir_func *f PL_UNUSED)
{
	return NULL;
}

bool debug_info_find_static(struct debug_info *d PL_UNUSED, const struct ir_func *f PL_UNUSED,
			    const char *name PL_UNUSED, struct dbg_variable *out PL_UNUSED)
{
	return false;
}

struct dbg_type *debug_info_type_argument(struct debug_info *d PL_UNUSED,
					  struct dbg_place at PL_UNUSED, u32 inlined PL_UNUSED,
					  const char *name PL_UNUSED)
{
	return NULL;
}

u32 debug_info_inlined(struct debug_info *d PL_UNUSED, struct dbg_place at PL_UNUSED,
		       struct debug_inline out[DBG_INLINE_MAX] PL_UNUSED)
{
	return 0;
}

void debug_info_symbols(struct debug_info *d PL_UNUSED, enum dbg_symbols kind PL_UNUSED,
			dbg_symbol_visitor *see PL_UNUSED, void *user PL_UNUSED)
{
}

bool debug_info_declared(struct debug_info *d PL_UNUSED, const struct ir_func *f PL_UNUSED,
			 struct dbg_symbol *out PL_UNUSED)
{
	return false;
}
