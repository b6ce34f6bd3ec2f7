/*
 * Reading reports.
 */
#include "src/profile/report.h"

#include "src/base/map.h"
#include "src/profile/json_out.h"
#include "src/profile/metrics.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <stdlib.h>

/* What is read, and where. */
struct reader {
	struct profile_report *report;
	struct profile_process *process; /* the last one */
	u32 column_at
		[256]; /* by number in rows: of enum profile_column, PROFILE_COLUMNS: unknown */
	u32 columns;
	struct map values; /* hash of a name -> number + 1 */
	const char *wrong; /* static; NULL: nothing yet */
};

#define NO_MEMORY "no memory left"
#define DAMAGED "the line is damaged"

static u64 name_hash(const char *s)
{
	return hash_bytes(s, strlen(s)) | 1;
}

static void report_wrong(struct reader *r, const char *what)
{
	if (!r->wrong)
		r->wrong = what;
}

/* ---- values ---- */

/* A number that a double has exactly, or digits. */
static u64 report_number(struct reader *r, const cJSON *j)
{
	const char *s = cJSON_GetStringValue(j);
	char *end;
	u64 x;

	if (cJSON_IsNumber(j) && j->valuedouble >= 0 && j->valuedouble <= (double)JSON_WHOLE_MAX &&
	    (double)(u64)j->valuedouble == j->valuedouble)
		return (u64)j->valuedouble;
	if (s && *s >= '0' && *s <= '9') {
		errno = 0;
		x = strtoull(s, &end, 10);
		if (!*end && !errno)
			return x;
	}
	report_wrong(r, DAMAGED);
	return 0;
}

static u32 report_small(struct reader *r, const cJSON *j)
{
	u64 x = report_number(r, j);

	if (x > UINT32_MAX)
		report_wrong(r, DAMAGED);
	return (u32)x;
}

/* An index in a list of len; -1: none. */
static s64 report_index(struct reader *r, const cJSON *j, size_t len)
{
	double x = cJSON_IsNumber(j) ? j->valuedouble : -2;

	if (x == -1)
		return -1;
	if (x >= 0 && x < (double)len && (double)(s64)x == x)
		return (s64)x;
	report_wrong(r, DAMAGED);
	return -1;
}

/* A copy; NULL with `wrong`. */
static char *report_string(struct reader *r, const cJSON *j)
{
	const char *s = cJSON_GetStringValue(j);
	char *copy = s ? strdup(s) : NULL;

	if (!copy)
		report_wrong(r, s ? NO_MEMORY : DAMAGED);
	return copy;
}

static const cJSON *member(const cJSON *object, const char *name)
{
	return cJSON_GetObjectItemCaseSensitive(object, name);
}

static char *report_text(struct reader *r, const cJSON *object, const char *name)
{
	return report_string(r, member(object, name));
}

/* 0: there is no such member. */
static u64 report_count(struct reader *r, const cJSON *object, const char *name)
{
	const cJSON *j = member(object, name);

	return j ? report_number(r, j) : 0;
}

/* The first element of a list, which has to be there; what comes after one is ->next. */
static const cJSON *report_list(struct reader *r, const cJSON *object, const char *name)
{
	const cJSON *j = member(object, name);

	if (!cJSON_IsArray(j))
		report_wrong(r, DAMAGED);
	return j ? j->child : NULL;
}

static void report_read_box(struct reader *r, const cJSON *object, const char *name, u32 to[3])
{
	u32 n = 0;

	for (const cJSON *j = report_list(r, object, name); j && n < 3; j = j->next)
		to[n++] = report_small(r, j);
	if (n < 3)
		report_wrong(r, DAMAGED);
}

/* ---- processes ---- */

static void read_columns(struct reader *r, const cJSON *line)
{
	r->columns = 0;
	for (const cJSON *j = report_list(r, line, "columns"); j; j = j->next) {
		const char *name = cJSON_GetStringValue(j);
		u32 c = 0;

		while (name && c < PROFILE_COLUMNS && strcmp(name, profile_column_name(c)) != 0)
			c++;
		if (!name || r->columns == ARRAY_LEN(r->column_at))
			report_wrong(r, DAMAGED);
		else
			r->column_at[r->columns++] = c;
	}
}

