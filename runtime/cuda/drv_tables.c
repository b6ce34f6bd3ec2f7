/*
 * Tables of functions that NVIDIA's tools and libraries ask for by an identifier: those that public
 * sources describe. They say which context and which stream is meant; what cuBLAS keeps, it keeps
 * for each. Functions that no source describes are not supported, and the tables that belong to the
 * runtime alone, whose answers it checks, are not here.
 */
#include "runtime/cuda/drv.h"

#include "runtime/entry.h"

#include <stdio.h>

typedef void table_entry(void);

/* The streams that NULL may mean, as handles. */
#define STREAM_LEGACY 1u
#define STREAM_PER_THREAD 2u

/* The answer of functions that are not described. */
static int entry_not_described(void)
{
	static bool said;

	if (!__atomic_exchange_n(&said, true, __ATOMIC_RELAXED))
		fprintf(stderr,
			"ptxloom: a library calls a function of a private table that is not described "
			"in public; it is not supported\n");
	return STATUS_NOT_SUPPORTED;
}

/* A stream as tools see it: a handle that is never NULL. */
static int tools_stream(struct rt_context *c, void *stream, void **out, int per_thread)
{
	u64 id;
	int status = plentry_cuCtxGetId(c, &id);

	if (status || !out)
		return status ? status : STATUS_INVALID_VALUE;
	if (!stream)
		stream = (void *)(uintptr_t)(per_thread ? STREAM_PER_THREAD : STREAM_LEGACY);
	status = plentry_cuStreamGetId(stream, &id);
	*out = status ? NULL : stream;
	return status;
}

static int tools_stream_id(struct rt_context *c, void *stream, u64 *id)
{
	(void)c;
	return stream && id ? plentry_cuStreamGetId(stream, id) : STATUS_INVALID_VALUE;
}

/* Index 0 is the size of a table in bytes; its functions follow. */
#define TABLE_BYTES(t) ((table_entry *)(uintptr_t)sizeof(t))
#define THREAD_ENTRIES 4
#define CONTEXT_ENTRIES 95 /* in CUDA 13 */

static table_entry *const tools_thread[THREAD_ENTRIES] = {
	[0] = TABLE_BYTES(tools_thread),
	[1] = (table_entry *)entry_not_described,
	[2] = (table_entry *)plentry_cuCtxGetCurrent,
	[3] = (table_entry *)entry_not_described,
};

static table_entry *const tools_context[CONTEXT_ENTRIES] = {
	[0] = TABLE_BYTES(tools_context),
	[1 ... 3] = (table_entry *)entry_not_described,
	[4] = (table_entry *)plentry_cuCtxGetId,
	[5 ... 38] = (table_entry *)entry_not_described,
	[39] = (table_entry *)tools_stream_id,
	[40 ... 50] = (table_entry *)entry_not_described,
	[51] = (table_entry *)tools_stream,
	[52 ... CONTEXT_ENTRIES - 1] = (table_entry *)entry_not_described,
};

static const struct {
	u8 id[16];
	const void *table;
} tables[] = {
	{{0x42, 0xd8, 0x5a, 0x81, 0x23, 0xf6, 0xcb, 0x47, 0x82, 0x98, 0xf6, 0xe7, 0x8a, 0x3a, 0xec,
	  0xdc},
	 tools_thread},
	{{0x21, 0x31, 0x8c, 0x60, 0x97, 0x14, 0x32, 0x48, 0x8c, 0xa6, 0x41, 0xff, 0x73, 0x24, 0xc8,
	  0xf2},
	 tools_context},
};

const void *drv_export_table(const void *id)
{
	for (size_t i = 0; i < ARRAY_LEN(tables); i++)
		if (!memcmp(tables[i].id, id, sizeof(tables[i].id)))
			return tables[i].table;
	return NULL;
}
