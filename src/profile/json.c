/*
 * Reading and writing JSON.
 */
#include "src/profile/json.h"

#include <stdlib.h>

#define NESTED_MAX 64u

void json_in_begin(struct json_in *j, const char *text, size_t size)
{
	*j = (struct json_in){.at = text, .end = text + size};
}

static void json_in_skip_blanks(struct json_in *j)
{
	while (j->at < j->end &&
	       (*j->at == ' ' || *j->at == '\t' || *j->at == '\n' || *j->at == '\r'))
		j->at++;
}

/* The next character that is not blank; 0: none. */
static char json_in_look(struct json_in *j)
{
	json_in_skip_blanks(j);
	return j->failed || j->at == j->end ? 0 : *j->at;
}

static bool json_in_take(struct json_in *j, char c)
{
	if (json_in_look(j) != c) {
		j->failed = true;
		return false;
	}
	j->at++;
	return true;
}

void json_in_object(struct json_in *j)
{
	json_in_take(j, '{');
	j->is_first = true;
}

void json_in_array(struct json_in *j)
{
	json_in_take(j, '[');
	j->is_first = true;
}

/* Is there another one before the bracket that ends all? */
static bool has_next(struct json_in *j, char bracket)
{
	bool first = j->is_first;

	j->is_first = false;
	if (json_in_look(j) == bracket) {
		j->at++;
		return false;
	}
	return !j->failed && (first || json_in_take(j, ','));
}

/* ---- strings ---- */

static u32 hex_digits(struct json_in *j)
{
	u32 x = 0;

	for (u32 i = 0; i < 4; i++) {
		char c = j->at < j->end ? *j->at++ : 0;

		if (c >= '0' && c <= '9')
			x = x * 16 + (u32)(c - '0');
		else if ((c | 32) >= 'a' && (c | 32) <= 'f')
			x = x * 16 + (u32)((c | 32) - 'a' + 10);
		else
			j->failed = true;
	}
	return x;
}

static void json_in_add_utf8(struct text *t, u32 c)
{
	char s[3];

	if (c < 0x80) {
		s[0] = (char)c;
		text_add(t, s, 1);
	} else if (c < 0x800) {
		s[0] = (char)(0xc0 | c >> 6);
		s[1] = (char)(0x80 | (c & 63));
		text_add(t, s, 2);
	} else {
		s[0] = (char)(0xe0 | c >> 12);
		s[1] = (char)(0x80 | (c >> 6 & 63));
		s[2] = (char)(0x80 | (c & 63));
		text_add(t, s, 3);
	}
}

static void add_escape(struct json_in *j, struct text *t)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	char c = j->at < j->end ? *j->at++ : 0;
	const char *p = c ? strchr(from, c) : NULL;

	if (c == 'u')
		json_in_add_utf8(t, hex_digits(j));
	else if (p)
		text_add(t, to + (p - from), 1);
	else
		j->failed = true;
}

static void read_string(struct json_in *j, struct text *t)
{
	text_puts(t, "");
	if (!json_in_take(j, '"'))
		return;
	while (!j->failed) {
		const char *first = j->at;

		while (j->at < j->end && *j->at != '"' && *j->at != '\\')
			j->at++;
		text_add(t, first, (size_t)(j->at - first));
		if (j->at == j->end)
			j->failed = true;
		else if (*j->at++ == '"')
			return;
		else
			add_escape(j, t);
	}
}

char *json_in_string(struct json_in *j)
{
	struct text t = {0};

	read_string(j, &t);
	if (!j->failed && !t.failed)
		return t.at;
	j->failed = true;
	text_fini(&t);
	return NULL;
}

bool json_in_key(struct json_in *j)
{
	struct text t = {0};

	if (!has_next(j, '}'))
		return false;
	read_string(j, &t);
	snprintf(j->key, sizeof(j->key), "%s", t.at ? t.at : "");
	text_fini(&t);
	return json_in_take(j, ':');
}

bool json_in_element(struct json_in *j)
{
	return has_next(j, ']');
}

bool json_in_is(const struct json_in *j, const char *key)
{
	return !strcmp(j->key, key);
}

/* ---- numbers ---- */

u64 json_in_number(struct json_in *j)
{
	u64 x = 0;
	char c = json_in_look(j);

	if (c < '0' || c > '9')
		j->failed = true;
	while (!j->failed && j->at < j->end && *j->at >= '0' && *j->at <= '9') {
		u64 digit = (u64)(*j->at++ - '0');

		if (x > (UINT64_MAX - digit) / 10)
			j->failed = true;
		x = x * 10 + digit;
	}
	return j->failed ? 0 : x;
}

s64 json_in_integer(struct json_in *j)
{
	bool negative = json_in_look(j) == '-';
	u64 x;

	j->at += negative;
	x = json_in_number(j);
	if (x > INT64_MAX)
		j->failed = true;
	return j->failed ? 0 : negative ? -(s64)x : (s64)x;
}

/* ---- anything ---- */

static void json_in_skip_string(struct json_in *j)
{
	struct text t = {0};

	read_string(j, &t);
	text_fini(&t);
}

static void skip_word(struct json_in *j)
{
	const char *first = j->at;

	while (j->at < j->end && !strchr(",]} \t\r\n", *j->at))
		j->at++;
	j->failed |= j->at == first;
}

/* Brackets are only counted: what is skipped is of no interest. */
void json_in_skip(struct json_in *j)
{
	u32 depth = 0;

	do {
		char c = json_in_look(j);

		if (c == '"') {
			json_in_skip_string(j);
		} else if (c == '{' || c == '[') {
			j->at++;
			j->failed |= ++depth > NESTED_MAX;
		} else if (depth && (c == '}' || c == ']')) {
			j->at++;
			depth--;
		} else if (depth && (c == ',' || c == ':')) {
			j->at++;
		} else if (c) {
			skip_word(j);
		} else {
			j->failed = true;
		}
	} while (depth && !j->failed);
}

bool json_in_is_over(struct json_in *j)
{
	return !j->failed && !json_in_look(j);
}

/* ---- writing ---- */

void json_out_text(const char *name, const char *value, struct text *out)
{
	text_printf(out, ", \"%s\": ", name);
	text_json_string(out, value);
}

void json_out_box(const char *name, const u32 v[3], struct text *out)
{
	text_printf(out, ", \"%s\": [%u, %u, %u]", name, v[0], v[1], v[2]);
}
