/*
 * The entry points of both CUDA interfaces, as runtime.def and driver.def have them: plentry_NAME
 * is what programs reach, through the libraries' names, cuGetProcAddress or a redirected runtime.
 * It makes the row's checks and calls the body, plrt_NAME or pldrv_NAME, which the files of
 * runtime/ define with RT_FN and DRV_FN.
 */
#ifndef PL_ENTRY_H
#define PL_ENTRY_H

#include "runtime/cuda_types.h"

#define RT_API __attribute__((visibility("default")))

/* What the parameters point to; each is declared by the files that look inside. */
struct alloc_node_params;
struct array3d_desc;
struct array3d_desc_v1;
struct array_desc;
struct array_desc_v1;
struct array_requirements;
struct batch_node_params;
struct box;
struct box_copy;
struct buffer_desc;
struct copy_3d_peer;
struct copy_attributes;
struct create_params;
struct drv_launch_config;
struct drv_copy3d;
struct drv_green;
struct drv_link;
struct drv_module;
struct external_desc;
struct external_memory;
struct func_attributes;
struct graph;
struct graph_edge_data;
struct graph_exec;
struct graph_node;
struct graph_node_params;
struct graph_object;
struct host_node_params;
struct instantiate_params;
struct kernel_node_params;
struct mem_array;
struct mem_mipmap;
struct memory_access;
struct memory_physical;
struct memory_physical_props;
struct memory_pool;
struct memory_pool_props;
struct memset_node_params;
struct plane;
struct pointer_attributes;
struct ref_array_desc;
struct resource;
struct resource_desc;
struct resources;
struct rt_launch_config;
struct rt_context;
struct rt_copy_3d;
struct rt_function;
struct rt_image;
struct rt_resource_desc;
struct sparse_properties;
struct stream;
struct stream_event;
struct texref;
struct texture_desc_drv;
struct texture_desc_rt;
struct update_info;
struct view_desc;
union drv_mem_op;
union launch_attr_value;

/* The head of a body's definition. */
#define RT_FN(name, params) cudaError_t plrt_##name params
#define DRV_FN(name, params) int pldrv_##name params

#define ENTRY_DECLARE(type, prefix, name, params)                                                  \
	RT_API type plentry_##name params;                                                         \
	type prefix##name params;
#define RT(name, params, args, checks) ENTRY_DECLARE(cudaError_t, plrt_, name, params)
#define RT_TYPED(type, name, params, args, checks) ENTRY_DECLARE(type, plrt_, name, params)
#define RT_VOID(name, params, args) ENTRY_DECLARE(void, plrt_, name, params)
#define RT_FOR(versions, public, name, params, args, checks) RT(name, params, args, checks)
#include "runtime/cudart/runtime.def"
#undef RT
#define DRV(name, params, args, checks) ENTRY_DECLARE(int, pldrv_, name, params)
#include "runtime/cuda/driver.def"
#undef DRV
#undef ENTRY_DECLARE

/*
 * Which copy of the runtime the thread called last: the version of a shared one, or the number of a
 * static one. Set by the names that programs call and by the stubs of redirected runtimes.
 */
extern RT_API _Thread_local u32 plrt_copy __attribute__((tls_model("initial-exec")));

#endif
