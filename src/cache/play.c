/*
 * Playing traces through the caches of a device.
 */
#include "src/cache/play.h"

/* Above all lines: those of textures have tags of their own in the first cache (measured). */
#define TEXTURE_LINES ((u64)1 << 41)

/* Requests of an SM that a store waits for, before it leaves. */
#define STORES_WAIT 24u

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
	sm->turn = sm->number = 0;
	sm->met = 0;
	sm->out.len = 0;
	sm->count = (struct cache_counts){0};
	sm->is_cut = false;
}

/* ---- one instruction ---- */

static void request_second(struct cache_sm *sm, struct cache_request *r)
{
	r->warp = sm->warp;
	if (!VEC_PUSH(&sm->out, *r))
		sm->is_cut = true;
}

/*
 * A store to a line that the warp has just stored to becomes one with that store, if it has not
 * left yet. Returns the sectors that it adds.
 */
static u32 join_store(struct cache_sm *sm, const struct cache_request *r, bool follows,
		      bool *joined)
{
	size_t from = sm->out.len > STORES_WAIT ? sm->out.len - STORES_WAIT : 0;
	u32 added = 0;

	for (size_t i = sm->out.len; i-- > from;) {
		struct cache_request *old = &sm->out.at[i];

		if (old->op != L2_WRITE || old->warp != sm->warp || old->turn + 1 < r->turn)
			break;
		if (old->line != r->line || (old->turn == r->turn && !follows))
			continue;
		for (u32 k = 0; k < CACHE_SECTORS; k++) {
			added += r->bytes[k] && !old->bytes[k];
			old->bytes[k] |= r->bytes[k];
		}
		*joined = true;
		return added;
	}
	request_second(sm, (struct cache_request[]){*r});
	for (u32 k = 0; k < CACHE_SECTORS; k++)
		added += r->bytes[k] != 0;
	return added;
}

/* Ask the second cache for these sectors of a line. */
static void request_sectors(struct cache_sm *sm, const struct cache_shape *s, u64 line, u32 sectors)
{
	struct cache_request r = {.line = line,
				  .turn = sm->turn,
				  .pc = s->pc,
				  .op = L2_READ,
				  .aperture = s->policy.aperture,
				  .class = s->policy.class,
				  .fetch_sectors = s->policy.fetch_sectors,
				  .is_alone = s->kind == CACHE_COPY_PAST};

	for (u32 k = 0; k < CACHE_SECTORS; k++)
		r.bytes[k] = sectors >> k & 1;
	sm->count.read_sectors += (u32)__builtin_popcount(sectors);
	if (sectors)
		request_second(sm, &r);
}

static u64 tag_in_first(const struct cache_shape *s, u64 line)
{
	return s->kind >= CACHE_TEXTURE && s->kind <= CACHE_SURFACE_RED ? line + TEXTURE_LINES
									: line;
}

static u32 play_load(struct cache_sm *sm, const struct cache_shape *s, const struct cache_piece *p,
		     u64 line)
{
	u32 sectors = cache_piece_sectors(p);

	if (s->policy.is_past)
		l1_drop(&sm->l1, tag_in_first(s, line));
	else if (s->kind != CACHE_COPY_PAST && s->kind != CACHE_BULK_LOAD)
		sectors = l1_load(&sm->l1, tag_in_first(s, line), p->bytes,
				  (enum l1_keep)s->policy.keep);
	request_sectors(sm, s, line, sectors);
	return (u32)__builtin_popcount(sectors);
}

/* The bytes of whole words, which alone are kept. Are they all? */
static bool whole_words(const u32 bytes[CACHE_SECTORS], u32 out[CACHE_SECTORS])
{
	bool all = true;

	for (u32 k = 0; k < CACHE_SECTORS; k++) {
		u32 b = bytes[k], words = b & b >> 1 & b >> 2 & b >> 3 & 0x11111111;

		out[k] = words * 0xf;
		all &= out[k] == b;
	}
	return all;
}

