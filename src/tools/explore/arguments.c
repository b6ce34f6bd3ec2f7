/*
 * Arguments of `ptxloom explore`.
 */
#include "src/base/setting.h"
#include "src/tools/explore/explore.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MOST (SCHEDULE_POINTS + 1)
#define SCHEDULES 200u
#define DEPTH 3u
/* One preemption more is a hundred times as many runs, and more. */
#define DEPTH_EXHAUSTIVE 2u
#define DEPTH_EXHAUSTIVE_MOST 4u

static const struct {
	const char *name;
	size_t at;
	u64 least, most;
} explore_numbers[] = {
	{"-n", offsetof(struct explore_options, schedules), 1, EXPLORE_COUNT_MOST},
	{"-j", offsetof(struct explore_options, jobs), 1, TRIALS_MAX},
	{"--depth", offsetof(struct explore_options, depth), 1, DEPTH_MOST},
	{"--minimise", offsetof(struct explore_options, minimise), 0, EXPLORE_COUNT_MOST},
};

static const struct {
	const char *name;
	size_t at;
} explore_flags[] =
	{
		{"--same-output", offsetof(struct explore_options, same_output)},
		{"--weak", offsetof(struct explore_options, weak)},
		{"--all", offsetof(struct explore_options, all)},
},
  explore_texts[] = {
	  {"--replay", offsetof(struct explore_options, replay)},
	  {"--check", offsetof(struct explore_options, check)},
	  {"--inject", offsetof(struct explore_options, inject)},
};

static const char *const strategies[] = {"mixed", "pct", "random", "starve", "exhaustive"};

static int read_time(const struct tool_command *self, const char *name, const char *value, u64 *ms)
{
	struct text why = {0};
	int status = TOOL_OK;

	if (!setting_parse(SETTING_TIMEOUT, name, value, ms, &why))
		status = tool_usage(self, "%s", why.at ? why.at : "no memory left");
	text_fini(&why);
	return status;
}

static int read_strategy(const struct tool_command *self, struct explore_options *o,
			 const char *value)
{
	for (size_t i = 0; i < ARRAY_LEN(strategies); i++)
		if (!strcmp(value, strategies[i])) {
			o->strategy = (enum strategy)i;
			return TOOL_OK;
		}
	return tool_usage(self, "--strategy is mixed, pct, random, starve or exhaustive, not '%s'",
			  value);
}

static int add_device(const struct tool_command *self, struct explore_options *o, const char *name)
{
	if (!tool_check_devices(name))
		return TOOL_USAGE;
	if (o->devices.len == EXPLORE_DEVICES)
		return tool_usage(self, "-d is there too often: %u times at most", EXPLORE_DEVICES);
	return VEC_PUSH(&o->devices, name) ? TOOL_OK : tool_usage(self, "no memory left");
}

int explore_read_option(const struct tool_command *self, struct explore_options *o, int argc,
			char **argv, int *i)
{
	const char *value, *name = argv[*i];

	for (size_t k = 0; k < ARRAY_LEN(explore_flags); k++)
		if (!strcmp(name, explore_flags[k].name)) {
			*(bool *)(void *)((char *)o + explore_flags[k].at) = true;
			return TOOL_OK;
		}
	for (size_t k = 0; k < ARRAY_LEN(explore_numbers); k++) {
		u64 *at = (u64 *)(void *)((char *)o + explore_numbers[k].at);

		if (!(value = tool_option_value(argc, argv, i, explore_numbers[k].name)))
			continue;
		return tool_read_number(value, explore_numbers[k].least, explore_numbers[k].most,
					at)
			       ? TOOL_OK
			       : tool_usage(self, "%s takes a number from %llu to %llu, not '%s'",
					    explore_numbers[k].name,
					    (unsigned long long)explore_numbers[k].least,
					    (unsigned long long)explore_numbers[k].most, value);
	}
	if ((value = tool_option_value(argc, argv, i, "--timeout")))
		return read_time(self, "--timeout", value, &o->limit_ms);
	if ((value = tool_option_value(argc, argv, i, "--time")))
		return read_time(self, "--time", value, &o->time_ms);
	if ((value = tool_option_value(argc, argv, i, "--strategy")))
		return read_strategy(self, o, value);
	if ((value = tool_option_value(argc, argv, i, "--shard")))
		return tool_read_shard(self, value, &o->shard, &o->shards);
	for (size_t k = 0; k < ARRAY_LEN(explore_texts); k++)
		if ((value = tool_option_value(argc, argv, i, explore_texts[k].name))) {
			*(const char **)(void *)((char *)o + explore_texts[k].at) = value;
			return TOOL_OK;
		}
	if ((value = tool_device_option(argc, argv, i)))
		return add_device(self, o, value);
	return tool_usage(self, "unknown option '%s', or its value is missing", name);
}

/* What is wrong of them is said before anything is started. What is not given gets its value. */
int explore_check_options(const struct tool_command *self, struct explore_options *o)
{
	bool every = o->strategy == STRATEGY_EXHAUSTIVE;
	int status = o->check ? tool_check_checks(self, o->check) : TOOL_OK;

	if (!status && o->inject && !tool_check_rules(o->inject, "--inject"))
		status = TOOL_USAGE;
	if (!status && every && (o->depth == 1 || o->depth > DEPTH_EXHAUSTIVE_MOST))
		status = tool_usage(self,
				    "--strategy exhaustive takes a --depth from 2 to %u, not %llu",
				    DEPTH_EXHAUSTIVE_MOST, (unsigned long long)o->depth);
	if (!o->depth)
		o->depth = every ? DEPTH_EXHAUSTIVE : DEPTH;
	if (!o->schedules && !every)
		o->schedules = SCHEDULES;
	return status;
}
