/*
 * Playing traces through the caches of a device.
 */
#include "src/cache/play.h"

bool cache_sm_init(struct cache_sm *sm, const struct l1_rules *rules)
{
	*sm = (struct cache_sm){0};
	return l1_init(&sm->l1, rules);
}

void cache_sm_fini(struct cache_sm *sm)
{
	l1_fini(&sm->l1);
	VEC_FREE(&sm->out);
}

void cache_sm_begin(struct cache_sm *sm)
{
	l1_flush(&sm->l1);
	sm->constant = (struct constant_cache){0};
	constant_reset(&sm->constant);
	sm->turn = 0;
	sm->out.len = 0;
	sm->count = (struct cache_counts){0};
	sm->is_cut = false;
}

/* ---- one instruction ---- */

static void request_second(struct cache_sm *sm, const struct cache_request *r)
{
	if (!VEC_PUSH(&sm->out, *r))
		sm->is_cut = true;
}

/* Ask the second cache for these sectors of a line. */
static void request_sectors(struct cache_sm *sm, const struct cache_shape *s, u64 line, u32 sectors)
{
	struct cache_request r = {.line = line,
				  .turn = sm->turn,
				  .pc = s->pc,
				  .op = L2_READ,
				  .class = s->policy.class,
				  .fetch_bytes = s->policy.fetch_bytes};

	for (u32 k = 0; k < CACHE_SECTORS; k++)
		r.bytes[k] = sectors >> k & 1;
	sm->count.read_sectors += (u32)__builtin_popcount(sectors);
	if (sectors)
		request_second(sm, &r);
}

static u32 play_load(struct cache_sm *sm, const struct cache_shape *s, const struct cache_piece *p,
		     u64 line)
{
	u32 sectors = cache_piece_sectors(p);

	if (s->policy.is_past)
		l1_drop(&sm->l1, line);
	else if (s->kind != CACHE_COPY_PAST)
		sectors = l1_load(&sm->l1, line, p->bytes, (enum l1_keep)s->policy.keep);
	request_sectors(sm, s, line, sectors);
	return (u32)__builtin_popcount(sectors);
}

/* Returns the sectors that missed. */
static u32 play_store(struct cache_sm *sm, const struct cache_shape *s, const struct cache_piece *p,
		      u64 line)
{
	u32 sectors = (u32)__builtin_popcount(cache_piece_sectors(p));
	struct cache_request r = {.line = line,
				  .turn = sm->turn,
				  .pc = s->pc,
				  .op = L2_WRITE,
				  .class = s->policy.class};

	memcpy(r.bytes, p->bytes, sizeof(r.bytes));
	sm->count.write_sectors += sectors;
	request_second(sm, &r);
	return l1_store(&sm->l1, line, p->bytes, (enum l1_keep)s->policy.keep) ? 0 : sectors;
}

static u32 play_atomic(struct cache_sm *sm, const struct cache_shape *s,
		       const struct cache_piece *p, u64 line)
{
	struct cache_request r = {.line = line,
				  .turn = sm->turn,
				  .pc = s->pc,
				  .count = p->count,
				  .requests = p->requests,
				  .op = s->kind == CACHE_ATOM ? L2_ATOM : L2_RED};

	memcpy(r.bytes, p->bytes, sizeof(r.bytes));
	l1_drop(&sm->l1, line);
	sm->count.write_sectors += p->count;
	if (s->kind == CACHE_ATOM)
		sm->count.read_sectors += p->count;
	request_second(sm, &r);
	return p->count;
}

static u32 play_piece(struct cache_sm *sm, const struct cache_shape *s, const struct cache_piece *p,
		      u64 line)
{
	switch (s->kind) {
	case CACHE_STORE:
	case CACHE_LOCAL_STORE:
		return play_store(sm, s, p, line);
	case CACHE_ATOM:
	case CACHE_RED:
		return play_atomic(sm, s, p, line);
	default:
		return play_load(sm, s, p, line);
	}
}

static void play_access(struct cache_sm *sm, const struct cache_shape *s, u64 first,
			struct cache_insn *insns)
{
	struct l1_counts *c = &sm->count.l1[s->kind];
	u32 sectors = 0, missed = 0;

	for (u32 i = 0; i < s->pieces; i++) {
		const struct cache_piece *p = &s->piece[i];
		u32 n = p->count ? p->count : (u32)__builtin_popcount(cache_piece_sectors(p));

		sectors += n;
		missed += play_piece(sm, s, p, first + (u64)p->line);
	}
	c->requests++;
	c->tags += s->pieces;
	c->sectors += sectors;
	c->miss += missed;
	c->hit += sectors - missed;
	if (!insns)
		return;
	insns[s->pc].requests++;
	insns[s->pc].sectors += sectors;
	insns[s->pc].miss += missed;
	insns[s->pc].hit += sectors - missed;
}

/* ---- CTAs that take turns ---- */

/* How far a CTA is. */
struct played_cta {
	const struct cache_trace *trace;
	size_t *at; /* by warp: the record to play next */
};

static u64 next_record(const struct played_cta *c, u32 warp, bool *is_over)
{
	*is_over = c->at[warp] == c->trace->warp[warp].of.len;
	return *is_over ? 0 : c->trace->warp[warp].of.at[c->at[warp]];
}

/* Let all warps pass the barrier, if each that is not over stands at it. Does any have records? */
static bool pass_barrier(struct played_cta *c)
{
	bool all = true, any = false, is_over;

	for (u32 w = 0; w < c->trace->warps; w++) {
		u64 r = next_record(c, w, &is_over);

		any |= !is_over;
		all &= is_over || cache_trace_shape(c->trace, r)->kind == CACHE_BARRIER;
	}
	for (u32 w = 0; any && all && w < c->trace->warps; w++)
		c->at[w] += c->at[w] < c->trace->warp[w].of.len;
	return any;
}

