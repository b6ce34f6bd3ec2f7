/*
 * Rows of what runs say.
 */
#include "src/check/race/shadow.h"

#include <stdlib.h>

/* Single bytes or halves. */
static bool has_narrow(const struct runs *s)
{
	for (u32 i = 0; s && i < s->len; i++)
		if (s->at[i].width < 2)
			return true;
	return false;
}

static struct touch touch_of_run(const struct row *r, u32 granule)
{
	u32 lanes = row_lanes(r, granule);

	return (struct touch){.who = r->warp << 5 | (u32)__builtin_ctz(lanes),
			      .lanes = lanes,
			      .time = r->time,
			      .pc = r->pc,
			      .silent = r->silent >> granule & 1};
}

/* What rows have no room for, cells have. */
static bool add_to_cells(struct cell *c, const struct row *r, bool writes, u32 known)
{
	for (u32 m = r->mask; m; m &= m - 1) {
		u32 granule = (u32)__builtin_ctz(m);
		struct touch t = touch_of_run(r, granule);

		if (writes)
			cell_clear_readers(&c[granule]);
		if (!(writes ? cell_set_write(&c[granule], &t)
			     : cell_add_reader(&c[granule], &t, known)))
			return false;
	}
	return true;
}

bool shadow_note_run(struct shadow *s, struct shadow_page *p, const struct run *x)
{
	bool writes = x->flags & RUN_WRITES;

	for (u32 from = x->first; from < (u32)x->first + x->bytes;) {
		u32 stretch = from / (ROWS_GRANULES << p->shift);
		struct row row;

		from = run_row(x, p->shift, from, &row);
		if (p->rows && (writes ? rows_write(&s->pool, &p->rows[stretch], &row)
				       : rows_read(&s->pool, &p->rows[stretch], &row, x->known)))
			continue;
		if (p->rows && !shadow_end_rows(s, p))
			return false;
		p->is_written |= writes;
		if (!add_to_cells(p->cell + (size_t)stretch * ROWS_GRANULES, &row, writes,
				  x->known))
			return false;
	}
	return true;
}

bool shadow_end_runs(struct shadow *s, struct shadow_page *p)
{
	struct runs *runs = p->runs;
	bool ok = true;

	p->shift = has_narrow(runs) ? 0 : 2;
	p->rows = calloc((SHADOW_PAGE >> p->shift) / ROWS_GRANULES, sizeof(*p->rows));
	if (!p->rows)
		return false;
	p->runs = NULL;
	for (u32 i = 0; ok && runs && i < runs->len; i++)
		for (u32 k = 0; ok && k < runs->at[i].count; k++) {
			struct run x = run_access(&runs->at[i], k);

			ok = shadow_note_run(s, p, &x);
		}
	runs_free(&s->runs, runs);
	return ok;
}

bool shadow_keep_reads(struct shadow *s, struct shadow_page *p)
{
	if (!shadow_end_runs(s, p))
		return false;
	p->keeps_reads = p->rows;
	return true;
}
