/*
 * Playing traces through the caches of a device.
 */
#include "src/cache/second.h"

#include <stdlib.h>

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
	cache_sm_stop(sm);
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
	sm->out.len = sm->sent = 0;
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
				  .hint = s->policy.hint,
				  .fetch_sectors = s->policy.fetch_sectors,
				  .is_alone = s->kind == CACHE_COPY_PAST};

	for (u32 k = 0; k < CACHE_SECTORS; k++)
		r.bytes[k] = sectors >> k & 1;
	if (!sectors)
		return;
	sm->count.read_sectors += cache_count_sectors(sectors);
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
	return cache_count_sectors(sectors);
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
	u32 sectors = cache_count_sectors(cache_piece_sectors(p)), kept[CACHE_SECTORS], written;
	bool is_whole = whole_words(p->bytes, kept), joined = false, hits;
	struct cache_request r = {.line = line,
				  .turn = sm->turn,
				  .pc = s->pc,
				  .op = L2_WRITE,
				  .aperture = s->policy.aperture,
				  .class = s->policy.class,
				  .hint = s->policy.hint};

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
				  .class = s->policy.class,
				  .hint = s->policy.hint,
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

/* Warps, or pieces of one, for which the host fetches ahead. */
#define AHEAD 6u

/* An instruction has looked for so many sectors. */
static void count_played(struct cache_sm *sm, const struct cache_shape *s, u32 sectors, u32 missed,
			 struct cache_insn *insns)
{
	struct l1_counts *c = &sm->count.l1[s->kind];

	c->requests++;
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

static void play_access(struct cache_sm *sm, const struct cache_shape *s, u64 first,
			struct cache_insn *insns)
{
	struct l1_counts *c = &sm->count.l1[s->kind];
	u32 sectors = 0, missed = 0;