static void play_turn(struct cache_sm *sm, struct played_cta *c, u32 warp, struct cache_insn *insns)
{
	bool is_over;
	u64 record = next_record(c, warp, &is_over);
	const struct cache_shape *s;

	if (is_over)
		return;
	s = cache_trace_shape(c->trace, record);
	if (s->kind == CACHE_BARRIER)
		return;
	c->at[warp]++;
	if (s->kind == CACHE_CONSTANT) {
		for (u32 i = 0; i < s->pieces; i++)
			constant_look(&sm->constant,
				      cache_trace_line(record) + (u64)s->piece[i].line);
		return;
	}
	if (s->kind == CACHE_FLUSH) {
		sm->count.flushes++;
		l1_flush(&sm->l1);
		return;
	}
	play_access(sm, s, cache_trace_line(record), insns);
}

static void play_all(struct cache_sm *sm, struct played_cta *c, u32 len, struct cache_insn *insns)
{
	bool any = true;

	while (any) {
		any = false;
		for (u32 i = 0; i < len; i++) {
			any |= pass_barrier(&c[i]);
			for (u32 w = 0; w < c[i].trace->warps; w++)
				play_turn(sm, &c[i], w, insns);
		}
		sm->turn++;
	}
	sm->count.constant_hit = sm->constant.hit;
	sm->count.constant_miss = sm->constant.miss;
}

void cache_play_first(struct cache_sm *sm, struct cache_trace *const *trace, u32 len,
		      struct cache_insn *insns)
{
	struct played_cta *c = calloc(len, sizeof(*c));
	bool ok = c != NULL;

	for (u32 i = 0; ok && i < len; i++) {
		c[i].trace = trace[i];
		c[i].at = calloc(trace[i]->warps, sizeof(*c[i].at));
		sm->is_cut |= trace[i]->is_cut;
		ok = c[i].at != NULL;
	}
	if (ok)
		play_all(sm, c, len, insns);
	else
		sm->is_cut = true;
	for (u32 i = 0; c && i < len; i++)
		free(c[i].at);
	free(c);
}

/* ---- the second cache ---- */

static void play_request(struct l2 *l2, const struct cache_request *r, u32 side)
{
	u32 sectors = 0;

	for (u32 k = 0; k < CACHE_SECTORS; k++)
		sectors |= (u32)(r->bytes[k] != 0) << k;
	if (r->op == L2_READ)
		l2_read(l2, r->line, sectors, side, r->fetch_bytes, (enum l2_class)r->class);
	else if (r->op == L2_WRITE)
		l2_write(l2, r->line, r->bytes, side, (enum l2_class)r->class);
	else
		l2_atomic(l2, r->line, sectors, side, (enum l2_op)r->op, r->count, r->requests);
}

static void play_counted(struct l2 *l2, const struct cache_request *r, u32 side,
			 struct cache_insn *insns)
{
	u64 sectors = l2->count.sectors[r->op], miss = l2->count.miss[r->op],
	    dram = l2->count.dram_read;

	play_request(l2, r, side);
	if (!insns)
		return;
	insns[r->pc].second += l2->count.sectors[r->op] - sectors;
	insns[r->pc].second_miss += l2->count.miss[r->op] - miss;
	insns[r->pc].dram += l2->count.dram_read - dram;
}

/* Requests in the order in which they reach the second cache; the host fetches ahead for them. */
#define WINDOW 64u

struct window {
	struct {
		const struct cache_request *r;
		u32 side;
	} at[WINDOW];
	u32 len;
};

static void play_window(struct l2 *l2, struct window *w, struct cache_insn *insns)
{
	for (u32 i = 0; i < w->len; i++)
		l2_expect(l2, w->at[i].r->line, w->at[i].side);
	for (u32 i = 0; i < w->len; i++)
		l2_expect_line(l2, w->at[i].r->line, w->at[i].side);
	for (u32 i = 0; i < w->len; i++)
		play_counted(l2, w->at[i].r, w->at[i].side, insns);
	w->len = 0;
}

void cache_play_second(struct l2 *l2, struct cache_sm *sm, u32 sms, struct cache_insn *insns)
{
	size_t *at = calloc(sms, sizeof(*at));
	struct window w = {.len = 0};
	u32 turn = 0, next;

	/* Without memory for the turns, one SM after the other. */
	for (; turn != UINT32_MAX; turn = next) {
		next = UINT32_MAX;
		for (u32 i = 0; i < sms; i++) {
			u32 side = l2->rules.partitions > 1 && i >= sms / 2;
			size_t k = at ? at[i] : 0;

			for (; k < sm[i].out.len && (!at || sm[i].out.at[k].turn <= turn); k++) {
				w.at[w.len].r = &sm[i].out.at[k];
				w.at[w.len++].side = side;
				if (w.len == WINDOW)
					play_window(l2, &w, insns);
			}
			if (at)
				at[i] = k;
			if (at && k < sm[i].out.len && sm[i].out.at[k].turn < next)
				next = sm[i].out.at[k].turn;
		}
	}
	play_window(l2, &w, insns);
	for (u32 i = 0; i < sms; i++)
		sm[i].out.len = 0;
	free(at);
}

void cache_counts_add(struct cache_counts *to, const struct cache_counts *from)
{
	u64 *t = (u64 *)to;
	const u64 *f = (const u64 *)from;

	for (size_t i = 0; i < sizeof(*to) / sizeof(u64); i++)
		t[i] += f[i];
}
