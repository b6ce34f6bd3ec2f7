/*
 * Sections of the details page, and what stands out in a launch.
 */
#ifndef PL_PROFILE_SECTIONS_H
#define PL_PROFILE_SECTIONS_H

#include "src/profile/metrics.h"

enum profile_section {
#define SECTION(id, title, sets) SECTION_##id,
#define ROW(label, metric)
#include "src/profile/page/sections.def"
#undef SECTION
#undef ROW
	PROFILE_SECTIONS,
};

struct section_row {
	const char *label, *metric;
};

const char *section_id(u32 section);
const char *section_title(u32 section);
const struct section_row *section_rows(u32 section, u32 *len);
/* Is there anything to say of the launch? */
bool section_applies(u32 section, const struct profile_launch *l);
/* The sections of a set, a bit each; 0: there is no such set. */
u32 section_set(const char *set);
/*
 * The sections that --section says: an id or regex:EXPRESSION. False with a line in `why`, which
 * tells those that need a clock from those that there are not.
 */
bool section_choose(const char *word, u32 *sections, struct text *why);

/* What stands out: one for each rule that applies. */
struct section_finding {
	enum profile_section section;
	const char *rule, *type; /* static: "UncoalescedGlobalAccess", "OPT" */
	struct text text;        /* one line; owned */
};

struct section_findings {
	VEC(struct section_finding) at;
};

void section_find(const struct profile_launch *l, u32 sections, struct section_findings *out);
void section_findings_fini(struct section_findings *f);

#endif
