/*
 * Stacks of the host program: taken by the unwinder of the C library, each kept once, and turned
 * into functions and lines when a finding shows them.
 */
#include "src/dev/host_trace.h"

#include "src/base/demangle.h"
#include "src/base/file.h"
#include "src/base/map.h"
#include "src/dev/host_place.h"
#include "src/ir/source.h"

#include <execinfo.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

/* Frames of a stack, and of functions inlined into one of them. */
#define TRACE_FRAMES 64
#define INLINED_FRAMES 16

struct host_trace {
	struct host_trace *next; /* with the same hash */
	struct host_frame *frames;
	u32 frame_len, len;
	bool is_read; /* are the frames there? */
	const void *at[];
};

static struct {
	pthread_mutex_t lock;
	bool is_on;       /* atomic */
	struct map known; /* hash -> the last struct host_trace with it */
	host_line_finder *lines;
} traces = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* The mapping of this library: its own frames are not the program's. */
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char _end[] __attribute__((visibility("hidden")));

void host_trace_begin(host_line_finder *lines)
{
	void *at[2];

	/* Loads what unwinds. */
	backtrace(at, ARRAY_LEN(at));
	pthread_mutex_lock(&traces.lock);
	traces.lines = lines;
	pthread_mutex_unlock(&traces.lock);
	__atomic_store_n(&traces.is_on, true, __ATOMIC_RELEASE);
}

void host_trace_forget(void)
{
	pthread_mutex_init(&traces.lock, NULL);
	traces.is_on = false;
	traces.known = (struct map){0};
}

static bool is_own_code(const void *at)
{
	uintptr_t x = (uintptr_t)at;

	return x >= (uintptr_t)__ehdr_start && x < (uintptr_t)_end;
}

/* The lock is held. */
static struct host_trace *find_trace(u64 key, void *const *at, u32 len)
{
	u64 *slot = map_get(&traces.known, key);
	struct host_trace *first = slot ? (struct host_trace *)(uintptr_t)*slot : NULL, *x;

	for (x = first; x; x = x->next)
		if (x->len == len && !memcmp(x->at, at, len * sizeof(*at)))
			return x;
	x = calloc(1, sizeof(*x) + len * sizeof(*at));
	if (!x)
		return NULL;
	x->next = first;
	x->len = len;
	memcpy(x->at, at, len * sizeof(*at));
	if (map_set(&traces.known, key, (u64)(uintptr_t)x))
		return x;
	free(x);
	return NULL;
}

const struct host_trace *host_trace_here(const void *caller)
{
	const struct host_trace *x;
	void *at[TRACE_FRAMES], **from = at;
	int len;

	if (!__atomic_load_n(&traces.is_on, __ATOMIC_ACQUIRE))
		return NULL;
	len = backtrace(at, TRACE_FRAMES);
	for (; len > 0 && is_own_code(*from); len--)
		from++;
	if (len <= 0) {
		at[0] = (void *)(uintptr_t)caller;
		from = at;
		len = caller != NULL;
	}
	if (!len)
		return NULL;
	pthread_mutex_lock(&traces.lock);
	x = find_trace(hash_bytes(from, (size_t)len * sizeof(*from)) | 1, from, (u32)len);
	pthread_mutex_unlock(&traces.lock);
	return x;
}

/* ---- what they are ---- */

static char *demangled_name(const char *name)
{
	struct text t = {0};

	if (name)
		demangle(name, &t);
	return t.at;
}

static bool add_host_frame(struct host_trace *x, const struct host_frame *f)
{
	struct host_frame *more =
		realloc(x->frames, ((size_t)x->frame_len + 1) * sizeof(*x->frames));

	if (!more)
		return false;
	x->frames = more;
	x->frames[x->frame_len++] = *f;
	return true;
}

