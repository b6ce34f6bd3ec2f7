/*
 * Rules of fault injection: reading them, deciding which acts, saying so, and what acts on calls.
 */
#include "runtime/inject.h"

#include "src/base/demangle.h"
#include "src/base/setting.h"
#include "src/check/record.h"
#include "src/dev/status.h"

#include <fnmatch.h>
#include <stdio.h>
#include <time.h>

/* ---- the rules of the process ---- */

static struct {
	pthread_once_t once;
	struct inject inject;
	bool has_rules, is_wrong;
	u32 threads; /* that have made calls; atomic */
} state = {.once = PTHREAD_ONCE_INIT, .inject.lock = PTHREAD_MUTEX_INITIALIZER};

static void read_rules(void)
{
	const char *value = setting_text(SETTING_INJECT);
	struct diag d;

	if (!value)
		return;
	diag_init(&d, diag_print, stderr);
	state.has_rules = inject_rules_read(&state.inject.rules, value, "PTXLOOM_INJECT", &d);
	state.is_wrong = !state.has_rules;
	state.inject.is_dry = setting_number(SETTING_INJECT_DRY_RUN, 0);
	diag_fini(&d);
	demangle_prepare();
}

struct inject *inject_get(void)
{
	pthread_once(&state.once, read_rules);
	return state.has_rules ? &state.inject : NULL;
}

bool inject_is_ready(void)
{
	return inject_get() || !state.is_wrong;
}

static _Thread_local u32 thread_number;
static _Thread_local u64 thread_calls;

u32 inject_thread(void)
{
	if (!thread_number)
		thread_number = __atomic_add_fetch(&state.threads, 1, __ATOMIC_RELAXED);
	return thread_number;
}

/* ---- which rule acts ---- */

static bool is_within(const struct inject_range *range, u64 x)
{
	return x >= range->lo && x <= range->hi;
}

/* By its name in the PTX, demangled, or demangled without parameters. */
static bool is_kernel_of(const char *pattern, const char *kernel)
{
	struct text t = {0};
	bool yes = !fnmatch(pattern, kernel, 0);

	if (yes)
		return true;
	demangle(kernel, &t);
	yes = t.at && !fnmatch(pattern, t.at, 0);
	if (!yes && t.at && strchr(t.at, '(')) {
		*strchr(t.at, '(') = '\0';
		yes = !fnmatch(pattern, t.at, 0);
	}
	text_fini(&t);
	return yes;
}

static bool is_about(const struct inject_rule *r, const struct inject_event *e)
{
	if (r->call ? !e->call : !e->kernel)
		return false;
	if (r->when & WHEN_DEVICE && e->device != r->device)
		return false;
	if (r->when & WHEN_BYTES && !(e->has_bytes && is_within(&r->bytes, e->bytes)))
		return false;
	if (r->when & WHEN_DIR && e->dir != r->dir)
		return false;
	return r->call ? inject_is_call(r->call, e->call)
		       : !r->kernel || is_kernel_of(r->kernel, e->kernel);
}

/*
 * Drawn by function, thread and number: the same in each run of a program whose threads do the
 * same.
 */
static bool is_drawn(const struct inject_rule *r, const struct inject_event *e)
{
	const char *name = e->call ? e->call : e->kernel;
	u64 x[4] = {r->seed, hash_bytes(name, strlen(name)), e->thread, e->number};
	double part = (double)(hash_bytes(x, sizeof(x)) >> 11) / (double)((u64)1 << 53);

	return part < r->prob;
}

bool inject_acts(struct inject_rule *r, const struct inject_event *e)
{
	u64 number;

	if (!is_about(r, e))
		return false;
	number = __atomic_add_fetch(&r->fits, 1, __ATOMIC_RELAXED);
	if (r->when & WHEN_NTH && !is_within(&r->nth, number))
		return false;
	if (r->when & WHEN_LAUNCH && !is_within(&r->launch, number))
		return false;
	return !(r->when & WHEN_PROB) || is_drawn(r, e);
}

void inject_say(const struct inject *j, struct inject_rule *r, struct text *t)
{
	__atomic_add_fetch(&r->acts, 1, __ATOMIC_RELAXED);
	text_printf(t, "ptxloom: inject: %s:%u: %s: ", j->rules.name, r->line, r->text);
}

