/*
 * The C API: checks of a device, and what they, or those of the CUDA libraries, have found.
 */
#include "src/api/api_int.h"
#include "src/base/demangle.h"
#include "src/base/setting.h"
#include "src/check/fault.h"
#include "src/check/snapshot.h"

#include <dlfcn.h>

bool api_checks_open(struct ptxloom_device *dev, u32 which, struct text *why)
{
	if (!findings_open(&dev->findings, which, why)) {
		findings_close(&dev->findings);
		return false;
	}
	dev->findings.options.is_quiet = true;
	demangle_prepare();
	dev->dev.mem.strict = which & CHECK_MEM;
	dev->dev.mem.padding = (u32)setting_number(SETTING_CHECK_PADDING, 0);
	if (dev->dev.mem.strict)
		exec_heap_set_apart(dev->dev.syscalls.heap);
	dev->dev.observer = checks_open(&dev->checks, which, &dev->dev.mem, NULL, &dev->findings);
	dev->dev.observer_apart =
		checks_open_apart(&dev->checks, which, dev->dev.observer, &dev->findings);
	checks_choose(&dev->checks, &dev->findings, &dev->dev);
	dev->which = which;
	return true;
}

void api_checks_close(struct ptxloom_device *dev)
{
	if (!dev->which)
		return;
	checks_close(&dev->checks);
	findings_close(&dev->findings);
	dev->which = 0;
}

void api_checks_fault(struct ptxloom_device *dev, const struct device_fault *fault)
{
	struct finding f;

	if (!dev->which || fault->is_unobserved)
		return;
	fault_finding(fault, &f);
	findings_add(&dev->findings, &f);
}

void api_find_in_runtime(const char *name, void *function, size_t bytes)
{
	void *library = dlopen("libptxloom-runtime.so", RTLD_LAZY | RTLD_NOLOAD);
	void *symbol = library ? dlsym(library, name) : NULL;

	memcpy(function, &symbol, bytes);
	if (library)
		dlclose(library);
}

const struct ptxloom_findings *ptxloom_findings(struct ptxloom_device *dev)
{
	const struct ptxloom_findings *(*of_runtime)(void) = NULL;

	if (dev)
		return findings_snapshot(dev->which ? &dev->findings : NULL);
	api_find_in_runtime("plrt_findings", &of_runtime, sizeof(of_runtime));
	return of_runtime ? of_runtime() : findings_snapshot(NULL);
}

void ptxloom_findings_free(const struct ptxloom_findings *findings)
{
	findings_snapshot_free(findings);
}

void ptxloom_findings_clear(struct ptxloom_device *dev)
{
	void (*of_runtime)(void) = NULL;

	if (dev && dev->which)
		findings_clear(&dev->findings);
	if (dev)
		return;
	api_find_in_runtime("plrt_findings_clear", &of_runtime, sizeof(of_runtime));
	if (of_runtime)
		of_runtime();
}
