/*
 * Private to src/dap.
 */
#ifndef PL_DAP_INT_H
#define PL_DAP_INT_H

#include "src/dap/dap.h"
#include "src/debugger/debugger.h"

#include <cjson/cJSON.h>

/* ---- wire.c: messages of the protocol ---- */

/* What one message may have, its header excepted. */
#define DAP_MESSAGE_MAX (64u << 20)
#define DAP_HEADER_MAX (16u << 10)

struct dap_wire {
	int in, out;
	struct text buffer; /* come and not yet taken */
	s64 seq;            /* of the last message sent */
	bool ended;         /* nothing more will come */
	bool broken;        /* the editor does not read any more */
	int error;          /* of the last read; 0: none */
};

/* Take what has come; blocks if nothing has. */
void dap_wire_fill(struct dap_wire *w);
/*
 * The next whole message, to be freed; NULL: none yet, or, with a line in `why`, what came was not
 * one: then nothing more will come.
 */
cJSON *dap_wire_next(struct dap_wire *w, struct text *why);
/* Add a line to `why` when the editor has not ended the connection in order. */
void dap_wire_check_end(const struct dap_wire *w, struct text *why);
/* Send and free a message; its seq is set here. */
void dap_wire_send(struct dap_wire *w, cJSON *message);

/* ---- what is asked of the core ---- */

struct dap;
struct dap_job;

/* reply: the JSON of a query, NULL for commands and where the core is gone. */
typedef void dap_job_done(struct dap *d, struct dap_job *job, cJSON *reply);

/* One command or query. They are put to the core one after the other. */
struct dap_job {
	struct dap_job *next;
	char kind;          /* LINK_COMMAND or LINK_QUERY */
	bool moves;         /* the program runs until the core answers */
	bool prints;        /* its output goes to the editor's console */
	bool shown;         /* the editor shows that it takes time */
	char *text;         /* owned */
	struct text output; /* what it printed, unless `prints` */
	cJSON *request;     /* what it is for; owned; NULL: nothing the editor waits for */
	dap_job_done *done;
};

enum dap_state {
	DAP_NEW,     /* nothing was started */
	DAP_STARTED, /* the program runs, no core has spoken yet */
	DAP_RUNNING,
	DAP_STOPPED,
	DAP_OVER, /* the program has ended */
};

struct dap_filters {
	bool faults, deadlocks, asserts;
};

struct dap {
	struct dap_wire wire;
	dap_start *start;
	u8 state; /* enum dap_state */
	bool configured, launch_asked, is_leaving;
	bool lines_at_1, columns_at_1;
	bool is_restarting;
	bool shows_progress; /* the editor does, and can cancel */
	u64 since_ms;        /* when the first job was put to the core */
	cJSON *launch;       /* the request, for restarts; owned */
	struct dap_process process;
	struct dap_job *first, **last;
	bool busy;              /* the first job has been put to the core */
	bool pausing;           /* an interrupt was sent, and its stop has not come */
	bool resume;            /* after what interrupted a running program it goes on by itself */
	struct debugger *local; /* holds breakpoints while there is no core */
	struct dap_filters filters;
	cJSON *breakpoints;           /* numbers by file, or by kind */
	struct dap_setting *settings; /* requests whose breakpoints are being made */
	s64 stop_serial;              /* of the stop that the editor knows of */
	struct text jump_path;        /* the file of the last gotoTargets */
	cJSON *step_targets;          /* the last stepInTargets; owned; NULL: none */
};

/* ---- dap.c ---- */

/*
 * Put a command (or query) to the core, or to the debugger without a program when there is none.
 * request: owned by the job from here on; may be NULL.
 */
void dap_command(struct dap *d, cJSON *request, dap_job_done *done, const char *format, ...)
	PL_PRINTF(4, 5);
void dap_query(struct dap *d, cJSON *request, dap_job_done *done, const char *format, ...)
	PL_PRINTF(4, 5);
/* A command after which the program runs until it stops again. */
void dap_move(struct dap *d, const char *format, ...) PL_PRINTF(2, 3);
/* Starts what the arguments of a launch request name. */
bool dap_launch_start(struct dap *d, const cJSON *arguments, struct text *why);
/* The job of a request is not wanted any more; false: there is none. */
bool dap_cancel(struct dap *d, s64 request);
/* A command may have changed the focus, or moved: tell the editor. */
void dap_look_again(struct dap *d);
/* Interrupt a command of the editor's console that has no end; false: none is under way. */
bool dap_interrupt_command(struct dap *d);
/* Have a running program stand, so that jobs can be done; it goes on after them. */
void dap_interrupt(struct dap *d);
bool dap_begin(struct dap *d, struct text *why);
void dap_kill(struct dap *d);
/* The program goes on without a debugger; one that we have started ends with us. */
void dap_leave(struct dap *d);

/* ---- answers: answer.c ---- */

/* body: owned; may be NULL. The request is not freed. */
void dap_answer(struct dap *d, const cJSON *request, cJSON *body);
void dap_refuse(struct dap *d, const cJSON *request, const char *format, ...) PL_PRINTF(3, 4);
void dap_event(struct dap *d, const char *name, cJSON *body);
void dap_output(struct dap *d, const char *category, const char *text, size_t n);

/* Of an object; the default where it has no such member of this type. NULL objects have nothing. */
const char *dap_text(const cJSON *object, const char *name, const char *otherwise);
s64 dap_number(const cJSON *object, const char *name, s64 otherwise);
bool dap_bool(const cJSON *object, const char *name, bool otherwise);
/* A command's word: quotes are not needed, but an end of line would end the command. */
bool dap_is_one_line(const char *text);

/* ---- requests: one table in request.c ---- */

typedef void dap_request_fn(struct dap *d, cJSON *request, const cJSON *arguments);

struct dap_request {
	const char *name;
	dap_request_fn *fn; /* owns the request */
	bool needs_stop;    /* only when the program stands */
};

/* Answer one request; takes it over. */
void dap_handle(struct dap *d, cJSON *request);

/* session.c */
dap_request_fn dap_on_initialize, dap_on_launch, dap_on_attach, dap_on_configuration_done,
	dap_on_disconnect, dap_on_terminate, dap_on_restart, dap_on_cancel,
	dap_on_terminate_threads;
/* breakpoints.c */
dap_request_fn dap_on_set_breakpoints, dap_on_set_function_breakpoints,
	dap_on_set_exception_breakpoints, dap_on_set_data_breakpoints, dap_on_data_breakpoint_info,
	dap_on_set_instruction_breakpoints, dap_on_breakpoint_locations;
/* The core has come: breakpoints may have found their code. */
void dap_breakpoints_changed(struct dap *d);
/* move.c */
dap_request_fn dap_on_continue, dap_on_next, dap_on_step_in, dap_on_step_in_targets,
	dap_on_step_out, dap_on_step_back, dap_on_reverse_continue, dap_on_goto_targets,
	dap_on_goto, dap_on_pause;
/* look.c */
dap_request_fn dap_on_threads, dap_on_stack_trace, dap_on_scopes, dap_on_variables,
	dap_on_set_variable, dap_on_set_expression, dap_on_evaluate, dap_on_source,
	dap_on_disassemble, dap_on_read_memory, dap_on_write_memory, dap_on_completions,
	dap_on_exception_info, dap_on_modules, dap_on_loaded_sources;

#endif
