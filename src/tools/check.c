/*
 * `ptxloom check`: `ptxloom run` with all checks, and compute-sanitizer's command line.
 */
#include "src/base/setting.h"
#include "src/tools/tools.h"

#include <stdlib.h>

const char tool_help_check[] =
	"Runs PROG with its arguments on an emulated GPU, as `ptxloom run` does, and looks for errors: all checks,\n"
	"in one run. docs/checks.md describes them, with examples.\n"
	"\n"
	"  --check=CHECKS          these only: mem, race, init, sync, leak, api (separated by commas), or all\n"
	"  --format=FORMAT         how findings are written: text (default), json, xml, sarif, github\n"
	"  --log-file FILE         where, instead of standard error (%p: the process)\n"
	"  --leak-check=WHAT       what leaks: memory (default); full: streams, events and other handles, too\n"
	"  --volatile=WHAT         race: volatile accesses are strong (default), or weak: they race and order nothing\n"
	"  --print-limit N         how many findings are printed as text (default 100)\n"
	"  --print-level LEVEL     error: warnings are counted, but not printed; warn (default)\n"
	"  --kernel-name PATTERN   check launches of these kernels only: names with * and ?, separated by |\n"
	"  --kernel-name-exclude PATTERN\n"
	"                          check no launches of these\n"
	"  --launch-skip N         check none of the first N launches that these names choose\n"
	"  --launch-count N        check N launches at most (default 0: all)\n"
	"  --padding BYTES         mem: keep at least this distance between allocations\n"
	"  --suppressions FILE     findings that are known, in lines KIND:PATTERN (race:reduce*, *:vendor.cu:12),\n"
	"                          or compute-sanitizer's XML\n"
	"  --show-backtrace=WHAT   which stacks findings have: yes (all, default), no, host, device\n"
	"  --num-callers N         frames of a host stack that are printed (default 0: all)\n"
	"  --track-unused-memory   init: report allocations that are never written, or in part\n"
	"  --unused-memory-threshold PERCENT\n"
	"                          not those of which less is unused (default 0)\n"
	"  --target-processes WHICH\n"
	"                          all (default), application-only (PROG, not what it starts), or NAME,\n"
	"                          regex:EXPRESSION, exclude:NAME, exclude-tree:NAME, separated by commas\n"
	"  --warnings-as-errors    warnings change the exit status, too\n"
	"  --error-exitcode N      the exit status if anything is found (default 86)\n"
	"  --help                  this text\n"
	"\n"
	"Other options are those of `ptxloom run`. Exit status: 86 if anything was found, else as `ptxloom run`.\n";

int tool_main_check(const struct tool_command *self, int argc, char **argv)
{
	if (!setting_text(SETTING_CHECK))
		setenv("PTXLOOM_CHECK", setting_words(SETTING_CHECK), 1);
	return tool_run_program(self, argc, argv);
}
