/*
 * Expressions that are shown at every stop.
 */
#include "src/debugger/look_value.h"

struct display_row {
	u32 number;
	bool enabled;
	char *format, *text; /* owned */
};

void displays_free(struct look *k)
{
	for (size_t i = 0; i < k->displays.len; i++) {
		free(k->displays.at[i].format);
		free(k->displays.at[i].text);
	}
	VEC_FREE(&k->displays);
}

static void say_display_title(struct debugger *x, const struct display_row *d)
{
	say(x, "%u: %s%s%s%s = ", d->number, *d->format ? "/" : "", d->format,
	    *d->format ? " " : "", d->text);
}

/* "3i": instructions, as x/3i shows them. */
static bool is_listing(const char *format, u32 *count)
{
	char *end;
	u64 n = strtoull(format, &end, 10);

	*count = end == format ? 1 : (u32)min_u64(n, UINT32_MAX);
	return !strcmp(end, "i");
}

static void display_show(struct debugger *x, const struct display_row *d)
{
	struct look_format f;
	struct look_evaluated v;
	struct dbg_context c;
	struct text out = {0}, why = {0};
	u32 count;

	if (is_listing(d->format, &count)) {
		if (x->grid) {
			say(x, "%u: x/%s %s\n", d->number, d->format, d->text);
			look_disassemble_at(x, d->text, count);
		}
		return;
	}
	if (!look_read_format(x, d->format, &f))
		return;
	if (f.lanes && x->grid) {
		say_display_title(x, d);
		say(x, "\n");
		look_print_lanes(x, d->text, &f.f);
		return;
	}
	context_now(x, &c);
	if (!look_evaluate_in(&c, d->text, &v, &why)) {
		/* Out of its scope a variable is not shown; it will be again. */
		if (!why.at || strncmp(why.at, "No symbol", 9) != 0) {
			say_display_title(x, d);
			say(x, "<%s>\n", why.at ? why.at : "no value");
		}
	} else {
		say_display_title(x, d);
		if (v.type || !dbg_value_print(&c, &v.v, &f.f, &out, &why))
			say(x, "<%s>\n", why.at ? why.at : "a type");
		else
			say(x, "%s\n", out.at ? out.at : "");
		look_evaluated_fini(&v);
	}
	text_fini(&out);
	text_fini(&why);
}

void displays_show(struct debugger *x)
{
	bool failed = x->failed;

	for (size_t i = 0; i < x->look->displays.len; i++)
		if (x->look->displays.at[i].enabled)
			display_show(x, &x->look->displays.at[i]);
	x->failed = failed;
}

void command_display(struct debugger *x, const struct call *c)
{
	struct look *k = x->look;
	struct look_format f;
	struct display_row d = {.enabled = true};
	u32 count;

	if (!*c->args) {
		displays_show(x);
		return;
	}
	if (!is_listing(c->format, &count) && !look_read_format(x, c->format, &f))
		return;
	d.number = k->displays_made + 1;
	d.format = strdup(c->format);
	d.text = strdup(c->args);
	if (!d.format || !d.text || !VEC_PUSH(&k->displays, d)) {
		free(d.format);
		free(d.text);
		say_error(x, "There is no memory for it");
		return;
	}
	k->displays_made++;
	if (x->grid)
		display_show(x, &k->displays.at[k->displays.len - 1]);
}

static struct display_row *display_numbered(struct look *k, u64 number)
{
	for (size_t i = 0; i < k->displays.len; i++)
		if (k->displays.at[i].number == number)
			return &k->displays.at[i];
	return NULL;
}

static void display_drop(struct look *k, struct display_row *d)
{
	size_t i = (size_t)(d - k->displays.at);

	free(d->format);
	free(d->text);
	k->displays.len--;
	memmove(d, d + 1, (k->displays.len - i) * sizeof(*d));
}

void command_undisplay(struct debugger *x, const struct call *c)
{
	const char *s = c->args;

	while (!*c->args && x->look->displays.len)
		display_drop(x->look, &x->look->displays.at[0]);
	while (*s) {
		char *end;
		u64 n = strtoull(s, &end, 10);
		struct display_row *d = end > s ? display_numbered(x->look, n) : NULL;

		if (end == s || (*end && *end != ' ' && *end != ',')) {
			say_error(x, "\"%s\" is not the number of a display", s);
			return;
		}
		if (!d) {
			say_error(x, "There is no display %llu", (unsigned long long)n);
			return;
		}
		display_drop(x->look, d);
		s = end + strspn(end, " ,");
	}
}

void command_info_display(struct debugger *x, const struct call *c PL_UNUSED)
{
	const struct look *k = x->look;

	if (!k->displays.len)
		say(x, "There are no auto-display expressions now.\n");
	for (size_t i = 0; i < k->displays.len; i++)
		say(x, "%u:  %s%s%s%s\n", k->displays.at[i].number,
		    *k->displays.at[i].format ? "/" : "", k->displays.at[i].format,
		    *k->displays.at[i].format ? " " : "", k->displays.at[i].text);
}

/* A state_writer. */
void displays_write(struct debugger *x, struct text *out)
{
	for (size_t i = 0; i < x->look->displays.len; i++) {
		const struct display_row *d = &x->look->displays.at[i];

		text_printf(out, "display%s%s %s\n", *d->format ? "/" : "", d->format, d->text);
	}
}
