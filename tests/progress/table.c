/*
 * Every program of programs.h in every mode of modes.def, in several shapes: each cell is a test. A
 * cell that does not end in time has failed; its process is ended and the next cell goes on in
 * another one.
 *
 *     table [-v] [-t MS] [MODE [PROGRAM]]
 *
 * A new program or a new mode is one row. -v prints how long each cell took, -t is how much
 * one may take of the host's time.
 */
#include "src/tier/tier.h"
#include "src/base/leave.h"
#include "tests/check.h"
#include "tests/skip.h"

#include "src/api/api_int.h"
#include "src/watch/counters.h"
#include "tests/progress/programs.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static bool verbose;
/*
 * The host's time that a cell may take; and longest on a busy machine, where it gets little of
 * that.
 */
static u64 cell_ms = 60000;
#define WAIT_MS 300000u

/* ---- the tables ---- */

/*
 * Ways of running that a program comes to by its shape and its branches: one that some modes leave
 * out.
 */
enum without { NOTHING, DIVERGED, ORDERED };

struct shape {
	u32 ctas, block;
};

struct mode {
	const char *name, *device;
	unsigned workers;
	u64 seed;
	bool observed;
	enum without without;
	const char *environment;
};

/* Those that take longest show nothing more to a sanitizer, which makes them ten times as long. */
static const struct shape shapes[] = {
	{1, 33}, {7, 96},
#ifndef __SANITIZE_ADDRESS__
	{4, 64}, {1, 32}, {1, 64}, {1, 256}, {16, 128}, {2, 512},
#endif
};

static const struct mode modes[] = {
#define MODE(...) {__VA_ARGS__},
#include "tests/progress/modes.def"
#undef MODE
};

#define SHAPES (u32) ARRAY_LEN(shapes)
#define CELLS ((u32)ARRAY_LEN(programs) * SHAPES)

/* ---- one cell, in the process of its mode ---- */

struct result {
	u32 cell, ms;
	bool skipped, ok;
	char why[2000];
};

struct session {
	const struct mode *mode;
	struct ptxloom_device *dev;
	struct ptxloom_module *mod;
	const struct program_row *loaded; /* whose file it is */
	struct exec_ops ops, counted;
	struct watch_counters counters;
	int64_t generation;
};

static u64 now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (u64)t.tv_sec * 1000 + (u64)t.tv_nsec / 1000000;
}

static void set_environment(const char *list)
{
	char copy[256];

	snprintf(copy, sizeof(copy), "%s", list);
	for (char *s = strtok(copy, " "); s; s = strtok(NULL, " ")) {
		char *value = strchr(s, '=');

		*value++ = 0;
		setenv(s, value, 1);
	}
}

static struct ptxloom_module *module_of(struct session *s, const struct program_row *p)
{
	if (s->loaded && !strcmp(s->loaded->file, p->file) && !strcmp(s->loaded->folder, p->folder))
		return s->mod;
	if (s->loaded)
		ptxloom_module_unload(s->mod);
	s->mod = program_load(s->dev, p, s->generation);
	s->loaded = s->mod ? p : NULL;
	return s->mod;
}

/*
 * The device's handlers, but warps whose lanes part leave their gang, and ORDERED: without its
 * short cut.
 */
static void leave_out(struct session *s)
{
	struct device *d = &s->dev->dev;

	s->ops = *d->ops;
	s->counted = *d->ops->counted;
	for (u32 i = 0; i < 2; i++) {
		struct exec_ops *o = i ? &s->counted : &s->ops;

		o->diverged = NULL;
		if (s->mode->without == ORDERED)
			o->mode[MODE_ORDERED] = o->mode[MODE_MASKED];
	}
	s->ops.counted = &s->counted;
	d->ops = &s->ops;
}

static bool open_session(struct session *s)
{
	struct ptxloom_options o = {.size = sizeof(o),
				    .device = s->mode->device,
				    .workers = s->mode->workers,
				    .seed = s->mode->seed};

	set_environment(s->mode->environment);
	if (ptxloom_device_open(&o, &s->dev) ||
	    ptxloom_device_number(s->dev, "cc_major", &s->generation))
		return false;
	watch_counters_init(&s->counters);
	if (s->mode->observed)
		s->dev->dev.observer = &s->counters.observer;
	if (s->mode->without)
		leave_out(s);
	return true;
}

