/*
 * Beginning and end of a session.
 */
#include "src/dap/dap_int.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct filter {
	const char *name, *label, *what;
	bool on;
};

static const struct filter filters[] = {
	{"faults", "Faults of kernels", "Stop before the instruction that faults", true},
	{"deadlocks", "Deadlocks", "Stop where no lane can go on", true},
	{"asserts", "Failed assertions", "Stop at assert() that fails", true},
	{"findings", "Findings of checks", "Stop at what --check finds", true},
	{"launches", "Launches", "Stop at the first instruction of each launch", false},
	{"divergence", "Divergence", "Stop where the lanes of a warp take different ways", false},
};

static cJSON *filter_list(void)
{
	cJSON *list = cJSON_CreateArray();

	for (size_t i = 0; i < ARRAY_LEN(filters); i++) {
		cJSON *f = cJSON_CreateObject();

		cJSON_AddStringToObject(f, "filter", filters[i].name);
		cJSON_AddStringToObject(f, "label", filters[i].label);
		cJSON_AddStringToObject(f, "description", filters[i].what);
		cJSON_AddBoolToObject(f, "default", filters[i].on);
		cJSON_AddItemToArray(list, f);
	}
	return list;
}

static cJSON *capabilities(void)
{
	static const char *const can[] = {"supportsConfigurationDoneRequest",
					  "supportsFunctionBreakpoints",
					  "supportsConditionalBreakpoints",
					  "supportsHitConditionalBreakpoints",
					  "supportsLogPoints",
					  "supportsEvaluateForHovers",
					  "supportsStepBack",
					  "supportsGotoTargetsRequest",
					  "supportsStepInTargetsRequest",
					  "supportsSetVariable",
					  "supportsSetExpression",
					  "supportsCompletionsRequest",
					  "supportsRestartRequest",
					  "supportsExceptionInfoRequest",
					  "supportTerminateDebuggee",
					  "supportsTerminateRequest",
					  "supportsDataBreakpoints",
					  "supportsReadMemoryRequest",
					  "supportsWriteMemoryRequest",
					  "supportsDisassembleRequest",
					  "supportsInstructionBreakpoints",
					  "supportsSteppingGranularity",
					  "supportsDelayedStackTraceLoading",
					  "supportsModulesRequest",
					  "supportsLoadedSourcesRequest",
					  "supportsBreakpointLocationsRequest",
					  "supportsCancelRequest",
					  "supportsDataBreakpointBytes"};
	cJSON *c = cJSON_CreateObject();

	for (size_t i = 0; i < ARRAY_LEN(can); i++)
		cJSON_AddTrueToObject(c, can[i]);
	cJSON_AddItemToObject(c, "exceptionBreakpointFilters", filter_list());
	return c;
}

void dap_on_initialize(struct dap *d, cJSON *request, const cJSON *arguments)
{
	d->lines_at_1 = dap_bool(arguments, "linesStartAt1", true);
	d->columns_at_1 = dap_bool(arguments, "columnsStartAt1", true);
	d->shows_progress = dap_bool(arguments, "supportsProgressReporting", false);
	dap_answer(d, request, capabilities());
	cJSON_Delete(request);
	dap_event(d, "initialized", NULL);
}

/* ---- launch ---- */

/* Strings of an array as an array with a NULL at its end; the strings are borrowed. */
static char **strings(const cJSON *first, const cJSON *array)
{
	int n = cJSON_GetArraySize(array), at = 0;
	char **out = calloc((size_t)n + 2, sizeof(*out));
	const cJSON *x;

	if (!out)
		abort();
	if (first)
		out[at++] = first->valuestring;
	cJSON_ArrayForEach(x, array) if (cJSON_IsString(x)) out[at++] = x->valuestring;
	return out;
}

/* {"NAME": "VALUE", "GONE": null} as NAME=VALUE and GONE; all owned. */
static char **environment(const cJSON *object)
{
	char **out = calloc((size_t)cJSON_GetArraySize(object) + 1, sizeof(*out));
	const cJSON *x;
	int at = 0;

	if (!out)
		abort();
	cJSON_ArrayForEach(x, object)
	{
		struct text t = {0};

		if (cJSON_IsString(x))
			text_printf(&t, "%s=%s", x->string, x->valuestring);
		else if (cJSON_IsNull(x))
			text_puts(&t, x->string);
		if (t.at)
			out[at++] = t.at;
	}
	return out;
}

/* Is a member of the configuration, if it is there, an array (object) of strings? env: or null. */
static bool has_strings(const cJSON *arguments, const char *name, bool is_object, struct text *why)
{
	const cJSON *list = cJSON_GetObjectItemCaseSensitive(arguments, name), *x;
	bool good = !list || cJSON_IsNull(list) ||
		    (is_object ? cJSON_IsObject(list) : cJSON_IsArray(list));

	cJSON_ArrayForEach(x, list) good &= cJSON_IsString(x) || (is_object && cJSON_IsNull(x));
	if (!good)
		text_printf(why, "\"%s\" of the launch configuration is not %s of strings", name,
			    is_object ? "an object" : "an array");
	return good;
}

/* "processId": a number, or digits, as editors' lists of processes have it; 0: none. */
static pid_t process_of(const cJSON *arguments)
{
	const char *text = dap_text(arguments, "processId", NULL);
	s64 pid = text ? strtoll(text, NULL, 10) : dap_number(arguments, "processId", 0);

	return pid > 0 && pid <= INT_MAX ? (pid_t)pid : 0;
}