	sm->number++;
	for (u32 i = 0; i < s->pieces; i++) {
		const struct cache_piece *p = &s->piece[i];
		u32 n = p->count ? p->count : cache_count_sectors(cache_piece_sectors(p));

		if (i + AHEAD < s->pieces)
			l1_expect(&sm->l1, first + (u64)p[AHEAD].line);
		u32 lacks = play_piece(sm, s, p, first + (u64)p->line);

		sectors += n;
		missed += lacks;
		if (PL_UNLIKELY(sm->places != NULL))
			cache_place_count(sm->places, first + (u64)p->line, n, lacks);
	}
	if (s->kind == CACHE_COPY_PAST) {
		c->tags += s->lines;
		sm->count.past_sets += s->sets;
		sectors = missed = s->sectors;
	} else {
		c->tags += s->pieces;
	}
	count_played(sm, s, sectors, missed, insns);
}

/* A load whose pieces are words: see trace.h. */
static void play_scattered(struct cache_sm *sm, const struct cache_shape *s, const u64 *word,
			   u64 first, struct cache_insn *insns)
{
	u32 sectors = 0, missed = 0;

	sm->number++;
	for (u32 i = 0; i < s->pieces; i++) {
		u64 line = first + (u64)cache_word_line(word[i]);
		u32 n = cache_count_sectors(cache_word_sectors((u32)word[i])), lacks;

		if (i + AHEAD < s->pieces)
			l1_expect(&sm->l1, first + (u64)cache_word_line(word[i + AHEAD]));
		lacks = l1_load_words(&sm->l1, line, (u32)word[i], (enum l1_keep)s->policy.keep);
		request_sectors(sm, s, line, lacks);
		lacks = cache_count_sectors(lacks);
		sectors += n;
		missed += lacks;
		if (PL_UNLIKELY(sm->places != NULL))
			cache_place_count(sm->places, line, n, lacks);
	}
	sm->count.l1[s->kind].tags += s->pieces;
	count_played(sm, s, sectors, missed, insns);
}

/* ---- CTAs that take turns ---- */

enum played_state { WARP_RUNS, WARP_WAITS /* at a barrier */, WARP_OVER };

struct played_warp {
	struct cache_reader at;
	u8 state; /* enum played_state */
};

/* How far a CTA is. */
struct cache_played {
	struct cache_trace *trace;
	struct played_warp *warp;
	u32 waiting, over; /* warps */
};

/* What comes next, now that the warp has got further. */
static void note_state(struct cache_played *c, struct played_warp *w)
{
	w->state = cache_reader_is_over(&w->at)                       ? WARP_OVER
		   : cache_reader_head(&w->at)->kind == CACHE_BARRIER ? WARP_WAITS
								      : WARP_RUNS;
	c->waiting += w->state == WARP_WAITS;
	c->over += w->state == WARP_OVER;
}

/* All that are not over stand at the barrier. */
static void pass_barrier(struct cache_played *c)
{
	c->waiting = 0;
	for (u32 w = 0; w < c->trace->warps; w++)
		if (c->warp[w].state == WARP_WAITS) {
			cache_reader_go(&c->warp[w].at);
			note_state(c, &c->warp[w]);
		}
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

/* Lines that the second cache is told about; nothing comes back of it. */
static void play_told(struct cache_sm *sm, const struct cache_shape *s, u64 first)
{
	struct cache_request r = {.turn = sm->turn,
				  .pc = s->pc,
				  .op = s->kind == CACHE_NORMAL    ? CACHE_OP_NORMAL
					: s->kind == CACHE_DISCARD ? CACHE_OP_DISCARD
								   : L2_PREFETCH,
				  .class = s->policy.class,
				  .hint = s->policy.hint,
				  .is_alone = true};

	for (u32 i = 0; i < s->pieces; i++) {
		r.line = first + (u64)s->piece[i].line;
		for (u32 k = 0; k < CACHE_SECTORS; k++)
			r.bytes[k] =
				s->kind == CACHE_PREFETCH ? CACHE_ALL_BYTES : s->piece[i].bytes[k];
		request_second(sm, &r);
	}
}

static void play_prefetch(struct cache_sm *sm, const struct cache_shape *s, u64 first)
{
	struct l1_counts *c = &sm->count.l1[CACHE_PREFETCH];

	play_told(sm, s, first);
	c->requests++;
	c->tags += s->pieces;
	for (u32 i = 0; i < s->pieces; i++)
		c->sectors += cache_count_sectors(cache_piece_sectors(&s->piece[i]));
	c->miss = c->sectors;
}

static void play_record(struct cache_sm *sm, const struct cache_shape *s, u64 line,
			struct cache_insn *insns)
{
	if (s->kind == CACHE_CONSTANT) {
		play_constant(sm, s, line);
	} else if (s->kind == CACHE_FLUSH) {
		sm->count.flushes++;
		l1_flush(&sm->l1);
	} else if (s->kind >= CACHE_NORMAL) {
		play_told(sm, s, line);
	} else if (s->kind == CACHE_PREFETCH) {
		play_prefetch(sm, s, line);
	} else {
		play_access(sm, s, line, insns);
	}
}

static void play_turn(struct cache_sm *sm, struct cache_reader *at, struct cache_insn *insns)
{
	const struct cache_shape *s = cache_reader_head(at);

	/* All requests of an instruction are of one turn. */
	do {
		const u64 *words = cache_reader_words(at);

		if (words && s->kind == CACHE_LOAD && !s->policy.is_past)
			play_scattered(sm, s, words, cache_reader_line(at), insns);
		else
			play_record(sm, cache_reader_look(at, sm->room), cache_reader_line(at),
				    insns);
		cache_reader_go(at);
		s = cache_reader_is_over(at) ? NULL : cache_reader_head(at);
	} while (s && s->policy.follows);
}

static void expect_warp(const struct cache_sm *sm, const struct cache_played *c, u32 w)
{
	if (w + AHEAD < c->trace->warps && c->warp[w + AHEAD].state == WARP_RUNS)
		cache_reader_expect(&c->warp[w + AHEAD].at);
	if (w < c->trace->warps && c->warp[w].state == WARP_RUNS)
		l1_expect(&sm->l1, cache_reader_line(&c->warp[w].at));
}

/* A turn of each warp of the CTA, the i-th of the SM; false: it was over already. */
static bool play_cta(struct cache_sm *sm, struct cache_played *c, u32 i, struct cache_insn *insns)
{
	u32 warps = c->trace->warps;

	if (c->over == warps)
		return false;
	if (c->waiting + c->over == warps)
		pass_barrier(c);
	for (u32 w = 0; w < warps; w++) {
		expect_warp(sm, c, w + AHEAD);
		if (c->warp[w].state != WARP_RUNS)
			continue;
		sm->warp = (u16)(i * warps + w);
		play_turn(sm, &c->warp[w].at, insns);
		note_state(c, &c->warp[w]);
	}
	return true;
}

static bool play_start(struct cache_played *c, struct cache_trace *t)
{
	c->trace = t;
	c->warp = calloc(t->warps, sizeof(*c->warp));
	if (!c->warp)
		return false;
	for (u32 w = 0; w < t->warps; w++) {
		cache_reader_init(&c->warp[w].at, t, w);
		note_state(c, &c->warp[w]);
	}
	return true;
}

void cache_sm_start(struct cache_sm *sm, struct cache_trace *const *trace, u32 len)
{
	bool ok;

	cache_sm_stop(sm);
	sm->played = calloc(len, sizeof(*sm->played));
	sm->room = malloc(sizeof(*sm->room));
	ok = sm->played && sm->room;
	for (sm->ctas = 0; ok && sm->ctas < len; sm->ctas++)
		ok = play_start(&sm->played[sm->ctas], trace[sm->ctas]);
	sm->is_cut |= !ok;
	sm->runs = ok;
}

void cache_sm_stop(struct cache_sm *sm)
{
	for (u32 i = 0; i < sm->ctas; i++) {
		struct cache_played *c = &sm->played[i];

		for (u32 w = 0; c->warp && w < c->trace->warps; w++)
			cache_reader_fini(&c->warp[w].at);
		free(c->warp);
		sm->is_cut |= c->trace->is_cut;
	}
	free(sm->played);
	free(sm->room);
	sm->played = NULL;
	sm->room = NULL;
	sm->ctas = 0;
	sm->runs = false;
}

/* Up to this turn, or the end. */
static void play_until(struct cache_sm *sm, u32 turn, struct cache_insn *insns)
{
	while (sm->runs && sm->turn < turn) {
		sm->runs = false;
		for (u32 i = 0; i < sm->ctas; i++)
			sm->runs |= play_cta(sm, &sm->played[i], i, insns);
		sm->turn++;
	}
	sm->count.constant_hit = sm->constant.hit;
	sm->count.constant_miss = sm->constant.miss;
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
	struct cache_shape *room = malloc(sizeof(*room));

	for (u32 i = 0; room && i < len; i++)
		for (u32 w = 0; w < trace[i]->warps; w++) {
			struct cache_reader r;

			cache_reader_init(&r, trace[i], w);
			r.keeps = true;
			for (; !cache_reader_is_over(&r); cache_reader_go(&r))
				leave_lines(&sm->l1, cache_reader_look(&r, room),
					    cache_reader_line(&r));
			cache_reader_fini(&r);
		}
	sm->is_cut |= !room;
	free(room);
}

/* ---- all SMs of a device ---- */

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

/* Requests that are kept at a time, as a rule. */
#define KEPT_REQUESTS 65536u

/* How many turns to play, if the last `turns` have made so many requests. */
static u32 turns_for(u32 turns, size_t requests)
{
	u64 fit = requests ? (u64)turns * KEPT_REQUESTS / requests : 2 * turns;

	return (u32)min_u64(max_u64(min_u64(fit, 2 * turns), 1), 4096);
}

/* Where the SM that is behind goes on. */
static u32 first_turn(const struct cache_sm *sm, u32 sms)
{
	u32 first = UINT32_MAX;

	for (u32 i = 0; i < sms; i++)
		if (sm[i].runs && sm[i].turn < first)
			first = sm[i].turn;
	return first;
}

/* What a round plays at first, before it is known how much its turns ask for. */
#define FIRST_TURNS 8u

/* A guess: each warp asks for a line in each turn. */
static size_t first_requests(const struct cache_sm *sm, u32 sms)
{
	size_t warps = 0;

	for (u32 i = 0; i < sms; i++)
		for (u32 k = 0; k < sm[i].ctas; k++)
			warps += sm[i].played[k].trace->warps;
	return warps * FIRST_TURNS;
}

/* A stretch of turns, which SMs play on their own. */
struct stretch {
	struct second *second;
	struct cache_sm *sm;
	u32 end;
};

static void play_stretch(void *user, u32 task, u32 member)
{
	const struct stretch *x = user;
	const struct second_member *m = &x->second->member[member];

	x->sm[task].places = m->places;
	play_until(&x->sm[task], x->end, m->insns);
}

void cache_play_round(struct second *s, struct cache_sm *sm, u32 sms)
{
	u32 turns = FIRST_TURNS, from;
	size_t requests = first_requests(sm, sms);

	second_begin(s);
	while ((from = first_turn(sm, sms)) != UINT32_MAX) {
		struct stretch x = {s, sm, from + turns};

		team_run(second_team(s, requests), sms, play_stretch, &x);
		requests = 0;
		for (u32 i = 0; i < sms; i++)
			requests += sm[i].out.len;
		turns = turns_for(turns, requests);
		/* Stores may still join those of the turn before. */
		second_send(s, sm, sms, x.end - 1);
	}
	second_send(s, sm, sms, UINT32_MAX);
	second_close(s);
	second_end(s);
	for (u32 i = 0; i < sms; i++)
		sm[i].is_cut |= s->is_cut;
}

void cache_counts_add(struct cache_counts *to, const struct cache_counts *from)
{
	cache_add((u64 *)to, (const u64 *)from, sizeof(*to) / sizeof(u64));
}
