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

void dap_on_step_in(struct dap *d, cJSON *request, const cJSON *arguments)
{
	move(d, request, arguments, by_instruction(arguments) ? "stepi" : "step", NULL);
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

void dap_on_pause(struct dap *d, cJSON *request, const cJSON *arguments)
{
	(void)arguments;
	if (d->state == DAP_RUNNING || d->state == DAP_STARTED) {
		d->resume = false;
		dap_interrupt(d);
		dap_answer(d, request, NULL);
	} else {
		dap_refuse(d, request, "the program is not running");
	}
	cJSON_Delete(request);
}
