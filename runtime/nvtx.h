/*
 * What the modules of NVTX share.
 */
#ifndef PL_RUNTIME_NVTX_H
#define PL_RUNTIME_NVTX_H

#include "src/base/base.h"

/*
 * A text of NVTX's kinds (nvtxMessageType_t) in UTF-8; "": there is none. *made: what has to be
 * freed. NULL: no memory.
 */
const char *nvtx_text(u32 type, const void *text, char **made);

#endif
