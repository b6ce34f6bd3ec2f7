/*
 * Completion of names of functions and variables.
 */
#include "src/debugger/debugger_int.h"

#include <ctype.h>

#define COMPLETIONS_MAX 1000u

struct completion {
	const char *word;
	size_t len;
	struct text *out;
	u32 count;
};

static void completion_offer(struct completion *k, const char *name)
{
	if (strncmp(name, k->word, k->len) != 0 || k->count >= COMPLETIONS_MAX)
		return;
	text_printf(k->out, "%s\n", name);
	k->count++;
}

void debugger_complete_names(struct debugger *x, const char *rest, struct text *out)
{
	size_t n = strlen(rest), begin = n;
	struct completion k = {.out = out};

	while (begin && (isalnum((u8)rest[begin - 1]) || strchr("_:%$", rest[begin - 1])))
		begin--;
	k.word = rest + begin;
	k.len = n - begin;
	for (size_t i = 0; i < x->modules.len; i++) {
		struct loaded *l = x->modules.at[i];
		const struct ir_module *m = l->m;

		for (size_t f = 0; f < m->funcs.len && loaded_open(x, l); f++) {
			const char *name = dbg_names_function(l->names, m->funcs.at[f]);
			char plain[256];

			snprintf(plain, sizeof(plain), "%.*s", (int)strcspn(name, "("), name);
			completion_offer(&k, plain);
		}
		for (size_t v = 0; v < m->vars.len; v++)
			if (m->vars.at[v]->func == IR_NONE && k.len)
				completion_offer(&k, m->vars.at[v]->name->text);
	}
}
