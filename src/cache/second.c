/*
 * Requests on their way to the second cache, and playing them there.
 */
#include "src/cache/second.h"

#include <stdlib.h>

/* Requests for which the host fetches ahead. */
#define WINDOW 64u /* bits of `far` */
/* From so many on a team is worth while. */
#define TEAM_REQUESTS 4096u

/* ---- one request ---- */

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
	enum l2_class class;

	l2->turn = r->turn;
	if (r->is_constant) {
		l2_constant(l2, r->line, side);
		return;
	}
	if (r->aperture != L2_DEVICE) {
		u32 n = r->count ? r->count : cache_count_sectors(sectors);

		l2_far(l2, (enum l2_op)r->op, r->aperture, n, r->requests ? r->requests : 1);
		return;
	}
	if (PL_UNLIKELY(r->op >= L2_OPS)) {
		if (r->op == CACHE_OP_NORMAL)
			l2_normal(l2, r->line, side);
		else
			l2_discard(l2, r->line);
		return;
	}
	class = (enum l2_class)l2_window_class(
		&l2->window, r->line, l2_hint_class(l2->hints, r->hint, r->line, r->class));
	if (r->op == L2_PREFETCH)
		l2_prefetch(l2, r->line, sectors, side, class);
	else if (r->op == L2_READ)
		l2_read(l2, r->line, sectors, side, r->fetch_sectors, class);
	else if (r->op == L2_WRITE)
		l2_write(l2, r->line, r->bytes, side, class);
	else
		l2_atomic(l2, r->line, sectors, side, (enum l2_op)r->op, class,
			  &(struct l2_lanes){r->count, r->requests, r->packets});
}

static void add_second(struct cache_insn *to, const struct cache_insn *n)
{
	to->second += n->second;
	to->second_miss += n->second_miss;
	to->dram += n->dram;
}

/* What reaches the second cache has touched each page that its launch touches. */
static void add_to_place(struct cache_place *to, const struct cache_insn *n,
			 const struct cache_request *r)
{
	u64 page = (r->line - to->first) * CACHE_LINE_BYTES / CACHE_PLACE_PAGE;

	add_second(&to->count, n);
	if (PL_UNLIKELY(to->page != NULL) && r->op < L2_OPS && page < to->pages)
		__atomic_fetch_or(&to->page[page],
				  r->op == L2_READ || r->op == L2_PREFETCH ? CACHE_PLACE_READ
									   : CACHE_PLACE_WRITTEN,
				  __ATOMIC_RELAXED);
}

static void play_counted(struct l2 *l2, const struct cache_request *r, u32 side,
			 struct cache_insn *insns, struct cache_places *places)
{
	u32 op = r->op < L2_OPS ? r->op : L2_READ;
	u64 sectors = l2->count.sectors[op], miss = l2->count.miss[op], dram = l2->count.dram_read;
	struct cache_insn n;

	play_request(l2, r, side);
	n = (struct cache_insn){.second = l2->count.sectors[op] - sectors,
				.second_miss = l2->count.miss[op] - miss,
				.dram = l2->count.dram_read - dram};
	if (insns)
		add_second(&insns[r->pc], &n);
	if (PL_UNLIKELY(places != NULL))
		add_to_place(cache_place_of(places, r->line), &n, r);
}

/* ---- what a shard has got ---- */

/* Requests of a shard in their order: those of all groups, merged. */
struct merge {
	struct second_request *at[CACHE_GPCS], *end[CACHE_GPCS];
	const struct second_request *window[WINDOW];
	struct l2_near near[WINDOW];
	u32 len;
};

/* The group whose next request is the first; CACHE_GPCS: there are no more. */
static u32 first_group(const struct merge *m, u64 *limit)
{
	u64 first = UINT64_MAX;
	u32 group = CACHE_GPCS;

	*limit = UINT64_MAX;
	for (u32 g = 0; g < CACHE_GPCS; g++) {
		if (m->at[g] == m->end[g])
			continue;
		if (group == CACHE_GPCS || m->at[g]->key < first) {
			*limit = first;
			first = m->at[g]->key;
			group = g;
		} else if (m->at[g]->key < *limit) {
			*limit = m->at[g]->key;
		}
	}
	return group;
}

static void merge_window(struct merge *m)
{
	u64 limit;
	u32 g;

	m->len = 0;
	while (m->len < WINDOW && (g = first_group(m, &limit)) < CACHE_GPCS)
		do {
			m->window[m->len++] = m->at[g]++;
			__builtin_prefetch(m->at[g] + 2);
		} while (m->len < WINDOW && m->at[g] < m->end[g] && m->at[g]->key < limit);
}

static void expect_window(const struct l2 *l2, struct merge *m)
{
	u64 far = 0; /* requests that go on to the home partition, a bit each */

	for (u32 i = 0; i < m->len; i++)
		l2_expect(l2, m->window[i]->r.line, m->window[i]->side, &m->near[i]);
	for (u32 i = 0; i < m->len; i++)
		far |= (u64)l2_expect_line(l2, m->window[i]->r.line, m->window[i]->side,
					   &m->near[i])
		       << i;
	for (; far; far &= far - 1)
		l2_expect_home(l2, &m->near[__builtin_ctzll(far)]);
}

