/*
 * Keeping launches, and metrics of them.
 */
#include "src/profile/kept/base.h"
#include "src/profile/kept/blame.h"
#include "src/profile/choice.h"
#include "src/profile/collect.h"
#include "src/profile/kept/claim.h"
#include "src/profile/kept/kept_int.h"
#include "src/profile/kept/line.h"
#include "src/profile/report.h"

#include <stdlib.h>

static struct profile_kept *profile_kept_new(void)
{
	struct profile_kept *k = calloc(1, sizeof(*k));

	if (k)
		pthread_mutex_init(&k->lock, NULL);
	return k;
}

static void kept_forget(struct profile_kept *k)
{
	for (size_t i = 0; i < k->kernels.at.len; i++) {
		struct kernel_sum *s = &k->kernels.at.at[i];

		for (size_t n = 0; n < s->launches.len; n++)
			profile_launch_free((struct profile_launch *)s->launches.at[n]);
		profile_program_free((struct profile_program *)s->sum.program);
	}
	kernel_sums_fini(&k->kernels);
	k->is_short = false;
}

void profile_kept_clear(struct profile_kept *k)
{
	pthread_mutex_lock(&k->lock);
	kept_forget(k);
	pthread_mutex_unlock(&k->lock);
}

void profile_kept_free(struct profile_kept *k)
{
	if (!k)
		return;
	kept_forget(k);
	pthread_mutex_destroy(&k->lock);
	free(k);
}

u64 profile_kept_next(struct profile_kept *k)
{
	u64 next;

	pthread_mutex_lock(&k->lock);
	next = k->next;
	pthread_mutex_unlock(&k->lock);
	return next;
}

/* The same description, held before; NULL: it is new. */
static const struct profile_program *kept_program(const struct profile_kept *k, u64 id)
{
	for (size_t i = 0; i < k->kernels.at.len; i++)
		if (k->kernels.at.at[i].sum.program->id == id)
			return k->kernels.at.at[i].sum.program;
	return NULL;
}

/* With the lock held. */
static bool kept_put(struct profile_kept *k, const struct profile_launch *l)
{
	const struct profile_program *known = kept_program(k, l->program->id);
	struct profile_launch *x = malloc(sizeof(*x));
	size_t before = k->kernels.at.len, at;

	if (!x)
		return false;
	*x = *l;
	x->process = NULL;
	x->ranges = NULL;
	x->own_ranges = NULL;
	x->program = known ? known : l->program;
	x->device_name = strdup(l->device_name);
	at = x->device_name ? kernel_sums_add(&k->kernels, x) : SIZE_MAX;
	if (k->kernels.at.len > before)
		profile_program_hold(k->kernels.at.at[before].sum.program);
	/* They were borrowed for the sum. */
	profile_launch_bare(x);
	if (at == SIZE_MAX)
		profile_launch_free(x);
	else
		x->program = k->kernels.at.at[at].sum.program;
	return at != SIZE_MAX;
}

static void profile_kept_add(void *user, const struct profile_launch *l)
{
	struct profile_kept *k = user;

	pthread_mutex_lock(&k->lock);
	k->is_short |= !kept_put(k, l);
	k->next = max_u64(k->next, l->number + 1);
	pthread_mutex_unlock(&k->lock);
}

bool profile_keep(struct profile_collect **c, bool caches, struct profile_kept **kept)
{
	*kept = profile_kept_new();
	if (*kept && *c)
		profile_tell(*c, profile_kept_add, *kept);
	else if (*kept)
		*c = profile_open_told(caches, profile_kept_add, *kept);
	return *kept && *c;
}

/* ---- which launches ---- */

static void add_squeezed(const char *s, size_t n, struct text *out)
{
	for (size_t i = 0; i < n && s[i]; i++)
		if (s[i] != ' ')
			text_add(out, s + i, 1);
}

/* Are they the same but for spaces? */
static bool is_spelled(const char *s, size_t n, const char *wanted)
{
	struct text a = {0}, b = {0};
	bool same;

	add_squeezed(s, n, &a);
	add_squeezed(wanted, strlen(wanted), &b);
	same = a.at && b.at && !strcmp(a.at, b.at);
	text_fini(&a);
	text_fini(&b);
	return same;
}

