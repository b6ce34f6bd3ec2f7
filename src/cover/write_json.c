/*
 * JSON: our own, that of llvm-cov export, that of gcovr.
 */
#include "src/cover/write.h"
#include "src/lower/sites.h"

static const char *comma(bool first)
{
	return first ? "" : ",";
}

static void put_member(struct text *out, const char *name, u64 n)
{
	text_printf(out, ",\"%s\":%llu", name, (unsigned long long)n);
}

/* ---- our own ---- */

static void put_tally(const struct cover_line *l, struct text *out)
{
	const struct cover_tally *t = &l->tally;

	text_printf(out, "{\"line\":%u", l->line);
	put_member(out, "count", t->count);
	put_member(out, "warps", t->warps);
	put_member(out, "full_warps", t->full);
	put_member(out, "divergent_warps", t->diverged);
	put_member(out, "lanes", (u64)__builtin_popcount(t->mask));
	put_member(out, "lane_mask", t->mask);
	put_member(out, "least_lanes", t->count ? 32 - t->missing : 0);
	text_puts(out, "}");
}

static void put_json_site(const struct cover_site *x, struct text *out)
{
	static const char *const kinds[] = {"block", "branch", "guard", "select", "switch"};

	text_printf(out, "{\"line\":%u,\"column\":%u,\"ordinal\":%u,\"kind\":\"%s\",\"reached\":%s",
		    x->line, x->column, x->ordinal, kinds[x->kind], x->reached ? "true" : "false");
	text_puts(out, ",\"directions\":[");
	for (u32 i = 0; i < x->ways; i++) {
		struct text name = {0};

		cover_way_name(x, i, &name);
		text_printf(out, "%s{\"name\":", comma(!i));
		text_json_string(out, name.at ? name.at : "");
		put_member(out, "count", x->taken[i]);
		text_puts(out, "}");
		text_fini(&name);
	}
	text_puts(out, "]");
	if (x->kind != SITE_INDEX) {
		put_member(out, "warps_all", x->all);
		put_member(out, "warps_none", x->none);
	}
	put_member(out, "warps_diverged", x->diverged);
	text_puts(out, "}");
}

static void put_json_function(const struct cover_model *m, const struct cover_function *x,
			      bool instances, struct text *out)
{
	text_puts(out, "{\"name\":");
	text_json_string(out, x->shown);
	text_puts(out, ",\"linkage_name\":");
	text_json_string(out, x->name);
	put_member(out, "line", x->line);
	put_member(out, "end", x->end);
	put_member(out, "count", x->count);
	if (instances) {
		text_puts(out, ",\"lines\":[");
		for (size_t i = 0; i < x->lines.len; i++) {
			text_puts(out, comma(!i));
			text_puts(out, "{\"file\":");
			text_json_string(out, m->files.at[x->lines.at[i].file].path);
			text_puts(out, ",\"at\":");
			put_tally(&x->lines.at[i], out);
			text_puts(out, "}");
		}
		text_puts(out, "]");
	}
	text_puts(out, "}");
}

static void put_json_sums(const struct cover_sum *s, struct text *out)
{
	text_printf(out,
		    "{\"lines\":%u,\"lines_covered\":%u,\"branches\":%u,\"branches_covered\":%u,"
		    "\"functions\":%u,\"functions_covered\":%u}",
		    s->lines, s->lines_hit, s->ways, s->ways_hit, s->functions, s->functions_hit);
}

static void put_json_file(const struct cover_model *m, const struct cover_file *f,
			  const struct cover_style *s, struct text *out)
{
	struct cover_sum sum = cover_sum_file(m, f);

	text_puts(out, "{\"path\":");
	text_json_string(out, f->path);
	text_puts(out, ",\"summary\":");
	put_json_sums(&sum, out);
	text_puts(out, ",\n\"functions\":[");
	for (u32 i = 0; i < f->functions; i++) {
		text_puts(out, comma(!i));
		put_json_function(m, &m->functions.at[f->first_function + i], s->instances, out);
	}
	text_puts(out, "],\n\"lines\":[");
	for (u32 i = 0; i < f->lines; i++) {
		text_puts(out, comma(!i));
		put_tally(&m->lines.at[f->first_line + i], out);
	}
	text_puts(out, "],\n\"branches\":[");
	for (u32 i = 0; i < f->sites; i++) {
		text_puts(out, comma(!i));
		put_json_site(&m->sites.at[f->first_site + i], out);
	}
	text_puts(out, "]}");
}

