/*
 * Reading reports.
 */
#include "src/profile/report.h"

#include "src/base/map.h"
#include "src/profile/json.h"

#include <stdlib.h>

/* What is read, and where. */
struct reader {
	struct profile_report *report;
	struct profile_process *process; /* the last one */
	struct json_in in;
	u32 column_at
		[256]; /* by number in rows: of enum profile_column, PROFILE_COLUMNS: unknown */
	u32 columns;
	struct map values; /* hash of a name -> number + 1 */
	const char *wrong; /* static; NULL: nothing yet */
};

static u64 name_hash(const char *s)
{
	return hash_bytes(s, strlen(s)) | 1;
}

static void take_string(struct reader *r, char **to)
{
	free(*to);
	*to = json_in_string(&r->in);
}

/* ---- processes ---- */

static void read_columns(struct reader *r)
{
	r->columns = 0;
	for (json_in_array(&r->in); json_in_element(&r->in);) {
		char *name = json_in_string(&r->in);
		u32 c = 0;

		while (name && c < PROFILE_COLUMNS && strcmp(name, profile_column_name(c)) != 0)
			c++;
		if (r->columns < ARRAY_LEN(r->column_at))
			r->column_at[r->columns++] = c;
		free(name);
	}
}

static void read_process(struct reader *r)
{
	struct profile_process *p = calloc(1, sizeof(*p));

	if (json_in_number(&r->in) != 1)
		r->wrong = "it is of a newer version";
	if (!p || !VEC_PUSH(&r->report->processes, p)) {
		free(p);
		r->wrong = "no memory left";
		return;
	}
	r->process = p;
	while (json_in_key(&r->in))
		if (json_in_is(&r->in, "process"))
			p->pid = json_in_number(&r->in);
		else if (json_in_is(&r->in, "name"))
			take_string(r, &p->name);
		else if (json_in_is(&r->in, "columns"))
			read_columns(r);
		else
			json_in_skip(&r->in);
	if (!p->name)
		r->in.failed = true;
}

/* ---- programs ---- */

/* An instruction as it is written: numbers of names that come later in the line. */
struct read_insn {
	s64 function, file;
	u32 ptx_line, line;
	char *text;
};

struct read_program {
	VEC(struct read_insn) insns;
	VEC(char *) functions, files;
};

static void read_insns(struct reader *r, struct read_program *p)
{
	struct json_in *j = &r->in;

	for (json_in_array(j); json_in_element(j);) {
		struct read_insn x = {0};
		u32 n = 0;

		for (json_in_array(j); json_in_element(j); n++)
			if (n == 0)
				x.function = json_in_integer(j);
			else if (n == 1)
				x.ptx_line = (u32)json_in_number(j);
			else if (n == 2)
				x.file = json_in_integer(j);
			else if (n == 3)
				x.line = (u32)json_in_number(j);
			else if (n == 4)
				x.text = json_in_string(j);
			else
				json_in_skip(j);
		if (!x.text || !VEC_PUSH(&p->insns, x)) {
			j->failed = true;
			free(x.text);
		}
	}
}

#define READ_STRINGS(r, list)                                                                      \
	for (json_in_array(&(r)->in); json_in_element(&(r)->in);) {                                \
		char *s_ = json_in_string(&(r)->in);                                               \
		if (!s_ || !VEC_PUSH(list, s_)) {                                                  \
			free(s_);                                                                  \
			(r)->in.failed = true;                                                     \
		}                                                                                  \
	}

/* The strings go to the program, and so does what points to them. */
static bool settle_program(struct read_program *from, struct profile_program *to)
{
	bool ok = true;

	for (size_t i = 0; i < from->insns.len; i++) {
		const struct read_insn *x = &from->insns.at[i];
		struct profile_insn insn = {
			.text = x->text, .ptx_line = x->ptx_line, .line = x->line, .function = ""};

		ok &= x->function < (s64)from->functions.len && x->file < (s64)from->files.len;
		if (ok && x->function >= 0)
			insn.function = from->functions.at[x->function];
		if (ok && x->file >= 0)
			insn.file = from->files.at[x->file];
		if (VEC_PUSH(&to->strings, x->text))
			ok &= VEC_PUSH(&to->insns, insn);
		else
			ok = false;
	}
	for (size_t i = 0; i < from->functions.len; i++)
		ok &= VEC_PUSH(&to->strings, from->functions.at[i]);
	for (size_t i = 0; i < from->files.len; i++)
		ok &= VEC_PUSH(&to->strings, from->files.at[i]);
	VEC_FREE(&from->insns);
	VEC_FREE(&from->functions);
	VEC_FREE(&from->files);
	return ok;
}

