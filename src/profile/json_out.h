/*
 * Members of JSON objects that are written. Reading is cJSON's (report_read.c), which keeps numbers
 * as doubles: those that a double cannot hold are written as strings of digits.
 */
#ifndef PL_PROFILE_JSON_OUT_H
#define PL_PROFILE_JSON_OUT_H

#include "src/base/text.h"

/* The largest number that is written as one. */
#define JSON_WHOLE_MAX ((u64)1 << 53)

/* Add a member that is not the first one: a string, a list of three numbers. */
void json_out_text(const char *name, const char *value, struct text *out);
void json_out_box(const char *name, const u32 v[3], struct text *out);
/* The same of a number that a document has as one. */
void json_out_count(const char *name, u64 value, struct text *out);
/* Add a number alone. */
void json_out_number(u64 x, struct text *out);
/* Add a list: a string, and n numbers. */
void json_out_row(const char *name, const u64 *x, size_t n, struct text *out);

#endif
