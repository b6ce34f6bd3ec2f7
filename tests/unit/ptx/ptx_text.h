/*
 * Small modules for tests: a text between a header and, when wanted, the braces of a kernel.
 */
#ifndef PL_TEST_PTX_TEXT_H
#define PL_TEST_PTX_TEXT_H

#include "tests/unit/ptx/ptx_exercise.h"

#include "tests/check.h"

#define PTX_HEADER ".version 8.0\n.target sm_80\n.address_size 64\n"
#define PTX_KERNEL PTX_HEADER ".visible .entry k()\n{\n"

/* A parsed text with its messages. */
struct ptx_text {
	struct text source, log;
	struct ir_module *m; /* NULL: refused */
};

/* Parse head + body + tail; the messages of a text that should be fine are shown. */
static inline struct ptx_text ptx_text_parse(const char *head, const char *body, const char *tail,
					     bool lint)
{
	struct ptx_options options = {.lint = lint};
	struct ptx_text t = {0};

	text_printf(&t.source, "%s%s%s", head, body, tail);
	t.m = exercise_parse("test.ptx", t.source.at, t.source.len, &options, &t.log);
	return t;
}

static inline void ptx_text_fini(struct ptx_text *t)
{
	ir_module_free(t->m);
	text_fini(&t->source);
	text_fini(&t->log);
}

static inline struct ptx_text ptx_text_module(const char *body)
{
	return ptx_text_parse(PTX_HEADER, body, "", true);
}

static inline struct ptx_text ptx_text_kernel(const char *body)
{
	return ptx_text_parse(PTX_KERNEL, body, "}\n", true);
}

/* The text is accepted, and comes back the same when printed. */
static inline bool ptx_text_good(struct ptx_text *t, const char *what)
{
	struct ptx_options options = {.lint = true};
	struct text why = {0};
	bool good = t->m && exercise_round_trip(t->m, &options, &why);

	if (!CHECK_MSG(good, what))
		printf("# %s\n# %s\n", t->log.at ? t->log.at : "", why.at ? why.at : "");
	text_fini(&why);
	return good;
}

/* The text is refused with this among its messages. */
static inline void ptx_text_bad(struct ptx_text *t, const char *message, const char *what)
{
	if (!CHECK_MSG(!t->m && t->log.at && strstr(t->log.at, message), what))
		printf("# expected: %s\n# got: %s\n", message,
		       t->log.at ? t->log.at : "(accepted)");
}

#endif
