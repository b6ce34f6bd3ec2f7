/*
 * Graphs as text for dot.
 */
#include "src/dev/graph/graph_int.h"

static const char *const type_names[] = {
	[GRAPH_KERNEL] = "KERNEL",         [GRAPH_COPY] = "MEMCPY",
	[GRAPH_FILL] = "MEMSET",           [GRAPH_HOST] = "HOST",
	[GRAPH_CHILD] = "GRAPH",           [GRAPH_EMPTY] = "EMPTY",
	[GRAPH_EVENT_WAIT] = "EVENT_WAIT", [GRAPH_EVENT_RECORD] = "EVENT_RECORD",
	[GRAPH_MEM_ALLOC] = "MEM_ALLOC",   [GRAPH_MEM_FREE] = "MEM_FREE",
	[GRAPH_MEM_OPS] = "MEM_OPS",       [GRAPH_CONDITIONAL] = "CONDITIONAL",
};

static void print_label(const struct graph_node *n, bool verbose, struct text *out)
{
	const struct device_launch *l = &n->action.launch;

	text_printf(out, "%llu\\n%s", (unsigned long long)n->id, type_names[n->action.type]);
	if (n->action.type == GRAPH_KERNEL)
		text_printf(out, "\\n%s", l->kernel->func->name->text);
	if (!verbose)
		return;
	if (n->action.type == GRAPH_KERNEL)
		text_printf(out, "\\ngrid (%u,%u,%u) block (%u,%u,%u)\\nshared %u", l->grid[0],
			    l->grid[1], l->grid[2], l->block[0], l->block[1], l->block[2],
			    l->dynamic_bytes);
	if (n->memory)
		text_printf(out, "\\n%llu bytes at 0x%llx", (unsigned long long)n->memory->bytes,
			    (unsigned long long)n->memory->address);
	if (n->action.event)
		text_printf(out, "\\nevent %p", (const void *)n->action.event);
}

static void print_graph(const struct graph *g, bool verbose, struct text *out)
{
	text_printf(out, "subgraph cluster_%llu {\nlabel=\"graph_%llu\" graph[style=\"dashed\"];\n",
		    (unsigned long long)g->id, (unsigned long long)g->id);
	for (const struct graph_node *n = g->first; n; n = n->next) {
		text_printf(out, "\"node_%llu\"[shape=\"%s\" label=\"", (unsigned long long)n->id,
			    n->action.type == GRAPH_KERNEL ? "octagon" : "rectangle");
		print_label(n, verbose, out);
		text_puts(out, "\"];\n");
	}
	for (const struct graph_node *n = g->first; n; n = n->next)
		for (size_t i = 0; i < n->out.len; i++)
			text_printf(out, "\"node_%llu\" -> \"node_%llu\";\n",
				    (unsigned long long)n->id,
				    (unsigned long long)n->out.at[i].node->id);
	text_puts(out, "}\n");
	for (const struct graph_node *n = g->first; n; n = n->next) {
		if (n->action.child)
			print_graph(n->action.child, verbose, out);
		for (u32 i = 0; i < n->action.body_len; i++)
			print_graph(n->action.body[i], verbose, out);
	}
}

enum status graph_print(struct streams *all, const struct graph *g, bool verbose, struct text *out)
{
	enum status status = STATUS_INVALID_VALUE;

	graph_lock(all);
	if (graph_is(all, g)) {
		status = STATUS_SUCCESS;
		text_puts(out, "digraph dot {\n");
		print_graph(g, verbose, out);
		text_puts(out, "}\n");
	}
	return graph_unlock(all, status);
}
