/* Faults of launches as findings. */
#ifndef PL_CHECK_FAULT_H
#define PL_CHECK_FAULT_H

#include "src/check/finding.h"
#include "src/dev/device.h"

/* f is initialised; its owner frees it. */
void fault_finding(const struct device_fault *fault, struct finding *f);

#endif