void cover_write_json(const struct cover_model *m, const struct cover_style *s, struct text *out)
{
	struct cover_sum sum = cover_sum_all(m);
	bool first = true;

	text_puts(out, "{\"format\":\"ptxloom-coverage\",\"version\":1,\"root\":");
	text_json_string(out, m->root);
	text_printf(out, ",\"optimised\":%s,\"summary\":", m->is_optimised ? "true" : "false");
	put_json_sums(&sum, out);
	text_puts(out, ",\"files\":[");
	for (size_t i = 0; i < m->files.len; i++) {
		if (!m->files.at[i].lines)
			continue;
		text_puts(out, first ? "\n" : ",\n");
		put_json_file(m, &m->files.at[i], s, out);
		first = false;
	}
	text_puts(out, "\n]}\n");
}

/* ---- llvm-cov export ---- */

static void put_llvm_sum(const char *name, u32 hit, u32 all, bool more, struct text *out)
{
	text_printf(out, "\"%s\":{\"count\":%u,\"covered\":%u", name, all, hit);
	if (more)
		text_printf(out, ",\"notcovered\":%u", all - hit);
	text_printf(out, ",\"percent\":%.4f}", all ? 100.0 * hit / all : 0.0);
}

static void put_llvm_summary(const struct cover_sum *s, struct text *out)
{
	text_puts(out, "{");
	put_llvm_sum("branches", s->ways_hit, s->ways, true, out);
	text_puts(out, ",");
	put_llvm_sum("functions", s->functions_hit, s->functions, false, out);
	text_puts(out, ",");
	put_llvm_sum("instantiations", s->functions_hit, s->functions, false, out);
	text_puts(out, ",");
	put_llvm_sum("lines", s->lines_hit, s->lines, false, out);
	text_puts(out, ",");
	put_llvm_sum("regions", s->lines_hit, s->lines, true, out);
	text_puts(out, "}");
}

/* A segment begins each line with code; where none follows at once, another ends it. */
static void put_segments(const struct cover_model *m, const struct cover_file *f, struct text *out)
{
	for (u32 i = 0; i < f->lines; i++) {
		const struct cover_line *l = &m->lines.at[f->first_line + i];

		text_printf(out, "%s[%u,1,%llu,true,true,false]", comma(!i), l->line,
			    (unsigned long long)l->tally.count);
		if (i + 1 == f->lines || l[1].line != l->line + 1)
			text_printf(out, ",[%u,1,0,false,false,false]", l->line + 1);
	}
}

static void put_llvm_branches(const struct cover_model *m, const struct cover_file *f,
			      struct text *out)
{
	bool first = true;

	for (u32 i = 0; i < f->sites; i++) {
		const struct cover_site *x = &m->sites.at[f->first_site + i];
		u32 column = x->column ? x->column : 1;

		for (u32 k = 0; x->kind == SITE_INDEX && k < x->ways; k++, first = false)
			text_printf(out, "%s[%u,%u,%u,%u,%llu,0,0,0,4]", comma(first), x->line,
				    column, x->line, column, (unsigned long long)x->taken[k]);
		if (x->kind == SITE_INDEX)
			continue;
		text_printf(out, "%s[%u,%u,%u,%u,%llu,%llu,0,0,4]", comma(first), x->line, column,
			    x->line, column, (unsigned long long)x->taken[0],
			    (unsigned long long)x->taken[1]);
		first = false;
	}
}

static void put_llvm_function(const struct cover_model *m, const struct cover_function *x,
			      bool first, struct text *out)
{
	text_printf(out, "%s\n{\"branches\":[],\"count\":%llu,\"filenames\":[", comma(first),
		    (unsigned long long)x->count);
	text_json_string(out, m->files.at[x->file].source);
	text_puts(out, "],\"name\":");
	text_json_string(out, x->name);
	text_printf(out, ",\"regions\":[[%u,1,%u,1,%llu,0,0,0]]}", x->line, x->end + 1,
		    (unsigned long long)x->count);
}

