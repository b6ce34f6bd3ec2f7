/*
 * What an address is, in words.
 */
#ifndef PL_DEV_WHEREABOUTS_H
#define PL_DEV_WHEREABOUTS_H

#include "src/dev/device.h"

struct mem_near;

/*
 * Add what a device of memory `m` has at a global or generic address, to go after "is": "4 bytes
 * after a 64-byte allocation at 0x..", "a null pointer", "host memory (of malloc or new), neither
 * managed nor registered". p: the program whose variables are called by their names, NULL: none.
 */
void device_describe_address(struct mem *m, const struct device_program *p, u64 address,
			     struct text *out);

/* Whether those words are about an allocation; near: which one, and how far from it. */
bool device_near_allocation(struct mem *m, u64 address, struct mem_near *near);

#endif
