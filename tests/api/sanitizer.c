/*
 * How AddressSanitizer behaves in the programs of this folder, where it is built in: faults of the
 * host belong to the libraries, which say what was touched; and handles live in pages that the
 * search for leaks does not look into, so that all that a program leaves to its end would seem
 * lost.
 */
#include <stddef.h>

__attribute__((visibility("default"))) const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "detect_leaks=0:handle_segv=0:allow_user_segv_handler=1";
}
