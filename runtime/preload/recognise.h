/*
 * Static runtimes without symbols: whether an object may carry one, and which functions of it are
 * to be overwritten.
 */
#ifndef PL_RECOGNISE_H
#define PL_RECOGNISE_H

#include "runtime/preload/redirect.h"
#include "src/signature/find.h"

#include <link.h>

/* What is needed of a runtime, in the order of its name's: see recognise_kind. */
typedef bool recognise_has(const char *name, void *user);

/* Which version has these functions; REDIRECT_NOTHING: what every runtime has is missing. */
enum redirect_kind recognise_kind(recognise_has *has, void *user);

/*
 * Look for a runtime in a mapped object. REDIRECT_NOTHING: there is none that is known, or not all
 * of it that is needed. False: there is no memory.
 */
bool recognise_runtime(const struct dl_phdr_info *info, const struct signature_set *known,
		       redirect_target *target, struct found *found, enum redirect_kind *kind);

#endif
