/*
 * The order in which the blocks of a function are lowered. The engine runs the lanes with the
 * lowest program counter first, so lanes that have diverged reconverge if their reconvergence point
 * comes after everything on the paths to it. Compilers lay blocks out otherwise: parts of a loop
 * before its beginning, an exit inside it, several branches back to one place. Here blocks stay in
 * the order of the text but where
 *
 * - a block comes before one that leads to it, other than by going round a loop,
 * - a block comes before the end of a loop that leads to it, or
 * - the reconvergence point of a branch is the head of a loop around it: its paths meet in a block
 *   of their own, and jump back from there.
 *
 * Loops are natural ones; what is entered in several places keeps its order.
 */
#include "src/lower/lower_order.h"

#include "src/ir/leaving.h"

#include <stdlib.h>

struct edge {
	u32 from, to;
	u32 next_out, next_in; /* further edges of `from`, of `to`; IR_NONE: none */
	bool back;             /* goes round a loop */
	bool meets;            /* by way of a meeting */
};

struct graph {
	const struct ir_func *f;
	struct lower_order *order;
	u32 *block_of; /* instruction -> block */
	VEC(struct edge) edges;
	u32 nodes;     /* blocks, and room for as many others */
	u32 *out, *in; /* node -> its first edge */
	u32 *mark, *stack, *wait;
	/* of blocks: in a post-order of the reversed graph; immediate post-dominator */
	u32 *number, *ipdom;
	bool failed;
};

/* ---- blocks and edges ---- */

static bool split_blocks(struct graph *g, const bool *used)
{
	const struct ir_func *f = g->f;
	size_t n = f->insns.len;
	bool *first = calloc(n + 1, sizeof(*first));
	struct lower_order *o = g->order;

	g->block_of = malloc(sizeof(u32) * (n + 1));
	o->block = calloc(n + 1, sizeof(*o->block));
	if (!first || !g->block_of || !o->block) {
		free(first);
		return false;
	}
	for (size_t i = 0; i < f->labels.len; i++)
		first[f->labels.at[i].insn] |= used[i];
	for (size_t i = 0; i < n; i++)
		first[i + 1] |= ir_leaving(&f->insns.at[i]) != IR_GOES_ON;
	for (u32 i = 0; i < n; i++) {
		if (!i || first[i])
			o->block[o->blocks++] = (struct lower_block){
				.first = i, .next = IR_NONE, .meeting = IR_NONE};
		o->block[o->blocks - 1].end = i + 1;
		g->block_of[i] = o->blocks - 1;
	}
	g->block_of[n] = o->blocks;
	o->block[o->blocks] = (struct lower_block){
		.first = (u32)n, .end = (u32)n, .next = IR_NONE, .meeting = IR_NONE};
	free(first);
	return true;
}

static void connect(struct graph *g, u32 from, u32 to)
{
	struct edge e = {.from = from, .to = to, .next_out = g->out[from], .next_in = g->in[to]};

	if (!VEC_PUSH(&g->edges, e)) {
		g->failed = true;
		return;
	}
	g->out[from] = g->in[to] = (u32)g->edges.len - 1;
}

static void connect_label(struct graph *g, u32 from, u32 label)
{
	connect(g, from, g->block_of[g->f->labels.at[label].insn]);
}

static void find_edges(struct graph *g)
{
	for (u32 b = 0; b < g->order->blocks; b++) {
		struct lower_block *x = &g->order->block[b];
		const struct ir_insn *last = &g->f->insns.at[x->end - 1];
		const struct ir_operand *ops = &g->f->operands.at[last->first_op];
		enum ir_leaving how = ir_leaving(last);
		const struct ir_table *t;

		if (how == IR_BRANCHES)
			connect_label(g, b, ops[0].index);
		if (how == IR_BRANCHES_BY_TABLE) {
			t = &g->f->tables.at[ops[1].index];
			for (u32 i = 0; i < t->len; i++)
				connect_label(g, b, t->at[i]);
		}
		if (how == IR_GOES_ON || last->guard != IR_NONE) {
			x->next = b + 1;
			connect(g, b, b + 1);
		} else if (how == IR_ENDS) {
			connect(g, b, g->order->blocks);
		}
	}
}

