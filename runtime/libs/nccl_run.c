/*
 * Operations between ranks as work of a stream: it is asked again and again, and does what can be
 * done. All go piece by piece through the segment.
 */
#include "runtime/libs/nccl.h"
#include "src/base/clock.h"

#include <stdio.h>
#include <stdlib.h>

#define ILLEGAL_ADDRESS 700
#define LAUNCH_FAILURE 719
/* How many pieces a call moves at most: it is to be quick. */
#define ROUNDS 16
#define CHECK_NS 1000000000ull
#define WARN_NS 30000000000ull

enum step { STEP_NONE, STEP_DONE, STEP_FAULT, STEP_MISUSE };

static void *device_memory(const struct work_run *w, u64 address, u64 bytes, bool write)
{
	struct work_memory m = {.address = address, .bytes = bytes, .columns = 1, .write = write};

	return plrt_work_memory(w, &m);
}

/* ---- collectives ---- */

/* Pieces of this many elements; a scattered one has one of each for every rank. */
static u64 piece_elements(const struct nccl_comm *c, const struct nccl_task *t)
{
	u64 bytes = c->segment->piece_bytes / hl_element_bytes(t->call.type);

	return t->call.kind == NCCL_REDUCE_SCATTER ? bytes / c->ranks : bytes;
}

static bool all_have(const struct nccl_comm *c, bool done, u64 least)
{
	for (u32 i = 0; i < c->ranks; i++) {
		const struct nccl_seat *s = nccl_seat(c, i);

		if (atomic_load_explicit(done ? &s->done : &s->posted, memory_order_acquire) <
		    least)
			return false;
	}
	return true;
}

static bool put_scaled(const struct work_run *w, const struct nccl_task *t, u8 *to, u64 from, u64 n)
{
	u32 bytes = hl_element_bytes(t->call.type);
	const void *at = device_memory(w, from, n * bytes, false), *scalar = t->scale.scalar;

	if (at && t->scale.used && t->scale.on_device)
		scalar = device_memory(w, t->scale.address, bytes, false);
	if (!at || !scalar)
		return false;
	memcpy(to, at, n * bytes);
	if (t->scale.used)
		hl_scale(t->call.type, to, scalar, n);
	return true;
}

static enum step collective_post(const struct work_run *w, struct nccl_comm *c, struct nccl_task *t,
				 u64 n)
{
	struct nccl_seat *own = nccl_seat(c, c->rank);
	u32 bytes = hl_element_bytes(t->call.type);
	u8 *piece = nccl_piece(c, c->rank);
	bool ok = true;

	if (!all_have(c, true, c->sequence))
		return STEP_NONE;
	if (t->call.kind == NCCL_REDUCE_SCATTER)
		for (u32 i = 0; ok && i < c->ranks; i++)
			ok = put_scaled(w, t, piece + i * n * bytes,
					t->send + (i * t->call.count + t->at) * bytes, n);
	else if (t->call.kind != NCCL_BROADCAST || c->rank == t->call.root)
		ok = put_scaled(w, t, piece, t->send + t->at * bytes, n);
	if (!ok)
		return STEP_FAULT;
	own->call = t->call;
	atomic_store_explicit(&own->posted, c->sequence + 1, memory_order_release);
	t->posted = true;
	return STEP_DONE;
}

static bool reduce_pieces(const struct work_run *w, const struct nccl_comm *c,
			  const struct nccl_task *t, u64 from, u64 n)
{
	u32 bytes = hl_element_bytes(t->call.type);
	u32 op = t->call.op >= HL_REDUCTIONS ? HL_SUM : t->call.op;
	u8 *to = device_memory(w, t->recv + t->at * bytes, n * bytes, true);

	if (!to)
		return false;
	memcpy(to, nccl_piece(c, 0) + from, n * bytes);
	for (u32 i = 1; i < c->ranks; i++)
		hl_reduce(t->call.type, (enum hl_reduction)op, to, nccl_piece(c, i) + from, n);
	if (t->call.op == NCCL_AVG && hl_element_is_integer(t->call.type))
		hl_divide(t->call.type, to, c->ranks, n);
	return true;
}

static bool copy_piece(const struct work_run *w, const struct nccl_comm *c,
		       const struct nccl_task *t, u32 from, u64 at, u64 n)
{
	u64 bytes = hl_element_bytes(t->call.type);
	u8 *to = device_memory(w, t->recv + at * bytes, n * bytes, true);

	if (to)
		memcpy(to, nccl_piece(c, from), n * bytes);
	return to != NULL;
}