void cover_write_llvm(const struct cover_model *m, const struct cover_style *s, struct text *out)
{
	struct cover_sum sum = cover_sum_all(m);
	bool first = true;

	(void)s;
	text_puts(out, "{\"data\":[{\"files\":[");
	for (size_t i = 0; i < m->files.len; i++) {
		const struct cover_file *f = &m->files.at[i];
		struct cover_sum one = cover_sum_file(m, f);

		if (!f->lines)
			continue;
		text_printf(out, "%s\n{\"branches\":[", comma(first));
		put_llvm_branches(m, f, out);
		text_puts(out, "],\"expansions\":[],\"filename\":");
		text_json_string(out, f->source);
		text_puts(out, ",\"segments\":[");
		put_segments(m, f, out);
		text_puts(out, "],\"summary\":");
		put_llvm_summary(&one, out);
		text_puts(out, "}");
		first = false;
	}
	text_puts(out, "],\"functions\":[");
	for (size_t i = 0; i < m->functions.len; i++)
		put_llvm_function(m, &m->functions.at[i], !i, out);
	text_puts(out, "],\"totals\":");
	put_llvm_summary(&sum, out);
	text_puts(out, "}],\"type\":\"llvm.coverage.json.export\",\"version\":\"2.0.1\"}\n");
}

/* ---- gcovr: each version wants what it writes itself, and ignores members of others ---- */

static void put_gcovr_line(const struct cover_model *m, const struct cover_file *f,
			   const struct cover_style *s, const struct cover_line *l,
			   struct text *out)
{
	u32 n, first = cover_sites_of(m, f, l->line, &n);
	bool any = false;

	text_puts(out, "{\"branches\":[");
	for (u32 i = first; i < first + n; i++)
		for (u32 k = 0; k < cover_ways(&m->sites.at[i], s); k++) {
			text_printf(out,
				    "%s{\"blockno\":0,\"source_block_id\":0,\"count\":%llu,"
				    "\"fallthrough\":%s,\"throw\":false}",
				    comma(!any),
				    (unsigned long long)cover_way_taken(&m->sites.at[i], s, k),
				    m->sites.at[i].kind == SITE_BRANCH && k == 1 ? "true"
										 : "false");
			any = true;
		}
	text_printf(out,
		    "],\"conditions\":[],\"count\":%llu,\"gcovr/calls\":[],"
		    "\"gcovr/excluded\":false,\"gcovr/noncode\":false,\"line_number\":%u}",
		    (unsigned long long)l->tally.count, l->line);
}

void cover_write_gcovr(const struct cover_model *m, const struct cover_style *s, struct text *out)
{
	bool first = true;

	text_puts(out, "{\"gcovr/format_version\":");
	text_json_string(out, s->gcovr);
	text_puts(out, ",\"files\":[");
	for (size_t i = 0; i < m->files.len; i++) {
		const struct cover_file *f = &m->files.at[i];

		if (!f->lines)
			continue;
		text_printf(out, "%s\n{\"file\":", comma(first));
		first = false;
		text_json_string(out, f->path);
		text_puts(out, ",\"functions\":[");
		for (u32 k = 0; k < f->functions; k++) {
			const struct cover_function *x = &m->functions.at[f->first_function + k];

			text_printf(out, "%s{\"name\":", comma(!k));
			text_json_string(out, x->shown);
			text_puts(out, ",\"demangled_name\":");
			text_json_string(out, x->shown);
			text_printf(out,
				    ",\"lineno\":%u,\"execution_count\":%llu,"
				    "\"returned_count\":%llu,\"blocks_percent\":%d}",
				    x->line, (unsigned long long)x->count,
				    (unsigned long long)x->count, x->count ? 100 : 0);
		}
		text_puts(out, "],\"lines\":[");
		for (u32 k = 0; k < f->lines; k++) {
			text_puts(out, comma(!k));
			put_gcovr_line(m, f, s, &m->lines.at[f->first_line + k], out);
		}
		text_puts(out, "]}");
	}
	text_puts(out, "\n]}\n");
}
