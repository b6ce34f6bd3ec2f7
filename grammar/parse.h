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

/* What is left to be read of a module. */
struct ptx_later;

/*
 * The same without the bodies of most functions, which have `later` set (struct ir_func) until they
 * are read. NULL, and nothing is reported: the text has errors or warnings outside of these bodies,
 * or is not one that can be read in parts; ptx_parse has to read it. The caller frees both, *later
 * first. One thread at a time may use *later, or look up names in the module; the others may use
 * what they have of it, and vars, locs and funcs by their indices, but not how many there are.
 */
struct ir_module *ptx_parse_later(const struct diag_source *source,
				  const struct ptx_options *options, struct ptx_later **later);
/*
 * Read the body of a function with `later` set: f remains where it is. False: it has errors, which
 * go to `d` the first time it is read, and it stays as it was.
 */
bool ptx_read_body(struct ptx_later *l, struct ir_func *f, struct diag *d);
/* Of the text that has not been read. */
u64 ptx_later_bytes(const struct ptx_later *l);
void ptx_later_free(struct ptx_later *l);

#endif
