/*
 * Managed memory in reports.
 */
#include "src/profile/table/migrations.h"

#include "src/cache/play.h"
#include "src/managed/managed.h"
#include "src/profile/json_out.h"
#include "src/profile/table/links.h"

_Static_assert((int)CACHE_PLACE_READ == (int)MANAGED_READ &&
		       (int)CACHE_PLACE_WRITTEN == (int)MANAGED_WRITTEN &&
		       CACHE_PLACE_PAGE == MANAGED_PAGE,
	       "pages are told as they were counted");

/* ---- a launch ---- */

static void count_touched(const struct managed_touch *t, u64 *value)
{
	for (u64 i = 0; i < t->pages; i++)
		value[VALUE_managed_touched] += t->page[i] ? MANAGED_PAGE : 0;
}

bool profile_migrations_end(struct managed *m, u32 device, const struct cache_places *places,
			    u64 value[PROFILE_VALUES])
{
	VEC(struct managed_touch) touched = {0};
	struct managed_counts n;
	bool ok = true;

	for (u32 i = 0; places && i < places->len; i++) {
		const struct cache_place *at = &places->at[i];
		struct managed_touch t = {at->base, at->page, at->pages};

		if (!t.page)
			continue;
		ok &= VEC_PUSH(&touched, t);
		count_touched(&t, value);
	}
	managed_launch_end(m, device, touched.at, (u32)touched.len, &n);
	VEC_FREE(&touched);
	value[VALUE_managed_faults] = n.faults[device];
	value[VALUE_managed_populated] = n.populated[device];
	value[VALUE_managed_remote] = n.remote[device];
	value[VALUE_managed_thrashed] = n.thrashed[device];
	value[VALUE_managed_transfers] = n.transfers[MANAGED_HOST][device];
	value[VALUE_managed_host] = n.bytes[MANAGED_HOST][device];
	for (u32 from = 0; from < MANAGED_DEVICES; from++)
		value[VALUE_managed_peer] += n.bytes[from][device];
	return ok;
}

/* ---- a process ---- */

static u32 shown_place(u32 end)
{
	return end == MANAGED_HOST ? PROFILE_HOST : end;
}

bool profile_migrations_sum(struct managed *m, struct profile_process *p)
{
	struct managed_counts n;
	bool ok = true;

	managed_sum(m, &n);
	for (u32 to = 0; to < MANAGED_ENDS; to++) {
		struct profile_residence at = {shown_place(to), n.faults[to], n.populated[to],
					       n.remote[to], n.thrashed[to]};

		if (at.faults || at.populated || at.remote)
			ok &= VEC_PUSH(&p->residences, at);
		for (u32 from = 0; from < MANAGED_ENDS; from++) {
			struct profile_migration x = {shown_place(from), shown_place(to),
						      n.transfers[from][to], n.bytes[from][to]};

			if (x.bytes)
				ok &= VEC_PUSH(&p->migrations, x);
		}
	}
	return ok;
}

void profile_migrations_forget(struct profile_process *p)
{
	VEC_FREE(&p->migrations);
	VEC_FREE(&p->residences);
}

/* ---- written ---- */

static void write_numbers(const u64 *x, u32 n, struct text *out)
{
	for (u32 i = 0; i < n; i++) {
		text_puts(out, ", ");
		json_out_number(x[i], out);
	}
	text_puts(out, "]");
}

void profile_migrations_write(const struct profile_process *p, struct text *out)
{
	for (size_t i = 0; i < p->migrations.len; i++) {
		const struct profile_migration *x = &p->migrations.at[i];

		text_puts(out, i ? ", [" : ", \"migrations\": [[");
		profile_link_end_write(x->from, out);
		text_puts(out, ", ");
		profile_link_end_write(x->to, out);
		write_numbers((const u64[]){x->transfers, x->bytes}, 2, out);
		text_puts(out, i + 1 == p->migrations.len ? "]" : "");
	}
	for (size_t i = 0; i < p->residences.len; i++) {
		const struct profile_residence *x = &p->residences.at[i];

		text_puts(out, i ? ", [" : ", \"residences\": [[");
		profile_link_end_write(x->end, out);
		write_numbers((const u64[]){x->faults, x->populated, x->remote, x->thrashed}, 4,
			      out);
		text_puts(out, i + 1 == p->residences.len ? "]" : "");
	}
}

static void json_begin(const char *name, bool any, u64 pid, struct text *out)
{
	if (any)
		text_puts(out, ",");
	else
		text_printf(out, ",\n \"%s\": [", name);
	text_printf(out, "\n  {\"process\": %llu, ", (unsigned long long)pid);
}

void profile_migrations_json(const struct profile_report *r, struct text *out)
{
	bool any = false;

	for (size_t i = 0; i < r->processes.len; i++)
		for (size_t k = 0; k < r->processes.at[i]->migrations.len; k++) {
			const struct profile_migration *x = &r->processes.at[i]->migrations.at[k];

			json_begin("migrations", any, r->processes.at[i]->pid, out);
			profile_link_end_json("from", x->from, out);
			text_puts(out, ", ");
			profile_link_end_json("to", x->to, out);
			json_out_count("transfers", x->transfers, out);
			json_out_count("bytes", x->bytes, out);
			text_puts(out, "}");
			any = true;
		}
	text_puts(out, any ? "]" : "");
	any = false;
	for (size_t i = 0; i < r->processes.len; i++)
		for (size_t k = 0; k < r->processes.at[i]->residences.len; k++) {
			const struct profile_residence *x = &r->processes.at[i]->residences.at[k];

			json_begin("residences", any, r->processes.at[i]->pid, out);
			profile_link_end_json("of", x->end, out);
			json_out_count("page_faults", x->faults, out);
			json_out_count("populated_bytes", x->populated, out);
			json_out_count("remote_bytes", x->remote, out);
			json_out_count("thrashing_bytes", x->thrashed, out);
			text_puts(out, "}");
			any = true;
		}
	text_puts(out, any ? "]" : "");
}

static void put_residence(u32 end, struct text *out)
{
	struct text name = {0};

	profile_link_end_say(end, &name);
	text_printf(out, "  %-12s", name.at ? name.at : "");
	text_fini(&name);
}

static void text_of_process(const struct profile_process *p, struct text *out)
{
	text_printf(out, "  Managed Memory, process %llu\n", (unsigned long long)p->pid);
	if (p->migrations.len)
		text_printf(out, "  %-12s  %-12s %16s %16s\n", "From", "To", "Transfers", "Bytes");
	for (size_t i = 0; i < p->migrations.len; i++) {
		const struct profile_migration *x = &p->migrations.at[i];

		put_residence(x->from, out);
		put_residence(x->to, out);
		text_printf(out, " %16llu %16llu\n", (unsigned long long)x->transfers,
			    (unsigned long long)x->bytes);
	}
	text_printf(out, "  %-12s %13s %16s %16s %16s\n", "Of", "Page Faults", "Bytes First",
		    "Bytes Remote", "Bytes Thrashing");
	for (size_t i = 0; i < p->residences.len; i++) {
		const struct profile_residence *x = &p->residences.at[i];

		put_residence(x->end, out);
		text_printf(out, " %13llu %16llu %16llu %16llu\n", (unsigned long long)x->faults,
			    (unsigned long long)x->populated, (unsigned long long)x->remote,
			    (unsigned long long)x->thrashed);
	}
	text_puts(out, "\n");
}

void profile_migrations_text(const struct profile_report *r, struct text *out)
{
	for (size_t i = 0; i < r->processes.len; i++)
		if (r->processes.at[i]->residences.len)
			text_of_process(r->processes.at[i], out);
}
