/*
 * The C API: what the process has done, for PTXLOOM_REPORT. Devices come and go, a process is one
 * record, which its end writes.
 */
#include "src/api/api_int.h"
#include "src/check/record.h"

#include <pthread.h>
#include <unistd.h>

static struct {
	pthread_mutex_t lock;
	struct record_process sum; /* without names */
	struct text devices;
	u32 which; /* enum check, as a mask */
	pid_t of;  /* the process; 0: nothing was closed yet */
} the_record = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* A word of a list with commas, once. */
static void add_word_once(struct text *list, const char *word)
{
	size_t n = strlen(word);

	for (const char *s = list->at; s && *s; s += strcspn(s, ","), s += *s == ',')
		if (strcspn(s, ",") == n && !memcmp(s, word, n))
			return;
	text_printf(list, "%s%s", list->len ? "," : "", word);
}

void api_record_close(const struct ptxloom_device *dev)
{
	if (!record_is_on())
		return;
	pthread_mutex_lock(&the_record.lock);
	/* What a process did before it forked is in its own record. */
	if (the_record.of != getpid()) {
		text_fini(&the_record.devices);
		the_record.devices = (struct text){0};
		the_record.sum = (struct record_process){0};
		the_record.which = 0;
		the_record.of = getpid();
	}
	the_record.sum.launches += dev->dev.grids;
	the_record.which |= dev->which;
	if (dev->which)
		record_count(&the_record.sum, &dev->findings);
	add_word_once(&the_record.devices, dev->profiles.at[0]->name);
	pthread_mutex_unlock(&the_record.lock);
}

__attribute__((destructor)) static void record_api_process(void)
{
	struct record_process p = the_record.sum;
	struct text checks = {0};

	if (the_record.of != getpid())
		return;
	checks_say(the_record.which, &checks);
	p.devices = the_record.devices.at;
	p.checks = checks.at;
	record_process(&p);
	text_fini(&the_record.devices);
	text_fini(&checks);
}
