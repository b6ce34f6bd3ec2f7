/*
 * The observers of `ptxloom exec`.
 */
#include "src/tools/exec_watch.h"
#include "src/check/fault.h"
#include "src/debugger/debugger.h"

#include <errno.h>

const struct exec_observer *exec_watch_open(struct exec_watch *w, bool *ok, struct text *why)
{
	const struct exec_observer *checks = NULL;

	*ok = true;
	watch_tee_init(&w->tee);
	if (w->trace_path) {
		w->file = strcmp(w->trace_path, "-") ? fopen(w->trace_path, "w") : stdout;
		*ok = w->file != NULL;
		if (!*ok) {
			text_printf(why, "%s: %s", w->trace_path, strerror(errno));
			return NULL;
		}
		watch_trace_init(&w->trace, w->file);
		watch_tee_add(&w->tee, &w->trace.observer);
	}
	if (w->count) {
		watch_counters_init(&w->counters);
		w->steps = debugger_is_wanted();
		if (!w->steps)
			watch_counters_fuse(&w->counters);
		watch_tee_add(&w->tee, &w->counters.observer);
	}
	if (w->count_caches) {
		*ok = watch_caches_init(&w->caches, w->arch, false);
		w->count_caches = *ok;
		if (!*ok) {
			text_printf(why, "no memory for the caches of %s", w->arch->name);
			return NULL;
		}
		watch_tee_add(&w->tee, &w->caches.observer);
	}
	if (w->which) {
		*ok = findings_open(&w->findings, w->which, why);
		checks = checks_open(&w->checks, w->which, w->mem, NULL, &w->findings);
	}
	if (checks)
		watch_tee_add(&w->tee, checks);
	return w->tee.len ? &w->tee.observer : NULL;
}

void exec_watch_fault(struct exec_watch *w, const struct device_fault *fault)
{
	struct finding f;

	if (!w->which || fault->is_unobserved) {
		fputs(fault->message.at, stderr);
		return;
	}
	fault_finding(fault, &f);
	findings_add(&w->findings, &f);
}

static void print_caches(struct exec_watch *w)
{
	for (u32 i = 0; i < CACHES_METRICS; i++)
		printf("%-68s %12llu  %s\n", watch_caches_name(i),
		       (unsigned long long)watch_caches_value(&w->caches, i), watch_caches_what(i));
	if (w->caches.is_cut)
		fputs("ptxloom: not all accesses were played through the caches: no memory\n",
		      stderr);
	watch_caches_fini(&w->caches);
	w->count_caches = false;
}

bool exec_watch_close(struct exec_watch *w)
{
	bool ok;

	for (u32 i = 0; w->count && w->tee.len && i < WATCH_METRICS; i++)
		printf("%-68s %12llu  %s\n", watch_metric_name(i),
		       (unsigned long long)w->counters.value[i], watch_metric_what(i));
	if (w->count_caches)
		print_caches(w);
	if (w->which) {
		checks_close(&w->checks);
		w->failed = findings_fail(&w->findings);
		findings_close(&w->findings);
		w->which = 0;
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
