/*
 * Do with a PTX text everything that can be done with a module: parse it, print and dump it, parse
 * what was printed and compare, link it alone. Used by the golden test and the fuzzer; a sanitizer
 * and the checks here say whether anything was wrong.
 */
#ifndef PL_TEST_PTX_EXERCISE_H
#define PL_TEST_PTX_EXERCISE_H

#include "grammar/parse.h"

#include <stdio.h>
#include <stdlib.h>

/* Read the text as PTX; messages go to `log` unless NULL. The text must outlive the module. */
static inline struct ir_module *exercise_parse(const char *name, const char *text, size_t size,
					       const struct ptx_options *options, struct text *log)
{
	struct diag_source source = {name, text, size};
	struct ir_module *m;
	struct diag d;

	diag_init(&d, log ? diag_collect : NULL, log);
	d.error_limit = 20;
	m = ptx_parse(&source, options, &d);
	if (!m && !d.errors && log)
		text_puts(log, "refused without an error\n");
	diag_fini(&d);
	return m;
}

/*
 * Print `m`, read it again, compare, print once more: the same module and the same text.
 * Returns false with the reason in `why`.
 */
static inline bool exercise_round_trip(const struct ir_module *m, const struct ptx_options *options,
				       struct text *why)
{
	struct text once = {0}, twice = {0}, dump = {0};
	struct ir_module *again;
	bool ok;

	ir_print_module(m, &once);
	ir_dump_module(m, &dump);
	again = exercise_parse("<printed>", once.at, once.len, options, why);
	ok = again && ir_equal(m, again, why);
	if (again) {
		ir_print_module(again, &twice);
		if (ok && strcmp(once.at, twice.at)) {
			text_puts(why, "the second print differs");
			ok = false;
		}
	}
	ir_module_free(again);
	text_fini(&once);
	text_fini(&twice);
	text_fini(&dump);
	return ok;
}

#endif
