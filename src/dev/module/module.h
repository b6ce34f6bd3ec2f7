/*
 * PTX text into modules: what tools and the runtime use of the front end.
 */
#ifndef PL_DEV_MODULE_H
#define PL_DEV_MODULE_H

#include "src/ir/ir.h"

/*
 * How strict to be. To judge: what ptxas refuses is an error. To load: instructions that no table
 * knows become poison, which faults when executed, and instructions and directives may be newer
 * than the module's .version and .target say.
 */
enum module_use { MODULE_JUDGE, MODULE_LOAD };

/*
 * Parses, resolves and checks one module. `source` is borrowed and must outlive the module; a NUL
 * byte ends it. Errors go to `d`. Returns NULL when there was one; else the caller frees the module
 * with ir_module_free.
 */
struct ir_module *module_parse(const struct diag_source *source, enum module_use use,
			       struct diag *d);

struct ptx_later;

/*
 * The same to load it, without the bodies of functions; NULL, without a message: the text is to be
 * parsed whole. See ptx_parse_later.
 */
struct ir_module *module_parse_later(const struct diag_source *source, struct ptx_later **later);
/*
 * Reads what a kernel needs of such a module: its own body, those of what it calls or mentions, all
 * of them where it calls through a pointer. False: one of them has errors, which went to `d`, or
 * did so before.
 */
bool module_read_reached(struct ptx_later *later, struct ir_module *m, struct ir_func *kernel,
			 struct diag *d);

#endif
