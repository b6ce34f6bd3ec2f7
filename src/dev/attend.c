/*
 * The line about long launches: kernel, CTAs that have ended of all, how long that will still take.
 */
#include "src/base/clock.h"
#include "src/dev/attend.h"

#include "src/base/demangle.h"
#include "src/base/setting.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* Launches that end before have no line. */
#define QUIET_NS 2000000000u
#define COLUMNS 80
#define NS_PER_S 1000000000u

bool attend_wants(u64 when)
{
	const char *term = getenv("TERM");

	if (when & SETTING_SECONDS)
		return when != SETTING_SECONDS;
	if (when != ATTEND_AUTO)
		return when == ATTEND_ALWAYS;
	return isatty(STDERR_FILENO) && tcgetpgrp(STDERR_FILENO) == getpgrp() &&
	       (!term || strcmp(term, "dumb") != 0);
}

void attend_put(const struct text *t)
{
	if (t->at && write(STDERR_FILENO, t->at, t->len) < 0)
		return;
}

static void wipe_locked(struct attend_line *l)
{
	struct text t = {0};

	if (!l->is_shown)
		return;
	__atomic_store_n(&l->is_shown, false, __ATOMIC_RELAXED);
	text_puts(&t, "\r\033[K");
	attend_put(&t);
	text_fini(&t);
}

void attend_wipe(struct attend_line *l)
{
	if (!__atomic_load_n(&l->is_shown, __ATOMIC_RELAXED))
		return;
	pthread_mutex_lock(&l->lock);
	wipe_locked(l);
	pthread_mutex_unlock(&l->lock);
}

static void attend_end(void *line)
{
	attend_wipe(line);
}

void attend_tell(struct attend_line *l, struct sched_pool *p)
{
	struct text t = {0};

	attend_wipe(l);
	if (sched_census(p))
		return;
	text_puts(&t, "ptxloom: no kernel is running\n");
	attend_put(&t);
	text_fini(&t);
}

void attend_init(struct attend_line *l, u64 when)
{
	*l = (struct attend_line){
		.period_ns = when & SETTING_SECONDS ? (when & ~SETTING_SECONDS) * NS_PER_S : 0};
	l->due_ns = clock_ns() + l->period_ns;
	pthread_mutex_init(&l->lock, NULL);
}

void attend_follow(struct attend_line *l, struct sched_pool *p)
{
	sched_on_end(p, attend_end, l);
}

static void add_duration(struct text *t, u64 s)
{
	if (s >= 3600)
		text_printf(t, "%llu h %llu min", (unsigned long long)(s / 3600),
			    (unsigned long long)(s / 60 % 60));
	else if (s >= 60)
		text_printf(t, "%llu min %llu s", (unsigned long long)(s / 60),
			    (unsigned long long)(s % 60));
	else
		text_printf(t, "%llu s", (unsigned long long)s);
}

/* It says how long the launch runs if that is asked for, or all that is known. */
static void add_state(struct text *t, const struct sched_progress *x, bool says_time)
{
	u64 s = x->elapsed_ns / NS_PER_S;

	text_printf(t, ": %llu of %llu CTAs", (unsigned long long)x->done,
		    (unsigned long long)x->total);
	if (x->done) {
		text_printf(t, ", %u %%, ", (u32)((f64)x->done / (f64)x->total * 100));
		if (says_time) {
			text_puts(t, "for ");
			add_duration(t, s);
			text_puts(t, ", ");
		}
		add_duration(t, (u64)((f64)s * (f64)(x->total - x->done) / (f64)x->done));
		text_puts(t, " left");
	} else {
		text_puts(t, ", for ");
		add_duration(t, s);
	}
}

static size_t columns(void)
{
	struct winsize w;

	return !ioctl(STDERR_FILENO, TIOCGWINSZ, &w) && w.ws_col > 40 ? w.ws_col : COLUMNS;
}

/* One line of the terminal: the name gives way. */
static void show(const struct sched_progress *x)
{
	struct text line = {0}, state = {0}, name = {0};
	size_t room;

	add_state(&state, x, false);
	demangle(x->kernel, &name);
	room = columns() - 1 - strlen("ptxloom: ");
	room = state.len < room ? room - state.len : 0;
	text_puts(&line, "\r\033[Kptxloom: ");
	if (name.len > room && room > 3)
		text_printf(&line, "%.*s...", (int)room - 3, name.at);
	else if (name.len)
		text_puts(&line, name.at);
	if (state.len)
		text_puts(&line, state.at);
	attend_put(&line);
	text_fini(&line);
	text_fini(&state);
	text_fini(&name);
}

/* A line that stays. */
static void attend_write_line(const struct sched_progress *x)
{
	struct text t = {0};

	text_printf(&t, "ptxloom: progress: launch %llu, ", (unsigned long long)x->serial);
	demangle(x->kernel, &t);
	add_state(&t, x, true);
	text_puts(&t, "\n");
	attend_put(&t);
	text_fini(&t);
}

static void write_if_due(struct attend_line *l, struct sched_pool *p)
{
	struct sched_progress x;
	u64 now = clock_ns();

	if (now < l->due_ns || !sched_progress(p, &x))
		return;
	attend_write_line(&x);
	l->due_ns = now + l->period_ns;
}

void attend_tick(struct attend_line *l, struct sched_pool *p)
{
	struct sched_progress x;
	bool was_shown;

	if (l->period_ns) {
		write_if_due(l, p);
		return;
	}
	/* A launch that ends now waits with its end until the line is there to be wiped off. */
	pthread_mutex_lock(&l->lock);
	was_shown = l->is_shown;
	__atomic_store_n(&l->is_shown, true, __ATOMIC_RELAXED);
	if (sched_progress(p, &x) && x.elapsed_ns >= QUIET_NS)
		show(&x);
	else if (was_shown)
		wipe_locked(l);
	else
		__atomic_store_n(&l->is_shown, false, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&l->lock);
}