static bool collective_take(const struct work_run *w, const struct nccl_comm *c,
			    const struct nccl_task *t, u64 n)
{
	bool ok = true;

	switch (t->call.kind) {
	case NCCL_ALL_REDUCE:
		return reduce_pieces(w, c, t, 0, n);
	case NCCL_REDUCE:
		return c->rank != t->call.root || reduce_pieces(w, c, t, 0, n);
	case NCCL_REDUCE_SCATTER:
		return reduce_pieces(w, c, t, c->rank * n * hl_element_bytes(t->call.type), n);
	case NCCL_BROADCAST:
		return copy_piece(w, c, t, t->call.root, t->at, n);
	default:
		for (u32 i = 0; ok && i < c->ranks; i++)
			ok = copy_piece(w, c, t, i, i * t->call.count + t->at, n);
		return ok;
	}
}

/* Ranks whose calls do not fit together would wait for each other, or get nonsense. */
static bool calls_agree(const struct nccl_comm *c, const struct nccl_task *t)
{
	for (u32 i = 0; i < c->ranks; i++) {
		const struct nccl_call *x = &nccl_seat(c, i)->call;

		if (x->kind == t->call.kind && x->type == t->call.type && x->op == t->call.op &&
		    x->root == t->call.root && x->count == t->call.count)
			continue;
		fprintf(stderr,
			"ptxloom: NCCL: rank %u calls %s with %llu elements, rank %u another "
			"function or with other arguments (%llu elements)\n",
			c->rank, t->f->name, (unsigned long long)t->call.count, i,
			(unsigned long long)x->count);
		return false;
	}
	return true;
}

static enum step collective_step(const struct work_run *w, struct nccl_comm *c, struct nccl_task *t)
{
	u64 n = min_u64(piece_elements(c, t), t->call.count - t->at);

	if (!t->posted)
		return collective_post(w, c, t, n);
	if (!all_have(c, false, c->sequence + 1))
		return STEP_NONE;
	if (!calls_agree(c, t))
		return STEP_MISUSE;
	if (!collective_take(w, c, t, n))
		return STEP_FAULT;
	c->sequence++;
	atomic_store_explicit(&nccl_seat(c, c->rank)->done, c->sequence, memory_order_release);
	t->at += n;
	t->posted = false;
	return STEP_DONE;
}

/* ---- from one rank to another ---- */

static u64 task_end(const struct nccl_task *t)
{
	return t->call.kind < NCCL_SEND ? t->call.count
					: t->call.count * hl_element_bytes(t->call.type);
}

static enum step send_step(const struct work_run *w, struct nccl_comm *c, struct nccl_task *t)
{
	struct nccl_box *box = nccl_box(c, c->rank, t->peer);
	u64 n = min_u64(c->segment->box_bytes, task_end(t) - t->at);
	u64 posted = atomic_load_explicit(&box->posted, memory_order_relaxed);
	const void *from;

	if (atomic_load_explicit(&box->taken, memory_order_acquire) != posted)
		return STEP_NONE;
	from = device_memory(w, t->send + t->at, n, false);
	if (!from)
		return STEP_FAULT;
	memcpy(nccl_box_piece(c, c->rank, t->peer), from, n);
	box->bytes = task_end(t);
	atomic_store_explicit(&box->posted, posted + 1, memory_order_release);
	t->at += n;
	return STEP_DONE;
}

static enum step receive_step(const struct work_run *w, struct nccl_comm *c, struct nccl_task *t)
{
	struct nccl_box *box = nccl_box(c, t->peer, c->rank);
	u64 n = min_u64(c->segment->box_bytes, task_end(t) - t->at);
	u64 taken = atomic_load_explicit(&box->taken, memory_order_relaxed);
	void *to;

	if (atomic_load_explicit(&box->posted, memory_order_acquire) == taken)
		return STEP_NONE;
	if (box->bytes != task_end(t)) {
		fprintf(stderr,
			"ptxloom: NCCL: rank %u sends %llu bytes, rank %u expects %llu of it\n",
			t->peer, (unsigned long long)box->bytes, c->rank,
			(unsigned long long)task_end(t));
		return STEP_MISUSE;
	}
	to = device_memory(w, t->recv + t->at, n, true);
	if (!to)
		return STEP_FAULT;
	memcpy(to, nccl_box_piece(c, t->peer, c->rank), n);
	atomic_store_explicit(&box->taken, taken + 1, memory_order_release);
	t->at += n;
	return STEP_DONE;
}

/* ---- plans ---- */

/* One step of each that may take one: not past an earlier one of the same way. */
static enum step plan_round(const struct work_run *w, struct nccl_plan *p, bool *over)
{
	u64 sends[NCCL_RANKS_MAX / 64] = {0}, receives[NCCL_RANKS_MAX / 64] = {0};
	struct nccl_comm *c = p->comm;
	enum step all = STEP_NONE;
	bool collective = false;