static void play_shard(void *user, u32 task, u32 member)
{
	struct second *s = user;
	struct l2 *view = &s->view[task];
	const struct second_member *counts = &s->member[member];
	struct merge m;

	l2_wind(view, task);
	for (u32 g = 0; g < CACHE_GPCS; g++) {
		m.at[g] = s->group[g].queue[task].at;
		m.end[g] = m.at[g] + s->group[g].queue[task].len;
		s->group[g].queue[task].len = 0;
	}
	for (merge_window(&m); m.len; merge_window(&m)) {
		expect_window(view, &m);
		for (u32 i = 0; i < m.len; i++) {
			view->near = &m.near[i];
			play_counted(view, &m.window[i]->r, m.window[i]->side, counts->insns,
				     counts->places);
		}
	}
	view->near = NULL;
}

/* ---- the team ---- */

static bool member_init(struct second_member *m, const struct second_member *first, u32 uops)
{
	if (first->insns)
		m->insns = calloc(uops, sizeof(*m->insns));
	if (first->places)
		m->places = cache_places_clone(first->places);
	return (m->insns || !first->insns) && (m->places || !first->places);
}

struct team *second_team(struct second *s, size_t requests)
{
	u32 members = team_members(s->team);

	if (members == 1 || requests < TEAM_REQUESTS)
		return NULL;
	while (s->members < members && member_init(&s->member[s->members], &s->member[0], s->uops))
		s->members++;
	return s->members == members ? s->team : NULL;
}

static void add_insn_counts(struct cache_insn *to, const struct cache_insn *from, u32 uops)
{
	for (u32 i = 0; from && i < uops; i++)
		cache_insn_add(&to[i], &from[i]);
}

struct second *second_new(struct l2 *l2, const struct cache_tally *tally)
{
	struct second *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->l2 = l2;
	s->team = tally->team;
	s->uops = tally->uops;
	s->member[0] = (struct second_member){tally->insns, tally->places};
	s->members = 1;
	return s;
}

void second_free(struct second *s)
{
	if (!s)
		return;
	for (u32 i = 1; i < TEAM_MOST; i++) {
		add_insn_counts(s->member[0].insns, s->member[i].insns, s->uops);
		if (s->member[i].places)
			cache_places_merge(s->member[0].places, s->member[i].places);
		free(s->member[i].insns);
		free(s->member[i].places);
	}
	for (u32 g = 0; g < CACHE_GPCS; g++)
		for (u32 i = 0; i < L2_SHARDS; i++)
			VEC_FREE(&s->group[g].queue[i]);
	free(s);
}

void second_begin(struct second *s)
{
	for (u32 i = 0; i < s->l2->shards; i++) {
		s->view[i] = *s->l2;
		s->view[i].count = (struct l2_counts){0};
	}
}

void second_end(struct second *s)
{
	s->l2->clock = 0;
	for (u32 i = 0; i < s->l2->shards; i++) {
		const struct l2 *view = &s->view[i];

		l2_counts_add(&s->l2->count, &view->count);
		s->l2->clock = view->clock > s->l2->clock ? view->clock : s->l2->clock;
	}
	for (u32 g = 0; g < CACHE_GPCS; g++) {
		s->l2->count.contacts += s->group[g].contacts;
		s->group[g].contacts = 0;
		s->is_cut |= s->group[g].is_cut;
	}
}

static void play_queues(struct second *s)
{
	size_t len = 0;

	for (u32 g = 0; g < CACHE_GPCS; g++) {
		len += s->group[g].len;
		s->group[g].len = 0;
	}
	team_run(second_team(s, len), s->l2->shards, play_shard, s);
}

/* ---- on the way ---- */

static void reach_second(const struct second *s, struct second_group *g,
			 const struct cache_request *r, u32 side)
{
	u32 shard = l2_shard(s->l2, r->line);

	g->is_cut |= !VEC_PUSH(&g->queue[shard], ((struct second_request){*r, g->key, side}));
	g->len++;
}

static void reach_next(const struct second *s, struct second_group *g)
{
	if (g->way[g->next].sm)
		reach_second(s, g, &g->way[g->next].r, g->way[g->next].sm->side);
	g->way[g->next].sm = NULL;
	g->next = (g->next + 1) % ON_THE_WAY;
}

/*
 * Does the request become one with another of its turn? Of one SM two reads of a line do, or four
 * writes; of several SMs reads of the same sectors, as many as the device joins.
 */
