/*
 * Metrics.
 */
#include "src/profile/metrics.h"

#include "src/base/nearest.h"
#include "src/profile/choice.h"

#include <stdlib.h>

#define V(x) l->value[VALUE_##x]
#define WARPS (CTAS * ((THREADS + 31) / 32))
#define CTAS ((u64)l->grid[0] * l->grid[1] * l->grid[2])
#define THREADS ((u64)l->block[0] * l->block[1] * l->block[2])
/* 0: launched without clusters. */
#define CLUSTER cluster_ctas(l)
#define GLOBAL(field)                                                                              \
	(V(global_ld_##field) + V(global_st_##field) + V(global_atom_##field) +                    \
	 V(global_red_##field) + V(copy_access_##field) + V(copy_bypass_##field))
#define SHARED(field)                                                                              \
	(V(shared_ld_##field) + V(shared_st_##field) + V(shared_atom_##field) +                    \
	 V(matrix_ld_##field) + V(matrix_st_##field) + V(shared_copy_##field))
#define SHARED_PASSES SHARED(passes)
#define SHARED_CONFLICTS (SHARED(passes) - SHARED(parts))
#define L1(field)                                                                                  \
	(V(l1_load_##field) + V(l1_store_##field) + V(l1_atom_##field) + V(l1_red_##field) +       \
	 V(l1_copy_##field) + V(l1_local_load_##field) + V(l1_local_store_##field))
/* Of the texture unit. */
#define SURFACE(field) (V(surface_ld_##field) + V(surface_st_##field) + V(surface_red_##field))
#define TEX(field) (V(texture_ld_##field) + SURFACE(field))
#define L1_SURFACE(field)                                                                          \
	(V(l1_surface_load_##field) + V(l1_surface_store_##field) + V(l1_surface_red_##field))
#define L1_TEX(field) (V(l1_texture_##field) + L1_SURFACE(field))
#define L1_MISSES (L1(miss) + V(l1_copy_past_miss) + V(l1_prefetch_miss))
/* Passes over the data of the first cache; atomics go in and come back. */
#define LG_PASSES                                                                                  \
	(V(global_ld_passes) + V(global_st_passes) + V(local_ld_passes) + V(local_st_passes) +     \
	 2 * V(l2_atom_requests) + V(l2_red_requests) + V(lg_marks))
/* Loads, and copies to shared memory. */
#define LD_REQUESTS V(global_ld_requests) + V(copy_access_requests) + V(copy_bypass_requests)
#define LD_SECTORS V(global_ld_sectors) + V(copy_access_sectors) + V(copy_bypass_parts)
#define GLOBAL_TAGS                                                                                \
	V(l1_load_tags) + V(l1_store_tags) + V(l1_atom_tags) + V(l1_red_tags) + V(l1_copy_tags) +  \
		V(l1_copy_past_tags)
/* Atomics look a line up for each request that they make of it. */
#define SET_ACCESSES                                                                               \
	(L1(tags) - V(l1_atom_tags) - V(l1_red_tags) + V(l2_atom_requests) + V(l2_red_requests) -  \
	 V(l1_bulk_red_tags) + V(l1_copy_past_sets) + V(l1_prefetch_tags))
#define L1_HITS L1(hit)
#define L1_LOOKUPS (L1(hit) + L1_MISSES)
#define L2(field)                                                                                  \
	(V(l2_read_##field) + V(l2_write_##field) + V(l2_atom_##field) + V(l2_red_##field) +       \
	 V(l2_prefetch_##field))
#define FABRIC(field)                                                                              \
	(V(l2_read_fabric_##field) + V(l2_write_fabric_##field) + V(l2_atom_fabric_##field) +      \
	 V(l2_red_fabric_##field) + V(l2_prefetch_fabric_##field))
/* Code goes to each of the eight groups of SMs; that for the far ones crosses the fabric. */
#define CODE_FABRIC (V(l2_code) ? V(l2_code) + 18 : 0)
#define CODE_REQUESTS (CODE_FABRIC / 4)
#define FABRIC_HIT (L2(fabric_hit) + CODE_FABRIC + V(l2_contacts))
/* Of SMs and of the other partition; what code asks of its own is not known. */
#define ALL_SECTORS (L2(sectors) + L2(fabric) + CODE_FABRIC + V(l2_contacts))
#define ALL_REQUESTS (L2(requests) + FABRIC(requests) + CODE_REQUESTS + V(l2_contacts))
#define ALL_HITS (L2(hit) + FABRIC_HIT)
#define ALL_MISSES (L2(miss) + L2(fabric) - L2(fabric_hit))
#define LSU(field)                                                                                 \
	(V(global_ld_##field) + V(copy_access_##field) + V(global_st_##field) +                    \
	 V(global_atom_##field) + V(global_red_##field) + V(local_ld_##field) +                    \
	 V(local_st_##field))
#define LSU_REQUESTS (LSU(requests) + V(copy_bypass_requests))
#define LSU_SECTORS (LSU(sectors) + V(copy_bypass_parts) + V(l1_prefetch_sectors))
#define FLOPS32 (V(fadd) + V(fmul) + 2 * V(ffma))
#define FLOPS64 (V(dadd) + V(dmul) + 2 * V(dfma))
#define FLOPS (FLOPS32 + FLOPS64 + V(half_flops) + V(tensor_flops))

static u64 cluster_ctas(const struct profile_launch *l)
{
	u64 n = (u64)l->cluster[0] * l->cluster[1] * l->cluster[2];

	return n > 1 ? n : 0;
}

static struct metric_number metric_whole(u64 x)
{
	return (struct metric_number){.is_known = true, .whole = x};
}

/* A share of nothing is 0, as there. */
static struct metric_number ratio(u64 x, u64 of, double times)
{
	return (struct metric_number){
		.is_known = true, .is_real = true, .real = of ? (double)x / (double)of * times : 0};
}

/* What is known of a counter besides its sum. */
enum { PART_SUM, PART_AVG, PART_MAX, PART_MIN, METRIC_PARTS };

static const struct {
	const char *name[METRIC_PARTS]; /* NULL: it is not a counter */
	const char *unit;
	enum metric_kind kind;
} metrics[] = {
#define METRIC(name, unit, kind, value) {{name}, unit, kind},
#define COUNTER(name, unit, kind, value)                                                           \
	{{name ".sum", name ".avg", name ".max", name ".min"}, unit, kind},
#define RATIO(name, unit, kind, value, of, times) {{name}, unit, kind},
#include "src/profile/metrics.def"
#undef METRIC
#undef COUNTER
#undef RATIO
};

/* Metrics are numbered by row; behind them other parts of counters, by part and row. */
#define ROWS ((u32)ARRAY_LEN(metrics))

/* Rows count themselves. */
enum { BEFORE_METRICS = __COUNTER__ };

static struct metric_number metric_value_of(u32 metric, const struct profile_launch *l)
{
	switch ((int)metric + BEFORE_METRICS + 1) {
#define METRIC(name, unit, kind, value)                                                            \
	case __COUNTER__:                                                                          \
		return metric_whole(value);
#define COUNTER METRIC
#define RATIO(name, unit, kind, value, of, times)                                                  \
	case __COUNTER__:                                                                          \
		return ratio(value, of, times);
#include "src/profile/metrics.def"
#undef METRIC
#undef COUNTER
#undef RATIO
	default:
		return (struct metric_number){0};
	}
}

/* Units that a counter is of, by the beginning of its name; 0: not known how many there are. */
static u64 metric_units(const char *name, const struct profile_launch *l)
{
	static const struct {
		const char *prefix;
		u32 of_sm;
	} units[] = {{"l1tex__", 1}, {"idc__", 1}, {"sm__", 1}, {"smsp__", 4}};

	for (size_t i = 0; i < ARRAY_LEN(units); i++)
		if (!strncmp(name, units[i].prefix, strlen(units[i].prefix)))
			return units[i].of_sm * V(sms);
	return 0;
}

static struct metric_number metric_part(u32 row, u32 part, const struct profile_launch *l)
{
	struct metric_number sum = metric_value_of(row, l);
	u64 units = metric_units(metrics[row].name[part], l);

	if (part == PART_AVG)
		return units ? ratio(sum.whole, units, 1) : (struct metric_number){0};
	/* All of it is where the only CTA or warp is. */
	if (units && (units == V(sms) ? CTAS : WARPS) == 1)
		return metric_whole(part == PART_MAX || units == 1 ? sum.whole : 0);
	if (!metric_has_spread(row) || !l->has_spread)
		return (struct metric_number){0};
	for (size_t i = 0; i < l->spread.len; i++)
		if (l->spread.at[i].metric == row)
			return metric_whole(part == PART_MAX ? l->spread.at[i].most
							     : l->spread.at[i].least);
	/* Others do not follow from what SMs have. */
	return sum.whole ? (struct metric_number){0} : metric_whole(0);
}

bool metric_has_spread(u32 metric)
{
	return metric < ROWS && metrics[metric].name[PART_MIN] &&
	       !strncmp(metrics[metric].name[PART_SUM], "l1tex__", 7);
}

struct metric_number metric_value(u32 metric, const struct profile_launch *l)
{
	u32 row = metric % ROWS;

	if (metric == METRIC_NONE || (metrics[row].kind == MODEL && !V(has_caches)))
		return (struct metric_number){0};
	return metric < ROWS ? metric_value_of(metric, l) : metric_part(row, metric / ROWS, l);
}

u32 metric_count(void)
{
	return ROWS;
}

const char *metric_name(u32 metric)
{
	return metric < METRIC_PARTS * ROWS ? metrics[metric % ROWS].name[metric / ROWS] : NULL;
}

const char *metric_unit(u32 metric)
{
	return metric < METRIC_PARTS * ROWS ? metrics[metric % ROWS].unit : NULL;
}

enum metric_kind metric_kind_of(u32 metric)
{
	return metrics[metric % ROWS].kind;
}

u32 metric_find(const char *name)
{
	for (u32 i = 0; i < METRIC_PARTS * ROWS; i++) {
		const char *at = metric_name(i);

		if (at && !strcmp(at, name))
			return i;
	}
	return METRIC_NONE;
}

double metric_real(const struct metric_number *n)
{
	return n->is_real ? n->real : (double)n->whole;
}

/* By a part of the name. */
bool metric_is_timed(const char *name)
{
	static const char *const timed[] = {"cycle",     "throughput", "pct_of_peak", "per_second",
					    "time",      "issue",      "stall",       "pcsamp",
					    "frequency", "elapsed",    "active",      "energy"};

	for (size_t i = 0; i < ARRAY_LEN(timed); i++)
		if (strstr(name, timed[i]))
			return true;
	return false;
}

/* The name that was probably meant; NULL: none is near. Suffixes are compared if there is one. */
static const char *nearest_metric(const char *name, size_t *len)
{
	struct nearest near;

	nearest_init(&near, name, strlen(name));
	/* Names are long, and most are like many others. */
	near.distance = (u32)min_u64(near.distance, 8);
	for (u32 i = 0; i < metric_count(); i++) {
		const char *full = metrics[i].name[PART_SUM];
		size_t n = strlen(full), base = strcspn(full, ".");

		nearest_offer(&near, full, strchr(name, '.') ? n : base);
	}
	*len = near.best && !strchr(name, '.') ? strcspn(near.best, ".")
	       : near.best                     ? strlen(near.best)
					       : 0;
	return near.best;
}

void metric_say_missing(const char *name, struct text *out)
{
	const char *near;
	size_t n;

	if (metric_is_timed(name)) {
		text_printf(out, "%s is a matter of time, which is not emulated", name);
		return;
	}
	near = nearest_metric(name, &n);
	text_printf(out, "%s is not counted; ", name);
	if (near)
		text_printf(out, "did you mean %.*s?", (int)n, near);
	else
		text_puts(out, "--query-metrics lists what is");
}

/* ---- numbers ---- */

static void write_separated(u64 x, struct metric_style style, struct text *out)
{
	if (x >= 1000 && !style.is_plain) {
		write_separated(x / 1000, style, out);
		text_printf(out, ",%03llu", (unsigned long long)(x % 1000));
	} else {
		text_printf(out, "%llu", (unsigned long long)x);
	}
}

static void write_real(double x, struct metric_style style, struct text *out)
{
	u64 hundredths = (u64)(x * 100 + 0.5);

	if ((double)(u64)x == x && !style.is_real) {
		write_separated((u64)x, style, out);
		return;
	}
	/* Larger ones have no hundredths in a double. */
	if (x >= 1e16) {
		text_printf(out, "%.2f", x);
		return;
	}
	write_separated(hundredths / 100, style, out);
	text_printf(out, ".%02llu", (unsigned long long)(hundredths % 100));
}

static const struct {
	const char *base, *larger[3]; /* by thousands */
} scaled[] = {
	{"byte", {"Kbyte", "Mbyte", "Gbyte"}},
	{"byte/block", {"Kbyte/block", "Mbyte/block", "Gbyte/block"}},
};

void metric_write(const struct metric_number *n, const char *unit, bool is_auto,
		  const char **shown_unit, struct text *out)
{
	metric_write_styled(n, unit, is_auto, (struct metric_style){0}, shown_unit, out);
}

void metric_write_styled(const struct metric_number *n, const char *unit, bool is_auto,
			 struct metric_style style, const char **shown_unit, struct text *out)
{
	double x = metric_real(n);
	u32 step = 0;

	*shown_unit = n->is_known ? unit : "";
	if (!n->is_known) {
		text_puts(out, "(!) n/a");
		return;
	}
	for (size_t i = 0; is_auto && i < ARRAY_LEN(scaled); i++)
		for (; !strcmp(scaled[i].base, unit) && x >= 1000 && step < 3; step++) {
			x /= 1000;
			*shown_unit = scaled[i].larger[step];
		}
	if (step || n->is_real || style.is_real)
		write_real(x, style, out);
	else
		write_separated(n->whole, style, out);
}

/* ---- lists ---- */

static int metric_by_name(const void *a, const void *b)
{
	return strcmp(metric_name(*(const u32 *)a), metric_name(*(const u32 *)b));
}

static bool list_put(struct metric_list *l, u32 metric)
{
	for (size_t i = 0; i < l->at.len; i++)
		if (l->at.at[i] == metric)
			return true;
	return VEC_PUSH(&l->at, metric);
}

/* A name without its suffix means all that there are. Returns how many were found. */
static u32 metric_put_name(struct metric_list *l, const char *name)
{
	size_t n = strlen(name);
	u32 found = 0;

	for (u32 i = 0; i < METRIC_PARTS * ROWS; i++) {
		const char *at = metric_name(i);

		if (at && !strncmp(at, name, n) && (!at[n] || at[n] == '.'))
			found += list_put(l, i);
	}
	return found;
}

/* parts: of counters, PART_SUM + 1: only their sums. */
static u32 metric_put_pattern(struct metric_list *l, const char *word, u32 parts, struct text *why)
{
	struct profile_pattern *p = profile_pattern_new(word, why);
	u32 found = 0;

	for (u32 i = 0; p && i < parts * ROWS; i++)
		if (metric_name(i) && profile_pattern_fits(p, metric_name(i)))
			found += list_put(l, i);
	profile_pattern_free(p);
	return found;
}

/* Groups of ncu, as far as they are counted. */
static u32 metric_put_group(struct metric_list *l, const char *group, struct text *why)
{
	static const struct {
		const char *name, *pattern;
	} groups[] = {
		{"memory__first_level_cache_table", "regex:^l1tex__"},
		{"memory__shared_table", "regex:mem_shared|_op_(ldsm|ldgsts|shared_(ld|st|atom))"},
		{"memory__l2_cache_table", "regex:^lts__"},
		{"memory__dram_table", "regex:^dram__"},
		{"memory__chart", "regex:^(l1tex__[tm]_|lts__t_|dram__)"},
		{"smsp__pcsamp_warp_stall_reasons", NULL},
		{"smsp__pcsamp_warp_stall_reasons_not_issued", NULL},
	};

	for (size_t i = 0; i < ARRAY_LEN(groups); i++) {
		if (strcmp(groups[i].name, group) != 0)
			continue;
		if (groups[i].pattern)
			return metric_put_pattern(l, groups[i].pattern, PART_SUM + 1, why);
		text_printf(why, "group:%s is a matter of time, which is not emulated", group);
		return 0;
	}
	text_printf(why, "there is no group of metrics '%s'; there are", group);
	for (size_t i = 0; i < ARRAY_LEN(groups); i++)
		if (groups[i].pattern)
			text_printf(why, "%s %s", i ? "," : "", groups[i].name);
	return 0;
}

static bool put_word(struct metric_list *l, const char *word, struct text *why)
{
	u32 found = !strncmp(word, "regex:", 6)   ? metric_put_pattern(l, word, METRIC_PARTS, why)
		    : !strncmp(word, "group:", 6) ? metric_put_group(l, word + 6, why)
						  : metric_put_name(l, word);
	char *copy;

	if (found || why->len)
		return !why->len;
	copy = strdup(word);
	if (copy && VEC_PUSH(&l->missing, copy))
		return true;
	free(copy);
	text_puts(why, "no memory left");
	return false;
}

bool metric_list_add(struct metric_list *l, const char *words, struct text *why)
{
	bool ok = true;

	while (*words && ok) {
		size_t n = strcspn(words, ",");
		char *word = strndup(words, n);

		ok = word && (!n || put_word(l, word, why));
		free(word);
		words += n + (words[n] == ',');
	}
	qsort(l->at.at, l->at.len, sizeof(l->at.at[0]), metric_by_name);
	return ok;
}

void metric_list_fini(struct metric_list *l)
{
	for (size_t i = 0; i < l->missing.len; i++)
		free(l->missing.at[i]);
	VEC_FREE(&l->missing);
	VEC_FREE(&l->at);
}
