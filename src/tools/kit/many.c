/*
 * Several devices and seeds.
 */
#include "src/tools/kit/many.h"

#include "src/base/setting.h"
#include "src/tools/interrupt.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static bool parse_seed(const char **s, u64 *out)
{
	char *end;

	if (**s < '0' || **s > '9')
		return false;
	errno = 0;
	*out = strtoull(*s, &end, 0);
	*s = end;
	return !errno;
}

bool seeds_parse(const char *text, struct seed_list *out, struct text *why)
{
	u64 total = 0;

	*out = (struct seed_list){0};
	for (const char *s = text; *s; s += *s == ',') {
		struct seed_range r;

		if (!parse_seed(&s, &r.first))
			goto wrong;
		r.last = r.first;
		if (!strncmp(s, "..", 2)) {
			s += 2;
			if (!parse_seed(&s, &r.last) || r.last < r.first)
				goto wrong;
		}
		if ((*s && *s != ',') || r.last - r.first >= SEEDS_MAX)
			goto wrong;
		total += r.last - r.first + 1;
		if (total > SEEDS_MAX || !VEC_PUSH(&out->at, r))
			goto wrong;
	}
	if (total)
		return true;
wrong:
	seeds_fini(out);
	text_printf(why, "seeds are numbers such as 1..20 or 0,3,5..7, at most %u, not '%s'",
		    SEEDS_MAX, text);
	return false;
}

void seeds_fini(struct seed_list *l)
{
	VEC_FREE(&l->at);
}

struct many {
	int (*run)(void *user, const char *device, const char *label);
	void *user;
	int status;
	bool ends;
};

static void run_one(struct many *m, const char *device, const u64 *seed)
{
	struct text label = {0};
	char number[24];
	int status;

	if (device)
		text_puts(&label, device);
	if (seed) {
		snprintf(number, sizeof(number), "%" PRIu64, *seed);
		setenv(setting_variable(SETTING_SEED), number, 1);
		text_printf(&label, "%sseed %s", device ? ", " : "", number);
	}
	status = m->run(m->user, device, label.at ? label.at : "");
	if (status && label.at)
		fprintf(stderr, "ptxloom exec: %s: exit status %d\n", label.at, status);
	m->status = m->status ? m->status : status;
	m->ends = status < 0 || status == TOOL_USAGE || status == INTERRUPT_STATUS;
	text_fini(&label);
}

static void run_seeds(struct many *m, const char *device, const struct seed_list *seeds)
{
	if (!seeds->at.len)
		run_one(m, device, NULL);
	for (size_t i = 0; i < seeds->at.len; i++)
		for (u64 s = seeds->at.at[i].first; !m->ends; s++) {
			run_one(m, device, &s);
			if (s == seeds->at.at[i].last)
				break;
		}
}

int many_run(const char *devices, const char *seeds,
	     int (*run)(void *user, const char *device, const char *label), void *user)
{
	struct many m = {.run = run, .user = user};
	struct seed_list list = {0};
	struct text why = {0};

	if (seeds && !seeds_parse(seeds, &list, &why)) {
		fprintf(stderr, "ptxloom exec: error: --seeds: %s\n",
			why.at ? why.at : "no memory left");
		text_fini(&why);
		return TOOL_USAGE;
	}
	if (!devices)
		run_seeds(&m, NULL, &list);
	for (size_t n; devices && *devices && !m.ends; devices += n + (devices[n] == ',')) {
		char *device;

		n = strcspn(devices, ",");
		device = strndup(devices, n);
		if (device)
			run_seeds(&m, device, &list);
		m.ends |= !device;
		free(device);
	}
	seeds_fini(&list);
	return m.status;
}
