/*
 * Threads, frames, variables, memory: what the core answers to queries is the body of the response.
 */
#include "src/dap/dap_int.h"

#include <stdlib.h>
#include <string.h>

/* What one readMemory may have. */
#define READ_MAX (1u << 20)

/* The reply becomes the body, unless it is {"error": ..}. */
static void pass_on(struct dap *d, struct dap_job *job, cJSON *reply)
{
	const char *error = dap_text(reply, "error", NULL);

	if (!reply)
		dap_refuse(d, job->request, "the program has ended");
	else if (error)
		dap_refuse(d, job->request, "%s", error);
	else
		dap_answer(d, job->request, cJSON_Duplicate(reply, true));
}

/*
 * A program that runs has one thread to show: editors ask for threads before they allow a pause.
 */
void dap_on_threads(struct dap *d, cJSON *request, const cJSON *arguments)
{
	cJSON *body, *list, *thread;

	(void)arguments;
	if (d->state == DAP_STOPPED) {
		dap_query(d, request, pass_on, "threads");
		return;
	}
	body = cJSON_CreateObject();
	list = cJSON_AddArrayToObject(body, "threads");
	thread = cJSON_CreateObject();
	cJSON_AddNumberToObject(thread, "id", 1);
	cJSON_AddStringToObject(thread, "name", "running");
	cJSON_AddItemToArray(list, thread);
	dap_answer(d, request, body);
	cJSON_Delete(request);
}

void dap_on_stack_trace(struct dap *d, cJSON *request, const cJSON *arguments)
{
	dap_query(d, request, pass_on, "stack %lld %lld %lld",
		  (long long)dap_number(arguments, "threadId", 1),
		  (long long)dap_number(arguments, "startFrame", 0),
		  (long long)dap_number(arguments, "levels", 0));
}

void dap_on_scopes(struct dap *d, cJSON *request, const cJSON *arguments)
{
	dap_query(d, request, pass_on, "scopes %lld",
		  (long long)dap_number(arguments, "frameId", 0));
}

void dap_on_variables(struct dap *d, cJSON *request, const cJSON *arguments)
{
	dap_query(d, request, pass_on, "variables %lld %lld %lld",
		  (long long)dap_number(arguments, "variablesReference", 0),
		  (long long)dap_number(arguments, "start", 0),
		  (long long)dap_number(arguments, "count", 0));
}

/* Has the request texts that a command's line can hold? Else it is refused. */
static bool has_arguments(struct dap *d, cJSON *request, const char *a, const char *b)
{
	if (a && b && dap_is_one_line(a) && dap_is_one_line(b))
		return true;
	dap_refuse(d, request, "an expression of one line is needed");
	cJSON_Delete(request);
	return false;
}

void dap_on_set_variable(struct dap *d, cJSON *request, const cJSON *arguments)
{
	const char *name = dap_text(arguments, "name", NULL),
		   *value = dap_text(arguments, "value", NULL);

	if (has_arguments(d, request, name, value))
		dap_query(d, request, pass_on, "set-variable %lld %s\t%s",
			  (long long)dap_number(arguments, "variablesReference", 0), name, value);
}

void dap_on_set_expression(struct dap *d, cJSON *request, const cJSON *arguments)
{
	const char *name = dap_text(arguments, "expression", NULL),
		   *value = dap_text(arguments, "value", NULL);

	if (has_arguments(d, request, name, value))
		dap_query(d, request, pass_on, "set-expression %lld %s\t%s",
			  (long long)dap_number(arguments, "frameId", 0), name, value);
}

/* ---- evaluate ---- */

static void on_command_done(struct dap *d, struct dap_job *job, cJSON *reply)
{
	cJSON *body = cJSON_CreateObject();

	(void)reply;
	cJSON_AddStringToObject(body, "result", job->output.at ? job->output.at : "");
	cJSON_AddNumberToObject(body, "variablesReference", 0);
	dap_answer(d, job->request, body);
	/* It may have been any command: another focus. What ran is told when it stands. */
	if (!job->moves)
		dap_look_again(d);
}

