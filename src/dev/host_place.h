/*
 * Places in the code of the host program.
 */
#ifndef PL_DEV_HOST_PLACE_H
#define PL_DEV_HOST_PLACE_H

#include "src/base/text.h"

/*
 * Add "main+0x45 of ./program (addr2line -fCe ./program 0x1185)" for the return address of a call:
 * the function, if the file has symbols, and how to see the line. Nothing when no file is mapped
 * there. Asks the kernel and the file, not the loader, whose lock a thread that waits for the
 * caller may hold.
 */
void host_place_say(const void *return_address, struct text *out);

#endif
