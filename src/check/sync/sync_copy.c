/*
 * Shared memory that is read while a copy to it is under way: cp.async before its thread waits for
 * the group, or an mbarrier tells that it is done; cp.async.bulk before the phase of its mbarrier
 * is over. Who may read afterwards is a matter of barriers, and of the check for races.
 */
#include "src/check/sync/sync_int.h"
#include "src/exec/lane_access.h"
#include "src/uop/async.h"

#define WORD 4u
#define MBAR_OPEN UINT32_MAX /* of a copy whose mbarrier has not been told yet */

void sync_copy_free(struct sync_cta *c)
{
	VEC_FREE(&c->copies);
	VEC_FREE(&c->stores);
	free(c->filling);
	c->filling = NULL;
}

static u32 copy_words(const struct sync_cta *c)
{
	return (c->cta->env->shared_bytes + WORD - 1) / WORD;
}

/* A new copy; NULL: no memory. */
static struct sync_copy *copy_new(struct sync_launch *l, struct sync_cta *c)
{
	struct sync_copy none = {0};

	if (!c->left) {
		c->first_copy += c->copies.len;
		c->copies.len = 0;
	}
	if (!c->filling)
		c->filling = calloc(copy_words(c) + 1, sizeof(*c->filling));
	if (!c->filling || !VEC_PUSH(&c->copies, none)) {
		l->gave_up = true;
		return NULL;
	}
	c->left++;
	return &c->copies.at[c->copies.len - 1];
}

static void note_filling(struct sync_cta *c, u32 lane, u64 offset, u64 bytes)
{
	u64 number = c->first_copy + c->copies.len - 1;

	for (u64 w = offset / WORD; w * WORD < offset + bytes && w < copy_words(c); w++)
		c->filling[w] = (number << 5 | lane) + 1;
}

static void copy_done(struct sync_cta *c, struct sync_copy *x, u32 lanes)
{
	if (x->left && !(x->left & ~lanes))
		c->left--;
	x->left &= ~lanes;
}

void sync_copy_issue(struct sync_launch *l, struct sync_cta *c, const struct exec_access *a)
{
	struct sync_copy *x = a->in->inner == OP_cp_async ? copy_new(l, c) : NULL;
	const struct sync_warp *w = &c->warp[a->warp];

	if (!x)
		return;
	x->warp = a->warp;
	x->left = a->mask;
	x->pc = a->pc;
	memcpy(x->group, w->committed, sizeof(x->group));
	for (u32 m = a->mask; m; m &= m - 1) {
		u32 lane = (u32)__builtin_ctz(m);

		note_filling(c, lane, a->address[lane] & MEM_SHARED_OFFSET, a->bytes);
	}
}

/* ---- bulk and tensor copies, and what other CTAs send ---- */

/* The event of a copy, as a step of its lane. */
static struct sync_step copy_step(struct sync_launch *l, struct sync_cta *c,
				  const struct exec_access *a)
{
	return (struct sync_step){
		.launch = l, .cta = c, .in = a->in, .pc = a->pc, .warp = a->warp, .mask = a->mask};
}

/* The copy of this lane whose pieces are being told; NULL: none. */
static struct sync_copy *open_bulk(struct sync_cta *c, const struct exec_access *a)
{
	struct sync_copy *x = c->copies.len ? &c->copies.at[c->copies.len - 1] : NULL;

	return x && x->mbar == MBAR_OPEN && x->pc == a->pc && x->warp == a->warp &&
			       x->left == a->mask
		       ? x
		       : NULL;
}

void sync_copy_piece(struct sync_launch *l, struct sync_cta *c, const struct exec_access *a)
{
	u32 lane = (u32)__builtin_ctz(a->mask);
	u64 to = a->address[lane];
	const struct cta *at;
	struct sync_cta *owner = sync_owner(l, c->cta, to, &at);
	struct sync_copy *x = owner ? open_bulk(owner, a) : NULL;
	struct sync_step s = copy_step(l, c, a);

	if (at)
		sync_cluster_reach(&s, lane, owner, at);
	if (!owner)
		return;
	if (!x) {
		x = copy_new(l, owner);
		if (!x)
			return;
		x->warp = a->warp;
		x->left = 1u << lane;
		x->pc = a->pc;
		x->mbar = MBAR_OPEN;
	}
	note_filling(owner, lane, to & MEM_SHARED_OFFSET, a->bytes);
}