static bool kept_is_kernel(const struct profile_program *p, const char *wanted,
			   const struct profile_pattern *pattern)
{
	size_t end = profile_name_end(p->name), type = strncmp(p->name, "void ", 5) ? 0 : 5;
	struct text t = {0};
	bool yes;

	profile_shown_name(p->name, BASE_FUNCTION, &t);
	yes = t.at && profile_pattern_fits(pattern, t.at);
	text_fini(&t);
	return yes || !strcmp(p->kernel, wanted) || is_spelled(p->name, strlen(p->name), wanted) ||
	       is_spelled(p->name + type, end - type, wanted) || is_spelled(p->name, end, wanted);
}

/* The next kernel of a choice (pattern NULL: all) from *i on, which moves behind it; NULL: none. */
static const struct kernel_sum *kept_next(const struct profile_kept *k, size_t *i,
					  const struct ptxloom_launches *which,
					  const struct profile_pattern *pattern)
{
	while (*i < k->kernels.at.len) {
		const struct kernel_sum *s = &k->kernels.at.at[(*i)++];

		if (!pattern || kept_is_kernel(s->sum.program, which->kernel, pattern))
			return s;
	}
	return NULL;
}

static void kept_add_launches(const struct kernel_sum *s, const struct ptxloom_launches *which,
			      struct metric_total *t)
{
	for (size_t i = 0; i < s->launches.len; i++) {
		const struct profile_launch *l = s->launches.at[i];

		if (l->number >= which->first &&
		    (!which->count || l->number - which->first < which->count))
			metric_total_add(t, l);
	}
}

/* With the lock held. */
static int kept_total(struct profile_kept *k, const struct ptxloom_launches *which,
		      struct metric_total *t, struct text *why)
{
	static const struct ptxloom_launches all;
	struct profile_pattern *pattern = NULL;
	const struct kernel_sum *s;

	which = which ? which : &all;
	if (which->kernel && !(pattern = profile_pattern_new(which->kernel, why)))
		return PTXLOOM_INVALID_VALUE;
	for (size_t i = 0; (s = kept_next(k, &i, which, pattern));)
		kept_add_launches(s, which, t);
	profile_pattern_free(pattern);
	if (t->launches && !k->is_short)
		return PTXLOOM_SUCCESS;
	if (k->is_short)
		text_puts(why, "a launch was not counted: no memory left");
	else
		text_printf(why, "no launch%s%s was counted", which->kernel ? " of " : "",
			    which->kernel ? which->kernel : "");
	return k->is_short ? PTXLOOM_OUT_OF_MEMORY : PTXLOOM_NOT_FOUND;
}

static int kept_total_of(struct profile_kept *k, const struct ptxloom_launches *which,
			 struct metric_total *t, struct text *why)
{
	int status;

	if (!k) {
		text_puts(why, "launches are not counted: open the device with `counters`, or set "
			       "PTXLOOM_COUNTERS");
		return PTXLOOM_INVALID_VALUE;
	}
	pthread_mutex_lock(&k->lock);
	status = kept_total(k, which, t, why);
	pthread_mutex_unlock(&k->lock);
	return status;
}

int profile_kept_metric(struct profile_kept *k, const struct ptxloom_launches *which,
			const char *name, double *out, struct text *why)
{
	struct metric_total t = {0};
	struct metric_named m;
	int status;

	*out = 0;
	if (!metric_named_find(name, strlen(name), &m, why))
		return metric_is_timed(name) ? PTXLOOM_NOT_SUPPORTED : PTXLOOM_NOT_FOUND;
	status = kept_total_of(k, which, &t, why);
	if (status || metric_named_value(&m, &t, out))
		return status;
	text_printf(why, "%s is of the caches, which are not played: PTXLOOM_COUNT_CACHES", name);
	return PTXLOOM_NOT_SUPPORTED;
}

/* With the lock held: the instruction that has most of it, of all the kernels. */
static void kept_blame(struct profile_kept *k, const struct ptxloom_launches *which,
		       const char *metric, const char *lead, struct text *why)
{
	struct text quiet = {0}, line = {0}, worst = {0};
	struct profile_pattern *pattern =
		which && which->kernel ? profile_pattern_new(which->kernel, &quiet) : NULL;
	const struct kernel_sum *s;
	u64 most = 0, n;

	for (size_t i = 0; (s = kept_next(k, &i, which, pattern));) {
		n = profile_blame(metric, &s->sum, &line);
		if (n > most) {
			text_fini(&worst);
			worst = line;
			most = n;
		} else {
			text_fini(&line);
		}
		line = (struct text){0};
	}
	if (worst.at)
		text_printf(why, "%s%s", lead, worst.at);
	profile_pattern_free(pattern);
	text_fini(&worst);
	text_fini(&quiet);
}

