/*
 * Entry points by name: cuGetProcAddress and its kin of the runtime interface.
 *
 * A base name has variants (`name`, `name_v2` ..), each since a version of the driver; the answer
 * is the newest that the version asked for has. Names for the per-thread default stream end in
 * _ptsz or _ptds. Private tables are those of drv_tables.c.
 */
#include "runtime/cuda/drv.h"
#include "runtime/process.h"

#include <dlfcn.h>
#include <stdio.h>

/*
 * Since when a variant answers for the plain name. What is not listed has been there from the
 * start.
 */
struct variant {
	const char *name, *variant;
	int since;
};

static const struct variant variants[] = {
#define VARIANT(name, variant, since) {#name, #variant, since},
#include "runtime/cuda/variants.def"
#undef VARIANT
};

enum { FLAG_LEGACY = 1, FLAG_PER_THREAD = 2 };
enum { FOUND, NOT_FOUND, VERSION_TOO_OLD };

static void *exact(const char *name, const char *end)
{
	char full[160];

	if ((size_t)snprintf(full, sizeof(full), "%s%s", name, end) >= sizeof(full))
		return NULL;
	return drv_symbol(full);
}

/* The newest variant's name that `version` knows; NULL: it knows none. */
static const char *variant_of(const char *symbol, int version)
{
	const char *best = NULL;
	bool listed = false;
	int since = -1;

	for (size_t i = 0; i < ARRAY_LEN(variants); i++) {
		if (strcmp(variants[i].name, symbol))
			continue;
		listed = true;
		if (variants[i].since <= version && variants[i].since > since) {
			since = variants[i].since;
			best = variants[i].variant;
		}
	}
	return listed ? best : symbol;
}

void *drv_entry(const char *symbol, int version, u64 flags, int *found)
{
	static const char *const per_thread[] = {"_ptsz", "_ptds"};
	const char *name = variant_of(symbol, version);
	void *fn = NULL;

	*found = name ? NOT_FOUND : VERSION_TOO_OLD;
	if (!name)
		return NULL;
	for (size_t i = 0; i < ARRAY_LEN(per_thread) && flags & FLAG_PER_THREAD && !fn; i++)
		fn = exact(name, per_thread[i]);
	fn = fn ? fn : exact(name, "");
	*found = fn ? FOUND : NOT_FOUND;
	return fn;
}

DRV_FN(cuGetProcAddress_v2, (const char *symbol, void **fn, int version, u64 flags, int *found))
{
	int answer;
	void *entry;

	if (!symbol || !fn || flags > 3)
		return STATUS_INVALID_VALUE;
	entry = drv_entry(symbol, version, flags, &answer);
	/* A caller without a place for the answer gets an error instead. */
	if (!entry && !found)
		return STATUS_NOT_FOUND;
	*fn = entry;
	if (found)
		*found = answer;
	return STATUS_SUCCESS;
}

DRV_FN(cuGetProcAddress, (const char *symbol, void **fn, int version, u64 flags))
{
	return pldrv_cuGetProcAddress_v2(symbol, fn, version, flags, NULL);
}

/* The table by which a runtime begins. Others are asked for by who does without them. */
static bool is_of_runtime(const void *id)
{
	static const u8 runtime[16] = {0x6b, 0xd5, 0xfb, 0x6c, 0x5b, 0xf4, 0xe7, 0x4a,
				       0x89, 0x87, 0xd9, 0x39, 0x12, 0xfd, 0x9d, 0xf9};

	return !memcmp(id, runtime, sizeof(runtime));
}

RT_API void plrt_refusal_was_said(void);
RT_API void plrt_refusal_was_said(void)
{
	__atomic_store_n(&the_process.refusal_said, true, __ATOMIC_RELAXED);
}

/* Private tables of NVIDIA's own libraries. */
DRV_FN(cuGetExportTable, (const void **table, const void *id))
{
	Dl_info who;
	const char *path = dladdr(rt_caller, &who) && who.dli_fname ? who.dli_fname : "the program";

	if (!table || !id)
		return STATUS_INVALID_VALUE;
	*table = drv_export_table(id);
	if (*table)
		return STATUS_SUCCESS;
	if (is_of_runtime(id) &&
	    !__atomic_exchange_n(&the_process.refusal_said, true, __ATOMIC_RELAXED))
		fprintf(stderr,
			"ptxloom: a static CUDA runtime in %s could not be replaced and asks for the "
			"driver's private tables, which are not provided.\n"
			"ptxloom: rebuild it without stripping it, or with "
			"NVCC_APPEND_FLAGS=\"-cudart shared\".\n",
			path);
	return STATUS_NOT_FOUND;
}

/* ---- the same from the runtime interface ---- */

static int entry_point(const char *symbol, void **fn, int version, u64 flags, int *found)
{
	int answer;

	if (!symbol || !fn || flags > 3)
		return rt_error(cudaErrorInvalidValue);
	*fn = drv_entry(symbol, version, flags, &answer);
	if (version > RT_DRIVER_VERSION) {
		*fn = NULL;
		if (found)
			*found = VERSION_TOO_OLD;
		return rt_error(cudaErrorInvalidValue);
	}
	if (found)
		*found = answer;
	/* Older callers have no place for the answer. */
	return rt_error(answer == FOUND || found ? cudaSuccess : cudaErrorSymbolNotFound);
}

RT_FN(cudaGetDriverEntryPoint, (const char *symbol, void **fn, u64 flags, int *found))
{
	return entry_point(symbol, fn, RT_DRIVER_VERSION, flags, found);
}

RT_FN(cudaGetDriverEntryPoint_ptsz, (const char *symbol, void **fn, u64 flags, int *found))
{
	return entry_point(symbol, fn, RT_DRIVER_VERSION, flags ? flags : FLAG_PER_THREAD, found);
}

RT_FN(cudaGetDriverEntryPointByVersion,
      (const char *symbol, void **fn, unsigned version, u64 flags, int *found))
{
	return entry_point(symbol, fn, (int)version, flags, found);
}

RT_FN(cudaGetDriverEntryPointByVersion_ptsz,
      (const char *symbol, void **fn, unsigned version, u64 flags, int *found))
{
	return entry_point(symbol, fn, (int)version, flags ? flags : FLAG_PER_THREAD, found);
}

/* Those of the driver. */
RT_FN(cudaGetExportTable, (const void **table, const void *id))
{
	if (!table || !id)
		return rt_error(cudaErrorInvalidValue);
	*table = drv_export_table(id);
	return rt_error(*table ? cudaSuccess : cudaErrorSymbolNotFound);
}
