/* Options about checks, which several commands have: they set PTXLOOM_CHECK_*. */
#ifndef PL_TOOLS_CHECK_OPTIONS_H
#define PL_TOOLS_CHECK_OPTIONS_H

#include "src/tools/tools.h"

/*
 * Is argv[*i] one of them? It is then in the environment, with *i at its last word; *status is not
 * TOOL_OK after a message about its value.
 */
bool check_option(const struct tool_command *self, int argc, char **argv, int *i, int *status);
/* Take them out of argv, from 1 to argc, which gets less. Returns TOOL_OK or a status, said. */
int check_options_take(const struct tool_command *self, int *argc, char **argv);
/*
 * Before the first process of a program starts: the file that findings go to is written anew.
 * Returns TOOL_OK, or a status if it or the suppressions cannot be used, said.
 */
int check_options_begin(void);

#endif
