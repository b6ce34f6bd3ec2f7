/*
 * Reports in memory.
 */
#include "src/profile/report.h"
#include "src/profile/table/migrations.h"

#include <stdlib.h>

const struct profile_insn *profile_insn_of(const struct profile_launch *l,
					   const struct profile_row *row)
{
	return row->insn < l->program->insns.len ? &l->program->insns.at[row->insn] : NULL;
}

const struct profile_program *profile_program_hold(const struct profile_program *p)
{
	__atomic_add_fetch((u32 *)&p->holders, 1, __ATOMIC_RELAXED);
	return p;
}

void profile_program_free(struct profile_program *p)
{
	if (!p || __atomic_fetch_sub(&p->holders, 1, __ATOMIC_ACQ_REL))
		return;
	for (size_t i = 0; i < p->strings.len; i++)
		free(p->strings.at[i]);
	VEC_FREE(&p->strings);
	VEC_FREE(&p->insns);
	free(p->kernel);
	free(p->name);
	free(p->ptx);
	free(p->compiler);
	free(p);
}

void profile_launch_forget(struct profile_launch *l)
{
	for (size_t i = 0; i < l->variables.len; i++)
		free(l->variables.at[i].name);
	VEC_FREE(&l->variables);
	for (size_t i = 0; i < l->shared.len; i++)
		free(l->shared.at[i].name);
	VEC_FREE(&l->shared);
	VEC_FREE(&l->links);
}

void profile_launch_bare(struct profile_launch *l)
{
	memset(&l->rows, 0, sizeof(l->rows));
	memset(&l->spread, 0, sizeof(l->spread));
	memset(&l->variables, 0, sizeof(l->variables));
	memset(&l->shared, 0, sizeof(l->shared));
	memset(&l->links, 0, sizeof(l->links));
	l->has_spread = l->has_variables = false;
}

void profile_launch_free(struct profile_launch *l)
{
	if (!l)
		return;
	VEC_FREE(&l->rows);
	VEC_FREE(&l->spread);
	profile_launch_forget(l);
	profile_ranges_view_free(l->own_ranges);
	free(l->device_name);
	free(l);
}

void profile_report_keep(struct profile_report *r, const bool *keep)
{
	size_t len = 0;

	for (size_t i = 0; i < r->launches.len; i++) {
		if (!keep[i]) {
			profile_launch_free(r->launches.at[i]);
			continue;
		}
		r->launches.at[i]->number = len;
		r->launches.at[len++] = r->launches.at[i];
	}
	r->launches.len = len;
}

void profile_report_fini(struct profile_report *r)
{
	for (size_t i = 0; i < r->launches.len; i++)
		profile_launch_free(r->launches.at[i]);
	for (size_t i = 0; i < r->processes.len; i++) {
		struct profile_process *p = r->processes.at[i];

		for (size_t k = 0; k < p->programs.len; k++)
			profile_program_free(p->programs.at[k]);
		VEC_FREE(&p->programs);
		VEC_FREE(&p->copies);
		profile_migrations_forget(p);
		free(p->name);
		free(p);
	}
	for (size_t i = 0; i < r->events.len; i++)
		free(r->events.at[i].name);
	VEC_FREE(&r->events);
	VEC_FREE(&r->launches);
	VEC_FREE(&r->processes);
}
