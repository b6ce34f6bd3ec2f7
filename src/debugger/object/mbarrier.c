/*
 * mbarriers: their words, which the PTX ISA describes ("mbarrier"), lanes that wait at them, and
 * info mbarriers.
 */
#include "src/async/async.h"
#include "src/debugger/object/object.h"

/* A crowd_pick: `at` is the host's address of the mbarrier. */
static u32 pick_refused(const struct survey *s, u32 warp, const struct look_group *g, u64 at)
{
	return g->pc == NO_PC ? 0 : g->mask & async_waiting(s->c, warp, (const u64 *)(uintptr_t)at);
}

/* ---- one ---- */

void object_mbarrier(struct debugger *x, const struct cta *c, const u64 *at, u64 word,
		     struct text *out)
{
	struct mbar b = mbar_read(word);
	struct text waiting = {0};
	struct survey s;
	u64 bytes;

	text_printf(out, "{phase = %u, expected_count = %u, pending_count = %u, tx_count = %d",
		    b.phase, b.expected, b.pending, b.tx);
	if (c && async_copies_for(c, at, &bytes))
		text_printf(out, ", copies = %llu bytes", (unsigned long long)bytes);
	if (c && survey_begin(x, c, &s))
		survey_say(&s, pick_refused, (u64)(uintptr_t)at, false, &waiting);
	if (c)
		survey_end(&s);
	if (waiting.len)
		text_printf(out, ", waiting = %s", waiting.at);
	text_puts(out, "}");
	text_fini(&waiting);
}

/* ---- info mbarriers ---- */

static void mbarrier_row(const struct survey *s, const struct dbg_context *c, u32 offset,
			 struct table *t)
{
	const u64 *at = (const u64 *)(const void *)(s->c->shared + offset);
	struct mbar b = mbar_read(*at);
	struct text *name;
	u64 bytes;

	table_put(t, " ");
	table_put(t, "0x%x", offset);
	name = table_cell(t);
	look_symbol(s->x, c, DBG_SHARED, offset, name);
	table_put(t, "%u", b.phase);
	table_put(t, "%u", b.pending);
	table_put(t, "%u", b.expected);
	table_put(t, "%d", b.tx);
	async_copies_for(s->c, at, &bytes);
	table_put(t, "%llu", (unsigned long long)bytes);
	survey_say(s, pick_refused, (u64)(uintptr_t)at, false, table_cell(t));
}

void command_info_mbarriers(struct debugger *x, const struct call *call PL_UNUSED)
{
	static const char *const head[] = {" ",        "address",  "variable", "phase",  "pending",
					   "expected", "tx-count", "copies",   "waiting"};
	struct cta *c = focus_cta(x);
	struct dbg_context context;
	struct survey s;
	struct table t;

	if (!c) {
		say_error(x, "The CTA in focus is not resident");
		return;
	}
	if (!c->async || !c->async->mbars) {
		say(x, "The CTA has initialised no mbarrier.\n");
		return;
	}
	context_now(x, &context);
	table_begin(&t, ARRAY_LEN(head));
	for (size_t i = 0; i < ARRAY_LEN(head); i++)
		table_put(&t, "%s", head[i]);
	if (survey_begin(x, c, &s))
		for (u32 i = 0; i < c->async->mbars; i++)
			mbarrier_row(&s, &context, c->async->mbar[i], &t);
	survey_end(&s);
	table_say(x, &t);
}
