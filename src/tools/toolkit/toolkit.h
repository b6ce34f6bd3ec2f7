/*
 * A folder that build systems take for a CUDA toolkit: bin/nvcc, include, lib64.
 */
#ifndef PL_TOOLS_TOOLKIT_H
#define PL_TOOLS_TOOLKIT_H

#include "src/tools/cc/cc.h"

/* The folder, without a final slash. False: not found. */
bool tool_find_toolkit(char *out, size_t size);

#endif
