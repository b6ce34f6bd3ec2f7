/*
 * Where the bodies of a module's functions are, found without reading them. Private to grammar/.
 */
#ifndef PL_SKIM_H
#define PL_SKIM_H

#include "src/base/vec.h"

/* What stands in the place of a body where the rest of a module is read. */
#define SKIM_MARK '\1'

/* A definition of a function: offsets in the text. */
struct skim_body {
	u32 item;       /* the linkage directive, or .entry or .func */
	u32 begin, end; /* the opening brace; behind the closing one */
	bool failed;    /* it was read, and is wrong */
};

struct skim {
	VEC(struct skim_body) bodies; /* that can be read by themselves, in order */
	/* What reading them adds to the module at most. */
	u64 vars, locs;
};

/*
 * Finds them. False: the text is not one that can be read in parts, or memory is out. The caller
 * frees `bodies` in either case.
 */
bool skim_module(struct skim *s, const char *text, size_t n);

#endif
