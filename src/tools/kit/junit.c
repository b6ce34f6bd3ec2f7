/*
 * JUnit XML: the elements that Jenkins, GitLab and GitHub's actions read.
 */
#include "src/tools/kit/junit.h"

/* Bytes of the character of XML at s, in UTF-8; 0: it is not one. */
static size_t junit_character(const u8 *s)
{
	size_t n = s[0] < 0x80 ? 1 : s[0] < 0xc2 ? 0 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;
	u32 c = n > 1 ? s[0] & (0x7fu >> n) : s[0];

	for (size_t i = 1; i < n; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (s[i] & 0x3f);
	}
	if ((c < 0x20 && c != '\n' && c != '\t') || (n == 3 && c < 0x800) ||
	    (n == 4 && c < 0x10000))
		return 0;
	if ((c >= 0xd800 && c < 0xe000) || c == 0xfffe || c == 0xffff || c > 0x10ffff)
		return 0;
	return n;
}

void junit_text(struct text *t, const char *s)
{
	static const char replacement[] = "\xef\xbf\xbd";

	while (*s) {
		size_t n = junit_character((const u8 *)s);

		if (*s == '&')
			text_puts(t, "&amp;");
		else if (*s == '<')
			text_puts(t, "&lt;");
		else if (*s == '>')
			text_puts(t, "&gt;");
		else if (*s == '"')
			text_puts(t, "&quot;");
		else if (!n)
			text_puts(t, replacement);
		else
			text_add(t, s, n);
		s += n ? n : 1;
	}
}

static void junit_attribute(struct text *t, const char *name, const char *value)
{
	text_printf(t, " %s=\"", name);
	junit_text(t, value);
	text_puts(t, "\"");
}

void junit_begin(struct text *t, const char *suite, u64 tests, u64 failures)
{
	text_puts(t, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n<testsuite");
	junit_attribute(t, "name", suite);
	text_printf(t, " tests=\"%llu\" failures=\"%llu\" errors=\"0\">\n",
		    (unsigned long long)tests, (unsigned long long)failures);
}

void junit_add(struct text *t, const struct junit_case *c)
{
	text_puts(t, "<testcase");
	junit_attribute(t, "classname", c->suite);
	junit_attribute(t, "name", c->name);
	text_printf(t, " time=\"%llu.%03llu\">\n", (unsigned long long)(c->ms / 1000),
		    (unsigned long long)(c->ms % 1000));
	if (c->device) {
		text_puts(t, "<properties><property name=\"ptxloom.device\"");
		junit_attribute(t, "value", c->device);
		text_puts(t, "/></properties>\n");
	}
	if (c->failure) {
		text_puts(t, "<failure");
		junit_attribute(t, "message", c->failure);
		text_puts(t, ">");
		junit_text(t, c->output ? c->output : "");
		text_puts(t, "</failure>\n");
	}
	text_puts(t, "</testcase>\n");
}

void junit_end(struct text *t)
{
	text_puts(t, "</testsuite>\n</testsuites>\n");
}