/* Returns the sectors that missed. */
static u32 play_store(struct cache_sm *sm, const struct cache_shape *s, const struct cache_piece *p,
		      u64 line)
{
	u32 sectors = (u32)__builtin_popcount(cache_piece_sectors(p)), kept[CACHE_SECTORS], written;
	bool is_whole = whole_words(p->bytes, kept), joined = false, hits;
	struct cache_request r = {.line = line,
				  .turn = sm->turn,
				  .pc = s->pc,
				  .op = L2_WRITE,
				  .aperture = s->policy.aperture,
				  .class = s->policy.class};

	memcpy(r.bytes, p->bytes, sizeof(r.bytes));
	if (s->kind == CACHE_BULK_STORE) {
		sm->count.write_sectors += sectors;
		request_second(sm, &r);
		return sectors;
	}
	written = join_store(sm, &r, s->policy.follows, &joined);
	sm->count.write_sectors += written;
	if (s->kind == CACHE_SURFACE_STORE) {
		sm->count.surface_write_sectors += written;
		return l1_store(&sm->l1, tag_in_first(s, line), p->bytes,
				(enum l1_keep)s->policy.keep, 0)
			       ? 0
			       : sectors;
	}
	hits = l1_store(&sm->l1, line, kept, (enum l1_keep)s->policy.keep,
			is_whole ? l1_number(sm->number, sm->warp) : 0);
	return hits || joined ? 0 : sectors;
}

static u32 play_atomic(struct cache_sm *sm, const struct cache_shape *s,
		       const struct cache_piece *p, u64 line)
{
	struct cache_request r = {.line = line,
				  .turn = sm->turn,
				  .pc = s->pc,
				  .count = p->count,
				  .requests = p->requests,
				  .aperture = s->policy.aperture,
				  .packets = p->packets,
				  .op = s->kind == CACHE_ATOM ? L2_ATOM : L2_RED};

	memcpy(r.bytes, p->bytes, sizeof(r.bytes));
	l1_drop(&sm->l1, tag_in_first(s, line));
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
	case CACHE_BULK_STORE:
	case CACHE_SURFACE_STORE:
		return play_store(sm, s, p, line);
	case CACHE_ATOM:
	case CACHE_RED:
	case CACHE_BULK_RED:
	case CACHE_SURFACE_RED:
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

	sm->number++;
	for (u32 i = 0; i < s->pieces; i++) {
		const struct cache_piece *p = &s->piece[i];
		u32 n = p->count ? p->count : (u32)__builtin_popcount(cache_piece_sectors(p));

		sectors += n;
		missed += play_piece(sm, s, p, first + (u64)p->line);
	}
	c->requests++;
	if (s->kind == CACHE_COPY_PAST) {
		c->tags += s->lines;
		sm->count.past_sets += s->sets;
		sectors = missed = s->sectors;
	} else {
		c->tags += s->pieces;
	}
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
	struct cache_trace *trace;
	struct cache_reader *at; /* by warp */
};

/* Let all warps pass the barrier, if each that is not over stands at it. Does any have records? */
static bool pass_barrier(struct played_cta *c)
{
	bool all = true, any = false;

	for (u32 w = 0; w < c->trace->warps; w++) {
		bool is_over = cache_reader_is_over(&c->at[w]);

		any |= !is_over;
		all &= is_over || cache_reader_look(&c->at[w])->kind == CACHE_BARRIER;
	}
	for (u32 w = 0; any && all && w < c->trace->warps; w++)
		if (!cache_reader_is_over(&c->at[w]))
			cache_reader_go(&c->at[w]);
	return any;
}

