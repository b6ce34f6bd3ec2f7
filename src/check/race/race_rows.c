/*
 * Plain accesses to global memory, a row of lanes at a time. Those that race with none are noted in
 * runs or rows of the shadow; for others the page gets its cells, and is left to race_access.c.
 */
#include "src/check/race/race_int.h"
#include "src/exec/turn.h"

/* Lanes of an access that touch granules side by side in one stretch. */
struct piece {
	struct shadow_page *page;
	struct rows *rows;
	u32 lanes;
	struct row row;
};

/* Each lane's access lies in one stretch, or it fills some. */
#define PIECES_MOST (WARP_LANES * 2u)

struct rows_visit {
	struct race_launch *launch;
	struct clock_cta *cta;
	const struct exec_access *a;
	u64 warp;   /* as in struct row */
	bool reads; /* else it writes */
	bool merges;
	bool gave_up;
	u32 shift;                  /* bytes of a lane: 1 << shift */
	u32 known;                  /* of the CTA, to the warp */
	u32 silent[QUICK_ELEMENTS]; /* lanes whose element was there already, of a store */
	u32 kept;                   /* lanes whose pages keep what they read */
	u32 n;
	struct piece piece[PIECES_MOST];
};

/* Lanes that touch [first, end) side by side; `set`: the first ones. */
struct lane_run {
	u64 first, end;
	u32 set;
};

u32 race_lanes_beside(const struct exec_access *a, u32 lane, u32 mask)
{
	u32 lanes = 1u << lane;

	for (u32 i = lane + 1; i < WARP_LANES && a->address[i] == a->address[lane]; i++)
		lanes |= 1u << i;
	if (lane < WARP_LANES / 2 && a->address[lane + WARP_LANES / 2] == a->address[lane])
		lanes |= 1u << (lane + WARP_LANES / 2);
	return lanes & mask;
}

static u32 rotate_lanes(u32 lanes, u32 by)
{
	by &= WARP_LANES - 1;
	return lanes << by | lanes >> (-by & (WARP_LANES - 1));
}

static u16 silent_granules(const struct rows_visit *v, const struct piece *p, u32 granule, u64 base)
{
	u16 found = 0;
	u32 any = 0;

	for (u32 e = 0; e < v->a->count; e++)
		any |= v->silent[e];
	if (PL_LIKELY(!any))
		return 0;
	for (u32 m = p->row.mask; m; m &= m - 1) {
		u32 i = (u32)__builtin_ctz(m);
		u64 in_lane = (base + (u64)i * granule) & (v->a->bytes - 1);

		if (v->silent[in_lane / v->a->size] & row_lanes(&p->row, i))
			found |= (u16)(1u << i);
	}
	return found;
}

/* ---- pieces ---- */

/* Those of lanes that touch [begin, end), of what lanes touch side by side from `at` on. */
static bool add_row_pieces(struct rows_visit *v, u64 begin, u64 end, u64 at, u32 set)
{
	u32 bytes = (u32)v->a->bytes;

	for (u64 from = begin, next; from < end; from = next) {
		struct shadow_page *page = shadow_rows(&v->launch->global, from, bytes & 3);
		u32 shift = page ? page->shift : 0, each = ROWS_GRANULES << shift;
		u64 base = from - from % each, to;
		struct piece *p = &v->piece[v->n];
		u32 before, first, last, lanes = 0;

		if (!page || v->n == PIECES_MOST) {
			v->gave_up |= !page;
			return false;
		}
		next = base + each;
		to = next < end ? next : end;
		first = (u32)(from - base) >> shift;
		last = (u32)(to - base) >> shift;
		before = (u32)((from - at) / bytes);
		for (u32 i = 0; i < (u32)(to - from + bytes - 1) / bytes; i++)
			lanes |= rotate_lanes(set, before + i);
		p->page = page;
		p->rows = page->rows ? &page->rows[from % SHADOW_PAGE / each] : NULL;
		p->lanes = lanes;
		p->row = (struct row){
			.warp = v->warp,
			.time = v->launch->clock.now,
			.pc = v->a->pc,
			.mask = (u16)((1u << last) - (1u << first)),
			.shift = (u8)__builtin_ctz(bytes >> shift),
		};
		p->row.set = rotate_lanes(set, before - (first >> p->row.shift));
		if (!v->reads)
			p->row.silent = silent_granules(v, p, 1u << shift, base);
		v->n++;
	}
	return true;
}

