/*
 * Allocations that were not written, in the words of initcheck's unused memory.
 */
#include "src/check/init/unused.h"
#include "src/base/setting.h"
#include "src/mem/marks.h"

#include <stdlib.h>

struct unused_range {
	struct mem *arena;
	u64 base, bytes;
	u64 missing, first; /* bytes, and the offset of the first of them */
};

struct unused {
	u64 percent; /* what is less of an allocation is not reported */
	VEC(struct unused_range) noted;
};

struct unused *unused_open(void)
{
	struct unused *u = NULL;

	if (setting_number(SETTING_CHECK_UNUSED, 0))
		u = calloc(1, sizeof(*u));
	if (u)
		u->percent = setting_number(SETTING_CHECK_UNUSED_MIN, 0);
	return u;
}

void unused_close(struct unused *u)
{
	if (u)
		VEC_FREE(&u->noted);
	free(u);
}

/* Does a program ask for such memory by a call? */
static bool is_asked_for(const struct init_range *r)
{
	return r->kind == MEM_KIND_DEVICE || r->kind == MEM_KIND_MANAGED ||
	       r->kind == MEM_KIND_MAPPED;
}

/* Bytes of the range that nothing was stored to; *first: the offset of the first of them. */
static u64 never_written(struct init_range *r, u64 *first)
{
	u64 missing = 0;

	for (u64 at = 0; at < r->written.bytes; at += WRITTEN_MASK) {
		u64 n = min_u64(WRITTEN_MASK, r->written.bytes - at);
		u32 bits = init_memory_missing(r, r->base + at, (u32)n);

		for (u32 m = r->written.origins.len ? bits : 0; m; m &= m - 1)
			if (written_origin(&r->written, at + (u32)__builtin_ctz(m)))
				bits &= ~(m & -m);
		if (bits && !missing)
			*first = at + (u32)__builtin_ctz(bits);
		missing += (u64)__builtin_popcount(bits);
	}
	return missing;
}

void unused_note(struct unused *u, struct init_range *r)
{
	struct unused_range x = {.arena = r->arena, .base = r->base, .bytes = r->written.bytes};

	if (!r->written.bits || !r->written.missing || r->is_noted || !is_asked_for(r))
		return;
	r->is_noted = true;
	x.missing = never_written(r, &x.first);
	if (x.missing && (double)x.missing * 100 >= (double)x.bytes * (double)u->percent)
		(void)VEC_PUSH(&u->noted, x);
}

static void report_unused(const struct unused_range *x, struct findings *found)
{
	struct finding f;

	finding_init(&f, FINDING_UNUSED);
	f.has_address = true;
	f.address = x->base;
	f.mem = x->arena;
	text_printf(&f.text, "Unused memory in allocation 0x%llx", (unsigned long long)x->base);
	mem_mark_say(x->base, &f.text);
	text_printf(&f.text, " of size %llu bytes\n", (unsigned long long)x->bytes);
	if (x->missing == x->bytes)
		text_puts(&f.text, "    Not written any memory.\n");
	else
		text_printf(&f.text, "    Not written %llu bytes at offset 0x%llx (0x%llx)\n",
			    (unsigned long long)x->missing, (unsigned long long)x->first,
			    (unsigned long long)(x->base + x->first));
	text_printf(&f.text, "    %.4g%% of allocation were unused.\n",
		    100.0 * (double)x->missing / (double)x->bytes);
	findings_add(found, &f);
}

void unused_tell(struct unused *u, pthread_mutex_t *lock, struct findings *found)
{
	VEC(struct unused_range) noted;

	pthread_mutex_lock(lock);
	memcpy(&noted, &u->noted, sizeof(noted));
	memset(&u->noted, 0, sizeof(u->noted));
	pthread_mutex_unlock(lock);
	for (size_t i = 0; i < noted.len; i++)
		report_unused(&noted.at[i], found);
	VEC_FREE(&noted);
}
