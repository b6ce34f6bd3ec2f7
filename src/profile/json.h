/*
 * Writing members of JSON objects, and reading JSON piece by piece, with whole 64-bit numbers:
 * those of counters are larger than what readers that keep doubles can hold.
 *
 *     json_in_begin(&j, text, size);
 *     for (json_in_object(&j); json_in_key(&j);)
 *             if (json_in_is(&j, "launch"))
 *                     number = json_in_number(&j);
 *             else
 *                     json_in_skip(&j);
 *
 * After the first thing that is not as expected `failed` is set, loops end, and values are empty.
 */
#ifndef PL_PROFILE_JSON_H
#define PL_PROFILE_JSON_H

#include "src/base/text.h"

struct json_in {
	const char *at, *end;
	bool failed, is_first;
	char key[64]; /* of the member; longer ones are cut */
};

void json_in_begin(struct json_in *j, const char *text, size_t size);
/* An object or array begins here. */
void json_in_object(struct json_in *j);
void json_in_array(struct json_in *j);
/* The next member, whose value follows; the next element. False: there is none, which is read. */
bool json_in_key(struct json_in *j);
bool json_in_element(struct json_in *j);
bool json_in_is(const struct json_in *j, const char *key);
/* A whole number, of 64 bits; json_integer: with a sign. */
u64 json_in_number(struct json_in *j);
s64 json_in_integer(struct json_in *j);
/* A string, which the caller frees. NULL: there is not one here. */
char *json_in_string(struct json_in *j);
/* Anything. */
void json_in_skip(struct json_in *j);
/* Nothing but blanks follows. */
bool json_in_is_over(struct json_in *j);

/* ---- writing ---- */

/* Add a member that is not the first one: a string, a list of three numbers. */
void json_out_text(const char *name, const char *value, struct text *out);
void json_out_box(const char *name, const u32 v[3], struct text *out);

#endif