/* ---- post-dominators ---- */

/*
 * Number the blocks from which the end is reached; `list` has them by number. Returns how many
 * there are.
 */
static u32 number_blocks(struct graph *g, u32 *list)
{
	u32 depth = 0, n = 0, *at = g->wait, end = g->order->blocks;

	memset(g->mark, 0, sizeof(u32) * g->nodes);
	memset(g->number, 0xff, sizeof(u32) * g->nodes);
	memcpy(at, g->in, sizeof(u32) * g->nodes);
	g->stack[depth++] = end;
	g->mark[end] = true;
	while (depth) {
		u32 b = g->stack[depth - 1], e = at[b], from;

		if (e == IR_NONE) {
			g->number[b] = n;
			list[n++] = b;
			depth--;
			continue;
		}
		at[b] = g->edges.at[e].next_in;
		from = g->edges.at[e].from;
		if (!g->mark[from]) {
			g->mark[from] = true;
			g->stack[depth++] = from;
		}
	}
	return n;
}

static u32 common_dominator(const struct graph *g, u32 a, u32 b)
{
	while (a != b)
		if (g->number[a] < g->number[b])
			a = g->ipdom[a];
		else
			b = g->ipdom[b];
	return a;
}

/* Cooper, Harvey and Kennedy's iteration. */
static void find_post_dominators(struct graph *g)
{
	u32 *list = g->order->at, n = number_blocks(g, list);
	bool changed = true;

	memset(g->ipdom, 0xff, sizeof(u32) * g->nodes);
	g->ipdom[g->order->blocks] = g->order->blocks;
	while (changed) {
		changed = false;
		for (u32 i = n - 1; i-- > 0;) {
			u32 b = list[i], new = IR_NONE;

			for (u32 e = g->out[b]; e != IR_NONE; e = g->edges.at[e].next_out) {
				u32 to = g->edges.at[e].to;

				if (g->ipdom[to] != IR_NONE)
					new = new == IR_NONE ? to : common_dominator(g, new, to);
			}
			changed |= new != g->ipdom[b];
			g->ipdom[b] = new;
		}
	}
}

/* ---- loops ---- */

enum { UNSEEN, UNDER_WAY, LEFT };

/*
 * Edges to a block that is being visited are back edges. at: next edge of each
 * block.
 */
static void mark_back_edges_from(struct graph *g, u32 root, u32 *at)
{
	u32 depth = 0;

	g->stack[depth++] = root;
	g->mark[root] = UNDER_WAY;
	while (depth) {
		u32 b = g->stack[depth - 1], e = at[b], to;

		if (e == IR_NONE) {
			g->mark[b] = LEFT;
			depth--;
			continue;
		}
		at[b] = g->edges.at[e].next_out;
		to = g->edges.at[e].to;
		g->edges.at[e].back = g->mark[to] == UNDER_WAY;
		if (g->mark[to] == UNSEEN) {
			g->mark[to] = UNDER_WAY;
			g->stack[depth++] = to;
		}
	}
}

static void mark_back_edges(struct graph *g)
{
	memset(g->mark, 0, sizeof(u32) * g->nodes);
	memcpy(g->wait, g->out, sizeof(u32) * g->nodes);
	for (u32 b = 0; b < g->order->blocks; b++)
		if (g->mark[b] == UNSEEN)
			mark_back_edges_from(g, b, g->wait);
}

/*
 * Put the blocks of the loop that begins at `head` on the stack and mark them with head + 1.
 * Returns how many they are, 0: the loop is entered elsewhere as well.
 */
