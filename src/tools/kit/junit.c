/*
 * JUnit XML: the elements that Jenkins, GitLab and GitHub's actions read.
 */
#include "src/tools/kit/junit.h"
#include "src/base/utf8.h"

static void junit_attribute(struct text *t, const char *name, const char *value)
{
	text_printf(t, " %s=\"", name);
	text_xml(t, value);
	text_puts(t, "\"");
}

void junit_begin(struct text *t, const char *suite, u64 tests, u64 failures)
{
	text_puts(t, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n<testsuite");
	junit_attribute(t, "name", suite);
	text_printf(t, " tests=\"%llu\" failures=\"%llu\" errors=\"0\">\n",
		    (unsigned long long)tests, (unsigned long long)failures);
}

void junit_property(struct text *t, const char *name, const char *value)
{
	text_puts(t, "<property");
	junit_attribute(t, "name", name);
	junit_attribute(t, "value", value);
	text_puts(t, "/>");
}

void junit_add(struct text *t, const struct junit_case *c)
{
	text_puts(t, "<testcase");
	junit_attribute(t, "classname", c->suite);
	junit_attribute(t, "name", c->name);
	text_printf(t, " time=\"%llu.%03llu\">\n", (unsigned long long)(c->ms / 1000),
		    (unsigned long long)(c->ms % 1000));
	if (c->properties)
		text_printf(t, "<properties>%s</properties>\n", c->properties);
	if (c->failure) {
		text_puts(t, "<failure");
		junit_attribute(t, "message", c->failure);
		text_puts(t, ">");
		text_xml(t, c->output ? c->output : "");
		text_puts(t, "</failure>\n");
	}
	text_puts(t, "</testcase>\n");
}

void junit_end(struct text *t)
{
	text_puts(t, "</testsuite>\n</testsuites>\n");
}