/* Of a store: do all lanes, or none, find there what they store? */
static bool is_evenly_silent(const struct rows_visit *v, u8 *flags)
{
	u32 any = 0, all = v->a->mask;

	for (u32 e = 0; e < v->a->count; e++) {
		any |= v->silent[e];
		all &= v->silent[e];
	}
	*flags = RUN_WRITES | (any ? RUN_SILENT : 0);
	return !any || all == v->a->mask;
}

/* ---- reads that race with nothing ---- */

/* Lanes read of pages that keep reads: those have it later. */
static bool keep_lanes(struct rows_visit *v, u32 lanes)
{
	const struct exec_access *a = v->a;
	struct reads_warp x = {
		.event = {.warp = v->warp,
			  .time = v->launch->clock.now,
			  .pc = a->pc,
			  .known = v->known,
			  .width = (u8)v->shift},
		.mask = lanes,
		.is_apart = !v->merges,
		.base = a->address[__builtin_ctz(lanes)],
	};

	for (u32 m = lanes; m; m &= m - 1) {
		u64 at = a->address[__builtin_ctz(m)] - x.base;

		if ((at + INT32_MAX) >> 32) {
			x.mask &= ~(1u << __builtin_ctz(m));
			continue;
		}
		x.at[__builtin_ctz(m)] = (u32)at;
	}
	return reads_note_warp(&v->launch->global, &x) &&
	       (x.mask == lanes || keep_lanes(v, lanes & ~x.mask));
}

/* Lanes have read of pages that have sets, and nothing that those are still to see. */
static bool add_to_sets(const struct rows_visit *v, struct shadow_page *const page[WARP_LANES])
{
	struct shadow *s = &v->launch->global;
	const struct exec_access *a = v->a;
	const struct reads_event e = {
		.warp = v->warp, .time = v->launch->clock.now, .pc = a->pc, .known = v->known};
	u32 event;

	for (u32 m = a->mask; m; m &= m - 1)
		reads_prefetch(page[__builtin_ctz(m)]->set);
	if (!reads_say(s, &e, &event))
		return false;
	for (u32 left = a->mask, lanes; left; left &= ~lanes) {
		u32 lane = (u32)__builtin_ctz(left);
		struct shadow_page *p = page[lane];
		struct set_waiting x = {.event = event,
					.first = (u16)(a->address[lane] % SHADOW_PAGE >> p->shift),
					.cells = (u16)(a->bytes >> p->shift)};

		lanes = v->merges ? race_lanes_beside(a, lane, left) : 1u << lane;
		x.lanes = lanes;
		if (!reads_add(s, p, &x))
			return false;
	}
	return true;
}

/* Do all lanes read of pages that keep reads? Then those have it. */
static bool keep_all(struct rows_visit *v)
{
	struct shadow_page *page[WARP_LANES];
	const struct exec_access *a = v->a;
	bool have_sets = true;

	reads_make_room(&v->launch->global);
	for (u32 m = a->mask; m; m &= m - 1) {
		u32 lane = (u32)__builtin_ctz(m);
		struct shadow_page *p = shadow_page_at(&v->launch->global, a->address[lane]);

		if (!p || !shadow_keeps_reads(p, (u32)a->bytes))
			return false;
		page[lane] = p;
		have_sets &= p->set && !p->is_logged;
		__builtin_prefetch(p->set);
	}
	for (u32 m = have_sets ? 0 : a->mask; m; m &= m - 1)
		page[__builtin_ctz(m)]->is_logged = true;
	v->gave_up |= !(have_sets ? add_to_sets(v, page) : keep_lanes(v, a->mask));
	return true;
}

static void note_kept(struct rows_visit *v, struct shadow_page *page, const struct lane_run *r,
		      u64 from, u64 end)
{
	u32 first = (u32)(from - r->first) >> v->shift, last = (u32)(end - r->first) >> v->shift;

	page->is_logged = true;
	for (u32 i = first; i < last; i++)
		v->kept |= rotate_lanes(r->set, i);
}

