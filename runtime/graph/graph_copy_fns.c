/*
 * Copy and fill nodes of graphs.
 */
#include "runtime/graph/graph_api.h"

/* ---- copies ---- */

static int copy_add(bool driver, struct graph_node **out, struct graph *g,
		    const struct graph_after *after, const void *p)
{
	struct graph_maker m;

	return node_add(out, g, after, action_copy(driver, p, &m.action, &m.room.copy), &m.action);
}

static int copy_set(bool driver, struct graph_exec *x, struct graph_node *node, const void *p)
{
	struct graph_maker m;
	int status = action_copy(driver, p, &m.action, &m.room.copy);

	return x ? exec_change(x, node, status, &m.action) : node_change(node, status, &m.action);
}

static int copy_get(bool driver, struct graph_node *node, void *out)
{
	return node_look(node, GRAPH_COPY) ? copy_params(driver, node, out) : STATUS_INVALID_VALUE;
}

/* What is not an executable graph must not be taken for "none given". */
static int copy_set_exec(bool driver, struct graph_exec *x, struct graph_node *node, const void *p)
{
	return graph_exec_is(GRAPHS, x) ? copy_set(driver, x, node, p) : STATUS_INVALID_VALUE;
}

GRAPH_RT_FN(GraphAddMemcpyNode,
	    (struct graph_node * *out, struct graph *g, DEPS, const struct rt_copy_3d *p),
	    copy_add(DRIVER, out, g, AFTER(deps, n), p))
GRAPH_DRV_FN(GraphAddMemcpyNode,
	     (struct graph_node * *out, struct graph *g, DEPS, const struct drv_copy3d *p,
	      void *context),
	     ((void)context, copy_add(DRIVER, out, g, AFTER(deps, n), p)))
GRAPH_FN(GraphMemcpyNodeGetParams, (struct graph_node * node, void *p), copy_get(DRIVER, node, p))
GRAPH_FN(GraphMemcpyNodeSetParams, (struct graph_node * node, const void *p),
	 copy_set(DRIVER, NULL, node, p))
GRAPH_RT_FN(GraphExecMemcpyNodeSetParams,
	    (struct graph_exec * x, struct graph_node *node, const struct rt_copy_3d *p),
	    copy_set_exec(DRIVER, x, node, p))
GRAPH_DRV_FN(GraphExecMemcpyNodeSetParams,
	     (struct graph_exec * x, struct graph_node *node, const struct drv_copy3d *p,
	      void *context),
	     ((void)context, copy_set_exec(DRIVER, x, node, p)))

/* Plain copies of the runtime interface, by addresses. */
static struct rt_copy_3d node_linear_copy(void *dst, const void *src, size_t bytes, int kind)
{
	return (struct rt_copy_3d){
		.src.ptr = {(void *)(uintptr_t)src, bytes, bytes, 1},
		.dst.ptr = {dst, bytes, bytes, 1},
		.extent = {bytes, 1, 1},
		.kind = kind,
	};
}

/* One side is a variable of the program. */
static int node_symbol_copy(bool to_symbol, const void *symbol, const void *other, size_t bytes,
			    size_t offset, int kind, struct rt_copy_3d *out)
{
	u64 address, size;
	int status = rt_find_symbol(symbol, &address, &size);

	if (status)
		return status;
	if (offset > size || bytes > size - offset)
		return STATUS_INVALID_VALUE;
	if (kind == cudaMemcpyHostToHost)
		return cudaErrorInvalidMemcpyDirection;
	address += offset;
	*out = to_symbol ? node_linear_copy((void *)(uintptr_t)address, other, bytes, kind)
			 : node_linear_copy((void *)(uintptr_t)other,
					    (const void *)(uintptr_t)address, bytes, kind);
	return STATUS_SUCCESS;
}

/* How the two sides of a plain copy are named. */
struct sides {
	const void *symbol; /* NULL: both by address */
	bool to_symbol;
	void *dst;
	const void *src;
	size_t bytes, offset;
	int kind;
};

static int describe_copy(const struct sides *s, struct rt_copy_3d *p)
{
	*p = node_linear_copy(s->dst, s->src, s->bytes, s->kind);
	if (!s->symbol)
		return STATUS_SUCCESS;
	return node_symbol_copy(s->to_symbol, s->symbol, s->to_symbol ? s->src : s->dst, s->bytes,
				s->offset, s->kind, p);
}

