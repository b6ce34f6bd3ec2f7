/*
 * Continue, steps, and back in time. The thread of the request, a group of lanes, gets the focus
 * first.
 */
#include "src/dap/dap_int.h"

#include <string.h>

static void move(struct dap *d, cJSON *request, const cJSON *arguments, const char *command,
		 cJSON *body)
{
	s64 thread = dap_number(arguments, "threadId", 0);

	if (thread > 0)
		dap_query(d, NULL, NULL, "focus %lld", (long long)thread);
	dap_move(d, "%s", command);
	/* They were those of the line that is left. */
	cJSON_Delete(d->step_targets);
	d->step_targets = NULL;
	dap_answer(d, request, body);
	cJSON_Delete(request);
}

static bool by_instruction(const cJSON *arguments)
{
	return !strcmp(dap_text(arguments, "granularity", "statement"), "instruction");
}

void dap_on_continue(struct dap *d, cJSON *request, const cJSON *arguments)
{
	cJSON *body = cJSON_CreateObject();

	cJSON_AddTrueToObject(body, "allThreadsContinued");
	move(d, request, arguments, "continue", body);
}

void dap_on_next(struct dap *d, cJSON *request, const cJSON *arguments)
{
	move(d, request, arguments, by_instruction(arguments) ? "nexti" : "next", NULL);
}

/* The function that a target stands for, as the core names it; NULL: there is none. */
static const char *step_target(const struct dap *d, s64 id)
{
	const cJSON *t;

	cJSON_ArrayForEach(t, d->step_targets) if (dap_number(t, "id", 0) ==
						   id) return dap_text(t, "location", NULL);
	return NULL;
}

void dap_on_step_in(struct dap *d, cJSON *request, const cJSON *arguments)
{
	s64 id = dap_number(arguments, "targetId", 0);
	const char *target = id ? step_target(d, id) : NULL;
	struct text command = {0};

	if (id && !target) {
		dap_refuse(d, request, "there is no such target");
		cJSON_Delete(request);
		return;
	}
	if (target)
		text_printf(&command, "step into %s", target);
	else
		text_puts(&command, by_instruction(arguments) ? "stepi" : "step");
	move(d, request, arguments, command.at ? command.at : "step", NULL);
	text_fini(&command);
}

static void on_step_targets(struct dap *d, struct dap_job *job, cJSON *reply)
{
	const char *error = dap_text(reply, "error", reply ? NULL : "the program has ended");
	const cJSON *list = cJSON_GetObjectItemCaseSensitive(reply, "targets"), *t;
	cJSON *body, *shown;

	if (error) {
		dap_refuse(d, job->request, "%s", error);
		return;
	}
	cJSON_Delete(d->step_targets);
	d->step_targets = cJSON_Duplicate(list, true);
	body = cJSON_CreateObject();
	shown = cJSON_AddArrayToObject(body, "targets");
	cJSON_ArrayForEach(t, list)
	{
		cJSON *one = cJSON_CreateObject();

		cJSON_AddNumberToObject(one, "id", (double)dap_number(t, "id", 0));
		cJSON_AddStringToObject(one, "label", dap_text(t, "label", ""));
		cJSON_AddItemToArray(shown, one);
	}
	dap_answer(d, job->request, body);
}

void dap_on_step_in_targets(struct dap *d, cJSON *request, const cJSON *arguments)
{
	dap_query(d, request, on_step_targets, "step-targets %lld",
		  (long long)dap_number(arguments, "frameId", 0));
}

void dap_on_step_out(struct dap *d, cJSON *request, const cJSON *arguments)
{
	move(d, request, arguments, "finish", NULL);
}

void dap_on_step_back(struct dap *d, cJSON *request, const cJSON *arguments)
{
	move(d, request, arguments, by_instruction(arguments) ? "reverse-stepi" : "reverse-next",
	     NULL);
}

void dap_on_reverse_continue(struct dap *d, cJSON *request, const cJSON *arguments)
{
	move(d, request, arguments, "reverse-continue", NULL);
}

/* ---- going on elsewhere ---- */

/* The line can be gone on at, or there is no target. */
static void on_can_jump(struct dap *d, struct dap_job *job, cJSON *reply)
{
	const cJSON *a = cJSON_GetObjectItemCaseSensitive(job->request, "arguments");
	s64 line = dap_number(a, "line", 0);
	cJSON *body = cJSON_CreateObject(), *targets = cJSON_AddArrayToObject(body, "targets"), *t;

	if (reply && !dap_text(reply, "error", NULL)) {
		struct text label = {0};

		t = cJSON_CreateObject();
		text_printf(&label, "line %lld", (long long)line);
		cJSON_AddNumberToObject(t, "id", (double)line);
		cJSON_AddStringToObject(t, "label", label.at);
		cJSON_AddNumberToObject(t, "line", (double)line);
		cJSON_AddItemToArray(targets, t);
		text_fini(&label);
	}
	dap_answer(d, job->request, body);
}

void dap_on_goto_targets(struct dap *d, cJSON *request, const cJSON *arguments)
{
	const cJSON *source = cJSON_GetObjectItemCaseSensitive(arguments, "source");
	const char *path = dap_text(source, "path", dap_text(source, "name", ""));

	if (!dap_is_one_line(path)) {
		dap_refuse(d, request, "a path is one line");
		cJSON_Delete(request);
		return;
	}
	/* Targets are lines of the file that was asked about last. */
	d->jump_path.len = 0;
	text_puts(&d->jump_path, path);
	dap_query(d, request, on_can_jump, "can-jump %s:%lld", path,
		  (long long)dap_number(arguments, "line", 0) + !d->lines_at_1);
}

static void on_jumped(struct dap *d, struct dap_job *job, cJSON *reply)
{
	const char *error = dap_text(reply, "error", reply ? NULL : "the program has ended");
	cJSON *body;

	if (error) {
		dap_refuse(d, job->request, "%s", error);
		return;
	}
	dap_answer(d, job->request, NULL);
	body = cJSON_CreateObject();
	cJSON_AddStringToObject(body, "reason", "goto");
	cJSON_AddNumberToObject(body, "threadId", 1);
	cJSON_AddTrueToObject(body, "allThreadsStopped");
	dap_event(d, "stopped", body);
}

void dap_on_goto(struct dap *d, cJSON *request, const cJSON *arguments)
{
	s64 thread = dap_number(arguments, "threadId", 0);

	if (!d->jump_path.len) {
		dap_refuse(d, request, "there is no such target");
		cJSON_Delete(request);
		return;
	}
	if (thread > 0)
		dap_query(d, NULL, NULL, "focus %lld", (long long)thread);
	dap_query(d, request, on_jumped, "jump %s:%lld", d->jump_path.at,
		  (long long)dap_number(arguments, "targetId", 0) + !d->lines_at_1);
}

void dap_on_pause(struct dap *d, cJSON *request, const cJSON *arguments)
{
	(void)arguments;
	if (dap_interrupt_command(d)) {
		dap_answer(d, request, NULL);
	} else if (d->state == DAP_RUNNING || d->state == DAP_STARTED) {
		d->resume = false;
		dap_interrupt(d);
		dap_answer(d, request, NULL);
	} else {
		dap_refuse(d, request, "the program is not running");
	}
	cJSON_Delete(request);
}
