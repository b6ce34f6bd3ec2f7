/*
 * What calls answer: one enum for the whole project, with the numbers that both CUDA interfaces
 * use.
 */
#ifndef PL_DEV_STATUS_H
#define PL_DEV_STATUS_H

#include "src/base/base.h"

enum status {
#define STATUS(number, id, driver, runtime, text) STATUS_##id = number,
#include "src/dev/status.def"
#undef STATUS
};

struct status_info {
	int number;
	const char *driver;  /* "CUDA_ERROR_INVALID_VALUE"; NULL: the driver interface has no such
				error */
	const char *runtime; /* "cudaErrorInvalidValue"; NULL: the runtime has none */
	const char *text;    /* "invalid argument" */
};

/* NULL for a number that means nothing. */
const struct status_info *status_info(int number);

#endif
