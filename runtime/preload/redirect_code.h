/*
 * Overwriting functions with jumps. Private to the preloaded library.
 *
 * Every function of an object that is to lead elsewhere gets a stub, which says whose call it is
 * and jumps on; the stubs lie within reach, so that five bytes of the function are all that is
 * overwritten. Its other instructions can then not be reached: a thread that is in the middle
 * of them cannot be there, because an object is treated before anything of it has run.
 */
#ifndef PL_REDIRECT_CODE_H
#define PL_REDIRECT_CODE_H

#include "src/base/base.h"

#define CODE_JUMP_BYTES 5u

struct code_site {
	u8 *code;
	const void *to;
	const char *name; /* for messages */
};

/* The calls that come from one object. */
struct code_caller {
	s64 place; /* of the word of a thread that says whose call it is, from the thread's base */
	u32 mark;  /* what it is to say */
};

/* Stubs of one object; bytes 0: none. */
struct code_stubs {
	u8 *at;
	size_t bytes;
};

/*
 * Overwrite `n` functions in the executable pages [first, last). False: nothing has been changed,
 * and *why says what is the matter.
 */
bool code_redirect(const struct code_site *sites, size_t n, const struct code_caller *who,
		   const u8 *first, const u8 *last, struct code_stubs *out, const char **why);
/* Give stubs back whose object is gone. */
void code_stubs_free(struct code_stubs *s);
/*
 * Bytes of code that do nothing and that nothing jumps to: after `ret`, up to a multiple of 16. 0:
 * something else.
 */
u32 code_padding(const u8 *code);

#endif