/* Is a page to keep reads from now on, where there are too many of single places for runs? */
static bool begins_to_keep(struct rows_visit *v, struct shadow_page *page, const struct lane_run *r)
{
	return v->reads && r->end - r->first == v->a->bytes && shadow_has_runs(page) &&
	       page->runs && !page->runs->writes && shadow_keep_reads(&v->launch->global, page) &&
	       shadow_keeps_reads(page, (u32)v->a->bytes);
}

/* Lanes that race with none, as runs say. The others are left to rows. */
static bool add_lane_run(struct rows_visit *v, const struct lane_run *r)
{
	struct run x = {
		.warp = v->warp,
		.time = v->launch->clock.now,
		.known = v->known,
		.pc = v->a->pc,
		.count = 1,
		.width = (u8)v->shift,
	};
	u64 next;

	if (!v->reads && !is_evenly_silent(v, &x.flags))
		return add_row_pieces(v, r->first, r->end, r->first, r->set);
	for (u64 from = r->first; from < r->end; from = next) {
		struct shadow_page *page = shadow_page_at(&v->launch->global, from);

		next = min_u64(r->end, from - from % SHADOW_PAGE + SHADOW_PAGE);
		if (page && v->reads && shadow_keeps_reads(page, (u32)v->a->bytes)) {
			note_kept(v, page, r, from, next);
			continue;
		}
		x.first = (u16)(from % SHADOW_PAGE);
		x.bytes = (u16)(next - from);
		x.set = rotate_lanes(r->set, (u32)(from - r->first) >> v->shift);
		if (page && shadow_has_runs(page) &&
		    runs_note(&v->launch->global.runs, &page->runs, &x))
			continue;
		if (page && begins_to_keep(v, page, r)) {
			note_kept(v, page, r, from, next);
			continue;
		}
		if (!add_row_pieces(v, from, next, r->first, r->set))
			return false;
	}
	return true;
}

/* ---- lanes ---- */

/* Do all lanes lie side by side? */
static bool is_dense(const struct exec_access *a)
{
	u64 bad = 0;

	if (a->mask != FULL_MASK ||
	    a->address[WARP_LANES - 1] - a->address[0] != (WARP_LANES - 1) * a->bytes)
		return false;
	for (u32 l = 1; l < WARP_LANES; l++)
		bad |= a->address[l] - a->address[l - 1] - a->bytes;
	return !bad;
}

/* Lanes from the lowest on that lie side by side; others are left. */
static struct lane_run take_run(const struct rows_visit *v, u32 *left)
{
	const struct exec_access *a = v->a;
	u32 lane = (u32)__builtin_ctz(*left), at = lane;
	u32 set = v->merges ? race_lanes_beside(a, lane, *left) : 1u << lane, now = set;
	struct lane_run r = {a->address[lane], a->address[lane] + a->bytes, set};

	*left &= ~set;
	while (++at < WARP_LANES && *left >> at & 1 && a->address[at] == r.end) {
		now = rotate_lanes(now, 1);
		if (v->merges && race_lanes_beside(a, at, *left) != now)
			break;
		*left &= ~now;
		r.end += a->bytes;
	}
	return r;
}

#define HALF_WARP (WARP_LANES / 2)

/*
 * Halves of a warp, each of lanes side by side or at one place. The number of runs; 0: it is not
 * so.
 */
static u32 take_halves(const struct rows_visit *v, struct lane_run run[2])
{
	const u64 *at = v->a->address;
	u64 step = at[1] - at[0], bytes = v->a->bytes, bad = 0, room;
	bool same = at[HALF_WARP] == at[0];

	if (v->a->mask != FULL_MASK || !v->merges || (step && step != bytes))
		return 0;
	for (u32 l = 1; l < HALF_WARP; l++)
		bad |= (at[l] - at[l - 1] - step) |
		       (at[l + HALF_WARP] - at[l + HALF_WARP - 1] - step);
	if (bad)
		return 0;
	room = step ? HALF_WARP * bytes : bytes;
	run[0] = (struct lane_run){at[0], at[0] + room, step ? 1 : 0xffff};
	run[1] = (struct lane_run){at[HALF_WARP], at[HALF_WARP] + room, run[0].set << HALF_WARP};
	if (same)
		run[0].set |= run[1].set;
	return same ? 1 : 2;
}

