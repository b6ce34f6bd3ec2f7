/*
 * The door from PTX text to modules for everything above this folder.
 */
#include "src/dev/module/module.h"

#include "grammar/parse.h"

struct ir_module *module_parse(const struct diag_source *source, enum module_use use,
			       struct diag *d)
{
	const struct ptx_options options = {.lint = use == MODULE_JUDGE};

	return ptx_parse(source, &options, d);
}
