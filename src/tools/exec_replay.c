/*
 * `ptxloom exec --replay`.
 */
#include "src/tools/exec_replay.h"

#include "src/dev/record/record.h"

#include <stdio.h>
#include <stdlib.h>

static int say_bad_record(struct text *why)
{
	if (why->len)
		fprintf(stderr, "ptxloom exec: error: %s\n", why->at);
	text_fini(why);
	return TOOL_FINDINGS;
}

int exec_replay_open(struct exec_job *j, struct device_settings *s, struct diag *d)
{
	struct text why = {0};
	struct arch *a;

	j->replay = replay_open(j->replay_path, &why);
	if (!j->replay)
		return say_bad_record(&why);
	a = replay_profile(j->replay, d);
	if (!a)
		return TOOL_FINDINGS;
	j->profiles.at[j->profiles.len++] = a;
	j->profiles.owned[j->profiles.owned_len++] = a;
	replay_settings(j->replay, s);
	return TOOL_OK;
}

int exec_replay_load(struct exec_job *j, struct diag *d)
{
	struct text why = {0}, note = {0};
	struct device_launch l;

	if (!replay_load(j->replay, &j->dev, d, &j->program, &why))
		return say_bad_record(&why);
	replay_launch_of(j->replay, &l);
	j->k = l.kernel;
	replay_describe(j->replay, &note);
	if (note.len)
		fputs(note.at, stderr);
	text_fini(&note);
	return TOOL_OK;
}

/* Which parameter is meant; its number, or as many as there are. */
static u32 replayed_param(const struct device_kernel *k, const char *name)
{
	char *end = NULL;
	u32 i;

	if (!strncmp(name, "arg", 3) && name[3] >= '0' && name[3] <= '9') {
		u64 n = strtoull(name + 3, &end, 10);

		if (!*end)
			return (u32)min_u64(n, k->param_len);
	}
	for (i = 0; i < k->param_len && strcmp(k->params[i].name, name) != 0; i++)
		;
	return i;
}

bool exec_replay_find(const struct exec_job *j, const char *name, u64 *address, u64 *bytes)
{
	u32 i = replayed_param(j->k, name);
	struct device_launch l;
	struct mem_range r;

	if (i == j->k->param_len || j->k->params[i].bytes != sizeof(*address))
		return false;
	replay_launch_of(j->replay, &l);
	memcpy(address, (const u8 *)l.packed + j->k->params[i].offset, sizeof(*address));
	if (!mem_find((struct mem *)(uintptr_t)&j->dev.mem, *address, 1, &r))
		return false;
	*bytes = r.base + r.size - *address;
	return true;
}
