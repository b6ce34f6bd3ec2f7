/*
 * Under a debugger: textures and surfaces as a launch that has ended saw them. The program may
 * destroy its objects then, and a handle finds nothing any more, or the slot has another object.
 * What an object reads is memory, which is kept as all memory is.
 */
#include "src/sched/debug_int.h"
#include "src/tex/texture.h"

#include <stdlib.h>

#define CHUNK_BYTES (sizeof(struct tex_object) * TEX_CHUNK)

/* Launches between which nothing has changed share one. */
struct debug_textures {
	u32 users;
	u64 bytes;
	struct tex_table table; /* chunks are owned */
};

static bool same_objects(const struct tex_table *a, const struct tex_table *b)
{
	for (u32 i = 0; i < TEX_CHUNKS; i++)
		if (!a->chunk[i] != !b->chunk[i] ||
		    (a->chunk[i] && memcmp(a->chunk[i], b->chunk[i], CHUNK_BYTES) != 0))
			return false;
	return true;
}

static void free_textures(struct debug_textures *t)
{
	for (u32 i = 0; i < TEX_CHUNKS; i++)
		free(t->table.chunk[i]);
	free(t);
}

static struct debug_textures *copy_textures(const struct tex_table *from)
{
	struct debug_textures *t = calloc(1, sizeof(*t));

	for (u32 i = 0; t && i < TEX_CHUNKS; i++) {
		if (!from->chunk[i])
			continue;
		t->table.chunk[i] = malloc(CHUNK_BYTES);
		if (!t->table.chunk[i]) {
			free_textures(t);
			return NULL;
		}
		memcpy(t->table.chunk[i], from->chunk[i], CHUNK_BYTES);
		t->bytes += CHUNK_BYTES;
	}
	return t;
}

static bool uses_textures(const struct program *p)
{
	for (u32 pc = 0; pc < p->uops; pc++) {
		enum uop_kind k = uop_kind(p->uop[pc].inner);

		if (k == UOP_TEXTURE || k == UOP_SURFACE)
			return true;
	}
	return false;
}

bool debug_textures_keep(struct debug_grid *d, struct debug_textures *last, struct exec_env *env)
{
	if (!env->textures || !uses_textures(env->program))
		return true;
	d->textures = last && same_objects(&last->table, env->textures)
			      ? last
			      : copy_textures(env->textures);
	if (!d->textures)
		return false;
	d->textures->users++;
	env->textures = &d->textures->table;
	return true;
}

void debug_textures_drop(struct debug_grid *d)
{
	if (d->textures && !--d->textures->users)
		free_textures(d->textures);
	d->textures = NULL;
}

u64 debug_textures_bytes(const struct debug_grid *d)
{
	return d->textures ? d->textures->bytes / d->textures->users : 0;
}
