/*
 * Private to model*.c and source.c.
 */
#ifndef PL_COVER_MODEL_INT_H
#define PL_COVER_MODEL_INT_H

#include "src/cover/model.h"

/*
 * The file of the model that a path of .file means; IR_NONE: it is left out, or there is no memory.
 */
u32 cover_file_of(struct cover_model *m, const struct cover_choice *c, const char *path);
/* A file that is the text of a module itself. */
u32 cover_file_whole(struct cover_model *m, const char *path);
/* The root, and whether it is the working folder. False: no memory. */
bool cover_find_root(struct cover_model *m, const struct cover_choice *c);
void cover_tally_add(struct cover_tally *to, const struct cover_tally *from);
void cover_function_free(struct cover_function *f);
/*
 * Sort files, lines, sites and functions, and add up what is there twice; apart: not functions.
 * False: no memory.
 */
bool cover_merge(struct cover_model *m, bool apart);
/* Tell the files which part of the sorted lists is theirs. */
void cover_note_files(struct cover_model *m);
/* Read sources, and drop what markers exclude. */
void cover_read_sources(struct cover_model *m);
/* Drop a line, the branches of a line, of a file. */
struct cover_marks {
	bool *line, *branch; /* by line, of `len` */
	u32 len;
};

#endif