/* What the cache of constants lacks is fetched for all SMs. */
static void play_constant(struct cache_sm *sm, const struct cache_shape *s, u64 first)
{
	for (u32 i = 0; i < s->pieces; i++) {
		u64 line = first + (u64)s->piece[i].line;
		struct cache_request r = {.line = line * CONSTANT_LINE_BYTES / CACHE_LINE_BYTES,
					  .turn = sm->turn,
					  .pc = s->pc,
					  .op = L2_READ,
					  .is_alone = true,
					  .is_constant = true};

		if (!constant_look(&sm->constant, line, !i && s->policy.is_counted) &&
		    !s->policy.is_parameter)
			request_second(sm, &r);
	}
}

static void play_turn(struct cache_sm *sm, struct cache_reader *at, struct cache_insn *insns)
{
	const struct cache_shape *s;
	u64 line;

	if (cache_reader_is_over(at))
		return;
	s = cache_reader_look(at);
	line = cache_reader_line(at);
	if (s->kind == CACHE_BARRIER)
		return;
	if (s->kind == CACHE_CONSTANT) {
		play_constant(sm, s, line);
	} else if (s->kind == CACHE_FLUSH) {
		sm->count.flushes++;
		l1_flush(&sm->l1);
	} else {
		play_access(sm, s, line, insns);
	}
	cache_reader_go(at);
	/* All requests of an instruction are of one turn. */
	while (!cache_reader_is_over(at) && cache_reader_look(at)->policy.follows) {
		play_access(sm, cache_reader_look(at), cache_reader_line(at), insns);
		cache_reader_go(at);
	}
}