static u32 find_loop(struct graph *g, u32 head)
{
	u32 len = 0;

	g->stack[len++] = head;
	g->mark[head] = head + 1;
	for (u32 i = 0; i < len; i++) {
		u32 b = g->stack[i];

		if (!b && head)
			return 0;
		for (u32 e = g->in[b]; e != IR_NONE; e = g->edges.at[e].next_in) {
			u32 from = g->edges.at[e].from;

			if (g->mark[from] == head + 1 || (b == head && !g->edges.at[e].back))
				continue;
			g->mark[from] = head + 1;
			g->stack[len++] = from;
		}
	}
	return len;
}

/*
 * Make a meeting for those ways back to `head` of which no other way leads on, if there are
 * several.
 */
static void make_meeting(struct graph *g, u32 head)
{
	struct lower_order *o = g->order;
	u32 last = IR_NONE, first = IR_NONE, k = o->blocks + 1 + o->meetings;

	for (u32 e = g->in[head]; e != IR_NONE; e = g->edges.at[e].next_in) {
		u32 from = g->edges.at[e].from;

		g->edges.at[e].meets = g->edges.at[e].back && g->ipdom[from] == head;
		if (!g->edges.at[e].meets)
			continue;
		last = last == IR_NONE || from > last ? from : last;
		first = from < first ? from : first;
	}
	if (first == last) {
		for (u32 e = g->in[head]; e != IR_NONE; e = g->edges.at[e].next_in)
			g->edges.at[e].meets = false;
		return;
	}
	o->meeting[o->meetings++] = (struct lower_meeting){.head = head, .after = last};
	for (u32 e = g->in[head]; e != IR_NONE; e = g->edges.at[e].next_in)
		if (g->edges.at[e].meets) {
			o->block[g->edges.at[e].from].meeting = k;
			connect(g, g->edges.at[e].from, k);
		}
}

/* Block `to` comes after all from which ways go back to `head`. */
static void put_behind(struct graph *g, u32 head, u32 to)
{
	const struct lower_order *o = g->order;

	for (u32 e = g->in[head]; e != IR_NONE; e = g->edges.at[e].next_in)
		if (g->edges.at[e].back)
			connect(g,
				g->edges.at[e].meets ? o->block[g->edges.at[e].from].meeting
						     : g->edges.at[e].from,
				to);
}

/* What a loop leads to comes after its end. */
static void close_loop(struct graph *g, u32 head)
{
	u32 len = find_loop(g, head);

	if (!len)
		return;
	make_meeting(g, head);
	for (u32 i = 0; i < len; i++)
		for (u32 e = g->out[g->stack[i]]; e != IR_NONE; e = g->edges.at[e].next_out) {
			u32 to = g->edges.at[e].to;

			if (g->mark[to] != head + 1 && !g->edges.at[e].back &&
			    to < g->order->blocks) {
				g->mark[to] = head + 1;
				put_behind(g, head, to);
			}
		}
}

static void close_loops(struct graph *g)
{
	memset(g->mark, 0, sizeof(u32) * g->nodes);
	for (u32 b = 0; b < g->order->blocks; b++) {
		bool any = false;

		for (u32 e = g->in[b]; e != IR_NONE; e = g->edges.at[e].next_in)
			any |= g->edges.at[e].back;
		if (any)
			close_loop(g, b);
	}
}

/* ---- the order ---- */

/*
 * Where a block stands in the text, twice; one that is made stands after the last that leads to
 * it.
 */
static u32 block_place(const struct graph *g, u32 b)
{
	const struct lower_order *o = g->order;

	return b <= o->blocks ? 2 * b : 2 * o->meeting[b - o->blocks - 1].after + 1;
}

/* Of the blocks all of whose predecessors have been placed, the first of the text. */
static u32 take_first(const struct graph *g, u32 *ready, u32 *len)
{
	u32 best = 0, b;

	for (u32 i = 1; i < *len; i++)
		if (block_place(g, ready[i]) < block_place(g, ready[best]))
			best = i;
	b = ready[best];
	ready[best] = ready[--*len];
	return b;
}

