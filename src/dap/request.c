/*
 * The requests that are answered, one row each.
 */
#include "src/dap/dap_int.h"

#include <string.h>

static const struct dap_request requests[] = {
	{"initialize", dap_on_initialize, false},
	{"launch", dap_on_launch, false},
	{"attach", dap_on_attach, false},
	{"configurationDone", dap_on_configuration_done, false},
	{"disconnect", dap_on_disconnect, false},
	{"terminate", dap_on_terminate, false},
	{"restart", dap_on_restart, false},
	{"setBreakpoints", dap_on_set_breakpoints, false},
	{"setFunctionBreakpoints", dap_on_set_function_breakpoints, false},
	{"setExceptionBreakpoints", dap_on_set_exception_breakpoints, false},
	{"setInstructionBreakpoints", dap_on_set_instruction_breakpoints, false},
	{"dataBreakpointInfo", dap_on_data_breakpoint_info, false},
	{"setDataBreakpoints", dap_on_set_data_breakpoints, false},
	{"continue", dap_on_continue, true},
	{"next", dap_on_next, true},
	{"stepIn", dap_on_step_in, true},
	{"stepInTargets", dap_on_step_in_targets, true},
	{"stepOut", dap_on_step_out, true},
	{"stepBack", dap_on_step_back, true},
	{"reverseContinue", dap_on_reverse_continue, true},
	{"gotoTargets", dap_on_goto_targets, true},
	{"goto", dap_on_goto, true},
	{"pause", dap_on_pause, false},
	{"threads", dap_on_threads, false},
	{"stackTrace", dap_on_stack_trace, true},
	{"scopes", dap_on_scopes, true},
	{"variables", dap_on_variables, true},
	{"setVariable", dap_on_set_variable, true},
	{"setExpression", dap_on_set_expression, true},
	{"evaluate", dap_on_evaluate, false},
	{"source", dap_on_source, true},
	{"disassemble", dap_on_disassemble, true},
	{"readMemory", dap_on_read_memory, true},
	{"writeMemory", dap_on_write_memory, true},
	{"completions", dap_on_completions, false},
	{"exceptionInfo", dap_on_exception_info, true},
	{"modules", dap_on_modules, false},
	{"loadedSources", dap_on_loaded_sources, false},
	{"breakpointLocations", dap_on_breakpoint_locations, false},
	{"cancel", dap_on_cancel, false},
	{"terminateThreads", dap_on_terminate_threads, true},
};

static const struct dap_request *find_request(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(requests); i++)
		if (!strcmp(requests[i].name, name))
			return &requests[i];
	return NULL;
}

void dap_handle(struct dap *d, cJSON *request)
{
	const char *command = dap_text(request, "command", "");
	const struct dap_request *r = find_request(command);

	/* Answers to what we never asked. */
	if (strcmp(dap_text(request, "type", ""), "request") != 0) {
		cJSON_Delete(request);
		return;
	}
	if (!r)
		dap_refuse(d, request, "the request '%s' is not supported", command);
	else if (r->needs_stop && d->state != DAP_STOPPED)
		dap_refuse(d, request, "%s",
			   d->state == DAP_NEW    ? "no program was started"
			   : d->state == DAP_OVER ? "the program has ended"
						  : "the program is running");
	else
		return r->fn(d, request, cJSON_GetObjectItemCaseSensitive(request, "arguments"));
	cJSON_Delete(request);
}