static void read_program(struct reader *r)
{
	struct profile_program *p = calloc(1, sizeof(*p));
	struct read_program from = {0};

	if (!p || !VEC_PUSH(&r->process->programs, p)) {
		free(p);
		r->wrong = "no memory left";
		return;
	}
	p->id = json_in_number(&r->in);
	while (json_in_key(&r->in))
		if (json_in_is(&r->in, "kernel"))
			take_string(r, &p->kernel);
		else if (json_in_is(&r->in, "name"))
			take_string(r, &p->name);
		else if (json_in_is(&r->in, "ptx"))
			take_string(r, &p->ptx);
		else if (json_in_is(&r->in, "insns"))
			read_insns(r, &from);
		else if (json_in_is(&r->in, "functions"))
			READ_STRINGS(r, &from.functions)
		else if (json_in_is(&r->in, "files"))
			READ_STRINGS(r, &from.files)
		else
			json_in_skip(&r->in);
	if (!settle_program(&from, p) || !p->kernel || !p->name || !p->ptx)
		r->in.failed = true;
}

/* ---- launches ---- */

static const struct profile_program *report_program_of(const struct reader *r, u64 id)
{
	for (size_t i = r->process->programs.len; i-- > 0;)
		if (r->process->programs.at[i]->id == id)
			return r->process->programs.at[i];
	return NULL;
}

static void report_read_box(struct reader *r, u32 to[3])
{
	u32 n = 0;

	for (json_in_array(&r->in); json_in_element(&r->in); n++)
		if (n < 3)
			to[n] = (u32)json_in_number(&r->in);
		else
			json_in_skip(&r->in);
}

static void read_values(struct reader *r, u64 *value)
{
	for (json_in_object(&r->in); json_in_key(&r->in);) {
		const u64 *at = map_get(&r->values, name_hash(r->in.key));

		if (at)
			value[*at - 1] = json_in_number(&r->in);
		else
			json_in_skip(&r->in);
	}
}

static void read_rows(struct reader *r, struct profile_launch *l)
{
	struct json_in *j = &r->in;

	for (json_in_array(j); json_in_element(j);) {
		struct profile_row row = {0};
		u32 n = 0;

		for (json_in_array(j); json_in_element(j); n++) {
			u64 x = json_in_number(j);

			if (!n)
				row.insn = (u32)x;
			else if (n <= r->columns && r->column_at[n - 1] < PROFILE_COLUMNS)
				row.at[r->column_at[n - 1]] = x;
		}
		if (!VEC_PUSH(&l->rows, row))
			j->failed = true;
	}
}

static void read_launch(struct reader *r)
{
	struct profile_launch *l = calloc(1, sizeof(*l));
	struct json_in *j = &r->in;

	if (!l || !VEC_PUSH(&r->report->launches, l)) {
		free(l);
		r->wrong = "no memory left";
		return;
	}
	l->process = r->process;
	l->number = json_in_number(j);
	while (json_in_key(j))
		if (json_in_is(j, "program"))
			l->program = report_program_of(r, json_in_number(j));
		else if (json_in_is(j, "device"))
			l->device = (u32)json_in_number(j);
		else if (json_in_is(j, "device_name"))
			take_string(r, &l->device_name);
		else if (json_in_is(j, "context"))
			l->context = json_in_number(j);
		else if (json_in_is(j, "stream"))
			l->stream = json_in_number(j);
		else if (json_in_is(j, "grid"))
			report_read_box(r, l->grid);
		else if (json_in_is(j, "block"))
			report_read_box(r, l->block);
		else if (json_in_is(j, "cluster"))
			report_read_box(r, l->cluster);
		else if (json_in_is(j, "values"))
			read_values(r, l->value);
		else if (json_in_is(j, "rows"))
			read_rows(r, l);
		else
			json_in_skip(j);
	if (!l->program || !l->device_name)
		j->failed = true;
	for (size_t i = 0; !j->failed && i < l->rows.len; i++)
		j->failed |= l->rows.at[i].insn >= l->program->insns.len;
}

