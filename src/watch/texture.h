/*
 * Requests to texture units as the caches have them.
 */
#ifndef PL_WATCH_TEXTURE_H
#define PL_WATCH_TEXTURE_H

#include "src/cache/shape.h"
#include "src/exec/observer.h"

/*
 * Fills all of a shape. origin: taken from each address. False: the request touches nothing, as
 * all its lanes are at a border.
 */
bool watch_texture_shape(const struct exec_texture *t, u64 origin, struct cache_shape *s);
/* Sectors that the shape's request counts. */
u32 watch_shape_sectors(const struct cache_shape *s);

#endif
