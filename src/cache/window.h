/*
 * Windows of addresses whose lines are to be kept in the second cache, and policies that kernels
 * make for the same.
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

#define L2_HINTS_MAX 255u

/* Policies of a launch; a request has the number of its own, from 1 on. */
struct l2_hints {
	u64 policy[L2_HINTS_MAX];
	u32 len;
	u64 origin; /* the address of the first line */
};

/* The number of a policy; 0: there is no room for more. */
u32 l2_hint_number(struct l2_hints *h, u64 policy);
/* The class of a request with this policy; with number 0, or if it does not say, `own`. */
u32 l2_hint_class(const struct l2_hints *h, u32 number, u64 line, u32 own);

#endif
