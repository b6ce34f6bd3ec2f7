/*
 * The door from PTX text to modules for everything above this folder.
 */
#include "src/dev/module/module.h"

#include "grammar/parse.h"
#include "src/base/stats.h"

struct ir_module *module_parse(const struct diag_source *source, enum module_use use,
			       struct diag *d)
{
	const struct ptx_options options = {.lint = use == MODULE_JUDGE};

	u64 began = stats_begin();
	struct ir_module *m = ptx_parse(source, &options, d);

	stats_end(STATS_PARSE, began, source->size);
	return m;
}
