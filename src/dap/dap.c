/*
 * The adapter's loop: the editor, the core in the program's process, and the program's output, in
 * one thread. Commands and queries wait in a list; one at a time is with the core.
 */
#include "src/base/clock.h"
#include "src/dap/dap_int.h"

#include "src/debugger/link.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define OUTPUT_BYTES 16384u

/* ---- jobs ---- */

static struct dap_job *job_new(char kind, cJSON *request, dap_job_done *done, const char *format,
			       va_list args)
{
	struct dap_job *j = calloc(1, sizeof(*j));
	struct text t = {0};

	if (!j)
		abort();
	text_vprintf(&t, format, args);
	*j = (struct dap_job){.kind = kind, .text = t.at, .request = request, .done = done};
	return j;
}

static void job_free(struct dap_job *j)
{
	free(j->text);
	text_fini(&j->output);
	cJSON_Delete(j->request);
	free(j);
}

/* ---- what takes time ---- */

/* From then on the editor shows it. */
#define PROGRESS_MS 500u

static cJSON *progress_of(const struct dap_job *j)
{
	cJSON *body = cJSON_CreateObject();
	struct text t = {0};

	text_printf(&t, "%lld", (long long)dap_number(j->request, "seq", 0));
	cJSON_AddStringToObject(body, "progressId", t.at);
	text_fini(&t);
	return body;
}

static void progress_begin(struct dap *d, struct dap_job *j)
{
	cJSON *body = progress_of(j);

	cJSON_AddStringToObject(body, "title", "Evaluating");
	cJSON_AddNumberToObject(body, "requestId", (double)dap_number(j->request, "seq", 0));
	cJSON_AddTrueToObject(body, "cancellable");
	dap_event(d, "progressStart", body);
	j->shown = true;
}

static void progress_end(struct dap *d, const struct dap_job *j)
{
	dap_event(d, "progressEnd", progress_of(j));
}

/* How long to wait for anything to happen, in ms: -1: for ever. */
static int patience(struct dap *d)
{
	struct dap_job *j = d->first;
	u64 gone;

	if (!d->shows_progress || !d->busy || !j->request || j->shown || j->moves)
		return -1;
	gone = clock_ms() - d->since_ms;
	if (gone < PROGRESS_MS)
		return (int)(PROGRESS_MS - gone);
	progress_begin(d, j);
	return -1;
}

/* The core has answered, or there is none any more. */
static void job_end(struct dap *d, struct dap_job *j, cJSON *reply)
{
	if (j->shown)
		progress_end(d, j);
	if (j->done)
		j->done(d, j, reply);
	cJSON_Delete(reply);
	job_free(j);
}

/* Without a program: the interpreter that keeps breakpoints. */
static void run_without_core(struct dap *d, struct dap_job *j)
{
	if (j->kind == LINK_COMMAND && d->local && j->text)
		debugger_command(d->local, j->text, &j->output);
	job_end(d, j, NULL);
}

static bool has_core(const struct dap *d)
{
	return d->state == DAP_RUNNING || d->state == DAP_STOPPED;
}

static struct dap_job *take_job(struct dap *d)
{
	struct dap_job *j = d->first;

	d->first = j->next;
	if (!d->first)
		d->last = &d->first;
	d->busy = false;
	return j;
}

static void put_next(struct dap *d)
{
	while (!d->busy && d->first) {
		struct dap_job *j = d->first;

		if (has_core(d) && d->state == DAP_RUNNING)
			return;
		if (!has_core(d)) {
			if (d->state == DAP_STARTED)
				return;
			run_without_core(d, take_job(d));
			continue;
		}
		d->busy = true;
		d->since_ms = clock_ms();
		if (j->moves)
			d->state = DAP_RUNNING;
		link_send(d->process.link, (u8)j->kind, j->text, strlen(j->text));
	}
}

static void append_job(struct dap *d, struct dap_job *j)
{
	*d->last = j;
	d->last = &j->next;
	put_next(d);
}