void dap_on_evaluate(struct dap *d, cJSON *request, const cJSON *arguments)
{
	const char *expression = dap_text(arguments, "expression", NULL),
		   *context = dap_text(arguments, "context", "");

	if (!has_arguments(d, request, expression, ""))
		return;
	if (!strcmp(context, "repl") && (d->state != DAP_RUNNING && d->state != DAP_STARTED)) {
		dap_command(d, request, on_command_done, "%s", expression);
		return;
	}
	if (d->state != DAP_STOPPED) {
		dap_refuse(d, request, "%s",
			   d->state == DAP_OVER  ? "the program has ended"
			   : d->state == DAP_NEW ? "no program was started"
						 : "the program is running");
		cJSON_Delete(request);
		return;
	}
	dap_query(d, request, pass_on, "evaluate %lld %s",
		  (long long)dap_number(arguments, "frameId", 0), expression);
}

/* ---- code and memory ---- */

void dap_on_source(struct dap *d, cJSON *request, const cJSON *arguments)
{
	const cJSON *source = cJSON_GetObjectItemCaseSensitive(arguments, "source");

	dap_query(d, request, pass_on, "source %lld",
		  (long long)dap_number(source, "sourceReference",
					dap_number(arguments, "sourceReference", 0)));
}

void dap_on_disassemble(struct dap *d, cJSON *request, const cJSON *arguments)
{
	const char *at = dap_text(arguments, "memoryReference", NULL);

	if (has_arguments(d, request, at, ""))
		dap_query(d, request, pass_on, "disassemble %lld %lld %s",
			  (long long)dap_number(arguments, "instructionOffset", 0),
			  (long long)dap_number(arguments, "instructionCount", 0), at);
}

