/*
 * Breakpoints of all kinds. An editor tells all those of a file, or of a kind, each time: those
 * that were there are deleted, the new ones are made by commands, whose first line says what came
 * of it.
 */
#include "src/dap/dap_int.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* ---- which belong to what ---- */

/* Numbers of one file's, or of one kind's, by a key. */
static cJSON *group_of(struct dap *d, const char *key)
{
	cJSON *g;

	if (!d->breakpoints)
		d->breakpoints = cJSON_CreateObject();
	g = cJSON_GetObjectItemCaseSensitive(d->breakpoints, key);
	return g ? g : cJSON_AddArrayToObject(d->breakpoints, key);
}

static void delete_group(struct dap *d, const char *key)
{
	const cJSON *x;

	cJSON_ArrayForEach(x, group_of(d, key))
		dap_command(d, NULL, NULL, "delete %d", x->valueint);
	cJSON_ReplaceItemInObjectCaseSensitive(d->breakpoints, key, cJSON_CreateArray());
}

/* ---- one response for several commands ---- */

/*
 * What is under way: commands' answers are gathered, and the last one sends the response. It owns
 * the request; the jobs' requests are what each breakpoint is about.
 */
struct dap_setting {
	struct dap_setting *next;
	cJSON *request, *list;
	char *key;
	int left; /* calls of setting_done that will come */
};

/*
 * One of its answers is there, or no more will be asked for: the last of these sends the response.
 */
static void setting_done(struct dap *d, struct dap_setting *s)
{
	struct dap_setting **at = &d->settings;
	cJSON *body;

	if (--s->left)
		return;
	while (*at != s)
		at = &(*at)->next;
	*at = s->next;
	body = cJSON_CreateObject();
	cJSON_AddItemToObject(body, "breakpoints", s->list);
	dap_answer(d, s->request, body);
	cJSON_Delete(s->request);
	free(s->key);
	free(s);
}

/*
 * "Breakpoint 2 at diverge.cu:16", "Breakpoint 1 at diverge.cu:8, when its code is loaded.",
 * "Watchpoint 3: sum", or one line that says what is wrong.
 */
static int point_number(const char *said)
{
	const char *at = said ? strpbrk(said, "0123456789\n") : NULL;

	const char *title = said ? strstr(said, "point ") : NULL;

	if (!title && said && !strncmp(said, "Dprintf ", 8))
		title = said;
	if (!said || !at || *at == '\n' || !title || title > at)
		return 0;
	return atoi(at);
}

static void describe_breakpoint(cJSON *b, const char *said, int number)
{
	size_t n = said ? strcspn(said, "\n") : 0;
	char *line = strndup(said ? said : "", n);
	const char *colon;

	cJSON_AddNumberToObject(b, "id", number);
	cJSON_AddBoolToObject(b, "verified", line && !strstr(line, "when its code is loaded"));
	colon = line ? strrchr(line, ':') : NULL;
	if (colon && atoi(colon + 1) > 0 && strstr(line, " at "))
		cJSON_AddNumberToObject(b, "line", atoi(colon + 1));
	if (line && strstr(line, "when its code is loaded"))
		cJSON_AddStringToObject(b, "message", "when its code is loaded");
	free(line);
}

static struct dap_setting *setting_of(struct dap *d, const cJSON *tag)
{
	struct dap_setting *s = d->settings;
	s64 serial = dap_number(tag, "setting", 0);

	while (s && dap_number(s->request, "seq", -1) != serial)
		s = s->next;
	return s;
}

static void on_made(struct dap *d, struct dap_job *job, cJSON *reply)
{
	struct dap_setting *s = setting_of(d, job->request);
	int number = point_number(job->output.at);
	s64 ignore = dap_number(job->request, "ignore", 0);
	const char *condition = dap_text(job->request, "condition", NULL);
	cJSON *b = cJSON_CreateObject();

	(void)reply;
	if (number) {
		describe_breakpoint(b, job->output.at, number);
		if (s)
			cJSON_AddItemToArray(group_of(d, s->key), cJSON_CreateNumber(number));
		if (condition && *condition)
			dap_command(d, NULL, NULL, "condition %d %s", number, condition);
		if (ignore > 0)
			dap_command(d, NULL, NULL, "ignore %d %lld", number, (long long)ignore);
	} else {
		cJSON_AddFalseToObject(b, "verified");
		cJSON_AddStringToObject(b, "message",
					job->output.at ? job->output.at : "the program has ended");
	}
	if (!s) {
		cJSON_Delete(b);
		return;
	}
	cJSON_AddItemToArray(s->list, b);
	setting_done(d, s);
}