void sync_copy_piece_end(struct sync_launch *l, struct sync_cta *c, const struct exec_access *a)
{
	u64 address = a->address[__builtin_ctz(a->mask)];
	const struct cta *at;
	struct sync_cta *owner = sync_owner(l, c->cta, address, &at);
	struct sync_copy *x = owner ? open_bulk(owner, a) : NULL;
	u32 offset = (u32)(address & MEM_SHARED_OFFSET);
	struct sync_step s = copy_step(l, c, a);
	u64 word;

	/* The engine refuses others. */
	if (!owner || offset + sizeof(word) > at->env->shared_bytes)
		return;
	sync_mbar_completes(&s, owner, offset);
	if (!x)
		return;
	memcpy(&word, at->shared + offset, sizeof(word));
	x->mbar = offset + 1;
	x->phase = mbar_read(word).phase;
}

/* ---- bulk and tensor copies from shared memory ---- */

void sync_store_issue(struct sync_launch *l, struct sync_cta *c, const struct exec_access *a)
{
	u32 lane = (u32)__builtin_ctz(a->mask);
	struct sync_store x = {a->warp * WARP_LANES + lane, a->pc,
			       c->warp[a->warp].bulk_committed[lane]};
	const struct sync_store *last = c->stores.len ? &c->stores.at[c->stores.len - 1] : NULL;

	if (last && last->thread == x.thread && last->pc == x.pc && last->group == x.group)
		return;
	if (!VEC_PUSH(&c->stores, x))
		l->gave_up = true;
}

/* The memory that it reads is another block's by then. */
void sync_store_end(struct sync_launch *l, struct sync_cta *c)
{
	for (size_t i = 0; i < c->stores.len; i++) {
		const struct sync_store *x = &c->stores.at[i];
		const struct sync_warp *w = &c->warp[x->thread / WARP_LANES];
		bool committed = x->group < w->bulk_committed[x->thread % WARP_LANES];
		struct finding f;

		if (sync_live(c, x->thread / WARP_LANES))
			continue;
		sync_begin(&f, FINDING_ASYNC_READ, l, c, x->thread, x->pc, committed, "Copy");
		sync_say_head(&f, "A block exits while a copy from its shared memory is under way");
		text_puts(&f.text,
			  committed ? "    Its thread has not waited for the copy's group.\n"
				    : "    No cp.async.bulk.commit_group stands behind it, so that "
				      "no wait covers it.\n");
		sync_add(l, &f);
	}
}

/* ---- waits ---- */

static void wait_groups(struct sync_cta *c, u32 warp, u32 lanes, u32 keep, bool all)
{
	const struct sync_warp *w = &c->warp[warp];

	for (size_t i = 0; i < c->copies.len; i++) {
		struct sync_copy *x = &c->copies.at[i];
		u32 done = 0;

		for (u32 m = x->warp == warp && !x->mbar ? x->left & lanes : 0; m; m &= m - 1) {
			u32 l = (u32)__builtin_ctz(m);

			if (all || (u64)x->group[l] + keep < w->committed[l])
				done |= 1u << l;
		}
		copy_done(c, x, done);
	}
}

/* Waits by .read count, too: shared memory is what matters. */
static void wait_stores(const struct sync_step *s)
{
	struct sync_cta *c = s->cta;
	size_t n = 0;

	for (size_t i = 0; i < c->stores.len; i++) {
		struct sync_store x = c->stores.at[i];
		u32 l = x.thread % WARP_LANES;

		if (x.thread / WARP_LANES != s->warp || !(s->mask >> l & 1) ||
		    (u64)x.group + s->in->group.pending >= sync_warp_of(s)->bulk_committed[l])
			c->stores.at[n++] = x;
	}
	c->stores.len = n;
}

static void arrive_when_done(struct sync_cta *c, u32 warp, u32 lanes)
{
	for (size_t i = 0; i < c->copies.len; i++)
		if (c->copies.at[i].warp == warp && c->copies.at[i].left & lanes)
			c->copies.at[i].arrives = true;
}

