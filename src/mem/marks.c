/*
 * A short list of stretches, each with a name, or with what a device may do there.
 */
#include "src/mem/marks.h"
#include "src/base/vec.h"

#include <stdlib.h>
#include <string.h>

enum mark_kind { MARK_REGION, MARK_NAME, MARK_PERMISSION };

struct mem_mark {
	enum mark_kind kind;
	u32 device; /* of a permission; MEM_ALL_DEVICES, too */
	u64 base, size;
	u32 allowed; /* of a permission */
	char *name;  /* of a name; owned */
};

static VEC(struct mem_mark) marks;
static pthread_rwlock_t marks_lock = PTHREAD_RWLOCK_INITIALIZER;
u32 mem_marks;

/* ---- the lock is held ---- */

static void marks_counted(void)
{
	__atomic_store_n(&mem_marks, (u32)marks.len, __ATOMIC_RELEASE);
}

static void drop_mark(size_t i)
{
	free(marks.at[i].name);
	marks.at[i] = marks.at[--marks.len];
}

static bool is_mark(const struct mem_mark *x, enum mark_kind kind, u64 base, u32 device)
{
	return x->kind == kind && x->base == base && x->device == device;
}

/* In place of what was said before. */
static bool put_mark(struct mem_mark mark)
{
	for (size_t i = 0; i < marks.len; i++)
		if (is_mark(&marks.at[i], mark.kind, mark.base, mark.device)) {
			free(marks.at[i].name);
			marks.at[i] = mark;
			return true;
		}
	return VEC_PUSH(&marks, mark);
}

static bool remember_mark(struct mem_mark mark)
{
	bool ok;

	pthread_rwlock_wrlock(&marks_lock);
	ok = put_mark(mark);
	marks_counted();
	pthread_rwlock_unlock(&marks_lock);
	return ok;
}

static void remove_marks(enum mark_kind kind, u64 base, u32 device)
{
	pthread_rwlock_wrlock(&marks_lock);
	for (size_t i = marks.len; i-- > 0;)
		if (is_mark(&marks.at[i], kind, base, device))
			drop_mark(i);
	marks_counted();
	pthread_rwlock_unlock(&marks_lock);
}

/* ---- changes ---- */

bool mem_mark_region(u64 base, u64 size)
{
	return remember_mark((struct mem_mark){
		.kind = MARK_REGION, .device = MEM_ALL_DEVICES, .base = base, .size = size});
}

bool mem_mark_name(u64 base, u64 size, const char *name)
{
	struct mem_mark x = {
		.kind = MARK_NAME, .device = MEM_ALL_DEVICES, .base = base, .size = size};

	if (!name || !*name) {
		remove_marks(MARK_NAME, base, MEM_ALL_DEVICES);
		return true;
	}
	x.name = strdup(name);
	if (x.name && remember_mark(x))
		return true;
	free(x.name);
	return false;
}

bool mem_mark_permit(u64 base, u64 size, u32 device, u32 allowed)
{
	return remember_mark((struct mem_mark){.kind = MARK_PERMISSION,
					       .device = device,
					       .base = base,
					       .size = size,
					       .allowed = allowed});
}

void mem_mark_reset(u64 base, u32 device)
{
	remove_marks(MARK_PERMISSION, base, device);
}

void mem_marks_reset(u32 device)
{
	pthread_rwlock_wrlock(&marks_lock);
	for (size_t i = marks.len; i-- > 0;)
		if (marks.at[i].kind == MARK_PERMISSION && marks.at[i].device == device)
			drop_mark(i);
	marks_counted();
	pthread_rwlock_unlock(&marks_lock);
}

void mem_marks_drop(void)
{
	pthread_rwlock_init(&marks_lock, NULL);
	while (marks.len)
		drop_mark(marks.len - 1);
	VEC_FREE(&marks);
	marks_counted();
}

void mem_marks_forget(u64 base, u64 size)
{
	pthread_rwlock_wrlock(&marks_lock);
	for (size_t i = marks.len; i-- > 0;)
		if (size_inside(marks.at[i].base, marks.at[i].size, base, size))
			drop_mark(i);
	marks_counted();
	pthread_rwlock_unlock(&marks_lock);
}

/* ---- questions ---- */

/* Keep what lies on the address's side of a border, or between both. */
static void cut_at(struct mem_cache *c, u64 addr, const struct mem_mark *x)
{
	u64 from = c->lo, to = c->lo + c->span, end = x->base + x->size;

	if (addr < x->base) {
		to = min_u64(to, x->base);
	} else if (addr >= end) {
		from = max_u64(from, end);
	} else {
		from = max_u64(from, x->base);
		to = min_u64(to, end);
	}
	c->lo = from;
	c->span = to - from;
}

static bool mark_concerns(const struct mem_mark *x, u32 device)
{
	return x->kind == MARK_PERMISSION && (x->device == MEM_ALL_DEVICES || x->device == device);
}

bool mem_marks_narrow(struct mem_cache *c, u64 addr, u64 size, u32 device, enum mem_access access)
{
	bool ok = true;

	pthread_rwlock_rdlock(&marks_lock);
	for (size_t i = 0; ok && i < marks.len; i++) {
		const struct mem_mark *x = &marks.at[i];

		if (!mark_concerns(x, device))
			continue;
		if (addr < x->base + x->size && x->base < addr + size)
			ok = x->allowed >> access & 1;
		cut_at(c, addr, x);
	}
	/* An access across a border is not remembered. */
	if (ok && !mem_cache_hit(c, addr, size))
		*c = (struct mem_cache){.lo = addr, .span = size, .bias = c->bias};
	pthread_rwlock_unlock(&marks_lock);
	return ok;
}

bool mem_marks_allow(u64 addr, u64 size, u32 device, enum mem_access access)
{
	struct mem_cache c = {.lo = addr, .span = size};

	return mem_marks_narrow(&c, addr, size, device, access);
}

u64 mem_mark_region_size(u64 base)
{
	u64 size = 0;

	pthread_rwlock_rdlock(&marks_lock);
	for (size_t i = 0; i < marks.len; i++)
		if (is_mark(&marks.at[i], MARK_REGION, base, MEM_ALL_DEVICES))
			size = marks.at[i].size;
	pthread_rwlock_unlock(&marks_lock);
	return size;
}

void mem_mark_say(u64 base, struct text *out)
{
	if (!mem_has_marks())
		return;
	pthread_rwlock_rdlock(&marks_lock);
	for (size_t i = 0; i < marks.len; i++)
		if (is_mark(&marks.at[i], MARK_NAME, base, MEM_ALL_DEVICES))
			text_printf(out, " called %s", marks.at[i].name);
	pthread_rwlock_unlock(&marks_lock);
}