/*
 * Begin to answer a request of n breakpoints; ends with setting_done, as the request lives so long.
 */
static struct dap_setting *setting_begin(struct dap *d, cJSON *request, const char *key, int n)
{
	struct dap_setting *s = calloc(1, sizeof(*s));

	if (!s)
		abort();
	*s = (struct dap_setting){d->settings, request, cJSON_CreateArray(), strdup(key), n + 1};
	d->settings = s;
	if (d->state == DAP_RUNNING) {
		d->resume = true;
		dap_interrupt(d);
	}
	delete_group(d, key);
	return s;
}

/* "3" and ">= 3", "> 3": hits that are passed over; -1: not understood. */
static s64 hits_before(const char *condition)
{
	bool more = false;
	char *end;
	long long n;

	if (!condition || !condition[strspn(condition, " ")])
		return 0;
	condition += strspn(condition, " ");
	if (*condition == '>') {
		more = condition[1] != '=';
		condition += 2 - more;
	}
	n = strtoll(condition, &end, 10);
	return end == condition || end[strspn(end, " ")] || n < 1 ? -1 : n - !more;
}

/*
 * A message with {EXPRESSION}s as the arguments of dprintf. False: a brace is not closed.
 */
static bool log_arguments(const char *message, struct text *out)
{
	struct text values = {0};
	bool good = true;

	text_puts(out, "\"");
	for (; *message && good; message++) {
		size_t n = *message == '{' ? strcspn(message, "}") : 0;

		if (n) {
			good = message[n] == '}' && n > 1;
			text_printf(&values, ",%.*s", (int)n - 1, message + 1);
			text_puts(out, "%V");
			message += good ? n : 0;
		} else if (*message == '\n') {
			text_puts(out, "\\n");
		} else {
			text_puts(out, *message == '"' || *message == '\\' ? "\\"
				       : *message == '%'                   ? "%"
									   : "");
			text_add(out, message, 1);
		}
	}
	text_puts(out, "\\n\"");
	text_puts(out, values.at ? values.at : "");
	text_fini(&values);
	return good;
}

/* One that prints instead of stopping; its condition is set when it has a number. */
static void make_log(struct dap *d, const char *place, const cJSON *b, cJSON *tag)
{
	const char *condition = dap_text(b, "condition", NULL);
	struct text arguments = {0};

	if (condition)
		cJSON_AddStringToObject(tag, "condition", condition);
	if (!log_arguments(dap_text(b, "logMessage", ""), &arguments))
		dap_command(d, tag, on_made, "echo a log message has an expression in each {}");
	else if (!dap_is_one_line(arguments.at))
		dap_command(d, tag, on_made, "echo a log message is one line");
	else
		dap_command(d, tag, on_made, "dprintf %s,%s", place + strcspn(place, " ") + 1,
			    arguments.at);
	text_fini(&arguments);
}

/* Make one; `place` is "break FILE:LINE" and the like. */
static void set_point(struct dap *d, const struct dap_setting *s, const char *place, const cJSON *b)
{
	const char *condition = dap_text(b, "condition", NULL);
	s64 ignore = hits_before(dap_text(b, "hitCondition", NULL));
	cJSON *tag = cJSON_CreateObject();
	bool fits = dap_is_one_line(place) && (!condition || dap_is_one_line(condition));

	cJSON_AddNumberToObject(tag, "setting", (double)dap_number(s->request, "seq", 0));
	cJSON_AddNumberToObject(tag, "ignore", (double)ignore);
	if (!fits)
		dap_command(d, tag, on_made, "echo a place and a condition are one line each");
	else if (ignore < 0)
		dap_command(d, tag, on_made,
			    "echo a hit condition is N or >= N, the first hit to stop at, or > N");
	else if (dap_text(b, "logMessage", NULL))
		make_log(d, place, b, tag);
	else if (condition && *condition)
		dap_command(d, tag, on_made, "%s if %s", place, condition);
	else
		dap_command(d, tag, on_made, "%s", place);
}

/* ---- requests ---- */

