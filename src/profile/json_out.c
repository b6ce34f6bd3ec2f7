/*
 * Writing JSON.
 */
#include "src/profile/json_out.h"

void json_out_text(const char *name, const char *value, struct text *out)
{
	text_printf(out, ", \"%s\": ", name);
	text_json_string(out, value);
}

void json_out_box(const char *name, const u32 v[3], struct text *out)
{
	text_printf(out, ", \"%s\": [%u, %u, %u]", name, v[0], v[1], v[2]);
}

void json_out_count(const char *name, u64 value, struct text *out)
{
	text_printf(out, ", \"%s\": %llu", name, (unsigned long long)value);
}

/* Reports are numbers in the main: printf would take a third of the time. */
void json_out_number(u64 x, struct text *out)
{
	char digits[24], *end = digits + sizeof(digits), *at = end;
	const char *quote = x > JSON_WHOLE_MAX ? "\"" : "";

	do {
		*--at = (char)('0' + x % 10);
		x /= 10;
	} while (x);
	text_puts(out, quote);
	text_add(out, at, (size_t)(end - at));
	text_puts(out, quote);
}

void json_out_row(const char *name, const u64 *x, size_t n, struct text *out)
{
	text_puts(out, "[");
	text_json_string(out, name);
	for (size_t i = 0; i < n; i++) {
		text_puts(out, ", ");
		json_out_number(x[i], out);
	}
	text_puts(out, "]");
}