/* What a launch left, against what it has to. */
static void judge(struct session *s, struct result *r, const u32 *m, int status, u32 want)
{
	struct ptxloom_fault f = {0};

	if (status) {
		ptxloom_last_fault(s->dev, &f);
		snprintf(r->why, sizeof(r->why), "status %d: %.1900s", status, f.message);
	} else if (m[0] != want || m[1]) {
		snprintf(r->why, sizeof(r->why), "%u instead of %u, %u errors", m[0], want, m[1]);
	} else {
		r->ok = true;
	}
}

/* It cannot end: the launch has to say so. */
static void judge_deadlock(struct session *s, struct result *r, int status)
{
	struct ptxloom_fault f = {0};

	ptxloom_last_fault(s->dev, &f);
	r->ok = status == PTXLOOM_LAUNCH_TIMEOUT && !strcmp(f.kind, "Deadlock");
	if (!r->ok)
		snprintf(r->why, sizeof(r->why), "status %d, %s, not the report of a deadlock",
			 status, f.kind);
}

/* One thread runs everything, and what spins takes long. */
static bool is_steered(const struct mode *m)
{
	return !strncmp(m->environment, "PTXLOOM_WEAK=", 13) ||
	       !strncmp(m->environment, "PTXLOOM_SCHEDULE=", 17);
}

/* Launches that end by a report take their time: in two shapes, or one. */
static bool ends_by_report(const struct session *s, const struct program_row *p)
{
	return p->needs == STUCK || (p->needs == LANES && s->generation < 7);
}

static bool is_skipped(const struct session *s, const struct program_row *p, const struct shape *x)
{
	if (is_steered(s->mode) && x->block != 33 && x->ctas != 4)
		return true;
	/* Who knows what of whom is kept by thread, and grows when thousands hand on a lock. */
	if (strstr(s->mode->environment, "CHECK=race") && x->ctas * x->block >= 1024)
		return true;
	if (ends_by_report(s, p))
		return x->ctas != 4 && (p->needs == STUCK || x->block != 33);
	return (p->needs == SM70 && s->generation < 7) || (p->needs == SM80 && s->generation < 8);
}

static void run_cell(struct session *s, struct result *r)
{
	const struct program_row *p = &programs[r->cell / SHAPES];
	const struct shape *x = &shapes[r->cell % SHAPES];
	struct ptxloom_config c = {.grid = {x->ctas}, .block = {x->block}};
	struct ptxloom_module *mod;
	struct ptxloom_kernel *k;
	u32 rounds = PROGRAM_ROUNDS, *m;
	int status;

	if (is_skipped(s, p, x)) {
		r->ok = r->skipped = true;
		return;
	}
	mod = module_of(s, p);
	k = mod ? ptxloom_module_kernel(mod, p->kernel) : NULL;
	m = ptxloom_alloc(s->dev, PROGRAM_WORDS * sizeof(*m));
	if (k && m) {
		status = ptxloom_launch(k, &c, (void *[]){&m, &rounds});
		if (ends_by_report(s, p))
			judge_deadlock(s, r, status);
		else
			judge(s, r, m, status, p->leaves(x->ctas, x->block, rounds));
	} else {
		snprintf(r->why, sizeof(r->why), "the program does not load");
	}
	ptxloom_free(s->dev, m);
}

/* Cells from `first` on; results go through a pipe. */
static void run_mode(const struct mode *mode, const char *only, u32 first, int to)
{
	struct session s = {.mode = mode};
	bool ok = open_session(&s);

	for (u32 cell = first; cell < CELLS; cell++) {
		struct result r = {.cell = cell};
		u64 start = now_ms();

		if (only && strcmp(only, programs[cell / SHAPES].kernel))
			continue;
		if (ok)
			run_cell(&s, &r);
		else
			snprintf(r.why, sizeof(r.why), "the device does not open");
		r.ms = (u32)(now_ms() - start);
		if (write(to, &r, sizeof(r)) != sizeof(r))
			leave(1);
	}
	ptxloom_device_close(s.dev);
}

