/*
 * All that streams, events and their work ask of graphs and captures. Private to src/dev; what
 * programs ask is in graph.h, and what graphs are inside (graph_int.h) is for the graphs' own files
 * alone. The other way, graphs use streams through stream_int.h; the work of graphs comes to its
 * turn through streams->expand.
 */
#ifndef PL_DEV_GRAPH_STREAM_H
#define PL_DEV_GRAPH_STREAM_H

#include "src/dev/stream/stream_int.h"

/* ---- graph.c ---- */

/* Make all->graphs and set all->expand. False: no memory. */
bool graphs_init(struct streams *all);
void graphs_fini(struct streams *all);

/* ---- graph_object.c ---- */

/* The device goes, and the memory of its graphs with it. */
void graph_memory_forget(struct stream_device *d);

/* ---- capture.c: these take graphs->lock ---- */

/* Instead of issuing, while a stream captures: the work becomes a node of the graph. */
enum status capture_add(struct stream *s, const struct graph_action *action);
/* A kernel, with its window of the second cache; NULL: none. */
enum status capture_add_kernel(struct stream *s, const struct graph_action *action,
			       const struct access_window *window);
enum status capture_record(struct stream_event *e, struct stream *s, u32 flags);
enum status capture_wait_event(struct stream *s, struct stream_event *e, u32 flags);
/*
 * A call that a capturing stream forbids: it invalidates the capture. Returns `error`, or success
 * without one.
 */
enum status capture_forbid(struct stream *s, enum status error);
/* Work for the default stream while a blocking one captures. */
enum status capture_check_legacy(struct stream *s);
/* The stream is destroyed, and a capture that began in it with it. */
void capture_leave(struct stream *s);
/* An event of a capture was asked about, which invalidates the capture. */
enum status capture_invalidate(struct stream_event *e);
/* The event is recorded elsewhere or destroyed. */
void capture_forget_event(struct stream_event *e);

#endif
