/*
 * What calls do wrong: those that fail are reported in the words of memcheck, and what they make is
 * kept with its place in the program, until a call ends it or the process does.
 */
#include "runtime/check_calls.h"

#include "src/base/setting.h"
#include "src/check/init/init_memory.h"
#include "src/dev/status.h"
#include "src/dev/whereabouts.h"
#include "src/mem/marks.h"
#include "src/mem/near.h"
#include "src/profile/collect.h"

#include <stdio.h>

/* ---- what calls are ---- */

enum call_role {
	CALL_ALLOCATES = 1, /* memory, whose address its first argument points to */
	CALL_FREES,         /* memory at its first argument */
	CALL_MAKES,         /* something else, whose handle its first argument points to */
	CALL_REGISTERS,     /* the program's own memory */
	CALL_ENDS,
	CALL_TOUCHES, /* memory */
	CALL_ASKS,    /* a failure is an answer */
};

struct call_row {
	const char *prefix; /* of the function's name: all versions of it */
	enum call_role role;
	const char *what; /* made */
};

/* The first that fits counts. */
static const struct call_row call_rows[] = {
	{"cudaMallocArray", CALL_ALLOCATES, "array"},
	{"cudaMalloc3DArray", CALL_ALLOCATES, "array"},
	{"cudaMallocMipmappedArray", CALL_ALLOCATES, "mipmapped array"},
	{"cudaMalloc", CALL_ALLOCATES, "bytes"},
	{"cudaHostAlloc", CALL_ALLOCATES, "bytes"},
	{"cuMemAlloc", CALL_ALLOCATES, "bytes"},
	{"cuMemHostAlloc", CALL_ALLOCATES, "bytes"},
	{"cuArrayCreate", CALL_ALLOCATES, "array"},
	{"cuArray3DCreate", CALL_ALLOCATES, "array"},
	{"cuMipmappedArrayCreate", CALL_ALLOCATES, "mipmapped array"},
	{"cudaHostRegister", CALL_REGISTERS, "registered host memory"},
	{"cuMemHostRegister", CALL_REGISTERS, "registered host memory"},
	{"cudaHostUnregister", CALL_FREES, NULL},
	{"cuMemHostUnregister", CALL_FREES, NULL},
	{"cudaFree", CALL_FREES, NULL},
	{"cuMemFree", CALL_FREES, NULL},
	{"cuArrayDestroy", CALL_FREES, NULL},
	{"cuMipmappedArrayDestroy", CALL_FREES, NULL},
	{"cudaStreamCreate", CALL_MAKES, "stream"},
	{"cuStreamCreate", CALL_MAKES, "stream"},
	{"cudaEventCreate", CALL_MAKES, "event"},
	{"cuEventCreate", CALL_MAKES, "event"},
	{"cudaCreateTextureObject", CALL_MAKES, "texture"},
	{"cuTexObjectCreate", CALL_MAKES, "texture"},
	{"cudaCreateSurfaceObject", CALL_MAKES, "surface"},
	{"cuSurfObjectCreate", CALL_MAKES, "surface"},
	{"cudaMemPoolCreate", CALL_MAKES, "memory pool"},
	{"cuMemPoolCreate", CALL_MAKES, "memory pool"},
	{"cudaGraphCreate", CALL_MAKES, "graph"},
	{"cuGraphCreate", CALL_MAKES, "graph"},
	{"cudaGraphInstantiate", CALL_MAKES, "executable graph"},
	{"cuGraphInstantiate", CALL_MAKES, "executable graph"},
	{"cuCtxCreate", CALL_MAKES, "context"},
	{"cuModuleLoad", CALL_MAKES, "module"},
	{"cudaStreamDestroy", CALL_ENDS, NULL},
	{"cuStreamDestroy", CALL_ENDS, NULL},
	{"cudaEventDestroy", CALL_ENDS, NULL},
	{"cuEventDestroy", CALL_ENDS, NULL},
	{"cudaDestroyTextureObject", CALL_ENDS, NULL},
	{"cuTexObjectDestroy", CALL_ENDS, NULL},
	{"cudaDestroySurfaceObject", CALL_ENDS, NULL},
	{"cuSurfObjectDestroy", CALL_ENDS, NULL},
	{"cudaMemPoolDestroy", CALL_ENDS, NULL},
	{"cuMemPoolDestroy", CALL_ENDS, NULL},
	{"cudaGraphDestroy", CALL_ENDS, NULL},
	{"cuGraphDestroy", CALL_ENDS, NULL},
	{"cudaGraphExecDestroy", CALL_ENDS, NULL},
	{"cuGraphExecDestroy", CALL_ENDS, NULL},
	{"cuCtxDestroy", CALL_ENDS, NULL},
	{"cuModuleUnload", CALL_ENDS, NULL},
	{"cuMemCreate", CALL_ALLOCATES, "physical memory"},
	{"cuMemRelease", CALL_FREES, NULL},
	{"cudaMem", CALL_TOUCHES, NULL},
	{"cuMem", CALL_TOUCHES, NULL},
	{"cudaGetLastError", CALL_ASKS, NULL},
	{"cudaPeekAtLastError", CALL_ASKS, NULL},
	{"cudaGetDriverEntryPoint", CALL_ASKS, NULL},
	{"cuGetProcAddress", CALL_ASKS, NULL},
	{"cudaOccupancyMaxActiveClusters", CALL_ASKS, NULL},
	{"cuOccupancyMaxActiveClusters", CALL_ASKS, NULL},
	{"cuGetExportTable", CALL_ASKS, NULL},
	{"cuPointerGetAttribute", CALL_ASKS, NULL},
};

