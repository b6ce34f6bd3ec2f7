/*
 * What the machine code of a program costs its caches; how large it will be, from its PTX: an
 * estimate, for programs that carry no machine code.
 */
#ifndef PL_WATCH_CODE_SIZE_H
#define PL_WATCH_CODE_SIZE_H

#include "src/exec/program.h"

struct code_size {
	u64 bytes;
	u32 constant_loads; /* of the kernel itself: those of parameters */
};

struct code_size watch_code_size(const struct program *p);
/* Sectors that are fetched for so many bytes of code. */
u64 watch_code_sectors(u64 bytes);

/* Those for parameters beyond the first 256 bytes, which launches need in any case. */
u64 watch_parameter_sectors(u64 bytes);

/* Parameters are constants, too. */
struct watch_parameters {
	u32 loads, lines; /* of a warp; of the cache of constants */
	u32 sms, warps;   /* of a CTA */
	u64 ctas, resident;
};

/* Adds the requests for parameters. */
void watch_parameter_requests(const struct watch_parameters *p, u64 *hit, u64 *miss);

#endif
