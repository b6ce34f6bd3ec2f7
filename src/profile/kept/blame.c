/*
 * Which column of the rows a metric is about goes by parts of its name.
 */
#include "src/profile/kept/blame.h"

#include "src/profile/report.h"

/* The first row whose word is in the name; what it counts is one column less another. */
static const struct {
	const char *word;
	enum profile_column of, less; /* the same: nothing is taken off */
} blames[] = {
	{"bank_conflicts", COLUMN_shared_passes, COLUMN_shared_ideal},
	{"wavefronts_shared_excessive", COLUMN_shared_passes, COLUMN_shared_ideal},
	{"shared", COLUMN_shared_passes, COLUMN_shared_passes},
	{"divergent", COLUMN_divergent, COLUMN_divergent},
	{"global_excessive", COLUMN_global_sectors, COLUMN_global_ideal},
	{"bytes_per_sector", COLUMN_global_sectors, COLUMN_global_ideal},
	{"sectors_per_request", COLUMN_global_sectors, COLUMN_global_ideal},
	{"local", COLUMN_local_sectors, COLUMN_local_sectors},
	{"lookup_miss", COLUMN_l1_miss, COLUMN_l1_miss},
	{"dram", COLUMN_dram_sectors, COLUMN_dram_sectors},
	{"lts__", COLUMN_l2_sectors, COLUMN_l2_sectors},
	{"pipe_tex", COLUMN_texture_sectors, COLUMN_texture_sectors},
	{"requests", COLUMN_global_requests, COLUMN_global_requests},
	{"sectors", COLUMN_global_sectors, COLUMN_global_sectors},
	{"thread_inst_executed", COLUMN_threads, COLUMN_threads},
	{"inst_executed", COLUMN_inst, COLUMN_inst},
};

/* Operations that names may be of, and what such instructions begin with. */
static const struct {
	const char *word, *text;
} blamed_ops[] = {{"_op_ldgsts", "cp.async"}, {"_op_ldsm", "ldmatrix"}, {"_op_barrier", "bar"},
		  {"_op_branch", "bra"},      {"_op_ld", "ld"},         {"_op_st", "st"},
		  {"_op_atom", "atom"},       {"_op_red", "red"}};

static const char *blamed_op(const char *metric)
{
	for (size_t i = 0; i < ARRAY_LEN(blamed_ops); i++)
		if (strstr(metric, blamed_ops[i].word))
			return blamed_ops[i].text;
	return "";
}

const char *profile_unguarded(const char *text)
{
	if (*text != '@')
		return text;
	text += strcspn(text, " ");
	return text + strspn(text, " ");
}

static u64 blamed_count(size_t blame, const struct profile_row *r)
{
	u64 of = r->at[blames[blame].of], less = r->at[blames[blame].less];

	return blames[blame].of == blames[blame].less ? of : of > less ? of - less : 0;
}

u64 profile_blame(const char *metric, const struct profile_launch *l, struct text *out)
{
	const struct profile_insn *worst = NULL, *insn;
	const char *op = blamed_op(metric);
	u64 most = 0, n;
	size_t b = 0;

	while (b < ARRAY_LEN(blames) && !strstr(metric, blames[b].word))
		b++;
	for (size_t i = 0; b < ARRAY_LEN(blames) && i < l->rows.len; i++) {
		insn = profile_insn_of(l, &l->rows.at[i]);
		n = blamed_count(b, &l->rows.at[i]);
		if (!insn || n <= most ||
		    strncmp(profile_unguarded(insn->text), op, strlen(op)) != 0)
			continue;
		most = n;
		worst = insn;
	}
	if (!worst)
		return 0;
	text_printf(out, "%s:%u: %s (%llu)", worst->file ? worst->file : l->program->ptx,
		    worst->file ? worst->line : worst->ptx_line, worst->text,
		    (unsigned long long)most);
	return most;
}
