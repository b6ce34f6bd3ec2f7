/*
 * For work that stands in for kernels on the host, as PyTorch's operators do
 * (python/torch/ptxloom_torch): device memory where the host has it, with nothing copied.
 */
#include "runtime/rt.h"
#include "src/dev/memory/memory.h"
#include "src/dev/memory/watch.h"

/* Where the host has the byte; `range`: what it lies in. NULL: no allocation is there. */
static void *host_byte(u64 address, struct mem_range *range)
{
	struct memory_info info;

	if (!memory_find(&rt_get()->memory, address, &info))
		return NULL;
	*range = info.range;
	return mem_host(range, address);
}

void *plrt_host_memory(u64 address, u64 bytes, int writes)
{
	struct mem_range first, last;
	void *at = host_byte(address, &first);

	if (!at || !bytes || address + bytes < address || !host_byte(address + bytes - 1, &last) ||
	    first.bias != last.bias)
		return NULL;
	if (writes && memory_is_watched())
		memory_tell_write(address, bytes);
	return at;
}
