/*
 * The process's end of the connection: frames come from a thread that reads them.
 */
#ifndef PL_DEBUGGER_ATTACH_H
#define PL_DEBUGGER_ATTACH_H

#include "src/base/vec.h"
#include "src/debugger/debugger.h"
#include "src/debugger/link.h"

#include <pthread.h>

struct attachment {
	int fd;
	pthread_mutex_t lock;
	pthread_cond_t come;
	VEC(struct link_frame) queue;
	pthread_t thread;
	bool listens;
	bool closing;      /* by us; atomic */
	bool cut;          /* the connection has ended; atomic */
	bool interrupted;  /* the front end wants a stop; atomic */
	u32 sent, printed; /* texts; guarded by lock */
	bool is_slow;      /* it has not said in time that it has printed one */
	/* An interrupt, or the end: called by the listening thread. */
	void (*on_interrupt)(void *user);
	void *user;
};

/*
 * Take the socket that PTXLOOM_DEBUG names, or, with PTXLOOM_DEBUG_WAIT, wait for a front end; say
 * hello, and listen. False with a line in `why`.
 */
bool attachment_open(struct attachment *a, struct text *why);
/* No thread may be waiting. */
void attachment_close(struct attachment *a);
/* Wait for the next frame, which the caller frees. False: the connection has ended. */
bool attachment_receive(struct attachment *a, struct link_frame *out);
bool attachment_send(struct attachment *a, u8 kind, const void *payload, size_t len);
/* Wait until what was sent is printed, so that what the program prints next comes after it. */
void attachment_wait_printed(struct attachment *a);

#endif
