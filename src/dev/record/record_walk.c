/*
 * What is in a record, in its order: docs/record.md.
 */
#include "src/dev/record/record_int.h"

/* More of anything than that is invalid. */
#define COUNT_MAX (1u << 24)

/* How many follow. False: it is invalid. */
static bool walk_count(struct wire *w, size_t len, u32 *n)
{
	*n = (u32)len;
	wire_u32(w, n);
	w->failed |= *n > COUNT_MAX;
	return !w->failed;
}

static void walk_text(struct wire *w, struct record_text *t)
{
	wire_text(w, &t->name);
	wire_blob(w, &t->text, &t->size);
}

static void walk_range(struct wire *w, struct record_range *r)
{
	wire_u64(w, &r->base);
	wire_u64(w, &r->size);
	wire_u32(w, &r->kind);
	wire_bool(w, &r->freed);
	w->failed |= r->kind > MEM_KIND_INTERNAL || !size_is_range(r->base, r->size);
}

/* Elements that are read are added as they come. */
#define WALK_LIST(w, list, walk)                                                                   \
	do {                                                                                       \
		u32 n_;                                                                            \
                                                                                                   \
		if (!walk_count(w, (list)->len, &n_))                                              \
			break;                                                                     \
		for (u32 i_ = 0; i_ < n_ && !(w)->failed; i_++) {                                  \
			if ((w)->reading) {                                                        \
				if (!VEC_RESERVE(list, 1)) {                                       \
					(w)->failed = true;                                        \
					break;                                                     \
				}                                                                  \
				memset(&(list)->at[(list)->len++], 0, sizeof((list)->at[0]));      \
			}                                                                          \
			walk(w, &(list)->at[i_]);                                                  \
		}                                                                                  \
	} while (0)

static void walk_settings(struct wire *w, struct record_settings *s)
{
	wire_u64(w, &s->seed);
	wire_u64(w, &s->timeout_ms);
	wire_u32(w, &s->workers);
	wire_bool(w, &s->deterministic);
	wire_bool(w, &s->async_eager);
	wire_bool(w, &s->check_mem);
}

static void walk_device(struct wire *w, struct record_device *d)
{
	wire_text(w, &d->id);
	wire_text(w, &d->profile);
	wire_u32(w, &d->number);
	wire_u32(w, &d->count);
	wire_u32(w, &d->stack_bytes);
	wire_u64(w, &d->heap_limit);
	wire_u64(w, &d->arena);
	wire_u64(w, &d->open);
	wire_u64(w, &d->next);
	wire_u64(w, &d->window);
}

static void walk_launch(struct wire *w, struct record_launch *l)
{
	wire_text(w, &l->kernel);
	wire_dims(w, l->grid);
	wire_dims(w, l->block);
	wire_dims(w, l->cluster);
	wire_u32(w, &l->dynamic_bytes);
	wire_u32(w, &l->max_dynamic_bytes);
	wire_bool(w, &l->cooperative);
	wire_bool(w, &l->nonportable_cluster);
	wire_dims(w, l->cluster_required);
	wire_u32(w, &l->carveout);
	wire_u64(w, &l->grid_id);
	wire_u64(w, &l->place);
	wire_u64(w, &l->params);
	wire_u32(w, &l->params_cap);
	wire_u64(w, &l->workspace);
	wire_blob(w, &l->values, &l->value_bytes);
}

void record_walk(struct wire *w, struct record *r)
{
	wire_text(w, &r->from);
	walk_settings(w, &r->settings);
	walk_device(w, &r->device);
	walk_launch(w, &r->launch);
	wire_u32(w, &r->mode);
	w->failed |= r->mode > IR_LINK_WHOLE;
	WALK_LIST(w, &r->texts, walk_text);
	WALK_LIST(w, &r->places, wire_u64);
	WALK_LIST(w, &r->ranges, walk_range);
	WALK_LIST(w, &r->notes, wire_text);
}

void record_fini(struct record *r)
{
	free(r->from);
	free(r->device.id);
	free(r->device.profile);
	free(r->launch.kernel);
	free(r->launch.values);
	for (size_t i = 0; i < r->texts.len; i++) {
		free(r->texts.at[i].name);
		free(r->texts.at[i].text);
	}
	for (size_t i = 0; i < r->notes.len; i++)
		free(r->notes.at[i]);
	VEC_FREE(&r->texts);
	VEC_FREE(&r->places);
	VEC_FREE(&r->ranges);
	VEC_FREE(&r->notes);
	*r = (struct record){0};
}