void dap_command(struct dap *d, cJSON *request, dap_job_done *done, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	append_job(d, job_new(LINK_COMMAND, request, done, format, args));
	va_end(args);
}

void dap_query(struct dap *d, cJSON *request, dap_job_done *done, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	append_job(d, job_new(LINK_QUERY, request, done, format, args));
	va_end(args);
}

void dap_move(struct dap *d, const char *format, ...)
{
	struct dap_job *j;
	va_list args;

	va_start(args, format);
	j = job_new(LINK_COMMAND, NULL, NULL, format, args);
	va_end(args);
	j->moves = j->prints = true;
	append_job(d, j);
}

bool dap_cancel(struct dap *d, s64 request)
{
	struct dap_job **at = &d->first, *j;

	while (*at && dap_number((*at)->request, "seq", 0) != request)
		at = &(*at)->next;
	j = *at;
	if (!j || request <= 0)
		return false;
	if (d->busy && j == d->first) {
		link_send(d->process.link, LINK_INTERRUPT, "", 0);
		return true;
	}
	*at = j->next;
	if (d->last == &j->next)
		d->last = at;
	dap_refuse(d, j->request, "cancelled");
	job_free(j);
	return true;
}

bool dap_interrupt_command(struct dap *d)
{
	if (d->state != DAP_STOPPED || !d->busy || d->first->kind != LINK_COMMAND)
		return false;
	link_send(d->process.link, LINK_INTERRUPT, "", 0);
	return true;
}

void dap_interrupt(struct dap *d)
{
	if (d->state != DAP_RUNNING || d->pausing)
		return;
	d->pausing = true;
	link_send(d->process.link, LINK_INTERRUPT, "", 0);
}

/* ---- stops ---- */

/* Is it one that the editor does not want to hear of? */
static bool is_filtered(const struct dap *d, const cJSON *stop)
{
	const char *kind = dap_text(stop, "kind", "");

	return (!strcmp(kind, "fault") && !d->filters.faults) ||
	       (!strcmp(kind, "deadlock") && !d->filters.deadlocks) ||
	       (!strcmp(kind, "assert") && !d->filters.asserts);
}

/* What the core says of the stop becomes the event, unless the editor knows of it. */
static void on_stop_reply(struct dap *d, struct dap_job *job, cJSON *reply)
{
	s64 serial = dap_number(reply, "serial", 0);
	cJSON *body;

	(void)job;
	if (!reply || !has_core(d))
		return;
	if (serial == d->stop_serial) {
		body = cJSON_CreateObject();
		cJSON_AddItemToArray(cJSON_AddArrayToObject(body, "areas"),
				     cJSON_CreateString("all"));
		dap_event(d, "invalidated", body);
		return;
	}
	d->stop_serial = serial;
	if (is_filtered(d, reply)) {
		dap_move(d, "continue");
		return;
	}
	body = cJSON_Duplicate(reply, true);
	cJSON_AddTrueToObject(body, "allThreadsStopped");
	dap_event(d, "stopped", body);
}

void dap_look_again(struct dap *d)
{
	if (has_core(d))
		dap_query(d, NULL, on_stop_reply, "stop");
}

/* After an interrupt that the editor has not asked for. */
static void resume_if_due(struct dap *d)
{
	if (d->resume && !d->first) {
		d->resume = false;
		dap_move(d, "continue");
	}
}

static void on_stopped(struct dap *d)
{
	d->state = DAP_STOPPED;
	dap_breakpoints_changed(d);
	if (d->pausing && d->resume) {
		d->pausing = false;
		return;
	}
	d->resume = false;
	d->pausing = false;
	/* Also a movement that has got nowhere ends with a stop: the editor waits for one. */
	d->stop_serial = 0;
	dap_look_again(d);
}

/* ---- frames of the core ---- */

static void on_command_over(struct dap *d)
{
	struct dap_job *j;

	if (!d->busy)
		return on_stopped(d); /* the first stop of a program, or of a restart */
	j = take_job(d);
	if (j->moves) {
		job_end(d, j, NULL);
		on_stopped(d);
	} else {
		job_end(d, j, NULL);
	}
}