static int sides_add(struct graph_node **out, struct graph *g, const struct graph_after *after,
		     struct sides s)
{
	struct rt_copy_3d p;
	int status = describe_copy(&s, &p);

	return status ? status : copy_add(false, out, g, after, &p);
}

static int sides_set(struct graph_node *node, struct sides s)
{
	struct rt_copy_3d p;
	int status = describe_copy(&s, &p);

	return status ? status : copy_set(false, NULL, node, &p);
}

static int sides_set_exec(struct graph_exec *x, struct graph_node *node, struct sides s)
{
	struct rt_copy_3d p;
	int status = describe_copy(&s, &p);

	return status ? status : copy_set_exec(false, x, node, &p);
}

#define BY_ADDRESS ((struct sides){.dst = dst, .src = src, .bytes = bytes, .kind = kind})
#define TO_SYMBOL ((struct sides){symbol ? symbol : "", true, NULL, src, bytes, offset, kind})
#define FROM_SYMBOL ((struct sides){symbol ? symbol : "", false, dst, NULL, bytes, offset, kind})

/* The three functions for each way of naming the sides. */
#define SIDES_FNS(suffix, sides, ...)                                                              \
	GRAPH_RT_FN(GraphAddMemcpyNode##suffix,                                                    \
		    (struct graph_node * *out, struct graph * g, DEPS, __VA_ARGS__),               \
		    sides_add(out, g, AFTER(deps, n), sides))                                      \
	GRAPH_RT_FN(GraphMemcpyNodeSetParams##suffix, (struct graph_node * node, __VA_ARGS__),     \
		    sides_set(node, sides))                                                        \
	GRAPH_RT_FN(GraphExecMemcpyNodeSetParams##suffix,                                          \
		    (struct graph_exec * x, struct graph_node * node, __VA_ARGS__),                \
		    sides_set_exec(x, node, sides))

SIDES_FNS(1D, BY_ADDRESS, void *dst, const void *src, size_t bytes, int kind)
SIDES_FNS(ToSymbol, TO_SYMBOL, const void *symbol, const void *src, size_t bytes, size_t offset,
	  int kind)
SIDES_FNS(FromSymbol, FROM_SYMBOL, void *dst, const void *symbol, size_t bytes, size_t offset,
	  int kind)

/* ---- fills ---- */

static int fill_add(bool driver, struct graph_node **out, struct graph *g,
		    const struct graph_after *after, const struct memset_node_params *p)
{
	struct graph_maker m;

	return node_add(out, g, after, action_fill(driver, p, &m.action, &m.room.fill), &m.action);
}

static int set_fill_node(bool driver, struct graph_node *node, const struct memset_node_params *p)
{
	struct graph_maker m;

	return node_change(node, action_fill(driver, p, &m.action, &m.room.fill), &m.action);
}

static int fill_set_exec(bool driver, struct graph_exec *x, struct graph_node *node,
			 const struct memset_node_params *p)
{
	struct graph_maker m;

	return exec_change(x, node, action_fill(driver, p, &m.action, &m.room.fill), &m.action);
}

static int fill_get(struct graph_node *node, struct memset_node_params *out)
{
	return node_look(node, GRAPH_FILL) ? fill_params(node, out) : STATUS_INVALID_VALUE;
}

GRAPH_RT_FN(GraphAddMemsetNode,
	    (struct graph_node * *out, struct graph *g, DEPS, const struct memset_node_params *p),
	    fill_add(DRIVER, out, g, AFTER(deps, n), p))
GRAPH_DRV_FN(GraphAddMemsetNode,
	     (struct graph_node * *out, struct graph *g, DEPS, const struct memset_node_params *p,
	      void *context),
	     ((void)context, fill_add(DRIVER, out, g, AFTER(deps, n), p)))
GRAPH_FN(GraphMemsetNodeGetParams, (struct graph_node * node, struct memset_node_params *p),
	 fill_get(node, p))
GRAPH_FN(GraphMemsetNodeSetParams, (struct graph_node * node, const struct memset_node_params *p),
	 set_fill_node(DRIVER, node, p))
GRAPH_RT_FN(GraphExecMemsetNodeSetParams,
	    (struct graph_exec * x, struct graph_node *node, const struct memset_node_params *p),
	    fill_set_exec(DRIVER, x, node, p))
GRAPH_DRV_FN(GraphExecMemsetNodeSetParams,
	     (struct graph_exec * x, struct graph_node *node, const struct memset_node_params *p,
	      void *context),
	     ((void)context, fill_set_exec(DRIVER, x, node, p)))
