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
#define TWIN_indexed(body) EXEC_NAME(op_watch_indexed)
#define TWIN_affine(body) EXEC_NAME(op_watch_affine)
#define TWIN_wide(body) EXEC_NAME(op_watch_wide)
#define TWIN_load_shared(body) EXEC_NAME(op_watch_memory)
#define TWIN_store_shared(body) EXEC_NAME(op_watch_memory)
#define TWIN_load_generic(body) EXEC_NAME(op_watch_memory)
#define TWIN_store_generic(body) EXEC_NAME(op_watch_memory)
#define TWIN_atomic(body) EXEC_NAME(op_watch_memory)
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
#define TWIN_tex(body) EXEC_NAME(op_watch_tex)
#define TWIN_wmma(body) EXEC_NAME(op_watch_wmma)
#define TWIN_wgmma(body) EXEC_NAME(op_watch_wgmma)
#define TWIN_extern(body) EXEC_NAME(op_watch_extern)

/*
 * Where shared variables lie apart: what may touch shared memory has a handler that looks at where,
 * or runs as in an observed launch. WATCH(twin, body): which of both, of what diverged gangs leave
 * to their warps.
 */
#define APART_WATCH(twin, body) EXEC_NAME(op_watch_##twin)
#define APART_LEAVE(twin, body) body
#define APART_none(body, WATCH) body
#define APART_memory(body, WATCH) body
#define APART_indexed(body, WATCH) body
#define APART_affine(body, WATCH) body
#define APART_wide(body, WATCH) body
#define APART_sync(body, WATCH) body
#define APART_local(body, WATCH) body
#define APART_surf(body, WATCH) body
#define APART_tex(body, WATCH) body
#define APART_load_shared(body, WATCH) EXEC_NAME(op_apart_load_shared)
#define APART_store_shared(body, WATCH) EXEC_NAME(op_apart_store_shared)
#define APART_load_generic(body, WATCH) EXEC_NAME(op_apart_load_generic)
#define APART_store_generic(body, WATCH) EXEC_NAME(op_apart_store_generic)
#define APART_atomic(body, WATCH) EXEC_NAME(op_watch_memory)
#define APART_copy(body, WATCH) WATCH(copy, body)
#define APART_matrix(body, WATCH) WATCH(matrix, body)
#define APART_mbar(body, WATCH) WATCH(mbar, body)
#define APART_arrive(body, WATCH) WATCH(arrive, body)
#define APART_bulk(body, WATCH) WATCH(bulk, body)
#define APART_remote(body, WATCH) WATCH(remote, body)
#define APART_fill(body, WATCH) WATCH(fill, body)
#define APART_tensor(body, WATCH) WATCH(tensor, body)
#define APART_field(body, WATCH) WATCH(field, body)
#define APART_map(body, WATCH) WATCH(map, body)
#define APART_wmma(body, WATCH) WATCH(wmma, body)
#define APART_wgmma(body, WATCH) WATCH(wgmma, body)
#define APART_extern(body, WATCH) WATCH(extern, body)

#endif