static void read_process(struct reader *r, const cJSON *line)
{
	struct profile_process *p = calloc(1, sizeof(*p));

	if (!p || !VEC_PUSH(&r->report->processes, p)) {
		free(p);
		report_wrong(r, NO_MEMORY);
		return;
	}
	r->process = p;
	if (report_count(r, line, "ptxloom_profile") != 1)
		report_wrong(r, "it is of a newer version");
	p->pid = report_count(r, line, "process");
	p->name = report_text(r, line, "name");
	read_columns(r, line);
}

/* ---- programs ---- */

/* The strings of a list, owned by the program; *first: where they begin. Returns how many. */
static size_t read_strings(struct reader *r, const cJSON *line, const char *name,
			   struct profile_program *p, size_t *first)
{
	*first = p->strings.len;
	for (const cJSON *j = report_list(r, line, name); j && !r->wrong; j = j->next) {
		char *s = report_string(r, j);

		if (s && !VEC_PUSH(&p->strings, s)) {
			free(s);
			report_wrong(r, NO_MEMORY);
		}
	}
	return p->strings.len - *first;
}

/* [function, PTX line, file, line, "text"] */
static void read_insn(struct reader *r, const cJSON *j, struct profile_program *p,
		      const size_t first[2], const size_t len[2])
{
	const cJSON *at[5];
	struct profile_insn x = {.function = ""};
	s64 function, file;
	char *text;

	j = cJSON_IsArray(j) ? j->child : NULL;
	for (size_t i = 0; i < ARRAY_LEN(at); i++) {
		at[i] = j;
		j = j ? j->next : NULL;
	}
	function = report_index(r, at[0], len[0]);
	file = report_index(r, at[2], len[1]);
	x.ptx_line = report_small(r, at[1]);
	x.line = report_small(r, at[3]);
	if (function >= 0)
		x.function = p->strings.at[first[0] + (size_t)function];
	if (file >= 0)
		x.file = p->strings.at[first[1] + (size_t)file];
	x.text = text = report_string(r, at[4]);
	if (text && !VEC_PUSH(&p->strings, text)) {
		free(text);
		report_wrong(r, NO_MEMORY);
	} else if (text && !VEC_PUSH(&p->insns, x)) {
		report_wrong(r, NO_MEMORY);
	}
}

static void read_program(struct reader *r, const cJSON *line)
{
	struct profile_program *p = calloc(1, sizeof(*p));
	size_t first[2], len[2];

	if (!p || !VEC_PUSH(&r->process->programs, p)) {
		free(p);
		report_wrong(r, NO_MEMORY);
		return;
	}
	p->id = report_count(r, line, "program");
	p->kernel = report_text(r, line, "kernel");
	p->name = report_text(r, line, "name");
	p->ptx = report_text(r, line, "ptx");
	if (member(line, "compiler"))
		p->compiler = report_text(r, line, "compiler");
	len[0] = read_strings(r, line, "functions", p, &first[0]);
	len[1] = read_strings(r, line, "files", p, &first[1]);
	for (const cJSON *j = report_list(r, line, "insns"); j && !r->wrong; j = j->next)
		read_insn(r, j, p, first, len);
}

/* ---- launches ---- */

static const struct profile_program *report_program_of(const struct reader *r, u64 id)
{
	for (size_t i = r->process->programs.len; i-- > 0;)
		if (r->process->programs.at[i]->id == id)
			return r->process->programs.at[i];
	return NULL;
}

static void read_values(struct reader *r, const cJSON *line, u64 *value)
{
	const cJSON *values = member(line, "values");

	if (!cJSON_IsObject(values))
		report_wrong(r, DAMAGED);
	for (const cJSON *j = values ? values->child : NULL; j; j = j->next) {
		const u64 *at = j->string ? map_get(&r->values, name_hash(j->string)) : NULL;

		if (at)
			value[*at - 1] = report_number(r, j);
	}
}

