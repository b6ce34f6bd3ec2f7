/*
 * From what is found in an object to whether it is a runtime, and of which version.
 */
#include "runtime/preload/recognise.h"

enum redirect_kind recognise_kind(recognise_has *has, void *user)
{
	if (!has("__cudaRegisterFatBinary", user) || !has("cudaRuntimeGetVersion", user))
		return REDIRECT_NOTHING;
	if (has("cudaGetDeviceProperties_v2", user))
		return REDIRECT_RUNTIME_12;
	return has("__cudaRegisterTexture", user) || has("cudaBindTexture", user)
		       ? REDIRECT_RUNTIME_11
		       : REDIRECT_RUNTIME_13;
}

struct recognise_wish {
	redirect_target *target;
};

/* Which version it is turns out when all have been found. */
static bool leads_elsewhere(const char *name, void *user)
{
	const struct recognise_wish *w = user;

	for (enum redirect_kind k = REDIRECT_RUNTIME_11; k <= REDIRECT_RUNTIME_13; k++)
		if (w->target(name, k))
			return true;
	return false;
}

static bool was_found(const char *name, void *user)
{
	return find_by_name(user, name) != NULL;
}

bool recognise_runtime(const struct dl_phdr_info *info, const struct signature_set *known,
		       redirect_target *target, struct found *found, enum redirect_kind *kind)
{
	struct recognise_wish wish = {target};
	struct code_image c;
	bool ok = code_open_memory(&c, (const u8 *)(uintptr_t)info->dlpi_addr, info->dlpi_phdr,
				   info->dlpi_phnum) &&
		  find_functions(&c, known, leads_elsewhere, &wish, found);

	*kind = ok ? recognise_kind(was_found, found) : REDIRECT_NOTHING;
	code_fini(&c);
	return ok;
}
