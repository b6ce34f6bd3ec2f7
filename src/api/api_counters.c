/*
 * The C API: counters of a device, or of the launches of the CUDA libraries.
 */
#include "src/api/api_int.h"
#include "src/check/record.h"
#include "src/profile/kept/claim.h"

#include <stdio.h>
#include <stdlib.h>

bool api_counters_open(struct ptxloom_device *dev)
{
	if (!dev->counting)
		return true;
	if (profile_keep(&dev->collect, dev->counting + 1 == PTXLOOM_COUNT_CACHES, &dev->kept))
		dev->counters = profile_device_open(dev->collect, &dev->dev);
	return dev->counters != NULL;
}

void api_counters_close(struct ptxloom_device *dev)
{
	profile_device_close(dev->counters);
	profile_close(dev->collect);
	profile_kept_free(dev->kept);
	dev->counters = NULL;
	dev->collect = NULL;
	dev->kept = NULL;
}

/* NULL: nothing is counted. */
static struct profile_kept *api_kept_of(struct ptxloom_device *dev)
{
	struct profile_kept *(*of_runtime)(void) = NULL;

	if (dev)
		return dev->kept;
	api_find_in_runtime("plrt_counters", &of_runtime, sizeof(of_runtime));
	return of_runtime ? of_runtime() : NULL;
}

int ptxloom_metric(struct ptxloom_device *dev, const struct ptxloom_launches *which,
		   const char *name, double *out)
{
	struct text why = {0}, line = {0};
	int status = profile_kept_metric(api_kept_of(dev), which, name, out, &why);

	if (status && dev) {
		text_printf(&line, "ptxloom: error: %s\n", why.at ? why.at : "no memory left");
		api_say(dev, line.at);
	}
	text_fini(&line);
	text_fini(&why);
	return status;
}

int ptxloom_metric_expect(struct ptxloom_device *dev, const struct ptxloom_launches *which,
			  const char *claim, char *why, size_t size)
{
	struct text t = {0};
	int status = profile_kept_expect(api_kept_of(dev), which, claim, &t);

	if (status == PTXLOOM_SUCCESS || status == PTXLOOM_ASSERT)
		record_metrics(claim, 1, status && t.at ? t.at : "");

	if (size)
		snprintf(why, size, "%s", t.at ? t.at : "");
	text_fini(&t);
	return status;
}

int ptxloom_metric_known(const char *name, char *why, size_t size)
{
	struct metric_named m;
	struct text t = {0};
	bool ok = metric_named_find(name, strlen(name), &m, &t);

	if (size)
		snprintf(why, size, "%s", t.at ? t.at : "");
	text_fini(&t);
	if (!ok)
		return 0;
	return m.class == CLASS_CACHES ? PTXLOOM_COUNT_CACHES : PTXLOOM_COUNT_EXACT;
}

int ptxloom_metric_place(struct ptxloom_device *dev, const struct ptxloom_launches *which,
			 const char *name, char *out, size_t size)
{
	struct text t = {0};
	int status = profile_kept_place(api_kept_of(dev), which, name, &t);

	if (size)
		snprintf(out, size, "%s", !status && t.at ? t.at : "");
	text_fini(&t);
	return status;
}

const struct ptxloom_counters *ptxloom_counters(struct ptxloom_device *dev)
{
	return profile_kept_counters(api_kept_of(dev));
}

void ptxloom_counters_free(const struct ptxloom_counters *counters)
{
	profile_counters_free(counters);
}

void ptxloom_counters_clear(struct ptxloom_device *dev)
{
	struct profile_kept *k = api_kept_of(dev);

	if (k)
		profile_kept_clear(k);
}

uint64_t ptxloom_counters_next(struct ptxloom_device *dev)
{
	struct profile_kept *k = api_kept_of(dev);

	return k ? profile_kept_next(k) : 0;
}