void inject_put(struct text *t)
{
	text_puts(t, state.inject.is_dry ? ", in a dry run\n" : "\n");
	if (t->at)
		fputs(t->at, stderr);
	if (t->at)
		record_inject(t->at);
	text_fini(t);
}

/* ---- what calls are about ---- */

static const struct entry_argument *call_argument(const struct entry_argument *a, const char *name)
{
	for (; a->name; a++)
		if (!strcmp(a->name, name))
			return a;
	return NULL;
}

static bool argument_number(const struct entry_argument *a, const char *name, u64 *out)
{
	const struct entry_argument *x = call_argument(a, name);

	*out = 0;
	if (!x || x->bytes > sizeof(*out))
		return false;
	memcpy(out, x->at, x->bytes);
	return true;
}

/* What is allocated, copied or filled. */
static void find_bytes(const struct entry_argument *a, struct inject_event *e)
{
	static const char *const names[] = {"size", "bytes", "count"};
	const struct entry_argument *extent = call_argument(a, "e");
	u64 side[3];

	for (size_t i = 0; i < ARRAY_LEN(names) && !e->has_bytes; i++)
		e->has_bytes = argument_number(a, names[i], &e->bytes);
	if (e->has_bytes)
		return;
	if (argument_number(a, "width", &side[0]) && argument_number(a, "height", &side[1])) {
		e->has_bytes = !__builtin_mul_overflow(side[0], side[1], &e->bytes);
	} else if (extent && extent->bytes == sizeof(side)) {
		memcpy(side, extent->at, sizeof(side));
		e->has_bytes = !__builtin_mul_overflow(side[0], side[1], &e->bytes) &&
			       !__builtin_mul_overflow(e->bytes, side[2] ? side[2] : 1, &e->bytes);
	}
}

static bool is_on_device(u64 p)
{
	struct memory_info info;

	return memory_find(&rt_get()->memory, p, &info) && memory_type_of(&info) == 2;
}

static enum inject_dir find_dir(const char *name, const struct entry_argument *a)
{
	static const struct {
		const char *part;
		enum inject_dir dir;
	} parts[] = {{"HtoD", DIR_H2D}, {"HtoA", DIR_H2D}, {"DtoH", DIR_D2H}, {"AtoH", DIR_D2H},
		     {"DtoD", DIR_D2D}, {"AtoD", DIR_D2D}, {"DtoA", DIR_D2D}, {"AtoA", DIR_D2D}};
	u64 kind, dst, src;

	for (size_t i = 0; i < ARRAY_LEN(parts); i++)
		if (strstr(name, parts[i].part))
			return parts[i].dir;
	/* cudaMemcpyHostToHost .. DeviceToDevice, by their numbers; 4: by the addresses. */
	if (argument_number(a, "kind", &kind) && kind < DIR_UNKNOWN)
		return (enum inject_dir)kind;
	if (!argument_number(a, "dst", &dst) || !argument_number(a, "src", &src))
		return DIR_UNKNOWN;
	return is_on_device(dst)   ? is_on_device(src) ? DIR_D2D : DIR_H2D
	       : is_on_device(src) ? DIR_D2H
				   : DIR_H2H;
}

/* ---- acts ---- */

static void nap(u64 ns)
{
	struct timespec t = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};

	while (nanosleep(&t, &t))
		;
}

static enum status nap_in_stream(void *data, enum status so_far)
{
	u64 ns;

	memcpy(&ns, data, sizeof(ns));
	nap(ns);
	return so_far;
}

/* What the call puts into a stream begins later; other calls take longer. */
static void delay(const char *name, const struct entry_argument *a, u64 ns)
{
	const struct entry_argument *x = call_argument(a, "stream");
	struct stream *s = NULL;
	void *handle;
	int status;

	if (x && x->bytes == sizeof(handle) && strstr(name, "Async")) {
		memcpy(&handle, x->at, sizeof(handle));
		s = rt_stream(handle, strstr(name, "_ptsz") != NULL, &status);
	}
	if (!s || stream_is_capturing(s) ||
	    stream_call(s, nap_in_stream, &ns, sizeof(ns), STREAM_HOST) != STATUS_SUCCESS)
		nap(ns);
}