void sync_copy_group(const struct sync_step *s)
{
	struct sync_warp *w = sync_warp_of(s);

	if (s->in->inner == OP_async_arrive) {
		arrive_when_done(s->cta, s->warp, s->mask);
		return;
	}
	switch ((enum async_group_op)s->in->group.action) {
	case ASYNC_COMMIT:
		for (u32 m = s->mask; m; m &= m - 1)
			w->committed[__builtin_ctz(m)]++;
		break;
	case ASYNC_WAIT:
		wait_groups(s->cta, s->warp, s->mask, s->in->group.pending, false);
		break;
	case ASYNC_WAIT_ALL:
		wait_groups(s->cta, s->warp, s->mask, 0, true);
		break;
	case ASYNC_COMMIT_BULK:
		for (u32 m = s->mask; m; m &= m - 1)
			w->bulk_committed[__builtin_ctz(m)]++;
		break;
	case ASYNC_WAIT_BULK:
		wait_stores(s);
		break;
	default:
		break;
	}
}

static bool is_of_phase(const struct sync_copy *x, u32 mbar, u32 phase)
{
	return x->mbar == mbar + 1 && x->phase == phase;
}

void sync_copy_arrived(struct sync_cta *c, u32 mbar, u32 phase)
{
	for (size_t i = 0; i < c->copies.len; i++)
		if (is_of_phase(&c->copies.at[i], mbar, phase) || c->copies.at[i].arrives)
			copy_done(c, &c->copies.at[i], FULL_MASK);
}

const struct sync_copy *sync_copy_of_phase(const struct sync_cta *c, u32 mbar, u32 phase)
{
	for (size_t i = 0; i < c->copies.len; i++)
		if (c->copies.at[i].left && is_of_phase(&c->copies.at[i], mbar, phase))
			return &c->copies.at[i];
	return NULL;
}

/* ---- reads ---- */

/* The copy under way that fills a word, and the lane that has issued it. */
static const struct sync_copy *copy_at(const struct sync_cta *c, u64 word, u32 *lane)
{
	u64 id = word < copy_words(c) ? c->filling[word] : 0, number = (id - 1) >> 5;
	const struct sync_copy *x;

	if (!id || number < c->first_copy || number - c->first_copy >= c->copies.len)
		return NULL;
	x = &c->copies.at[number - c->first_copy];
	*lane = (u32)(id - 1) % WARP_LANES;
	return x->left >> *lane & 1 ? x : NULL;
}

static void report_read(struct sync_launch *l, struct sync_cta *c, const struct exec_access *a,
			u32 lane, u64 offset, const struct sync_copy *x, u32 issuer)
{
	struct finding f;

	sync_begin(&f, FINDING_ASYNC_READ, l, c, a->warp * WARP_LANES + lane, a->pc, false, "Read");
	sync_add_side(&f, l, c, x->warp * WARP_LANES + issuer, x->pc, "Copy");
	sync_say_head(&f, "Shared memory is read while an asynchronous copy to it is under way");
	text_printf(&f.text, "    on byte %llu of the block's shared memory, which is copied\n    ",
		    (unsigned long long)offset);
	finding_say_side(&f.side[1], &f.text);
	text_puts(&f.text, x->mbar ? "\n    No thread has waited for the phase of its mbarrier.\n"
				   : "\n    That thread has not waited for the copy.\n");
	sync_add(l, &f);
}

void sync_copy_read(struct sync_launch *l, struct sync_cta *c, const struct exec_access *a)
{
	for (u32 m = a->mask; m; m &= m - 1) {
		u32 lane = (u32)__builtin_ctz(m), issuer;
		u64 at = a->address[lane] & MEM_SHARED_OFFSET;
		const struct cta *cta;
		struct sync_cta *owner = sync_owner(l, c->cta, a->address[lane], &cta);

		if (!owner || !owner->left)
			continue;
		for (u64 w = at / WORD; w * WORD < at + a->bytes; w++) {
			const struct sync_copy *x = copy_at(owner, w, &issuer);

			if (!x)
				continue;
			report_read(l, c, a, lane, w * WORD, x, issuer);
			return;
		}
	}
}
