/*
 * Under a debugger: what the user did is noted and done again, copies of the launch, going back.
 */
#include "src/sched/debug_int.h"

#include <stdlib.h>

/* ---- deeds ---- */

void debug_note(struct debug_grid *d, struct debug_deed deed)
{
	u8 *data = NULL;

	/* What was done later the last time is not going to be. */
	while (d->deeds.len > d->deeds_done)
		free(d->deeds.at[--d->deeds.len].data);
	if (deed.data) {
		data = malloc(deed.bytes ? deed.bytes : 1);
		if (data)
			memcpy(data, deed.data, deed.bytes);
	}
	deed.time = d->time;
	if ((deed.data && !data) || !VEC_PUSH(&d->deeds, deed)) {
		free(data);
		debug_cannot_repeat(d, "the host has no memory to note what was changed");
		return;
	}
	d->deeds.at[d->deeds.len - 1].data = data;
	d->deeds_done = d->deeds.len;
}

static void do_again(struct debug_grid *d, const struct debug_deed *x)
{
	struct cta *c = debug_cta(d, x->cta);

	switch ((enum debug_deed_kind)x->kind) {
	case DEED_TURN:
		break;
	case DEED_FREEZE:
		debug_set_frozen(d, x->cta, x->warp, x->lanes, x->freeze);
		break;
	case DEED_PREFER:
		d->cursor.prefer = x->prefer;
		d->cursor.others = false;
		break;
	case DEED_JUMP:
		if (c)
			debug_jump(d, c, x->warp, x->lanes, x->pc);
		break;
	case DEED_REGISTER:
		if (c)
			debug_put_register(d, c, x->warp, x->lanes, &x->frame, x->reg, x->data,
					   (u32)x->bytes);
		break;
	case DEED_MEMORY:
		if (c)
			debug_put_memory(d, c, x->warp, x->lanes, (enum mem_space)x->space,
					 x->address, x->data, x->bytes);
		break;
	}
}

/* Returns whether the turn has to be chosen again. */
bool debug_repeat(struct debug_grid *d)
{
	bool turn = false;

	while (d->deeds_done < d->deeds.len && d->deeds.at[d->deeds_done].time <= d->time) {
		const struct debug_deed *x = &d->deeds.at[d->deeds_done++];

		do_again(d, x);
		if (x->kind == DEED_TURN || x->kind == DEED_JUMP) {
			turn = true;
			break;
		}
	}
	return turn;
}

/* ---- copies ---- */

void debug_time_begin(struct debug_grid *d, const char *why)
{
	(void)d, (void)why;
}

void debug_time_end(struct debug_grid *d)
{
	(void)d;
}

void debug_alarm(struct debug_grid *d, struct gang *g, u32 pc)
{
	(void)d, (void)g, (void)pc;
}

void debug_restore(struct debug_grid *d)
{
	(void)d;
}

void debug_cannot_repeat(struct debug_grid *d, const char *why)
{
	d->history.why = why;
}

bool debug_back(struct debug_grid *d, u64 time, u64 quiet_until, struct text *why)
{
	(void)time, (void)quiet_until;
	text_printf(why, "%s", d->history.why ? d->history.why : "nothing is kept to go back to");
	return false;
}

u64 debug_first(const struct debug_grid *d)
{
	return d->time;
}

bool debug_copy_before(const struct debug_grid *d, u64 time, u64 *at)
{
	(void)d, (void)time, (void)at;
	return false;
}

void debug_changed(struct debug_grid *d)
{
	d->latest = d->time;
}

u64 debug_latest(const struct debug_grid *d)
{
	return d->latest > d->time ? d->latest : d->time;
}
