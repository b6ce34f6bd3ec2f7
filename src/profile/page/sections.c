/*
 * Sections and rules.
 */
#include "src/profile/page/sections.h"

#include "src/arch/arch.h"
#include "src/profile/choice.h"
#include "src/profile/report.h"

#include <stdlib.h>

static const struct section_row rows[] = {
#define SECTION(id, title, sets)
#define ROW(label, metric) {label, metric},
#include "src/profile/page/sections.def"
#undef SECTION
#undef ROW
};

/* By row: the line of the file where it stands, which tells whose it is. */
static const u32 row_lines[] = {
#define SECTION(id, title, sets)
#define ROW(label, metric) __LINE__,
#include "src/profile/page/sections.def"
#undef SECTION
#undef ROW
};

static const struct {
	const char *id, *title, *sets;
	u32 line;
} sections[] = {
#define SECTION(id, title, sets) {#id, title, sets, __LINE__},
#define ROW(label, metric)
#include "src/profile/page/sections.def"
#undef SECTION
#undef ROW
};

/* Sections of Nsight Compute for which time would have to be known, or that we have not. */
static const char *const others[] = {
	"C2CLink",
	"ComputeWorkloadAnalysis",
	"MemoryWorkloadAnalysis_Chart",
	"NumaAffinity",
	"Nvlink",
	"Nvlink_Tables",
	"Nvlink_Topology",
	"PmSampling",
	"PmSampling_WarpStates",
	"SchedulerStats",
	"SpeedOfLight",
	"SpeedOfLight_HierarchicalDoubleRooflineChart",
	"SpeedOfLight_HierarchicalHalfRooflineChart",
	"SpeedOfLight_HierarchicalSingleRooflineChart",
	"SpeedOfLight_HierarchicalTensorRooflineChart",
	"WarpStateStats",
	"WorkloadDistribution",
};

const char *section_id(u32 section)
{
	return section < PROFILE_SECTIONS ? sections[section].id : NULL;
}

const char *section_title(u32 section)
{
	return section < PROFILE_SECTIONS ? sections[section].title : NULL;
}

const struct section_row *section_rows(u32 section, u32 *len)
{
	u32 end = section + 1 < PROFILE_SECTIONS ? sections[section + 1].line : UINT32_MAX;
	u32 first = 0;

	while (first < ARRAY_LEN(rows) && row_lines[first] < sections[section].line)
		first++;
	*len = 0;
	while (first + *len < ARRAY_LEN(rows) && row_lines[first + *len] < end)
		++*len;
	return &rows[first];
}

static bool section_has_word(const char *words, const char *word)
{
	size_t n = strlen(word);

	for (; *words; words += strcspn(words, " "), words += *words == ' ')
		if (!strncmp(words, word, n) && (!words[n] || words[n] == ' '))
			return true;
	return false;
}

bool section_applies(u32 section, const struct profile_launch *l)
{
	return section != SECTION_ManagedMemory || l->value[VALUE_managed_touched];
}

u32 section_set(const char *set)
{
	u32 mask = 0;

	for (u32 i = 0; *set && i < PROFILE_SECTIONS; i++)
		mask |= (u32)section_has_word(sections[i].sets, set) << i;
	return mask;
}

bool section_choose(const char *word, u32 *mask, struct text *why)
{
	struct profile_pattern *p = profile_pattern_new(word, why);
	u32 found = 0;
	bool is_other = false;

	if (!p)
		return false;
	for (u32 i = 0; i < PROFILE_SECTIONS; i++)
		found |= (u32)profile_pattern_fits(p, sections[i].id) << i;
	for (size_t i = 0; i < ARRAY_LEN(others); i++)
		is_other |= profile_pattern_fits(p, others[i]);
	profile_pattern_free(p);
	*mask |= found;
	if (!found && is_other)
		text_printf(why,
			    "section %s is a matter of time or of links, which are not emulated",
			    word);
	else if (!found)
		text_printf(why, "there is no section %s; --list-sections shows which there are",
			    word);
	return found != 0;
}