/* "spread": {"l1tex__t_requests": [least, most], ...} */
static void report_read_spread(struct reader *r, const cJSON *spread, struct profile_launch *l)
{
	l->has_spread = cJSON_IsObject(spread);
	for (const cJSON *j = spread ? spread->child : NULL; j && !r->wrong; j = j->next) {
		struct profile_spread x = {0};
		struct text name = {0};

		text_printf(&name, "%s.sum", j->string ? j->string : "");
		x.metric = name.at ? metric_find(name.at) : METRIC_NONE;
		text_fini(&name);
		x.least = report_number(r, j->child);
		x.most = report_number(r, j->child ? j->child->next : NULL);
		if (x.metric != METRIC_NONE && !VEC_PUSH(&l->spread, x))
			report_wrong(r, NO_MEMORY);
	}
}

/* A name, which the caller owns, and numbers; NULL: that is wrong, or there is no memory. */
static char *report_read_named(struct reader *r, const cJSON *list, u64 *const *to, size_t n)
{
	const cJSON *j = cJSON_IsArray(list) ? list->child : NULL;
	char *name = report_string(r, j);

	for (size_t i = 0; i < n; i++) {
		j = j ? j->next : NULL;
		*to[i] = report_number(r, j);
	}
	return name;
}

/* [name, bytes, sectors, hit, miss, second, second_miss, dram] */
static void report_read_variable(struct reader *r, const cJSON *list, struct profile_launch *l)
{
	struct profile_variable x = {0};
	u64 *const to[] = {&x.bytes,  &x.sectors,     &x.hit, &x.miss,
			   &x.second, &x.second_miss, &x.dram};

	x.name = report_read_named(r, list, to, ARRAY_LEN(to));
	if (x.name && VEC_PUSH(&l->variables, x))
		return;
	free(x.name);
	report_wrong(r, NO_MEMORY);
}

/* [name, bytes, requests, wavefronts, ideal] */
static void report_read_shared(struct reader *r, const cJSON *list, struct profile_launch *l)
{
	struct profile_shared x = {0};
	u64 *const to[] = {&x.bytes, &x.requests, &x.passes, &x.ideal};

	x.name = report_read_named(r, list, to, ARRAY_LEN(to));
	if (x.name && VEC_PUSH(&l->shared, x))
		return;
	free(x.name);
	report_wrong(r, NO_MEMORY);
}

/* A device; -1: the host. */
static u32 report_end(struct reader *r, const cJSON *j)
{
	return cJSON_IsNumber(j) && j->valuedouble == -1 ? PROFILE_HOST : report_small(r, j);
}

static enum profile_link_kind report_link_kind(struct reader *r, const cJSON *j)
{
	for (u32 i = 0; i < PROFILE_LINK_KINDS; i++)
		if (cJSON_IsString(j) && !strcmp(j->valuestring, profile_link_words[i]))
			return (enum profile_link_kind)i;
	report_wrong(r, "a kind of link");
	return PROFILE_PCIE;
}

/* [device, kind, read, written] */
static void report_read_link(struct reader *r, const cJSON *list, struct profile_launch *l)
{
	const cJSON *j = cJSON_IsArray(list) ? list->child : NULL;
	struct profile_link x = {.end = report_end(r, j)};

	j = j ? j->next : NULL;
	x.kind = report_link_kind(r, j);
	j = j ? j->next : NULL;
	x.read = report_number(r, j);
	x.written = report_number(r, j ? j->next : NULL);
	if (!VEC_PUSH(&l->links, x))
		report_wrong(r, NO_MEMORY);
}

/* [from, to, kind, copies, bytes] */
static void report_read_copies(struct reader *r, const cJSON *list)
{
	const cJSON *j = cJSON_IsArray(list) ? list->child : NULL;
	struct profile_copies x = {.from = report_end(r, j)};

	j = j ? j->next : NULL;
	x.to = report_end(r, j);
	j = j ? j->next : NULL;
	x.kind = report_link_kind(r, j);
	j = j ? j->next : NULL;
	x.count = report_number(r, j);
	x.bytes = report_number(r, j ? j->next : NULL);
	if (!VEC_PUSH(&r->process->copies, x))
		report_wrong(r, NO_MEMORY);
}

