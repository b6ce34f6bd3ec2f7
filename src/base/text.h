/*
 * Growing text buffer, for output that may go to a file, a string or a test.
 * The caller owns the storage; a zeroed `struct text` is empty.
 * After a failed allocation `failed` is set and later additions do nothing.
 */
#ifndef PL_TEXT_H
#define PL_TEXT_H

#include "src/base/base.h"

#include <stdarg.h>
#include <stdio.h>

struct text {
	char *at; /* NUL-terminated once anything was added, else NULL */
	size_t len, cap;
	bool failed;
};

void text_fini(struct text *t);
void text_add(struct text *t, const char *s, size_t n);
void text_puts(struct text *t, const char *s);
void text_printf(struct text *t, const char *fmt, ...) PL_PRINTF(2, 3);
void text_vprintf(struct text *t, const char *fmt, va_list args);
/* s with JSON escapes and quotes around it. Bytes that are not UTF-8 become U+FFFD. */
void text_json_string(struct text *t, const char *s);

#endif
