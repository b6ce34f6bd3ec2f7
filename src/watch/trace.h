/*
 * An observer that writes down every access to memory and every wait, one line each:
 *
 *   load global 4 | cta 0,0,0 warp 1 lanes ffffffff | k+7 line 12 | 0x7f0012340000 ..
 *
 * space and bytes of a lane; who; the kernel or function, micro-op and line of the PTX; addresses
 * of the lanes in ascending order. Waits have the mnemonic and no addresses.
 */
#ifndef PL_WATCH_TRACE_H
#define PL_WATCH_TRACE_H

#include "src/exec/observer.h"

#include <stdio.h>

struct watch_trace {
	FILE *to; /* borrowed */
	pthread_mutex_t lock;
	struct exec_observer observer;
};

void watch_trace_init(struct watch_trace *t, FILE *to);
void watch_trace_fini(struct watch_trace *t);

#endif
