/*
 * Picking launches.
 */
#include "src/profile/pick.h"

#include <stdlib.h>

/* The parts of CONTEXT:STREAM:NAME:INVOCATION, where NAME may have colons. */
struct id_parts {
	char context[24], stream[24], invocation[24], name[512];
};

static bool take_part(char *to, size_t size, const char *s, size_t n)
{
	return (size_t)snprintf(to, size, "%.*s", (int)n, s) < size;
}

static bool pick_is_digits(const char *s)
{
	return !s[strspn(s, "0123456789")];
}

static bool split_id(const char *id, struct id_parts *p)
{
	const char *one = strchr(id, ':'), *two = one ? strchr(one + 1, ':') : NULL;
	const char *last = strrchr(id, ':');

	return two && last > two && take_part(p->context, sizeof(p->context), id, one - id) &&
	       take_part(p->stream, sizeof(p->stream), one + 1, two - one - 1) &&
	       take_part(p->name, sizeof(p->name), two + 1, last - two - 1) &&
	       take_part(p->invocation, sizeof(p->invocation), last + 1, strlen(last + 1)) &&
	       pick_is_digits(p->context) && pick_is_digits(p->stream) &&
	       pick_is_digits(p->invocation);
}

bool profile_pick_set_id(struct profile_pick *p, const char *id, struct text *why)
{
	struct id_parts parts;
	struct profile_pattern *name;

	if (!split_id(id, &parts)) {
		text_printf(why, "'%s' is not CONTEXT:STREAM:KERNEL:INVOCATION", id);
		return false;
	}
	name = profile_pattern_new(parts.name, why);
	if (!name)
		return false;
	profile_pattern_free(name);
	free(p->id);
	p->id = strdup(id);
	return p->id != NULL;
}

bool profile_pick_set_devices(struct profile_pick *p, const char *devices, struct text *why)
{
	char *end;

	p->has_devices = true;
	for (const char *s = devices; *s; s = end + (*end == ',')) {
		unsigned long n = strtoul(s, &end, 10);

		if (end == s || n > 63 || (*end && *end != ',')) {
			text_printf(why, "'%s' is no list of devices: 0,1", devices);
			return false;
		}
		p->devices |= (u64)1 << n;
	}
	return true;
}

static bool name_fits(const struct profile_pick *p, const struct profile_pattern *name,
		      const struct profile_launch *l)
{
	struct text t = {0};
	bool yes;

	if (p->choice.base == BASE_MANGLED)
		text_puts(&t, l->program->kernel);
	else
		profile_shown_name(l->program->name, p->choice.base, &t);
	yes = t.at && profile_pattern_fits(name, t.at);
	text_fini(&t);
	return yes;
}

/* Is it one of the id's, which has been seen *seen times? */
static bool id_fits(const struct profile_pick *p, const struct id_parts *parts,
		    const struct profile_pattern *name, const struct profile_launch *l, u64 *seen)
{
	if ((*parts->context && strtoull(parts->context, NULL, 10) != l->context) ||
	    (*parts->stream && strtoull(parts->stream, NULL, 10) != l->stream) ||
	    (*parts->name && !name_fits(p, name, l)))
		return false;
	++*seen;
	return !*parts->invocation || strtoull(parts->invocation, NULL, 10) == *seen;
}

static bool choice_fits(struct profile_pick *p, const struct profile_launch *l)
{
	struct profile_choice *c = &p->choice;

	return profile_choice_next(c, (!c->pattern || name_fits(p, c->pattern, l)) &&
					      profile_choice_has_ranges(c, l->ranges));
}

bool profile_pick_apply(struct profile_pick *p, struct profile_report *r)
{
	bool *keep = calloc(r->launches.len + 1, sizeof(*keep));
	struct profile_pattern *name = NULL;
	struct id_parts parts = {0};
	struct text why = {0};
	u64 seen = 0;

	if (keep && p->id && split_id(p->id, &parts))
		name = profile_pattern_new(parts.name, &why);
	for (size_t i = 0; keep && i < r->launches.len; i++) {
		const struct profile_launch *l = r->launches.at[i];

		if (p->has_devices && (l->device > 63 || !(p->devices >> l->device & 1)))
			continue;
		if (p->id && (!name || !id_fits(p, &parts, name, l, &seen)))
			continue;
		keep[i] = choice_fits(p, l);
	}
	if (keep)
		profile_report_keep(r, keep);
	profile_pattern_free(name);
	text_fini(&why);
	free(keep);
	return keep != NULL;
}

void profile_pick_fini(struct profile_pick *p)
{
	profile_choice_fini(&p->choice);
	free(p->id);
	p->id = NULL;
}