static const struct call_row *find_call_row(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(call_rows); i++)
		if (!strncmp(name, call_rows[i].prefix, strlen(call_rows[i].prefix)))
			return &call_rows[i];
	return NULL;
}

bool check_call_allocates(const char *name)
{
	const struct call_row *row = find_call_row(name);

	return row && row->role == CALL_ALLOCATES && !strcmp(row->what, "bytes");
}

/* ---- what they have made ---- */

static struct process_made *const made = &the_process.made;

/* The lock is held. NULL: no call has made it. */
static struct made_thing *find_made(u64 handle)
{
	const u64 *slot = map_get(&made->by_handle, handle);

	return slot ? &made->list.at[*slot - 1] : NULL;
}

static void note_made(const struct made_thing *x)
{
	struct made_thing *old;

	pthread_mutex_lock(&made->lock);
	old = find_made(x->handle);
	if (old)
		*old = *x;
	else if (VEC_PUSH(&made->list, *x))
		map_set(&made->by_handle, x->handle, made->list.len);
	pthread_mutex_unlock(&made->lock);
}

static void note_ended(u64 handle, struct host_from from)
{
	struct made_thing *x;

	pthread_mutex_lock(&made->lock);
	x = find_made(handle);
	if (x) {
		x->is_ended = true;
		x->ended_by = from;
	}
	pthread_mutex_unlock(&made->lock);
}

/* The 8 bytes of the call's first argument; 0: it has none. */
static u64 first_argument(const struct entry_argument *a)
{
	u64 x = 0;

	if (a->name && a->bytes == sizeof(x))
		memcpy(&x, a->at, sizeof(x));
	return x;
}

static void note_call(const struct call_row *row, struct host_from from,
		      const struct entry_argument *a)
{
	u64 first = first_argument(a);
	struct rt_context *c = rt_context_now();
	struct made_thing x = {.what = row->what,
			       .is_memory = row->role == CALL_ALLOCATES,
			       .made_by = from,
			       .device = c ? c->device : 0};
	struct memory_info info;

	if (!first)
		return;
	if (row->role == CALL_FREES || row->role == CALL_ENDS) {
		note_ended(first, from);
		return;
	}
	if (row->role == CALL_REGISTERS)
		x.handle = first;
	else
		memcpy(&x.handle, (const void *)(uintptr_t)first, sizeof(x.handle));
	if (!x.handle)
		return; /* nothing was asked for */
	if (x.is_memory && memory_find(&rt_get()->memory, x.handle, &info) &&
	    info.range.base == x.handle)
		x.bytes = info.range.size;
	note_made(&x);
}

/* Where the allocation that is, or was, at `base` was made and freed, if a call has made it. */
static void add_origin(u64 base, struct finding *f)
{
	struct made_thing x = {0};
	const struct made_thing *found;

	pthread_mutex_lock(&made->lock);
	found = find_made(base);
	if (found)
		x = *found;
	pthread_mutex_unlock(&made->lock);
	if (!x.is_memory)
		return;
	finding_add_host(f, "allocated", x.made_by);
	if (f->kind == FINDING_UNUSED)
		finding_add_call(f, "Allocation", x.made_by);
	else if (x.is_ended)
		finding_add_host(f, "freed", x.ended_by);
}