/* A command of the editor's console, too, may let the program go on. */
static void on_runs(struct dap *d)
{
	cJSON *body;

	if (!d->busy || d->first->moves)
		return;
	d->first->moves = true;
	d->state = DAP_RUNNING;
	body = cJSON_CreateObject();
	cJSON_AddNumberToObject(body, "threadId", 1);
	cJSON_AddTrueToObject(body, "allThreadsContinued");
	dap_event(d, "continued", body);
}

static void on_output(struct dap *d, const char *at, size_t n)
{
	if (d->busy && !d->first->prints)
		text_add(&d->first->output, at, n);
	else
		dap_output(d, "console", at, n);
}

static void ask_for_state(struct dap *d)
{
	struct text t = {0};

	if (d->local)
		debugger_state(d->local, &t);
	link_send(d->process.link, LINK_STATE, t.at ? t.at : "", t.len);
	text_fini(&t);
	d->state = DAP_RUNNING;
}

/* The core's breakpoints, for the next start of the program. */
static void keep_state(struct dap *d, const char *at, size_t n)
{
	struct text t = {0};

	text_add(&t, at, n);
	if (d->local && t.at)
		debugger_restore(d->local, t.at);
	text_fini(&t);
}

static void on_frame(struct dap *d, const struct link_frame *f)
{
	switch (f->kind) {
	case LINK_HELLO:
		ask_for_state(d);
		break;
	case LINK_OUTPUT:
		on_output(d, f->payload, f->len);
		link_send(d->process.link, LINK_PRINTED, "", 0);
		break;
	case LINK_STATE:
		keep_state(d, f->payload, f->len);
		break;
	case LINK_RUNS:
		on_runs(d);
		break;
	case LINK_DONE:
		on_command_over(d);
		break;
	case LINK_JSON:
		if (d->busy && d->first->kind == LINK_QUERY)
			job_end(d, take_job(d), cJSON_ParseWithLength(f->payload, f->len));
		break;
	default:
		break;
	}
	put_next(d);
	resume_if_due(d);
}

/* ---- the program ---- */

bool dap_begin(struct dap *d, struct text *why)
{
	const cJSON *a = cJSON_GetObjectItemCaseSensitive(d->launch, "arguments");

	if (dap_bool(a, "stopOnEntry", false))
		dap_command(d, NULL, NULL, "tcatch launch");
	if (!dap_launch_start(d, a, why))
		return false;
	d->state = DAP_STARTED;
	d->stop_serial = 0;
	return true;
}

static void close_pipes(struct dap *d)
{
	int *fd[] = {&d->process.link, &d->process.out, &d->process.err};

	for (size_t i = 0; i < ARRAY_LEN(fd); i++) {
		if (*fd[i] >= 0)
			close(*fd[i]);
		*fd[i] = -1;
	}
}

/* No request will be answered any more. */
static void fail_jobs(struct dap *d)
{
	d->busy = false;
	while (d->first)
		job_end(d, take_job(d), NULL);
}

