/*
 * Dynamic parallelism: grids and memory operations that kernels launch, and the other functions of
 * the device's runtime.
 *
 * What the threads of a grid launch is enqueued, and runs when the grid has ended, one after the
 * other and each with all it has launched itself; then what was to be its tail. The grid that began
 * it ends for those who wait when all of that has ended. So streams of device code are all in
 * order, and a child sees what its parent wrote. A fault ends the family. Deviation: children do
 * not run beside their parent, except while it waits for them. Source: CUDA C++ Programming Guide,
 * "CUDA Dynamic Parallelism".
 */
#ifndef PL_DEV_NESTED_H
#define PL_DEV_NESTED_H

#include "src/dev/device.h"

struct device_flight;

/* Graphs that kernels launch and change: graph_device.c. */
exec_extern_fn graph_device_launch, graph_device_set_param, graph_device_set_enabled,
	graph_device_set_grid, graph_device_apply;
/* What %current_graph_exec is in the kernels of a launch (struct device_flight *). */
u64 graph_device_current(const void *flight);

/* The functions that kernels call, by the names in nested.def. */
#define NESTED(name, function) exec_extern_fn function;
#include "src/dev/module/nested.def"
#undef NESTED

/*
 * For other functions that kernels call: return an error code to device code; others than 0 are its
 * last error.
 */
enum fault_kind nested_answer(struct exec_call *c, u32 status);
/*
 * The kernel that device code has this address of, for functions that it calls; NULL: it is not
 * one.
 */
struct device_kernel *nested_kernel(const struct exec_call *c, u64 address);

/*
 * The grid_id of the grid whose kernel has launched this one (struct device_flight *); 0: the host
 * has.
 */
u64 nested_parent(const void *flight);
/* The grid_id of the grid of its family that the host has launched, its own perhaps. */
u64 nested_root(const void *flight);
/*
 * The host's call that has launched it (struct device_flight *), or the grid above it from which
 * all others of its family come.
 */
struct host_from nested_from(const void *flight);

/*
 * A grid of a family has ended without a fault; it is the one that began it. Returns false when it
 * has launched nothing: it is over. Else it is finished later.
 */
bool nested_continue(struct device_flight *root);
/* Forget what is left: the grid that began the family has faulted. NULL is allowed. */
void nested_drop(struct device_flight *root);

#endif
