/*
 * What tables of handlers are made of: mode_tables.inc lists them, with TABLE_LANE and TABLE_UOP
 * defined by the includer. Included by handler files only.
 */
#ifndef PL_OPS_TABLES_H
#define PL_OPS_TABLES_H

#include "src/ops/lanes.h"

/* Lane operations in masked mode, by their result: predicates are written lane by lane anyway. */
#define MASKED_W(id) EXEC_NAME(op_masked_w)
#define MASKED_X(id) EXEC_NAME(op_masked_x)
#define MASKED_P(id) EXEC_NAME(op_##id)
#define MASKED_OF(shape, id) MASKED_##shape(id)

/* In ordered mode: what lanes that wait do not read is written for all lanes. */
#define ORDERED_W(id) EXEC_NAME(op_ordered_w)
#define ORDERED_X(id) EXEC_NAME(op_ordered_x)
#define ORDERED_P(id) EXEC_NAME(op_##id)

/* The first letter of a shape is its result: RESULT_W_WW is W. */
#include "src/uop/table/shapes.def"

/* The body for gangs, and the one for single warps. */
#define GANG_BODY_ONE(id) EXEC_NAME(op_##id)
#define GANG_BODY_MODAL(id) EXEC_NAME(op_##id##_gang)
#define WARP_BODY_ONE(id) EXEC_NAME(op_##id)
#define WARP_BODY_MODAL(id) EXEC_NAME(op_##id##_warp)

/* In an observed launch: the twin, or the body if there is none. */
#define TWIN_none(body) body
#define TWIN_memory(body) EXEC_NAME(op_watch_memory)
#define TWIN_copy(body) EXEC_NAME(op_watch_copy)
#define TWIN_matrix(body) EXEC_NAME(op_watch_matrix)
#define TWIN_sync(body) EXEC_NAME(op_watch_sync)
#define TWIN_mbar(body) EXEC_NAME(op_watch_mbar)
#define TWIN_arrive(body) EXEC_NAME(op_watch_arrive)
#define TWIN_local(body) EXEC_NAME(op_watch_local)
/* Twins that are beside their bodies. */
#define TWIN_bulk(body) EXEC_NAME(op_watch_bulk)
#define TWIN_remote(body) EXEC_NAME(op_watch_remote)
#define TWIN_fill(body) EXEC_NAME(op_watch_fill)
#define TWIN_tensor(body) EXEC_NAME(op_watch_tensor)
#define TWIN_field(body) EXEC_NAME(op_watch_field)
#define TWIN_map(body) EXEC_NAME(op_watch_map)
#define TWIN_surf(body) EXEC_NAME(op_watch_surf)
#define TWIN_wmma(body) EXEC_NAME(op_watch_wmma)
#define TWIN_wgmma(body) EXEC_NAME(op_watch_wgmma)
#define TWIN_extern(body) EXEC_NAME(op_watch_extern)

#endif
