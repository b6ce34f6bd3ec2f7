/*
 * Contexts: on which device the calls of a thread work. Both interfaces share them, as CUDA's do:
 * the runtime interface works in the context that is current, and makes its device's primary
 * context current when there is none.
 *
 * Deviation: contexts of one device share its memory, its work and its sticky error; memory that a
 * destroyed context leaves is freed together with the device's last context.
 */
#ifndef PL_RT_CONTEXT_H
#define PL_RT_CONTEXT_H

#include "runtime/cudart/rt_handle.h"

struct rt_context {
	struct rt_handle head;
	int device;
	bool is_primary;
	_Atomic bool
		is_active; /* false: destroyed, or a primary context that was reset or never used */
	u32 places; /* on threads' stacks; a destroyed context stays until the last one goes */
	_Atomic u32 retained; /* a primary context's users of the driver interface */
	_Atomic u32 flags;    /* scheduling, host mapping .. as CUDA numbers them */
	u32 api_version;      /* 3010, 3020 or 13000: of the function that made it */
	int cache_config, shared_config;
	u64 id;
	struct drv_green *green; /* whose context it is, NULL: a common one */
};

/* The calling thread's current context; NULL: none. */
struct rt_context *rt_context_now(void);
/* Its number; 0: there is none. */
u64 rt_context_number(void);
/* Device of the calling thread: the current context's, else the one that was chosen or 0. */
int rt_context_device(void);
/* The calling thread's device while it has no context. */
void rt_context_choose(int device);
/* Put c (NULL: nothing) in place of the current context. */
void rt_context_set(struct rt_context *c);
/* False: the stack is full. */
bool rt_context_push(struct rt_context *c);
/* The context that was current, NULL: none. */
struct rt_context *rt_context_pop(void);
/*
 * For what needs a device though no context is current: the primary context of `device` is, until
 * rt_context_return gets what this returned.
 */
int rt_context_borrow(int device);
void rt_context_return(int borrowed);
/* Device's primary context; NULL without memory. It may not be active. */
struct rt_context *rt_context_primary(int device);
/* A new active context, NULL without memory. */
struct rt_context *rt_context_new(int device, u32 flags, u32 api_version);
/* Mark as gone; the calling thread's stack loses it where it is on top. */
void rt_context_kill(struct rt_context *c);
/* The calling thread, in a child by fork, has no context. */
void rt_context_forget(void);
/* Active contexts of a device. */
u32 rt_context_count(int device);

#endif