/* Hexadecimal digits as base64. */
static char *base64(const char *hex)
{
	static const char digit[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	size_t n = strlen(hex) / 2, at = 0;
	char *out = malloc((n + 2) / 3 * 4 + 1);

	if (!out)
		abort();
	for (size_t i = 0; i < n; i += 3) {
		u32 bits = 0;

		for (size_t k = 0; k < 3; k++) {
			char two[3] = {i + k < n ? hex[2 * (i + k)] : '0',
				       i + k < n ? hex[2 * (i + k) + 1] : '0', 0};

			bits = bits << 8 | (u32)strtoul(two, NULL, 16);
		}
		for (u32 k = 0; k < 4; k++)
			out[at++] = i + k > n ? '=' : digit[bits >> (18 - 6 * k) & 63];
	}
	out[at] = '\0';
	return out;
}

/* {"address", "data": digits, "unreadable"}: the data of the protocol is base64. */
static void on_memory(struct dap *d, struct dap_job *job, cJSON *reply)
{
	const char *hex = dap_text(reply, "data", NULL);

	if (hex) {
		char *data = base64(hex);

		cJSON_ReplaceItemInObjectCaseSensitive(reply, "data", cJSON_CreateString(data));
		free(data);
	}
	pass_on(d, job, reply);
}

void dap_on_read_memory(struct dap *d, cJSON *request, const cJSON *arguments)
{
	const char *at = dap_text(arguments, "memoryReference", NULL);
	s64 count = dap_number(arguments, "count", 0);

	if (count < 0 || count > READ_MAX) {
		dap_refuse(d, request, "between 0 and %u bytes can be read at once", READ_MAX);
		cJSON_Delete(request);
	} else if (has_arguments(d, request, at, "")) {
		dap_query(d, request, on_memory, "memory %lld %lld %s",
			  (long long)dap_number(arguments, "offset", 0), (long long)count, at);
	}
}

/* base64 as hexadecimal digits; false: the text is not base64. */
static bool put_hex(const char *data, struct text *out)
{
	static const char digit[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	size_t n = strcspn(data, "=");
	u32 bits = 0;

	if (n % 4 == 1 || strspn(data + n, "=") != strlen(data + n) || strlen(data) % 4)
		return false;
	for (size_t i = 0; i < n; i++) {
		const char *at = strchr(digit, data[i]);

		if (!at)
			return false;
		bits = bits << 6 | (u32)(at - digit);
		if (i % 4)
			text_printf(out, "%02x", bits >> (6 - 2 * (i % 4)) & 0xff);
	}
	return true;
}

/* Values that are shown may have changed. */
static void on_written(struct dap *d, struct dap_job *job, cJSON *reply)
{
	pass_on(d, job, reply);
	if (reply && !dap_text(reply, "error", NULL))
		dap_look_again(d);
}

void dap_on_write_memory(struct dap *d, cJSON *request, const cJSON *arguments)
{
	const char *at = dap_text(arguments, "memoryReference", NULL),
		   *data = dap_text(arguments, "data", "");
	struct text hex = {0};

	if (strlen(data) / 4 * 3 > READ_MAX || !put_hex(data, &hex)) {
		dap_refuse(d, request, "the data is base64, of at most %u bytes", READ_MAX);
		cJSON_Delete(request);
	} else if (has_arguments(d, request, at, "")) {
		dap_query(d, request, on_written, "write-memory %lld %s %s",
			  (long long)dap_number(arguments, "offset", 0), at, hex.at ? hex.at : "");
	}
	text_fini(&hex);
}

/* ---- modules and files ---- */

/* Without a program that stands, a list of nothing. */
static void list_or_nothing(struct dap *d, cJSON *request, const char *name, const char *query)
{
	cJSON *body;

	if (d->state == DAP_STOPPED) {
		dap_query(d, request, pass_on, "%s", query);
		return;
	}
	body = cJSON_CreateObject();
	cJSON_AddArrayToObject(body, name);
	dap_answer(d, request, body);
	cJSON_Delete(request);
}

void dap_on_modules(struct dap *d, cJSON *request, const cJSON *arguments)
{
	struct text query = {0};

	text_printf(&query, "modules %lld %lld", (long long)dap_number(arguments, "startModule", 0),
		    (long long)dap_number(arguments, "moduleCount", 0));
	list_or_nothing(d, request, "modules", query.at);
	text_fini(&query);
}

void dap_on_loaded_sources(struct dap *d, cJSON *request, const cJSON *arguments)
{
	(void)arguments;
	list_or_nothing(d, request, "sources", "sources");
}

/* ---- the rest ---- */

static void on_completions(struct dap *d, struct dap_job *job, cJSON *reply)
{
	cJSON *body;

	if (reply) {
		pass_on(d, job, reply);
		return;
	}
	body = cJSON_CreateObject();
	cJSON_AddArrayToObject(body, "targets");
	dap_answer(d, job->request, body);
}

void dap_on_completions(struct dap *d, cJSON *request, const cJSON *arguments)
{
	const char *text = dap_text(arguments, "text", NULL);

	if (!has_arguments(d, request, text, ""))
		return;
	if (d->state == DAP_STOPPED)
		dap_query(d, request, on_completions, "complete %s", text);
	else {
		cJSON *body = cJSON_CreateObject();

		cJSON_AddArrayToObject(body, "targets");
		dap_answer(d, request, body);
		cJSON_Delete(request);
	}
}

static void on_exception(struct dap *d, struct dap_job *job, cJSON *reply)
{
	cJSON *body;

	if (!reply || strcmp(dap_text(reply, "reason", ""), "exception") != 0) {
		dap_refuse(d, job->request, "nothing was raised");
		return;
	}
	body = cJSON_CreateObject();
	cJSON_AddStringToObject(body, "exceptionId", dap_text(reply, "kind", "fault"));
	cJSON_AddStringToObject(body, "description", dap_text(reply, "text", ""));
	cJSON_AddStringToObject(body, "breakMode", "always");
	dap_answer(d, job->request, body);
}

void dap_on_exception_info(struct dap *d, cJSON *request, const cJSON *arguments)
{
	(void)arguments;
	dap_query(d, request, on_exception, "stop");
}
