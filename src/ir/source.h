/*
 * What .file and .loc say of the source: paths, and names of functions that were inlined.
 */
#ifndef PL_IR_SOURCE_H
#define PL_IR_SOURCE_H

#include "src/ir/ir.h"

/* The line of the PTX text that a byte is on, from 1 on. Quick also where many are asked for. */
u32 ir_line_of(const struct ir_module *m, u32 offset);

/* The path of .file `number` as the compiler wrote it, NULL: there is no such directive. */
const char *ir_file_path(const struct ir_module *m, u32 number);

/* The place, NULL when the index is IR_NONE or the line is 0: the compiler's own code. */
const struct ir_loc *ir_loc_at(const struct ir_module *m, u32 index);

/* The linkage name of the function that was inlined, out of .debug_str; NULL: not told. */
const char *ir_loc_function(const struct ir_module *m, const struct ir_loc *l);

/* Is it a header that users have not written: the compilers', CUDA's, the system's, our own? */
bool ir_is_toolkit_path(const char *path);

/* Is the place in another file than those? */
bool ir_loc_is_users(const struct ir_module *m, const struct ir_loc *l);

/*
 * Of a module with lines: are all lines of the function such a header's, wherever they were
 * inlined, or has it no line, as what a compiler makes of atomicAdd?
 */
bool ir_func_is_of_toolkit(const struct ir_module *m, const struct ir_func *f);

#endif
