/*
 * Private to src/sched: weak memory. A launch whose schedule asks for it (weak:SEED:..) sees device
 * memory as CTAs on multiprocessors of their own may see it by the PTX memory model:
 *
 * - Stores of a CTA to global memory wait in its *store buffer*, each for a number of visible
 *   operations that is drawn when it is issued. Its own loads see them; those of other CTAs see
 *   memory. Stores to one location keep their order, others do not. What fences for more than the
 *   CTA, or releases to more, empties the buffer of the whole CTA, so that releases are cumulative.
 *   Atomics act in memory, behind the CTA's own stores to that location.
 * - Weak loads may keep the sector of 32 bytes that they read as a *line* of the CTA, and later
 *   ones may read it again: stale, if another CTA has written it since, even after strong loads.
 *   What acquires from more than the CTA, or fences so, drops the lines; `.nc` keeps them to the
 *   end.
 *
 * Bulk and tensor copies see memory as it is: a missing proxy fence shows. Not modelled: loads that
 * are done before earlier ones of their thread, memory that two readers see in different orders,
 * torn values; shared memory, of which a CTA has one view.
 *
 * How: one thread runs everything under a schedule. Before a load the bytes that the CTA would see
 * are put into memory, after it those that were there; after a store its bytes are taken out.
 *
 * Source: PTX ISA "Memory Consistency Model"; "GPU Concurrency: Weak Behaviours and Programming
 * Assumptions", ASPLOS 2015.
 */
#ifndef PL_WEAK_H
#define PL_WEAK_H

#include "src/exec/observer.h"

struct debug_grid;
struct steer_notes;
struct weak;

/* For a launch. NULL: no memory. */
struct weak *weak_new(void);
/* It begins. */
void weak_begin(struct weak *w, u64 seed);
void weak_free(struct weak *w);
/* A copy, for a debugger that goes back. NULL: no memory. Nothing may be under way. */
struct weak *weak_clone(const struct weak *w);

/* An access is about to take place. */
void weak_access(struct debug_grid *d, const struct exec_access *a);
/* The micro-op that it was of has ended; cheap if it was none. */
void weak_settle(struct weak *w);
void weak_sync(struct debug_grid *d, const struct exec_sync *s);
/* A visible operation begins: stores whose time has come reach memory. */
void weak_step(struct weak *w);
/* The CTA calls what reads its memory from outside, as printf does. */
void weak_publish(struct weak *w, u64 cta);
/* All stores reach memory. */
void weak_drain(struct weak *w);

#endif
