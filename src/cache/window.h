/*
 * Windows of addresses whose lines are to be kept in the second cache.
 */
#ifndef PL_CACHE_WINDOW_H
#define PL_CACHE_WINDOW_H

#include "src/arch/window.h"

/* As the second cache wants it. */
struct l2_window {
	u64 first, lines; /* 0 lines: there is none */
	u32 sixteenths;   /* of its lines that get `hit` */
	u8 hit, miss;     /* enum l2_class */
};

/* origin: the address of the first line. w NULL: there is none. */
struct l2_window l2_window_of(const struct access_window *w, u64 origin);
/* The class of a request for the line, of an instruction that asks for `own` (enum l2_class). */
u32 l2_window_class(const struct l2_window *w, u64 line, u32 own);

#endif