void dap_on_set_breakpoints(struct dap *d, cJSON *request, const cJSON *arguments)
{
	const cJSON *list = cJSON_GetObjectItemCaseSensitive(arguments, "breakpoints"), *b;
	const cJSON *source = cJSON_GetObjectItemCaseSensitive(arguments, "source");
	const char *path = dap_text(source, "path", dap_text(source, "name", ""));
	struct dap_setting *s = setting_begin(d, request, path, cJSON_GetArraySize(list));

	cJSON_ArrayForEach(b, list)
	{
		struct text t = {0};

		text_printf(&t, "break %s:%lld", path,
			    (long long)dap_number(b, "line", 0) + !d->lines_at_1);
		set_point(d, s, t.at, b);
		text_fini(&t);
	}
	setting_done(d, s);
}

static void set_named(struct dap *d, cJSON *request, const cJSON *arguments, const char *key,
		      const char *member, const char *format_before)
{
	const cJSON *list = cJSON_GetObjectItemCaseSensitive(arguments, "breakpoints"), *b;
	struct dap_setting *s = setting_begin(d, request, key, cJSON_GetArraySize(list));

	cJSON_ArrayForEach(b, list)
	{
		s64 offset = dap_number(b, "offset", 0);
		struct text t = {0};

		text_printf(&t, "%s%s", format_before, dap_text(b, member, ""));
		if (offset)
			text_printf(&t, "%+lld", (long long)offset);
		set_point(d, s, t.at, b);
		text_fini(&t);
	}
	setting_done(d, s);
}

void dap_on_set_function_breakpoints(struct dap *d, cJSON *request, const cJSON *arguments)
{
	set_named(d, request, arguments, "function", "name", "break ");
}

void dap_on_set_instruction_breakpoints(struct dap *d, cJSON *request, const cJSON *arguments)
{
	set_named(d, request, arguments, "instruction", "instructionReference", "break *");
}

/* Lines of one answer. */
#define LOCATIONS_MAX 1000

/* Lines as the core counts them become those of the editor. */
static void on_locations(struct dap *d, struct dap_job *job, cJSON *reply)
{
	cJSON *body = reply ? cJSON_Duplicate(reply, true) : cJSON_CreateObject(), *x;

	if (!reply)
		cJSON_AddArrayToObject(body, "breakpoints");
	cJSON_ArrayForEach(x, cJSON_GetObjectItemCaseSensitive(body, "breakpoints"))
	{
		cJSON *line = cJSON_GetObjectItemCaseSensitive(x, "line");

		cJSON_SetNumberValue(line, line->valuedouble - !d->lines_at_1);
	}
	dap_answer(d, job->request, body);
}

void dap_on_breakpoint_locations(struct dap *d, cJSON *request, const cJSON *arguments)
{
	const cJSON *source = cJSON_GetObjectItemCaseSensitive(arguments, "source");
	const char *path = dap_text(source, "path", dap_text(source, "name", ""));
	s64 line = dap_number(arguments, "line", 0), end = dap_number(arguments, "endLine", line);
	cJSON *body, *list;

	if (d->state == DAP_STOPPED && dap_is_one_line(path)) {
		dap_query(d, request, on_locations, "lines %lld %lld %s",
			  (long long)line + !d->lines_at_1, (long long)end + !d->lines_at_1, path);
		return;
	}
	/* What is not known yet may be tried. */
	body = cJSON_CreateObject();
	list = cJSON_AddArrayToObject(body, "breakpoints");
	for (; line <= end && cJSON_GetArraySize(list) < LOCATIONS_MAX; line++) {
		cJSON *b = cJSON_CreateObject();

		cJSON_AddNumberToObject(b, "line", (double)line);
		cJSON_AddItemToArray(list, b);
	}
	dap_answer(d, request, body);
	cJSON_Delete(request);
}

static const char *watch_word(const char *access)
{
	return !strcmp(access, "read")        ? "rwatch "
	       : !strcmp(access, "readWrite") ? "awatch "
					      : "watch ";
}

void dap_on_set_data_breakpoints(struct dap *d, cJSON *request, const cJSON *arguments)
{
	const cJSON *list = cJSON_GetObjectItemCaseSensitive(arguments, "breakpoints"), *b;
	struct dap_setting *s = setting_begin(d, request, "data", cJSON_GetArraySize(list));

	cJSON_ArrayForEach(b, list)
	{
		struct text t = {0};

		text_printf(&t, "%s%s", watch_word(dap_text(b, "accessType", "write")),
			    dap_text(b, "dataId", ""));
		set_point(d, s, t.at, b);
		text_fini(&t);
	}
	setting_done(d, s);
}

