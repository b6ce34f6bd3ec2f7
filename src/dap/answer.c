/*
 * Responses and events.
 */
#include "src/dap/dap_int.h"

#include <stdarg.h>
#include <string.h>

static cJSON *response(const cJSON *request, bool success)
{
	cJSON *m = cJSON_CreateObject();
	const char *command = dap_text(request, "command", "");

	cJSON_AddStringToObject(m, "type", "response");
	cJSON_AddNumberToObject(m, "request_seq", (double)dap_number(request, "seq", 0));
	cJSON_AddStringToObject(m, "command", command);
	cJSON_AddBoolToObject(m, "success", success);
	return m;
}

void dap_answer(struct dap *d, const cJSON *request, cJSON *body)
{
	cJSON *m = response(request, true);

	cJSON_AddItemToObject(m, "body", body ? body : cJSON_CreateObject());
	dap_wire_send(&d->wire, m);
}

void dap_refuse(struct dap *d, const cJSON *request, const char *format, ...)
{
	cJSON *m = response(request, false), *body = cJSON_AddObjectToObject(m, "body"), *error;
	struct text t = {0};
	va_list args;

	va_start(args, format);
	text_vprintf(&t, format, args);
	va_end(args);
	cJSON_AddStringToObject(m, "message", t.at ? t.at : "");
	error = cJSON_AddObjectToObject(body, "error");
	cJSON_AddNumberToObject(error, "id", 1);
	cJSON_AddStringToObject(error, "format", t.at ? t.at : "");
	text_fini(&t);
	dap_wire_send(&d->wire, m);
}

void dap_event(struct dap *d, const char *name, cJSON *body)
{
	cJSON *m = cJSON_CreateObject();

	cJSON_AddStringToObject(m, "type", "event");
	cJSON_AddStringToObject(m, "event", name);
	/* Some clients want one, though it is optional. */
	cJSON_AddItemToObject(m, "body", body ? body : cJSON_CreateObject());
	dap_wire_send(&d->wire, m);
}

/* Bytes that are no UTF-8 would make the message unreadable. */
static void add_utf8(struct text *t, const char *at, size_t n)
{
	for (size_t i = 0; i < n;) {
		u8 c = (u8)at[i];
		size_t more = c < 0x80       ? 0
			      : c >> 5 == 6  ? 1
			      : c >> 4 == 14 ? 2
			      : c >> 3 == 30 ? 3
					     : 4;
		bool ok = more < 4 && i + more < n && c;

		for (size_t k = 1; ok && k <= more; k++)
			ok = ((u8)at[i + k] & 0xc0) == 0x80;
		if (ok)
			text_add(t, at + i, more + 1);
		else
			text_puts(t, "\xef\xbf\xbd");
		i += ok ? more + 1 : 1;
	}
}

void dap_output(struct dap *d, const char *category, const char *text, size_t n)
{
	cJSON *body;
	struct text t = {0};

	if (!n)
		return;
	add_utf8(&t, text, n);
	body = cJSON_CreateObject();
	cJSON_AddStringToObject(body, "category", category);
	cJSON_AddStringToObject(body, "output", t.at ? t.at : "");
	text_fini(&t);
	dap_event(d, "output", body);
}

const char *dap_text(const cJSON *object, const char *name, const char *otherwise)
{
	const cJSON *x = cJSON_GetObjectItemCaseSensitive(object, name);

	return cJSON_IsString(x) ? x->valuestring : otherwise;
}

s64 dap_number(const cJSON *object, const char *name, s64 otherwise)
{
	const cJSON *x = cJSON_GetObjectItemCaseSensitive(object, name);

	if (!cJSON_IsNumber(x) || !(x->valuedouble > -9e15 && x->valuedouble < 9e15))
		return otherwise;
	return (s64)x->valuedouble;
}

bool dap_bool(const cJSON *object, const char *name, bool otherwise)
{
	const cJSON *x = cJSON_GetObjectItemCaseSensitive(object, name);

	return cJSON_IsBool(x) ? cJSON_IsTrue(x) : otherwise;
}

bool dap_is_one_line(const char *text)
{
	return !strpbrk(text, "\r\n");
}