/* [from, to, transfers, bytes] */
static void report_read_migration(struct reader *r, const cJSON *list)
{
	const cJSON *j = cJSON_IsArray(list) ? list->child : NULL;
	struct profile_migration x = {.from = report_end(r, j)};

	j = j ? j->next : NULL;
	x.to = report_end(r, j);
	j = j ? j->next : NULL;
	x.transfers = report_number(r, j);
	x.bytes = report_number(r, j ? j->next : NULL);
	if (!VEC_PUSH(&r->process->migrations, x))
		report_wrong(r, NO_MEMORY);
}

/* [whose, faults, populated, remote, thrashed] */
static void report_read_residence(struct reader *r, const cJSON *list)
{
	const cJSON *j = cJSON_IsArray(list) ? list->child : NULL;
	struct profile_residence x = {.end = report_end(r, j)};
	u64 *const to[] = {&x.faults, &x.populated, &x.remote, &x.thrashed};

	for (size_t i = 0; i < ARRAY_LEN(to); i++) {
		j = j ? j->next : NULL;
		*to[i] = report_number(r, j);
	}
	if (!VEC_PUSH(&r->process->residences, x))
		report_wrong(r, NO_MEMORY);
}

/* Each item of a list of the process that there may be. */
static void report_read_all(struct reader *r, const cJSON *line, const char *name,
			    void (*read)(struct reader *r, const cJSON *list))
{
	const cJSON *j = member(line, name) ? report_list(r, line, name) : NULL;

	for (; j && !r->wrong; j = j->next)
		read(r, j);
}

static void report_read_end(struct reader *r, const cJSON *line)
{
	report_number(r, line->child);
	r->process->is_whole = true;
	report_read_all(r, line, "copies", report_read_copies);
	report_read_all(r, line, "migrations", report_read_migration);
	report_read_all(r, line, "residences", report_read_residence);
}

/* Each item of a list of the launch that there may be. */
static void read_each(struct reader *r, const cJSON *line, const char *name,
		      void (*read)(struct reader *r, const cJSON *list, struct profile_launch *l),
		      struct profile_launch *l)
{
	const cJSON *j = member(line, name) ? report_list(r, line, name) : NULL;

	for (; j && !r->wrong; j = j->next)
		read(r, j, l);
}

static void report_read_row(struct reader *r, const cJSON *list, struct profile_launch *l)
{
	const cJSON *j = cJSON_IsArray(list) ? list->child : NULL;
	struct profile_row row = {.insn = report_small(r, j)};
	u32 n = 0;

	for (j = j ? j->next : NULL; j; j = j->next, n++)
		if (n < r->columns && r->column_at[n] < PROFILE_COLUMNS)
			row.at[r->column_at[n]] = report_number(r, j);
	if (l->program && row.insn >= l->program->insns.len)
		report_wrong(r, DAMAGED);
	if (!VEC_PUSH(&l->rows, row))
		report_wrong(r, NO_MEMORY);
}

/* [domain, name, id] */
static void report_read_range(struct reader *r, const cJSON *list, struct profile_range *to)
{
	const cJSON *domain = cJSON_IsArray(list) ? list->child : NULL;
	const cJSON *name = domain ? domain->next : NULL;

	to->domain = report_string(r, domain);
	to->name = report_string(r, name);
	to->id = report_number(r, name ? name->next : NULL);
	to->is_pushed = !to->id;
}

static void report_read_ranges(struct reader *r, const cJSON *line, struct profile_launch *l)
{
	const cJSON *first = report_list(r, line, "ranges");
	struct profile_ranges_view *v;
	u32 len = 0;

	for (const cJSON *j = first; j; j = j->next)
		len++;
	v = calloc(1, sizeof(*v) + len * sizeof(v->at[0]));
	if (!v) {
		report_wrong(r, NO_MEMORY);
		return;
	}
	l->ranges = l->own_ranges = v;
	v->is_on = true;
	v->thread = report_count(r, line, "thread");
	for (const cJSON *j = first; j && !r->wrong; j = j->next)
		report_read_range(r, j, &v->at[v->len++]);
}

