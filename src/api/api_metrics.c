/*
 * The C API: metrics of launches.
 */
#include "src/api/api_int.h"
#include "src/profile/claim.h"
#include "src/profile/collect.h"

#include <stdio.h>
#include <stdlib.h>

struct ptxloom_metrics {
	struct metric_total total;
};

/* What a device counts. */
struct api_metrics {
	struct profile_collect *collect;
	struct profile_device *device;
	pthread_mutex_t lock;
	struct metric_total total; /* not taken yet; lock */
};

/* Of a line without its end. */
static void give_line(const struct text *from, char *out, size_t size)
{
	size_t n = from->len && from->at[from->len - 1] == '\n' ? from->len - 1 : from->len;

	if (size)
		snprintf(out, size, "%.*s", (int)n, from->at ? from->at : "");
}

static void count_api_launch(void *user, const struct profile_launch *l)
{
	struct api_metrics *m = user;

	pthread_mutex_lock(&m->lock);
	metric_total_add(&m->total, l);
	pthread_mutex_unlock(&m->lock);
}

/* Names separated by commas: is there one of the caches? False: one is unknown, why. */
static bool read_names(const char *names, bool *caches, struct text *why)
{
	struct metric_named named;
	struct text no = {0};

	*caches = false;
	for (const char *s = names; *s;) {
		size_t n = strcspn(s, ",");

		if (!metric_named_find(s, n, &named, &no)) {
			text_printf(why, "metrics: %s", no.at ? no.at : "no memory left");
			text_fini(&no);
			return false;
		}
		*caches |= named.class == CLASS_CACHES;
		s += n + (s[n] == ',');
	}
	return true;
}

bool api_metrics_open(struct ptxloom_device *dev, const char *names, struct text *why)
{
	bool caches;
	struct api_metrics *m;

	if (!names || !*names)
		return true;
	if (dev->which) {
		text_puts(why, "metrics: launches are checked or counted, not at once");
		return false;
	}
	if (!read_names(names, &caches, why))
		return false;
	m = calloc(1, sizeof(*m));
	dev->metrics = m;
	if (!m)
		return false;
	pthread_mutex_init(&m->lock, NULL);
	m->collect = profile_open_told(caches, count_api_launch, m);
	m->device = m->collect ? profile_device_open(m->collect, &dev->dev) : NULL;
	if (m->device)
		return true;
	api_metrics_close(dev);
	return false;
}

void api_metrics_close(struct ptxloom_device *dev)
{
	struct api_metrics *m = dev->metrics;

	if (!m)
		return;
	if (m->device)
		profile_device_close(m->device);
	profile_close(m->collect);
	pthread_mutex_destroy(&m->lock);
	free(m);
	dev->metrics = NULL;
}

/* ---- what programs ask ---- */

int ptxloom_metric_known(const char *name, char *why, size_t size)
{
	struct metric_named named;
	struct text t = {0};
	bool ok = metric_named_find(name, strlen(name), &named, &t);

	give_line(&t, why, size);
	text_fini(&t);
	return ok;
}

struct ptxloom_metrics *ptxloom_metrics_take(struct ptxloom_device *dev)
{
	struct ptxloom_metrics *taken = dev->metrics ? calloc(1, sizeof(*taken)) : NULL;

	if (!taken)
		return NULL;
	pthread_mutex_lock(&dev->metrics->lock);
	taken->total = dev->metrics->total;
	dev->metrics->total = (struct metric_total){0};
	pthread_mutex_unlock(&dev->metrics->lock);
	return taken;
}

void ptxloom_metrics_free(struct ptxloom_metrics *metrics)
{
	free(metrics);
}

int ptxloom_metrics_value(const struct ptxloom_metrics *metrics, const char *name, double *out)
{
	struct metric_named named;
	struct text t = {0};
	bool ok = metric_named_find(name, strlen(name), &named, &t);

	text_fini(&t);
	*out = 0;
	if (!ok)
		return PTXLOOM_INVALID_VALUE;
	return metrics && metric_named_value(&named, &metrics->total, out) ? PTXLOOM_SUCCESS
									   : PTXLOOM_NOT_FOUND;
}

int ptxloom_metrics_hold(const struct ptxloom_metrics *metrics, const char *claim, char *why,
			 size_t size)
{
	struct metric_claim c;
	struct text t = {0};
	bool ok = metric_claim_parse(claim, &c, &t);

	if (ok && !metrics)
		text_printf(&t, "%s is not known: launches are not counted", c.named.name);
	ok = ok && metrics && metric_claim_check(&c, &metrics->total, &t);
	give_line(&t, why, size);
	text_fini(&t);
	return ok;
}
