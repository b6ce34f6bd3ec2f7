/*
 * C expressions over the names of a program, as gdb and cuda-gdb take them:
 *
 *     names       of C and C++, ns::x, 'file.cu'::x; members of `this`; threadIdx blockIdx
 *                 blockDim gridDim warpSize
 *     registers   %r12, $r12 (when no $r12 was set), %tid.x, special registers; $pc
 *     values      1 0x1f 077 0b11 1u 1ll 1.5 1e3f 'a' "text" true false nullptr
 *     kept        $ the last one, $$ the one before, $$2, $7; $name convenience variables
 *     operators   those of C with their precedence; = += .. ++ --; sizeof; `a@n`, n elements from a
 *                 on
 *     calls       of functions of the program, by name: f(x, 1), Ring<int>::sum(&r)
 *     casts       (type)x, type(x), static_cast<type>(x), reinterpret_cast, const_cast, also to
 *                 pointers into a state space: (@shared int *)0x20
 *
 * Parsing looks types up; names are looked up when the expression is evaluated, so one that was
 * parsed once (a condition) is evaluated for many lanes and places.
 */
#ifndef PL_DBG_EXPR_H
#define PL_DBG_EXPR_H

#include "src/dbg/value.h"

struct dbg_expr;

/*
 * c: whose names tell types from variables. Returns NULL with one line in `why`. The caller frees
 * it with dbg_expr_free, before the session and the names that it was parsed with.
 */
struct dbg_expr *dbg_expr_parse(const struct dbg_context *c, const char *text, struct text *why);
void dbg_expr_free(struct dbg_expr *e);

/* When the text is a type ("struct node *"): that type; else NULL. */
struct dbg_type *dbg_expr_type(const struct dbg_expr *e);

/* Does it call functions of the program? */
bool dbg_expr_calls(const struct dbg_expr *e);

/*
 * Does it hold names or types of another module than that of the context? Known when it has been
 * evaluated. It is then to be freed before any module is.
 */
bool dbg_expr_is_foreign(const struct dbg_expr *e);

/*
 * The value is valid as long as the expression and the session. Assignments are made when c->dry is
 * false. Returns false with one line in `why`.
 */
bool dbg_expr_eval(struct dbg_expr *e, const struct dbg_context *c, struct dbg_value *out,
		   struct text *why);
/*
 * For which of these lanes of the warp of c->lane is it true? Quicker than one by one. False: that
 * is to be found out one by one, e.g. to tell an error.
 */
bool dbg_expr_lanes(struct dbg_expr *e, const struct dbg_context *c, u32 lanes, u32 *holds);

#endif
