/*
 * Windows of the second cache that launches have: their own, those of their streams, and of nodes
 * of graphs.
 */
#ifndef PL_DEV_WINDOW_H
#define PL_DEV_WINDOW_H

#include "src/arch/window.h"

struct exec_env;
struct stream;

/* Its number among attributes of streams, launches and nodes, the same in both interfaces. */
#define WINDOW_ATTR 1u

/* From and to values of that attribute, 64 bytes. */
struct access_window window_read(const void *value);
void window_write(const struct access_window *w, void *value);

/* Has the stream kept any attribute? */
bool window_may_be_kept(const struct stream *s);
/* The next launch that the thread issues (stream_launch) has this window; borrowed up to then. */
void window_give(const struct access_window *w);
/* The one that was given, NULL: none was. Once. */
const struct access_window *window_take(void);
/* That of a launch under way; NULL: it has none. */
const struct access_window *window_of(const struct exec_env *e);

#endif
