/*
 * Where a function's lanes can be counted: at the beginnings of its basic blocks, and where a
 * predicate or an index decides what lanes do. Sites follow from the text alone, so that what was
 * counted can be read without the program that counted it.
 */
#ifndef PL_LOWER_SITES_H
#define PL_LOWER_SITES_H

#include "src/ir/ir.h"

enum site_kind {
	SITE_BLOCK,  /* lanes come to the instruction */
	SITE_BRANCH, /* lanes that take a conditional bra, and those that do not */
	SITE_GUARD,  /* lanes for which another guarded instruction runs */
	SITE_SELECT, /* lanes for which selp takes its first operand */
	SITE_INDEX,  /* lanes of brx.idx: a count for each entry of the table */
	SITE_KINDS,
};

struct lower_site {
	u32 ir;         /* instruction */
	u32 at, counts; /* the first of its counts among those of the function, and how many */
	u8 kind;        /* enum site_kind */
};

struct lower_sites {
	struct lower_site *at; /* by instruction, a block first; owned */
	u32 len, counts;
};

/* False: the host has no memory. To be freed either way. */
bool lower_sites_find(struct lower_sites *s, const struct ir_func *f);
void lower_sites_free(struct lower_sites *s);
/* The first site of an instruction; s->len: it has none. */
u32 lower_sites_of(const struct lower_sites *s, u32 ir);
/* Labels that something jumps to, by number; to be freed. NULL: the host has no memory. */
bool *lower_used_labels(const struct ir_func *f);

#endif