static bool attach_start(struct dap *d, const cJSON *arguments, struct text *why)
{
	struct dap_launch l = {.attach = process_of(arguments)};
	struct dap_process p = {.pid = 0};

	if (!l.attach) {
		text_puts(why, "the attach configuration has no \"processId\"");
		return false;
	}
	if (!d->start(&l, &p, why))
		return false;
	d->process = p;
	return true;
}

static bool is_attach(const cJSON *request)
{
	return !strcmp(dap_text(request, "command", ""), "attach");
}

bool dap_launch_start(struct dap *d, const cJSON *arguments, struct text *why)
{
	const cJSON *program = cJSON_GetObjectItemCaseSensitive(arguments, "program");
	struct dap_launch l = {.device = dap_text(arguments, "device", NULL),
			       .cwd = dap_text(arguments, "cwd", NULL)};
	bool ok;

	if (is_attach(d->launch))
		return attach_start(d, arguments, why);
	if (!cJSON_IsString(program) || !*program->valuestring) {
		text_puts(why, "the launch configuration has no \"program\"");
		return false;
	}
	if (!has_strings(arguments, "args", false, why) ||
	    !has_strings(arguments, "env", true, why))
		return false;
	l.argv = strings(program, cJSON_GetObjectItemCaseSensitive(arguments, "args"));
	l.env = environment(cJSON_GetObjectItemCaseSensitive(arguments, "env"));
	ok = d->start(&l, &d->process, why);
	free(l.argv);
	for (char **e = l.env; *e; e++)
		free(*e);
	free(l.env);
	return ok;
}

/* The program starts when the editor has told its breakpoints, which it may do after `launch`. */
static void begin_if_ready(struct dap *d)
{
	struct text why = {0};

	if (!d->configured || !d->launch_asked)
		return;
	d->launch_asked = false;
	if (dap_begin(d, &why))
		dap_answer(d, d->launch, NULL);
	else
		dap_refuse(d, d->launch, "%s", why.at ? why.at : "the program cannot be started");
	if (d->state != DAP_STARTED)
		dap_event(d, "terminated", NULL);
	text_fini(&why);
}

void dap_on_launch(struct dap *d, cJSON *request, const cJSON *arguments)
{
	(void)arguments;
	if (d->process.pid > 0) {
		dap_refuse(d, request, "a program is being debugged already");
		cJSON_Delete(request);
		return;
	}
	cJSON_Delete(d->launch);
	d->launch = request;
	d->launch_asked = true;
	begin_if_ready(d);
}

void dap_on_attach(struct dap *d, cJSON *request, const cJSON *arguments)
{
	dap_on_launch(d, request, arguments);
}

void dap_on_configuration_done(struct dap *d, cJSON *request, const cJSON *arguments)
{
	(void)arguments;
	d->configured = true;
	dap_answer(d, request, NULL);
	cJSON_Delete(request);
	begin_if_ready(d);
}

/* ---- ends ---- */

void dap_on_disconnect(struct dap *d, cJSON *request, const cJSON *arguments)
{
	d->is_restarting = true; /* its end is no news */
	if (dap_bool(arguments, "terminateDebuggee", !d->process.attached))
		dap_kill(d);
	else
		dap_leave(d);
	dap_answer(d, request, NULL);
	cJSON_Delete(request);
	d->is_leaving = true;
}

void dap_on_terminate(struct dap *d, cJSON *request, const cJSON *arguments)
{
	(void)arguments;
	dap_answer(d, request, NULL);
	cJSON_Delete(request);
	if (d->process.pid > 0)
		dap_kill(d);
	else
		dap_event(d, "terminated", NULL);
}

void dap_on_cancel(struct dap *d, cJSON *request, const cJSON *arguments)
{
	/* An id of progress is the number of the request that it is of. */
	const char *progress = dap_text(arguments, "progressId", NULL);
	s64 seq = progress ? strtoll(progress, NULL, 10) : dap_number(arguments, "requestId", 0);

	/* What has its answer already is not cancelled. */
	dap_cancel(d, seq);
	dap_answer(d, request, NULL);
	cJSON_Delete(request);
}

void dap_on_terminate_threads(struct dap *d, cJSON *request, const cJSON *arguments)
{
	(void)arguments;
	dap_refuse(d, request,
		   "lanes of a kernel cannot be ended one by one: `jump` leads around code, "
		   "`freeze` keeps lanes where they are");
	cJSON_Delete(request);
}

void dap_on_restart(struct dap *d, cJSON *request, const cJSON *arguments)
{
	const cJSON *changed = cJSON_GetObjectItemCaseSensitive(arguments, "arguments");
	struct text why = {0};

	if (!d->launch) {
		dap_refuse(d, request, "no program was started");
		cJSON_Delete(request);
		return;
	}
	if (is_attach(d->launch)) {
		dap_refuse(d, request,
			   "the process was not started from here: it cannot be started "
			   "again");
		cJSON_Delete(request);
		return;
	}
	d->is_restarting = true;
	dap_kill(d);
	d->is_restarting = false;
	if (changed)
		cJSON_ReplaceItemInObjectCaseSensitive(d->launch, "arguments",
						       cJSON_Duplicate(changed, true));
	if (dap_begin(d, &why))
		dap_answer(d, request, NULL);
	else
		dap_refuse(d, request, "%s", why.at ? why.at : "the program cannot be started");
	cJSON_Delete(request);
	text_fini(&why);
}
