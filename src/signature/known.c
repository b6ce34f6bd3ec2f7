/*
 * The table of the runtimes that are known, as it is in the file beside this one.
 */
#include "src/signature/signature.h"

static const u8 known[] = {
#include "src/signature/runtimes.sig.inc"
};

const char *signature_known(size_t *bytes)
{
	*bytes = sizeof(known);
	return (const char *)known;
}
