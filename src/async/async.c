/*
 * mbarrier words and the queues of copies under way: see async.h.
 */
#include "src/base/piece.h"
#include "src/async/tensor.h"

#include <stdlib.h>

/* ---- mbarrier ---- */

/*
 * The word: bit 63 parity of the phase; 62..43 arrivals still needed, negated; 41..21 bytes that
 * came less those awaited; 20..1 arrivals of a phase, negated; 0 the layout. Negated counts make an
 * arrival an addition, and they are what an H200 shows in the states that arrive returns.
 *
 * Layouts differ in what asynchronous operations report, which none that is run does: reports are
 * zero, and both phases end together. Deviation: .layout::v1 takes counts of 20 bits here, of 9 by
 * the manual.
 */
#define PHASE_SHIFT 63
#define PENDING_SHIFT 43
#define TX_SHIFT 21
#define TX_MASK 0x1fffffu
#define EXPECTED_SHIFT 1

struct mbar mbar_read(u64 word)
{
	u32 tx = (u32)(word >> TX_SHIFT) & TX_MASK;

	return (struct mbar){
		.phase = (u32)(word >> PHASE_SHIFT),
		.pending = mbar_pending_of(word),
		.expected = (0 - (u32)(word >> EXPECTED_SHIFT)) & MBAR_COUNT_MAX,
		.tx = -((s32)(tx << 11) >> 11),
		.layout = mbar_layout(word),
	};
}

static u64 mbar_word(const struct mbar *b)
{
	return (u64)(b->phase & 1) << PHASE_SHIFT |
	       (u64)((0 - b->pending) & MBAR_COUNT_MAX) << PENDING_SHIFT |
	       (u64)((u32)-b->tx & TX_MASK) << TX_SHIFT |
	       (u64)((0 - b->expected) & MBAR_COUNT_MAX) << EXPECTED_SHIFT | b->layout;
}

u32 mbar_layout(u64 word)
{
	return word & 1;
}

u64 mbar_init(u32 count, u32 layout)
{
	const struct mbar b = {.pending = count, .expected = count, .layout = layout};

	return mbar_word(&b);
}

u32 mbar_pending_of(u64 state)
{
	return (0 - (u32)(state >> PENDING_SHIFT)) & MBAR_COUNT_MAX;
}

/* A phase is over when neither arrivals nor bytes are awaited. */
static u64 advance_phase(struct mbar *b)
{
	if (!b->pending && !b->tx) {
		b->phase++;
		b->pending = b->expected;
	}
	return mbar_word(b);
}

void mbar_expect(u64 *at, u32 bytes)
{
	struct mbar b = mbar_read(*at);

	b.tx += (s32)bytes;
	*at = mbar_word(&b);
}

void mbar_complete(u64 *at, u32 bytes)
{
	struct mbar b = mbar_read(*at);

	b.tx -= (s32)bytes;
	*at = advance_phase(&b);
}

void mbar_raise(u64 *at)
{
	struct mbar b = mbar_read(*at);

	b.pending++;
	*at = mbar_word(&b);
}

u64 mbar_arrive(u64 *at, u32 n, bool drop)
{
	struct mbar b = mbar_read(*at);
	u64 before = *at;

	b.pending -= n;
	if (drop)
		b.expected -= n;
	*at = advance_phase(&b);
	return before;
}

bool mbar_passed(u64 word, u64 state)
{
	return (word ^ state) >> PHASE_SHIFT;
}

bool mbar_passed_parity(u64 word, u32 parity)
{
	return (word >> PHASE_SHIFT) != (parity & 1);
}

/* ---- queues ---- */

struct async_cta *async_of(struct cta *c)
{
	struct async_cta *a = c->async;

	if (a)
		return a;
	a = calloc(1, sizeof(*a));
	if (a)
		a->warp = calloc(c->warps, sizeof(*a->warp));
	if (!a || !a->warp) {
		free(a);
		return NULL;
	}
	c->async = a;
	c->diverged = true; /* the next CTA begins without copies */
	return a;
}

struct async_batch *async_batch_new(struct cta *c, u32 warp)
{
	struct async_cta *a = async_of(c);
	struct async_warp *w;

	if (!a)
		return NULL;
	w = &a->warp[warp];
	if (w->first == w->len)
		w->first = w->len = 0;
	if (w->len == w->cap) {
		u32 cap = w->cap ? 2 * w->cap : 8;
		struct async_batch *bigger = realloc(w->batch, sizeof(*bigger) * cap);

		if (!bigger)
			return NULL;
		w->batch = bigger;
		w->cap = cap;
	}
	a->some = true;
	return &w->batch[w->len++];
}

