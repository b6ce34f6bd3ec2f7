/*
 * Copies of the launches that are kept, each in an arena of its own.
 */
#include "src/profile/kept/kept_int.h"

#include "src/base/arena.h"
#include "src/profile/metrics.h"
#include "src/profile/report.h"

#include <math.h>
#include <stdlib.h>

struct kept_copy {
	struct ptxloom_counters list; /* what the program sees: the first member */
	struct arena arena;
	bool failed; /* no memory left */
};

static void *kept_room(struct kept_copy *c, u64 count, size_t size)
{
	u64 bytes;
	void *to = size_mul(count + 1, size, &bytes) && bytes <= SIZE_MAX
			   ? arena_alloc(&c->arena, (size_t)bytes)
			   : NULL;

	c->failed |= !to;
	return to;
}

#define KEPT_ROOM(c, type, count) ((type *)kept_room(c, count, sizeof(type)))

static const char *kept_string(struct kept_copy *c, const char *from)
{
	const char *to = from ? arena_strdup(&c->arena, from, strlen(from)) : NULL;

	c->failed |= from && !to;
	return to;
}

static const double *copy_values(struct kept_copy *c, const struct profile_launch *l)
{
	double *to = KEPT_ROOM(c, double, metric_count());

	for (u32 i = 0; to && i < metric_count(); i++) {
		struct metric_number n = metric_value(i, l);

		to[i] = n.is_known ? metric_real(&n) : (double)NAN;
	}
	return to;
}

static const struct ptxloom_counted_launch *copy_launch(struct kept_copy *c,
							const struct profile_launch *l)
{
	struct ptxloom_counted_launch *to = KEPT_ROOM(c, struct ptxloom_counted_launch, 1);

	if (!to)
		return NULL;
	to->number = l->number;
	memcpy(to->grid, l->grid, sizeof(to->grid));
	memcpy(to->block, l->block, sizeof(to->block));
	memcpy(to->cluster, l->cluster, sizeof(to->cluster));
	to->device = l->device;
	to->device_name = kept_string(c, l->device_name);
	to->stream = l->stream;
	to->value = copy_values(c, l);
	return to;
}

static const struct ptxloom_counted_insn *
copy_insn(struct kept_copy *c, const struct profile_launch *l, const struct profile_row *row)
{
	struct ptxloom_counted_insn *to = KEPT_ROOM(c, struct ptxloom_counted_insn, 1);
	const struct profile_insn *insn = profile_insn_of(l, row);
	u64 *count = KEPT_ROOM(c, u64, PROFILE_COLUMNS);

	if (!to || !count || !insn)
		return NULL;
	to->function = kept_string(c, insn->function);
	to->text = kept_string(c, insn->text);
	to->file = kept_string(c, insn->file);
	to->line = insn->line;
	to->ptx_line = insn->ptx_line;
	memcpy(count, row->at, sizeof(row->at));
	to->count = count;
	return to;
}

static const struct ptxloom_counted_kernel *copy_kernel(struct kept_copy *c,
							const struct kernel_sum *s)
{
	struct ptxloom_counted_kernel *to = KEPT_ROOM(c, struct ptxloom_counted_kernel, 1);
	size_t launches = s->launches.len, rows = s->sum.rows.len;
	const struct ptxloom_counted_launch **launch =
		KEPT_ROOM(c, const struct ptxloom_counted_launch *, launches);
	const struct ptxloom_counted_insn **insn =
		KEPT_ROOM(c, const struct ptxloom_counted_insn *, rows);

	if (!to || !launch || !insn)
		return NULL;
	for (size_t i = 0; i < launches && !c->failed; i++)
		launch[i] = copy_launch(c, s->launches.at[i]);
	for (size_t i = 0; i < rows && !c->failed; i++)
		insn[i] = copy_insn(c, &s->sum, &s->sum.rows.at[i]);
	to->name = kept_string(c, s->sum.program->name);
	to->mangled = kept_string(c, s->sum.program->kernel);
	to->value = copy_values(c, &s->sum);
	to->launch_count = launches;
	to->launch = launch;
	to->insn_count = rows;
	to->insn = insn;
	return to;
}

static void copy_names(struct kept_copy *c)
{
	const struct ptxloom_metric_info **metric =
		KEPT_ROOM(c, const struct ptxloom_metric_info *, metric_count());
	struct ptxloom_metric_info *info = KEPT_ROOM(c, struct ptxloom_metric_info, metric_count());
	const char **column = KEPT_ROOM(c, const char *, PROFILE_COLUMNS);

	for (u32 i = 0; metric && info && i < metric_count(); i++) {
		info[i] = (struct ptxloom_metric_info){metric_name(i), metric_unit(i),
						       (int)metric_kind_of(i)};
		metric[i] = &info[i];
	}
	for (u32 i = 0; column && i < PROFILE_COLUMNS; i++)
		column[i] = profile_column_name(i);
	c->list.metric_count = metric_count();
	c->list.metric = metric;
	c->list.column_count = PROFILE_COLUMNS;
	c->list.column = column;
}

static void copy_kernels(struct kept_copy *c, const struct kernel_sums *k)
{
	const struct ptxloom_counted_kernel **kernel =
		KEPT_ROOM(c, const struct ptxloom_counted_kernel *, k->at.len);

	for (size_t i = 0; kernel && i < k->at.len && !c->failed; i++)
		kernel[i] = copy_kernel(c, &k->at.at[i]);
	c->list.kernel_count = k->at.len;
	c->list.kernel = kernel;
}

const struct ptxloom_counters *profile_kept_counters(struct profile_kept *k)
{
	struct kept_copy *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	arena_init(&c->arena, 0);
	copy_names(c);
	if (k) {
		pthread_mutex_lock(&k->lock);
		c->failed |= k->is_short;
		copy_kernels(c, &k->kernels);
		pthread_mutex_unlock(&k->lock);
	}
	if (!c->failed)
		return &c->list;
	profile_counters_free(&c->list);
	return NULL;
}

void profile_counters_free(const struct ptxloom_counters *list)
{
	struct kept_copy *c = (struct kept_copy *)list;

	if (!c)
		return;
	arena_fini(&c->arena);
	free(c);
}
