/*
 * What of a CTA's shared memory is a variable's, and who touches the rest.
 */
#include "src/check/apart.h"
#include "src/base/demangle.h"
#include "src/dev/module/nested.h"
#include "src/exec/extents.h"

/* What is after the statics is the launch's business: its bounds are checked as hardware does. */
static bool is_outside(const struct program *p, u64 at, u64 bytes)
{
	const struct program_extent *x;

	if (!p->extent_len || at >= p->shared_end)
		return false;
	x = exec_extent_before(p, at);
	return !x || at + bytes > (u64)x->at + x->bytes;
}

static void say_neighbour(const char *where, u64 distance, const struct program_extent *x,
			  struct text *t)
{
	text_printf(t, "%llu bytes %s the variable ", (unsigned long long)distance, where);
	demangle_short(x->var->name ? x->var->name->text : "?", t);
	text_printf(t, " of %u bytes", x->bytes);
}

static void say_shared_neighbours(const struct program *p, u64 at, u64 bytes, struct text *t)
{
	const struct program_extent *before = exec_extent_before(p, at),
				    *after = before ? before + 1 : p->extents;
	u64 end = before ? (u64)before->at + before->bytes : 0;

	text_printf(t, "    Address 0x%llx is out of bounds and is ", (unsigned long long)at);
	if (before && at < end)
		say_neighbour("inside", at - before->at, before, t);
	else if (before &&
		 (after == p->extents + p->extent_len || at - end < after->at - at - bytes))
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

static void report_outside(struct apart_check *c, const struct exec_access *a, u32 lane)
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
	say_shared_neighbours(e->program, at, a->bytes, &f.text);
	finding_add_host(&f, "launched", nested_from(e->user));
	findings_add(c->found, &f);
}

/* Are all lanes inside of one variable? */
static bool is_within_one(const struct program *p, const struct exec_access *a)
{
	u64 first = a->address[__builtin_ctz(a->mask)] & MEM_SHARED_OFFSET, low = first,
	    high = first;
	const struct program_extent *x;

	for (u32 l = 0; l < WARP_LANES; l++) {
		u64 at = a->mask >> l & 1 ? a->address[l] & MEM_SHARED_OFFSET : first;

		low = at < low ? at : low;
		high = at > high ? at : high;
	}
	x = exec_extent_before(p, low);
	return x && high + a->bytes <= (u64)x->at + x->bytes;
}

static void apart_access(void *user, const struct exec_access *a)
{
	const struct program *p = a->cta->env->program;

	if (a->space != MEM_SHARED || PL_LIKELY(is_within_one(p, a)))
		return;
	/* The first lane stands for all of this access. */
	for (u32 m = a->mask; m; m &= m - 1) {
		u32 lane = (u32)__builtin_ctz(m);

		if (is_outside(p, a->address[lane] & MEM_SHARED_OFFSET, a->bytes)) {
			report_outside(user, a, lane);
			return;
		}
	}
}

static bool apart_span(void *user, const struct exec_span *s)
{
	u64 from, size;

	(void)user;
	return s->space != MEM_SHARED ||
	       (s->end && exec_extent_of(s->g->env, s->lo, s->end - s->lo, &from, &size));
}

void apart_check_init(struct apart_check *c, struct findings *found)
{
	*c = (struct apart_check){.found = found,
				  .observer = {.user = c,
					       .access = apart_access,
					       .span = apart_span,
					       .bounds = true,
					       .every = true,
					       .only_apart = true}};
}