/* With the lock held. False with a line in `why`: rows are sums of all launches of a kernel. */
static bool kept_line_sum(struct profile_kept *k, const struct ptxloom_launches *which,
			  const struct metric_claim *c, struct line_sum *sum, struct text *why)
{
	struct profile_pattern *pattern =
		which && which->kernel ? profile_pattern_new(which->kernel, why) : NULL;
	const struct kernel_sum *s;
	bool ok = true;

	for (size_t i = 0; (s = kept_next(k, &i, which, pattern));) {
		struct metric_total t = {0};

		if (which)
			kept_add_launches(s, which, &t);
		if (!which || t.launches == s->launches.len)
			line_sum_add(sum, c, &s->sum);
		else
			ok &= !t.launches;
	}
	profile_pattern_free(pattern);
	if (!ok)
		text_printf(why,
			    "%s:%u: counts of lines are those of all launches of a kernel since "
			    "ptxloom_metrics_clear",
			    c->file, c->line);
	return ok;
}

static int kept_check_line(struct profile_kept *k, const struct ptxloom_launches *which,
			   const struct metric_claim *c, double whole, struct text *why)
{
	struct line_sum sum = {0};
	double x;
	bool ok;

	pthread_mutex_lock(&k->lock);
	ok = kept_line_sum(k, which, c, &sum, why);
	pthread_mutex_unlock(&k->lock);
	if (!ok)
		return PTXLOOM_NOT_SUPPORTED;
	if (!line_metric_value(c, &sum, whole, &x, why))
		return sum.insns ? PTXLOOM_NOT_SUPPORTED : PTXLOOM_NOT_FOUND;
	if (metric_claim_judge(c, x, why))
		return PTXLOOM_SUCCESS;
	why->at[--why->len] = 0;
	return PTXLOOM_ASSERT;
}

int profile_kept_check(struct profile_kept *k, const struct ptxloom_launches *which,
		       const struct metric_claim *c, struct text *why)
{
	struct metric_total t = {0};
	double x;
	int status = kept_total_of(k, which, &t, why);

	if (!status && c->line && metric_named_value(&c->named, &t, &x))
		return kept_check_line(k, which, c, x, why);
	if (status || metric_claim_check(c, &t, why))
		return status;
	if (why->len && why->at[why->len - 1] == '\n')
		why->at[--why->len] = 0;
	if (!metric_named_value(&c->named, &t, &x))
		return PTXLOOM_NOT_SUPPORTED;
	pthread_mutex_lock(&k->lock);
	kept_blame(k, which, metric_name(c->named.metric), "\n    most at ", why);
	pthread_mutex_unlock(&k->lock);
	return PTXLOOM_ASSERT;
}

int profile_kept_expect(struct profile_kept *k, const struct ptxloom_launches *which,
			const char *claim, struct text *why)
{
	struct metric_claim c;

	if (!metric_claim_parse(claim, &c, why))
		return PTXLOOM_INVALID_VALUE;
	return profile_kept_check(k, which, &c, why);
}

int profile_kept_place(struct profile_kept *k, const struct ptxloom_launches *which,
		       const char *name, struct text *out)
{
	struct metric_total t = {0};
	struct metric_named m;
	int status;

	if (!metric_named_find(name, strlen(name), &m, out))
		return PTXLOOM_NOT_FOUND;
	status = kept_total_of(k, which, &t, out);
	if (status)
		return status;
	pthread_mutex_lock(&k->lock);
	kept_blame(k, which, metric_name(m.metric), "", out);
	pthread_mutex_unlock(&k->lock);
	return out->len ? PTXLOOM_SUCCESS : PTXLOOM_NOT_FOUND;
}

bool profile_kept_save(struct profile_kept *k, struct metric_base *b)
{
	bool ok;

	pthread_mutex_lock(&k->lock);
	ok = metric_base_add(b, "", &k->kernels, NULL) && !k->is_short;
	pthread_mutex_unlock(&k->lock);
	return ok;
}