	*over = true;
	for (u32 i = 0; i < p->len; i++) {
		struct nccl_task *t = &p->task[i];
		u64 *way = t->call.kind == NCCL_SEND ? sends : receives, bit = 1ull << t->peer % 64;
		enum step s;

		if (t->at == task_end(t))
			continue;
		*over = false;
		if (t->call.kind < NCCL_SEND) {
			s = collective ? STEP_NONE : collective_step(w, c, t);
			collective = true;
		} else {
			s = way[t->peer / 64] & bit     ? STEP_NONE
			    : t->call.kind == NCCL_SEND ? send_step(w, c, t)
							: receive_step(w, c, t);
			way[t->peer / 64] |= bit;
		}
		if (s >= STEP_FAULT)
			return s;
		if (s == STEP_DONE)
			all = s;
	}
	return all;
}

/* The lock is held, and released; the plan of a graph may run again. */
static void plan_end_locked(struct nccl_plan *p)
{
	struct nccl_comm *c = p->comm;
	bool kept = !p->ticket;

	for (u32 i = 0; i < p->len; i++) {
		p->task[i].at = 0;
		p->task[i].posted = false;
	}
	p->began_ns = 0;
	c->running = NULL;
	c->served += !kept;
	pthread_mutex_unlock(&c->lock);
	if (!kept)
		free(p);
}

/* Is there something that it can only do with this rank? */
static bool plan_awaits(const struct nccl_plan *p, u32 rank)
{
	for (u32 i = 0; i < p->len; i++) {
		const struct nccl_task *t = &p->task[i];

		if (t->at != task_end(t) && (t->call.kind < NCCL_SEND || t->peer == rank))
			return true;
	}
	return false;
}

/* Why it cannot go on at all; NCCL_SUCCESS: it may. */
static int plan_trouble(struct nccl_plan *p)
{
	struct nccl_comm *c = p->comm;
	u64 now = clock_ns();

	if (atomic_load(&c->segment->failed))
		return NCCL_REMOTE_ERROR;
	if (!p->began_ns)
		p->began_ns = now;
	if (now - p->began_ns < CHECK_NS)
		return NCCL_SUCCESS;
	for (u32 i = 0; i < c->ranks; i++)
		if (plan_awaits(p, i) && nccl_is_gone(c, i)) {
			fprintf(stderr,
				"ptxloom: NCCL: the process of rank %u has ended; rank %u cannot "
				"complete %s\n",
				i, c->rank, p->task[0].f->name);
			return NCCL_REMOTE_ERROR;
		}
	if (now - p->began_ns > WARN_NS && !p->warned) {
		p->warned = true;
		fprintf(stderr, "ptxloom: NCCL: rank %u waits for others in %s\n", c->rank,
			p->task[0].f->name);
	}
	return NCCL_SUCCESS;
}

static int plan_fail_locked(struct nccl_plan *p, int status, int error)
{
	u32 none = NCCL_SUCCESS;

	atomic_compare_exchange_strong(&p->comm->error, &none, (u32)status);
	atomic_store(&p->comm->segment->failed, 1);
	plan_end_locked(p);
	return error;
}

int nccl_run(void *data, const struct work_run *w)
{
	struct nccl_plan *p;
	struct nccl_comm *c;
	bool over = false;
	enum step s = STEP_DONE;
	int trouble;

	memcpy(&p, data, sizeof(p));
	c = p->comm;
	if (pthread_mutex_trylock(&c->lock))
		return WORK_NOT_READY;
	if (!c->aborted &&
	    (c->running ? c->running != p : p->ticket && c->served + 1 != p->ticket)) {
		pthread_mutex_unlock(&c->lock);
		return WORK_NOT_READY;
	}
	if (c->aborted) {
		plan_end_locked(p);
		return 0;
	}
	c->running = p;
	for (int i = 0; i < ROUNDS && s == STEP_DONE && !over; i++)
		s = plan_round(w, p, &over);
	if (over) {
		plan_end_locked(p);
		return 0;
	}
	if (s == STEP_FAULT)
		return plan_fail_locked(p, NCCL_CUDA_ERROR, ILLEGAL_ADDRESS);
	if (s == STEP_MISUSE)
		return plan_fail_locked(p, NCCL_INVALID_USAGE, LAUNCH_FAILURE);
	trouble = s == STEP_NONE ? plan_trouble(p) : NCCL_SUCCESS;
	if (trouble)
		return plan_fail_locked(p, trouble, LAUNCH_FAILURE);
	pthread_mutex_unlock(&c->lock);
	return WORK_NOT_READY;
}
