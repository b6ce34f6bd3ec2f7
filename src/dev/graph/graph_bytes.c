/*
 * How much memory graphs take, as cudaDeviceGetGraphMemAttribute tells it. The bytes themselves
 * belong to nodes (graph_object.c); what is reported is what a GPU's driver keeps mapped, as
 * measured on an H200:
 *
 * From its first launch to its end an executable graph holds the most that its nodes need at a
 * time, in blocks of 32 MiB. Those that were launched last into one stream run one after the other
 * and share it, but for those that do not free all they allocate: they hold it until a trim after
 * that was freed. What nothing holds any more stays reserved until it is trimmed.
 */
#include "src/dev/graph/graph_int.h"

#define BLOCK_BYTES ((u64)32 << 20)

/* Nodes come after what they need, and most graphs are made in the order in which they run. */
static u64 footprint_of(const struct graph *g, bool *keeps)
{
	u64 now = 0, most = 0;

	for (const struct graph_node *n = g->first; n; n = n->next) {
		if (!n->memory)
			continue;
		if (n->action.type == GRAPH_MEM_ALLOC)
			now += n->memory->bytes;
		else /* another graph's may be freed here */
			now -= n->memory->bytes < now ? n->memory->bytes : now;
		most = now > most ? now : most;
	}
	*keeps = now != 0;
	return align_up(most, BLOCK_BYTES);
}

/* Of a graph that does not free all it allocates: has another call? */
static bool is_given_back(const struct graph_exec *x)
{
	for (const struct graph_node *n = x->copy->first; n; n = n->next)
		if (n->memory && n->memory->used)
			return false;
	return x->keeps;
}

/* Another executable graph of the same stream that counts instead. */
static bool is_covered(const struct stream_device *d, const struct graph_exec *x)
{
	bool before = true;

	if (x->keeps)
		return false;
	for (const struct graph_exec *y = d->memory_execs; y; y = y->memory_next) {
		if (y == x)
			before = false;
		else if (!y->keeps && y->home == x->home &&
			 (y->footprint > x->footprint || (y->footprint == x->footprint && before)))
			return true;
	}
	return false;
}

static void count_locked(struct stream_device *d)
{
	u64 used = 0;

	for (const struct graph_exec *x = d->memory_execs; x; x = x->memory_next)
		used += is_covered(d, x) || is_given_back(x) ? 0 : x->footprint;
	d->graph_bytes.used = used;
	if (used > d->graph_bytes.reserved)
		d->graph_bytes.reserved = used;
	if (used > d->graph_bytes.used_high)
		d->graph_bytes.used_high = used;
	if (d->graph_bytes.reserved > d->graph_bytes.reserved_high)
		d->graph_bytes.reserved_high = d->graph_bytes.reserved;
}

void graph_bytes_launched_locked(struct graph_exec *x, struct stream *s)
{
	struct stream_device *d = s->device;

	if (!x->memory_device) {
		x->footprint = footprint_of(x->copy, &x->keeps);
		if (!x->footprint)
			return;
		x->memory_device = d;
		x->memory_next = d->memory_execs;
		d->memory_execs = x;
	}
	if (x->home == s->id && !x->keeps)
		return;
	x->home = s->id;
	count_locked(x->memory_device);
}

void graph_bytes_forget_locked(struct graph_exec *x)
{
	struct graph_exec **at;

	if (!x->memory_device)
		return;
	at = &x->memory_device->memory_execs;
	while (*at && *at != x)
		at = &(*at)->memory_next;
	if (*at)
		*at = x->memory_next;
	count_locked(x->memory_device);
	x->memory_device = NULL;
}

void graph_memory_trim(struct device *d)
{
	struct stream_device *sd = d->streams;

	graph_lock(sd->all);
	count_locked(sd);
	sd->graph_bytes.reserved = sd->graph_bytes.used;
	graph_unlock(sd->all, STATUS_SUCCESS);
}

enum status graph_memory_amount(struct device *d, enum graph_amount which, bool reset, u64 *out)
{
	struct stream_device *sd = d->streams;

	graph_lock(sd->all);
	if (reset && which == GRAPH_USED_HIGH)
		sd->graph_bytes.used_high = sd->graph_bytes.used;
	if (reset && which == GRAPH_RESERVED_HIGH)
		sd->graph_bytes.reserved_high = sd->graph_bytes.reserved;
	*out = which == GRAPH_USED        ? sd->graph_bytes.used
	       : which == GRAPH_USED_HIGH ? sd->graph_bytes.used_high
	       : which == GRAPH_RESERVED  ? sd->graph_bytes.reserved
					  : sd->graph_bytes.reserved_high;
	return graph_unlock(sd->all, STATUS_SUCCESS);
}