static bool add_lane_pieces(struct rows_visit *v, bool dense)
{
	const struct exec_access *a = v->a;
	struct lane_run run[2];
	u32 n = 1;

	if (dense)
		run[0] = (struct lane_run){a->address[0], a->address[0] + WARP_LANES * a->bytes, 1};
	else
		n = take_halves(v, run);
	for (u32 i = 0; i < n; i++)
		if (!add_lane_run(v, &run[i]))
			return false;
	for (u32 left = n ? 0 : a->mask; left;) {
		run[0] = take_run(v, &left);
		if (!add_lane_run(v, &run[0]))
			return false;
	}
	return true;
}

/* ---- order ---- */

static bool lane_is_known(const struct rows_visit *v, u32 lane, const struct row *r, u32 other,
			  bool is_write)
{
	u32 thread = v->a->warp * WARP_LANES + lane;
	u64 who = r->warp << 5 | other;

	return clock_known(v->cta, thread, who) >= r->time ||
	       (!is_write && clock_known_read(v->cta, thread, who) >= r->time);
}

/* Does each lane know what those of the row did? Granules of `mask` are in question. */
static bool row_is_known(const struct rows_visit *v, const struct row *r, const struct row *now,
			 bool is_write, u32 mask)
{
	u32 theirs = 0, ours = 0;

	for (u32 m = mask; m; m &= m - 1) {
		u32 i = (u32)__builtin_ctz(m), t = row_lanes(r, i), o = row_lanes(now, i);

		if (t == theirs && o == ours)
			continue;
		theirs = t;
		ours = o;
		for (u32 x = o; x; x &= x - 1)
			for (u32 y = t; y; y &= y - 1)
				if (!lane_is_known(v, (u32)__builtin_ctz(x), r,
						   (u32)__builtin_ctz(y), is_write))
					return false;
	}
	return true;
}

static bool row_is_before(const struct rows_visit *v, const struct row *r, const struct row *now,
			  bool is_write)
{
	u32 mask = r->mask & now->mask;
	u64 who = r->warp << 5;

	if (!mask)
		return true;
	if (r->warp == now->warp && r->shift == now->shift && r->set == now->set &&
	    !(r->set & (r->set - 1)) && who_agent_of(who) == AGENT_THREAD)
		return true;
	if (r->time <= v->known && who_cta_of(who) == v->cta->number &&
	    who_agent_of(who) == AGENT_THREAD && who_agent_of(now->warp << 5) == AGENT_THREAD)
		return true;
	return row_is_known(v, r, now, is_write, mask);
}

/* Nothing races with it, so that its order among other accesses does not matter. */
static bool piece_is_ordered(const struct rows_visit *v, const struct piece *p)
{
	const struct row *r = rows_list(p->rows);
	u32 n = v->reads ? p->rows->writes : p->rows->len;

	for (u32 i = 0; i < n; i++)
		if (!row_is_before(v, &r[i], &p->row, i < p->rows->writes))
			return false;
	return true;
}

static bool overlaps_before(const struct rows_visit *v, u32 i)
{
	for (u32 k = 0; k < i; k++)
		if (v->piece[i].rows == v->piece[k].rows &&
		    v->piece[i].row.mask & v->piece[k].row.mask)
			return true;
	return false;
}

/* Do two pieces of a store touch the same? Most have rows of their own, as a few bits tell. */
static bool touches_twice(const struct rows_visit *v)
{
	u64 seen[4] = {0};

	for (u32 i = 0; i < v->n; i++) {
		u64 hash = (u64)(uintptr_t)v->piece[i].rows * 0x9e3779b97f4a7c15u >> 56;
		u64 bit = (u64)1 << (hash & 63);

		if (v->piece[i].rows && (seen[hash >> 6] & bit) && overlaps_before(v, i))
			return true;
		seen[hash >> 6] |= bit;
	}
	return false;
}

