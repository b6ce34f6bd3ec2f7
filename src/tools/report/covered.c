/*
 * `ptxloom report --coverage`: how much of the device code was run, beside what was found.
 */
#include "src/tools/report/report.h"

#include <stdio.h>

bool report_cover(struct report *r, const struct cover_choice *choice)
{
	r->damaged += r->covered.damaged;
	if (!r->covered.files)
		return true;
	cover_profile_sort(&r->covered.profile);
	r->has_coverage = cover_model_make(&r->model, &r->covered, choice);
	r->damaged += r->model.damaged;
	return r->has_coverage;
}

/* "80.0% (4 of 5)" */
static void say_part(struct text *t, u32 hit, u32 all)
{
	if (all)
		text_printf(t, "%.1f%% (%u of %u)", cover_percent(hit, all), hit, all);
	else
		text_puts(t, "none");
}

static void say_sum(const struct cover_sum *s, const char *between, struct text *t)
{
	say_part(t, s->lines_hit, s->lines);
	text_puts(t, between);
	say_part(t, s->ways_hit, s->ways);
	text_puts(t, between);
	say_part(t, s->functions_hit, s->functions);
}

void report_cover_text(const struct report *r, struct text *out)
{
	struct cover_sum s;

	if (!r->has_coverage)
		return;
	s = cover_sum_all(&r->model);
	text_puts(out, "coverage of device code: lines ");
	say_part(out, s.lines_hit, s.lines);
	text_puts(out, ", branches ");
	say_part(out, s.ways_hit, s.ways);
	text_puts(out, ", functions ");
	say_part(out, s.functions_hit, s.functions);
	text_puts(out, "\n");
}

void report_cover_markdown(const struct report *r, struct text *out)
{
	struct cover_sum s;

	if (!r->has_coverage)
		return;
	text_puts(out, "\n| device code | lines | branches | functions |\n|---|---|---|---|\n");
	for (size_t i = 0; i < r->model.files.len; i++) {
		s = cover_sum_file(&r->model, &r->model.files.at[i]);
		text_puts(out, "| ");
		report_markdown_cell(out, r->model.files.at[i].path);
		text_puts(out, " | ");
		say_sum(&s, " | ", out);
		text_puts(out, " |\n");
	}
	s = cover_sum_all(&r->model);
	text_puts(out, "| **all** | ");
	say_sum(&s, " | ", out);
	text_puts(out, " |\n");
}

static cJSON *sum_json(const struct cover_sum *s)
{
	const struct {
		const char *name;
		u32 number;
	} members[] = {{"lines", s->lines},         {"lines_hit", s->lines_hit},
		       {"branches", s->ways},       {"branches_hit", s->ways_hit},
		       {"functions", s->functions}, {"functions_hit", s->functions_hit}};
	cJSON *o = cJSON_CreateObject();

	for (size_t i = 0; i < ARRAY_LEN(members); i++)
		cJSON_AddNumberToObject(o, members[i].name, members[i].number);
	return o;
}

void report_cover_json(const struct report *r, cJSON *root)
{
	struct cover_sum s;
	cJSON *all, *files;

	if (!r->has_coverage)
		return;
	s = cover_sum_all(&r->model);
	all = sum_json(&s);
	files = cJSON_AddArrayToObject(all, "files");
	for (size_t i = 0; i < r->model.files.len; i++) {
		cJSON *file;

		s = cover_sum_file(&r->model, &r->model.files.at[i]);
		file = sum_json(&s);
		cJSON_AddStringToObject(file, "file", r->model.files.at[i].path);
		cJSON_AddItemToArray(files, file);
	}
	cJSON_AddItemToObject(root, "coverage", all);
}
