/*
 * Lines of the second cache that programs want to be kept.
 */
#ifndef PL_PERSISTING_H
#define PL_PERSISTING_H

struct rt_device;

/* cudaCtxResetPersistingL2Cache: after the work that was issued. */
int rt_reset_persisting(struct rt_device *d);

#endif
