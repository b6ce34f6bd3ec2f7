/*
 * Fetches of a whole warp at once: the common ones, decided when the object is made and when the
 * instruction is lowered. Included by handler files only.
 */
#ifndef PL_TEX_TEX_WIDE_H
#define PL_TEX_TEX_WIDE_H

#include "src/ops/lanes.h"
#include "src/tex/texture.h"

/* A warp's fetch: rows of 32 lanes. */
struct tex_rows {
	const u32 *coord[3]; /* bits of f32, or texels' numbers */
	const u32 *layer;    /* NULL: none */
	u32 *value[4];       /* NULL: not wanted */
};

/*
 * Fetch for the lanes in `mask`; the values of the others are kept. The object's plan says that it
 * can be done: `o->wide` for coordinates of type .f32, `o->rows` for numbered texels of memory.
 */
void EXEC_NAME(tex_wide)(const struct tex_object *o, const struct tex_rows *r, u32 mask);
void EXEC_NAME(tex_numbered)(const struct tex_object *o, const struct tex_rows *r, u32 mask);

#endif
