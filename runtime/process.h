/*
 * All state of the process that runtime/ keeps, in one place; what belongs to a thread is with the
 * code that uses it. (The preloaded library's own state is in preload.c, nvrtc.c and jitlink.c: it
 * is another library.)
 *
 * Beginning: everything is there from the start, without a constructor, because those of programs
 * and libraries register images before any other call. `rt` alone is made at the first call that
 * needs it (rt_get).
 *
 * Locks: each part has its own, named in it, and is used by the file named beside it alone. None is
 * held while the program's code runs or a kernel is waited for. Nesting: `images` before the lock
 * of `handles`; no others.
 *
 * fork: devices and their threads do not come along, so the child's calls answer
 * cudaErrorInitializationError. As a thread of the parent may have held a lock at that time, the
 * child's are made anew; the child only says errors. With PTXLOOM_FORK=fresh it begins again
 * instead (forked.c), with what it has registered.
 *
 * dlclose: the library stays mapped (linked with -z nodelete), as its threads, thread keys and
 * signal handlers lead into it. An image goes with the library that registered it.
 *
 * exit: from the first exit handler on (is_exiting) images stay loaded, because later handlers may
 * still launch. Notes of rt_report.c are written by a destructor. Nothing else is freed.
 */
#ifndef PL_PROCESS_H
#define PL_PROCESS_H

#include "runtime/rt.h"
#include "src/base/map.h"
#include "src/base/vec.h"
#include "src/check/finding.h"
#include "src/dev/attend.h"
#include "src/dev/handle.h"

#include <semaphore.h>
#include <signal.h>

enum { LOG_LINES = 100, LOG_LINE_BYTES = 200, LOG_LISTENERS = 64 };

struct log_listener {
	rt_log_callback *call;
	void *user;
	bool used;
};

struct made_thing {
	u64 handle;       /* or address */
	u64 bytes;        /* 0: not memory, or of unknown size */
	const char *what; /* static */
	struct host_from made_by, ended_by;
	int device;
	bool is_memory, is_ended;
};

struct debugger;
struct usage;

/* A line of a launch that takes blocks of the heap. */
struct heap_site {
	struct finding finding; /* with the place and the kernel */
	struct host_from from;
	u64 blocks, bytes, first; /* that are left */
};

struct process {
	/* rt_device.c */
	pthread_once_t rt_once;
	struct rt rt;
	struct usage *usage;             /* what others see of us; NULL: nothing */
	struct debugger *debugger;       /* NULL: none; never freed */
	struct recorder *recorder;       /* NULL: none */
	u32 checks;                      /* what is looked for: enum check, as a mask */
	struct findings findings;        /* on all devices; if anything is looked for */
	struct between *between;         /* races between launches; NULL: not looked for */
	struct cover_collect *coverage;  /* of lines; NULL: none is wanted */
	struct profile_collect *profile; /* of launches; NULL: none is wanted */
	struct profile_kept *kept;       /* the same for the program itself; NULL: not wanted */
	struct profile_trace *trace;     /* of calls and work; NULL: none is wanted */
	u64 calls;                       /* traced so far; atomic */
	/* device_choice.c: the device, as the user has named none; NULL: not yet; atomic */
	const struct arch *chosen;
	bool choice_said; /* that another would suit better; atomic */
	/* a child of a process that had used CUDA; written while there is one thread */
	bool is_forked;
	bool is_exiting; /* atomic */
	/* forked.c: that is_forked is why a call failed has been said; atomic */
	bool fork_said;
	/* of a child that began again: what its parent had; not used; NULL: it is no child */
	struct process *parent;
	/* rt_error.c: a kernel has faulted; atomic */
	bool fault_seen;
	/* entry_log.c: what is reported of calls, ENTRY_LOG_..; atomic */
	u32 call_log;
	/* drv_entry.c: that a static runtime could not be replaced has been said; atomic */
	bool refusal_said;

	/* rt_handle.c: what programs hold */
	struct handle_pool handles;

	/* rt_register.c: by addresses of the host */
	struct process_registered {
		pthread_mutex_t lock;
		struct map functions; /* stub -> struct rt_function * */
		struct map variables; /* variable -> struct rt_variable * */
	} registered;

	/* rt_image.c: guards the lists and maps of all images */
	pthread_mutex_t images;

	/* rt_context.c */
	struct process_contexts {
		pthread_mutex_t lock;
		struct rt_context
			*primary[ARCH_DEVICES_MAX]; /* also read without the lock, atomically */
		u64 next_id;
	} contexts;

	/* log.c: cudaLogs */
	struct process_logs {
		pthread_mutex_t lock;
		char line[LOG_LINES][LOG_LINE_BYTES];
		u32 len; /* entries so far: the iterator of the next one */
		struct log_listener listener[LOG_LISTENERS];
	} logs;

	/*
	 * rt_report.c: refused launches that the program has not asked about; the first of them in
	 * words
	 */
	struct process_refusals {
		pthread_mutex_t lock;
		u64 count;
		struct text first;
		const void *owner; /* of the first: address of that thread's count */
	} refusals;
	/* rt_report.c: accesses outside allocations that passed, and the places that made them */
	struct process_overruns {
		pthread_mutex_t lock;
		struct map seen; /* by kernel and micro-op, and by kernel and line */
		u64 accesses, places;
	} overruns;

	/* rt_attend.c: written before its thread and handlers are there, but for what is atomic */
	struct process_attendant {
		struct rt *rt;
		pid_t pid; /* children by fork have no such thread */
		sem_t wake;
		u32 told;   /* signals that the thread has not seen yet, a bit for each; atomic */
		bool shows; /* the line */
		struct attend_line line;
		struct sigaction before[2]; /* what the program has for SIGINT and SIGTERM */
		int pending;                /* signal that is being handled; atomic */
		int dying;                  /* signal that the process is to die of; atomic */
	} attendant;

	/*
	 * rt_guard.c: what the program has for SIGSEGV and SIGBUS; written once, before our
	 * handlers are there
	 */
	struct process_guard {
		pthread_once_t once;
		struct sigaction before[2];
	} guard;

	/*
	 * check_calls.c: what calls have made, with where in the program they are; what has
	 * ended stays until its handle is used again
	 */
	struct process_made {
		pthread_mutex_t lock;
		VEC(struct made_thing) list;
		struct map by_handle; /* number + 1 */
		u64 leaks, leaked;    /* bytes */
	} made;

	/* Blocks of malloc in kernels, where leaks are looked for: check_heap.c. */
	struct process_heap {
		pthread_mutex_t lock;
		VEC(struct heap_site) sites;
		struct map by_place, by_block; /* number of the site + 1 */
	} heap;

	/* Keys whose destructors free what a thread has: rt_last_error.c, rt_launch.c. */
	struct thread_key {
		pthread_once_t once;
		pthread_key_t key;
	} errors, configurations;
};

extern struct process the_process;

/* ---- forked.c ---- */

/* From the first use of CUDA on: see to children by fork. Once. */
void process_watch_forks(void);
/* cudaErrorInitializationError, which calls in such a child answer; why is said once. */
int process_forked_error(void);

#endif
