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

void json_out_number(u64 x, struct text *out)
{
	text_printf(out, x > JSON_WHOLE_MAX ? "\"%llu\"" : "%llu", (unsigned long long)x);
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
