/*
 * src/check/race/rows.h, runs.h: rows and runs say of each byte what cells say of it, whatever
 * warps have done, and before and after bytes are told apart.
 */
#include "src/check/race/shadow.h"
#include "tests/check.h"

#define PAGES 2u
#define BYTES ((u64)PAGES * SHADOW_PAGE)
#define STEPS 600u

static u64 seed;
static bool has_memory = true;
static u32 runs_kept, reads_kept, sets_begun;

static u32 below(u32 n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (u32)(seed >> 33) % n;
}

/* Lanes lane .. lane + lanes - 1 of a warp touch `bytes` each, side by side. */
struct step {
	u64 at;
	u32 bytes, lane, lanes, pc, time, known;
	u64 cta;
	u32 warp;
	enum agent agent;
	bool writes, silent;
};

static struct touch touch_of(const struct step *x, u32 lane)
{
	return (struct touch){.who = who_agent(x->cta, x->warp * 32 + lane, x->agent),
			      .lanes = 1u << lane,
			      .time = x->time,
			      .pc = x->pc,
			      .silent = x->silent};
}

/* A lane, by cells. */
static bool by_cells(struct shadow *s, const struct step *x, u32 lane)
{
	struct touch t = touch_of(x, lane);
	bool ok = true;
	u32 n, each;
	struct cell *c = shadow_cells(s, x->at + (u64)(lane - x->lane) * x->bytes, x->bytes,
				      x->writes, &n, &each);

	for (u32 i = 0; c && i < n; i++) {
		if (!x->writes) {
			ok &= cell_add_reader(&c[i], &t, x->known);
			continue;
		}
		cell_clear_readers(&c[i]);
		ok &= cell_set_write(&c[i], &t);
	}
	return c && ok;
}

static struct reads_event event_of_step(const struct step *x)
{
	return (struct reads_event){.warp = touch_of(x, 0).who >> 5,
				    .time = x->time,
				    .pc = x->pc,
				    .known = x->known,
				    .width = (u8)__builtin_ctz(x->bytes)};
}

/* All lanes of a read are kept as one. False: they may not be. */
static bool by_warp(struct shadow *s, const struct step *x)
{
	struct reads_warp w = {.event = event_of_step(x), .base = x->at};

	for (u32 l = 0; l < x->lanes; l++) {
		struct shadow_page *p = shadow_page_at(s, x->at + (u64)l * x->bytes);

		if (x->writes || !shadow_keeps_reads(p, x->bytes))
			return false;
		p->is_logged = true;
		w.mask |= 1u << (x->lane + l);
		w.at[x->lane + l] = l * x->bytes;
	}
	has_memory &= reads_note_warp(s, &w);
	return true;
}

/* Reads of a lane are kept. False: they may not be. */
static bool by_lane(struct shadow *s, const struct step *x, u32 lane, u32 *event)
{
	u64 at = x->at + (u64)(lane - x->lane) * x->bytes;
	struct shadow_page *p = shadow_page_at(s, at);
	struct reads_event e = event_of_step(x);

	if (x->writes || !shadow_keeps_reads(p, x->bytes))
		return false;
	if (*event == UINT32_MAX) {
		reads_sort(s);
		if (!below(40) && !p->set) {
			reads_tell(s, p);
			has_memory &= reads_begin_set(s, p);
			sets_begun++;
		}
		if (!below(100) || reads_log_is_full(&s->log))
			reads_tell_all(s);
		has_memory &= reads_event(&s->log, &e, event);
	}
	has_memory &= reads_note(s, p, *event, 1u << lane, (u32)(at % SHADOW_PAGE) >> p->shift);
	return true;
}

/* The same, but reads are kept for the cells where they may be. The number of those. */
static u32 by_reads(struct shadow *s, const struct step *x)
{
	u32 event = UINT32_MAX, kept = 0;

	if (below(2) && by_warp(s, x))
		return x->lanes;
	for (u32 l = 0; l < x->lanes; l++)
		if (by_lane(s, x, x->lane + l, &event))
			kept++;
		else
			has_memory &= by_cells(s, x, x->lane + l);
	return kept;
}