static u64 time_of(const struct inject_rule *r, const struct inject_event *e)
{
	return r->act == INJECT_DELAY ? r->ns : (u64)((double)e->bytes / (double)r->rate * 1e9);
}

static const char *bare_name(const char *name)
{
	return strncmp(name, "__", 2) ? name : name + 2;
}

static int act_on_call(struct inject *j, struct inject_rule *r, const struct inject_event *e,
		       const struct entry_argument *a)
{
	u64 number = __atomic_load_n(&r->fits, __ATOMIC_RELAXED), ns;
	struct text t = {0};

	inject_say(j, r, &t);
	text_printf(&t, "%s, call %llu of these, thread %u: ", bare_name(e->call),
		    (unsigned long long)number, e->thread);
	switch ((enum inject_act)r->act) {
	case INJECT_DELAY:
	case INJECT_RATE:
		ns = time_of(r, e);
		text_printf(&t, "takes %.3f ms longer", (double)ns / 1e6);
		inject_put(&t);
		if (!j->is_dry)
			delay(e->call, a, ns);
		return 0;
	case INJECT_LOST:
		text_printf(&t, "device %u is lost, Xid %u: error %d (%s)", e->device, r->xid,
			    r->status, entry_status_name(e->call, r->status));
		inject_put(&t);
		if (!j->is_dry)
			rt_device_lose((int)e->device, r->status);
		break;
	default:
		text_printf(&t, "error %d (%s)", r->status, entry_status_name(e->call, r->status));
		inject_put(&t);
		break;
	}
	return j->is_dry ? 0 : r->status;
}

int inject_call(const char *name, const struct entry_argument *a)
{
	struct inject *j = inject_get();
	struct inject_event e = {.call = name, .dir = DIR_UNKNOWN, .number = ++thread_calls};
	struct inject_rule *chosen = NULL;

	if (!j || the_process.is_forked)
		return 0;
	e.thread = inject_thread();
	e.device = (u32)rt_context_device();
	for (size_t i = 0; i < j->rules.list.len; i++) {
		struct inject_rule *r = &j->rules.list.at[i];

		if (!r->call)
			continue;
		if ((r->when & WHEN_BYTES || r->act == INJECT_RATE) && !e.has_bytes)
			find_bytes(a, &e);
		if (r->when & WHEN_DIR && e.dir == DIR_UNKNOWN)
			e.dir = (u8)find_dir(name, a);
		/* Each counts what it is about, whichever acts. */
		if (inject_acts(r, &e) && !chosen)
			chosen = r;
	}
	return chosen ? act_on_call(j, chosen, &e, a) : 0;
}

/* ---- the end ---- */

void inject_forget(void)
{
	inject_results_forget();
	pthread_mutex_init(&state.inject.lock, NULL);
	state.inject.made.len = 0;
	state.threads = thread_number = 0;
	thread_calls = 0;
	for (size_t i = 0; i < state.inject.rules.list.len; i++)
		state.inject.rules.list.at[i].fits = state.inject.rules.list.at[i].acts = 0;
}

static void say_idle(const struct inject *j, const struct inject_rule *r)
{
	u64 n = __atomic_load_n(&r->fits, __ATOMIC_RELAXED);

	fprintf(stderr, "ptxloom: note: inject: %s:%u: %s: never acted; ", j->rules.name, r->line,
		r->text);
	if (n)
		fprintf(stderr, "there were %llu of these %s\n", (unsigned long long)n,
			r->call ? "calls" : "launches");
	else
		fprintf(stderr, "no %s was made that it is about\n", r->call ? "call" : "launch");
}

int inject_report_exit(void)
{
	struct inject *j = state.has_rules && !the_process.is_forked ? &state.inject : NULL;
	bool idle = false;

	for (size_t i = 0; j && i < j->rules.list.len; i++) {
		const struct inject_rule *r = &j->rules.list.at[i];

		if (__atomic_load_n(&r->acts, __ATOMIC_RELAXED))
			continue;
		say_idle(j, r);
		idle = true;
	}
	return idle && setting_number(SETTING_INJECT_STRICT, 0) ? INJECT_EXIT_IDLE : 0;
}
