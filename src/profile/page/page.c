/*
 * What the pages have in common.
 */
#include "src/profile/page/page.h"

#include "src/profile/choice.h"

static void write_html(const struct page *p, struct text *out)
{
	page_html(&p, 1, out);
}

void page_write(const struct page *p, struct text *out)
{
	static void (*const pages[])(const struct page *, struct text *) = {
		[PAGE_SOURCE] = page_source,     [PAGE_JSON] = page_json,
		[PAGE_HTML] = write_html,        [PAGE_CALLGRIND] = page_callgrind,
		[PAGE_ANNOTATE] = page_annotate, [PAGE_SESSION] = page_session,
		[PAGE_TRACE] = page_trace,
	};

	if (p->kind < ARRAY_LEN(pages) && pages[p->kind])
		pages[p->kind](p, out);
	else if (p->summary)
		page_summary(p, out);
	else if (p->is_csv)
		page_csv(p, out);
	else
		page_text(p, out);
}

void page_launch_name(const struct page *p, const struct profile_launch *l, struct text *out)
{
	if (p->name_base == BASE_MANGLED + 1)
		text_puts(out, l->program->kernel);
	else if (p->name_base == BASE_FUNCTION + 1)
		profile_shown_name(l->program->name, BASE_FUNCTION, out);
	else
		page_kernel_name(l->program->name, out);
}

void page_metric_name(const struct page *p, const char *label, u32 metric, struct text *out)
{
	if (p->names == NAMES_BOTH && label)
		text_printf(out, "%s (%s)", label, metric_name(metric));
	else
		text_puts(out, p->names == NAMES_LABEL && label ? label : metric_name(metric));
}

void page_csv_field(const char *s, bool first, struct text *out)
{
	text_puts(out, first ? "\"" : ",\"");
	for (; *s; s++)
		text_add(out, *s == '"' ? "\"\"" : s, *s == '"' ? 2 : 1);
	text_puts(out, "\"");
}

/* ---- names ---- */

/* "float const*" becomes "const float *". */
static void add_type(const char *s, size_t n, struct text *out)
{
	static const char is_const[] = " const";
	size_t base = 0, word = strlen(is_const);
	int depth = 0;

	for (; base < n; base++) {
		depth += (s[base] == '<' || s[base] == '(') - (s[base] == '>' || s[base] == ')');
		if (!depth && (s[base] == '*' || s[base] == '&'))
			break;
	}
	if (base > word && !memcmp(s + base - word, is_const, word)) {
		text_puts(out, "const ");
		text_add(out, s, base - word);
	} else {
		text_add(out, s, base);
	}
	if (base == n)
		return;
	text_puts(out, " ");
	text_add(out, s + base, n - base);
}

void page_kernel_name(const char *s, struct text *out)
{
	size_t n = strlen(s), open = profile_name_end(s), at;
	int depth = 0;

	if (open == n) {
		text_puts(out, s);
		return;
	}
	text_add(out, s, open + 1);
	at = open + 1;
	for (size_t i = at; i < n; i++) {
		bool ends = !depth && (s[i] == ',' || i + 1 == n);

		depth += (s[i] == '<' || s[i] == '(') - (s[i] == '>' || s[i] == ')');
		if (!ends)
			continue;
		depth = 0;
		add_type(s + at, i - at, out);
		text_puts(out, i + 1 == n ? ")" : ", ");
		at = i + 1 + (i + 1 < n && s[i + 1] == ' ');
	}
}
