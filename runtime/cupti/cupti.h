/*
 * CUPTI: callbacks at each call of the runtime and of the driver, and records of calls (Activity
 * API), for profilers of programs and frameworks. The names that programs link are in a library of
 * their own (cupti_names.c); what they do is here, beside the entry points.
 */
#ifndef PL_CUPTI_H
#define PL_CUPTI_H

#include "runtime/entry_log.h"

/* Programs compare it with the version that they were compiled for. */
#define CUPTI_VERSION 130001

enum cupti_status {
	CUPTI_SUCCESS,
	CUPTI_ERROR_INVALID_PARAMETER,
	CUPTI_ERROR_INVALID_DEVICE,
	CUPTI_ERROR_INVALID_CONTEXT,
	CUPTI_ERROR_INVALID_OPERATION = 7,
	CUPTI_ERROR_OUT_OF_MEMORY = 8,
	CUPTI_ERROR_PARAMETER_SIZE_NOT_SUFFICIENT = 10,
	CUPTI_ERROR_MAX_LIMIT_REACHED = 12,
	CUPTI_ERROR_QUEUE_EMPTY = 18,
	CUPTI_ERROR_INVALID_KIND = 21,
	CUPTI_ERROR_NOT_SUPPORTED = 27,
	CUPTI_ERROR_MULTIPLE_SUBSCRIBERS = 39,
};

#define CUPTI_IDS 1024u /* more than any domain has */

enum cupti_domain { CUPTI_DRIVER = 1, CUPTI_RUNTIME = 2, CUPTI_DOMAINS = 7 };

struct cupti_callback_data {
	u32 is_exit;
	const char *name;
	const void *params; /* the arguments, as members of a structure */
	void *result;       /* to the error number; valid at exit */
	const char *symbol; /* of a launch: the kernel */
	void *context;
	u32 context_uid;
	u64 *correlation_data; /* the subscriber's own, from enter to exit */
	u32 correlation_id;
};

/* Of the Activity API: an empty buffer is asked for, and returned with records. */
typedef void cupti_request(u8 **buffer, size_t *bytes, size_t *records);
typedef void cupti_complete(void *context, u32 stream, u8 *buffer, size_t bytes, size_t valid);

typedef void cupti_callback(void *user, u32 domain, u32 id, const void *data);

/* The functions of a runtime or driver call. */
struct cupti_function {
	u32 id;
	const char *callback_name; /* with the version of its interface */
	const char *name;          /* as it is called */
};

#define CUPTI(name, params, args) RT_API int plrt_##name params;
#define CUPTI_NONE(name)
#include "runtime/cupti/cupti.def"
#undef CUPTI
#undef CUPTI_NONE

/* The head of a body. */
#define CUPTI_FN(name, params) int plrt_##name params

/* ---- cupti_ids.c ---- */

/* By the name of the entry point; NULL: CUPTI has no number for it. */
const struct cupti_function *cupti_function_find(const char *name, enum cupti_domain *domain);
/* By domain and number; NULL: there is none. */
const struct cupti_function *cupti_function_at(enum cupti_domain domain, u32 id);

/* ---- what entry points call while someone has subscribed, or records are wanted ---- */

#define CUPTI_ARGUMENTS_BYTES 512u
#define CUPTI_EXTERNAL_KINDS 8u
#define CUPTI_EXTERNAL_DEPTH 32u

/* The call that a thread is in, and the numbers that it has pushed. */
struct cupti_thread {
	const struct cupti_function *function; /* NULL: in none that is reported */
	enum cupti_domain domain;
	bool is_calling; /* the program's own functions, which may call CUDA */
	bool is_reported;
	struct cupti_callback_data data;
	u64 correlation_data, begin;
	_Alignas(16) u8 params[CUPTI_ARGUMENTS_BYTES];
	struct {
		u64 id[CUPTI_EXTERNAL_DEPTH];
		u32 len;
	} external[CUPTI_EXTERNAL_KINDS];
};

/* NULL: no memory. Freed when the thread ends. */
struct cupti_thread *cupti_thread_here(void);
/* While it is on, calls of this thread are neither reported nor recorded; what it was. */
bool cupti_hold(bool on);

/* In a child by fork: there is no subscriber, and the records are the parent's. */
void cupti_forget(void);
void cupti_forget_activity(void);
void cupti_enter(const char *name, const struct entry_argument *a);
void cupti_exit(const char *name, int status);

/* ---- cupti_activity.c ---- */

/* Are records of calls of this function, or of some of the domain, wanted? */
bool cupti_wants_call(enum cupti_domain domain, u32 id);
bool cupti_wants_calls(enum cupti_domain domain);
/* The time of a record, by the clock that the program has chosen. */
u64 cupti_record_begin(void);
/* A call has ended: domain, number, when on the host, what correlates records. */
void cupti_record_call(enum cupti_domain domain, u32 id, u64 begin, u32 correlation, int status);
/* Calls are to be reported, or no longer: for callbacks and records together. */
void cupti_switch(void);
/* Is any callback or record of a call wanted? */
bool cupti_is_wanted(void);

#endif