void check_calls_say_origin(u64 base, struct text *out)
{
	const struct made_thing *found;
	const struct host_frame *f;
	struct host_from from = {0};

	pthread_mutex_lock(&made->lock);
	found = find_made(base);
	if (found && found->is_memory)
		from = found->made_by;
	pthread_mutex_unlock(&made->lock);
	f = host_trace_place(from.trace);
	if (f && f->function)
		text_printf(out, ", %s", f->function);
	if (f && f->file)
		text_printf(out, " in %s:%u", f->file, f->line);
}

void check_calls_add_near(struct mem *m, u64 address, struct finding *f)
{
	struct mem_near near;

	if (device_near_allocation(m, address, &near))
		add_origin(near.range.base, f);
}

/* ---- calls that fail ---- */

/* Why the launch of the thread's current call is refused. */
static _Thread_local struct {
	struct text why;
	struct host_from from;
} refused;

void check_call_refused(const struct device_launch *l, int status, struct host_from from)
{
	if (!(the_process.checks & CHECK_API))
		return;
	text_fini(&refused.why);
	refused.why = (struct text){0};
	device_launch_explain(l, (enum status)status, &refused.why);
	refused.from = from;
}

/* A fault that has been reported, answered by every call. */
static bool is_aftermath(int status)
{
	struct rt_context *c = rt_context_now();

	return rt_fault_seen() && c && rt_sticky(&rt_get()->device[c->device]) == status;
}

/* What each pointer of the call is. */
static void say_pointers(const struct entry_argument *a, struct finding *f)
{
	struct rt_context *c = rt_context_now();
	struct mem *m = c ? &rt_get()->device[c->device].dev.mem : NULL;
	struct text *t = &f->text;
	struct mem_near near;
	u64 x;

	for (; m && m->arena && a->name; a++) {
		if (a->bytes != sizeof(x) ||
		    (a->kind != ENTRY_POINTER && a->kind != ENTRY_UNSIGNED))
			continue;
		memcpy(&x, a->at, sizeof(x));
		if (!(m->system ? mem_system_arena(m->system, x) : NULL))
			continue;
		text_printf(t, "    %s is ", a->name);
		device_describe_address(m, NULL, x, t);
		text_puts(t, "\n");
		mem_nearest(m, x, &near);
		add_origin(near.range.base, f);
	}
}

static void report_call(const struct call_row *row, const char *name, int status,
			struct host_from from, const struct entry_argument *a)
{
	const struct status_info *s = status_info(status);
	bool touches = row && (row->role == CALL_TOUCHES || row->role == CALL_FREES);
	bool is_mem = touches && (the_process.checks & CHECK_MEM);
	struct finding f;

	/* nvcc's own name of it. */
	if (!strncmp(name, "__cuda", 6))
		name += 2;

	finding_init(&f, is_mem ? FINDING_INVALID_CALL : FINDING_API_ERROR);
	text_printf(&f.text, "Program hit %s (error %d) due to \"%s\" on CUDA API call to %s.\n",
		    entry_status_name(name, status), status, s ? s->text : "unknown error", name);
	if (refused.why.at) {
		text_printf(&f.text, "    %s\n", refused.why.at);
		from = refused.from.trace || refused.from.caller ? refused.from : from;
	}
	finding_add_host(&f, "called", from);
	entry_say_call(name, a, &f.text);
	text_puts(&f.text, "\n");
	if (touches)
		say_pointers(a, &f);
	finding_add_call(&f, name, from);
	findings_add(&the_process.findings, &f);
}

static bool is_reported(const struct call_row *row, int status)
{
	if (status == STATUS_SUCCESS || status == STATUS_NOT_READY || is_aftermath(status))
		return false;
	if (the_process.checks & CHECK_API)
		return !row || row->role != CALL_ASKS;
	return the_process.checks & CHECK_MEM && row &&
	       (row->role == CALL_TOUCHES || row->role == CALL_FREES);
}

void check_call(const char *name, int status, const void *caller, const struct entry_argument *a)
{
	const struct call_row *row;
	struct host_from from = {.caller = caller};
	bool is_noted, is_wrong;

	/* The first call of all may fail before anything is set up. */
	if (status != STATUS_SUCCESS && !the_process.checks)
		rt_get();
	if (the_process.is_forked || (!(the_process.checks & CHECKS_OF_CALLS) &&
				      !profile_has_variables(the_process.profile)))
		return;
	row = find_call_row(name);
	is_noted = row && status == STATUS_SUCCESS && row->role <= CALL_ENDS;
	is_wrong = is_reported(row, status);
	if (is_noted || is_wrong)
		from.trace = host_trace_here(caller);
	if (is_noted)
		note_call(row, from, a);
	if (is_wrong)
		report_call(row, name, status, from, a);
	if (the_process.checks & CHECK_INIT && row && row->role == CALL_FREES)
		init_memory_unused(NULL, false);
	text_fini(&refused.why);
	refused.why = (struct text){0};
}

