/*
 * The interpreter's state: making and freeing it.
 */
#include "src/debugger/look.h"
#include "src/debugger/query/query.h"

struct debugger *debugger_new(void)
{
	struct debugger *x = calloc(1, sizeof(*x));
	pthread_mutexattr_t attr;

	if (!x)
		return NULL;
	x->fd = -1;
	x->session = dbg_session_new();
	x->look = look_new();
	if (!x->session || !x->look) {
		dbg_session_free(x->session);
		look_free(x->look);
		free(x);
		return NULL;
	}
	machine_init(x);
	dbg_session_set_modules(x->session, loaded_names, x);
	/* A stop inside a function that the debugger calls is one in the middle of a command. */
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(&x->lock, &attr);
	pthread_mutex_init(&x->founds.lock, NULL);
	pthread_mutexattr_destroy(&attr);
	return x;
}

void debugger_free(struct debugger *x)
{
	if (!x)
		return;
	attachment_close(&x->link);
	founds_fini(x);
	points_fini(x);
	move_fini(x);
	past_fini(x);
	calls_forget(x, NULL);
	calls_drop_results(x);
	VEC_FREE(&x->calls.results);
	while (x->modules.len)
		loaded_remove(x, x->modules.len - 1);
	VEC_FREE(&x->modules);
	VEC_FREE(&x->launches);
	VEC_FREE(&x->run.passed);
	free(x->run.marks);
	text_fini(&x->state);
	dbg_session_free(x->session);
	look_free(x->look);
	query_free(x->query);
	text_fini(&x->out);
	free(x->last);
	free(x->line);
	pthread_mutex_destroy(&x->lock);
	free(x);
}

void debugger_go(struct debugger *x)
{
	x->go = true;
}
