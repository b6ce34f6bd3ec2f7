/*
 * The connection of a debugged process with the front end: a Unix stream socket, and frames on it.
 *
 * A frame: length of what follows (u32, little endian), kind (u8), payload.
 */
#ifndef PL_DEBUGGER_LINK_H
#define PL_DEBUGGER_LINK_H

#include "src/base/text.h"

/* From the front end to the process. */
#define LINK_COMMAND 'c'   /* a command line */
#define LINK_INTERRUPT 'i' /* stop as soon as possible; at any time */
#define LINK_COMPLETE 'k'  /* a line so far, to be completed */
#define LINK_QUERY 'q'     /* JSON */
#define LINK_PRINTED 'p'   /* the text of one LINK_OUTPUT is where the program's own output goes */
/* To the front end. */
#define LINK_HELLO 'h'  /* the first frame: process and version */
#define LINK_OUTPUT 'o' /* text */
/*
 * The answer to a command, when the program stands again: "stopped FILE\tLINE\tPTXFILE\tPTXLINE"
 * (empty and 0 where unknown), "host" (it stands, but no launch runs) or "more" (lines up to `end`
 * are wanted); "\tfailed" follows when the command has printed an error.
 */
#define LINK_DONE 'd'
#define LINK_RUNS 'r'        /* the command lets the program go on: the answer takes its time */
#define LINK_COMPLETIONS 'K' /* one a line */
#define LINK_JSON 'j'
/*
 * Both ways: stops, displays and settings as lines of commands; to the process once, after hello.
 */
#define LINK_STATE 's'

#define LINK_PAYLOAD_MAX (16u << 20)

struct link_frame {
	u8 kind;
	u32 len;
	char *payload; /* owned, with a NUL after */
};

/* False: the connection has ended. */
bool link_send(int fd, u8 kind, const void *payload, size_t len);
/*
 * Wait for a frame. False: the connection has ended; `why` has a line when that is not in order.
 * kinds: those that may come. The caller frees the payload, also after false.
 */
bool link_receive(int fd, const char *kinds, struct link_frame *out, struct text *why);
void link_frame_fini(struct link_frame *f);

#endif
