/*
 * The observers of `ptxloom exec`.
 */
#include "src/tools/exec_watch.h"

const struct exec_observer *exec_watch_open(struct exec_watch *w, bool *ok)
{
	*ok = true;
	watch_tee_init(&w->tee);
	if (w->trace_path) {
		w->file = strcmp(w->trace_path, "-") ? fopen(w->trace_path, "w") : stdout;
		*ok = w->file != NULL;
		if (!*ok)
			return NULL;
		watch_trace_init(&w->trace, w->file);
		watch_tee_add(&w->tee, &w->trace.observer);
	}
	if (w->count) {
		watch_counters_init(&w->counters);
		watch_tee_add(&w->tee, &w->counters.observer);
	}
	if (w->races) {
		race_check_init(&w->race, w->mem, &w->found);
		watch_tee_add(&w->tee, &w->race.observer);
	}
	return w->tee.len ? &w->tee.observer : NULL;
}

bool exec_watch_found(const struct exec_watch *w)
{
	return w->found.errors != 0;
}

bool exec_watch_close(struct exec_watch *w)
{
	bool ok;

	for (u32 i = 0; w->count && w->tee.len && i < WATCH_METRICS; i++)
		printf("%-68s %12llu  %s\n", watch_metric_name(i),
		       (unsigned long long)w->counters.value[i], watch_metric_what(i));
	if (w->races && w->tee.len) {
		race_totals_print(&w->found);
		race_check_fini(&w->race);
	}
	if (!w->file)
		return true;
	watch_trace_fini(&w->trace);
	ok = !ferror(w->file);
	if (w->file != stdout)
		ok = !fclose(w->file) && ok;
	w->file = NULL;
	return ok;
}