/* ---- the processes ---- */

static void report(const struct mode *mode, const struct result *r)
{
	const struct shape *x = &shapes[r->cell % SHAPES];
	char what[160];

	if (r->skipped)
		return;
	snprintf(what, sizeof(what), "%s: %s, %ux%u", mode->name, programs[r->cell / SHAPES].kernel,
		 x->ctas, x->block);
	CHECK_MSG(r->ok, what);
	if (!r->ok)
		printf("# %s\n", r->why);
	if (verbose)
		printf("# %u ms\n", r->ms);
	fflush(stdout);
}

/* Time of the host's cores that a process has had. */
static u64 used_ms(pid_t pid)
{
	struct timespec t = {0};
	clockid_t clock;

	if (!clock_getcpuclockid(pid, &clock))
		clock_gettime(clock, &t);
	return (u64)t.tv_sec * 1000 + (u64)t.tv_nsec / 1000000;
}

/* The next result. False: the process has come to its end, or has to be ended. */
static bool next_result(pid_t pid, int from, struct result *r, bool *late)
{
	struct pollfd fd = {.fd = from, .events = POLLIN};
	u64 used = used_ms(pid), since = now_ms();

	while (!poll(&fd, 1, 500)) {
		*late = used_ms(pid) - used > cell_ms || now_ms() - since > WAIT_MS;
		if (*late)
			return false;
	}
	return read(from, r, sizeof(*r)) == sizeof(*r);
}

/* Returns the cell to go on with, CELLS when all are done. */
static u32 watch_process(const struct mode *mode, const char *only, u32 first)
{
	int ends[2], status;
	struct result r;
	bool late = false;
	pid_t pid;

	if (pipe(ends))
		return CELLS;
	fflush(stdout);
	pid = fork();
	if (!pid) {
		close(ends[0]);
		run_mode(mode, only, first, ends[1]);
		leave(0);
	}
	close(ends[1]);
	while (next_result(pid, ends[0], &r, &late)) {
		report(mode, &r);
		first = r.cell + 1;
	}
	close(ends[0]);
	if (late)
		kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	if (!late && status == 0)
		return CELLS;
	while (only && first < CELLS && strcmp(only, programs[first / SHAPES].kernel))
		first++;
	r = (struct result){.cell = first};
	snprintf(r.why, sizeof(r.why), late ? "does not end" : "the process has died");
	if (first < CELLS)
		report(mode, &r);
	return first + 1;
}

static bool is_level_of_host(const struct mode *m)
{
	const char *level = strstr(m->environment, "PTXLOOM_HOST_ISA=");

	return !level || exec_ops_select(strchr(level, '=') + 1);
}

int main(int argc, char **argv)
{
	const char *mode, *only;

	for (int option; (option = getopt(argc, argv, "vt:")) != -1;) {
		verbose |= option == 'v';
		cell_ms = option == 't' ? (u64)atoi(optarg) : cell_ms;
	}
	mode = optind < argc ? argv[optind] : NULL;
	only = optind + 1 < argc ? argv[optind + 1] : NULL;

	for (size_t i = 0; i < ARRAY_LEN(modes); i++) {
		u32 cell = 0;

		if (mode && *mode && strcmp(mode, modes[i].name))
			continue;
		if (!is_level_of_host(&modes[i])) {
			check_skip(modes[i].name, "the processor has no such level");
			continue;
		}
		if (strstr(modes[i].environment, "PTXLOOM_TIER=2") &&
		    !(tier_available() &&
		      tier_has_level(exec_ops_select(getenv("PTXLOOM_HOST_ISA"))))) {
			check_skip(modes[i].name, "no LLVM, or not for this level of the host");
			continue;
		}
		while (cell < CELLS)
			cell = watch_process(&modes[i], only, cell);
	}
	return check_done();
}