/* The same, lane by lane, by rows of one lane; where rows are no more, by cells. */
static bool by_row(struct shadow *s, const struct step *x, u64 from, u64 to)
{
	struct shadow_page *p = shadow_rows(s, from, x->bytes & 3);
	u32 each = ROWS_GRANULES << p->shift, shift = (u32)__builtin_ctz(x->bytes >> p->shift);
	u32 first = (u32)(from % each) >> p->shift, last = (u32)((to - 1) % each >> p->shift) + 1;
	u32 lane = x->lane + (u32)((from - x->at) / x->bytes), by = (lane - (first >> shift)) & 31;
	struct row r = {
		.warp = touch_of(x, 0).who >> 5,
		.time = x->time,
		.pc = x->pc,
		.set = 1u << by,
		.mask = (u16)((1u << last) - (1u << first)),
		.shift = (u8)shift,
	};

	r.silent = x->silent ? r.mask : 0;
	if (p->rows &&
	    (x->writes ? rows_write(&s->pool, &p->rows[from % SHADOW_PAGE / each], &r)
		       : rows_read(&s->pool, &p->rows[from % SHADOW_PAGE / each], &r, x->known)))
		return true;
	for (; lane < x->lane + (u32)((to - x->at + x->bytes - 1) / x->bytes); lane++)
		has_memory &= by_cells(s, x, lane);
	return false;
}

static u32 by_rows(struct shadow *s, const struct step *x)
{
	u64 end = x->at + (u64)x->lanes * x->bytes;
	u32 kept = 0;

	for (u64 from = x->at, to; from < end; from = to) {
		u32 each = ROWS_GRANULES << shadow_rows(s, from, x->bytes & 3)->shift;

		to = from - from % each + each;
		kept += by_row(s, x, from, to < end ? to : end);
	}
	return kept;
}

/* The same by runs, as long as they take it. The number of those. */
static u32 by_runs(struct shadow *s, const struct step *x)
{
	u64 end = x->at + (u64)x->lanes * x->bytes;
	u32 kept = 0, event = UINT32_MAX;

	if (by_warp(s, x))
		return x->lanes;
	for (u64 from = x->at, to; from < end; from = to) {
		struct shadow_page *p = shadow_page_at(s, from);
		struct run r = {
			.warp = touch_of(x, 0).who >> 5,
			.time = x->time,
			.known = x->known,
			.pc = x->pc,
			.set = 1u << ((x->lane + (u32)((from - x->at) / x->bytes)) & 31),
			.first = (u16)(from % SHADOW_PAGE),
			.count = 1,
			.width = (u8)__builtin_ctz(x->bytes),
		};

		to = from - from % SHADOW_PAGE + SHADOW_PAGE;
		to = to < end ? to : end;
		r.bytes = (u16)(to - from);
		r.flags = x->writes ? RUN_WRITES | (x->silent ? RUN_SILENT : 0) : 0;
		if (shadow_has_runs(p) && runs_note(&s->runs, &p->runs, &r)) {
			kept++;
			continue;
		}
		if (!x->writes && shadow_has_runs(p) && p->runs && !p->runs->writes && below(2))
			has_memory &= shadow_keep_reads(s, p);
		if (!x->writes && shadow_keeps_reads(p, x->bytes)) {
			for (u64 at = from; at < to; at += x->bytes)
				by_lane(s, x, x->lane + (u32)((at - x->at) / x->bytes), &event);
			continue;
		}
		for (u64 at = from, next; at < to; at = next) {
			u32 each = ROWS_GRANULES << shadow_rows(s, at, x->bytes & 3)->shift;

			next = at - at % each + each;
			by_row(s, x, at, next < to ? next : to);
		}
	}
	return kept;
}

static bool touches_agree(const struct touch *a, const struct touch *b)
{
	return a->who == b->who &&
	       (!a->who || (a->lanes == b->lanes && a->time == b->time && a->pc == b->pc &&
			    a->strong == b->strong && a->silent == b->silent));
}

static u32 readers_of(const struct cell *c, const struct touch **at)
{
	*at = c->readers ? c->readers->at : &c->read;
	return c->readers ? c->readers->len : c->read.who != 0;
}

static bool cells_agree(const struct cell *a, const struct cell *b)
{
	const struct touch *x, *y;
	u32 n = readers_of(a, &x);

	if (!touches_agree(&a->write, &b->write) || readers_of(b, &y) != n)
		return false;
	for (u32 i = 0; i < n; i++)
		if (!touches_agree(&x[i], &y[i]))
			return false;
	return true;
}

