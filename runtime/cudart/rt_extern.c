/*
 * Functions of the device runtime that kernels call and that concern the interfaces' objects.
 */
#include "runtime/rt.h"
#include "src/dev/graph/graph.h"
#include "src/dev/module/nested.h"

#include <stdio.h>

/* void cudaGraphSetConditional(cudaGraphConditionalHandle handle, unsigned value) */
static enum fault_kind set_conditional(struct exec_call *c)
{
	u64 handle = exec_call_argument(c, 0);
	struct fault *f = c->gang->fault;

	if (graph_condition_set(rt_get()->streams, handle, (u32)exec_call_argument(c, 1)))
		return FAULT_NONE;
	snprintf(f->text, sizeof(f->text),
		 "cudaGraphSetConditional: 0x%llx is not a handle of a condition",
		 (unsigned long long)handle);
	return FAULT_TRAP;
}

const struct exec_extern rt_externs[] = {
	{"cudaGraphSetConditional", set_conditional},
	{"cudaFuncGetAttributes", rt_nested_attributes_11},
	{"__cudaCDP2FuncGetAttributes", rt_nested_attributes},
	{"cudaGraphLaunch", graph_device_launch},
	{"cudaGraphKernelNodeSetParam", graph_device_set_param},
	{"cudaGraphKernelNodeSetEnabled", graph_device_set_enabled},
	{"cudaGraphKernelNodeSetGridDim", graph_device_set_grid},
	{"cudaGraphKernelNodeUpdatesApply", graph_device_apply},
/* As PTX names them: before CUDA 12, and since. */
#define NESTED(name, function)                                                                     \
	{"cuda" #name, function}, {"__cudaCDP2" #name, function},                                  \
		{"cuda" #name "_ptsz", function}, {"__cudaCDP2" #name "_ptsz", function},
#include "src/dev/module/nested.def"
#undef NESTED
	{NULL, NULL},
};
