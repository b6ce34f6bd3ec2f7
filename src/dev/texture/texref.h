/*
 * Texture and surface references of older code: variables of a program (.texref, .surfref) that
 * hold a handle while something is bound to them, and what has been set about each. Samplers of the
 * independent texturing mode (.samplerref) get theirs from their initializer when the program is
 * loaded.
 *
 * References of a program live as long as it does. Calls about different references may be made
 * from several threads at once.
 *
 * Source: CUDA Driver API "Texture Reference Management", "Surface Reference Management"; PTX ISA
 * "Texture Sampler and Surface Types".
 */
#ifndef PL_DEV_TEXREF_H
#define PL_DEV_TEXREF_H

#include "src/dev/device.h"
#include "src/dev/texture/texture.h"

struct texref {
	struct texref *next;
	struct device *dev;
	struct device_program *program; /* NULL: made by texref_new */
	u64 var;                        /* address of the variable, 0: there is none */
	u64 object;                     /* handle that the variable holds, 0: nothing is bound */
	u32 kind;                       /* enum tex_kind */
	u64 offset;                     /* bytes by which a bound address was rounded down */
	struct texture_desc desc;       /* settings count before something is bound, too */
};

/* The reference of a variable. STATUS_NOT_FOUND: no variable of that name and kind is there. */
enum status texref_find(struct device_program *p, const char *name, u32 kind, struct texref **out);
/* A reference to a texture without a variable, and its end. */
enum status texref_new(struct device *dev, struct texref **out);
void texref_free(struct texref *r);
/* Any value may be asked about. */
bool texref_is(struct device *dev, const void *handle, u32 kind);

/*
 * Bind what *d says, after launches under way have ended; errors as of texture_create, and the old
 * binding stays.
 */
enum status texref_bind(struct texref *r, const struct texture_desc *d);
/* Change settings or the format; a binding is renewed. Errors as above. */
enum status texref_change(struct texref *r, const struct texture_desc *d);
void texref_unbind(struct texref *r);
/* Round *address down to what textures want; the bytes by which, to *offset. */
void texref_align(const struct device *dev, u64 *address, u64 *offset);

/* Give samplers with an initializer their state. */
enum status texref_load(struct device_program *p);
/* Free all references of a program. */
void texref_unload(struct device_program *p);
/* Free those that are left. Part of device_fini. */
void texref_fini(struct device *dev);

#endif