static bool shadows_agree(struct shadow *a, struct shadow *b)
{
	for (u64 at = 0; at < BYTES; at += 4) {
		u32 n, m, each;
		struct cell *x = shadow_cells(a, at, 4, false, &n, &each),
			    *y = shadow_cells(b, at, 4, false, &m, &each);

		if (n != m)
			return false;
		for (u32 i = 0; i < n; i++)
			if (!cells_agree(&x[i], &y[i]))
				return false;
	}
	return true;
}

static struct step random_step(u32 time, bool narrow, bool uniform)
{
	static const u32 widths[] = {4, 4, 8, 16, 1, 2};
	struct step x = {.time = time, .cta = below(uniform ? 90 : 3)};

	x.bytes = uniform ? 4 : widths[below(narrow ? 6 : 4)];
	/* An instruction's accesses are all of one width. */
	x.pc = 32 * below(6) + x.bytes;
	x.lanes = uniform ? 32 : 1 + below(32);
	x.lane = below(33 - x.lanes);
	x.warp = uniform ? 0 : below(2);
	x.at = below((u32)((BYTES - (u64)x.lanes * x.bytes) / x.bytes + 1)) * x.bytes;
	x.at = uniform ? 128 * below(4) : x.at;
	x.known = below(2) ? 0 : below(time);
	x.writes = !below(uniform ? 400 : 5);
	x.silent = x.writes && below(2);
	x.agent = x.writes || below(4) ? AGENT_THREAD : AGENT_COPY;
	return x;
}

enum way { MIXED, NARROW, UNIFORM, LOOPS, READERS, WAYS };

/* Loops of CTAs of four warps with a barrier in each turn, now and then with something else. */
static struct step loop_step(u32 i, enum way way)
{
	u32 turn = i / 8;
	struct step x = {.cta = i / 100, .warp = i % 4, .bytes = 4, .lanes = 32, .time = 1 + turn};

	if (!below(way == LOOPS ? 200 : 1000))
		return random_step(x.time, false, false);
	x.writes = way == LOOPS && i / 4 % 2;
	x.silent = x.writes && turn % 4 == 0;
	/* Of every other CTA: as of a loop that is unrolled. */
	x.pc = 1 + x.writes + (x.cta % 2 ? 2 * (i % 2) : 0);
	x.known = x.cta ? (turn > i / 100 * 100 / 8 ? turn : 0) : turn;
	x.at = 128 * (u64)x.warp + (way == LOOPS ? x.cta % 3 * 512 : turn % 8 * 128);
	return x;
}

/* The number of steps whose rows were kept as such. */
static u32 play(u64 with, enum way way)
{
	struct shadow rows = {0}, cells = {0}, runs = {0}, reads = {0};
	u32 kept = 0;
	bool ok;

	seed = with;
	for (u32 i = 0; i < STEPS; i++) {
		struct step x = way >= LOOPS
					? loop_step(i, way)
					: random_step(1 + i / 7, way == NARROW && i > STEPS / 2,
						      way == UNIFORM);
		u32 by = by_runs(&runs, &x);

		kept += by_rows(&rows, &x) > 0;
		runs_kept += by > 0;
		for (u32 l = 0; l < x.lanes; l++)
			has_memory &= by_cells(&cells, &x, x.lane + l);
		reads_kept += by_reads(&reads, &x) > 0;
		if (!below(way >= LOOPS ? 400 : 60)) {
			u64 at = 4 * (u64)below(200), bytes = 4 * (u64)below(100);

			shadow_forget(&rows, at, bytes);
			shadow_forget(&cells, at, bytes);
			shadow_forget(&runs, at, bytes);
			shadow_forget(&reads, at, bytes);
		}
	}
	/* Runs become rows here. */
	ok = shadows_agree(&runs, &cells) && shadows_agree(&rows, &cells) &&
	     shadows_agree(&reads, &cells);
	if (!ok)
		printf("# seed %u, way %d\n", (u32)with, way);
	CHECK(ok);
	shadow_fini(&rows);
	shadow_fini(&cells);
	shadow_fini(&runs);
	shadow_fini(&reads);
	return kept;
}

int main(void)
{
	u32 kept = 0;

	for (u64 s = 1; s <= 40; s++)
		for (u32 way = 0; way < WAYS; way++)
			kept += play(s, (enum way)way);
	CHECK(has_memory);
	/* Else this compares cells with themselves. */
	CHECK(kept > 40 * STEPS);
	CHECK(runs_kept > 20 * STEPS);
	CHECK(reads_kept > 4 * STEPS);
	printf("# %u kept by rows, %u by runs, %u for cells\n", kept, runs_kept, reads_kept);
	return check_done();
}