static void on_expression(struct dap *d, struct dap_job *job, cJSON *reply)
{
	const char *expression = dap_text(reply, "expression", NULL);
	cJSON *body = cJSON_CreateObject(), *types;

	if (expression) {
		cJSON_AddStringToObject(body, "dataId", expression);
		cJSON_AddStringToObject(body, "description", expression);
		types = cJSON_AddArrayToObject(body, "accessTypes");
		cJSON_AddItemToArray(types, cJSON_CreateString("read"));
		cJSON_AddItemToArray(types, cJSON_CreateString("write"));
		cJSON_AddItemToArray(types, cJSON_CreateString("readWrite"));
	} else {
		cJSON_AddNullToObject(body, "dataId");
		cJSON_AddStringToObject(body, "description",
					dap_text(reply, "error", "this has no place to watch"));
	}
	dap_answer(d, job->request, body);
}

/* The bytes at an address as an expression; false: that is no address. */
static bool bytes_at(const cJSON *arguments, const char *name, struct text *out)
{
	s64 bytes = dap_number(arguments, "bytes", 1);
	char *end;
	u64 at = strtoull(name, &end, 0);

	if (end == name || *end || bytes < 1 || bytes > INT_MAX)
		return false;
	if (bytes == 1)
		text_printf(out, "*(unsigned char *)0x%llx", (unsigned long long)at);
	else
		text_printf(out, "*(unsigned char *)0x%llx@%lld", (unsigned long long)at,
			    (long long)bytes);
	return true;
}

void dap_on_data_breakpoint_info(struct dap *d, cJSON *request, const cJSON *arguments)
{
	const char *name = dap_text(arguments, "name", "");
	struct text bytes = {0};

	if (d->state != DAP_STOPPED || !dap_is_one_line(name)) {
		dap_refuse(d, request, "the program does not stand");
		cJSON_Delete(request);
		return;
	}
	if (!dap_bool(arguments, "asAddress", false)) {
		dap_query(d, request, on_expression, "expression %lld %s",
			  (long long)dap_number(arguments, "variablesReference", 0), name);
		return;
	}
	if (bytes_at(arguments, name, &bytes)) {
		dap_query(d, request, on_expression, "expression 0 %s", bytes.at);
	} else {
		dap_refuse(d, request, "an address, and a number of bytes, are needed");
		cJSON_Delete(request);
	}
	text_fini(&bytes);
}

/* ---- exceptions ---- */

static bool has_filter(const cJSON *list, const char *name)
{
	const cJSON *x;

	cJSON_ArrayForEach(x, list) if (cJSON_IsString(x) &&
					!strcmp(x->valuestring, name)) return true;
	return false;
}

static void on_caught(struct dap *d, struct dap_job *job, cJSON *reply)
{
	int number = point_number(job->output.at);

	(void)reply;
	if (number)
		cJSON_AddItemToArray(group_of(d, "exception"), cJSON_CreateNumber(number));
}

void dap_on_set_exception_breakpoints(struct dap *d, cJSON *request, const cJSON *arguments)
{
	const cJSON *list = cJSON_GetObjectItemCaseSensitive(arguments, "filters");

	d->filters.faults = has_filter(list, "faults");
	d->filters.deadlocks = has_filter(list, "deadlocks");
	d->filters.asserts = has_filter(list, "asserts");
	if (d->state == DAP_RUNNING) {
		d->resume = true;
		dap_interrupt(d);
	}
	delete_group(d, "exception");
	if (has_filter(list, "findings"))
		dap_command(d, NULL, on_caught, "catch finding");
	if (has_filter(list, "launches"))
		dap_command(d, NULL, on_caught, "catch launch");
	if (has_filter(list, "divergence"))
		dap_command(d, NULL, on_caught, "catch divergence");
	dap_answer(d, request, NULL);
	cJSON_Delete(request);
}

/* ---- breakpoints that have found their code ---- */

static void on_list(struct dap *d, struct dap_job *job, cJSON *reply)
{
	const cJSON *b;

	(void)job;
	cJSON_ArrayForEach(b, cJSON_GetObjectItemCaseSensitive(reply, "breakpoints"))
	{
		cJSON *body = cJSON_CreateObject();

		cJSON_AddStringToObject(body, "reason", "changed");
		cJSON_AddItemToObject(body, "breakpoint", cJSON_Duplicate(b, true));
		dap_event(d, "breakpoint", body);
	}
}

void dap_breakpoints_changed(struct dap *d)
{
	dap_query(d, NULL, on_list, "new-places");
}
