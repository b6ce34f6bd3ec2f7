/*
 * What of a CTA's shared memory is a variable's, and who touches the rest.
 */
#include "src/check/apart.h"
#include "src/base/demangle.h"

#include <stdlib.h>

struct apart_variable {
	const char *name; /* as the PTX has it; borrowed */
	u32 at, bytes;
};

/* Of a program; stays the same while launches of it are under way. */
struct apart_layout {
	VEC(struct apart_variable) variables; /* by place */
	u32 end;                              /* where dynamic memory begins */
	u32 launches;
};

/* ---- layouts ---- */

static bool add_variable(struct apart_layout *x, const struct program *p, const struct ir_var *v)
{
	struct apart_variable one = {.name = v->name ? v->name->text : "?",
				     .bytes = (u32)v->size_bytes};
	struct exec_place place;
	size_t i;

	if (v->space != M_shared || v->unsized || (v->definition && v->definition != v) ||
	    v->linkage == IR_EXTERN || !exec_variable_place(p, v, &place))
		return true;
	one.at = (u32)place.at;
	if (!VEC_PUSH(&x->variables, one))
		return false;
	for (i = x->variables.len - 1; i && x->variables.at[i - 1].at > one.at; i--)
		x->variables.at[i] = x->variables.at[i - 1];
	x->variables.at[i] = one;
	return true;
}

static bool fill_layout(struct apart_layout *x, const struct program *p)
{
	x->variables.len = 0;
	x->end = exec_shared_end(p);
	for (u32 u = 0; u < p->unit_len; u++)
		for (size_t i = 0; i < p->units[u].module->vars.len; i++)
			if (!add_variable(x, p, p->units[u].module->vars.at[i]))
				return false;
	return true;
}

/* NULL: there is none, for want of memory. */
static struct apart_layout *layout_of(struct apart_check *c, const struct program *p)
{
	const u64 *slot = map_get(&c->layouts, map_key(p));

	return slot ? (struct apart_layout *)(uintptr_t)*slot : NULL;
}

static void free_layout(struct apart_layout *x)
{
	if (x)
		VEC_FREE(&x->variables);
	free(x);
}

/* Programs come to lie where others were, so each launch that is alone computes it anew. */
static void apart_begin(void *user, const struct program *p, u64 grid_id)
{
	struct apart_check *c = user;
	struct apart_layout *x;

	(void)grid_id;
	pthread_rwlock_wrlock(&c->lock);
	x = layout_of(c, p);
	if (!x) {
		x = calloc(1, sizeof(*x));
		if (x && !map_set(&c->layouts, map_key(p), (u64)(uintptr_t)x)) {
			free(x);
			x = NULL;
		}
	}
	if (x && !x->launches++ && !fill_layout(x, p))
		x->variables.len = 0;
	pthread_rwlock_unlock(&c->lock);
}

static void apart_end(void *user, const struct program *p, u64 grid_id)
{
	struct apart_check *c = user;
	struct apart_layout *x;

	(void)grid_id;
	pthread_rwlock_wrlock(&c->lock);
	x = layout_of(c, p);
	if (x)
		x->launches--;
	pthread_rwlock_unlock(&c->lock);
}

/* ---- accesses ---- */

/* The last variable that begins at or before the place, NULL: none does. */
static const struct apart_variable *variable_before(const struct apart_layout *x, u64 at)
{
	size_t lo = 0, hi = x->variables.len;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (x->variables.at[mid].at <= at)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo ? &x->variables.at[lo - 1] : NULL;
}

/* What is after the statics is the launch's business: its bounds are checked as hardware does. */
static bool is_outside(const struct apart_layout *x, u64 at, u64 bytes)
{
	const struct apart_variable *v;

	if (!x->variables.len || at >= x->end)
		return false;
	v = variable_before(x, at);
	return !v || at + bytes > (u64)v->at + v->bytes;
}

static void say_neighbour(const char *where, u64 distance, const struct apart_variable *v,
			  struct text *t)
{
	text_printf(t, "%llu bytes %s the variable ", (unsigned long long)distance, where);
	demangle(v->name, t);
	text_printf(t, " of %u bytes", v->bytes);
}

static void say_shared_neighbours(const struct apart_layout *x, u64 at, u64 bytes, struct text *t)
{
	const struct apart_variable *before = variable_before(x, at),
				    *after = before ? before + 1 : x->variables.at;
	u64 end = before ? (u64)before->at + before->bytes : 0;

	text_printf(t, "    Address 0x%llx is out of bounds and is ", (unsigned long long)at);
	if (before && at < end)
		say_neighbour("inside", at - before->at, before, t);
	else if (before &&
		 (after == x->variables.at + x->variables.len || at - end < after->at - at - bytes))
		say_neighbour("after", at - end, before, t);
	else
		say_neighbour("before", after->at - at, after, t);
	text_puts(t, "\n");
}

