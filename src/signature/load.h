/*
 * All tables of signatures that there are.
 */
#ifndef PL_SIGNATURE_LOAD_H
#define PL_SIGNATURE_LOAD_H

#include "src/base/file.h"
#include "src/signature/signature.h"

/* The files that a set refers to. */
struct signature_tables {
	VEC(struct file) files;
};

/*
 * Read the built-in table and those in the user's folder. False: one of them is wrong and left out;
 * `why` names it and the line.
 */
bool signature_load(struct signature_set *set, struct signature_tables *tables, struct text *why);
void signature_unload(struct signature_set *set, struct signature_tables *tables);

#endif
