/*
 * Private to src/debugger: objects of CUDA, whose bytes the engine alone understands, in the words
 * of CUDA's headers. Each function adds "{field = value, ..}".
 */
#ifndef PL_DEBUGGER_OBJECT_H
#define PL_DEBUGGER_OBJECT_H

#include "src/debugger/look_value.h"

/* The `object` of struct dbg_target. */
enum dbg_answer object_describe(void *user, const struct dbg_lane *lane,
				const struct dbg_object_at *at, struct text *out);
/*
 * print/tensormap, /mbarrier, /texture, /surface: a value of any type. A pointer, an array, a
 * structure and a word of shared memory say where the object is; other numbers are its address, or
 * the handle.
 */
void object_print(struct debugger *x, const char *text, enum dbg_object kind);

/* ---- tensormap.c ---- */

/* bytes: DBG_OBJECT_BYTES_MAX of them. False: they are no tensor map. */
bool object_tensor_map(const u8 *bytes, struct text *out);

/* ---- mbarrier.c ---- */

/* The word at `at`; cta NULL: not in shared memory of a CTA that is there. */
void object_mbarrier(struct debugger *x, const struct cta *c, const u64 *at, u64 word,
		     struct text *out);

/* ---- texture.c ---- */

/* What a handle stands for on the launch's device. False: nothing of this kind. */
bool object_texture(const struct debugger *x, enum dbg_object kind, u64 handle, struct text *out);

#endif