/* Pages on which something may race get their cells. */
static void end_unordered(struct rows_visit *v)
{
	bool twice = !v->reads && touches_twice(v);

	for (u32 i = 0; i < v->n; i++) {
		struct piece *p = &v->piece[i];

		if (p->page->rows && (twice || !piece_is_ordered(v, p)) &&
		    !shadow_end_rows(&v->launch->global, p->page))
			v->gave_up = true;
	}
}

/* The lanes that cells are to see. */
static u32 note_pieces(struct rows_visit *v)
{
	struct rows_pool *pool = &v->launch->global.pool;
	u32 rest = 0;

	for (u32 i = 0; i < v->n; i++) {
		struct piece *p = &v->piece[i];

		if (p->page->rows && (v->reads ? rows_read(pool, p->rows, &p->row, v->known)
					       : rows_write(pool, p->rows, &p->row)))
			continue;
		if (p->page->rows && !shadow_end_rows(&v->launch->global, p->page))
			v->gave_up = true;
		rest |= p->lanes;
	}
	return rest;
}

/* What is known of places apart from each other, on its way from memory for all lanes at once. */
static void prefetch_pages(const struct rows_visit *v)
{
	const struct shadow_page *page[WARP_LANES];
	u32 n = 0;

	for (u32 m = v->a->mask; m; m &= m - 1) {
		page[n] = shadow_page_at(&v->launch->global, v->a->address[__builtin_ctz(m)]);
		if (page[n])
			__builtin_prefetch(page[n]);
		n++;
	}
	for (u32 i = 0, m = v->a->mask; i < n; i++, m &= m - 1) {
		u64 at = v->a->address[__builtin_ctz(m)] % SHADOW_PAGE;

		if (page[i] && page[i]->rows)
			__builtin_prefetch(&page[i]->rows[at >> page[i]->shift >> 4], 1);
		else if (page[i] && page[i]->runs)
			__builtin_prefetch(page[i]->runs, 1);
	}
}

/* ---- the access ---- */

/* dense: as is_dense. */
static bool has_rows(const struct exec_access *a, bool dense)
{
	u64 bits = dense ? a->address[0] : 0;

	if (a->bytes > 32 || a->bytes & (a->bytes - 1))
		return false;
	for (u32 m = dense ? 0 : a->mask; m; m &= m - 1)
		bits |= a->address[__builtin_ctz(m)];
	return !(bits & (a->bytes - 1));
}

u32 race_rows(struct race_launch *l, struct clock_cta *cta, const struct exec_access *a,
	      enum agent agent)
{
	bool stores = a->kind == ACCESS_STORE, dense = is_dense(a);
	struct rows_visit v;
	u32 rest;

	/* Copies of the asynchronous proxy want a fence behind what is ordered, too: cells tell. */
	if (!stores && a->kind != ACCESS_LOAD && agent != AGENT_COPY)
		return a->mask;
	if (!has_rows(a, dense) ||
	    (stores && (a->count > QUICK_ELEMENTS || (u32)a->size * a->count != a->bytes)))
		return a->mask;
	v.launch = l;
	v.cta = cta;
	v.a = a;
	v.warp = who_agent(cta->number, a->warp * WARP_LANES, agent) >> 5;
	v.reads = !stores;
	v.merges = a->kind == ACCESS_LOAD;
	v.gave_up = false;
	v.shift = (u32)__builtin_ctzll(a->bytes);
	v.known = cta->warp_known[a->warp];
	v.kept = 0;
	v.n = 0;
	if (!stores && !dense && keep_all(&v)) {
		l->gave_up |= v.gave_up;
		return 0;
	}
	if (stores && !dense)
		prefetch_pages(&v);
	for (u32 e = 0; stores && e < a->count; e++)
		v.silent[e] = race_silent_lanes(a, e, dense);
	if (!add_lane_pieces(&v, dense)) {
		l->gave_up |= v.gave_up;
		return a->mask;
	}
	if (v.kept)
		l->gave_up |= !keep_lanes(&v, v.kept);
	end_unordered(&v);
	rest = note_pieces(&v);
	l->gave_up |= v.gave_up;
	for (u32 m = stores && l->variables.len ? a->mask & ~rest : 0; m; m &= m - 1)
		clock_overwritten(&l->variables, a->address[__builtin_ctz(m)] / 4 + 1);
	return rest;
}
