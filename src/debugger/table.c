/*
 * Tables of text.
 */
#include "src/debugger/look.h"

void table_begin(struct table *t, u32 columns)
{
	*t = (struct table){.columns = columns};
}

struct text *table_cell(struct table *t)
{
	static struct text lost;

	if (VEC_PUSH(&t->cells, (struct text){0}))
		return &t->cells.at[t->cells.len - 1];
	t->failed = true;
	text_fini(&lost);
	return &lost;
}

void table_put(struct table *t, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	text_vprintf(table_cell(t), fmt, args);
	va_end(args);
}

u32 table_rows(const struct table *t)
{
	return (u32)(t->cells.len / t->columns);
}

struct text *table_at(struct table *t, u32 row, u32 column)
{
	return &t->cells.at[(size_t)row * t->columns + column];
}

void table_drop(struct table *t)
{
	for (u32 i = 0; i < t->columns && t->cells.len; i++)
		text_fini(&t->cells.at[--t->cells.len]);
}

static void say_row(struct debugger *x, struct table *t, u32 row, const u32 *width)
{
	struct text line = {0};

	for (u32 i = 0; i < t->columns - t->hidden; i++) {
		const struct text *cell = table_at(t, row, i);

		text_printf(&line, "%s%-*s", i > 1 ? "  " : "", (int)width[i],
			    cell->at ? cell->at : "");
	}
	while (line.len && line.at[line.len - 1] == ' ')
		line.at[--line.len] = 0;
	say(x, "%s\n", line.at ? line.at : "");
	text_fini(&line);
}

void table_say(struct debugger *x, struct table *t)
{
	u32 *width = calloc(t->columns, sizeof(*width)), rows = table_rows(t);

	for (size_t i = 0; width && i < (size_t)rows * t->columns; i++)
		if (t->cells.at[i].len > width[i % t->columns])
			width[i % t->columns] = (u32)t->cells.at[i].len;
	if (width)
		width[0] = 3;
	for (u32 r = 0; width && r < rows; r++)
		say_row(x, t, r, width);
	if (t->failed || !width)
		say_error(x, "Out of memory for the table");
	free(width);
	for (size_t i = 0; i < t->cells.len; i++)
		text_fini(&t->cells.at[i]);
	VEC_FREE(&t->cells);
}