/* ---- what stands out ---- */

#define LINES_NAMED 3u

static struct section_finding *add_finding(struct section_findings *f, enum profile_section section,
					   const char *rule, const char *type)
{
	struct section_finding x = {.section = section, .rule = rule, .type = type};

	return VEC_PUSH(&f->at, x) ? &f->at.at[f->at.len - 1] : NULL;
}

/* The excess of a row: what is counted beyond what would do. */
static u64 excess_of(const struct profile_row *r, enum profile_column of, enum profile_column ideal)
{
	return ideal == PROFILE_COLUMNS   ? r->at[of]
	       : r->at[of] > r->at[ideal] ? r->at[of] - r->at[ideal]
					  : 0;
}

static bool share_line(const struct profile_insn *a, const struct profile_insn *b)
{
	if (a->file && b->file)
		return a->file == b->file && a->line == b->line;
	return !a->file && !b->file && a->ptx_line == b->ptx_line;
}

/* What all instructions of row i's line have, if it is the first of them; else 0. */
static u64 line_excess(const struct profile_launch *l, size_t i, enum profile_column of,
		       enum profile_column ideal)
{
	const struct profile_insn *in = profile_insn_of(l, &l->rows.at[i]);
	u64 sum = 0;

	for (size_t k = 0; k < l->rows.len; k++) {
		u64 x = excess_of(&l->rows.at[k], of, ideal);

		if (!x || !share_line(profile_insn_of(l, &l->rows.at[k]), in))
			continue;
		if (k < i)
			return 0;
		sum += x;
	}
	return sum;
}

static void section_say_place(const struct profile_launch *l, const struct profile_insn *in,
			      struct text *t)
{
	if (in->file)
		text_printf(t, "%s:%u", in->file, in->line);
	else
		text_printf(t, "%s:%u", l->program->ptx, in->ptx_line);
}

/* Add "; stencil.cu:12 has 4,094" for the lines that have most. */
static void say_lines(const struct profile_launch *l, enum profile_column of,
		      enum profile_column ideal, struct text *t)
{
	u64 below = UINT64_MAX;
	size_t after = 0;

	for (u32 n = 0; n < LINES_NAMED; n++) {
		u64 most = 0;
		size_t at = 0;

		for (size_t i = 0; i < l->rows.len; i++) {
			u64 x = excess_of(&l->rows.at[i], of, ideal) ? line_excess(l, i, of, ideal)
								     : 0;

			if (x > most && (x < below || (x == below && i > after))) {
				most = x;
				at = i;
			}
		}
		if (!most)
			return;
		text_puts(t, n ? ", " : " Most of them: ");
		section_say_place(l, profile_insn_of(l, &l->rows.at[at]), t);
		text_printf(t, " (%llu)", (unsigned long long)most);
		below = most;
		after = at;
	}
}

static void find_excess(const struct profile_launch *l, struct section_findings *f,
			const char *rule, const char *what, const char *unit, u64 sum, u64 ideal,
			enum profile_column of, enum profile_column ideal_of)
{
	struct section_finding *x;

	if (sum <= ideal)
		return;
	x = add_finding(f, SECTION_SourceCounters, rule, "OPT");
	if (!x)
		return;
	text_printf(
		&x->text,
		"This kernel has %s resulting in a total of %llu excessive %s (%llu%% of the total "
		"%llu %s).",
		what, (unsigned long long)(sum - ideal), unit,
		(unsigned long long)((sum - ideal) * 100 / sum), (unsigned long long)sum, unit);
	say_lines(l, of, ideal_of, &x->text);
}

static void find_divergence(const struct profile_launch *l, struct section_findings *f)
{
	u64 n = l->value[VALUE_branches_divergent], all = l->value[VALUE_branches];
	struct section_finding *x;

	if (!n)
		return;
	x = add_finding(f, SECTION_SourceCounters, "BranchDivergence", "INF");
	if (!x)
		return;
	text_printf(&x->text, "%llu of %llu branches of warps part their threads.",
		    (unsigned long long)n, (unsigned long long)all);
	say_lines(l, COLUMN_divergent, PROFILE_COLUMNS, &x->text);
}

