/*
 * What micro-ops of textures and surfaces say. a = handle, or address of a variable that holds one;
 * ext: rows in the order of enum tex_row, NO_ROW where the instruction has none.
 */
#ifndef PL_UOP_TEXTURE_H
#define PL_UOP_TEXTURE_H

#include "src/tex/texture.h"

enum tex_row {
	TEX_ROW_VALUE,    /* four results, or values to store */
	TEX_ROW_PRED = 4, /* whether all texels were resident: always */
	TEX_ROW_SAMPLER,
	TEX_ROW_LAYER,
	TEX_ROW_COORD,       /* three */
	TEX_ROW_LEVEL = 10,  /* the level, or two gradients of three */
	TEX_ROW_OFFSET = 16, /* three */
	TEX_ROW_SAMPLE = 19,
	TEX_ROWS
};

/* tex, tld4 */
enum tex_how {
	TEX_GEOMETRY = 7,
	TEX_MODE_SHIFT = 3, /* 2 bits: enum tex_mode */
	TEX_LAYERED = 1 << 5,
	TEX_INTEGER = 1 << 6,
	TEX_GATHER = 1 << 8,
	TEX_COMPONENT_SHIFT = 9, /* 2 bits */
	TEX_TO_HALF = 1 << 11,   /* f32 values become f16 */
	TEX_PACK = 1 << 12,      /* two f16 in each register */
	/* Nothing but a fetch, of no cube: a warp at once, if the object's plan allows. */
	TEX_PLAIN = 1 << 13,
	TEX_NUMBERED = 1 << 14, /* the same of a texel by number, in one dimension */
};

/* suld, sust, sured: TEX_GEOMETRY, TEX_LAYERED and */
enum surf_how {
	SURF_FORMATTED = 1 << 6,
	SURF_BOUNDS_SHIFT = 7, /* 2 bits: enum surf_bounds */
	SURF_SIGNED = 1 << 9,
};

#endif
