/*
 * All there is of the Debug Adapter Protocol in a build without libcjson.
 */
#include "src/dap/dap.h"

int dap_serve(int in, int out, dap_start *start)
{
	(void)in;
	(void)out;
	(void)start;
	fputs("ptxloom dap: this build has no libcjson, which reads and writes the protocol's messages; "
	      "install libcjson-dev and build ptxloom again\n",
	      stderr);
	return 2;
}