/* All but the end of the function. False: they cannot be ordered. */
static bool sort(struct graph *g)
{
	struct lower_order *o = g->order;
	u32 *ready = g->stack, len = 0, all = o->blocks + 1 + o->meetings;

	memset(g->wait, 0, sizeof(u32) * g->nodes);
	for (size_t e = 0; e < g->edges.len; e++)
		g->wait[g->edges.at[e].to] += !g->edges.at[e].back;
	for (u32 b = 0; b < all; b++)
		if (b != o->blocks && !g->wait[b])
			ready[len++] = b;
	while (len) {
		u32 b = take_first(g, ready, &len);

		o->at[o->len++] = b;
		for (u32 e = g->out[b]; e != IR_NONE; e = g->edges.at[e].next_out) {
			u32 to = g->edges.at[e].to;

			if (!g->edges.at[e].back && !--g->wait[to] && to != o->blocks)
				ready[len++] = to;
		}
	}
	return o->len == all - 1;
}

static void as_written(struct lower_order *o)
{
	o->meetings = o->len = 0;
	for (u32 b = 0; b < o->blocks; b++) {
		o->block[b].meeting = IR_NONE;
		o->at[o->len++] = b;
	}
}

/* Blocks that go on to the beginning of a loop go on to the block where its back edges meet. */
static void lead_back(struct lower_order *o)
{
	for (u32 b = 0; b < o->blocks; b++) {
		struct lower_block *x = &o->block[b];

		if (x->meeting != IR_NONE && x->next == o->meeting[x->meeting - o->blocks - 1].head)
			x->next = x->meeting;
	}
}

static bool make_arrays(struct graph *g)
{
	struct lower_order *o = g->order;

	g->nodes = 2 * o->blocks + 1;
	g->out = malloc(sizeof(u32) * g->nodes);
	g->in = malloc(sizeof(u32) * g->nodes);
	g->mark = malloc(sizeof(u32) * g->nodes);
	g->stack = malloc(sizeof(u32) * g->nodes);
	g->wait = malloc(sizeof(u32) * g->nodes);
	g->number = malloc(sizeof(u32) * g->nodes);
	g->ipdom = malloc(sizeof(u32) * g->nodes);
	o->at = malloc(sizeof(u32) * g->nodes);
	o->meeting = malloc(sizeof(*o->meeting) * g->nodes);
	if (!g->out || !g->in || !g->mark || !g->stack || !g->wait || !g->number || !g->ipdom ||
	    !o->at || !o->meeting)
		return false;
	memset(g->out, 0xff, sizeof(u32) * g->nodes);
	memset(g->in, 0xff, sizeof(u32) * g->nodes);
	return true;
}

/* Jumps that the order makes, and what it needs no jump for. */
static void find_jumps(struct lower_order *o)
{
	for (u32 i = 0; i < o->len; i++) {
		u32 b = o->at[i], next = b < o->blocks ? o->block[b].next : IR_NONE;

		if (next <= o->blocks && next != o->at[i + 1])
			o->block[next].is_target = true;
	}
}

static void find_order(struct graph *g)
{
	struct lower_order *o = g->order;

	find_edges(g);
	if (g->failed)
		return;
	find_post_dominators(g);
	mark_back_edges(g);
	close_loops(g);
	if (!sort(g))
		as_written(o);
	lead_back(o);
	o->at[o->len++] = o->blocks;
	find_jumps(o);
}

bool lower_order_find(struct lower_order *o, const struct ir_func *f, const bool *used)
{
	struct graph g = {.f = f, .order = o};
	bool ok = split_blocks(&g, used) && make_arrays(&g);

	if (ok)
		find_order(&g);
	o->block_of = g.block_of;
	VEC_FREE(&g.edges);
	free(g.out);
	free(g.in);
	free(g.mark);
	free(g.stack);
	free(g.wait);
	free(g.number);
	free(g.ipdom);
	return ok && !g.failed;
}

void lower_order_free(struct lower_order *o)
{
	free(o->block);
	free(o->block_of);
	free(o->meeting);
	free(o->at);
}
