/*
 * Lines of programs of the host, by the DWARF of their files.
 */
#ifndef PL_HOST_LINES_H
#define PL_HOST_LINES_H

#include "src/base/host_line.h"

/*
 * What looks them up (host_line_finder); NULL without libdw. It is loaded by this call, not when
 * something is looked up. One thread at a time may use it.
 */
host_line_finder *host_lines_open(void);
void host_lines_close(void);

#endif
