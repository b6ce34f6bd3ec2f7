/*
 * Places in the code of the host program.
 */
#ifndef PL_DEV_HOST_PLACE_H
#define PL_DEV_HOST_PLACE_H

#include "src/base/text.h"

/* An address of the process as one of a file. */
struct host_place {
	char path[4096];
	u64 address; /* of the file, as its symbols have it */
	char *name;  /* of the function that has it, as the linker knows it; NULL: unknown */
	u64 start;   /* of the function */
};

/*
 * The place of the call that returns to this address; `address` is that of the call's last byte.
 * False when no ELF file is mapped there. The name is the caller's to free. Asks the kernel and the
 * file, not the loader, whose lock a thread that waits for the caller may hold.
 */
bool host_place_find(const void *return_address, struct host_place *out);

/*
 * Add "main+0x45 of ./program (addr2line -fCe ./program 0x1185)" for the return address of a call:
 * the function, if the file has symbols, and how to see the line. Nothing when no file is mapped
 * there.
 */
void host_place_say(const void *return_address, struct text *out);

#endif