/* One element, as an atomic operation of the device. */
static void reduce_element(u8 *at, u64 b, u32 size, async_apply *apply)
{
	switch (size) {
	case 2: {
		u16 *p = (u16 *)(void *)at, seen = __atomic_load_n(p, __ATOMIC_RELAXED);

		while (!__atomic_compare_exchange_n(p, &seen, (u16)apply(seen, b, 0), true,
						    __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
			;
		return;
	}
	case 4: {
		u32 *p = (u32 *)(void *)at, seen = __atomic_load_n(p, __ATOMIC_RELAXED);

		while (!__atomic_compare_exchange_n(p, &seen, (u32)apply(seen, b, 0), true,
						    __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
			;
		return;
	}
	default: {
		u64 *p = (u64 *)(void *)at, seen = __atomic_load_n(p, __ATOMIC_RELAXED);

		while (!__atomic_compare_exchange_n(p, &seen, apply(seen, b, 0), true,
						    __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
			;
	}
	}
}

void async_reduce(u8 *dst, const u8 *src, u32 bytes, u32 size, async_apply *apply)
{
	for (u32 i = 0; i < bytes; i += size) {
		u64 b = 0;

		memcpy(&b, src + i, size);
		reduce_element(dst + i, b, size, apply);
	}
}

/* The bytes of a bulk copy come in pieces of 16: where fewer are awaited, the phase ends on the
 * way. */
static void complete_pieces(u64 *at, u32 bytes)
{
	struct mbar b = mbar_read(*at);

	if (!b.pending && b.tx > 0 && (u32)b.tx < bytes && b.tx % 16 == 0) {
		mbar_complete(at, (u32)b.tx);
		bytes -= (u32)b.tx;
	}
	mbar_complete(at, bytes);
}

static void copy_source(const struct async_op *op, const u8 *src)
{
	u32 less = (u32)op->first + op->last;

	if (!op->skip) {
		if (less < op->bytes)
			piece_move(op->dst + op->first, src + op->first, op->bytes - less);
		return;
	}
	for (u32 i = 0; i < op->bytes; i++)
		if (!(op->skip >> i % 16 & 1))
			op->dst[i] = src[i];
}

static void perform(struct async_op *op)
{
	const u8 *src = op->immediate ? op->data : op->src;
	u32 bytes = op->bytes;

	switch ((enum async_kind)op->kind) {
	case ASYNC_COPY:
		copy_source(op, src);
		break;
	case ASYNC_REDUCE:
		async_reduce(op->dst, src, bytes, op->size, op->apply);
		break;
	case ASYNC_TENSOR:
		tensor_run(op->tensor);
		free(op->tensor);
		op->tensor = NULL;
		break;
	}
	if (op->mbar)
		complete_pieces(op->mbar, bytes);
}

bool async_issue(struct cta *c, const struct async_op *op)
{
	struct async_cta *a;
	struct async_op now = *op;

	if (c->env->async_eager) {
		perform(&now);
		return true;
	}
	a = async_of(c);
	if (!a)
		return false;
	if (a->len == a->cap) {
		u32 cap = a->cap ? 2 * a->cap : 8;
		struct async_op *bigger = realloc(a->op, sizeof(*bigger) * cap);

		if (!bigger)
			return false;
		a->op = bigger;
		a->cap = cap;
	}
	if (now.mbar)
		now.phase = mbar_read(*now.mbar).phase;
	a->op[a->len++] = now;
	a->some = true;
	return true;
}

/* ---- cp.async ---- */

void async_copy_lane(const struct async_batch *b, u32 l)
{
	u8 *dst = (u8 *)(uintptr_t)b->dst[l];
	const void *src = (const void *)(uintptr_t)b->src[l];

	if (b->bytes[l] == b->size) {
		piece_copy(dst, src, b->size);
		return;
	}
	piece_move(dst, src, b->bytes[l]);
	memset(dst + b->bytes[l], 0, (size_t)b->size - b->bytes[l]);
}

/* Do what lane l has in batch b: its arrival takes place only after its copies before. */
static void finish_lane(struct async_batch *b, u32 l)
{
	if (b->size)
		async_copy_lane(b, l);
	else
		mbar_arrive((u64 *)(uintptr_t)b->dst[l], 1, false);
	b->mask &= ~(1u << l);
}

/* The lane's batches before `end`, in their order, whose group is below `below`. */
static void finish_until(struct async_warp *w, u32 l, u32 end, u32 below)
{
	for (u32 i = w->first; i < end; i++)
		if (w->batch[i].mask >> l & 1 && w->batch[i].group[l] < below)
			finish_lane(&w->batch[i], l);
}

static void skip_done(struct async_warp *w)
{
	while (w->first < w->len && !w->batch[w->first].mask)
		w->first++;
}

void async_commit(struct cta *c, u32 warp, u32 lanes)
{
	struct async_cta *a = c->async;

	if (!a || !a->some)
		return;
	for (u32 m = lanes; m; m &= m - 1)
		a->warp[warp].committed[__builtin_ctz(m)]++;
}

void async_wait(struct cta *c, u32 warp, u32 lanes, u32 keep)
{
	struct async_warp *w = c->async ? &c->async->warp[warp] : NULL;

	if (!w || w->first == w->len)
		return;
	for (u32 m = lanes; m; m &= m - 1) {
		u32 l = (u32)__builtin_ctz(m);

		if (w->committed[l] > keep)
			finish_until(w, l, w->len, w->committed[l] - keep);
	}
	skip_done(w);
}

void async_wait_all(struct cta *c, u32 warp, u32 lanes)
{
	struct async_warp *w = c->async ? &c->async->warp[warp] : NULL;

	if (!w)
		return;
	for (u32 m = lanes; m; m &= m - 1) {
		u32 l = (u32)__builtin_ctz(m);

		w->committed[l]++;
		finish_until(w, l, w->len, UINT32_MAX);
	}
	skip_done(w);
}

/* ---- bulk groups ---- */

void async_commit_bulk(struct cta *c, u32 warp, u32 lanes)
{
	struct async_cta *a = c->async;

	if (!a || !a->some)
		return;
	for (u32 m = lanes; m; m &= m - 1)
		a->warp[warp].bulk_committed[__builtin_ctz(m)]++;
}

static void remove_op(struct async_cta *a, u32 i)
{
	memmove(&a->op[i], &a->op[i + 1], sizeof(*a->op) * (a->len - i - 1));
	a->len--;
}

void async_wait_bulk(struct cta *c, u32 warp, u32 lanes)
{
	struct async_cta *a = c->async;

	if (!a)
		return;
	for (u32 i = 0; i < a->len;) {
		struct async_op *op = &a->op[i];
		u32 l = op->thread % WARP_LANES, done = a->warp[warp].bulk_committed[l];

		if (op->mbar || op->thread / WARP_LANES != warp || !(lanes >> l & 1) ||
		    op->group >= done) {
			i++;
			continue;
		}
		perform(op);
		remove_op(a, i);
	}
}

/* ---- mbarriers that are asked for ---- */

void async_settle_mbar(struct cta *c, const u64 *mbar)
{
	struct async_cta *a = c->async;

	if (!a || !a->some)
		return;
	for (u32 i = 0; i < a->len;) {
		if (a->op[i].mbar != mbar) {
			i++;
			continue;
		}
		perform(&a->op[i]);
		remove_op(a, i);
	}
	for (u32 w = 0; w < c->warps; w++) {
		struct async_warp *x = &a->warp[w];

		for (u32 i = x->first; i < x->len; i++)
			for (u32 m = x->batch[i].size ? 0 : x->batch[i].mask; m; m &= m - 1) {
				u32 l = (u32)__builtin_ctz(m);

				if ((const u64 *)(uintptr_t)x->batch[i].dst[l] == mbar)
					finish_until(x, l, i + 1, UINT32_MAX);
			}
		skip_done(x);
	}
}

/* ---- mbarriers, for a debugger ---- */

void async_list_mbar(struct cta *c, const u64 *mbar)
{
	struct async_cta *a = async_of(c);
	u32 at = (u32)((const u8 *)mbar - c->shared);

	if (!a)
		return;
	async_unlist_mbar(c, mbar);
	if (a->mbars == a->mbars_cap) {
		u32 cap = a->mbars_cap ? 2 * a->mbars_cap : 8;
		u32 *bigger = realloc(a->mbar, sizeof(*bigger) * cap);

		if (!bigger)
			return;
		a->mbar = bigger;
		a->mbars_cap = cap;
	}
	a->mbar[a->mbars++] = at;
}

void async_unlist_mbar(struct cta *c, const u64 *mbar)
{
	struct async_cta *a = c->async;
	u32 at = (u32)((const u8 *)mbar - c->shared), n = 0;

	for (u32 i = 0; a && i < a->mbars; i++)
		if (a->mbar[i] != at)
			a->mbar[n++] = a->mbar[i];
	if (a)
		a->mbars = n;
}

void async_list_wait(struct cta *c, u32 warp, u32 lane, const u64 *mbar, bool over)
{
	struct async_cta *a = async_of(c);

	if (a)
		a->warp[warp].refused[lane] = over ? 0 : (u32)((const u8 *)mbar - c->shared) + 1;
}

u32 async_waiting(const struct cta *c, u32 warp, const u64 *mbar)
{
	u32 at = (u32)((const u8 *)mbar - c->shared) + 1, lanes = 0;

	for (u32 l = 0; c->async && l < WARP_LANES; l++)
		lanes |= (u32)(c->async->warp[warp].refused[l] == at) << l;
	return lanes;
}

u32 async_copies_for(const struct cta *c, const u64 *mbar, u64 *bytes)
{
	const struct async_cta *a = c->async;
	u32 n = 0;

	*bytes = 0;
	for (u32 i = 0; a && i < a->len; i++)
		if (a->op[i].mbar == mbar) {
			n++;
			*bytes += a->op[i].bytes;
		}
	return n;
}

u64 async_bytes_of_phase(const struct cta *c, const u64 *mbar, u32 parity)
{
	const struct async_cta *a = c->async;
	u64 bytes = 0;

	for (u32 i = 0; a && i < a->len; i++)
		if (a->op[i].mbar == mbar && a->op[i].phase == parity)
			bytes += a->op[i].bytes;
	return bytes;
}

/* ---- the end of a CTA ---- */

void async_finish(struct cta *c)
{
	struct async_cta *a = c->async;

	if (!a || !a->some)
		return;
	for (u32 i = 0; i < a->len; i++)
		perform(&a->op[i]);
	a->len = 0;
	for (u32 w = 0; w < c->warps; w++)
		for (u32 l = 0; l < WARP_LANES; l++)
			finish_until(&a->warp[w], l, a->warp[w].len, UINT32_MAX);
	async_reset(c);
}

void async_reset(struct cta *c)
{
	struct async_cta *a = c->async;

	for (u32 w = 0; a && a->mbars && w < c->warps; w++)
		memset(a->warp[w].refused, 0, sizeof(a->warp[w].refused));
	if (a)
		a->mbars = 0;
	if (!a || !a->some)
		return;
	for (u32 i = 0; i < a->len; i++)
		free(a->op[i].tensor);
	a->len = 0;
	for (u32 w = 0; w < c->warps; w++) {
		struct async_warp *x = &a->warp[w];

		x->first = x->len = 0;
		memset(x->committed, 0, sizeof(x->committed));
		memset(x->bulk_committed, 0, sizeof(x->bulk_committed));
	}
	a->some = false;
}

void async_free(struct cta *c)
{
	struct async_cta *a = c->async;

	if (!a)
		return;
	async_reset(c);
	for (u32 w = 0; w < c->warps; w++)
		free(a->warp[w].batch);
	free(a->warp);
	free(a->op);
	free(a->mbar);
	free(a);
	c->async = NULL;
}

static void *clone_bytes(const void *from, size_t bytes, bool *ok)
{
	void *to = bytes ? malloc(bytes) : NULL;

	if (to)
		memcpy(to, from, bytes);
	*ok &= to || !bytes;
	return to;
}

struct async_cta *async_clone(const struct cta *c, bool *ok)
{
	const struct async_cta *a = c->async;
	struct cta owner = {.warps = c->warps, .async = a ? calloc(1, sizeof(*a)) : NULL};
	struct async_cta *x = owner.async;

	*ok = !a || x;
	if (!x)
		return NULL;
	x->warp = calloc(c->warps, sizeof(*x->warp));
	*ok = x->warp != NULL;
	for (u32 w = 0; *ok && w < c->warps; w++) {
		const struct async_warp *from = &a->warp[w];
		struct async_warp *to = &x->warp[w];

		*to = *from;
		to->cap = to->len;
		to->batch = clone_bytes(from->batch, sizeof(*to->batch) * from->len, ok);
	}
	x->some = a->some;
	if (*ok)
		x->mbar = clone_bytes(a->mbar, sizeof(*x->mbar) * a->mbars, ok);
	x->mbars = x->mbars_cap = *ok ? a->mbars : 0;
	if (*ok)
		x->op = clone_bytes(a->op, sizeof(*x->op) * a->len, ok);
	for (u32 i = 0; *ok && i < a->len; i++) {
		if (a->op[i].tensor)
			x->op[i].tensor =
				clone_bytes(a->op[i].tensor, sizeof(*a->op[i].tensor), ok);
		x->len = x->cap = i + 1;
	}
	if (*ok)
		return x;
	if (x->warp)
		async_free(&owner);
	else
		free(x);
	return NULL;
}
