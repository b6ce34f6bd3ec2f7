/*
 * info streams: what streams have to do.
 */
#include "src/base/demangle.h"
#include "src/debugger/object/object.h"
#include "src/dev/stream/stream.h"

#include <stdlib.h>

#define STREAMS_SHOWN 1024u

static void put_first(const struct stream_look *s, struct text *out)
{
	if (!s->first)
		return;
	if (s->kernel)
		demangle(s->kernel->func->name->text, out);
	else
		text_puts(out, s->first);
	text_puts(out, s->begun ? "" : ", waits for other work");
}

static void stream_row(const struct stream_look *s, u32 device, struct table *t)
{
	u32 flags = stream_flags_of(s->stream);

	table_put(t, " ");
	table_put(t, "%u", device);
	if (stream_is_legacy(s->stream))
		table_put(t, "cudaStreamLegacy");
	else
		table_put(t, "%p", (const void *)s->stream);
	table_put(t, "%s", flags & STREAM_NON_BLOCKING ? "cudaStreamNonBlocking" : "");
	table_put(t, "%d", stream_priority_of(s->stream));
	table_put(t, "%u", s->left);
	put_first(s, table_cell(t));
	table_put(t, "%s", s->capturing ? "is captured" : s->left ? "" : "idle");
}

static void device_rows(struct device *d, struct table *t, struct stream_look *row)
{
	u32 n = stream_device_look(d, row, STREAMS_SHOWN);

	for (u32 i = 0; i < n; i++)
		stream_row(&row[i], d->number, t);
}

void command_info_streams(struct debugger *x, const struct call *call PL_UNUSED)
{
	static const char *const head[] = {" ",        "device", "stream",    "flags",
					   "priority", "left",   "the first", "state"};
	struct stream_look *row = calloc(STREAMS_SHOWN, sizeof(*row));
	struct table t;

	table_begin(&t, ARRAY_LEN(head));
	for (size_t i = 0; i < ARRAY_LEN(head); i++)
		table_put(&t, "%s", head[i]);
	for (size_t i = 0; row && i < x->modules.len; i++) {
		struct device *d = x->modules.at[i]->owner->dev;
		bool seen = !d; /* code that was read before the program runs has no device */

		for (size_t k = 0; k < i; k++)
			seen |= x->modules.at[k]->owner->dev == d;
		if (!seen)
			device_rows(d, &t, row);
	}
	free(row);
	if (table_rows(&t) == 1) {
		table_drop(&t);
		say(x, "There are no streams.\n");
	}
	table_say(x, &t);
}