static void play_all(struct cache_sm *sm, struct played_cta *c, u32 len, struct cache_insn *insns)
{
	bool any = true;

	while (any) {
		any = false;
		for (u32 i = 0; i < len; i++) {
			any |= pass_barrier(&c[i]);
			for (u32 w = 0; w < c[i].trace->warps; w++) {
				sm->warp = (u16)(i * c[i].trace->warps + w);
				play_turn(sm, &c[i].at[w], insns);
			}
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
		ok = c[i].at != NULL;
		for (u32 w = 0; ok && w < trace[i]->warps; w++)
			cache_reader_init(&c[i].at[w], trace[i], w);
	}
	if (ok)
		play_all(sm, c, len, insns);
	else
		sm->is_cut = true;
	for (u32 i = 0; c && i < len; i++) {
		for (u32 w = 0; c[i].at && w < trace[i]->warps; w++)
			cache_reader_fini(&c[i].at[w]);
		free(c[i].at);
		sm->is_cut |= trace[i]->is_cut;
	}
	free(c);
}

static void leave_lines(struct l1 *l1, const struct cache_shape *s, u64 first)
{
	u32 kept[CACHE_SECTORS];

	for (u32 i = 0; i < s->pieces; i++) {
		const struct cache_piece *p = &s->piece[i];
		u64 line = first + (u64)p->line;

		whole_words(p->bytes, kept);
		if (s->kind == CACHE_LOCAL_LOAD)
			l1_load(l1, line, p->bytes, L1_KEEP);
		else if (s->kind == CACHE_LOCAL_STORE)
			l1_store(l1, line, kept, L1_KEEP, 0);
	}
}

void cache_leave_local(struct cache_sm *sm, struct cache_trace *const *trace, u32 len)
{
	for (u32 i = 0; i < len; i++)
		for (u32 w = 0; w < trace[i]->warps; w++) {
			struct cache_reader r;

			cache_reader_init(&r, trace[i], w);
			r.keeps = true;
			for (; !cache_reader_is_over(&r); cache_reader_go(&r))
				leave_lines(&sm->l1, cache_reader_look(&r), cache_reader_line(&r));
			cache_reader_fini(&r);
		}
}

/* ---- the second cache ---- */

static u32 sectors_of_request(const struct cache_request *r)
{
	u32 sectors = 0;

	for (u32 k = 0; k < CACHE_SECTORS; k++)
		sectors |= (u32)(r->bytes[k] != 0) << k;
	return sectors;
}

static void play_request(struct l2 *l2, const struct cache_request *r, u32 side)
{
	u32 sectors = sectors_of_request(r);

	l2->turn = r->turn;
	if (r->is_constant) {
		l2_constant(l2, r->line, side);
		return;
	}
	if (r->aperture != L2_DEVICE) {
		u32 n = r->count ? r->count : (u32)__builtin_popcount(sectors);

		l2_far(l2, (enum l2_op)r->op, (enum l2_aperture)r->aperture, n,
		       r->requests ? r->requests : 1);
		return;
	}
	if (r->op == L2_READ)
		l2_read(l2, r->line, sectors, side, r->fetch_sectors, (enum l2_class)r->class);
	else if (r->op == L2_WRITE)
		l2_write(l2, r->line, r->bytes, side, (enum l2_class)r->class);
	else
		l2_atomic(l2, r->line, sectors, side, (enum l2_op)r->op, r->count, r->requests,
			  r->packets);
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

/* Requests of a group of SMs that are on the way and that others may join, the oldest at `next`. */
#define ON_THE_WAY 8u

struct way {
	struct {
		struct cache_request *r; /* NULL: none */
		const struct cache_sm *sm;
		u32 joined;
	} at[ON_THE_WAY];
	u32 next;
};

struct second {
	struct l2 *l2;
	struct cache_insn *insns;
	struct {
		const struct cache_request *r;
		u32 side;
	} window[WINDOW];
	u32 len;
	struct way way[CACHE_GPCS];
};

static void play_window(struct second *s)
{
	for (u32 i = 0; i < s->len; i++)
		l2_expect(s->l2, s->window[i].r->line, s->window[i].side);
	for (u32 i = 0; i < s->len; i++)
		l2_expect_line(s->l2, s->window[i].r->line, s->window[i].side);
	for (u32 i = 0; i < s->len; i++)
		play_counted(s->l2, s->window[i].r, s->window[i].side, s->insns);
	s->len = 0;
}

static void reach_second(struct second *s, const struct cache_request *r, u32 side)
{
	s->window[s->len].r = r;
	s->window[s->len++].side = side;
	if (s->len == WINDOW)
		play_window(s);
}

static void reach_next(struct second *s, struct way *w)
{
	if (w->at[w->next].r)
		reach_second(s, w->at[w->next].r, w->at[w->next].sm->side);
	w->at[w->next].r = NULL;
	w->next = (w->next + 1) % ON_THE_WAY;
}

/*
 * Does the request become one with another of its turn? Of one SM two reads of a line do, or four
 * writes; of several SMs reads of the same sectors, as many as the device joins.
 */
static bool join_request(struct way *w, const struct cache_sm *sm, const struct cache_request *r,
			 u32 joins)
{
	for (u32 i = 0; i < ON_THE_WAY; i++) {
		struct cache_request *old = w->at[i].r;
		u32 most = r->op == L2_READ ? 2 : 4;

		if (!old || old->line != r->line || old->op != r->op || old->turn != r->turn ||
		    old->is_alone || r->is_alone || w->at[i].sm->side != sm->side)
			continue;
		if (w->at[i].sm != sm)
			most = r->op == L2_READ && sectors_of_request(old) == sectors_of_request(r)
				       ? joins
				       : 0;
		if (w->at[i].joined >= most)
			continue;
		for (u32 k = 0; k < CACHE_SECTORS; k++)
			old->bytes[k] |= r->bytes[k];
		w->at[i].joined++;
		return true;
	}
	return false;
}

static void note_contact(struct l2 *l2, struct cache_sm *sm, const struct cache_request *r)
{
	u32 part;

	if (r->aperture != L2_DEVICE || r->is_constant)
		return;
	part = l2_contact(l2, r->line, sm->side);
	if (part == L2_SLICE_PAIRS || sm->met >> part & 1)
		return;
	sm->met |= (u64)1 << part;
	l2->count.contacts += 2;
}

static void send_request(struct second *s, struct cache_sm *sm, struct cache_request *r)
{
	struct way *w = &s->way[sm->gpc];
	u32 at;

	if (s->l2->rules.partitions > 1)
		note_contact(s->l2, sm, r);
	if (s->l2->rules.joins < 2) {
		reach_second(s, r, sm->side);
		return;
	}
	if (r->op != L2_READ && r->op != L2_WRITE) {
		for (u32 i = 0; i < ON_THE_WAY; i++)
			reach_next(s, w);
		reach_second(s, r, sm->side);
		return;
	}
	if (join_request(w, sm, r, s->l2->rules.joins))
		return;
	at = w->next;
	reach_next(s, w);
	w->at[at].r = r;
	w->at[at].sm = sm;
	w->at[at].joined = 1;
}

void cache_place_sms(struct cache_sm *sm, u32 sms, u64 ctas, u32 partitions)
{
	for (u32 i = 0; i < sms; i++) {
		bool is_small = ctas < sms;

		sm[i].gpc = (u8)(is_small ? i / 4 % CACHE_GPCS : (u64)i * CACHE_GPCS / sms);
		sm[i].side = 0;
		if (partitions > 1)
			sm[i].side = is_small ? sm[i].gpc & 1 : sm[i].gpc >= CACHE_GPCS / 2;
	}
}

/* Send what the next warp of the SM asks in this turn, from *at on. Was there anything? */
static bool send_warp(struct second *s, struct cache_sm *sm, u32 turn, size_t *at)
{
	size_t k = *at;
	u32 warp;

	if (k == sm->out.len || sm->out.at[k].turn > turn)
		return false;
	warp = sm->out.at[k].warp;
	for (; k < sm->out.len && sm->out.at[k].turn <= turn && sm->out.at[k].warp == warp; k++)
		send_request(s, sm, &sm->out.at[k]);
	*at = k;
	return true;
}

static u32 next_turn(const struct cache_sm *sm, u32 sms, const size_t *at)
{
	u32 next = UINT32_MAX;

	for (u32 i = 0; i < sms; i++)
		if (at[i] < sm[i].out.len && sm[i].out.at[at[i]].turn < next)
			next = sm[i].out.at[at[i]].turn;
	return next;
}

/* Without memory for the turns, one SM after the other. */
static void send_in_turns(struct second *s, struct cache_sm *sm, u32 sms)
{
	size_t *at = calloc(sms, sizeof(*at)), k;
	u32 turn = at ? next_turn(sm, sms, at) : UINT32_MAX;
	bool any;

	for (; turn != UINT32_MAX; turn = next_turn(sm, sms, at))
		do {
			any = false;
			for (u32 i = 0; i < sms; i++)
				any |= send_warp(s, &sm[i], turn, &at[i]);
		} while (any);
	for (u32 i = 0; !at && i < sms; i++)
		for (k = 0; k < sm[i].out.len; k++)
			send_request(s, &sm[i], &sm[i].out.at[k]);
	free(at);
}

void cache_play_second(struct l2 *l2, struct cache_sm *sm, u32 sms, struct cache_insn *insns)
{
	struct second s = {.l2 = l2, .insns = insns};

	send_in_turns(&s, sm, sms);
	for (u32 g = 0; g < CACHE_GPCS; g++)
		for (u32 i = 0; i < ON_THE_WAY; i++)
			reach_next(&s, &s.way[g]);
	play_window(&s);
	for (u32 i = 0; i < sms; i++)
		sm[i].out.len = 0;
}

void cache_counts_add(struct cache_counts *to, const struct cache_counts *from)
{
	u64 *t = (u64 *)to;
	const u64 *f = (const u64 *)from;

	for (size_t i = 0; i < sizeof(*to) / sizeof(u64); i++)
		t[i] += f[i];
}
