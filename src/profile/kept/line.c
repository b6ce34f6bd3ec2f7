/*
 * Which columns of the rows make a short metric. Others, of caches and of parts of the hardware,
 * are not known for single instructions.
 */
#include "src/profile/kept/line.h"

#include "src/base/file.h"
#include "src/profile/kept/blame.h"
#include "src/profile/report.h"

#include <math.h>

#define NOTHING PROFILE_COLUMNS

/* As ptx__inst_executed_op_barrier: neither of warps nor of clusters. */
#define BARRIERS                                                                                   \
	"bar.sync bar.red bar.arrive bar.cta barrier.sync barrier.red barrier.arrive barrier.cta"

/*
 * The metric is of - less, for each `per`, of instructions that begin with one of the words `op`;
 * none: of all.
 */
static const struct {
	const char *name, *op;
	u32 of, less, per;
} line_metrics[] = {
	{"bank_conflicts", "", COLUMN_shared_passes, COLUMN_shared_ideal, NOTHING},
	{"barriers", BARRIERS, COLUMN_inst, NOTHING, NOTHING},
	{"divergent_branches", "", COLUMN_divergent, NOTHING, NOTHING},
	{"global_ld_efficiency", "ld", COLUMN_bytes, NOTHING, COLUMN_global_sectors},
	{"global_ld_sectors", "ld", COLUMN_global_sectors, NOTHING, NOTHING},
	{"global_sectors", "", COLUMN_global_sectors, NOTHING, NOTHING},
	{"global_sectors_ideal", "", COLUMN_global_ideal, NOTHING, NOTHING},
	{"global_st_efficiency", "st", COLUMN_bytes, NOTHING, COLUMN_global_sectors},
	{"global_st_sectors", "st", COLUMN_global_sectors, NOTHING, NOTHING},
	{"lanes_active", "", COLUMN_threads, NOTHING, COLUMN_inst},
	{"global_ld_requests", "ld", COLUMN_global_requests, NOTHING, NOTHING},
	{"global_ld_sectors_per_request", "ld", COLUMN_global_sectors, NOTHING,
	 COLUMN_global_requests},
	{"global_st_requests", "st", COLUMN_global_requests, NOTHING, NOTHING},
	{"global_st_sectors_per_request", "st", COLUMN_global_sectors, NOTHING,
	 COLUMN_global_requests},
	{"instructions", "", COLUMN_inst, NOTHING, NOTHING},
	{"local_sectors", "", COLUMN_local_sectors, NOTHING, NOTHING},
	{"thread_instructions", "", COLUMN_threads, NOTHING, NOTHING},
};

/* Of a metric by its long name, too; m->name: it has no short one. */
static const char *short_name_of(const struct metric_named *m)
{
	struct metric_named s;

	for (u32 i = 0; metric_short(i, &s); i++)
		if (s.metric == m->metric && s.scale == m->scale)
			return s.name;
	return m->name;
}

/* ARRAY_LEN(line_metrics): none. */
static size_t line_metric_of(const struct metric_named *m)
{
	const char *name = short_name_of(m);
	size_t i = 0;

	while (i < ARRAY_LEN(line_metrics) && strcmp(line_metrics[i].name, name) != 0)
		i++;
	return i;
}

bool line_metric_check(const struct metric_named *m, struct text *why)
{
	if (line_metric_of(m) < ARRAY_LEN(line_metrics))
		return true;
	text_printf(why, "%s is not counted by line; these are:", m->name);
	for (size_t i = 0; i < ARRAY_LEN(line_metrics); i++)
		text_printf(why, "%s %s", i ? "," : "", line_metrics[i].name);
	return false;
}

static bool belongs(const struct metric_claim *c, const struct profile_program *p,
		    const struct profile_insn *in)
{
	return (in->line == c->line && in->file &&
		file_ends_with(in->file, strlen(in->file), c->file)) ||
	       (in->ptx_line == c->line && file_ends_with(p->ptx, strlen(p->ptx), c->file));
}

static bool is_of(const char *words, const char *text)
{
	text = profile_unguarded(text);
	for (size_t n; *words; words += n + (words[n] == ' ')) {
		n = strcspn(words, " ");
		if (!strncmp(text, words, n))
			return true;
		if (!words[n])
			return false;
	}
	return true;
}

static u64 part_of_row(const struct profile_row *r, u32 column)
{
	return column == NOTHING ? 0 : r->at[column];
}

void line_sum_add(struct line_sum *s, const struct metric_claim *c, const struct profile_launch *l)
{
	size_t m = line_metric_of(&c->named);

	for (size_t i = 0; i < l->program->insns.len; i++)
		s->insns += belongs(c, l->program, &l->program->insns.at[i]);
	for (size_t i = 0; i < l->rows.len; i++) {
		const struct profile_row *r = &l->rows.at[i];
		const struct profile_insn *in = profile_insn_of(l, r);
		u64 of = part_of_row(r, line_metrics[m].of),
		    less = part_of_row(r, line_metrics[m].less),
		    per = part_of_row(r, line_metrics[m].per);

		if (!in || !is_of(line_metrics[m].op, in->text))
			continue;
		of = of > less ? of - less : 0;
		s->all_of += of;
		s->all_per += per;
		s->of += belongs(c, l->program, in) ? of : 0;
		s->per += belongs(c, l->program, in) ? per : 0;
	}
}

/* As the metric of a launch says it: a rate of nothing is 0. */
static double line_rate(const struct metric_claim *c, u64 of, u64 per)
{
	u32 column = line_metrics[line_metric_of(&c->named)].per;

	if (column == NOTHING)
		return (double)of;
	return per ? (double)of / (double)per * (column == COLUMN_global_sectors ? 1.0 / 32 : 1)
		   : 0;
}

bool line_metric_value(const struct metric_claim *c, const struct line_sum *s, double whole,
		       double *out, struct text *why)
{
	double all = line_rate(c, s->all_of, s->all_per);

	*out = line_rate(c, s->of, s->per);
	if (!s->insns) {
		text_printf(why, "no instruction that was launched is of %s:%u", c->file, c->line);
		return false;
	}
	if (fabs(all - whole) <= 1e-9 * fabs(whole))
		return true;
	text_printf(why, "%s is not known by line here: instructions have %.10g of %.10g",
		    c->named.name, all, whole);
	return false;
}
