/*
 * The only door to the PTX front end: text in, checked module out. Reentrant, no statics.
 */
#ifndef PL_PARSE_H
#define PL_PARSE_H

#include "src/ir/ir.h"

struct ptx_options {
	bool lint; /* unknown instructions and unmet versions or targets are errors, not poison */
	size_t memory_limit; /* bytes of the module, 0: 4 GiB */
	u32 nesting_limit;   /* of { } and expressions, 0: 256 */
};

/*
 * Parse, resolve and type-check one PTX module.
 * source: borrowed, must outlive the module (messages and poison point into it); at most 2 GiB; a
 * NUL byte ends it. Errors go to `d`; several are reported, up to its limit.
 * Returns NULL when there was an error. The caller frees the module with ir_module_free.
 */
struct ir_module *ptx_parse(const struct diag_source *source, const struct ptx_options *options,
			    struct diag *d);

#endif
