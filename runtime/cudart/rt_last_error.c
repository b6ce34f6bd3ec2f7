/*
 * The last error of each thread, for each copy of the runtime in the process: a shared one of each
 * version, one in the program, one in each library that carries its own. A library's failed call is
 * nothing that the program's cudaGetLastError reports. Which copy a call came through is noted by
 * the names that programs call (cudart_names.inc) and by the stubs of redirected ones.
 */
#include "runtime/process.h"

#include "src/base/vec.h"

#include <stdlib.h>

RT_API _Thread_local u32 plrt_copy __attribute__((tls_model("initial-exec")));

struct copy_error {
	u32 copy;
	int error;
};

typedef VEC(struct copy_error) copy_errors;

/* Of the copies that have had one. Freed when the thread ends. */
static _Thread_local copy_errors *errors;
static struct thread_key *const at_end = &the_process.errors;

static void free_errors(void *p)
{
	VEC_FREE((copy_errors *)p);
	free(p);
	errors = NULL;
}

static void make_error_key(void)
{
	pthread_key_create(&at_end->key, free_errors);
}

/* What the calling copy has; NULL: it has had none. */
static struct copy_error *find_copy_error(void)
{
	for (size_t i = 0; errors && i < errors->len; i++)
		if (errors->at[i].copy == plrt_copy)
			return &errors->at[i];
	return NULL;
}

void rt_last_error_set(int error)
{
	struct copy_error *e = find_copy_error();

	if (e) {
		e->error = error;
		return;
	}
	if (!errors) {
		pthread_once(&at_end->once, make_error_key);
		errors = calloc(1, sizeof(*errors));
		pthread_setspecific(at_end->key, errors);
	}
	if (errors)
		(void)VEC_PUSH(errors, ((struct copy_error){plrt_copy, error}));
}

int rt_last_error(void)
{
	const struct copy_error *e = find_copy_error();

	return e ? e->error : cudaSuccess;
}

void rt_last_error_clear(void)
{
	struct copy_error *e = find_copy_error();

	if (e)
		e->error = cudaSuccess;
}