/* The frames of one address; is the last one main? */
static bool read_frames(struct host_trace *x, const void *at)
{
	struct host_line lines[INLINED_FRAMES];
	struct host_place place;
	struct host_frame f;
	bool found = host_place_find(at, &place);
	u32 n = found && traces.lines
			? traces.lines(place.path, place.address, lines, INLINED_FRAMES)
			: 0;

	if (n > INLINED_FRAMES)
		n = INLINED_FRAMES;
	f = (struct host_frame){.module = found ? strdup(place.path) : NULL,
				.address = found ? place.address + 1 : (u64)(uintptr_t)at,
				.offset = place.name ? place.address + 1 - place.start : 0};
	for (u32 i = 0; i < n; i++) {
		f.is_inlined = i + 1 < n;
		f.function = demangled_name(lines[i].function || f.is_inlined ? lines[i].function
									      : place.name);
		f.file = lines[i].file ? strdup(lines[i].file) : NULL;
		f.line = lines[i].line;
		add_host_frame(x, &f);
	}
	if (!n) {
		f.function = demangled_name(place.name);
		add_host_frame(x, &f);
	}
	free(place.name);
	return f.function && !strcmp(f.function, "main");
}

const struct host_frame *host_trace_frames(const struct host_trace *trace, u32 *len)
{
	struct host_trace *x = (struct host_trace *)trace; /* all are ours */

	*len = 0;
	if (!x)
		return NULL;
	pthread_mutex_lock(&traces.lock);
	for (u32 i = 0; i < x->len && !x->is_read; i++)
		x->is_read = read_frames(x, x->at[i]);
	x->is_read = true;
	*len = x->frame_len;
	pthread_mutex_unlock(&traces.lock);
	return x->frames;
}

/* Is it part of what toolkits and compilers make of a call? Without a line its name has to tell. */
static bool is_glue(const struct host_frame *f)
{
	static const char *const beginnings[] = {
		"__device_stub__", "__wrapper__", "__gnu_cxx::", "cuda::",
		"thrust::",        "cub::",       "std::"};
	const char *name = f->function, *space;

	if (f->file && ir_is_toolkit_path(f->file))
		return true;
	if (!name)
		return false;
	/* Names of templates begin with the type that they return. */
	space = strchr(name, ' ');
	if (space && space < name + strcspn(name, "(<"))
		name = space + 1;
	for (size_t i = 0; i < ARRAY_LEN(beginnings); i++)
		if (!strncmp(name, beginnings[i], strlen(beginnings[i])))
			return true;
	return !f->file && !strncmp(name, "cuda", 4) && name[4] >= 'A' && name[4] <= 'Z' &&
	       name[strcspn(name, "(<")] == '<';
}

const struct host_frame *host_trace_place(const struct host_trace *x)
{
	const struct host_frame *frames, *other = NULL;
	u32 len;

	frames = host_trace_frames(x, &len);
	for (u32 i = 0; i < len; i++) {
		if (is_glue(&frames[i]))
			continue;
		if (frames[i].file && frames[i].line)
			return &frames[i];
		if (!other && frames[i].module)
			other = &frames[i];
	}
	return other;
}

void host_from_say(struct host_from from, struct text *out)
{
	const struct host_frame *f = host_trace_place(from.trace);

	if (!f) {
		host_place_say(from.caller, out);
		return;
	}
	if (f->file) {
		demangle_short(f->function ? f->function : "?", out);
		text_printf(out, " in %s:%u", f->file, f->line);
		return;
	}
	if (f->function) {
		demangle_short(f->function, out);
		text_printf(out, "+0x%llx of ", (unsigned long long)f->offset);
	}
	text_printf(out, "%s (addr2line -fCe %s 0x%llx)", f->module, f->module,
		    (unsigned long long)f->address - 1);
}

void host_trace_say(const struct host_trace *x, u32 most, struct text *out)
{
	const struct host_frame *frames;
	u32 len;

	frames = host_trace_frames(x, &len);
	for (u32 i = 0; i < len && (!most || i < most); i++) {
		const struct host_frame *f = &frames[i];

		text_puts(out, "        Host Frame:");
		if (f->function) {
			text_puts(out, " ");
			demangle_short(f->function, out);
		}
		if (f->file)
			text_printf(out, " in %s:%u", f->file, f->line);
		text_printf(out, " [0x%llx]", (unsigned long long)f->address);
		if (f->module)
			text_printf(out, " in %s", file_base_name(f->module));
		text_puts(out, "\n");
	}
}