static const char *access_word(u8 kind)
{
	switch ((enum exec_access_kind)kind) {
	case ACCESS_LOAD:
	case ACCESS_COPY_READ:
	case ACCESS_MATRIX_LOAD:
		return "read";
	case ACCESS_ATOM:
	case ACCESS_RED:
		return "atomic";
	default:
		return "write";
	}
}

static void report_outside(struct apart_check *c, const struct apart_layout *x,
			   const struct exec_access *a, u32 lane)
{
	const struct exec_env *e = a->cta->env;
	u64 at = a->address[lane] & MEM_SHARED_OFFSET;
	struct finding_side *s;
	struct finding f;

	finding_init(&f, FINDING_INVALID_ACCESS);
	finding_set_kernel(&f, e->program->funcs[0].func->name->text);
	f.has_address = true;
	f.address = at;
	s = finding_add_side(&f, access_word(a->kind), e->program, a->pc);
	s->has_thread = true;
	finding_unroll((u64)a->warp * WARP_LANES + lane, e->block, s->thread);
	memcpy(s->block, a->cta->id, sizeof(s->block));
	text_printf(&f.text, "Invalid __shared__ %s of size %llu byte%s\n    ",
		    access_word(a->kind), (unsigned long long)a->bytes, a->bytes == 1 ? "" : "s");
	finding_say_side(s, &f.text);
	text_puts(&f.text, "\n");
	say_shared_neighbours(x, at, a->bytes, &f.text);
	findings_add(c->found, &f);
}

/* The layout that a worker used last: it stays where it is as long as its check. */
static _Thread_local struct {
	u64 serial;
	const struct program *program;
	const struct apart_layout *layout;
} last_layout;

static const struct apart_layout *layout_in_use(struct apart_check *c, const struct program *p)
{
	if (PL_LIKELY(last_layout.serial == c->serial && last_layout.program == p))
		return last_layout.layout;
	pthread_rwlock_rdlock(&c->lock);
	last_layout.layout = layout_of(c, p);
	pthread_rwlock_unlock(&c->lock);
	last_layout.serial = c->serial;
	last_layout.program = p;
	return last_layout.layout;
}

/* Are all lanes inside of one variable? */
static bool is_within_one(const struct apart_layout *x, const struct exec_access *a)
{
	u64 first = a->address[__builtin_ctz(a->mask)] & MEM_SHARED_OFFSET, low = first,
	    high = first;
	const struct apart_variable *v;

	for (u32 l = 0; l < WARP_LANES; l++) {
		u64 at = a->mask >> l & 1 ? a->address[l] & MEM_SHARED_OFFSET : first;

		low = at < low ? at : low;
		high = at > high ? at : high;
	}
	v = variable_before(x, low);
	return v && high + a->bytes <= (u64)v->at + v->bytes;
}

static void apart_access(void *user, const struct exec_access *a)
{
	struct apart_check *c = user;
	const struct apart_layout *x;

	if (a->space != MEM_SHARED)
		return;
	x = layout_in_use(c, a->cta->env->program);
	if (!x || PL_LIKELY(is_within_one(x, a)))
		return;
	/* The first lane stands for all of this access. */
	for (u32 m = a->mask; m; m &= m - 1) {
		u32 lane = (u32)__builtin_ctz(m);

		if (is_outside(x, a->address[lane] & MEM_SHARED_OFFSET, a->bytes)) {
			report_outside(c, x, a, lane);
			return;
		}
	}
}

void apart_check_init(struct apart_check *c, struct findings *found)
{
	static u64 serials;

	*c = (struct apart_check){.found = found,
				  .serial = __atomic_add_fetch(&serials, 1, __ATOMIC_RELAXED),
				  .observer = {.user = c,
					       .launch_begin = apart_begin,
					       .launch_end = apart_end,
					       .access = apart_access,
					       .every = true}};
	pthread_rwlock_init(&c->lock, NULL);
}

void apart_check_fini(struct apart_check *c)
{
	for (size_t i = 0; i < c->layouts.cap; i++)
		if (c->layouts.slots[i].key)
			free_layout((struct apart_layout *)(uintptr_t)c->layouts.slots[i].value);
	map_fini(&c->layouts);
	pthread_rwlock_destroy(&c->lock);
}
