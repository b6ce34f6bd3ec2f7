/*
 * Messages of the protocol: a header with Content-Length, an empty line, JSON.
 */
#include "src/dap/dap_int.h"

#include "src/base/file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define READ_BYTES 65536u

void dap_wire_fill(struct dap_wire *w)
{
	char bytes[READ_BYTES];
	ssize_t n;

	do
		n = read(w->in, bytes, sizeof(bytes));
	while (n < 0 && errno == EINTR);
	if (n > 0)
		text_add(&w->buffer, bytes, (size_t)n);
	else
		w->ended = true;
	w->error = n < 0 ? errno : 0;
}

void dap_wire_check_end(const struct dap_wire *w, struct text *why)
{
	if (!w->ended || why->len)
		return;
	if (w->error)
		text_printf(why, "the connection with the editor was cut: %s", strerror(w->error));
	else if (w->buffer.len)
		text_puts(why, "the editor has gone in the middle of a message");
}

static void drop(struct text *t, size_t n)
{
	memmove(t->at, t->at + n, t->len - n);
	t->len -= n;
	t->at[t->len] = '\0';
}

/* Content-Length of a header of n bytes, -1: it has none that makes sense. */
static s64 content_length(const char *header, size_t n)
{
	static const char name[] = "Content-Length:";

	for (size_t at = 0; at < n;) {
		const char *end = memchr(header + at, '\n', n - at);
		size_t len = end ? (size_t)(end - header) - at : n - at;

		if (len >= sizeof(name) - 1 && !strncasecmp(header + at, name, sizeof(name) - 1)) {
			char *rest;
			long long bytes = strtoll(header + at + sizeof(name) - 1, &rest, 10);

			return rest == header + at + sizeof(name) - 1 || bytes > DAP_MESSAGE_MAX
				       ? -1
				       : bytes;
		}
		at += len + 1;
	}
	return -1;
}

static cJSON *wire_give_up(struct dap_wire *w, struct text *why, const char *what)
{
	text_puts(why, what);
	w->ended = true;
	w->buffer.len = 0;
	return NULL;
}

cJSON *dap_wire_next(struct dap_wire *w, struct text *why)
{
	const char *end = w->buffer.len ? memmem(w->buffer.at, w->buffer.len, "\r\n\r\n", 4) : NULL;
	size_t header = end ? (size_t)(end - w->buffer.at) : 0;
	cJSON *message;
	s64 bytes;

	if (!end)
		return w->buffer.len > DAP_HEADER_MAX
			       ? wire_give_up(w, why, "no header of a message within 16 KiB")
			       : NULL;
	bytes = content_length(w->buffer.at, header);
	if (bytes < 0)
		return wire_give_up(w, why, "a header without a Content-Length of at most 64 MiB");
	if (w->buffer.len - header - 4 < (u64)bytes)
		return NULL;
	message = cJSON_ParseWithLength(w->buffer.at + header + 4, (size_t)bytes);
	drop(&w->buffer, header + 4 + (size_t)bytes);
	if (!message)
		return wire_give_up(w, why, "a message that is not JSON");
	if (!cJSON_IsObject(message)) {
		cJSON_Delete(message);
		return wire_give_up(w, why, "a message that is not a JSON object");
	}
	return message;
}

void dap_wire_send(struct dap_wire *w, cJSON *message)
{
	struct text t = {0};
	char *json;

	cJSON_AddNumberToObject(message, "seq", (double)++w->seq);
	json = cJSON_PrintUnformatted(message);
	if (json) {
		text_printf(&t, "Content-Length: %zu\r\n\r\n", strlen(json));
		text_puts(&t, json);
		if (!w->broken && t.at)
			w->broken = !file_write(w->out, t.at, t.len);
	}
	cJSON_free(json);
	text_fini(&t);
	cJSON_Delete(message);
}