const struct profile_insn *profile_insn_of(const struct profile_launch *l,
					   const struct profile_row *row)
{
	return row->insn < l->program->insns.len ? &l->program->insns.at[row->insn] : NULL;
}

/* ---- lines ---- */

static void report_read_line(struct reader *r, const char *line, size_t size)
{
	struct json_in *j = &r->in;

	json_in_begin(j, line, size);
	json_in_object(j);
	if (!json_in_key(j)) {
		j->failed = true;
	} else if (json_in_is(j, "ptxloom_profile")) {
		read_process(r);
	} else if (!r->process) {
		r->wrong = "this is no report of `ptxloom profile`";
	} else if (json_in_is(j, "program")) {
		read_program(r);
	} else if (json_in_is(j, "launch")) {
		read_launch(r);
	} else if (json_in_is(j, "end")) {
		json_in_number(j);
		r->process->is_whole = true;
		while (json_in_key(j))
			json_in_skip(j);
	} else {
		j->failed = true;
	}
	if (!r->wrong && !json_in_is_over(j))
		r->wrong = r->process ? "the line is damaged"
				      : "this is no report of `ptxloom profile`";
}

static int report_by_number(const void *a, const void *b)
{
	const struct profile_launch *x = *(const struct profile_launch *const *)a;
	const struct profile_launch *y = *(const struct profile_launch *const *)b;

	return x->number < y->number ? -1 : x->number > y->number;
}

/* Launches of the process end in any order. */
static void sort_launches(struct profile_report *r, size_t first)
{
	for (size_t i = first, k; i < r->launches.len; i = k) {
		for (k = i; k < r->launches.len &&
			    r->launches.at[k]->process == r->launches.at[i]->process;)
			k++;
		qsort(r->launches.at + i, k - i, sizeof(r->launches.at[0]), report_by_number);
	}
	for (size_t i = first; i < r->launches.len; i++)
		r->launches.at[i]->number = i;
}

static bool fill_names(struct map *values)
{
	bool ok = true;

	for (u32 i = 0; i < PROFILE_VALUES; i++)
		ok &= map_set(values, name_hash(profile_value_name(i)), i + 1);
	return ok;
}

bool profile_report_read(struct profile_report *report, const char *name, const char *text,
			 size_t size, bool may_be_cut, struct text *why)
{
	struct reader r = {.report = report};
	size_t first = report->launches.len;
	u32 line = 0;

	if (!fill_names(&r.values))
		r.wrong = "no memory left";
	if (!size)
		r.wrong = "the file is empty";
	for (size_t at = 0, end; at < size && !r.wrong; at = end + 1) {
		const char *newline = memchr(text + at, '\n', size - at);

		if (!newline && may_be_cut)
			break;
		end = newline ? (size_t)(newline - text) : size;
		line++;
		report_read_line(&r, text + at, end - at);
	}
	map_fini(&r.values);
	if (r.wrong) {
		text_printf(why, "%s:%u: %s", name, line, r.wrong);
		return false;
	}
	sort_launches(report, first);
	return true;
}

void profile_program_free(struct profile_program *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->strings.len; i++)
		free(p->strings.at[i]);
	VEC_FREE(&p->strings);
	VEC_FREE(&p->insns);
	free(p->kernel);
	free(p->name);
	free(p->ptx);
	free(p);
}

void profile_launch_free(struct profile_launch *l)
{
	if (!l)
		return;
	VEC_FREE(&l->rows);
	free(l->device_name);
	free(l);
}

void profile_report_keep(struct profile_report *r, const bool *keep)
{
	size_t len = 0;

	for (size_t i = 0; i < r->launches.len; i++) {
		if (!keep[i]) {
			profile_launch_free(r->launches.at[i]);
			continue;
		}
		r->launches.at[i]->number = len;
		r->launches.at[len++] = r->launches.at[i];
	}
	r->launches.len = len;
}

void profile_report_fini(struct profile_report *r)
{
	for (size_t i = 0; i < r->launches.len; i++)
		profile_launch_free(r->launches.at[i]);
	for (size_t i = 0; i < r->processes.len; i++) {
		struct profile_process *p = r->processes.at[i];

		for (size_t k = 0; k < p->programs.len; k++)
			profile_program_free(p->programs.at[k]);
		VEC_FREE(&p->programs);
		free(p->name);
		free(p);
	}
	VEC_FREE(&r->launches);
	VEC_FREE(&r->processes);
}