static void read_launch(struct reader *r, const cJSON *line)
{
	struct profile_launch *l = calloc(1, sizeof(*l));

	if (!l || !VEC_PUSH(&r->report->launches, l)) {
		free(l);
		report_wrong(r, NO_MEMORY);
		return;
	}
	l->process = r->process;
	l->number = report_count(r, line, "launch");
	l->program = report_program_of(r, report_count(r, line, "program"));
	l->device = report_small(r, member(line, "device"));
	l->device_name = report_text(r, line, "device_name");
	l->context = report_count(r, line, "context");
	l->stream = report_count(r, line, "stream");
	report_read_box(r, line, "grid", l->grid);
	report_read_box(r, line, "block", l->block);
	report_read_box(r, line, "cluster", l->cluster);
	if (!l->program)
		report_wrong(r, DAMAGED);
	if (member(line, "ranges"))
		report_read_ranges(r, line, l);
	read_values(r, line, l->value);
	report_read_spread(r, member(line, "spread"), l);
	l->has_variables = member(line, "variables") != NULL;
	read_each(r, line, "variables", report_read_variable, l);
	read_each(r, line, "shared", report_read_shared, l);
	read_each(r, line, "links", report_read_link, l);
	for (const cJSON *j = report_list(r, line, "rows"); j && !r->wrong; j = j->next)
		report_read_row(r, j, l);
}

/* ---- events of a trace ---- */

static void read_event(struct reader *r, const cJSON *line)
{
	const cJSON *status = member(line, "status");
	struct profile_event x = {
		.process = r->process,
		.is_work = member(line, "work") != NULL,
		.is_launch = report_count(r, line, "launch") != 0,
		.device = (u32)report_count(r, line, "device"),
		.stream = report_count(r, line, "stream"),
		.thread = report_count(r, line, "thread"),
		.call = report_count(r, line, "call"),
		.begin = report_count(r, line, "begin"),
		.end = report_count(r, line, "end"),
	};

	x.status = cJSON_IsNumber(status) ? status->valueint : 0;
	x.name = report_text(r, line, "name");
	if (x.name && VEC_PUSH(&r->report->events, x))
		return;
	free(x.name);
	report_wrong(r, NO_MEMORY);
}

/* ---- lines ---- */

static const struct {
	const char *first; /* member of the object, which says what the line is */
	void (*read)(struct reader *r, const cJSON *line);
} kinds[] = {
	{"program", read_program},
	{"launch", read_launch},
	{"call", read_event},
	{"work", read_event},
};

static void report_read_object(struct reader *r, const cJSON *line)
{
	const char *first = line->child && line->child->string ? line->child->string : "";

	if (!strcmp(first, "ptxloom_profile")) {
		read_process(r, line);
		return;
	}
	if (!r->process) {
		report_wrong(r, "this is no report of `ptxloom profile`");
		return;
	}
	if (!strcmp(first, "end")) {
		report_read_end(r, line);
		return;
	}
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		if (!strcmp(first, kinds[i].first)) {
			kinds[i].read(r, line);
			return;
		}
	report_wrong(r, DAMAGED);
}

static void report_read_line(struct reader *r, const char *line, size_t size)
{
	const char *end = NULL;
	cJSON *j = cJSON_ParseWithLengthOpts(line, size, &end, false);

	while (j && end < line + size && (*end == ' ' || *end == '\r' || *end == '\t'))
		end++;
	if (j && cJSON_IsObject(j) && end == line + size)
		report_read_object(r, j);
	else
		report_wrong(r, r->process ? DAMAGED : "this is no report of `ptxloom profile`");
	cJSON_Delete(j);
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
		r.wrong = NO_MEMORY;
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
