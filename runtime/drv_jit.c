/*
 * Options of the just-in-time compiler: log buffers, which get our diagnostics, sizes that are
 * answered, and settings. Those of code generation have nothing to set here.
 *
 * Without an error buffer of the program's, errors go to standard error.
 */
#include "runtime/drv.h"

#include <stdio.h>
#include <time.h>

enum {
	MAX_REGISTERS,
	THREADS_PER_BLOCK,
	WALL_TIME,
	INFO_LOG,
	INFO_LOG_BYTES,
	ERROR_LOG,
	ERROR_LOG_BYTES,
	OPTIMIZATION_LEVEL,
	TARGET_FROM_CONTEXT,
	TARGET,
	LOG_VERBOSE = 12,
	LAST = 33,
};

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static void sort_message(void *user, const struct diag_message *m)
{
	struct drv_jit *j = user;

	diag_collect(m->level == DIAG_ERROR ? &j->errors : &j->infos, m);
	if (m->level == DIAG_ERROR && !j->error_log)
		diag_print(stderr, m);
}

/* Options are numbers in the place of pointers. */
static u32 number(void *const *at)
{
	u32 v;

	memcpy(&v, at, sizeof(v));
	return v;
}

static int read_option(struct drv_jit *j, int option, void **at)
{
	switch (option) {
	case WALL_TIME:
		j->wall_time = at;
		break;
	case INFO_LOG:
		j->info_log = *at;
		break;
	case INFO_LOG_BYTES:
		j->info_bytes = at;
		j->info_cap = number(at);
		break;
	case ERROR_LOG:
		j->error_log = *at;
		break;
	case ERROR_LOG_BYTES:
		j->error_bytes = at;
		j->error_cap = number(at);
		break;
	case THREADS_PER_BLOCK:
		j->threads = at;
		break;
	case LOG_VERBOSE:
		j->verbose = number(at) != 0;
		break;
	case OPTIMIZATION_LEVEL:
		return number(at) > 4 ? STATUS_INVALID_VALUE : STATUS_SUCCESS;
	default:
		return option < 0 || option > LAST ? STATUS_INVALID_VALUE : STATUS_SUCCESS;
	}
	return STATUS_SUCCESS;
}

int drv_jit_begin(struct drv_jit *j, unsigned n, const int *options, void **values)
{
	int status = n && (!options || !values) ? STATUS_INVALID_VALUE : STATUS_SUCCESS;

	*j = (struct drv_jit){.started_ms = now_ms()};
	diag_init(&j->diag, sort_message, j);
	j->diag.error_limit = 5;
	for (unsigned i = 0; i < n && !status; i++)
		status = read_option(j, options[i], &values[i]);
	if (!status && ((j->info_log && !j->info_bytes) || (j->error_log && !j->error_bytes)))
		status = STATUS_INVALID_VALUE;
	return status;
}

void drv_jit_kernels(struct drv_jit *j, struct device_program *p)
{
	struct device_kernel *k;

	for (u32 i = 0; j->verbose && (k = device_program_nth(p, i)); i++)
		text_printf(&j->infos, "ptxloom: '%s': %u parameters of %u bytes\n",
			    k->func->name->text, k->param_len, k->param_bytes);
}

/* Fill a buffer as far as it goes, always with a NUL, and answer how much of it is used. */
static void give(char *to, void **bytes, size_t cap, const struct text *t)
{
	size_t n = t->at ? t->len : 0;

	if (!bytes)
		return;
	if (!to || !cap) {
		*bytes = NULL;
		return;
	}
	n = n < cap ? n : cap - 1;
	if (n)
		memcpy(to, t->at, n);
	to[n] = 0;
	*bytes = (void *)(uintptr_t)n;
}

void drv_jit_give(struct drv_jit *j)
{
	f32 ms = (f32)(now_ms() - j->started_ms);

	give(j->info_log, j->info_bytes, j->info_cap, &j->infos);
	give(j->error_log, j->error_bytes, j->error_cap, &j->errors);
	if (j->wall_time)
		memcpy(j->wall_time, &ms, sizeof(ms));
}

void drv_jit_drop(struct drv_jit *j)
{
	text_fini(&j->infos);
	text_fini(&j->errors);
	diag_fini(&j->diag);
}

void drv_jit_end(struct drv_jit *j)
{
	drv_jit_give(j);
	drv_jit_drop(j);
}
