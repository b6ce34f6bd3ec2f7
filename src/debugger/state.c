/*
 * Stops, displays and settings as text: what the front end keeps while no program runs.
 */
#include "src/debugger/look.h"

static state_writer *const writers[] = {
	points_state,   directories_write, displays_write, listsize_write,
	counters_write, variables_write,   NULL, /* ends the table */
};

void debugger_state(struct debugger *x, struct text *out)
{
	for (size_t i = 0; writers[i]; i++)
		writers[i](x, out);
}

void debugger_restore(struct debugger *x, const char *state)
{
	size_t before = x->out.len;

	while (*state) {
		size_t n = strcspn(state, "\n");
		char *line = strndup(state, n);

		if (line)
			debugger_run(x, line);
		free(line);
		state += n + (state[n] == '\n');
	}
	/* Who gave the commands has read what they print. */
	x->out.len = before;
	if (x->out.at)
		x->out.at[before] = 0;
}
