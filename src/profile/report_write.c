/*
 * Writing reports.
 */
#include "src/config.h"
#include "src/profile/json_out.h"
#include "src/profile/table/links.h"
#include "src/profile/table/migrations.h"
#include "src/profile/table/shared.h"
#include "src/profile/table/variables.h"
#include "src/profile/metrics.h"
#include "src/profile/report.h"

#include "src/base/map.h"

void profile_process_write(const struct profile_process *p, struct text *out)
{
	text_printf(out, "{\"ptxloom_profile\": 1, \"version\": \"%s\", \"process\": %llu",
		    PACKAGE_VERSION, (unsigned long long)p->pid);
	json_out_text("name", p->name, out);
	text_puts(out, ", \"columns\": [");
	for (u32 i = 0; i < PROFILE_COLUMNS; i++)
		text_printf(out, "%s\"%s\"", i ? ", " : "", profile_column_name(i));
	text_puts(out, "]}\n");
}

/* ---- programs ---- */

/* Strings of a line, each written once. */
struct string_list {
	VEC(const char *) at;
	struct map by_place; /* number + 1 */
};

/* -1: there is none. */
static long string_number(struct string_list *l, const char *s)
{
	u64 *slot;

	if (!s)
		return -1;
	slot = map_get(&l->by_place, map_key(s));
	if (slot)
		return (long)*slot - 1;
	if (!VEC_PUSH(&l->at, s))
		return -1;
	map_set(&l->by_place, map_key(s), l->at.len);
	return (long)l->at.len - 1;
}

static void write_strings(struct string_list *l, const char *name, struct text *out)
{
	text_printf(out, ", \"%s\": [", name);
	for (size_t i = 0; i < l->at.len; i++) {
		text_puts(out, i ? ", " : "");
		text_json_string(out, l->at.at[i]);
	}
	text_puts(out, "]");
	VEC_FREE(&l->at);
	map_fini(&l->by_place);
}

void profile_program_write(const struct profile_program *p, struct text *out)
{
	struct string_list functions = {0}, files = {0};

	text_printf(out, "{\"program\": %llu", (unsigned long long)p->id);
	json_out_text("kernel", p->kernel, out);
	json_out_text("name", p->name, out);
	json_out_text("ptx", p->ptx, out);
	if (p->compiler)
		json_out_text("compiler", p->compiler, out);
	text_puts(out, ", \"insns\": [");
	for (size_t i = 0; i < p->insns.len; i++) {
		const struct profile_insn *x = &p->insns.at[i];

		text_printf(out, "%s[%ld, %u, %ld, %u, ", i ? ", " : "",
			    string_number(&functions, x->function), x->ptx_line,
			    string_number(&files, x->file), x->line);
		text_json_string(out, x->text);
		text_puts(out, "]");
	}
	text_puts(out, "]");
	write_strings(&functions, "functions", out);
	write_strings(&files, "files", out);
	text_puts(out, "}\n");
}

/* ---- launches ---- */

static void write_values(struct text *t, const u64 *value)
{
	bool any = false;

	text_puts(t, ", \"values\": {");
	for (u32 i = 0; i < PROFILE_VALUES; i++) {
		if (!value[i])
			continue;
		text_printf(t, "%s\"%s\": ", any ? ", " : "", profile_value_name(i));
		json_out_number(value[i], t);
		any = true;
	}
	text_puts(t, "}");
}

static void write_spread(const struct profile_launch *l, struct text *out)
{
	text_puts(out, ", \"spread\": {");
	for (size_t i = 0; i < l->spread.len; i++) {
		const struct profile_spread *s = &l->spread.at[i];
		const char *name = metric_name(s->metric);

		text_printf(out, "%s\"%.*s\": [", i ? ", " : "", (int)strcspn(name, "."), name);
		json_out_number(s->least, out);
		text_puts(out, ", ");
		json_out_number(s->most, out);
		text_puts(out, "]");
	}
	text_puts(out, "}");
}

static void write_ranges(const struct profile_ranges_view *v, struct text *out)
{
	text_printf(out, ", \"thread\": %llu, \"ranges\": [", (unsigned long long)v->thread);
	for (u32 i = 0; i < v->len; i++) {
		text_puts(out, i ? ", [" : "[");
		text_json_string(out, v->at[i].domain);
		text_puts(out, ", ");
		text_json_string(out, v->at[i].name);
		text_printf(out, ", %llu]", (unsigned long long)v->at[i].id);
	}
	text_puts(out, "]");
}

void profile_launch_write(const struct profile_launch *l, struct text *out)
{
	text_printf(out, "{\"launch\": %llu, \"program\": %llu, \"device\": %u",
		    (unsigned long long)l->number, (unsigned long long)l->program->id, l->device);
	json_out_text("device_name", l->device_name, out);
	text_printf(out, ", \"context\": %llu, \"stream\": %llu", (unsigned long long)l->context,
		    (unsigned long long)l->stream);
	json_out_box("grid", l->grid, out);
	json_out_box("block", l->block, out);
	json_out_box("cluster", l->cluster, out);
	if (l->ranges && l->ranges->len)
		write_ranges(l->ranges, out);
	write_values(out, l->value);
	if (l->has_spread)
		write_spread(l, out);
	profile_variables_write(l, out);
	profile_shared_write(l, out);
	profile_links_write(l, out);
	text_puts(out, ", \"rows\": [");
	for (size_t i = 0; i < l->rows.len; i++) {
		text_printf(out, "%s[%u", i ? ", " : "", l->rows.at[i].insn);
		for (u32 k = 0; k < PROFILE_COLUMNS; k++) {
			text_puts(out, ", ");
			json_out_number(l->rows.at[i].at[k], out);
		}
		text_puts(out, "]");
	}
	text_puts(out, "]}\n");
}

void profile_end_write(const struct profile_process *p, u64 launches, struct text *out)
{
	text_printf(out, "{\"end\": %llu", (unsigned long long)launches);
	profile_copies_write(p, out);
	profile_migrations_write(p, out);
	text_puts(out, "}\n");
}

static void write_event(const struct profile_event *x, u64 number, struct text *out)
{
	text_printf(out, x->is_work ? "{\"work\": %llu" : "{\"call\": %llu",
		    (unsigned long long)(x->is_work ? number : x->call));
	json_out_text("name", x->name, out);
	if (x->is_work)
		text_printf(out,
			    ", \"launch\": %d, \"device\": %u, \"stream\": %llu, \"call\": %llu",
			    x->is_launch, x->device, (unsigned long long)x->stream,
			    (unsigned long long)x->call);
	else
		text_printf(out, ", \"thread\": %llu, \"status\": %d",
			    (unsigned long long)x->thread, x->status);
	text_printf(out, ", \"begin\": %llu, \"end\": %llu}\n", (unsigned long long)x->begin,
		    (unsigned long long)x->end);
}

void profile_report_write(const struct profile_report *r, struct text *out)
{
	for (size_t i = 0; i < r->processes.len; i++) {
		const struct profile_process *p = r->processes.at[i];
		u64 launches = 0;

		profile_process_write(p, out);
		for (size_t k = 0; k < p->programs.len; k++)
			profile_program_write(p->programs.at[k], out);
		for (size_t k = 0; k < r->launches.len; k++) {
			if (r->launches.at[k]->process != p)
				continue;
			profile_launch_write(r->launches.at[k], out);
			launches++;
		}
		for (size_t k = 0; k < r->events.len; k++)
			if (r->events.at[k].process == p)
				write_event(&r->events.at[k], k, out);
		if (p->is_whole)
			profile_end_write(p, launches, out);
	}
}