/* ---- copies and fills that run later ---- */

static void say_copy_address(struct mem *m, const struct copy_fault *x, struct text *t)
{
	if (x->array) {
		text_puts(t, "in an array that is freed");
		return;
	}
	text_printf(t, "at 0x%llx, which is ", (unsigned long long)x->address);
	device_describe_address(m, NULL, x->address, t);
}

void check_copy(const struct device *d, const struct copy_fault *x)
{
	struct mem *m = (struct mem *)(uintptr_t)&d->mem;
	const char *what = x->write ? "write" : "read";
	struct finding f;
	struct text t = {0};

	say_copy_address(m, x, &t);
	if (!the_process.checks) {
		fprintf(stderr, "ptxloom: error: illegal address: %s of %llu bytes by %s, %s\n",
			what, (unsigned long long)x->bytes, x->what, t.at ? t.at : "");
		text_fini(&t);
		return;
	}
	finding_init(&f, FINDING_INVALID_ACCESS);
	text_printf(&f.text,
		    "Invalid __global__ %s of size %llu bytes by %s\n"
		    "    It is %s\n",
		    what, (unsigned long long)x->bytes, x->what, t.at ? t.at : "");
	text_fini(&t);
	f.has_address = !x->array;
	f.address = x->address;
	f.mem = f.has_address ? m : NULL;
	finding_add_host(&f, "called", x->issued);
	finding_add_call(&f, x->what, x->issued);
	findings_add(&the_process.findings, &f);
}

/* ---- what is left ---- */

static void report_leak(const struct made_thing *x)
{
	struct finding f;

	finding_init(&f, FINDING_LEAK);
	if (x->bytes) {
		text_printf(&f.text, "Leaked %llu bytes at 0x%llx", (unsigned long long)x->bytes,
			    (unsigned long long)x->handle);
		mem_mark_say((u64)x->handle, &f.text);
		text_puts(&f.text, "\n");
	} else
		text_printf(&f.text, "Leaked %s 0x%llx\n", x->what, (unsigned long long)x->handle);
	finding_add_host(&f, x->is_memory ? "allocated" : "made", x->made_by);
	finding_add_call(&f, x->is_memory ? "Allocation" : "Creation", x->made_by);
	findings_add(&the_process.findings, &f);
	made->leaks++;
	made->leaked += x->bytes;
}

void made_leak(u64 bytes)
{
	made->leaks++;
	made->leaked += bytes;
}

/* What has not been freed on a device that has faulted could not be. */
static bool is_leak(const struct made_thing *x, int device)
{
	const struct rt_device *d = &rt_get()->device[x->device];

	return !x->is_ended && (device < 0 || x->device == device) && !rt_sticky(d) &&
	       (x->is_memory || setting_number(SETTING_CHECK_LEAK, 0));
}

static void report_all_unused(int device)
{
	struct rt *rt = rt_get();
	bool any = false;

	for (u32 i = 0; i < rt->list.len; i++) {
		any |= rt->device[i].is_open && rt_sticky(&rt->device[i]);
		if (rt->device[i].is_open && !rt_sticky(&rt->device[i]) && (u32)device == i)
			init_memory_unused(&rt->device[i].dev.mem, true);
	}
	/* What a kernel that faulted would have used is not known. */
	if (device < 0)
		init_memory_unused(NULL, !any);
}

void check_calls_leaks(int device)
{
	struct rt *rt;

	if (the_process.checks & CHECK_INIT && !the_process.is_forked)
		report_all_unused(device);
	if (!(the_process.checks & CHECK_LEAK) || the_process.is_forked)
		return;
	rt = rt_get();
	pthread_mutex_lock(&made->lock);
	for (size_t i = 0; i < made->list.len; i++) {
		struct made_thing *x = &made->list.at[i];

		if (is_leak(x, device))
			report_leak(x);
		if (device < 0 || x->device == device)
			x->is_ended = true;
	}
	for (u32 i = 0; i < rt->list.len; i++)
		if (rt->device[i].is_open && !rt_sticky(&rt->device[i]) &&
		    (device < 0 || (u32)device == i))
			check_heap_leaks(rt->device[i].dev.syscalls.heap);
	pthread_mutex_unlock(&made->lock);
	if (device < 0)
		findings_note_leaks(&the_process.findings, made->leaked, made->leaks);
}
