/*
 * Counting what a process runs: PTXLOOM_COVERAGE. After each launch its counts are added to the
 * profile of the process, so that a process that is killed loses those of running launches only.
 */
#ifndef PL_COVER_COLLECT_H
#define PL_COVER_COLLECT_H

#include "src/dev/device.h"

struct cover_collect;

/* NULL when nothing is asked for, or with a line in `why`: it cannot be written. */
struct cover_collect *cover_open(struct text *why);
/* Count on this device, from its first program on. Other fields of it must have been set. */
void cover_device(struct cover_collect *c, struct device *d);
/* A text that the program has, if nothing of it is ever loaded. */
void cover_note_text(struct cover_collect *c, const char *text, size_t size);
/* After the last launch. NULL is allowed. */
void cover_close(struct cover_collect *c);
/*
 * The file that a pattern means in this process: %p its number, %h the host, %Nm a number below N,
 * %% a percent sign; a folder means FOLDER/%h-%p.ptxcov. To be freed. NULL, with a line in `why`.
 */
char *cover_path(const char *pattern, struct text *why);

#endif