/* ---- occupancy ---- */

static void say_more(struct text *t, const char *how, u64 amount, const char *unit, u64 warps)
{
	if (amount)
		text_printf(t, " With %s %llu %s there would be %llu warps.", how,
			    (unsigned long long)amount, unit, (unsigned long long)warps);
}

static void find_occupancy(const struct profile_launch *l, struct section_findings *f)
{
	static const char *const what[] = {
		[ARCH_LIMIT_NONE] = NULL,
		[ARCH_LIMIT_CTAS] = "the number of blocks that an SM holds",
		[ARCH_LIMIT_WARPS] = "the number of warps in a block",
		[ARCH_LIMIT_REGISTERS] = "the number of required registers",
		[ARCH_LIMIT_SMEM] = "the required amount of shared memory",
	};
	u64 threads = (u64)l->block[0] * l->block[1] * l->block[2];
	u64 warps = l->value[VALUE_resident] * ((threads + 31) / 32);
	u64 limiter = l->value[VALUE_limiter];
	struct section_finding *x;

	if (warps >= l->value[VALUE_warps_max] || limiter >= ARRAY_LEN(what) || !what[limiter])
		return;
	x = add_finding(f, SECTION_Occupancy, "TheoreticalOccupancy", "OPT");
	if (!x)
		return;
	text_printf(&x->text, "The theoretical %llu warps of an SM, of %llu, are limited by %s.",
		    (unsigned long long)warps, (unsigned long long)l->value[VALUE_warps_max],
		    what[limiter]);
	if (limiter == ARCH_LIMIT_REGISTERS && !l->value[VALUE_registers_given])
		text_puts(&x->text, " (PTX does not say how many registers the machine code takes: "
				    "32 are assumed.)");
	say_more(&x->text, "at most", l->value[VALUE_lift_registers], "registers",
		 l->value[VALUE_lift_registers_warps]);
	say_more(&x->text, "at most", l->value[VALUE_lift_shared],
		 "bytes of shared memory in a block", l->value[VALUE_lift_shared_warps]);
	say_more(&x->text, "blocks of", l->value[VALUE_lift_threads], "threads",
		 l->value[VALUE_lift_threads_warps]);
}

/* ---- all ---- */

void section_find(const struct profile_launch *l, u32 mask, struct section_findings *out)
{
	struct section_findings all = {0};
	struct metric_number sectors, ideal, passes, free_passes;

	sectors = metric_value(metric_find("memory_l2_theoretical_sectors_global"), l);
	ideal = metric_value(metric_find("memory_l2_theoretical_sectors_global_ideal"), l);
	passes = metric_value(metric_find("memory_l1_wavefronts_shared"), l);
	free_passes = metric_value(metric_find("memory_l1_wavefronts_shared_ideal"), l);
	find_occupancy(l, &all);
	find_excess(l, &all, "UncoalescedGlobalAccess", "uncoalesced global accesses", "sectors",
		    sectors.whole, ideal.whole, COLUMN_global_sectors, COLUMN_global_ideal);
	find_excess(l, &all, "UncoalescedSharedAccess", "shared accesses with bank conflicts",
		    "wavefronts", passes.whole, free_passes.whole, COLUMN_shared_passes,
		    COLUMN_shared_ideal);
	find_divergence(l, &all);
	for (size_t i = 0; i < all.at.len; i++)
		if (!(mask >> all.at.at[i].section & 1) || !VEC_PUSH(&out->at, all.at.at[i]))
			text_fini(&all.at.at[i].text);
	VEC_FREE(&all.at);
}

void section_findings_fini(struct section_findings *f)
{
	for (size_t i = 0; i < f->at.len; i++)
		text_fini(&f->at.at[i].text);
	VEC_FREE(&f->at);
}