static void say_exit(struct dap *d, int status)
{
	cJSON *body = cJSON_CreateObject();

	cJSON_AddNumberToObject(body, "exitCode",
				WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
	if (WIFSIGNALED(status)) {
		struct text t = {0};

		text_printf(&t, "The program was ended by signal %d (%s).\n", WTERMSIG(status),
			    strsignal(WTERMSIG(status)));
		dap_output(d, "console", t.at, t.len);
		text_fini(&t);
	}
	dap_event(d, "exited", body);
}

static void on_end(struct dap *d)
{
	int status = 0;

	while (d->process.pid > 0 && !d->process.attached &&
	       waitpid(d->process.pid, &status, 0) < 0 && errno == EINTR)
		;
	d->process.pid = 0;
	close_pipes(d);
	d->pausing = d->resume = false;
	d->state = DAP_OVER;
	fail_jobs(d);
	if (d->is_restarting)
		return;
	if (!d->process.attached)
		say_exit(d, status);
	dap_event(d, "terminated", NULL);
}

void dap_kill(struct dap *d)
{
	if (d->process.pid <= 0)
		return;
	if (!d->process.attached)
		kill(-d->process.pid, SIGKILL);
	kill(d->process.pid, SIGKILL);
	on_end(d);
}

void dap_leave(struct dap *d)
{
	if (d->process.attached)
		on_end(d);
	else
		dap_kill(d);
}

/* ---- the loop ---- */

/* False: it has ended. */
static bool take_output(struct dap *d, int fd, const char *category)
{
	char bytes[OUTPUT_BYTES];
	ssize_t n = read(fd, bytes, sizeof(bytes));

	if (n > 0)
		dap_output(d, category, bytes, (size_t)n);
	return n > 0 || (n < 0 && errno == EINTR);
}

static bool take_link_frame(struct dap *d)
{
	static const char kinds[] = {LINK_HELLO, LINK_OUTPUT,      LINK_STATE, LINK_DONE,
				     LINK_JSON,  LINK_COMPLETIONS, LINK_RUNS,  0};
	struct link_frame f = {0};
	struct text why = {0};
	bool open = link_receive(d->process.link, kinds, &f, &why);

	if (open)
		on_frame(d, &f);
	else if (why.len)
		dap_output(d, "important", why.at, why.len);
	link_frame_fini(&f);
	text_fini(&why);
	return open;
}

static void dap_close(int *fd)
{
	close(*fd);
	*fd = -1;
}

static void serve_program(struct dap *d, const struct pollfd *p)
{
	if (p[1].revents && d->process.out >= 0 && !take_output(d, d->process.out, "stdout"))
		dap_close(&d->process.out);
	if (p[2].revents && d->process.err >= 0 && !take_output(d, d->process.err, "stderr"))
		dap_close(&d->process.err);
	if (p[0].revents && d->process.link >= 0 && !take_link_frame(d) && d->process.link >= 0)
		dap_close(&d->process.link);
	/* What it has printed comes before its end. */
	if (d->process.pid > 0 && d->process.link < 0 && d->process.out < 0 && d->process.err < 0)
		on_end(d);
}

static void serve_editor(struct dap *d, struct text *why)
{
	cJSON *m;

	while (!d->is_leaving && (m = dap_wire_next(&d->wire, why)))
		dap_handle(d, m);
	put_next(d);
}

static void fini(struct dap *d)
{
	d->is_restarting = true; /* the end is not reported */
	dap_leave(d);
	fail_jobs(d);
	text_fini(&d->wire.buffer);
	text_fini(&d->jump_path);
	cJSON_Delete(d->step_targets);
	cJSON_Delete(d->launch);
	cJSON_Delete(d->breakpoints);
	debugger_free(d->local);
}

int dap_serve(int in, int out, dap_start *start)
{
	struct dap d = {.wire = {.in = in, .out = out},
			.start = start,
			.lines_at_1 = true,
			.columns_at_1 = true,
			.process = {.link = -1, .out = -1, .err = -1},
			.filters = {true, true, true}};
	struct text why = {0};
	int status;

	d.last = &d.first;
	d.local = debugger_new();
	while (!d.is_leaving && !d.wire.ended && !d.wire.broken) {
		struct pollfd p[] = {{d.process.link, POLLIN, 0},
				     {d.process.out, POLLIN, 0},
				     {d.process.err, POLLIN, 0},
				     {in, POLLIN, 0}};

		if (poll(p, ARRAY_LEN(p), patience(&d)) <= 0)
			continue;
		serve_program(&d, p);
		if (p[3].revents)
			dap_wire_fill(&d.wire);
		serve_editor(&d, &why);
	}
	if (!d.is_leaving)
		dap_wire_check_end(&d.wire, &why);
	if (why.len)
		fprintf(stderr, "ptxloom dap: %s\n", why.at);
	status = why.len ? 2 : 0;
	text_fini(&why);
	fini(&d);
	return status;
}
