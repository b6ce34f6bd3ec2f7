/*
 * Copy and fill nodes. What a program described is kept for queries; it is checked once, and
 * what the check answers is carried out when the node runs.
 */
#include "runtime/graph/graph_api.h"

static enum status run_graph_copy(void *data, enum status so_far)
{
	const struct node_copy *c = data;

	(void)so_far;
	return copy_run(&c->plan) == STATUS_SUCCESS ? STATUS_SUCCESS : STATUS_ILLEGAL_ADDRESS;
}

int action_copy(bool driver, const void *params, struct graph_action *a, struct node_copy *room)
{
	int status = STATUS_INVALID_VALUE;
	struct device *d = params ? graph_device(driver, &status) : NULL;
	struct copy c;

	if (!d)
		return status;
	*room = (struct node_copy){.driver = driver};
	memcpy(&room->u, params, driver ? sizeof(room->u.drv) : sizeof(room->u.rt));
	status = driver ? drv_copy_read(params, &c) : rt_copy_3d(params, &c);
	/* Nodes of nothing are mistakes, unlike copies of nothing. */
	if (!status && (!c.width || !c.height || !c.depth))
		status = STATUS_INVALID_VALUE;
	if (!status)
		status = (int)copy_check(d->mem.system, &c, &room->plan);
	room->plan.dev = d;
	room->plan.issued = rt_report_from();
	*a = (struct graph_action){.type = GRAPH_COPY,
				   .dev = d,
				   .fn = run_graph_copy,
				   .flags = STREAM_COPY,
				   .data = room,
				   .bytes = sizeof(*room)};
	return status;
}

int copy_params(bool driver, const struct graph_node *n, void *out)
{
	const struct graph_action *a = graph_node_action(n);
	const struct node_copy *c = a->data;

	/* What was captured, or added through the other interface, has no such description. */
	if (a->type != GRAPH_COPY || !out)
		return STATUS_INVALID_VALUE;
	if (a->fn != run_graph_copy || c->driver != driver)
		return STATUS_NOT_SUPPORTED;
	memcpy(out, &c->u, driver ? sizeof(c->u.drv) : sizeof(c->u.rt));
	return STATUS_SUCCESS;
}

/* ---- fills ---- */

static enum status run_graph_fill(void *data, enum status so_far)
{
	const struct node_fill *f = data;

	(void)so_far;
	return copy_fill_run(&f->plan, f->params.value, f->params.element);
}

int action_fill(bool driver, const struct memset_node_params *p, struct graph_action *a,
		struct node_fill *room)
{
	struct copy_fill f;
	struct device *d;
	int status;

	if (!p || (p->element != 1 && p->element != 2 && p->element != 4) || !p->width ||
	    !p->height)
		return STATUS_INVALID_VALUE;
	d = graph_device(driver, &status);
	if (!d)
		return status;
	*room = (struct node_fill){.params = *p};
	f = (struct copy_fill){.address = p->dst,
			       .pitch = p->height > 1 ? p->pitch : 0,
			       .rows = p->height,
			       .width = p->width,
			       .height = p->height,
			       .depth = 1,
			       .value = p->value,
			       .bytes = p->element};
	*a = (struct graph_action){.type = GRAPH_FILL,
				   .dev = d,
				   .fn = run_graph_fill,
				   .flags = STREAM_FILL,
				   .data = room,
				   .bytes = sizeof(*room)};
	status = (int)copy_fill_check(d->mem.system, &f, &room->plan);
	room->plan.dev = d;
	room->plan.issued = rt_report_from();
	return status;
}

int fill_params(const struct graph_node *n, struct memset_node_params *out)
{
	const struct graph_action *a = graph_node_action(n);

	if (a->type != GRAPH_FILL || !out)
		return STATUS_INVALID_VALUE;
	if (a->fn != run_graph_fill)
		return STATUS_NOT_SUPPORTED;
	*out = ((const struct node_fill *)a->data)->params;
	return STATUS_SUCCESS;
}
