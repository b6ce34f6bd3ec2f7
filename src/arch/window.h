/*
 * A window of addresses whose lines a program wants to be kept in the second cache
 * (cudaAccessPolicyWindow).
 */
#ifndef PL_ARCH_WINDOW_H
#define PL_ARCH_WINDOW_H

#include "src/base/base.h"

/* As both interfaces have them; drivers take others, which ask for nothing. */
enum access_property { ACCESS_NORMAL, ACCESS_STREAMING, ACCESS_PERSISTING };

struct access_window {
	u64 base, bytes; /* 0 bytes: there is none */
	float ratio;     /* of lines that get `hit`; others get `miss` */
	s32 hit, miss;   /* enum access_property */
};

#endif