static bool join_request(struct second_group *g, const struct cache_sm *sm,
			 const struct cache_request *r, u32 joins)
{
	for (u32 i = 0; i < ON_THE_WAY; i++) {
		struct cache_request *old = &g->way[i].r;
		u32 most = r->op == L2_READ ? 2 : 4;

		if (!g->way[i].sm || old->line != r->line || old->op != r->op ||
		    old->turn != r->turn || old->is_alone || r->is_alone ||
		    g->way[i].sm->side != sm->side)
			continue;
		if (g->way[i].sm != sm)
			most = r->op == L2_READ && sectors_of_request(old) == sectors_of_request(r)
				       ? joins
				       : 0;
		if (g->way[i].joined >= most)
			continue;
		for (u32 k = 0; k < CACHE_SECTORS; k++)
			old->bytes[k] |= r->bytes[k];
		g->way[i].joined++;
		return true;
	}
	return false;
}

static void note_contact(const struct l2 *l2, struct second_group *g, struct cache_sm *sm,
			 const struct cache_request *r)
{
	u32 part;

	if (r->aperture != L2_DEVICE || r->is_constant)
		return;
	part = l2_contact(l2, r->line, sm->side);
	if (part == L2_SLICE_PAIRS || sm->met >> part & 1)
		return;
	sm->met |= (u64)1 << part;
	g->contacts += 2;
}

static void send_request(const struct second *s, struct second_group *g, struct cache_sm *sm,
			 const struct cache_request *r)
{
	u32 at;

	if (s->l2->rules.partitions > 1)
		note_contact(s->l2, g, sm, r);
	if (s->l2->rules.joins < 2) {
		reach_second(s, g, r, sm->side);
		return;
	}
	if (r->op != L2_READ && r->op != L2_WRITE) {
		for (u32 i = 0; i < ON_THE_WAY; i++)
			reach_next(s, g);
		reach_second(s, g, r, sm->side);
		return;
	}
	if (join_request(g, sm, r, s->l2->rules.joins))
		return;
	at = g->next;
	reach_next(s, g);
	g->way[at].r = *r;
	g->way[at].sm = sm;
	g->way[at].joined = 1;
}

/* ---- in turns ---- */

/*
 * A key: the turn, in it how many warps of the SM have sent before, and the SM. Requests get there
 * in the order of keys.
 */
#define KEY_SM_BITS 12u
#define KEY_PASS_BITS 20u

/* What the next warp of the SM asks in this turn. Was there anything? */
static bool send_warp(const struct second *s, struct second_group *g, struct cache_sm *sm, u32 turn)
{
	size_t k = sm->sent;
	u32 warp;

	if (k == sm->out.len || sm->out.at[k].turn > turn)
		return false;
	warp = sm->out.at[k].warp;
	for (; k < sm->out.len && sm->out.at[k].turn <= turn && sm->out.at[k].warp == warp; k++)
		send_request(s, g, sm, &sm->out.at[k]);
	sm->sent = k;
	/* Requests of other SMs come before the next ones of this SM. */
	__builtin_prefetch(&sm->out.at[k]);
	__builtin_prefetch(&sm->out.at[k + 1]);
	return true;
}

struct sending {
	struct second *s;
	struct cache_sm *sm;
	u32 sms, end;
};

/* The first turn of requests of the group that were not sent. */
static u32 next_turn(const struct sending *x, u32 group)
{
	u32 next = UINT32_MAX;

	for (u32 i = 0; i < x->sms; i++) {
		const struct cache_sm *sm = &x->sm[i];

		if (sm->gpc == group && sm->sent < sm->out.len && sm->out.at[sm->sent].turn < next)
			next = sm->out.at[sm->sent].turn;
	}
	return next;
}

static void send_turn(const struct sending *x, u32 group, u32 turn)
{
	struct second_group *g = &x->s->group[group];
	bool any = true;

	for (u64 pass = 0; any; pass++) {
		any = false;
		for (u32 i = 0; i < x->sms; i++) {
			if (x->sm[i].gpc != group)
				continue;
			g->key = (u64)turn << (KEY_PASS_BITS + KEY_SM_BITS) | pass << KEY_SM_BITS |
				 i;
			any |= send_warp(x->s, g, &x->sm[i], turn);
		}
	}
}

static void send_group(void *user, u32 group, u32 member)
{
	const struct sending *x = user;

	(void)member;
	for (u32 turn; (turn = next_turn(x, group)) < x->end;)
		send_turn(x, group, turn);
	for (u32 i = 0; i < x->sms; i++) {
		struct cache_sm *sm = &x->sm[i];

		if (sm->gpc != group || !sm->sent)
			continue;
		sm->out.len -= sm->sent;
		memmove(sm->out.at, sm->out.at + sm->sent, sm->out.len * sizeof(*sm->out.at));
		sm->sent = 0;
	}
}

void second_send(struct second *s, struct cache_sm *sm, u32 sms, u32 end)
{
	struct sending x = {s, sm, sms, end};
	size_t requests = 0;

	for (u32 i = 0; i < sms; i++)
		requests += sm[i].out.len;
	team_run(second_team(s, requests), CACHE_GPCS, send_group, &x);
	play_queues(s);
}

void second_close(struct second *s)
{
	for (u32 g = 0; g < CACHE_GPCS; g++) {
		s->group[g].key = UINT64_MAX;
		for (u32 i = 0; i < ON_THE_WAY; i++)
			reach_next(s, &s->group[g]);
	}
	play_queues(s);
}
