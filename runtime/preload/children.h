/*
 * Compilers that programs start keep the PTX in what they make.
 */
#ifndef PL_CHILDREN_H
#define PL_CHILDREN_H

/* Find the functions that start programs; once, before any of them is called. */
void children_watch(void);

#endif
