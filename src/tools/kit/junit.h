/*
 * Results of tests as JUnit XML, which CI systems read.
 */
#ifndef PL_TOOLS_KIT_JUNIT_H
#define PL_TOOLS_KIT_JUNIT_H

#include "src/base/text.h"

/* One test: what failed in one line, NULL: nothing; what it said; what junit_property has made. */
struct junit_case {
	const char *suite, *name, *failure, *output, *properties;
	u64 ms;
};

void junit_begin(struct text *t, const char *suite, u64 tests, u64 failures);
void junit_property(struct text *t, const char *name, const char *value);
void junit_add(struct text *t, const struct junit_case *c);
void junit_end(struct text *t);

#endif
